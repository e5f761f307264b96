"""Values made from a schema alone: the least one, with required members only, and the most, with every member."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

# Deep enough for every type; a type that contains itself ends here.
_DEPTH = 9
_BY_PATTERN = {"^[A-Za-z]": "urn:example", "^[0-9]": "2026-01-02T03:04:05.678Z"}


def least(schema: Schema, types: Schema) -> Any:
    """The smallest value: no optional members, empty arrays, the first of several options."""
    return _made(schema, types, full=False, depth=_DEPTH)


def most(schema: Schema, types: Schema) -> Any:
    """A value with every member there is, arrays and maps with one entry, the first of several options."""
    return _made(schema, types, full=True, depth=_DEPTH)


def instances(schema: Schema, types: Schema) -> Iterator[Any]:
    """The least and the most of every variant of a type."""
    for variant in variants(schema, types):
        yield least(variant, types)
        yield most(variant, types)


def variants(schema: Schema, types: Schema) -> Iterator[Schema]:
    """The options of a type: those of its unions, its literals, or itself."""
    if "$ref" in schema:
        yield from variants(types[_target(schema)], types)
    elif "type" not in schema and ("oneOf" in schema or "anyOf" in schema):
        for option in schema.get("oneOf") or schema["anyOf"]:
            yield from variants(option, types)
    elif "enum" in schema:
        yield from ({"const": value} for value in schema["enum"])
    elif isinstance(schema.get("type"), list):
        yield from ({"type": name} for name in schema["type"])
    else:
        yield schema


def _target(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def _made(schema: Schema, types: Schema, *, full: bool, depth: int) -> Any:
    if "const" in schema:
        return schema["const"]
    if not any(key in schema for key in ("type", "enum", "$ref", "oneOf", "anyOf")):
        return {"any": [1, None]} if full else None
    chosen = next(variants(schema, types))
    if "const" in chosen:
        return chosen["const"]
    if "type" not in chosen:
        return None
    match chosen["type"]:
        case "object":
            return _object(chosen, types, full, depth)
        case "array":
            wanted = chosen.get("minItems", 1 if full and depth > 0 else 0)
            return [_made(chosen["items"], types, full=full, depth=depth - 1) for _ in range(wanted)]
        case "string":
            return _string(chosen)
        case "integer" | "number" as kind:
            return chosen.get("minimum", 1) if kind == "integer" else 1.5
        case "boolean":
            return True
        case _:
            return None


def _object(schema: Schema, types: Schema, full: bool, depth: int) -> Schema:
    members = schema.get("properties", {})
    required = schema.get("required", ())
    names = [name for name in members if name in required or (full and depth > 0)]
    made = {name: _made(members[name], types, full=full, depth=depth - 1) for name in names}
    if full and depth > 0:
        entry = schema.get("additionalProperties")
        made |= {"a name": _made(entry, types, full=full, depth=depth - 1)} if entry else {"x-unknown": 1}
    return made


def _string(schema: Schema) -> str:
    pattern = schema.get("pattern", "")
    unlike = schema.get("not", {}).get("enum")
    return (
        "x-unknown"
        if unlike
        else next((text for start, text in _BY_PATTERN.items() if pattern.startswith(start)), "text")
    )
