"""Handshake, methods, and what comes of broken messages."""

from __future__ import annotations

import pytest

from conformance.host import ReferenceHost

from .driving import ROOT, Driven, Stage


def test_a_version_of_the_offer_is_chosen_in_the_order_of_the_client() -> None:
    client = Driven(ReferenceHost())
    result = client.initialize(versions=["7.7.7", "0.6.0", "0.9.0"])
    assert result["protocolVersion"] == "0.6.0"
    assert result["snapshots"] == []


@pytest.mark.parametrize("offer", [[], ["3.0.0"], ["0.10.0"]])
def test_an_offer_without_common_version_is_refused_and_the_connection_closed(offer: list[str]) -> None:
    client = Driven(ReferenceHost())
    error = client.error("initialize", protocolVersions=offer, clientId="A")
    assert error["code"] == -32005
    assert error["data"] == {"supportedVersions": ["0.6.0", "0.9.0"]}
    assert client.closed is not None
    client.raw('{"jsonrpc":"2.0","id":9,"method":"ping","params":{"channel":"ahp-root://"}}')
    assert len(client.frames) == 1


def test_the_1_x_rule_takes_the_highest_of_the_line_and_answers_verbatim() -> None:
    host = ReferenceHost(versions=("0.9.0", "1.0.0"))
    assert Driven(host).initialize(versions=["0.9.0", "1.2.0", "1.10.0"])["protocolVersion"] == "1.10.0"
    assert Driven(host).initialize(versions=["0.9.4", "0.10.0"])["protocolVersion"] == "0.9.4"
    error = Driven(host).error("initialize", protocolVersions=["1.0.0", "1.0"], clientId="A")
    assert error["code"] == -32602
    assert Driven(host).error("initialize", protocolVersions=["0.10.0"], clientId="A")["code"] == -32005


def test_only_ping_is_served_before_the_handshake() -> None:
    client = Driven(ReferenceHost())
    assert client.result("ping") is None
    assert client.error("listSessions")["code"] == -32600
    assert client.error("createSession", "ahp-session:/x")["code"] == -32600
    client.notify("dispatchAction", "ahp-session:/x", clientSeq=1, action={"type": "session/titleChanged"})
    client.initialize()
    assert client.result("listSessions") == {"items": []}
    assert client.error("initialize", protocolVersions=["0.9.0"], clientId="A")["code"] == -32600


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{nonsense", -32700),
        ("[]", -32600),
        ('{"jsonrpc":"2.0","id":1}', -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping","params":{"channel":"ahp-root://"}}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"noSuchMethod","params":{"channel":"ahp-root://"}}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"subscribe"}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"channel":7}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-session:/x"}}', -32602),
    ],
)
def test_broken_requests_get_their_code(text: str, code: int) -> None:
    client = Driven(ReferenceHost())
    client.initialize()
    before = client.mark()
    client.raw(text)
    (answer,) = client.frames[before:]
    assert answer["error"]["code"] == code
    assert client.result("ping") is None


def test_binary_messages_are_parse_errors_with_null_id() -> None:
    client = Driven(ReferenceHost())
    client.raw(b"\x00")
    assert client.frames == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "messages travel as text"}}
    ]


def test_messages_without_an_id_are_never_answered() -> None:
    client = Driven(ReferenceHost())
    client.initialize()
    before = client.mark()
    client.notify("noSuchMethod")
    client.notify("dispatchAction", "ahp-session:/x", clientSeq="one", action=3)
    client.notify("unsubscribe", "ahp-session:/x")
    client.raw('{"jsonrpc":"2.0","id":4,"result":null}')
    assert client.frames[before:] == []


def test_sessions_are_listed_page_by_page() -> None:
    stage = Stage()
    for number in range(4):
        stage.a.result("createSession", f"ahp-session:/{number}")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = stage.a.result("listSessions", limit=2, **cursor)
        seen += [item["resource"] for item in page["items"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == len(set(seen)) == 5
    assert stage.a.error("listSessions", cursor="nonsense")["code"] == -32602


def test_sessions_come_and_go_with_notice() -> None:
    stage = Stage()
    assert stage.a.error("createSession", stage.session)["code"] == -32003
    assert stage.a.error("createSession", "ahp-session:/two", provider="nobody")["code"] == -32002
    assert stage.a.error("subscribe", "ahp-session:/two")["code"] == -32001
    assert [note["summary"]["resource"] for note in stage.a.notes("root/sessionAdded")] == [stage.session]
    assert stage.a.result("disposeSession", stage.session) is None
    assert [note["session"] for note in stage.a.notes("root/sessionRemoved")] == [stage.session]
    assert stage.a.error("disposeSession", stage.session)["code"] == -32001
    assert "error" in stage.a.request("subscribe", stage.chat)
    assert stage.state(ROOT)["activeSessions"] == 0


def test_a_chat_is_announced_before_it_is_answered() -> None:
    stage = Stage()
    before = stage.a.mark()
    message = {"text": "hello", "origin": {"kind": "user"}}
    assert stage.a.result("createChat", stage.session, chat="ahp-chat:/new", initialMessage=message) is None
    kinds = [frame.get("params", {}).get("action", {}).get("type", "answer") for frame in stage.a.frames[before:]]
    assert kinds.index("session/chatAdded") < kinds.index("answer")
    assert stage.state("ahp-chat:/new")["turns"][0]["message"] == message
    assert "error" in stage.a.request("createChat", stage.session, chat="ahp-chat:/new")
    assert "error" in stage.a.request("createChat", "ahp-session:/none", chat="ahp-chat:/other")
    assert stage.a.result("disposeChat", "ahp-chat:/new") is None
    assert stage.a.actions("session/chatRemoved") == [{"type": "session/chatRemoved", "chat": "ahp-chat:/new"}]
    assert "error" in stage.a.request("disposeChat", stage.chat)
