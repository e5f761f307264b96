"""Every action type of every version is folded, or has a reason why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from conformance.protocol import ACTIONS, CHANNEL_KINDS, REDUCERS, STATELESS_KINDS, VERSIONS, actions_of, fold, reduce
from conformance.protocol.reducers.folding import unchanged

from . import examples
from .actions import WELL_FORMED

# Types that change no state, in any version, and why.
WITHOUT_EFFECT = {
    "terminal/input": "the host passes it to the process; what comes back is terminal/data",
    "resourceWatch/changed": "the state says what is watched and keeps no history",
    "automation/createRequested": "a request; the host answers with automation/set",
    "automation/updateRequested": "a request; the host answers with automation/set",
    "automationRun/cancelRequested": "a request; the host answers with automationRun/lifecycleChanged",
}

# Actions that lead to a state in which the type has something to change, where the example has nothing.
PREPARATIONS: dict[str, list[dict[str, Any]]] = {
    "chat/turnResume": [
        {
            "type": "chat/error",
            "turnId": examples.TURN,
            "duration": 1,
            "error": {"errorType": "e", "message": "m"},
            "part": {"kind": "error", "error": {"errorType": "e", "message": "m"}, "resumable": True},
        }
    ],
    "chat/inputAnswerChanged": [{"type": "chat/inputRequested", "request": {"id": "ask-1"}}],
    "chat/inputCompleted": [{"type": "chat/inputRequested", "request": {"id": "ask-1"}}],
    "chat/pendingMessageRemoved": [
        {"type": "chat/pendingMessageSet", "kind": "queued", "id": "message-1", "message": examples.message()}
    ],
    "chat/queuedMessagesReordered": [
        {"type": "chat/pendingMessageSet", "kind": "queued", "id": each, "message": examples.message()}
        for each in ("message-1", "message-2")
    ],
    "chat/backgroundWorkRemoved": [{"type": "chat/backgroundWorkSet", "work": {"id": "message-1"}}],
    "chat/workingDirectoryRemoved": [{"type": "chat/workingDirectorySet", "directory": "file:///a"}],
    "session/workingDirectoryRemoved": [{"type": "session/workingDirectorySet", "directory": "file:///a"}],
    "session/workingDirectoryReplaced": [{"type": "session/workingDirectorySet", "directory": "file:///a"}],
    "session/inputNeededRemoved": [
        {"type": "session/inputNeededSet", "request": examples.request("ask-1", "chatInput")}
    ],
    "session/mcpServerBackgroundRequested": [
        {"type": "session/mcpServerStateChanged", "id": "vault", "state": {"kind": "starting", "blocking": True}}
    ],
    "chat/reasoning": [
        {
            "type": "chat/responsePart",
            "turnId": examples.TURN,
            "part": {"kind": "reasoning", "id": "thought", "content": ""},
        }
    ],
}
# The status of the call "call-1" in which an action about it does something.
CALL_STATUSES = {
    "chat/toolCallDelta": "streaming",
    "chat/toolCallReady": "streaming",
    "chat/toolCallConfirmed": "pending-confirmation",
    "chat/toolCallComplete": "running",
    "chat/toolCallResultConfirmed": "pending-result-confirmation",
    "chat/toolCallContentChanged": "running",
    "chat/toolCallAuthRequired": "running",
    "chat/toolCallAuthResolved": "auth-required",
}


def ready_for(name: str, version: str) -> Any:
    """A state in which some action of this type changes something."""
    if name in CALL_STATUSES:
        return examples.chat_with_call(CALL_STATUSES[name])
    kind = ACTIONS[name].channel
    return fold(kind, examples.STATES[kind](), PREPARATIONS.get(name, []), version)


def test_every_kind_with_state_has_a_fold() -> None:
    assert set(REDUCERS) == set(CHANNEL_KINDS) - STATELESS_KINDS
    assert set(examples.STATES) == set(REDUCERS)


def test_handlers_and_action_types_are_the_same_set() -> None:
    assert {(kind, name) for kind, handlers in REDUCERS.items() for name in handlers} == {
        (entry.channel, name) for name, entry in ACTIONS.items()
    }


def test_the_types_without_effect_are_those_with_a_reason() -> None:
    handlers = {name: handler for each in REDUCERS.values() for name, handler in each.items()}
    assert {name for name, handler in handlers.items() if handler is unchanged} == set(WITHOUT_EFFECT)


def test_every_type_can_be_drawn() -> None:
    assert set(WELL_FORMED) == set(ACTIONS)


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_a_type_changes_its_state_in_the_versions_that_have_it(name: str) -> None:
    kind = ACTIONS[name].channel
    states = {version: ready_for(name, version) for version in VERSIONS}
    effective: set[str] = set()

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(action=WELL_FORMED[name])
    def collect(action: dict[str, Any]) -> None:
        effective.update(
            version for version, state in states.items() if reduce(kind, state, action, version) is not state
        )

    collect()
    having = {version for version in VERSIONS if name in actions_of(version)}
    assert effective == (set() if name in WITHOUT_EFFECT else having)
