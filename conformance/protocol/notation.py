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
      reason: [required, ... >=0.9.0]        `...` makes a list open: strings that it does not have are tolerated,
                                     though not those that it once had
      $extends: [TurnAction]         takes over the members of other types
      $not: [id]                     members that must be absent

    ToolInput >=0.7.0: string | ContentRef   an alias; a type may be defined per window

    ResponsePart:                    a union told apart by one member
      $by: kind
      $open: true                    values of that member that are not listed are tolerated; of such an object only
                                     the members that every variant has are judged (also with a window: $open >=0.9.0)
      $with: [PartBase]              members that every variant has
      markdown as MarkdownResponsePart: {id: string}    a variant that is a type of its own, too
      number, integer as NumberPart: {value: number}    one such type for several values
      system: {text: string}         a variant without a name; or the name of a type that has the member itself
      error as ErrorResponsePart >=0.9.0: {error: ErrorInfo}

    ToolCallBlockedState: {$narrow: ToolCallState, $to: [pending, auth-required]}   some variants of a union; with
                                     $open, values that the whole union does not list are tolerated as well
    ChatSummaryChanges: {$partial: ChatSummary}                                     all members optional

What is open follows the specification: up to 0.8.0 the kinds of the unions that readers are asked to tolerate, since
0.9.0 every enumeration that the types mark as nonexhaustive, with the unions that it tells apart.

Built-in types: any, null, boolean, string, number, integer, object, uri (has a scheme), timestamp (ISO 8601),
seq (integer from 0), positive (integer from 1), status (a bit set, see status.py). A type whose name has a slash is the
action of that name; its member `type` is understood.

The same data are written in two forms. Validation uses the one that explains best: the variant is picked by
`if` and `then`, and a keyword of our own knows status bits. What is published uses standard keywords only:
see forms.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from .actions import ACTIONS, actions_of
from .channels import STATE_TYPES, TELLTALES, URI_PATTERNS
from .forms import CHECKED, Form, Schema, Variant
from .versions import Window, compare

_FILES: Final = (
    "common",
    "root",
    "session",
    "chat",
    "toolcalls",
    "terminal",
    "changeset",
    "annotations",
    "resources",
    "automations",
    "canvas",
    "commands",
    "actions",
)
_NAMES: Final = r"[^\s?,]+(?:, [^\s?,]+)*"
_KEY: Final = re.compile(
    rf"(?P<names>{_NAMES})(?: as (?P<type>\w+))?(?P<optional>\?)?(?: >=(?P<since>[\d.]+))?(?: <(?P<until>[\d.]+))?"
)


_OPEN: Final = "..."


class NotationError(Exception):
    """The schema data of this suite is wrong; nothing a host does can cause it."""


@cache
def source() -> Mapping[Any, Any]:
    """The merged content of the schema files."""
    from importlib.resources import files

    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    folder = files(__package__) / "schemas"
    merged: dict[Any, Any] = {}
    for name in _FILES:
        content = yaml.load((folder / f"{name}.yaml").read_text("utf-8"), loader)
        twice = merged.keys() & content.keys()
        if twice:
            raise NotationError(f"{name}.yaml defines again: {', '.join(sorted(map(str, twice)))}")
        merged |= content
    return merged


def definitions(content: Mapping[Any, Any], version: str, form: Form = CHECKED) -> dict[str, Schema]:
    """The $defs of a version from the merged content of the schema files."""
    return _Builder(content, version, form).build()


def reachable(types: Mapping[str, Schema], roots: Iterable[str]) -> dict[str, Schema]:
    """The definitions that these types lead to, themselves included."""
    reached: dict[str, Schema] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = types[name]
            waiting.extend(references(types[name]))
    return reached


def references(schema: Any) -> Iterator[str]:
    """The names of the types that a schema refers to."""
    if isinstance(schema, dict):
        target = schema.get("$ref")
        if isinstance(target, str):
            yield target.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        for member in schema.values():
            yield from references(member)
    elif isinstance(schema, list):
        for entry in schema:
            yield from references(entry)


