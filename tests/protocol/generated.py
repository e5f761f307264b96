"""A strategy for the values of a published schema.

It knows the part of JSON Schema that the types use. Objects get members that their type does not know, which readers
have to tolerate. Types that a type refers to are drawn a few levels deep, and below that from their instances.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .instances import Schema, instances

_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
# The patterns of the types, told by how they begin.
_BY_PATTERN = {
    "^[A-Za-z]": st.from_regex(r"\A[A-Za-z][A-Za-z0-9+.-]{0,5}:[ -~]{0,6}\Z"),
    "^[0-9]": st.from_regex(
        r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:?[0-9]{2})\Z"
    ),
}


def values(schema: Schema, types: Schema, depth: int = 1) -> st.SearchStrategy[Any]:
    """Values that the schema accepts."""
    if "$ref" in schema:
        target = types[schema["$ref"].rsplit("/", 1)[-1]]
        if depth == 0 and ("oneOf" in target or target.get("type") == "object"):
            return st.sampled_from(list(instances(target, types)))
        return values(target, types, max(0, depth - 1))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "type" not in schema:
        options = schema.get("oneOf", schema.get("anyOf"))
        return _ANY if options is None else st.one_of([values(option, types, depth) for option in options])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_of_kind(kind, schema, types, depth) for kind in kinds])


def _of_kind(kind: str, schema: Schema, types: Schema, depth: int) -> st.SearchStrategy[Any]:
    match kind:
        case "object":
            return _objects(schema, types, depth)
        case "array":
            return st.lists(values(schema["items"], types, depth), min_size=schema.get("minItems", 0), max_size=2)
        case "string":
            return _strings(schema)
        case "integer":
            if "anyOf" in schema:
                # A status with bits that no version has assigned.
                return st.builds(
                    lambda activity, bits: activity | bits << 7, st.sampled_from([1, 2, 8, 24]), st.integers(1, 99)
                )
            return st.integers(schema.get("minimum", -5), 2**53 - 1)
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
        case "boolean":
            return st.booleans()
        case _:
            return st.none()


def _objects(schema: Schema, types: Schema, depth: int) -> st.SearchStrategy[Any]:
    members = {name: values(part, types, depth) for name, part in schema.get("properties", {}).items()}
    required = {name: members.pop(name) for name in schema.get("required", ())}
    if schema.get("additionalProperties"):
        names = st.text(max_size=4)
        return st.dictionaries(names, values(schema["additionalProperties"], types, depth), max_size=2)
    return st.fixed_dictionaries(required, optional={**members, "x-unknown": _ANY})


def _strings(schema: Schema) -> st.SearchStrategy[str]:
    if "pattern" in schema:
        return next(made for start, made in _BY_PATTERN.items() if schema["pattern"].startswith(start))
    unlike = schema.get("not", {}).get("enum", ())
    return st.text(max_size=6).filter(lambda text: text not in unlike)
