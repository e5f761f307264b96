"""The participant, against a host that is scripted line by line over an in-memory pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conformance.client import HostClosed, Participant, Refused, Rejected, Silent, Unreached
from conformance.oracle import Oracle
from conformance.wire.connection import Connection
from conformance.wire.frames import decode, encode
from conformance.wire.memory import MemoryTransport, memory_pair
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder

JSON = Any
ROOT = "ahp-root://"
SESSION = "ahp-session:/1"
STATE = {
    "provider": "p",
    "title": "One",
    "status": 1,
    "lifecycle": "ready",
    "activeClients": [],
    "chats": [],
}


class Bench:
    """A participant and the other end of its connections; ``script`` answers each message of the participant."""

    def __init__(self, script: Callable[[Bench, JSON], None]) -> None:
        self.pump, self.recorder, self.oracle = Pump(), Recorder(), Oracle()
        self.recorder.listen(self.oracle.feed)
        self.script = script
        self.ends: list[MemoryTransport] = []
        self.client = Participant(
            "A", "client-a", pump=self.pump, tracker=self.oracle.tracker, connect=self._connect, patience=0.05
        )

    def _connect(self, name: str) -> Connection:
        near, far = memory_pair()
        self.ends.append(far)
        bench = self

        class Answering(Connection):
            def send(self, message: JSON) -> Any:
                frame = super().send(message)
                for received in far.receive():
                    if isinstance(received, str):
                        bench.script(bench, decode(received))
                return frame

        connection = Answering(name, near, self.recorder)
        self.pump.add(connection)
        return connection

    def say(self, message: JSON) -> None:
        self.ends[-1].send(encode({"jsonrpc": "2.0", **message}))

    def envelope(self, seq: int, action: JSON, **more: JSON) -> None:
        params = {"channel": SESSION, "serverSeq": seq, "action": action, **more}
        self.say({"method": "action", "params": params})


def host(bench: Bench, message: JSON) -> None:
    """Answers the handshake, subscribe and ping; accepts every title, rejects everything else."""
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            result: JSON = {"protocolVersion": params["protocolVersions"][0], "serverSeq": 0, "snapshots": []}
        case "subscribe":
            result = {"snapshot": {"resource": params["channel"], "state": STATE, "fromSeq": 0}}
        case "ping":
            result = None
        case "dispatchAction":
            action, seq = params["action"], params["clientSeq"]
            origin = {"clientId": "client-a", "clientSeq": seq}
            more = {} if action["type"] == "session/titleChanged" else {"rejectionReason": "no"}
            bench.envelope(seq, action, origin=origin, **more)
            return
        case "silence" | "unsubscribe":
            return
        case _:
            bench.say({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
            return
    bench.say({"id": message["id"], "result": result})


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench(host)
    made.client.initialize(["0.6.0"])
    yield made
    made.pump.close()


def test_it_follows_what_it_subscribes_to(bench: Bench) -> None:
    snapshot = bench.client.subscribe(SESSION)
    assert snapshot.state["title"] == "One"
    bench.client.act(SESSION, {"type": "session/titleChanged", "title": "Two"})
    assert bench.client.state(SESSION)["title"] == "Two"
    assert bench.client.version == "0.6.0"


def test_a_rejected_action_is_an_echo_but_not_an_act(bench: Bench) -> None:
    bench.client.subscribe(SESSION)
    action = {"type": "session/activityChanged", "activity": "x"}
    echo = bench.client.echo(bench.client.dispatch(SESSION, action))
    assert not echo.accepted
    assert "activity" not in bench.client.state(SESSION)
    with pytest.raises(Rejected, match="was rejected"):
        bench.client.act(SESSION, action)


def test_silence_is_bounded_and_named(bench: Bench) -> None:
    with pytest.raises(Silent, match="answer to silence"):
        bench.client.call("silence")
    with pytest.raises(Silent, match="session/ready"):
        bench.client.await_action(SESSION, "session/ready")


def test_a_closed_connection_is_told_apart_from_silence(bench: Bench) -> None:
    bench.ends[-1].close(1011)
    with pytest.raises(HostClosed) as closed:
        bench.client.call("ping")
    assert closed.value.code == 1011
    with pytest.raises(HostClosed):
        bench.client.call("ping")


def test_a_refusal_carries_its_code(bench: Bench) -> None:
    with pytest.raises(Refused) as refused:
        bench.client.succeed("fetchTurns", channel=SESSION)
    assert refused.value.code == -32601


def test_a_fence_puts_what_came_before_it_behind_it(bench: Bench) -> None:
    bench.client.subscribe(SESSION)
    bench.client.dispatch(SESSION, {"type": "session/titleChanged", "title": "Two"})
    fence = bench.client.fence()
    assert [e.get("title") for e in bench.client.envelopes(SESSION) if e.frame.n < fence] == ["Two"]


def test_a_mark_separates_earlier_from_later(bench: Bench) -> None:
    bench.client.subscribe(SESSION)
    bench.client.act(SESSION, {"type": "session/titleChanged", "title": "Two"})
    mark = bench.client.mark
    assert next(bench.client.envelopes(SESSION, since=mark), None) is None
    bench.client.act(SESSION, {"type": "session/titleChanged", "title": "Three"})
    assert [e.get("title") for e in bench.client.envelopes(SESSION, since=mark)] == ["Three"]


def test_what_is_not_followed_has_no_fold(bench: Bench) -> None:
    with pytest.raises(Unreached, match="does not follow"):
        bench.client.state(SESSION)


def test_a_result_without_snapshot_or_version_reaches_nothing() -> None:
    def empty(bench: Bench, message: JSON) -> None:
        bench.say({"id": message["id"], "result": {}})

    bench = Bench(empty)
    with pytest.raises(Unreached, match="no protocolVersion"):
        bench.client.initialize(["0.6.0"])
    with pytest.raises(Unreached, match="no snapshot"):
        bench.client.subscribe(SESSION)
    bench.pump.close()


def test_a_client_that_comes_back_keeps_its_identity_and_its_fold(bench: Bench) -> None:
    bench.client.subscribe(SESSION)
    bench.client.act(SESSION, {"type": "session/titleChanged", "title": "Two"})
    bench.client.drop()
    bench.client.reopen()
    bench.script = lambda b, message: b.say(
        {
            "id": message["id"],
            "result": {
                "type": "replay",
                "missing": [],
                "actions": [
                    {
                        "channel": SESSION,
                        "serverSeq": 9,
                        "action": {"type": "session/titleChanged", "title": "Missed"},
                    }
                ],
            },
        }
    )
    reply = bench.client.reconnect([SESSION], 1)
    assert not reply.failed
    assert bench.client.state(SESSION)["title"] == "Missed"
    assert bench.client.version == "0.6.0"