@dataclass(frozen=True, slots=True)
class _Key:
    names: tuple[str, ...]
    type: str | None
    optional: bool
    window: Window

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def values(self) -> tuple[str | bool, ...]:
        """What the names stand for as values of a discriminator."""
        return tuple({"true": True, "false": False}.get(name, name) for name in self.names)


def _key(text: Any) -> _Key:
    # YAML reads the variants `true` and `false` of a boolean discriminator as booleans.
    match = _KEY.fullmatch(str(text).lower() if isinstance(text, bool) else str(text))
    if match is None:
        raise NotationError(f"cannot read the key {text!r}")
    window = Window(match["since"] or "0.1.0", match["until"])
    return _Key(tuple(match["names"].split(", ")), match["type"], bool(match["optional"]), window)


class _Builder:
    def __init__(self, content: Mapping[Any, Any], version: str, form: Form) -> None:
        self.version = version
        self.form = form
        self.types: dict[str, Any] = {}
        for name, body in self._present(content):
            if name in self.types:
                raise NotationError(f"{name} is defined twice at {version}")
            self.types[name] = body
        for name in actions_of(version):
            self.types.setdefault(name, {})
        for union in [name for name, body in self.types.items() if isinstance(body, dict) and "$by" in body]:
            self._name_variants(union)

    def _present(self, content: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
        for text, body in content.items():
            key = _key(text)
            if "/" in key.name and key.name not in ACTIONS:
                raise NotationError(f"the schemas describe an unknown action {key.name!r}")
            known_action = "/" not in key.name or key.name in actions_of(self.version)
            if key.window.contains(self.version) and known_action:
                yield key.name, body

    def _name_variants(self, union: str) -> None:
        for key, _ in self._variants_of(self.types[union]):
            if key.type is not None:
                if key.type in self.types:
                    raise NotationError(f"{key.type} is defined twice at {self.version}")
                self.types[key.type] = {"$narrow": union, "$to": list(key.values)}

    def _variants_of(self, union: Mapping[Any, Any]) -> Iterator[tuple[_Key, Any]]:
        for text, body in union.items():
            if not str(text).startswith("$"):
                key = _key(text)
                if key.window.contains(self.version):
                    yield key, body

    def build(self) -> dict[str, Schema]:
        built = {self.form.name(name): self._body(body, name) for name, body in sorted(self.types.items())}
        actions = [Variant((name,), self._reference(name), name) for name in sorted(actions_of(self.version))]
        built["StateAction"] = self.form.union("type", actions, {}, [], None)
        return {**built, **self.form.shared}

    def _body(self, body: Any, name: str) -> Schema:
        if isinstance(body, str):
            return self._expression(body, name)
        if isinstance(body, list):
            return self._literals(body)
        if not isinstance(body, dict):
            raise NotationError(f"{name}: cannot read {body!r}")
        if "$by" in body:
            return self._union(body, name, name, is_open=self._is_open(body))
        if "$narrow" in body:
            whole = self.types[body["$narrow"]]
            return self._union(whole, name, body["$narrow"], only=body["$to"], is_open=self._is_open(body))
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
        if text in self.form.built_in:
            return dict(self.form.built_in[text])
        if text not in self.types and text != "StateAction":
            raise NotationError(f"{name}: unknown type {text!r} at {self.version}")
        return self._reference(text)

    def _reference(self, name: str) -> Schema:
        return {"$ref": "#/$defs/" + self.form.name(name).replace("~", "~0").replace("/", "~1")}

    def _literals(self, entries: list[Any]) -> Schema:
        keys = [_key(entry) for entry in entries]
        values = [key.name for key in keys if key.window.contains(self.version)]
        if _OPEN not in values:
            return self.form.literals(values)
        # A value of a later version is tolerated like any other; one that was taken away is known to be wrong.
        lost = [key.name for key in keys if key.window.until and compare(key.window.until, self.version) <= 0]
        return self.form.open_literals([value for value in values if value != _OPEN], lost)

    def _is_open(self, body: Mapping[Any, Any]) -> bool:
        flags = [(_key(text), flag) for text, flag in body.items() if str(text).partition(" ")[0] == "$open"]
        return any(flag is True and key.window.contains(self.version) for key, flag in flags)

    def _object(self, body: Mapping[Any, Any], name: str, *, partial: bool = False) -> Schema:
        properties, required = self._members(body, name, partial)
        if "/" in name and "." not in name:
            properties = {"type": {"const": name}, **properties}
            required = ["type", *required]
        schema = _object_schema(properties, required)
        if "$not" in body:
            schema["not"] = {"anyOf": [{"required": [absent]} for absent in body["$not"]]}
        if body.get("$rule") == "snapshot":
            schema["allOf"] = list(self._snapshot_rules())
        return schema

    def _members(self, body: Mapping[Any, Any], name: str, partial: bool) -> tuple[Schema, list[str]]:
        properties: Schema = {}
        required: list[str] = []
        for base in body.get("$extends", ()):
            inherited, also = self._members(self.types[base], base, partial)
            properties |= inherited
            required += [member for member in also if member not in required]
        for text, member in body.items():
            if str(text).startswith("$"):
                continue
            key = _key(text)
            if not key.window.contains(self.version):
                continue
            properties[key.name] = self._body(member, f"{name}.{key.name}")
            if not key.optional and not partial and key.name not in required:
                required.append(key.name)
        return properties, required

    def _union(
        self,
        body: Mapping[Any, Any],
        name: str,
        union: str,
        *,
        is_open: bool,
        only: list[str | bool] | None = None,
    ) -> Schema:
        shared, required = self._members({"$extends": body.get("$with", ())}, name, False)
        if "/" in union:
            shared, required = {"type": {"const": union}, **shared}, ["type", *required]
        variants = []
        others: list[str | bool] = []
        for key, variant in self._variants_of(body):
            values = tuple(value for value in key.values if only is None or value in only)
            others += [value for value in key.values if value not in values]
            if not values:
                continue
            if isinstance(variant, str):
                schema = self._expression(variant, name)
            else:
                own = {**variant, "$extends": [*body.get("$with", ()), *variant.get("$extends", ())]}
                schema = _object_schema(*self._members(own, f"{name}.{key.name}", False))
            variants.append(Variant(values, schema, None if key.type == name else key.type))
        return self.form.union(body["$by"], variants, shared, required, others if is_open else None)

    def _snapshot_rules(self) -> Iterator[Schema]:
        """The state of a snapshot by what its URI announces, else by what the state shows."""
        announced: list[Schema] = []
        for kind, pattern in URI_PATTERNS.items():
            resource: Schema = {"type": "string", "pattern": pattern}
            if announced:
                # The pattern of annotations finds what those of other kinds find as well.
                resource["not"] = announced[0]
            if STATE_TYPES.get(kind) in self.types:
                yield _if_then({"resource": resource}, {"state": self._reference(STATE_TYPES[kind])})
            announced.append({"pattern": pattern})
        earlier: list[Schema] = []
        for member, kind in TELLTALES:
            shown: Schema = {"required": [member]}
            if earlier:
                shown = {**shown, "not": {"anyOf": list(earlier)}}
            yield _if_then(
                {"resource": {"not": {"anyOf": announced}}, "state": shown},
                {"state": self._reference(STATE_TYPES[kind])},
            )
            earlier.append({"required": [member]})


def _object_schema(properties: Schema, required: list[str]) -> Schema:
    schema: Schema = {"type": "object"}
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = required
    return schema


def _if_then(condition: Schema, consequence: Schema) -> Schema:
    return {
        "if": {"properties": condition, "required": list(condition)},
        "then": {"properties": consequence},
    }
