"""The folds against the specification's own fixtures, and what holds for all of them."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.protocol import ACTIONS, REDUCERS, STATUS, actions_of, fold, reduce
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
    counted = Counter(fixture["reducer"] for fixture in fixtures().values())
    assert counted == {
        "chat": 115,
        "session": 63,
        "terminal": 19,
        "changeset": 16,
        "annotations": 10,
        "root": 7,
        "resourceWatch": 2,
    }


@pytest.mark.skipif(not fixtures(), reason="no reference data beside the checkout")
def test_every_type_of_0_6_0_occurs_in_a_fixture() -> None:
    occurring = {action["type"] for fixture in fixtures().values() for action in fixture["actions"]}
    assert actions_of("0.6.0") <= occurring


@pytest.mark.parametrize("name", fixture_names())
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


@pytest.mark.parametrize("kind", sorted(REDUCERS))
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(state=anything.filter(lambda value: not isinstance(value, dict)), name=st.sampled_from(sorted(ACTIONS)))
def test_a_state_that_cannot_be_folded_stays(kind: str, state: Any, name: str) -> None:
    assert reduce(kind, state, {"type": name}) is state


@pytest.mark.parametrize("action", [None, [], "chat/delta", {}, {"type": None}, {"type": ["chat/delta"]}])
def test_what_is_no_action_changes_nothing(action: Any) -> None:
    assert reduce("chat", STATES["chat"], action) is STATES["chat"]


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
    idle = {name: member for name, member in active.items() if name != "activeTurn"} | {"status": STATUS.IDLE}
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


def test_of_two_parts_with_one_id_the_first_gets_the_text() -> None:
    twin = {"kind": "markdown", "id": "part-1", "content": "twin"}
    action = {"type": "chat/delta", "turnId": examples.TURN, "partId": "part-1", "content": "!"}
    parts = reduce("chat", examples.chat(twin), action)["activeTurn"]["responseParts"]
    assert [part["content"] for part in parts] == ["Hi!", "twin"]


def test_a_customization_in_two_containers_is_removed_from_both_and_switched_in_the_first() -> None:
    def copies(state: Any) -> list[Any]:
        return [[child for child in entry["children"] if child["id"] == "skill"] for entry in state["customizations"]]

    plugin = examples.session()["customizations"][1]
    state = examples.session(customizations=[plugin, plugin | {"id": "second"}])
    removed = reduce("session", state, {"type": "session/customizationRemoved", "id": "skill"})
    assert copies(removed) == [[], []]
    toggled = reduce("session", state, {"type": "session/customizationToggled", "id": "skill", "enabled": False})
    assert [[child.get("enabled") for child in each] for each in copies(toggled)] == [[False], [None]]
    stopped = reduce("session", state, {"type": "session/mcpServerStopRequested", "id": "inner"})
    servers = [entry["children"][0]["state"] for entry in stopped["customizations"]]
    assert servers == [{"kind": "stopped"}, {"kind": "stopped"}]
