"""The life of a tool call: every status, event and contributor against the table."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from conformance.protocol import (
    BLOCKING_STATUSES,
    FINAL_STATUSES,
    STATUS,
    TOOL_CALL_STATUSES,
    TOOL_CALL_TRANSITIONS,
    VERSIONS,
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

# The table once more, written from the specification's prose row by row instead of by event.
# One column for each status in the order of TOOL_CALL_STATUSES; None where nothing happens.
BY_ROW: dict[str, tuple[str | None, ...]] = {
    "delta": (S, None, None, None, None, None, None),
    "ready": (PC, PC, PC, None, None, None, None),
    "ready, confirmed": (R, R, R, None, None, None, None),
    "approved": (None, R, None, None, None, None, None),
    "denied": (None, X, None, None, None, None, None),
    "content": (None, None, R, None, None, None, None),
    "succeeded": (None, C, C, None, None, None, None),
    "succeeded, to review": (None, PRC, PRC, None, None, None, None),
    "failed": (None, C, C, C, None, None, None),
    "failed, to review": (None, PRC, PRC, C, None, None, None),
    "result approved": (None, None, None, None, C, None, None),
    "result denied": (None, None, None, None, X, None, None),
    "challenged": (None, None, AR, None, None, None, None),
    "resolved": (None, None, None, R, None, None, None),
    "turn ended": (X, X, X, X, X, None, None),
}
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
    for event, row in BY_ROW.items():
        expected = {old: new for old, new in zip(TOOL_CALL_STATUSES, row, strict=True) if new is not None}
        assert dict(TOOL_CALL_TRANSITIONS[event]) == expected, event
    assert set(BY_ROW) == set(TOOL_CALL_TRANSITIONS)


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
        expected = next_status(status, event, contributor)
        after = reduce("chat", state, sent(event), version)
        case = (status, event, contributor)
        if expected is None:
            assert after is state, case
            continue
        assert after is not state, case
        assert call_in(after)["status"] == expected, case
        assert call_in(after)["toolCallId"] == CALL
        assert call_in(after).get("contributor") == CONTRIBUTORS[contributor], case
        waits = expected in BLOCKING_STATUSES
        if event not in ("delta", "content"):
            wanted = STATUS.INPUT_NEEDED if waits else STATUS.IN_PROGRESS
            assert activity(after["status"]) == wanted, case


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
