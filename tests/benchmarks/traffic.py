"""Traffic of ordinary turns, of any length, as frames: what a client sees that starts one turn after another.

A turn is a message, some thinking, two texts that come in small pieces, a tool call that the user allows, usage, and
the end; the summary of the chat is told at its start and its end. With ``keep`` turns the client truncates the chat
now and then, so that the state stays as it is however long the traffic; sessions come and go in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from conformance.wire.frames import Frame

JSON = Any
ROOT = "ahp-root://"
PIECES = 12
CLIENT = "bench"


class Traffic:
    """Frames of one connection, numbered as they are made."""

    def __init__(self, version: str = "0.9.0") -> None:
        self.version = version
        self.seq = 0
        self._n = itertools.count()
        self._ids = itertools.count(1)
        self._client_seqs = itertools.count(1)

    def frame(self, direction: Any, message: JSON) -> Frame:
        n = next(self._n)
        return Frame(n, n / 1000, "A", direction, message)

    def ask(self, method: str, params: JSON, result: JSON) -> Iterator[Frame]:
        identity = next(self._ids)
        yield self.frame("out", {"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        yield self.frame("in", {"jsonrpc": "2.0", "id": identity, "result": result})

    def said(self, channel: str, action: JSON, **more: JSON) -> Frame:
        self.seq += 1
        params = {"channel": channel, "action": action, "serverSeq": self.seq, **more}
        return self.frame("in", {"jsonrpc": "2.0", "method": "action", "params": params})

    def dispatched(self, channel: str, action: JSON) -> Iterator[Frame]:
        number = next(self._client_seqs)
        params = {"channel": channel, "clientSeq": number, "action": action}
        yield self.frame("out", {"jsonrpc": "2.0", "method": "dispatchAction", "params": params})
        yield self.said(channel, action, origin={"clientId": CLIENT, "clientSeq": number})

    # -- what happens -----------------------------------------------------------------------------------

    def handshake(self) -> Iterator[Frame]:
        root = {"agents": [_AGENT], "activeSessions": 0}
        snapshot = {"resource": ROOT, "state": root, "fromSeq": self.seq}
        yield from self.ask(
            "initialize",
            {
                "channel": ROOT,
                "protocolVersions": [self.version],
                "clientId": CLIENT,
                "initialSubscriptions": [ROOT],
            },
            {"protocolVersion": self.version, "serverSeq": self.seq, "snapshots": [snapshot]},
        )

    def session(self, name: str, turns: int = 0) -> Iterator[Frame]:
        """Subscribe to a session with one chat that already has so many turns."""
        uri, chat = f"ahp-session:/{name}", f"ahp-chat:/{name}"
        state = {
            "provider": _AGENT["provider"],
            "title": name,
            "status": 1,
            "lifecycle": "ready",
            "activeClients": [],
            "chats": [{"resource": chat, "title": name, "status": 1, "modifiedAt": _time(0)}],
            "defaultChat": chat,
        }
        yield from self._subscribe(uri, state)
        history = [_finished_turn(f"{name}-old-{number}") for number in range(turns)]
        yield from self._subscribe(
            chat, {"resource": chat, "title": name, "status": 1, "modifiedAt": _time(0), "turns": history}
        )

    def _subscribe(self, channel: str, state: JSON) -> Iterator[Frame]:
        snapshot = {"resource": channel, "state": state, "fromSeq": self.seq}
        yield from self.ask("subscribe", {"channel": channel}, {"snapshot": snapshot})

    def turn(self, name: str, turn: str, number: int) -> Iterator[Frame]:
        chat, call = f"ahp-chat:/{name}", f"{turn}-call"
        started = _time(number)
        message = {"text": "Look at the file and tell me what it does.", "origin": {"kind": "user"}}
        yield from self.dispatched(
            chat, {"type": "chat/turnStarted", "turnId": turn, "message": message, "startedAt": started}
        )
        yield self._summary(name, 8, started)
        yield self._part(chat, turn, {"kind": "reasoning", "id": f"{turn}-r", "content": ""})
        for _ in range(PIECES):
            yield self.said(
                chat, {"type": "chat/reasoning", "turnId": turn, "partId": f"{turn}-r", "content": "so it has to be "}
            )
        yield from self._call(chat, turn, call)
        for part in (f"{turn}-a", f"{turn}-b"):
            yield self._part(chat, turn, {"kind": "markdown", "id": part, "content": ""})
            for _ in range(PIECES):
                yield self.said(
                    chat, {"type": "chat/delta", "turnId": turn, "partId": part, "content": "a few words more "}
                )
        usage = {"inputTokens": 1200, "outputTokens": 340, "model": "model-1"}
        yield self.said(chat, {"type": "chat/usage", "turnId": turn, "usage": usage})
        yield self.said(chat, {"type": "chat/turnComplete", "turnId": turn, "duration": 1500})
        yield self._summary(name, 1, started)

    def _call(self, chat: str, turn: str, call: str) -> Iterator[Frame]:
        about = {"turnId": turn, "toolCallId": call}
        yield self.said(
            chat, {"type": "chat/toolCallStart", **about, "toolName": "read_file", "displayName": "Read file"}
        )
        for piece in ('{"path": ', '"src/main.py"', "}"):
            yield self.said(chat, {"type": "chat/toolCallDelta", **about, "content": piece})
        yield self.said(
            chat,
            {
                "type": "chat/toolCallReady",
                **about,
                "invocationMessage": "Reading src/main.py",
                "toolInput": '{"path": "src/main.py"}',
                "options": [{"id": "allow", "label": "Allow", "kind": "approve"}],
            },
        )
        yield from self.dispatched(
            chat, {"type": "chat/toolCallConfirmed", **about, "approved": True, "confirmed": "user-action"}
        )
        result = {
            "success": True,
            "pastTenseMessage": "Read src/main.py",
            "content": [{"type": "text", "text": "print('hello')\n" * 20}],
        }
        yield self.said(chat, {"type": "chat/toolCallComplete", **about, "result": result})

    def _part(self, chat: str, turn: str, part: JSON) -> Frame:
        return self.said(chat, {"type": "chat/responsePart", "turnId": turn, "part": part})

    def _summary(self, name: str, status: int, moment: str) -> Frame:
        changes = {"status": status, "modifiedAt": moment}
        return self.said(
            f"ahp-session:/{name}",
            {"type": "session/chatUpdated", "chat": f"ahp-chat:/{name}", "changes": changes},
        )

    def truncate(self, name: str) -> Iterator[Frame]:
        yield from self.dispatched(f"ahp-chat:/{name}", {"type": "chat/truncated"})

    def dispose(self, name: str) -> Iterator[Frame]:
        yield from self.ask("disposeSession", {"channel": f"ahp-session:/{name}"}, None)


def ordinary(turns: int, *, version: str = "0.9.0", keep: int = 50, sessions_every: int = 200) -> Iterator[Frame]:
    """So many turns, spread over sessions that are left after a while and truncated now and then."""
    traffic = Traffic(version)
    yield from traffic.handshake()
    name = ""
    for number in range(turns):
        if number % sessions_every == 0:
            if name:
                yield from traffic.dispose(name)
            name = f"s{number // sessions_every}"
            yield from traffic.session(name)
        elif number % keep == 0:
            yield from traffic.truncate(name)
        yield from traffic.turn(name, f"{name}-t{number}", number)


def long_chat(history: int, turns: int, version: str = "0.9.0") -> Iterator[Frame]:
    """So many turns more in a chat that already has a history."""
    traffic = Traffic(version)
    yield from traffic.handshake()
    yield from traffic.session("long", history)
    for number in range(turns):
        yield from traffic.turn("long", f"t{number}", number)


_AGENT = {"provider": "bench", "displayName": "Bench", "description": "Plays turns", "models": []}


def _time(number: int) -> str:
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return f"2026-01-{1 + hours // 24:02d}T{hours % 24:02d}:{minutes:02d}:{seconds:02d}.000Z"


def _finished_turn(identity: str) -> JSON:
    return {
        "id": identity,
        "message": {"text": "Go on.", "origin": {"kind": "user"}},
        "startedAt": _time(0),
        "duration": 1000,
        "state": "complete",
        "responseParts": [{"kind": "markdown", "id": f"{identity}-a", "content": "Some text. " * 20}],
    }
