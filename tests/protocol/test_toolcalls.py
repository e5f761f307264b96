"""The life of a tool call: every status, event and contributor against the table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from conformance.protocol import (
    FINAL_STATUSES,
    STATUS,
    TOOL_CALL_STATUSES,
    TOOL_CALL_TRANSITIONS,
    VERSIONS,
    actions_of,
    activity,
    event_of,
    next_status,
    reduce,
    state_violations,
)

from .examples import (
    CALL,
    CONTRIBUTORS,
    FAILURE,
    OPTION,
    RESULT,
    TURN,
    auth,
    call_in,
    chat_with_call,
    message,
)
from .reference import FROZEN_CLOCK, fixture_names, fixtures

ACTIONS: dict[str, dict[str, Any]] = {
    "delta": {"type": "chat/toolCallDelta", "content": "x"},
    "ready": {"type": "chat/toolCallReady", "invocationMessage": "New"},
    "ready, confirmed": {
        "type": "chat/toolCallReady",
        "invocationMessage": "New",
        "confirmed": "not-needed",
    },
    "approved": {"type": "chat/toolCallConfirmed", "approved": True, "confirmed": "user-action"},
    "denied": {"type": "chat/toolCallConfirmed", "approved": False, "reason": "skipped"},
    "content": {"type": "chat/toolCallContentChanged", "content": []},
    "succeeded": {"type": "chat/toolCallComplete", "result": RESULT},
    "succeeded, to review": {
        "type": "chat/toolCallComplete",
        "result": RESULT,
        "requiresResultConfirmation": True,
    },
    "failed": {"type": "chat/toolCallComplete", "result": FAILURE},
    "failed, to review": {
        "type": "chat/toolCallComplete",
        "result": FAILURE,
        "requiresResultConfirmation": True,
    },
    "result approved": {"type": "chat/toolCallResultConfirmed", "approved": True},
    "result denied": {"type": "chat/toolCallResultConfirmed", "approved": False},
    "challenged": {"type": "chat/toolCallAuthRequired", "auth": auth()},
    "resolved": {"type": "chat/toolCallAuthResolved"},
}

S, PC, R, AR, PRC, C, X = TOOL_CALL_STATUSES

# The table once more, written from the specification's prose, row by row: where an event takes a call
# from each status; a dot where nothing happens. It is the same in every version.
MATRIX = """
                       S    PC   R    AR   PRC  C    X
