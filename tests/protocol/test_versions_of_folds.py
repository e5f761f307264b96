"""What a fold does differently from version to version."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.protocol import STATUS, VERSIONS, activity, fold, reduce, state_violations

from . import examples
from .examples import TURN, message, request, server, session

ERROR = {"errorType": "overloaded", "message": "Try again"}
PART = {"kind": "error", "error": ERROR, "resumable": True}


@pytest.mark.parametrize(
    ("version", "expected"),
    [(v, STATUS.INPUT_NEEDED if v < "0.8.0" else STATUS.IN_PROGRESS) for v in VERSIONS],
)
def test_a_client_execution_raises_input_needed_until_0_8_0(version: str, expected: int) -> None:
    action = {"type": "session/inputNeededSet", "request": request("e", "toolClientExecution")}
    assert activity(reduce("session", session(status=8), action, version)["status"]) == expected


@pytest.mark.parametrize("kind", ["chatInput", "toolConfirmation", "toolAuthentication"])
@pytest.mark.parametrize("version", VERSIONS)
def test_user_facing_entries_raise_input_needed_and_keep_the_flags(version: str, kind: str) -> None:
    raised = reduce(
        "session",
        session(status=8 | 64),
        {"type": "session/inputNeededSet", "request": request("e", kind)},
        version,
    )
    assert raised["status"] == STATUS.INPUT_NEEDED | 64
    cleared = reduce("session", raised, {"type": "session/inputNeededRemoved", "id": "e"}, version)
    assert cleared["status"] == STATUS.IN_PROGRESS | 64
    assert "inputNeeded" not in cleared


@pytest.mark.parametrize("version", ["0.6.0", "0.9.0"])
def test_the_activity_falls_back_with_the_last_user_facing_entry(version: str) -> None:
    entries = [request("client", "toolClientExecution"), request("user", "toolAuthentication")]
    state = fold(
        "session",
        session(status=8),
        [{"type": "session/inputNeededSet", "request": entry} for entry in entries],
        version,
    )
    assert activity(state["status"]) == STATUS.INPUT_NEEDED
    after = reduce("session", state, {"type": "session/inputNeededRemoved", "id": "user"}, version)
    assert [entry["id"] for entry in after["inputNeeded"]] == ["client"]
    wanted = STATUS.INPUT_NEEDED if version == "0.6.0" else STATUS.IN_PROGRESS
    assert activity(after["status"]) == wanted


def test_an_entry_is_replaced_by_its_id() -> None:
    state = session(inputNeeded=[request("a", "chatInput"), request("b", "chatInput")], status=24)
    after = reduce("session", state, {"type": "session/inputNeededSet", "request": request("a", "toolAuthentication")})
    assert [(entry["id"], entry["kind"]) for entry in after["inputNeeded"]] == [
        ("a", "toolAuthentication"),
        ("b", "chatInput"),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_failed_lifecycle_changes_its_name_at_0_9_0(version: str) -> None:
    action = {"type": "session/creationFailed", "error": ERROR}
    after = reduce("session", session(lifecycle="creating"), action, version)
    assert after["lifecycle"] == ("creationFailed" if version < "0.9.0" else "failed")
    assert after["creationError"] == ERROR


def test_a_toggle_is_a_flag_before_0_8_0() -> None:
    action = {"type": "session/customizationToggled", "id": "inner", "enabled": False}
    after = reduce("session", session(), action, "0.7.0")
    assert after["customizations"][1]["children"][0]["enabled"] is False


def test_a_toggle_is_the_list_of_decisions_since_0_8_0() -> None:
    decisions = [{"kind": "session", "enabled": False}, {"kind": "global", "enabled": True}]
    toggle = {"type": "session/customizationToggled", "enablement": decisions}
    after = reduce("session", session(), toggle | {"id": "vault"}, "0.8.0")
    assert after["customizations"][0]["enablement"] == decisions
    cleared = reduce("session", after, toggle | {"id": "vault", "enablement": []}, "0.8.0")
    assert "enablement" not in cleared["customizations"][0]
    skill = reduce("session", session(), toggle | {"id": "skill"}, "0.8.0")["customizations"][1]["children"][1]
    assert skill["enabled"] is False
    assert "enablement" not in skill


@pytest.mark.parametrize("identity", ["vault", "inner"])
def test_a_server_changes_at_the_top_and_inside_a_container(identity: str) -> None:
    def entry(state: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = (
            state["customizations"][0] if identity == "vault" else state["customizations"][1]["children"][0]
        )
        return found

    blocked = {"kind": "authRequired", **examples.auth()}
    state = reduce("session", session(), {"type": "session/mcpServerStateChanged", "id": identity, "state": blocked})
    assert entry(state)["state"] == blocked
    assert "channel" not in entry(state)
    started = reduce("session", state, {"type": "session/mcpServerStartRequested", "id": identity})
    assert entry(started)["state"] == {"kind": "starting"}
    stopped = reduce("session", session(), {"type": "session/mcpServerStopRequested", "id": identity})
    assert entry(stopped) == {name: member for name, member in server(identity, "stopped").items() if name != "channel"}


def test_a_background_request_only_unblocks_a_starting_server() -> None:
    action = {"type": "session/mcpServerBackgroundRequested", "id": "vault"}
    starting = session(customizations=[server() | {"state": {"kind": "starting", "blocking": True}}])
    after = reduce("session", starting, action, "1.0.0")
    assert after["customizations"][0]["state"] == {"kind": "starting", "blocking": False}
    assert reduce("session", after, action, "1.0.0") is after
    ready = session()
    assert reduce("session", ready, action, "1.0.0") is ready


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("b", "x", "axc"), ("b", "c", "ac"), ("b", "a", "ac"), ("b", "b", "abc"), ("?", "x", "abc")],
)
def test_a_replaced_directory_keeps_its_place(old: str, new: str, expected: str) -> None:
    state = session(workingDirectories=list("abc"))
    action = {"type": "session/workingDirectoryReplaced", "directory": old, "replacement": new}
    assert "".join(reduce("session", state, action, "0.8.0")["workingDirectories"]) == expected


@pytest.mark.parametrize("kind", ["session", "chat"])
def test_working_directories_are_a_set_in_order(kind: str) -> None:
    state = session() if kind == "session" else examples.chat()
    added = {"type": f"{kind}/workingDirectorySet", "directory": "file:///a"}
    removed = {"type": f"{kind}/workingDirectoryRemoved", "directory": "file:///a"}
    assert reduce(kind, state, removed, "0.7.0") is state
    once = reduce(kind, state, added, "0.7.0")
    assert once["workingDirectories"] == ["file:///a"]
    assert reduce(kind, once, added, "0.7.0") is once
    assert reduce(kind, once, removed, "0.7.0")["workingDirectories"] == []


def test_chats_are_reordered_without_losing_any() -> None:
    chats = [{"resource": f"ahp-chat:/{name}"} for name in "abc"]
    action = {"type": "session/chatsReordered", "chats": ["ahp-chat:/c", "ahp-chat:/?", "ahp-chat:/a"]}
    after = reduce("session", session(chats=chats), action, "1.0.0")
    assert [chat["resource"][-1] for chat in after["chats"]] == ["c", "a", "b"]


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_is_a_member_of_its_turn_until_it_becomes_its_last_part(version: str) -> None:
    action = {"type": "chat/error", "turnId": TURN, "duration": 7}
    action |= {"error": ERROR} if version < "0.9.0" else {"part": PART}
    after = reduce("chat", examples.chat(), action, version)
    turn = after["turns"][-1]
    assert activity(after["status"]) == STATUS.ERROR
    assert turn["state"] == "error"
    if version < "0.9.0":
        assert turn["error"] == ERROR
    else:
        assert "error" not in turn
        assert turn["responseParts"][-1] == PART
    if version in ("0.6.0", "0.9.0"):
        assert state_violations(version, "chat", after) == []


def test_an_error_part_comes_only_with_the_error_since_0_9_0() -> None:
    state = examples.chat()
    action = {"type": "chat/responsePart", "turnId": TURN, "part": PART}
    assert reduce("chat", state, action, "0.9.0") is state
    assert reduce("chat", state, action, "0.8.0") is not state


def failed_chat(part: dict[str, Any] = PART) -> dict[str, Any]:
    state: dict[str, Any] = reduce(
        "chat",
        examples.chat(),
        {"type": "chat/error", "turnId": TURN, "duration": 7, "part": part},
        "0.9.0",
    )
    return state


def test_a_failed_turn_is_resumed_with_all_it_had() -> None:
    state = failed_chat() | {"status": STATUS.ERROR | STATUS.IS_READ}
    after = reduce("chat", state, {"type": "chat/turnResume", "turnId": TURN}, "0.9.0")
    assert after["status"] == STATUS.IN_PROGRESS
    assert after["activeTurn"]["id"] == TURN
    assert after["activeTurn"]["responseParts"][-1] == PART
    assert "state" not in after["activeTurn"]
    assert [turn["id"] for turn in after["turns"]] == ["turn-0"]


@pytest.mark.parametrize(
    ("state", "turn"),
    [
        (failed_chat(), "turn-0"),
        (failed_chat(PART | {"resumable": False}), TURN),
        (examples.chat(), "turn-0"),
        (failed_chat() | {"turns": []}, TURN),
    ],
    ids=["not the latest", "not resumable", "another is active", "no turns"],
)
def test_what_cannot_be_resumed_stays(state: dict[str, Any], turn: str) -> None:
    assert reduce("chat", state, {"type": "chat/turnResume", "turnId": turn}, "0.9.0") is state


def clock() -> str:
    return "2030-01-01T00:00:00.000Z"


def test_time_comes_from_the_clock_before_0_9_0_and_from_the_data_since() -> None:
    started = {
        "type": "chat/turnStarted",
        "turnId": "t",
        "startedAt": "2026-05-05T10:00:00.500+02:00",
        "message": message(),
    }
    ended = {"type": "chat/turnComplete", "turnId": "t", "duration": 1500}
    old = reduce("chat", examples.chat(), started, "0.8.0", clock)
    assert old["modifiedAt"] == clock()
    new = reduce("chat", examples.chat(), started, "0.9.0", clock)
    assert new["modifiedAt"] == "2026-05-05T10:00:00.500+02:00"
    assert reduce("chat", new, ended, "0.9.0", clock)["modifiedAt"] == "2026-05-05T08:00:02.000Z"


def test_without_a_clock_time_stays() -> None:
    state = examples.chat()
    ended = {"type": "chat/turnComplete", "turnId": TURN, "duration": 1500}
    assert reduce("chat", state, ended, "0.6.0")["modifiedAt"] == state["modifiedAt"]


def test_an_unreadable_start_does_not_keep_a_turn_from_ending() -> None:
    state = examples.chat()
    state["activeTurn"]["startedAt"] = "noon"
    after = reduce("chat", state, {"type": "chat/turnComplete", "turnId": TURN, "duration": 1}, "0.9.0")
    assert after["turns"][-1]["id"] == TURN
    assert after["modifiedAt"] == state["modifiedAt"]


def test_a_negative_duration_is_stored_as_none_at_all() -> None:
    after = reduce("chat", examples.chat(), {"type": "chat/turnCancelled", "turnId": TURN, "duration": -4})
    assert after["turns"][-1]["duration"] == 0


def test_new_members_of_chats_in_1_0_0() -> None:
    work = {"id": "w", "title": "indexing"}
    state = fold(
        "chat",
        examples.chat(),
        [
            {"type": "chat/backgroundWorkSet", "work": {"id": "w"}},
            {"type": "chat/backgroundWorkSet", "work": work},
            {"type": "chat/isReadChanged", "isRead": True},
            {"type": "chat/isArchivedChanged", "isArchived": True},
            {"type": "chat/movableChanged", "movable": True},
            {"type": "chat/turnComplete", "turnId": TURN, "duration": 1},
        ],
        "1.0.0",
    )
    assert state["backgroundWork"] == [work]
    assert state["status"] == STATUS.IDLE | STATUS.IS_READ | STATUS.IS_ARCHIVED
    assert state["movable"] is True
    gone = reduce("chat", state, {"type": "chat/backgroundWorkRemoved", "id": "w"}, "1.0.0")
    assert gone["backgroundWork"] == []
