"""Calls and servers that wait for a token."""

from __future__ import annotations

import orjson
import pytest

from conformance.backend import token_hash

from .driving import DONE, FAILED, RESOURCE, Stage, assert_fold_equals_snapshot, blocked, challenge

VERSIONS = ["0.6.0", "0.9.0"]


def server_kind(stage: Stage) -> str:
    return str(stage.state()["customizations"][0]["state"]["kind"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_challenge_blocks_the_call_and_a_good_token_resumes_it(version: str) -> None:
    stage = Stage(version=version)
    scoped = challenge(scopes=["a"], scopes_supported=["b"], error_description="sign in")
    stage.play(blocked(partial="so far", input={"a": 1}, challenges=[scoped]), {"say": "bye"})
    (one,) = stage.calls()
    assert one["status"] == "auth-required" and one["content"] == [{"type": "text", "text": "so far"}]
    assert one["auth"]["reason"] == "required"
    assert one["auth"]["requiredScopes"] == ["a"]
    assert one["auth"]["description"] == "sign in"
    assert one["auth"]["resource"]["resource"] == RESOURCE
    (entry,) = stage.needed()
    assert entry["kind"] == "toolAuthentication" and entry["toolCall"] == one
    assert stage.state()["status"] == 24 == stage.a.result("listSessions")["items"][0]["status"]
    refused = stage.authenticate("bad")
    assert refused["error"]["code"] == -32007
    assert refused["error"]["data"]["resources"][0]["resource"] == RESOURCE
    assert stage.authenticate(scopes=["b"])["error"]["code"] == -32007
    assert stage.calls() == [one] and stage.needed() == [entry]
    before = stage.a.mark()
    assert stage.authenticate(scopes=["a"])["result"] == {}
    kinds = [e["action"]["type"] for e in stage.a.envelopes(since=before)]
    assert kinds.index("chat/toolCallAuthResolved") < kinds.index("session/inputNeededRemoved")
    (turn,) = stage.state(stage.chat)["turns"]
    assert turn["state"] == "complete"
    assert turn["responseParts"][0]["toolCall"]["content"] == [{"type": "text", "text": '{"a":1}'}]
    assert_fold_equals_snapshot(stage, stage.a)


def test_no_token_is_ever_sent_back() -> None:
    stage = Stage()
    stage.play(blocked(challenges=[challenge("secret-one"), challenge("secret-two")]))
    stage.authenticate("secret-bad")
    stage.authenticate("secret-one")
    assert stage.calls()[0]["auth"]["reason"] == "expired"
    stage.authenticate("secret-two")
    assert b"secret" not in orjson.dumps(stage.a.frames)


def test_a_resource_nobody_advertised_is_unknown() -> None:
    stage = Stage()
    assert stage.authenticate()["error"]["code"] == -32602
    stage.play(blocked())
    assert stage.authenticate(resource="https://other.example")["error"]["code"] == -32602
    assert stage.calls()[0]["status"] == "auth-required"


def test_one_token_resumes_all_that_it_covers_and_nothing_else() -> None:
    stage = Stage()
    other = {**challenge("other"), "resource": "https://other.example/mcp"}
    one = {"tool": "two", "server": "vault", "challenges": [challenge()]}
    far = {"tool": "far", "server": "far", "challenges": [other]}
    stage.play(blocked(beside=[one, far]))
    assert [c["status"] for c in stage.calls()] == ["auth-required"] * 3
    assert len({entry["id"] for entry in stage.needed()}) == 3
    stage.authenticate()
    assert [c["status"] for c in stage.calls()] == ["completed", "completed", "auth-required"]
    assert stage.state()["status"] == 24
    stage.authenticate("other", resource="https://other.example/mcp")
    assert stage.state()["status"] == 1


def test_any_client_may_cancel_and_the_agent_hears_of_it() -> None:
    stage = Stage()
    b = stage.client("B", stage.session)
    stage.play(blocked(partial="so far"), {"say": "on"})
    (one,) = stage.calls()
    claimed = stage.act(one, "chat/toolCallComplete", result=DONE)
    assert claimed is not None and claimed["rejectionReason"]
    for kind, members in (
        ("chat/toolCallConfirmed", {"approved": True, "confirmed": "user-action"}),
        ("chat/toolCallContentChanged", {"content": []}),
        ("chat/toolCallResultConfirmed", {"approved": True}),
        ("chat/toolCallAuthResolved", {}),
    ):
        echo = stage.act(one, kind, **members)
        assert echo is not None and echo["rejectionReason"], kind
    assert stage.calls() == [one]
    stage.act(one, "chat/toolCallComplete", by=b, result=FAILED)
    (turn,) = stage.state(stage.chat)["turns"]
    ended = turn["responseParts"][0]["toolCall"]
    assert (ended["status"], ended["success"]) == ("completed", False)
    assert ended["content"] == [{"type": "text", "text": "so far"}]
    assert stage.needed() == []
    before = stage.a.mark()
    stage.authenticate()
    assert stage.a.envelopes(since=before) == []


def test_a_cancelled_turn_is_not_taken_up_again() -> None:
    stage = Stage()
    turn = stage.play(blocked())
    stage.a.dispatch(stage.chat, {"type": "chat/turnCancelled", "turnId": turn, "duration": 5})
    assert stage.needed() == [] and stage.state()["status"] == 1
    before = stage.a.mark()
    stage.authenticate()
    assert stage.a.envelopes(since=before) == []


def test_step_up_says_insufficient_scope_and_edited_input_survives() -> None:
    stage = Stage()
    stage.play(
        blocked(
            confirm=True,
            editable=True,
            challenges=[challenge(), challenge("wide", status=403, scopes=["write"])],
        )
    )
    (one,) = stage.calls()
    stage.act(one, "chat/toolCallConfirmed", approved=True, confirmed="user-action", editedToolInput='{"x":2}')
    stage.authenticate()
    (one,) = stage.calls()
    assert one["auth"]["reason"] == "insufficientScope"
    stage.authenticate("wide")
    (turn,) = stage.state(stage.chat)["turns"]
    assert turn["responseParts"][0]["toolCall"]["content"] == [{"type": "text", "text": '{"x":2}'}]


def test_another_client_and_a_later_connection_can_resolve() -> None:
    stage = Stage()
    b = stage.client("B")
    stage.play(blocked())
    stage.a.drop()
    stage.authenticate(by=b)
    assert len(stage.state(stage.chat)["turns"]) == 1


def test_stopping_the_server_ends_its_calls() -> None:
    stage = Stage()
    stage.play(blocked(), {"pause": "x"})
    identifier = stage.state()["customizations"][0]["id"]
    assert stage.a.dispatch(stage.session, {"type": "session/mcpServerStopRequested", "id": identifier})
    (one,) = stage.calls()
    assert (one["status"], one["success"]) == ("completed", False)
    assert stage.needed() == [] and server_kind(stage) == "stopped"
    assert_fold_equals_snapshot(stage, stage.a)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_server_waits_for_its_token_and_raises_the_session(version: str) -> None:
    stage = Stage(version=version)
    demand = challenge(scopes=["a"], error_description="who?", oauth_client={"clientId": "me"})
    stage.play({"mcp": {"server": "vault", "challenge": demand}}, {"say": "there"})
    state = stage.state()["customizations"][0]["state"]
    assert state["kind"] == "authRequired" and state["reason"] == "required"
    assert state["oauthClient"] == {"clientId": "me"} and state["requiredScopes"] == ["a"]
    assert stage.state()["status"] == 24 and stage.needed() == []
    assert stage.authenticate("bad")["error"]["code"] == -32007
    assert server_kind(stage) == "authRequired"
    assert stage.authenticate()["result"] == {}
    assert server_kind(stage) == "ready" and stage.state()["status"] == 1
    entry = stage.state()["customizations"][0]
    assert ("enabled" in entry) == (version == "0.6.0")
    assert_fold_equals_snapshot(stage, stage.a)


def test_a_server_and_its_call_wait_for_one_token() -> None:
    stage = Stage()
    stage.play({"mcp": {"server": "vault", "challenge": challenge(), "wait": False}}, blocked())
    assert server_kind(stage) == "authRequired" and stage.calls()[0]["status"] == "auth-required"
    stage.authenticate()
    assert server_kind(stage) == "ready" and stage.state(stage.chat)["turns"]


def test_the_life_of_a_server() -> None:
    stage = Stage()
    stage.play({"mcp": {"server": "vault", "challenge": challenge(), "wait": False}})
    assert stage.state()["status"] == 1  # nobody's turn waits
    identifier = stage.state()["customizations"][0]["id"]

    def ask(kind: str) -> str:
        echo = stage.a.dispatch(stage.session, {"type": f"session/mcpServer{kind}Requested", "id": identifier})
        assert echo is not None and "rejectionReason" not in echo
        return server_kind(stage)

    assert ask("Stop") == "stopped"
    assert ask("Start") == "authRequired"
    stage.authenticate()
    assert server_kind(stage) == "ready"
    assert ask("Stop") == "stopped"
    assert ask("Start") == "ready"
    toggle = {"type": "session/customizationToggled", "id": identifier, "enabled": False}
    stage.a.dispatch(stage.session, toggle)
    assert server_kind(stage) == "stopped" and stage.state()["customizations"][0]["enabled"] is False
    refused = stage.a.dispatch(stage.session, {"type": "session/mcpServerStartRequested", "id": identifier})
    assert refused is not None and refused["rejectionReason"]
    unknown = stage.a.dispatch(stage.session, {"type": "session/mcpServerStopRequested", "id": "none"})
    assert unknown is not None and unknown["rejectionReason"]
    stage.play({"mcp": {"server": "broken", "fails": "no such command"}})
    assert stage.state()["customizations"][1]["state"]["error"]["message"] == "no such command"
    assert_fold_equals_snapshot(stage, stage.a)


def test_an_empty_token_withdraws() -> None:
    stage = Stage()
    stage.play(blocked())
    stage.authenticate()
    assert stage.authenticate("")["result"] == {}
    stage.play(blocked())
    assert stage.calls()[0]["auth"]["reason"] == "required"


def test_a_held_token_meets_a_challenge_without_asking() -> None:
    stage = Stage()
    stage.play(blocked())
    stage.authenticate()
    stage.play(blocked())
    assert len(stage.state(stage.chat)["turns"]) == 2
    assert token_hash("good") in stage.state(stage.chat)["turns"][0]["message"]["text"]


def test_nothing_is_left_of_a_disposed_session() -> None:
    stage = Stage()
    stage.play(blocked())
    stage.a.result("disposeSession", stage.session)
    before = stage.a.mark()
    stage.authenticate()
    assert stage.a.envelopes(since=before) == []
