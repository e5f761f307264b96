"""Where the types of this suite differ from the published ones of 0.6.0 (as mended in upstream.py), and why.

Each row has a value that one side takes and the other does not; a row whose sides agree on it is out of date. With all
rows applied, both sides accept the same values (test_parity.py).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.protocol import schema_for

from .instances import least
from .upstream import published

Defs = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """place: a type, then members and, for a branch of a union, its number. mended: what stands there in our reading.

    witness: a value for the place. ours_takes_it: whether ours is the side that accepts it.
    """

    place: str
    reason: str
    mended: Defs
    witness: Any
    ours_takes_it: bool = False

    @property
    def type(self) -> str:
        return self.place.partition(".")[0]


_TIMES = "the text says ISO 8601; the published type says string"
_COUNTS = "the text says a count, an offset or a sequence number; TypeScript has no type for whole numbers"
_URIS = "the text says URI; members of anonymous objects and of ResourceReadParams are published as strings"
_TAGS = "the text gives the literal; the published type lost it"
_OPEN = "readers are to tolerate kinds that they do not know, with the members that every kind has"

_TIMESTAMP: Defs = schema_for("0.6.0")["$defs"]["Timestamp"]
_URI: Defs = {"$ref": "#/$defs/URI"}
_WHOLE: Defs = {"type": "integer"}
_SEQ: Defs = {"type": "integer", "minimum": 0}
_SIDE: Defs = {"enum": ["before", "after"]}

_TIME_PLACES = (
    "ActiveTurn.startedAt",
    "Turn.startedAt",
    "ChatTurnStartedAction.startedAt",
    "ChatState.modifiedAt",
    "ChatSummary.modifiedAt",
    "SessionChatUpdatedAction.changes.modifiedAt",
    "SessionSummary.createdAt",
    "SessionSummary.modifiedAt",
    "SessionSummaryChangedParams.changes.createdAt",
    "SessionSummaryChangedParams.changes.modifiedAt",
)
_COUNT_PLACES = (
    "ActionOrigin.clientSeq",
    "DispatchActionParams.clientSeq",
    "CompletionItem.rangeEnd",
    "CompletionItem.rangeStart",
    "CompletionsParams.offset",
    "CreateTerminalParams.cols",
    "CreateTerminalParams.rows",
    "ListSessionsParams.limit",
    "PaginatedParams.limit",
    "ResourceWriteParams.position",
    "SubscribeView.turns",
    "TextPosition.character",
    "TextPosition.line",
)
_SEQ_PLACES = ("ActionEnvelope.serverSeq", "InitializeResult.serverSeq", "ReconnectParams.lastSeenServerSeq")
_URI_PLACES = (
    "ResourceReadParams.uri",
    "FileEdit.before.uri",
    "FileEdit.after.uri",
    "ToolResultFileEditContent.before.uri",
    "ToolResultFileEditContent.after.uri",
    "ChatOrigin.1.chat",
    "ChatOrigin.2.chat",
    "ChangesetOperationTarget.0.resource",
    "ChangesetOperationTarget.1.resource",
)
_OPEN_UNIONS = {
    "ChatInputAnswerValue": ("kind", None),
    "ChatInputQuestion": ("kind", "ChatInputQuestionBase"),
    "ChatOrigin": ("kind", None),
    "ChildCustomization": ("type", None),
    "Customization": ("type", None),
    "MessageAttachment": ("type", "MessageAttachmentBase"),
    "ResponsePart": ("kind", None),
    "TerminalContentPart": ("type", None),
    "ToolResultContent": ("type", None),
}


@cache
def differences() -> tuple[Difference, ...]:
    """All rows; none when there is no published copy to differ from."""
    return tuple(_rows()) if published() else ()


def _rows() -> Iterator[Difference]:
    ours = schema_for("0.6.0")["$defs"]
    yield Difference("URI", "a URI has a scheme; the published type is any string", ours["URI"], "no-scheme")
    yield Difference(
        "SessionStatus",
        "exactly one activity in the low five bits; the published type lists bits",
        ours["SessionStatus"],
        3,
    )
    # Not a matter of one member: which state belongs to a channel is told by its URI.
    yield Difference(
        "Snapshot",
        "the state of a snapshot is that of its channel; the published type takes any state for any channel",
        ours["Snapshot"],
        {"resource": "ahp-root://", "fromSeq": 0, "state": {"annotations": []}},
    )
    operation = published()["ChangesetOperation"]
    without = {**operation, "required": [name for name in operation["required"] if name != "status"]}
    yield Difference(
        "ChangesetOperation",
        "the text of ChangesetOperationStatus says what an operation without a status means; the type requires it",
        without,
        least(without, published()),
        ours_takes_it=True,
    )
    yield Difference("ResourceWatchChangedAction.changes.items", "the text forbids an empty list", _changes(), [])
    for place in _TIME_PLACES:
        yield Difference(place, _TIMES, _TIMESTAMP, "yesterday")
    for place in _COUNT_PLACES:
        yield Difference(place, _COUNTS, _WHOLE, 0.5)
    for place in _SEQ_PLACES:
        yield Difference(place, _COUNTS, _SEQ, -1)
    for place in _URI_PLACES:
        yield Difference(place, _URIS, _URI, "no-scheme")
    for place in ("ChangesetOperationTarget.0.side", "ChangesetOperationTarget.1.side"):
        yield Difference(place, _TAGS, _SIDE, "middle")
    for member in ("inputSchema", "outputSchema"):
        yield Difference(f"ToolDefinition.{member}.type", _TAGS, {"const": "object"}, "array")
    for name, value in (("ChatToolCallApprovedAction", True), ("ChatToolCallDeniedAction", False)):
        yield Difference(f"{name}.approved", _TAGS, {"const": value}, "perhaps")
    # Last, because the rows above speak of the branches that these unions have without them.
    for name, (by, base) in _OPEN_UNIONS.items():
        yield _opened(name, by, base)


def _changes() -> Defs:
    return {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/ResourceChange"}}


def _opened(name: str, by: str, base: str | None) -> Difference:
    types = published()
    known: list[str] = []
    for branch in types[name]["oneOf"]:
        shape = types[branch["$ref"].rsplit("/", 1)[-1]] if "$ref" in branch else branch
        tag = shape["properties"][by]
        known += [tag["const"]] if "const" in tag else tag.get("enum") or [one["const"] for one in tag["oneOf"]]
    shared = types[base] if base is not None else {}
    unknown: Defs = {
        "type": "object",
        "properties": {**shared.get("properties", {}), by: {"type": "string", "not": {"enum": known}}},
        "required": [by, *shared.get("required", ())],
    }
    witness = {**least({"type": "object", **shared}, types), by: "hologram"}
    mended = {"oneOf": [*types[name]["oneOf"], unknown]}
    return Difference(name, _OPEN, mended, witness, ours_takes_it=True)


@cache
def reconciled() -> Defs:
    """The published types with every row applied."""
    types = copy.deepcopy(published())
    for row in differences():
        if row.reason == _OPEN:
            # Rows before have changed the branches, so the new one is added to what stands there.
            types[row.place]["oneOf"].append(row.mended["oneOf"][-1])
        else:
            parent, key = _at(types, row.place)
            parent[key] = row.mended
    return types


def _at(types: Defs, place: str) -> tuple[Any, Any]:
    """Where the schema of a place stands: its container, and the key in it."""
    name, *steps = place.split(".")
    parent: Any = types
    key: Any = name
    for step in steps:
        schema = parent[key]
        parent, key = (schema["oneOf"], int(step)) if step.isdigit() else (schema["properties"], step)
    return parent, key


def instance_with(row: Difference) -> Any:
    """The least value of the row's type in which the witness stands at the place."""
    types = reconciled()
    name, *steps = row.place.split(".")
    schema = types[name]
    if not steps:
        return row.witness
    if steps[0].isdigit():
        schema = schema["oneOf"][int(steps.pop(0))]
    value = least(schema, types)
    inner, within = value, schema
    for step in steps[:-1]:
        within = within["properties"][step]
        inner = inner.setdefault(step, least(within, types))
    inner[steps[-1]] = row.witness
    return value
