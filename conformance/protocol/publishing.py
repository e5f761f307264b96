"""The schemas for everybody: standard JSON Schema 2020-12 documents, one set per version.

A version has a directory of its own:

    protocol.schema.json        every type, in $defs
    state.schema.json           a value is the state of a channel
    actions.schema.json         a value is an action
    commands.schema.json        a value is a request; the types of results are in $defs
    notifications.schema.json   a value is a notification
    errors.schema.json          a value is the error member of a response
    index.json                  which method, action, channel and error code has which types

Each schema stands alone: every $ref leads into its own $defs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from .actions import ACTIONS, action_type_name, actions_of, client_may_dispatch
from .channels import CHANNEL_KINDS, STATE_TYPES
from .errors import ERROR_CODES
from .forms import PUBLISHED, Schema
from .methods import METHODS, Method
from .notation import definitions, reachable, references, source
from .versions import rules_for

INDEX: Final = "index.json"

UNREAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "OtlpExportLogsParams.payload": "OpenTelemetry defines it (OTLP/JSON)",
        "OtlpExportTracesParams.payload": "OpenTelemetry defines it (OTLP/JSON)",
        "OtlpExportMetricsParams.payload": "OpenTelemetry defines it (OTLP/JSON)",
        "AutomationEntry.operations": "the specification leaves the list open; update, remove and run are known",
        "AutomationRunState.operations": "the specification leaves the list open; cancel is known",
        "AutomationTriggeredRunOrigin.event": "the host defines it",
        "BackgroundShellWork.startedAt": "the text was not readable, so a host may leave it out",
        "CanvasReference.resource": "the text was not readable; other members are unknown",
        "CanvasState.url": "the text was not readable, so any string is taken",
    }
)
"""Where the schemas say less than a reader may expect, by type and member, and why."""


def schema_for(version: str) -> dict[str, Any]:
    """A JSON Schema 2020-12 document whose $defs hold every type the version has.

    Raises ValueError when the version is malformed. The result is the caller's own copy.
    """
    rules = rules_for(version)
    return _own(_document(rules, "protocol", "all types", {}, _types(rules)))


def documents(version: str) -> dict[str, dict[str, Any]]:
    """What is published for a version, by file name. Raises ValueError when the version is malformed."""
    rules = rules_for(version)
    groups = {
        "state": ("the state of a channel", _states(rules), ()),
        "actions": ("an action", {"$ref": "#/$defs/StateAction"}, ("ActionEnvelope", "DispatchActionParams")),
        "commands": ("a request", _messages(rules, "request"), _results(rules)),
        "notifications": ("a notification", _messages(rules, "notification"), ()),
        "errors": ("the error of a response", _errors(rules), ()),
    }
    published = {"protocol.schema.json": schema_for(version)}
    for group, (title, root, more) in groups.items():
        types = reachable(_types(rules), [*references(root), *more])
        published[f"{group}.schema.json"] = _own(_document(rules, group, title, root, types))
    published[INDEX] = _index(rules)
    return published


@cache
def _types(rules: str) -> dict[str, Schema]:
    return definitions(source(), rules, PUBLISHED)


def _own(document: Schema) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(document))
    return copy


def _document(rules: str, group: str, title: str, root: Schema, types: Mapping[str, Schema]) -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:ahp-conformance:schema:{rules}:{group}",
        "title": f"Agent Host Protocol {rules}: {title}",
        **root,
        "$defs": {name: types[name] for name in sorted(types)},
    }


def _ref(type_name: str) -> Schema:
    return {"$ref": f"#/$defs/{PUBLISHED.name(type_name)}"}


def _states(rules: str) -> Schema:
    kinds = [kind for kind in STATE_TYPES if CHANNEL_KINDS[kind].contains(rules)]
    return {"anyOf": [_ref(STATE_TYPES[kind]) for kind in kinds]}


def _methods(rules: str, form: str) -> Iterator[Method]:
    return (method for method in METHODS.values() if method.form == form and method.window.contains(rules))


def _messages(rules: str, form: str) -> Schema:
    envelope = "JsonRpcRequest" if form == "request" else "JsonRpcNotification"
    return {
        "allOf": [_ref(envelope)],
        "oneOf": [
            {
                "properties": {"method": {"const": method.name}, "params": _ref(method.params_type)},
                "required": ["method", "params"],
            }
            for method in _methods(rules, form)
        ],
    }


def _results(rules: str) -> tuple[str, ...]:
    return tuple(method.result_type for method in _methods(rules, "request") if method.result_type is not None)


def _errors(rules: str) -> Schema:
    rows = [entry for entry in ERROR_CODES.values() if entry.data_type and entry.window.contains(rules)]
    conditions = []
    for entry in rows:
        assert entry.data_type is not None
        then: Schema = {"properties": {"data": _ref(entry.data_type)}}
        if entry.data_required is not None and entry.data_required.contains(rules):
            then["required"] = ["data"]
        conditions.append({"if": {"properties": {"code": {"const": entry.code}}}, "then": then})
    return {"allOf": [_ref("JsonRpcError"), *conditions]}


def _index(rules: str) -> dict[str, Any]:
    methods = [method for method in METHODS.values() if method.window.contains(rules)]
    return {
        "protocol": rules,
        "methods": {
            method.name: {
                "form": method.form,
                "sender": method.direction,
                "channel": method.channel,
                "params": method.params_type,
                **({"result": method.result_type} if method.result_type else {}),
            }
            for method in methods
        },
        "actions": {
            name: {
                "type": action_type_name(name),
                "channel": ACTIONS[name].channel,
                "clientMayDispatch": client_may_dispatch(name, rules),
            }
            for name in sorted(actions_of(rules))
        },
        "channels": {
            kind: {"state": STATE_TYPES.get(kind)} for kind, window in CHANNEL_KINDS.items() if window.contains(rules)
        },
        "errors": {
            entry.name: {"code": entry.code, **({"data": entry.data_type} if entry.data_type else {})}
            for entry in ERROR_CODES.values()
            if entry.window.contains(rules)
        },
        "open": {place: why for place, why in UNREAD.items() if place.partition(".")[0] in _types(rules)},
    }
