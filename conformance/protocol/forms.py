"""The two forms in which the types become JSON Schema.

CHECKED is for validation inside the suite: a variant is picked by `if` and `then`, so that errors speak of one
variant, and the keyword `ahpStatus` (see validation.py) knows status bits exactly.

PUBLISHED is for everybody: the standard vocabulary alone, `oneOf` with a constant per variant (which code generators
read as a tagged union), and names without slashes, those of the specification. Both accept the same values, with one
exception: JSON Schema cannot mask bits. A status of known bits is listed value by value; for one with bits that no
version has assigned, divisibility says what it can, so that no legal value is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .actions import action_type_name
from .status import ACTIVITIES, IS_ARCHIVED, IS_READ

Schema = dict[str, Any]

STATUS_KEYWORD: Final = "ahpStatus"
"""Marks a status bit set. Validators that do not know the keyword check for an integer only."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a union: the values that pick it, its schema, and the name of its own type if it has one."""

    values: tuple[str | bool, ...]
    schema: Schema
    type: str | None = None


_SIMPLE: Final[Mapping[str, Schema]] = {
    "any": {},
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "object": {"type": "object"},
    "seq": {"type": "integer", "minimum": 0},
    "positive": {"type": "integer", "minimum": 1},
}
_URI: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"}
_TIMESTAMP: Final[Schema] = {
    "type": "string",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})$",
}


def _published_status() -> Schema:
    flags = (0, IS_READ, IS_ARCHIVED, IS_READ | IS_ARCHIVED)
    known = sorted(activity | bits for activity in ACTIVITIES for bits in flags)
    # With higher bits: Idle is odd; Error is even and no multiple of four; InProgress (8) and InputNeeded (24) are the
    # only activities that are multiples of eight and not of sixteen.
    beyond = {
        "type": "integer",
        "minimum": 2 * IS_ARCHIVED + 1,
        "anyOf": [
            {"not": {"multipleOf": 2}},
            {"multipleOf": 2, "not": {"multipleOf": 4}},
            {"multipleOf": 8, "not": {"multipleOf": 16}},
        ],
    }
    return {
        "title": "SessionStatus",
        "description": (
            "A bit set. The low five bits hold exactly one activity: 1 idle, 2 error, 8 in progress, 24 input needed. "
            "32 is read, 64 is archived. Higher bits are unassigned and must survive."
        ),
        "anyOf": [{"enum": known}, beyond],
    }


@dataclass(frozen=True, slots=True)
class Form:
    """How built-in types, names and unions are written. shared: definitions that every document of the form has."""

    published: bool
    built_in: Mapping[str, Schema]
    shared: Mapping[str, Schema] = field(default_factory=dict)

    def name(self, type_name: str) -> str:
        """The name of a type in the $defs of this form."""
        return action_type_name(type_name) if self.published and "/" in type_name else type_name

    def literals(self, values: Sequence[str]) -> Schema:
        if self.published and len(values) == 1:
            return {"const": values[0]}
        return {"type": "string", "enum": list(values)}

    def open_literals(self, values: Sequence[str], lost: Sequence[str]) -> Schema:
        """A list that other strings may join: the known ones are named for readers, all but the lost are accepted."""
        others = _unlisted(lost)
        return {"anyOf": [self.literals(values), others]} if self.published else others

    def union(
        self,
        by: str,
        variants: Sequence[Variant],
        shared: Schema,
        required: Sequence[str],
        others: Sequence[str | bool] | None,
    ) -> Schema:
        """A union told apart by the member `by`; shared and required are the members that all variants have.

        others: None when the union is closed. An open one takes values of `by` that are neither of a variant nor here.
        """
        values = [value for variant in variants for value in variant.values]
        if self.published:
            unknown = None if others is None else _unlisted([*values, *others])
            return self._one_of(by, variants, shared, required, unknown)
        kind = "boolean" if all(isinstance(value, bool) for value in values) else "string"
        discriminator: Schema = {"type": kind, "enum": values} if others is None else _unlisted(others)
        return {
            "type": "object",
            "required": [by, *required],
            "properties": {**shared, by: discriminator},
            "allOf": [
                {"if": {"properties": {by: {"const": value}}, "required": [by]}, "then": variant.schema}
                for variant in variants
                for value in variant.values
            ],
        }

    def _one_of(
        self,
        by: str,
        variants: Sequence[Variant],
        shared: Schema,
        required: Sequence[str],
        unknown: Schema | None,
    ) -> Schema:
        branches = [self._branch(by, variant, shared, required) for variant in variants]
        if unknown is not None:
            branches.append(_tagged(by, unknown, shared, required))
        return branches[0] if len(branches) == 1 else {"oneOf": branches}

    def _branch(self, by: str, variant: Variant, shared: Schema, required: Sequence[str]) -> Schema:
        if variant.type is not None:
            return {"$ref": f"#/$defs/{self.name(variant.type)}"}
        if "$ref" in variant.schema:
            return dict(variant.schema)
        values = variant.values
        tag: Schema = {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
        members = {**shared, **variant.schema.get("properties", {})}
        return _tagged(by, tag, members, [*required, *variant.schema.get("required", ())])


def _unlisted(values: Sequence[str | bool]) -> Schema:
    return {"type": "string", "not": {"enum": list(values)}} if values else {"type": "string"}


def _tagged(by: str, tag: Schema, members: Schema, required: Sequence[str]) -> Schema:
    properties = {by: tag, **{name: schema for name, schema in members.items() if name != by}}
    return {"type": "object", "properties": properties, "required": list(dict.fromkeys([by, *required]))}


CHECKED: Final = Form(
    published=False,
    built_in={
        **_SIMPLE,
        "uri": _URI,
        "timestamp": _TIMESTAMP,
        "status": {"type": "integer", "minimum": 0, STATUS_KEYWORD: True},
    },
)
PUBLISHED: Final = Form(
    published=True,
    built_in={
        **_SIMPLE,
        "uri": {"$ref": "#/$defs/URI"},
        "timestamp": {"$ref": "#/$defs/Timestamp"},
        "status": {"$ref": "#/$defs/SessionStatus"},
    },
    shared={"URI": _URI, "Timestamp": _TIMESTAMP, "SessionStatus": _published_status()},
)