delta                  S    .    .    .    .    .    .
ready                  PC   PC   PC   .    .    .    .
ready, confirmed       R    R    R    .    .    .    .
approved               .    R    .    .    .    .    .
denied                 .    X    .    .    .    .    .
content                .    .    R    .    .    .    .
succeeded              .    C    C    .    .    .    .
succeeded, to review   .    PRC  PRC  .    .    .    .
failed                 .    C    C    C    .    .    .
failed, to review      .    PRC  PRC  C    .    .    .
result approved        .    .    .    .    C    .    .
result denied          .    .    .    .    X    .    .
challenged             .    .    AR   .    .    .    .
resolved               .    .    .    R    .    .    .
turn ended             X    X    X    X    X    .    .
"""
# Only a call that an MCP server contributed follows these; one of a client or of the host ignores them.
OF_MCP_SERVERS = ("challenged",)

SHORT = {"S": S, "PC": PC, "R": R, "AR": AR, "PRC": PRC, "C": C, "X": X, ".": None}


def by_row() -> dict[str, dict[str, str | None]]:
    """Where each event takes a call, by event and status."""
    head, *rows = MATRIX.strip("\n").splitlines()
    columns = [SHORT[name] for name in head.split()]
    table: dict[str, dict[str, str | None]] = {}
    for row in rows:
        cells = row.split()[-len(columns) :]
        table[row[:22].strip()] = {str(old): SHORT[cell] for old, cell in zip(columns, cells, strict=True)}
    return table


BY_ROW = by_row()


def expected_status(status: str, event: str, contributor: str | None) -> str | None:
    if event in OF_MCP_SERVERS and contributor != "mcp":
        return None
    return BY_ROW[event][status]


TURN_ENDS: dict[str, dict[str, Any]] = {
    "chat/turnComplete": {},
    "chat/turnCancelled": {},
    "chat/error": {
        "error": {"errorType": "e", "message": "m"},
        "part": {"kind": "error", "error": {"errorType": "e", "message": "m"}},
    },
}


def sent(event: str) -> dict[str, Any]:
    return {"turnId": TURN, "toolCallId": CALL, **ACTIONS[event]}


def test_the_table_agrees_with_the_prose() -> None:
    assert {event: {old: new for old, new in row.items() if new} for event, row in BY_ROW.items()} == {
        event: dict(row) for event, row in TOOL_CALL_TRANSITIONS.items()
    }
    assert all(list(row) == list(TOOL_CALL_STATUSES) for row in BY_ROW.values())
    for status, event, contributor in product(TOOL_CALL_STATUSES, BY_ROW, CONTRIBUTORS):
        assert next_status(status, event, contributor) == expected_status(status, event, contributor)


def test_nothing_leaves_a_final_status() -> None:
    assert not any(old in FINAL_STATUSES for row in TOOL_CALL_TRANSITIONS.values() for old in row)


@pytest.mark.parametrize("event", list(ACTIONS))
def test_an_action_means_its_event(event: str) -> None:
    assert event_of(sent(event)) == event


def test_other_actions_mean_nothing_to_a_call() -> None:
    assert event_of({"type": "chat/delta"}) is None
    assert event_of({"type": "chat/turnCancelled"}) == "turn ended"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_status_event_and_contributor(version: str) -> None:
    for status, event, contributor in product(TOOL_CALL_STATUSES, ACTIONS, CONTRIBUTORS):
        state = chat_with_call(status, contributor)
        expected = expected_status(status, event, contributor)
        if ACTIONS[event]["type"] not in actions_of(version):
            expected = None
        after = reduce("chat", state, sent(event), version)
        case = (status, event, contributor)
        if expected is None:
            assert after is state, case
            continue
        assert after is not state, case
        assert call_in(after)["status"] == expected, case
        assert call_in(after)["toolCallId"] == CALL
        assert call_in(after).get("contributor") == CONTRIBUTORS[contributor], case
        wanted = STATUS.INPUT_NEEDED if expected in (PC, AR, PRC) else STATUS.IN_PROGRESS
        assert activity(after["status"]) == wanted, case


def calls_of(turn: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The calls of a turn by id."""
    parts = [part for part in turn["responseParts"] if part["kind"] == "toolCall"]
    return {part["toolCall"]["toolCallId"]: part["toolCall"] for part in parts}


