"""Checks JSON values against the schemas of a version and says what is wrong in plain words.

A compiled validator decides, because it is about a thousand times faster on large states; only when
it says no does the explaining one look for the reasons. Both are built on first use and kept per
version and type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from .actions import is_known_action
from .channels import STATE_TYPES
from .errors import ERROR_CODES
from .forms import STATUS_KEYWORD
from .methods import METHODS
from .notation import definitions, reachable, source
from .publishing import schema_for
from .status import ACTIVITIES, ACTIVITY_MASK, NAMES, is_status
from .versions import rules_for

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = [
    "MOST_VIOLATIONS",
    "Violation",
    "action_violations",
    "error_data_violations",
    "params_violations",
    "result_violations",
    "schema_for",
    "state_violations",
    "type_names",
    "violations",
]

MOST_VIOLATIONS: Final = 20
"""How many reasons are given for one value at most."""

_LONGEST_QUOTE: Final = 80
# The explaining validator takes seconds per megabyte; a host must not be able to stall the suite.
_MOST_NODES_TO_EXPLAIN: Final = 20_000


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value departs from its type.

    path: where, as a JSONPath from the value (`$.turns[0].state`). message: what was expected and seen.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def type_names(version: str) -> frozenset[str]:
    """The names that `violations` takes for this version."""
    return frozenset(_definitions(rules_for(version)))


def violations(version: str, type_name: str, value: Any) -> list[Violation]:
    """What is wrong with a value of a type; empty when nothing is.

    Raises LookupError when the version has no such type, ValueError when the version is malformed.
    """
    decider = _decider_for(version, type_name)
    try:
        if decider.is_valid(value):
            return []
        return list(islice(_unique(_explained(rules_for(version), type_name, value)), MOST_VIOLATIONS))
    except ValueError:
        # The compiled validator takes no lone surrogates and no deep nesting, so the other one decides.
        return list(islice(_unique(_reasons(rules_for(version), type_name, value)), MOST_VIOLATIONS))


def action_violations(version: str, action: Any) -> list[Violation]:
    """What is wrong with an action, its type included: a type that the version lacks is wrong."""
    name = action.get("type") if isinstance(action, dict) else None
    if isinstance(name, str):
        if not is_known_action(name, version):
            return [Violation("$.type", f"AHP {rules_for(version)} has no action {_quoted(name)}")]
        return violations(version, name, action)
    return violations(version, "StateAction", action)


def state_violations(version: str, kind: str, state: Any) -> list[Violation]:
    """What is wrong with the state of a channel of this kind; kinds without a schema are free."""
    return _by_name(version, STATE_TYPES.get(kind), state)


def params_violations(version: str, method: str, params: Any) -> list[Violation]:
    """What is wrong with the params of a request or notification; unknown methods are free."""
    entry = METHODS.get(method)
    return _by_name(version, entry.params_type if entry else None, params)


def result_violations(version: str, method: str, result: Any) -> list[Violation]:
    """What is wrong with the result of a request; unknown methods are free."""
    entry = METHODS.get(method)
    return _by_name(version, entry.result_type if entry else None, result)


def error_data_violations(version: str, code: int, data: Any = None) -> list[Violation]:
    """What is wrong with `error.data` of a code; None stands for an error without data."""
    entry = ERROR_CODES.get(code)
    if entry is None or entry.data_type is None:
        return []
    if data is None:
        required = entry.data_required is not None and entry.data_required.contains(version)
        message = f"{entry.name} ({code}) must carry data of type {entry.data_type}"
        return [Violation("$", message)] if required else []
    return violations(version, entry.data_type, data)


def _by_name(version: str, type_name: str | None, value: Any) -> list[Violation]:
    if type_name is None or type_name not in _definitions(rules_for(version)):
        return []
    return violations(version, type_name, value)


# Building


@cache
def _definitions(rules: str) -> dict[str, Any]:
    return definitions(source(), rules)


def _document(rules: str, type_name: str) -> dict[str, Any]:
    """A schema of one type with only the definitions that it reaches; small ones compile faster."""
    pointer = type_name.replace("/", "~1")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": f"#/$defs/{pointer}",
        "$defs": reachable(_definitions(rules), [type_name]),
    }


class _StatusKeyword:
    """The status keyword for the compiled validator."""

    def __init__(self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        if isinstance(instance, int) and not is_status(instance):
            raise ValueError(_status_message(instance))


@lru_cache(maxsize=4096)
def _decider_for(version: str, type_name: str) -> jsonschema_rs.Draft202012Validator:
    """The decider of a negotiated version: one look-up for a value of a type that was seen before."""
    rules = rules_for(version)
    if type_name not in _definitions(rules):
        raise LookupError(f"AHP {rules} has no type {type_name!r}")
    return _decider(rules, type_name)


@cache
def _decider(rules: str, type_name: str) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        _document(rules, type_name), keywords={STATUS_KEYWORD: _StatusKeyword}, offline=True
    )


@cache
def _explainer(rules: str, type_name: str) -> Validator:
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import ValidationError

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, int) and not isinstance(instance, bool) and not is_status(instance):
            yield ValidationError(_status_message(instance))

    extended: Any = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {STATUS_KEYWORD: check}
    )
    explainer: Validator = extended(_document(rules, type_name))
    return explainer


# Explaining


def _explained(rules: str, type_name: str, value: Any) -> Iterator[Violation]:
    if _is_larger_than(value, _MOST_NODES_TO_EXPLAIN):
        for error in islice(_decider(rules, type_name).iter_errors(value), MOST_VIOLATIONS):
            yield Violation(_path(error.instance_path), _cut(error.message))
        return
    found = False
    for violation in _reasons(rules, type_name, value):
        found = True
        yield violation
    if not found:
        # Both follow the same standard, so this is a fault of a validator; the verdict stands.
        yield Violation("$", f"is no {type_name} of AHP {rules}")


def _reasons(rules: str, type_name: str, value: Any) -> Iterator[Violation]:
    try:
        for error in _explainer(rules, type_name).iter_errors(value):
            yield from _violations_of(error)
    except RecursionError:
        yield Violation("$", "is nested too deeply to be checked")


def _violations_of(error: Any) -> Iterator[Violation]:
    path = _path(error.absolute_path)
    match error.validator:
        case "anyOf":
            branches = {reason.schema_path[0] for reason in error.context or ()}
            expected = [_name_of(error.validator_value[place]) for place in sorted(map(int, branches))]
            yield Violation(path, f"expected {' or '.join(expected)}, found {_quoted(error.instance)}")
        case "required":
            for name in error.validator_value:
                if name not in error.instance:
                    yield Violation(path, f"member {name!r} is missing")
        case "not" if "enum" in error.validator_value:
            yield Violation(path, f"{_quoted(error.instance)} has no place here in this version")
        case "not":
            yield Violation(path, f"has members that exclude each other: {_quoted(error.instance)}")
        case "type":
            expected = error.validator_value
            names = expected if isinstance(expected, str) else " or ".join(expected)
            yield Violation(path, f"expected {names}, found {_quoted(error.instance)}")
        case "enum":
            allowed = ", ".join(json.dumps(option) for option in error.validator_value)
            some = "one of " if len(error.validator_value) > 1 else ""
            yield Violation(path, f"expected {some}{allowed}, found {_quoted(error.instance)}")
        case "const":
            yield Violation(path, f"expected {json.dumps(error.validator_value)}, found {_quoted(error.instance)}")
        case "pattern":
            sort = "an ISO 8601 time" if "[0-9]{4}" in error.validator_value else "a URI with a scheme"
            yield Violation(path, f"expected {sort}, found {_quoted(error.instance)}")
        case "minItems":
            yield Violation(path, "must not be empty; what is not there is left out")
        case "minimum":
            least = error.validator_value
            yield Violation(path, f"expected {least} or more, found {_quoted(error.instance)}")
        case _:
            yield Violation(path, _printable(error.message))


def _name_of(schema: dict[str, Any]) -> str:
    """What to call a branch of a union."""
    target = schema.get("$ref")
    if isinstance(target, str):
        return target.rsplit("/", 1)[-1].replace("~1", "/")
    return str(schema.get("type", "another value"))


def _status_message(value: int) -> str:
    names = ", ".join(f"{NAMES[known]} ({known})" for known in ACTIVITIES)
    return f"status {value} has the activity {value & ACTIVITY_MASK}, which is none of {names}"


def _path(steps: Iterable[str | int]) -> str:
    text = "$"
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"
    return _printable(text)


def _quoted(value: Any) -> str:
    if isinstance(value, dict):
        return _cut("an object with " + (", ".join(map(repr, value)) or "no members"))
    if isinstance(value, list):
        return f"an array of {len(value)}"
    # Cut before quoting: the value may be megabytes.
    return _cut(json.dumps(value[:_LONGEST_QUOTE] if isinstance(value, str) else value, ensure_ascii=False))


def _cut(text: str) -> str:
    return _printable(text if len(text) < _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…")


def _printable(text: str) -> str:
    """The text in a form that every output takes: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _unique(found: Iterable[Violation]) -> Iterator[Violation]:
    seen: set[Violation] = set()
    for violation in found:
        if violation not in seen:
            seen.add(violation)
            yield violation


def _is_larger_than(value: Any, nodes: int) -> bool:
    """Whether a value has more parts than this, found out in at most that many steps."""
    waiting = [value]
    while waiting:
        nodes -= 1
        if nodes < 0:
            return True
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return False
