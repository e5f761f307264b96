"""Turns, tool calls and questions, and what a session shows of them."""

from __future__ import annotations

import pytest

from .driving import DONE, FAILED, STARTED, Stage, assert_fold_equals_snapshot, call

VERSIONS = ["0.6.0", "0.9.0"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_turn_is_echoed_first_and_ends_once(version: str) -> None:
    stage = Stage(version=version)
    stage.play({"think": "hm"}, {"say": "hi"})
    kinds = [e["action"]["type"] for e in stage.a.envelopes() if e["channel"] == stage.chat]
    assert kinds[0] == "chat/turnStarted"
    assert kinds[-1] == "chat/turnComplete"
    assert stage.a.envelopes("chat/turnStarted")[0]["origin"] == {"clientId": "A", "clientSeq": 1}
    (turn,) = stage.state(stage.chat)["turns"]
    assert [part["content"] for part in turn["responseParts"]] == ["hm", "hi"]
    assert stage.state()["status"] == 1
    assert_fold_equals_snapshot(stage, stage.a)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failed_turn_speaks_the_version_of_its_reader(version: str) -> None:
    stage = Stage(version=version)
    other = "0.9.0" if version == "0.6.0" else "0.6.0"
    b = stage.client("B", stage.chat, version=other)
    stage.play({"fail": {"message": "boom"}})
    for client in (stage.a, b):
        (action,) = client.actions("chat/error")
        assert ("error" in action) == (client.version == "0.6.0")
        assert ("part" in action) == (client.version == "0.9.0")
        assert_fold_equals_snapshot(stage, client)
    assert stage.state()["status"] == 2
    assert stage.a.result("listSessions")["items"][0]["status"] == 2


def test_one_turn_at_a_time_and_only_by_users() -> None:
    stage = Stage()
    turn = stage.play({"pause": "here"})
    echo = stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/turnStarted",
            "turnId": "other",
            "startedAt": STARTED,
            "message": {"text": "x", "origin": {"kind": "user"}},
        },
    )
    assert echo is not None and echo["rejectionReason"]
    assert stage.state(stage.chat)["activeTurn"]["id"] == turn
    steering = {"text": "continue here", "origin": {"kind": "user"}}
    stage.a.dispatch(stage.chat, {"type": "chat/pendingMessageSet", "kind": "steering", "id": "s", "message": steering})
    state = stage.state(stage.chat)
    assert "activeTurn" not in state and "steeringMessage" not in state
    echo = stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/turnStarted",
            "turnId": "forged",
            "startedAt": STARTED,
            "message": {"text": "x", "origin": {"kind": "agent"}},
        },
    )
    assert echo is not None and echo["rejectionReason"]


@pytest.mark.parametrize("ending", ["chat/turnCancelled", "chat/truncated"])
def test_nothing_of_a_turn_follows_its_end(ending: str) -> None:
    stage = Stage()
    turn = stage.play(call(confirm=True), {"say": "never"})
    members = {"turnId": turn, "duration": 1} if ending == "chat/turnCancelled" else {}
    stage.a.dispatch(stage.chat, {"type": ending, **members})
    before = stage.a.mark()
    stage.a.request("ping")
    assert stage.a.envelopes(since=before) == []
    assert stage.needed() == []
    assert stage.state()["status"] == 1
    assert stage.play({"say": "again"})
    assert stage.state(stage.chat)["status"] == 1


def test_queued_messages_run_in_turn() -> None:
    stage = Stage()
    turn = stage.play({"pause": "x"})
    for name in ("one", "two"):
        stage.a.dispatch(
            stage.chat,
            {
                "type": "chat/pendingMessageSet",
                "kind": "queued",
                "id": name,
                "message": {"text": name, "origin": {"kind": "user"}},
            },
        )
    stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/pendingMessageSet",
            "kind": "steering",
            "id": "s",
            "message": {"text": "continue x", "origin": {"kind": "user"}},
        },
    )
    state = stage.state(stage.chat)
    assert [entry["message"]["text"] for entry in state["turns"][1:]] == ["one", "two"]
    assert state["turns"][0]["id"] == turn and "queuedMessages" not in state
    assert [a.get("queuedMessageId") for a in stage.a.actions("chat/turnStarted")] == [None, "one", "two"]
    assert_fold_equals_snapshot(stage, stage.a)


def test_a_confirmed_call_runs_with_the_edited_input() -> None:
    stage = Stage()
    stage.play(call(input={"a": 1}, confirm=True, editable=True))
    (entry,) = stage.needed()
    assert entry["kind"] == "toolConfirmation" and entry["toolCall"]["toolInput"] == '{"a":1}'
    assert stage.state()["status"] == 24
    stage.act(entry["toolCall"], "chat/toolCallConfirmed", approved=True, confirmed="user-action", editedToolInput="{}")
    (turn,) = stage.state(stage.chat)["turns"]
    assert turn["responseParts"][0]["toolCall"]["content"] == [{"type": "text", "text": "{}"}]
    assert stage.needed() == []


def test_a_denied_call_does_not_run_and_a_second_decision_is_refused() -> None:
    stage = Stage()
    stage.play(call(confirm=True), {"pause": "x"})
    (one,) = stage.calls()
    assert stage.act(one, "chat/toolCallConfirmed", approved=False, reason="denied") is not None
    echo = stage.act(one, "chat/toolCallConfirmed", approved=True, confirmed="user-action")
    assert echo is not None and echo["rejectionReason"]
    assert stage.calls()[0]["status"] == "cancelled"
    assert stage.state()["status"] == 8


