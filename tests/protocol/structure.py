"""What a schema says, less how it is written: two schemas of equal structure accept the same values."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from .instances import Schema

Structure = tuple[Any, ...]


def structure(schema: Schema, types: Schema, named: Collection[str]) -> Structure:
    """The structure of a schema. Types in `named` are left as names, others are looked into."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return ("type", name) if name in named else structure(types[name], types, named)
    if "const" in schema or "enum" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return ("values", frozenset(json.dumps(value) for value in values))
    options = schema.get("oneOf", schema.get("anyOf"))
    if options is not None and "type" not in schema:
        return _options({structure(option, types, named) for option in options})
    if isinstance(schema.get("type"), list):
        return _options({structure({"type": name}, types, named) for name in schema["type"]})
    match schema.get("type"):
        case "object":
            members = {name: structure(part, types, named) for name, part in schema.get("properties", {}).items()}
            entries = structure(schema.get("additionalProperties", {}), types, named)
            return ("object", frozenset(members.items()), frozenset(schema.get("required", ())), entries, _rest(schema))
        case "array":
            return ("array", structure(schema["items"], types, named), _rest(schema))
        case kind:
            return (kind, _rest(schema))


def _options(found: set[Structure]) -> Structure:
    """One of several; of literals it does not matter whether each is an option or all are one list."""
    literals = frozenset().union(*(option[1] for option in found if option[0] == "values"))
    others = frozenset(option for option in found if option[0] != "values")
    if not others:
        return ("values", literals)
    return ("one of", others, literals)


def _rest(schema: Schema) -> str:
    known = {"type", "items", "properties", "required", "additionalProperties", "title", "description", "format"}
    rest = {key: part for key, part in schema.items() if key not in known}
    if "enum" in rest.get("not", {}):
        rest["not"] = {"enum": sorted(rest["not"]["enum"])}
    return json.dumps(rest, sort_keys=True)