def steps_of(fixture: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """For each action of a fixture about calls of the active turn: the call, the event, the next status."""
    state = fixture["initial"]
    for action in fixture["actions"]:
        active, event = state.get("activeTurn"), event_of(action)
        state = reduce("chat", state, action, "0.6.0", lambda: FROZEN_CLOCK)
        if event is None or active is None or active["id"] != action["turnId"]:
            continue
        after = calls_of(state.get("activeTurn") or state["turns"][-1])
        for name, call in calls_of(active).items():
            if event == "turn ended" or name == action["toolCallId"]:
                yield call, event, after[name]["status"]


# Moves that no fixture makes; for these the matrix rests on the reducer's text alone.
NOT_IN_FIXTURES = {
    (PC, "failed"),
    (PC, "failed, to review"),
    (PC, "ready, confirmed"),
    (PC, "succeeded, to review"),
    (PC, "turn ended"),
    (PRC, "turn ended"),
    (R, "failed"),
    (R, "failed, to review"),
    (R, "ready, confirmed"),
}

CHAT_FIXTURES = fixture_names("chat")


@pytest.mark.skipif(not CHAT_FIXTURES, reason="no reference data beside the checkout")
def test_the_fixtures_walk_the_matrix() -> None:
    """The ends of these walks are compared with the reference elsewhere; here every step has its cell."""
    walked = set()
    for name in CHAT_FIXTURES:
        for call, event, status in steps_of(fixtures()[name]):
            expected = expected_status(call["status"], event, (call.get("contributor") or {}).get("kind"))
            assert status == (expected or call["status"]), (name, call["status"], event)
            walked.add((call["status"], event))
    moving = {(status, event) for event, row in BY_ROW.items() for status in row if row[status]}
    assert moving - walked == NOT_IN_FIXTURES


def test_only_a_call_of_an_mcp_server_is_challenged() -> None:
    for contributor in ("client", None):
        assert next_status(R, "challenged", contributor) is None
    assert next_status(R, "challenged", "mcp") == AR


def test_every_reachable_call_is_legal() -> None:
    for status, event in product(TOOL_CALL_STATUSES, ACTIONS):
        after = reduce("chat", chat_with_call(status), sent(event))
        assert state_violations("0.6.0", "chat", after) == [], (status, event)


@pytest.mark.parametrize("end", list(TURN_ENDS))
@pytest.mark.parametrize("status", TOOL_CALL_STATUSES)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_end_of_a_turn_cancels_what_is_not_final(status: str, end: str, version: str) -> None:
    action = {"type": end, "turnId": TURN, "duration": 3, **TURN_ENDS[end]}
    after = reduce("chat", chat_with_call(status, chat_status=24), action, version)
    ended = call_in(after)
    if status in FINAL_STATUSES:
        assert ended["status"] == status
    else:
        assert (ended["status"], ended["reason"]) == ("cancelled", "skipped")
        assert not {"auth", "confirmed", "selectedOption", "content"} & ended.keys()
    assert activity(after["status"]) == (STATUS.ERROR if end == "chat/error" else STATUS.IDLE)
    assert "activeTurn" not in after


def test_a_streaming_call_without_a_message_gets_an_empty_one() -> None:
    state = chat_with_call(S)
    del call_in(state)["invocationMessage"]
    after = reduce("chat", state, {"type": "chat/turnComplete", "turnId": TURN, "duration": 0})
    assert call_in(after)["invocationMessage"] == ""


def test_a_challenge_keeps_everything_and_leaves_without_a_trace() -> None:
    state = chat_with_call(R)
    blocked = reduce("chat", state, sent("challenged"))
    assert call_in(blocked) == call_in(state) | {"status": AR, "auth": auth()}
    assert call_in(reduce("chat", blocked, sent("resolved"))) == call_in(state)


def test_giving_up_a_challenge_keeps_what_was_produced() -> None:
    after = call_in(reduce("chat", chat_with_call(AR), sent("failed, to review")))
    assert after["status"] == C
    assert after["content"] == [{"type": "text", "text": "partial"}]
    assert (after["confirmed"], after["selectedOption"], after["success"]) == ("user-action", OPTION, False)
    assert "auth" not in after


def test_completion_drops_streamed_content() -> None:
    assert "content" not in call_in(reduce("chat", chat_with_call(R), sent("failed")))


def test_completion_from_a_confirmation_needed_none() -> None:
    assert call_in(reduce("chat", chat_with_call(PC), sent("succeeded")))["confirmed"] == "not-needed"


def test_approval_takes_the_edited_input_and_the_chosen_option() -> None:
    action = sent("approved") | {"editedToolInput": "{}", "selectedOptionId": "always"}
    after = call_in(reduce("chat", chat_with_call(PC), action))
    assert (after["toolInput"], after["selectedOption"]) == ("{}", OPTION)
    assert not {"options", "editable", "confirmationTitle"} & after.keys()


def test_an_unknown_option_is_no_option() -> None:
    after = reduce("chat", chat_with_call(PC), sent("approved") | {"selectedOptionId": "never"})
    assert "selectedOption" not in call_in(after)


def test_denial_keeps_the_reasons() -> None:
    action = sent("denied") | {"reasonMessage": "no", "userSuggestion": message("other")}
    after = call_in(reduce("chat", chat_with_call(PC), action))
    assert (after["reason"], after["reasonMessage"]) == ("skipped", "no")
    assert after["userSuggestion"] == message("other")


def test_an_update_of_a_confirmation_keeps_what_it_does_not_name() -> None:
    after = call_in(reduce("chat", chat_with_call(PC), sent("ready") | {"editable": False}))
    assert after["confirmationTitle"] == "Read?"
    assert after["editable"] is False
    assert after["toolInput"] == '{"name": "x"}'


@pytest.mark.parametrize(("version", "kept"), [("0.6.0", False), ("0.7.0", True), ("0.9.0", True)])
def test_a_second_confirmation_loses_its_input_until_0_7_0(version: str, kept: bool) -> None:
    after = call_in(reduce("chat", chat_with_call(R), sent("ready"), version))
    assert ("toolInput" in after) is kept
    assert not {"content", "confirmed", "selectedOption"} & after.keys()


def test_ready_refines_the_contributor_since_0_7_0_but_never_the_owner() -> None:
    refined = {"kind": "mcp", "customizationId": "other"}
    usurped = {"kind": "client", "clientId": "laptop"}
    for contributor, offer, expected in [
        ("mcp", refined, refined),
        (None, refined, refined),
        ("mcp", usurped, CONTRIBUTORS["mcp"]),
        ("client", refined, CONTRIBUTORS["client"]),
        ("client", usurped, CONTRIBUTORS["client"]),
    ]:
        action = sent("ready") | {"contributor": offer, "intention": "better"}
        after = call_in(reduce("chat", chat_with_call(S, contributor), action, "0.7.0"))
        assert (after["contributor"], after["intention"]) == (expected, "better")
        old = call_in(reduce("chat", chat_with_call(S, contributor), action, "0.6.0"))
        assert (old.get("contributor"), old["intention"]) == (CONTRIBUTORS[contributor], "to look")


def test_edited_input_of_a_reference_is_the_hosts_to_write() -> None:
    state = chat_with_call(PC)
    call_in(state)["toolInput"] = {"uri": "ahp-content:/1"}
    after = reduce("chat", state, sent("approved") | {"editedToolInput": "{}"}, "0.7.0")
    assert call_in(after)["toolInput"] == {"uri": "ahp-content:/1"}


def test_metadata_of_an_action_replaces_that_of_the_call() -> None:
    for event, status in [("challenged", R), ("resolved", AR), ("delta", S), ("content", R), ("failed", R)]:
        after = call_in(reduce("chat", chat_with_call(status), sent(event) | {"_meta": {"new": 1}}))
        assert after["_meta"] == {"new": 1}
        assert call_in(reduce("chat", chat_with_call(status), sent(event)))["_meta"] == {"origin": "start"}


def test_two_parts_with_one_id_both_move() -> None:
    state = chat_with_call(R)
    state["activeTurn"]["responseParts"] *= 2
    after = reduce("chat", state, sent("challenged"))
    statuses = [part["toolCall"]["status"] for part in after["activeTurn"]["responseParts"] if "toolCall" in part]
    assert statuses == [AR, AR]


def test_a_chat_waits_until_its_last_blocked_call_goes_on() -> None:
    state = chat_with_call(AR, chat_status=24)
    second = {**call_in(state), "toolCallId": "call-2"}
    state["activeTurn"]["responseParts"].append({"kind": "toolCall", "toolCall": second})
    once = reduce("chat", state, sent("resolved"))
    assert activity(once["status"]) == STATUS.INPUT_NEEDED
    twice = reduce("chat", once, sent("resolved") | {"toolCallId": "call-2"})
    assert activity(twice["status"]) == STATUS.IN_PROGRESS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_late_action_about_a_call_of_a_failed_turn_takes_the_chat_from_error_to_idle(version: str) -> None:
    """The activity is derived anew by such actions, found or not, and without an active turn it is Idle."""
    end = {"type": "chat/error", "turnId": TURN, "duration": 1, **TURN_ENDS["chat/error"]}
    failed = reduce("chat", chat_with_call(R, "client"), end, version)
    for event in ("delta", "content"):
        assert reduce("chat", failed, sent(event), version) is failed
    late = reduce("chat", failed, sent("succeeded"), version)
    assert late == failed | {"status": STATUS.IDLE}
    assert late["turns"] is failed["turns"]
    assert reduce("chat", late, sent("succeeded"), version) is late
