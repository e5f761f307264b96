"""From the compact notation of `schemas/*.yaml` to JSON Schema 2020-12.

The notation, by example:

    Turn:                            a type: an object with members, open to others
      id: string                     a required member
      startedAt?: timestamp          an optional member
      error? <0.9.0: ErrorInfo       a member of versions before 0.9.0
      lifecycle >=0.9.0: Lifecycle   a member since 0.9.0 (both bounds may stand: >=0.7.0 <0.9.0)
      responseParts: ResponsePart[]  an array; T[1..] is one that is not empty
      answers?: map ChatInputAnswer  an object used as a map
      state: [complete, failed >=0.9.0]      one of some literals, each with an optional window
      $extends: [TurnAction]         takes over the members of other types
      $not: [id]                     members that must be absent

    ToolInput >=0.7.0: string | ContentRef   an alias; a type may be defined per window

    ResponsePart:                    a union told apart by one member
      $by: kind
      $open: true                    values of that member that are not listed are tolerated
      $with: [PartBase]              members that every variant has
      markdown: {id: string}         a variant: its members, or the name of a type
      error >=0.9.0: {error: ErrorInfo}

    ToolCallRunningState: {$narrow: ToolCallState, $to: [running]}   some variants of a union
    ChatSummaryChanges: {$partial: ChatSummary}                      all members optional

Built-in types: any, null, boolean, string, number, integer, object, uri (has a scheme), timestamp
(ISO 8601), seq (integer from 0), positive (integer from 1), status (a bit set, see status.py).
A type whose name has a slash is the action of that name; its member `type` is understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .actions import ACTIONS, actions_of
from .channels import STATE_TYPES, TELLTALES, URI_PATTERNS
from .versions import Window

Schema = dict[str, Any]

STATUS_KEYWORD: Final = "ahpStatus"
"""Marks a status bit set. Validators that do not know the keyword check for an integer only."""

_BUILT_IN: Final[Mapping[str, Schema]] = {
    "any": {},
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "object": {"type": "object"},
    "uri": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:"},
    "timestamp": {
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:?\\d{2})$",
    },
    "seq": {"type": "integer", "minimum": 0},
    "positive": {"type": "integer", "minimum": 1},
    "status": {"type": "integer", "minimum": 0, STATUS_KEYWORD: True},
}

_KEY: Final = re.compile(r"(?P<name>\S+?)(?P<optional>\?)?(?: >=(?P<since>[\d.]+))?(?: <(?P<until>[\d.]+))?")


class NotationError(Exception):
    """The schema data of this suite is wrong; nothing a host does can cause it."""


def definitions(source: Mapping[Any, Any], version: str) -> dict[str, Schema]:
    """The $defs of a version from the merged content of the schema files."""
    return _Builder(source, version).build()


def _key(text: Any) -> tuple[str, bool, Window]:
    """Name, whether optional, and window of a key."""
    # YAML reads the variants `true` and `false` of a boolean discriminator as booleans.
    match = _KEY.fullmatch(str(text).lower() if isinstance(text, bool) else str(text))
    if match is None:
        raise NotationError(f"cannot read the key {text!r}")
    return match["name"], bool(match["optional"]), Window(match["since"] or "0.1.0", match["until"])


class _Builder:
    def __init__(self, source: Mapping[Any, Any], version: str) -> None:
        self.version = version
        self.types: dict[str, Any] = dict(self._present(source))
        for name in actions_of(version):
            self.types.setdefault(name, {})

    def _present(self, source: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
        for key, body in source.items():
            name, _, window = _key(key)
            known_action = "/" not in name or name in actions_of(self.version)
            if window.contains(self.version) and known_action:
                yield name, body

    def build(self) -> dict[str, Schema]:
        built = {name: self._type(name, body) for name, body in sorted(self.types.items())}
        built["StateAction"] = _union("type", {name: _ref(name) for name in sorted(actions_of(self.version))}, False)
        return built

    def _type(self, name: str, body: Any) -> Schema:
        schema = self._body(body, name)
        if "/" in name:
            if name not in ACTIONS:
                raise NotationError(f"the schemas describe an unknown action {name!r}")
            schema.setdefault("properties", {})["type"] = {"const": name}
            schema["required"] = ["type", *schema.get("required", ())]
        return schema

    def _body(self, body: Any, name: str) -> Schema:
        if isinstance(body, str):
            return self._expression(body, name)
        if isinstance(body, list):
            return self._literals(body)
        if not isinstance(body, dict):
            raise NotationError(f"{name}: cannot read {body!r}")
        if "$by" in body:
            return self._variants(body, None, name)
        if "$narrow" in body:
            union = self.types[body["$narrow"]]
            return self._variants(union, body["$to"], name)
        if "$partial" in body:
            return self._object(self.types[body["$partial"]], name, partial=True)
        return self._object(body, name)

    def _expression(self, text: str, name: str) -> Schema:
        if " | " in text:
            options = [self._expression(option, name) for option in text.split(" | ")]
            if all(set(option) == {"type"} for option in options):
                return {"type": [option["type"] for option in options]}
            return {"anyOf": options}
        if text.startswith("map "):
            return {"type": "object", "additionalProperties": self._expression(text[4:], name)}
        if text.endswith("[1..]"):
            return {"type": "array", "minItems": 1, "items": self._expression(text[:-5], name)}
        if text.endswith("[]"):
            return {"type": "array", "items": self._expression(text[:-2], name)}
        if text in _BUILT_IN:
            return dict(_BUILT_IN[text])
        if text not in self.types and text != "StateAction":
            raise NotationError(f"{name}: unknown type {text!r} at {self.version}")
        return _ref(text)

    def _literals(self, entries: list[Any]) -> Schema:
        values = []
        for entry in entries:
            value, _, window = _key(entry)
            if window.contains(self.version):
                values.append(value)
        return {"type": "string", "enum": values}

    def _object(self, body: Mapping[Any, Any], name: str, *, partial: bool = False) -> Schema:
        properties: Schema = {}
        required: list[str] = []
        for base in body.get("$extends", ()):
            inherited = self._object(self.types[base], base, partial=partial)
            properties |= inherited.get("properties", {})
            required += inherited.get("required", ())
        for key, member in body.items():
            if str(key).startswith("$"):
                continue
            member_name, optional, window = _key(key)
            if not window.contains(self.version):
                continue
            properties[member_name] = self._body(member, f"{name}.{member_name}")
            if not optional and not partial and member_name not in required:
                required.append(member_name)
        schema: Schema = {"type": "object"}
        if properties:
            schema["properties"] = properties
        if required:
            schema["required"] = required
        if "$not" in body:
            schema["not"] = {"anyOf": [{"required": [absent]} for absent in body["$not"]]}
        if body.get("$rule") == "snapshot":
            schema["allOf"] = list(self._snapshot_rules())
        return schema

    def _variants(self, body: Mapping[Any, Any], only: list[str] | None, name: str) -> Schema:
        variants: dict[Any, Schema] = {}
        base = {"$extends": body["$with"]} if "$with" in body else {}
        for key, variant in body.items():
            if str(key).startswith("$"):
                continue
            value, _, window = _key(key)
            if not window.contains(self.version) or (only is not None and value not in only):
                continue
            if isinstance(variant, str):
                schema: Schema = self._expression(variant, name)
            else:
                extends = [*base.get("$extends", ()), *variant.get("$extends", ())]
                schema = self._object({**variant, "$extends": extends}, f"{name}.{value}")
            variants[key if isinstance(key, bool) else value] = schema
        is_open = bool(body.get("$open")) and only is None
        union = _union(body["$by"], variants, is_open)
        if base:
            shared = self._object(base, name)
            union["properties"] = {**shared.get("properties", {}), **union["properties"]}
            union["required"] = [*union["required"], *shared.get("required", ())]
        return union

    def _snapshot_rules(self) -> Iterator[Schema]:
        """The state of a snapshot by what its URI announces, else by what the state shows."""
        announced = []
        for kind, pattern in URI_PATTERNS.items():
            announced.append({"pattern": pattern})
            if STATE_TYPES.get(kind) in self.types:
                yield _if_then(
                    {"resource": {"type": "string", "pattern": pattern}},
                    {"state": _ref(STATE_TYPES[kind])},
                )
        earlier: list[Schema] = []
        for member, kind in TELLTALES:
            shown: Schema = {"required": [member]}
            if earlier:
                shown = {**shown, "not": {"anyOf": list(earlier)}}
            yield _if_then(
                {"resource": {"not": {"anyOf": announced}}, "state": shown},
                {"state": _ref(STATE_TYPES[kind])},
            )
            earlier.append({"required": [member]})


def _ref(name: str) -> Schema:
    return {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}


def _if_then(condition: Schema, consequence: Schema) -> Schema:
    return {
        "if": {"properties": condition, "required": list(condition)},
        "then": {"properties": consequence},
    }


def _union(by: str, variants: Mapping[Any, Schema], is_open: bool) -> Schema:
    """A union told apart by one member. Branches by if and then, so that errors name one variant."""
    values = list(variants)
    kind = "boolean" if all(isinstance(value, bool) for value in values) else "string"
    discriminator: Schema = {"type": kind} if is_open else {"type": kind, "enum": values}
    return {
        "type": "object",
        "required": [by],
        "properties": {by: discriminator},
        "allOf": [
            {"if": {"properties": {by: {"const": value}}, "required": [by]}, "then": schema}
            for value, schema in variants.items()
        ],
    }
