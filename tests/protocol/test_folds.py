"""The folds against the specification's own fixtures, and what holds for all of them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.protocol import ACTIONS, REDUCERS, VERSIONS, fold, reduce
from conformance.protocol.reducers import Step

from . import examples
from .reference import FROZEN_CLOCK, fixture_names, fixtures, without_nulls


def frozen() -> str:
    return FROZEN_CLOCK


def canonical(value: Any) -> str:
    """A text in which 1 and true differ, unlike in a comparison of Python values."""
    return json.dumps(without_nulls(value), sort_keys=True)


@pytest.mark.skipif(not fixtures(), reason="no reference data beside the checkout")
def test_all_fixtures_are_there() -> None:
    assert len(fixture_names("root", "session", "chat")) == 185


@pytest.mark.parametrize("name", fixture_names("root", "session", "chat"))
def test_fixture(name: str) -> None:
    fixture = fixtures()[name]
    before = copy.deepcopy(fixture["initial"])
    kind, handlers = fixture["reducer"], REDUCERS[fixture["reducer"]]
    state = fixture["initial"]
    for action in fixture["actions"]:
        handler = handlers.get(action["type"])
        # Called directly, so that a failure inside a rule is not taken for a no-op.
        direct = handler(state, action, Step("0.6.0", frozen)) if handler else state
        state = reduce(kind, state, action, "0.6.0", frozen)
        assert canonical(direct) == canonical(state)
    assert canonical(state) == canonical(fixture["expected"])
    assert fixture["initial"] == before


def test_a_kind_without_a_fold_is_an_error_of_the_caller() -> None:
    with pytest.raises(LookupError, match="no fold for channel kind 'telemetry'"):
        reduce("telemetry", {}, {"type": "x"})


def test_fold_applies_actions_in_order() -> None:
    renamed = fold(
        "session",
        examples.session(),
        [{"type": "session/titleChanged", "title": title} for title in ("one", "two")],
    )
    assert renamed["title"] == "two"


STATES = {
    "root": {"agents": [], "config": {"schema": {"type": "object", "properties": {}}, "values": {"a": 1}}},
    "session": examples.session(inputNeeded=[examples.request("n", "chatInput")], status=24),
    "chat": examples.chat(
        {"kind": "toolCall", "toolCall": examples.call("running")},
        {"kind": "inputRequest", "request": {"id": "q", "answers": {}}},
    )
    | {"queuedMessages": [{"id": "m", "message": examples.message()}]},
}

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
# Identities that exist in STATES and identities that do not, so that rules get past their first check.
identities = st.sampled_from(
    [examples.TURN, examples.CALL, examples.CHAT, "part-1", "vault", "inner", "skill", "n", "q", "m", "?"]
)
MEMBERS = """
turnId toolCallId partId id chat kind message part content result approved confirmed
duration request requestId questionId response answers order turns summary changes
status enabled enablement state customization customizations activeClient clientId
directory replacement config auth usage error work chats isRead isArchived
queuedMessageId startedAt channel agents terminals draft
"""
members = st.sampled_from(MEMBERS.split())


@pytest.mark.parametrize("kind", list(STATES))
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_fold_never_changes_its_input_and_never_fails(kind: str, data: st.DataObject) -> None:
    state = STATES[kind]
    before = canonical(state)
    name = data.draw(st.sampled_from(sorted(REDUCERS[kind])))
    action = data.draw(st.dictionaries(members, identities | anything, max_size=6)) | {"type": name}
    sent = copy.deepcopy(action)
    reduce(kind, state, action, data.draw(st.sampled_from(VERSIONS)), frozen)
    assert canonical(state) == before
    assert action == sent


@pytest.mark.parametrize("kind", list(STATES))
@settings(max_examples=100, deadline=None)
@given(state=anything.filter(lambda value: not isinstance(value, dict)), name=st.sampled_from(sorted(ACTIONS)))
def test_a_state_that_cannot_be_folded_stays(kind: str, state: Any, name: str) -> None:
    assert reduce(kind, state, {"type": name}) is state


@pytest.mark.parametrize("kind", list(STATES))
@given(name=st.text(max_size=20), rest=st.dictionaries(members, anything, max_size=3))
def test_an_unknown_action_changes_nothing(kind: str, name: str, rest: dict[str, Any]) -> None:
    if name not in ACTIONS:
        assert reduce(kind, STATES[kind], {**rest, "type": name}, "1.0.0") is STATES[kind]


@pytest.mark.parametrize("action", [None, [], "chat/delta", {}, {"type": None}, {"type": ["chat/delta"]}])
def test_what_is_no_action_changes_nothing(action: Any) -> None:
    assert reduce("chat", STATES["chat"], action) is STATES["chat"]


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_action_that_the_version_lacks_changes_nothing(name: str) -> None:
    entry = ACTIONS[name]
    for version in VERSIONS:
        if entry.channel in STATES and not entry.window.contains(version):
            action = {"type": name, "turnId": "turn-0", "id": "vault", "directory": "file:///d"}
            assert reduce(entry.channel, STATES[entry.channel], action, version) is STATES[entry.channel]


TURN_ACTIONS: list[dict[str, Any]] = [
    {"type": "chat/delta", "partId": "part-1", "content": "x"},
    {"type": "chat/reasoning", "partId": "part-1", "content": "x"},
    {"type": "chat/responsePart", "part": {"kind": "markdown", "id": "p", "content": ""}},
    {"type": "chat/usage", "usage": {}},
    {"type": "chat/turnComplete", "duration": 1},
    {"type": "chat/turnCancelled", "duration": 1},
    {"type": "chat/error", "duration": 1, "error": {"errorType": "e", "message": "m"}},
    {"type": "chat/toolCallStart", "toolCallId": "new", "toolName": "t", "displayName": "T"},
    {"type": "chat/toolCallDelta", "content": "x"},
    {"type": "chat/toolCallReady", "invocationMessage": "x"},
    {"type": "chat/toolCallConfirmed", "approved": True, "confirmed": "user-action"},
    {"type": "chat/toolCallConfirmed", "approved": False, "reason": "denied"},
    {"type": "chat/toolCallComplete", "result": examples.RESULT},
    {"type": "chat/toolCallResultConfirmed", "approved": True},
    {"type": "chat/toolCallContentChanged", "content": []},
    {"type": "chat/toolCallAuthRequired", "auth": examples.auth()},
    {"type": "chat/toolCallAuthResolved"},
]


@pytest.mark.parametrize("action", TURN_ACTIONS, ids=lambda action: action["type"])
@pytest.mark.parametrize("status", ["streaming", "pending-confirmation", "running", "auth-required"])
def test_another_turn_or_no_turn_makes_it_a_no_op(action: dict[str, Any], status: str) -> None:
    active = examples.chat_with_call(status)
    idle = {name: member for name, member in active.items() if name != "activeTurn"}
    stale = {"toolCallId": examples.CALL} | action | {"turnId": "turn-0"}
    assert reduce("chat", active, stale) is active
    assert reduce("chat", idle, stale | {"turnId": examples.TURN}) is idle


NO_TARGET: list[tuple[str, dict[str, Any]]] = [
    ("chat", {"type": "chat/delta", "turnId": examples.TURN, "partId": "?", "content": "x"}),
    ("chat", {"type": "chat/reasoning", "turnId": examples.TURN, "partId": "part-1", "content": "x"}),
    ("chat", {"type": "chat/truncated", "turnId": "?"}),
    ("chat", {"type": "chat/inputCompleted", "requestId": "?", "response": "accept"}),
    ("chat", {"type": "chat/inputAnswerChanged", "requestId": "?", "questionId": "x"}),
    ("chat", {"type": "chat/pendingMessageRemoved", "kind": "queued", "id": "?"}),
    ("chat", {"type": "chat/pendingMessageRemoved", "kind": "steering", "id": "m"}),
    ("session", {"type": "session/chatRemoved", "chat": "ahp-chat:/none"}),
    ("session", {"type": "session/chatUpdated", "chat": "ahp-chat:/none", "changes": {"title": "x"}}),
    ("session", {"type": "session/activeClientRemoved", "clientId": "?"}),
    ("session", {"type": "session/inputNeededRemoved", "id": "?"}),
    ("session", {"type": "session/customizationToggled", "id": "?", "enabled": False}),
    ("session", {"type": "session/customizationRemoved", "id": "?"}),
    ("session", {"type": "session/mcpServerStateChanged", "id": "?", "state": {"kind": "ready"}}),
    ("session", {"type": "session/mcpServerStateChanged", "id": "plug", "state": {"kind": "ready"}}),
    ("session", {"type": "session/mcpServerStopRequested", "id": "skill"}),
]


@pytest.mark.parametrize(("kind", "action"), NO_TARGET, ids=lambda case: str(case)[:60])
def test_an_unknown_identity_makes_it_a_no_op(kind: str, action: dict[str, Any]) -> None:
    assert reduce(kind, STATES[kind], action) is STATES[kind]
