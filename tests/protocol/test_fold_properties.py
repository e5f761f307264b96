"""What holds for every fold: pure, shared, deterministic, silent about what it does not know.

States are folds of well-formed actions, so they are such as hosts have.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import reduce as folded
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.protocol import (
    ACTIONS,
    CHANNEL_KINDS,
    REDUCERS,
    STATUS,
    VERSIONS,
    action_violations,
    actions_of,
    activity,
    fold,
    reduce,
    state_violations,
)

from . import examples
from .actions import WELL_FORMED

CLOCK = "2030-01-01T00:00:00.000Z"


def clock() -> str:
    return CLOCK


def quick(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def canonical(value: Any) -> str:
    """A text in which 1 and true differ, unlike in a comparison of Python values."""
    return json.dumps(value, sort_keys=True)


OF_KIND = {kind: [name for name in sorted(ACTIONS) if ACTIONS[name].channel == kind] for kind in REDUCERS}
KINDS = sorted(REDUCERS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def drawn_action(draw: Any, kind: str, version: str) -> Any:
    known = [name for name in OF_KIND[kind] if name in actions_of(version)]
    return draw(WELL_FORMED[draw(st.sampled_from(known or OF_KIND[kind]))])


@st.composite
def histories(draw: Any, kind: str) -> tuple[str, Any, list[Any]]:
    """A version, a first state, and actions that this version has for the kind."""
    version = draw(st.sampled_from(VERSIONS))
    count = draw(st.integers(0, 7))
    return version, examples.STATES[kind](), [drawn_action(draw, kind, version) for _ in range(count)]


@st.composite
def situations(draw: Any, kind: str) -> tuple[str, Any, Any]:
    """A version, a state that its actions lead to, and one more action."""
    version, state, actions = draw(histories(kind))
    return version, fold(kind, state, actions, version, clock), drawn_action(draw, kind, version)


def containers(value: Any) -> Iterator[Any]:
    """Every object and array in a JSON value, itself included."""
    if isinstance(value, (dict, list)):
        yield value
        for member in value.values() if isinstance(value, dict) else value:
            yield from containers(member)


def children(value: Any) -> dict[Any, Any]:
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return {key: member for key, member in members if isinstance(member, (dict, list))}


def wasted(before: Any, after: Any, known: set[int], path: str = "$") -> Iterator[str]:
    """Where a state was built anew beside the way to what changed.

    In every object that is new, one part may be new although it equals the old one: the way to a
    member that was written with the value that it had.
    """
    old, new = children(before), children(after)
    changed = [key for key in new.keys() & old.keys() if id(new[key]) not in known]
    equal = [key for key in changed if new[key] and canonical(new[key]) == canonical(old[key])]
    if len(equal) > 1:
        yield f"{path}: {equal}"
    for key in changed:
        yield from wasted(old[key], new[key], known, f"{path}.{key}")


@every_kind
def test_input_stays_and_what_did_not_change_is_shared(kind: str) -> None:
    @quick(70)
    @given(situations(kind))
    def check(situation: tuple[str, Any, Any]) -> None:
        version, state, action = situation
        before, sent = canonical(state), canonical(action)
        after = reduce(kind, state, action, version, clock)
        assert canonical(state) == before
        assert canonical(action) == sent
        known = {id(each) for each in (*containers(state), *containers(action))}
        if canonical(after) != before:
            assert list(wasted(state, after, known)) == []

    check()


@every_kind
def test_a_fold_is_deterministic_and_goes_one_by_one(kind: str) -> None:
    @quick(30)
    @given(histories(kind))
    def check(history: tuple[str, Any, list[Any]]) -> None:
        version, state, actions = history
        once = fold(kind, state, actions, version, clock)
        assert canonical(fold(kind, copy.deepcopy(state), copy.deepcopy(actions), version, clock)) == canonical(once)
        one_by_one = folded(lambda held, action: reduce(kind, held, action, version, clock), actions, state)
        assert canonical(one_by_one) == canonical(once)

    check()


@every_kind
def test_unknown_types_and_types_of_later_versions_and_of_other_channels_change_nothing(kind: str) -> None:
    unknown = [name for other in KINDS if other != kind for name in OF_KIND[other]]
    unknown += [f"{kind}/invented", "x-vendor/thing", "", kind]

    @quick(15)
    @given(situations(kind), st.data())
    def check(situation: tuple[str, Any, Any], data: st.DataObject) -> None:
        version, state, action = situation
        later = [name for name in OF_KIND[kind] if name not in actions_of(version)]
        for name in (*later, data.draw(st.sampled_from(unknown))):
            other = data.draw(WELL_FORMED[name]) if name in WELL_FORMED else action | {"type": name}
            assert reduce(kind, state, other, version, clock) is state

    check()


@every_kind
def test_legal_actions_lead_from_legal_states_to_legal_states(kind: str) -> None:
    @quick(50)
    @given(situations(kind))
    def check(situation: tuple[str, Any, Any]) -> None:
        version, state, action = situation
        if not CHANNEL_KINDS[kind].contains(version):
            return
        if action["type"] in actions_of(version):
            assert action_violations(version, action) == []
        assert state_violations(version, kind, reduce(kind, state, action, version, clock)) == []

    check()


TOUCHING_TURNS = {
    "chat/turnComplete",
    "chat/turnCancelled",
    "chat/error",
    "chat/turnResume",
    "chat/truncated",
    "chat/turnsLoaded",
}


def test_only_the_ends_and_bounds_of_turns_touch_the_list_of_turns() -> None:
    """So no other action costs more in a long chat than in a short one."""

    @quick(60)
    @given(situations("chat"))
    def check(situation: tuple[str, Any, Any]) -> None:
        version, state, action = situation
        after = reduce("chat", state, action, version, clock)
        assert action["type"] in TOUCHING_TURNS or after["turns"] is state["turns"]

    check()


scalars = st.none() | st.booleans() | st.integers() | st.just(1.5) | st.text(max_size=3)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def spoiled(draw: Any, value: Any) -> Any:
    """A copy of a JSON value with one part left out or replaced by something else."""
    if isinstance(value, (dict, list)) and value and draw(st.booleans()):
        made = copy.copy(value)
        place = draw(st.sampled_from(sorted(made))) if isinstance(made, dict) else draw(st.integers(0, len(made) - 1))
        if draw(st.integers(0, 3)) == 0:
            del made[place]
        else:
            made[place] = spoiled(draw, made[place])
        return made
    return draw(anything)


@every_kind
def test_nothing_malformed_makes_a_fold_fail(kind: str) -> None:
    @quick(70)
    @given(situations(kind), st.data())
    def check(situation: tuple[str, Any, Any], data: st.DataObject) -> None:
        version, state, action = situation
        bad_action = {**action, **bad} if isinstance(bad := spoiled(data.draw, action), dict) else bad
        bad_action = bad_action | {"type": action["type"]} if isinstance(bad_action, dict) else bad_action
        bad_state = spoiled(data.draw, state)
        for held, sent in ((state, bad_action), (bad_state, action), (bad_state, bad_action)):
            before, said = canonical(held), canonical(sent)
            reduce(kind, held, sent, version, clock)
            assert (canonical(held), canonical(sent)) == (before, said)

    check()


# Where an action names what it is about: with another name it changes nothing.
NAMED = {
    "session/chatRemoved": ["chat"],
    "session/chatUpdated": ["chat"],
    "session/activeClientRemoved": ["clientId"],
    "session/workingDirectoryRemoved": ["directory"],
    "session/workingDirectoryReplaced": ["directory"],
    "session/inputNeededRemoved": ["id"],
    "session/customizationToggled": ["id"],
    "session/customizationRemoved": ["id"],
    "session/mcpServerStateChanged": ["id"],
    "session/mcpServerStartRequested": ["id"],
    "session/mcpServerStopRequested": ["id"],
    "session/mcpServerBackgroundRequested": ["id"],
    "chat/delta": ["turnId", "partId"],
    "chat/reasoning": ["turnId", "partId"],
    "chat/responsePart": ["turnId"],
    "chat/usage": ["turnId"],
    "chat/turnComplete": ["turnId"],
    "chat/turnCancelled": ["turnId"],
    "chat/error": ["turnId"],
    "chat/turnResume": ["turnId"],
    "chat/truncated": ["turnId"],
    "chat/toolCallStart": ["turnId"],
    "chat/toolCallDelta": ["turnId", "toolCallId"],
    "chat/toolCallReady": ["turnId", "toolCallId"],
    "chat/toolCallConfirmed": ["turnId", "toolCallId"],
    "chat/toolCallComplete": ["turnId", "toolCallId"],
    "chat/toolCallResultConfirmed": ["turnId", "toolCallId"],
    "chat/toolCallContentChanged": ["turnId", "toolCallId"],
    "chat/toolCallAuthRequired": ["turnId", "toolCallId"],
    "chat/toolCallAuthResolved": ["turnId", "toolCallId"],
    "chat/pendingMessageRemoved": ["id"],
    "chat/inputAnswerChanged": ["requestId"],
    "chat/inputCompleted": ["requestId"],
    "chat/workingDirectoryRemoved": ["directory"],
    "chat/backgroundWorkRemoved": ["id"],
    "terminal/commandFinished": ["commandId"],
    "changeset/fileRemoved": ["fileId"],
    "changeset/operationStatusChanged": ["operationId"],
    "annotations/updated": ["annotationId"],
    "annotations/removed": ["annotationId"],
    "annotations/entrySet": ["annotationId"],
    "annotations/entryRemoved": ["annotationId", "entryId"],
    "automation/removed": ["resource"],
    "automationRun/sessionRemoved": ["session"],
}
# The same for lists of names, of which those that are unknown are passed over.
NAMED_IN_LISTS = {"changeset/filesReviewChanged": "files"}

# What the text wants added when the name is new: the member that names it, and the list that grows.
ADDED: dict[str, tuple[tuple[str, ...], str]] = {
    "session/chatAdded": (("summary", "resource"), "chats"),
    "session/activeClientSet": (("activeClient", "clientId"), "activeClients"),
    "session/workingDirectorySet": (("directory",), "workingDirectories"),
    "session/inputNeededSet": (("request", "id"), "inputNeeded"),
    "session/customizationUpdated": (("customization", "id"), "customizations"),
    "chat/pendingMessageSet": (("id",), "queuedMessages"),
    "chat/workingDirectorySet": (("directory",), "workingDirectories"),
    "chat/backgroundWorkSet": (("work", "id"), "backgroundWork"),
    "terminal/commandExecuted": (("commandId",), "content"),
    "changeset/fileSet": (("file", "id"), "files"),
    "annotations/set": (("annotation", "id"), "annotations"),
    "automation/set": (("automation", "resource"), "entries"),
    "automationRun/sessionSet": (("session",), "sessions"),
}
# About the channel as a whole, or about things that are replaced, reordered or requested whatever their names.
ABOUT_THE_WHOLE = {
    *(name for name in ACTIONS if name.startswith(("root/", "canvas/", "resourceWatch/"))),
    "session/ready",
    "session/creationFailed",
    "session/chatsReordered",
    "session/defaultChatChanged",
    "session/titleChanged",
    "session/isReadChanged",
    "session/isArchivedChanged",
    "session/activityChanged",
    "session/changesetsChanged",
    "session/configChanged",
    "session/metaChanged",
    "session/serverToolsChanged",
    "session/customizationsChanged",
    "chat/turnStarted",
    "chat/activityChanged",
    "chat/turnsLoaded",
    "chat/queuedMessagesReordered",
    "chat/draftChanged",
    "chat/inputRequested",
    "chat/movableChanged",
    "chat/changesetsChanged",
    "chat/canvasesChanged",
    "chat/isReadChanged",
    "chat/isArchivedChanged",
    "terminal/data",
    "terminal/input",
    "terminal/resized",
    "terminal/claimed",
    "terminal/titleChanged",
    "terminal/cwdChanged",
    "terminal/exited",
    "terminal/cleared",
    "terminal/commandDetectionAvailable",
    "changeset/statusChanged",
    "changeset/contentChanged",
    "changeset/operationsChanged",
    "changeset/cleared",
    "automation/createRequested",
    "automation/updateRequested",
    "automationRun/lifecycleChanged",
    "automationRun/primarySessionChanged",
    "automationRun/cancelRequested",
}
# Actions about a call derive the chat's activity anew even when they find no call.
DERIVING = {name for name in NAMED if name.startswith("chat/toolCall")} - {
    "chat/toolCallStart",
    "chat/toolCallDelta",
    "chat/toolCallContentChanged",
}
NOWHERE = "nowhere"


def test_every_type_is_in_one_of_the_tables() -> None:
    tables = [set(NAMED), set(NAMED_IN_LISTS), set(ADDED), ABOUT_THE_WHOLE]
    assert sorted(name for table in tables for name in table) == sorted(ACTIONS)


@every_kind
def test_an_unknown_name_makes_an_action_change_nothing(kind: str) -> None:
    named = [(name, member) for name in OF_KIND[kind] for member in NAMED.get(name, ())]

    @quick(12)
    @given(situations(kind), st.data())
    def check(situation: tuple[str, Any, Any], data: st.DataObject) -> None:
        version, state, _ = situation
        for name, member in named:
            action = data.draw(WELL_FORMED[name]) | {member: NOWHERE}
            after = reduce(kind, state, action, version, clock)
            if name in DERIVING and activity(state["status"]) == STATUS.ERROR:
                assert after == state | {"status": state["status"] & ~STATUS.ACTIVITY_MASK | STATUS.IDLE}
            else:
                assert after is state, action
        for name in NAMED_IN_LISTS.keys() & set(OF_KIND[kind]):
            action = data.draw(WELL_FORMED[name]) | {NAMED_IN_LISTS[name]: [NOWHERE]}
            assert reduce(kind, state, action, version, clock) is state

    if named:
        check()


@pytest.mark.parametrize("name", sorted(ADDED))
def test_a_new_name_adds_one_entry_and_a_known_one_none(name: str) -> None:
    kind = ACTIONS[name].channel
    path, grown = ADDED[name]

    @quick(15)
    @given(situations(kind), WELL_FORMED[name])
    def check(situation: tuple[str, Any, Any], action: Any) -> None:
        version, state, _ = situation
        if name not in actions_of(version) or action.get("kind") == "steering":
            return
        held = named = copy.deepcopy(action)
        for member in path[:-1]:
            held = held[member]
        held[path[-1]] = NOWHERE
        once = reduce(kind, state, named, version, clock)
        assert len(once[grown]) == len(state.get(grown) or []) + 1
        # A command may be run twice under one id; everything else is replaced or there already.
        twice = reduce(kind, once, named, version, clock)
        assert len(twice[grown]) == len(once[grown]) + (name == "terminal/commandExecuted")
        # Entries that were there keep their place and their identity.
        assert all(old is new for old, new in zip(state.get(grown) or [], once[grown], strict=False))

    check()