def test_a_result_can_need_approval() -> None:
    stage = Stage()
    stage.play(call(confirm_result=True))
    (entry,) = stage.needed()
    assert entry["toolCall"]["status"] == "pending-result-confirmation"
    stage.act(entry["toolCall"], "chat/toolCallResultConfirmed", approved=False)
    (turn,) = stage.state(stage.chat)["turns"]
    assert turn["responseParts"][0]["toolCall"]["reason"] == "result-denied"


@pytest.mark.parametrize(("version", "status"), [("0.6.0", 24), ("0.9.0", 8)])
def test_a_client_runs_its_own_tool(version: str, status: int) -> None:
    stage = Stage(version=version)
    b = stage.client("B", stage.session)
    stage.a.dispatch(
        stage.session,
        {"type": "session/activeClientSet", "activeClient": {"clientId": "A", "tools": [{"name": "read"}]}},
    )
    stage.play(call(client="A"))
    (entry,) = stage.needed()
    assert entry["kind"] == "toolClientExecution" and entry["clientId"] == "A"
    assert stage.state()["status"] == status
    refused = stage.act(entry["toolCall"], "chat/toolCallComplete", by=b, result=DONE)
    assert refused is None  # B does not hear of the chat
    assert stage.calls()[0]["status"] == "running"
    stage.act(entry["toolCall"], "chat/toolCallComplete", result=DONE)
    assert stage.needed() == []
    assert stage.state()["status"] == 1
    assert_fold_equals_snapshot(stage, stage.a)
    assert_fold_equals_snapshot(stage, b)


def test_a_question_can_be_answered_from_the_session_alone() -> None:
    stage = Stage()
    b = stage.client("B", stage.session)
    question = {"id": "q", "kind": "text", "message": "Name?", "required": True}
    stage.play({"ask": {"message": "Who?", "questions": [question]}})
    (entry,) = stage.needed()
    assert entry["kind"] == "chatInput" and entry["chat"] == stage.chat
    done = {"type": "chat/inputCompleted", "requestId": entry["request"]["id"], "response": "accept"}
    refused = stage.a.dispatch(stage.chat, done)
    assert refused is not None and refused["rejectionReason"]
    answer = {"q": {"state": "submitted", "value": {"kind": "text", "value": "Ada"}}}
    b.dispatch(stage.chat, {**done, "answers": answer})
    assert stage.needed() == []
    again = stage.a.dispatch(stage.chat, {**done, "answers": answer})
    assert again is not None and again["rejectionReason"]
    (turn,) = stage.state(stage.chat)["turns"]
    assert "Ada" in turn["responseParts"][1]["content"]
    assert_fold_equals_snapshot(stage, stage.a)


def test_reserved_actions_are_refused_and_unknown_ones_ignored() -> None:
    stage = Stage()
    before = stage.state(stage.chat)
    for action in (
        {"type": "chat/turnComplete", "turnId": "t", "duration": 1},
        {"type": "chat/responsePart", "turnId": "t", "part": {"kind": "markdown", "id": "x", "content": "y"}},
    ):
        echo = stage.a.dispatch(stage.chat, action)
        assert echo is not None and echo["rejectionReason"]
    assert stage.a.dispatch(stage.chat, {"type": "chat/inventedAction"}) is None
    assert stage.a.dispatch("ahp-chat:/none", {"type": "chat/truncated"}) is None
    wrong = stage.a.dispatch(stage.session, {"type": "session/titleChanged", "title": 7})
    assert wrong is not None and wrong["rejectionReason"]
    astray = stage.a.dispatch(stage.chat, {"type": "session/titleChanged", "title": "x"})
    assert astray is not None and astray["rejectionReason"]
    assert stage.state(stage.chat) == before


def test_flags_and_title_reach_the_list() -> None:
    stage = Stage()
    stage.a.dispatch(stage.session, {"type": "session/titleChanged", "title": "Mine"})
    stage.a.dispatch(stage.session, {"type": "session/isReadChanged", "isRead": True})
    stage.a.dispatch(stage.session, {"type": "session/isArchivedChanged", "isArchived": True})
    (item,) = stage.a.result("listSessions")["items"]
    assert (item["title"], item["status"]) == ("Mine", 97)
    stage.play({"say": "news"})
    assert stage.state()["status"] == 65
    assert_fold_equals_snapshot(stage, stage.a)


def test_a_wrong_playbook_fails_the_turn() -> None:
    stage = Stage()
    stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/turnStarted",
            "turnId": "t",
            "startedAt": STARTED,
            "message": {"text": 'x\nahp-playbook: [{"dance": 1}]', "origin": {"kind": "user"}},
        },
    )
    (action,) = stage.a.actions("chat/error")
    assert "dance" in action["error"]["message"]


def test_failed_tools_say_so() -> None:
    stage = Stage()
    stage.play(call(fails="no disk"))
    (action,) = stage.a.actions("chat/toolCallComplete")
    assert action["result"]["success"] is False and action["result"]["error"] == {"message": "no disk"}
    assert FAILED["success"] is False
