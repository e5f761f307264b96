"""Which lists of values are open to later versions, which are closed, and what both mean for a value from nowhere.

Source, unless a row says else: since 0.9.0 the types mark every enumeration as exhaustive or nonexhaustive, and a union
has the mark of its discriminator (changelog of 0.9.0: unknown values of nonexhaustive enumerations survive). Before
that readers are to tolerate unknown members, action types and the kinds of certain unions, no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema_rs
import pytest

from conformance.protocol import VERSIONS, Window, schema_for, type_names, violations
from conformance.protocol.forms import PUBLISHED
from conformance.protocol.notation import reachable, source

from .examples import CALL, CHAT

NOWHERE = "telepathy"
KINDS_OF_0_6_0 = "readers tolerate kinds that they do not know"


@dataclass(frozen=True)
class Place:
    """A type, the enumeration of the specification that it lists, and since when it is open.

    by: the member that tells a union apart, None for a list. base: the members that every variant has.
    """

    type: str
    enumeration: str
    since: str = "0.9.0"
    by: str | None = None
    base: dict[str, Any] = field(default_factory=dict)

    def value(self) -> Any:
        return NOWHERE if self.by is None else {**self.base, self.by: NOWHERE}


CALL_BASE = {"toolCallId": CALL, "toolName": "t", "displayName": "T"}
OPEN = (
    Place("SessionLifecycle", "SessionLifecycle"),
    Place("AuthRequiredReason", "AuthRequiredReason"),
    Place("McpAuthRequiredReason", "McpAuthRequiredReason"),
    Place("ChildCustomizationType", "CustomizationType"),
    Place("MessageKind", "MessageKind"),
    Place("ToolCallConfirmationReason", "ToolCallConfirmationReason"),
    Place("ConfirmationOptionKind", "ConfirmationOptionKind"),
    Place("ToolCallRiskAssessmentKind", "ToolCallRiskAssessmentKind"),
    Place("ChangesetStatus", "ChangesetStatus"),
    Place("ChangesetOperationStatus", "ChangesetOperationStatus"),
    Place("ChangesetOperationScope", "ChangesetOperationScope"),
    Place("ResourceType", "ResourceType"),
    Place("CompletionItemKind", "CompletionItemKind"),
    Place("AutomationMisfirePolicy", "AutomationMisfirePolicy"),
    Place("SessionInputRequest", "SessionInputRequestKind", by="kind", base={"id": "n", "chat": CHAT}),
    Place("CustomizationEnablement", "CustomizationEnablementKind", by="kind"),
    Place("McpServerState", "McpServerStatus", by="kind"),
    Place("ToolCallState", "ToolCallStatus", by="status", base=CALL_BASE),
    Place("ToolCallConfirmationState", "ToolCallStatus", by="status", base=CALL_BASE),
    Place("ToolCallContributor", "ToolCallContributorKind", by="kind"),
    Place("ToolCallRiskAssessment", "ToolCallRiskAssessmentStatus", by="status", base={"kind": "judge"}),
    Place("ChangesetOperationTarget", "ChangesetOperationTargetKind", by="kind"),
    Place("SessionOrigin", "SessionOriginKind", by="kind"),
    Place("BackgroundWork", "BackgroundWorkKind", "1.0.0", by="kind", base={"id": "w", "label": "W"}),
    Place("Customization", KINDS_OF_0_6_0, "0.6.0", by="type"),
    Place("ChildCustomization", KINDS_OF_0_6_0, "0.6.0", by="type"),
    Place("ChatOrigin", KINDS_OF_0_6_0, "0.6.0", by="kind"),
    Place("MessageAttachment", KINDS_OF_0_6_0, "0.6.0", by="type", base={"label": "a"}),
    Place("ResponsePart", KINDS_OF_0_6_0, "0.6.0", by="kind"),
    Place("ChatInputQuestion", KINDS_OF_0_6_0, "0.6.0", by="kind", base={"id": "q", "message": "?"}),
    Place("ChatInputAnswerValue", KINDS_OF_0_6_0, "0.6.0", by="kind"),
    Place("ToolResultContent", KINDS_OF_0_6_0, "0.6.0", by="type"),
    Place("TerminalContentPart", KINDS_OF_0_6_0, "0.6.0", by="type"),
)

REFUSED = "the host refuses a kind that it does not know"
NO_ENUMERATION = "literals of the type, which no enumeration names"
# Closed places: what they list, and a value of the type in which the unknown one stands.
CLOSED: dict[str, tuple[str, str, Any]] = {
    "PolicyState": ("PolicyState", "PolicyState", NOWHERE),
    "ChatInteractivity": ("ChatInteractivity", "ChatInteractivity", NOWHERE),
    "TurnState": ("TurnState", "TurnState", NOWHERE),
    "PendingMessageKind": ("PendingMessageKind", "PendingMessageKind", NOWHERE),
    "ChatInputResponseKind": ("ChatInputResponseKind", "ChatInputResponseKind", NOWHERE),
    "ToolCallCancellationReason": ("ToolCallCancellationReason", "ToolCallCancellationReason", NOWHERE),
    "ContentEncoding": ("ContentEncoding", "ContentEncoding", NOWHERE),
    "ResourceWriteMode": ("ResourceWriteMode", "ResourceWriteMode", NOWHERE),
    "ResourceChangeType": ("ResourceChangeType", "ResourceChangeType", NOWHERE),
    "ChatInputAnswer": ("ChatInputAnswerState", "ChatInputAnswer", {"state": NOWHERE}),
    "CustomizationLoadState": ("CustomizationLoadStatus", "CustomizationLoadState", {"kind": NOWHERE}),
    "TerminalLifecycle": ("TerminalLifecycleStatus", "TerminalLifecycle", {"status": NOWHERE}),
    "TerminalClaim": ("TerminalClaimKind", "TerminalClaim", {"kind": NOWHERE}),
    "AutomationTrigger": ("AutomationTriggerKind", "AutomationTrigger", {"kind": NOWHERE, "id": "t"}),
    "AutomationDisableCondition": (
        "AutomationDisableConditionKind",
        "AutomationDisableCondition",
        {"kind": NOWHERE},
    ),
    "AutomationRunOrigin": ("AutomationRunOriginKind", "AutomationRunOrigin", {"kind": NOWHERE}),
    "AutomationRunLifecycle": (
        "AutomationRunStatus",
        "AutomationRunLifecycle",
        {"status": NOWHERE, "createdAt": "2026-01-01T00:00:00Z"},
    ),
    "ReconnectResult": ("ReconnectResultType", "ReconnectResult", {"type": NOWHERE}),
    "ChatSource": (REFUSED, "ChatSource", {"kind": NOWHERE, "chat": CHAT, "turnId": "t"}),
    "MoveChatDestination": (REFUSED, "MoveChatDestination", {"kind": NOWHERE}),
    "Icon.theme": (NO_ENUMERATION, "Icon", {"src": "a:b", "theme": NOWHERE}),
    "ConfigPropertySchema.type": (NO_ENUMERATION, "ConfigPropertySchema", {"type": NOWHERE, "title": "T"}),
    "ChangesetOperationTarget.resource.side": (
        NO_ENUMERATION,
        "ChangesetOperationTarget",
        {"kind": "resource", "resource": "a:b", "side": NOWHERE},
    ),
    "ChangesetOperationTarget.range.side": (
        NO_ENUMERATION,
        "ChangesetOperationTarget",
        {
            "kind": "range",
            "resource": "a:b",
            "side": NOWHERE,
            "range": {"start": {"line": 1, "character": 1}, "end": {"line": 1, "character": 1}},
        },
    ),
    "DirectoryEntry.type": (NO_ENUMERATION, "DirectoryEntry", {"name": "n", "type": NOWHERE}),
    "chat/toolCallConfirmed": (
        "the decision",
        "chat/toolCallConfirmed",
        {"type": "chat/toolCallConfirmed", "turnId": "t", "toolCallId": CALL, "approved": NOWHERE},
    ),
    "chat/toolCallConfirmed.false.reason": (
        "ToolCallCancellationReason",
        "chat/toolCallConfirmed",
        {"type": "chat/toolCallConfirmed", "turnId": "t", "toolCallId": CALL, "approved": False, "reason": NOWHERE},
    ),
}


@cache
def judge(version: str, name: str) -> jsonschema_rs.Draft202012Validator:
    types = schema_for(version)["$defs"]
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": reachable(types, [name])})


def taken(version: str, name: str, value: Any) -> bool:
    """Whether the type takes a value; what is published must say the same."""
    verdict = not violations(version, name, value)
    assert judge(version, PUBLISHED.name(name)).is_valid(value) is verdict
    return verdict


def having(name: str) -> list[str]:
    return [version for version in VERSIONS if name in type_names(version)]


@pytest.mark.parametrize("place", OPEN, ids=lambda place: place.type)
def test_an_open_list_tolerates_what_nobody_knows(place: Place) -> None:
    versions = having(place.type)
    verdicts = {version: taken(version, place.type, place.value()) for version in versions}
    assert verdicts == {version: Window(place.since).contains(version) for version in versions}
    assert any(verdicts.values())


@pytest.mark.parametrize("place", OPEN, ids=lambda place: place.type)
def test_what_is_no_string_is_refused_everywhere(place: Place) -> None:
    for version in having(place.type):
        for wrong in (3, None, ["creating"]):
            assert not taken(version, place.type, wrong if place.by is None else {**place.base, place.by: wrong})


@pytest.mark.parametrize("place", [place for place in OPEN if place.base], ids=lambda place: place.type)
def test_an_unknown_variant_has_the_members_of_all_and_is_not_judged_beyond(place: Place) -> None:
    newest = VERSIONS[-1]
    assert taken(newest, place.type, {**place.value(), "turnId": 3, "toolCall": "x"})
    for member in place.base:
        assert not taken(newest, place.type, {key: part for key, part in place.value().items() if key != member})


@pytest.mark.parametrize("place", CLOSED)
def test_a_closed_list_refuses_what_nobody_knows(place: str) -> None:
    _, name, value = CLOSED[place]
    versions = having(name)
    assert versions
    assert [version for version in versions if taken(version, name, value)] == []


def test_every_list_is_known_to_be_open_or_closed() -> None:
    named = {place.type for place in OPEN}
    assert {name for name, is_open in _lists() if is_open} == named
    assert {name for name, is_open in _lists() if not is_open} == CLOSED.keys()


def _lists() -> Iterator[tuple[str, bool]]:
    """Every list and union of the schema files; one literal alone is no list."""
    for name, body in source().items():
        yield from _within(str(name).partition(" ")[0], body)


def _within(path: str, body: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(body, list):
        is_open = any(str(entry).startswith("...") for entry in body)
        if len(body) > 1:
            yield path, is_open
    elif isinstance(body, dict):
        if "$by" in body or "$open >=0.9.0" in body:
            yield path, any(str(key).startswith("$open") for key in body)
        for key, part in body.items():
            if not str(key).startswith("$"):
                step = str(key).partition(" ")[0].removesuffix("?")
                yield from _within(f"{path}.{step.lower() if isinstance(key, bool) else step}", part)


# What the openness does not cover.


def test_a_value_that_was_taken_away_stays_wrong() -> None:
    assert taken("0.8.0", "SessionLifecycle", "creationFailed")
    assert not taken("0.9.0", "SessionLifecycle", "creationFailed")
    assert [str(found) for found in violations("0.9.0", "SessionLifecycle", "creationFailed")] == [
        '$: "creationFailed" has no place here in this version'
    ]


@pytest.mark.parametrize("status", ["running", "completed", "streaming"])
def test_a_confirmation_is_of_a_call_that_waits_or_of_one_nobody_knows(status: str) -> None:
    call = {
        **CALL_BASE,
        "status": status,
        "invocationMessage": "m",
        "confirmed": "setting",
        "success": True,
        "pastTenseMessage": "m",
    }
    assert taken("0.9.0", "ToolCallState", call)
    assert not taken("0.9.0", "ToolCallConfirmationState", call)


def test_a_type_for_one_variant_takes_that_variant_alone() -> None:
    assert not taken("0.9.0", "ToolCallRunningState", {**CALL_BASE, "status": NOWHERE})
    assert not taken("0.9.0", "SessionChatInputRequest", {"id": "n", "chat": CHAT, "kind": NOWHERE})


def test_known_variants_are_judged_as_ever() -> None:
    for version in VERSIONS:
        assert not taken(version, "ToolCallContributor", {"kind": "client"})
        assert not taken(version, "SessionInputRequest", {"id": "n", "chat": CHAT, "kind": "chatInput"})


def test_what_is_published_names_the_known_values_and_leaves_a_way_out() -> None:
    types = {version: schema_for(version)["$defs"] for version in VERSIONS}
    assert types["0.8.0"]["SessionLifecycle"] == {"type": "string", "enum": ["creating", "ready", "creationFailed"]}
    assert types["0.9.0"]["SessionLifecycle"] == {
        "anyOf": [
            {"type": "string", "enum": ["creating", "ready", "failed"]},
            {"type": "string", "not": {"enum": ["creationFailed"]}},
        ]
    }
    assert types["0.9.0"]["ToolCallRiskAssessmentKind"] == {"anyOf": [{"const": "judge"}, {"type": "string"}]}
    *known, unknown = types["0.9.0"]["ToolCallContributor"]["oneOf"]
    assert known == types["0.8.0"]["ToolCallContributor"]["oneOf"]
    assert unknown["properties"]["kind"] == {"type": "string", "not": {"enum": ["client", "mcp"]}}
