"""A client on the core of the reference host, without sockets: everything it gets, it has at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from conformance.backend import compose, token_hash
from conformance.host import ReferenceHost
from conformance.host.faults import Fault
from conformance.protocol import kind_of, reduce

JSON = Any

ROOT = "ahp-root://"
RESOURCE = "https://vault.example/mcp"
STARTED = "2026-01-01T00:00:00.000Z"
NOW = "2026-01-01T00:00:01.000Z"


class Driven:
    """One connection. frames: decoded messages in order; closed: the close code, if any."""

    def __init__(self, host: ReferenceHost, name: str = "A", version: str = "0.6.0") -> None:
        self.host = host
        self.name = name
        self.version = version
        self.frames: list[JSON] = []
        self.closed: int | None = None
        self.folds: dict[str, JSON] = {}
        self._ids = itertools.count(1)
        self._seqs = itertools.count(1)
        self.peer = host.open(self._take, self._close)

    def _take(self, text: str) -> None:
        self.frames.append(orjson.loads(text))

    def _close(self, code: int) -> None:
        self.closed = code

    def raw(self, data: str | bytes) -> None:
        self.host.receive(self.peer, data)

    def request(self, method: str, channel: str = ROOT, **params: JSON) -> JSON:
        """Send a request; the response, an empty one when a wrong host gives none."""
        identifier = next(self._ids)
        self.raw(
            orjson.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": identifier,
                    "method": method,
                    "params": {"channel": channel, **params},
                }
            ).decode()
        )
        answers = (f for f in reversed(self.frames) if f.get("id") == identifier and "method" not in f)
        return next(answers, {})

    def result(self, method: str, channel: str = ROOT, **params: JSON) -> JSON:
        answer = self.request(method, channel, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, channel: str = ROOT, **params: JSON) -> JSON:
        answer = self.request(method, channel, **params)
        assert "result" not in answer, answer
        return answer["error"]

    def notify(self, method: str, channel: str = ROOT, **params: JSON) -> None:
        self.raw(
            orjson.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": method,
                    "params": {"channel": channel, **params},
                }
            ).decode()
        )

    def initialize(self, *channels: str, versions: Iterable[str] = ()) -> JSON:
        result = self.result(
            "initialize",
            protocolVersions=list(versions) or [self.version],
            clientId=self.name,
            initialSubscriptions=list(channels),
        )
        for snapshot in result.get("snapshots", []):
            self.folds[snapshot["resource"]] = snapshot["state"]
        return result

    def subscribe(self, channel: str) -> JSON:
        """Subscribe; the state in the snapshot."""
        state = self.result("subscribe", channel)["snapshot"]["state"]
        self.folds[channel] = state
        return state

    def dispatch(self, channel: str, action: JSON) -> JSON | None:
        """Dispatch an action; the envelope that echoes it, None when there was none."""
        number = next(self._seqs)
        self.notify("dispatchAction", channel, clientSeq=number, action=action)
        wanted = {"clientId": self.name, "clientSeq": number}
        return next((e for e in self.envelopes() if e.get("origin") == wanted), None)

    def drop(self) -> None:
        self.host.dropped(self.peer)

    def envelopes(self, kind: str | None = None, since: int = 0) -> list[JSON]:
        """The params of the action notifications from frame `since` on, of one type if given."""
        return [
            frame["params"]
            for frame in self.frames[since:]
            if frame.get("method") == "action" and kind in (None, frame["params"]["action"]["type"])
        ]

    def actions(self, kind: str, since: int = 0) -> list[JSON]:
        """The accepted actions of one type."""
        return [e["action"] for e in self.envelopes(kind, since) if "rejectionReason" not in e]

    def notes(self, method: str) -> list[JSON]:
        return [frame["params"] for frame in self.frames if frame.get("method") == method]

    def mark(self) -> int:
        return len(self.frames)


class Stage:
    """A host with a session, its creator "A" subscribed to all of it, and ways to make turns."""

    def __init__(self, *faults: Fault, version: str = "0.6.0", versions: Iterable[str] = ()) -> None:
        self.time = 100.0
        self.overheard: list[JSON] = []
        options: dict[str, Any] = {"clock": lambda: self.time, "now": lambda: NOW}
        if versions:
            options["versions"] = tuple(versions)
        self.host = ReferenceHost(faults=faults, **options)
        self.version = version
        self.session = "ahp-session:/one"
        self.a = self.client("A", ROOT)
        self.a.result("createSession", self.session, provider="scripted")
        self.chat: str = self.a.subscribe(self.session)["chats"][0]["resource"]
        self.a.subscribe(self.chat)
        self._turns = itertools.count(1)

    def client(self, name: str, *channels: str, version: str | None = None) -> Driven:
        client = Driven(self.host, name, version or self.version)
        client.initialize(*channels)
        return client

    def play(self, *moves: JSON, chat: str | None = None, by: Driven | None = None) -> str:
        """Start a turn with a playbook; its id."""
        turn = f"t{next(self._turns)}"
        message = {"text": compose("please", moves), "origin": {"kind": "user"}}
        (by or self.a).dispatch(
            chat or self.chat,
            {"type": "chat/turnStarted", "turnId": turn, "startedAt": STARTED, "message": message},
        )
        return turn

    def state(self, uri: str | None = None) -> JSON:
        """What a fresh observer finds in a channel."""
        observer = self.client("observer")
        state = observer.subscribe(uri or self.session)
        observer.drop()
        return state

    def calls(self, chat: str | None = None) -> list[JSON]:
        """The tool calls of the active turn."""
        active = self.state(chat or self.chat).get("activeTurn") or {"responseParts": []}
        return [part["toolCall"] for part in active["responseParts"] if part["kind"] == "toolCall"]

    def needed(self) -> list[JSON]:
        return list(self.state().get("inputNeeded", []))

    def authenticate(self, token: str = "good", by: Driven | None = None, **params: JSON) -> JSON:
        return (by or self.a).request("authenticate", **{"resource": RESOURCE, "token": token, **params})

    def act(self, call: JSON, kind: str, by: Driven | None = None, **members: JSON) -> JSON | None:
        """Dispatch an action for a tool call of the active turn."""
        turn = self.state(self.chat)["activeTurn"]["id"]
        return (by or self.a).dispatch(
            self.chat, {"type": kind, "turnId": turn, "toolCallId": call["toolCallId"], **members}
        )


FAILED = {"success": False, "pastTenseMessage": "Cancelled", "error": {"message": "cancelled"}}
DONE = {"success": True, "pastTenseMessage": "Did it", "content": [{"type": "text", "text": "done"}]}


def challenge(token: str = "good", status: int = 401, **members: JSON) -> JSON:
    return {"status": status, "resource": RESOURCE, "accept": [token_hash(token)], **members}


def call(tool: str = "read", *, beside: list[JSON] | None = None, **members: JSON) -> JSON:
    """A move that calls a tool; `beside` are calls that start together with it."""
    together = {} if beside is None else {"with": beside}
    return {"call": {"tool": tool, **members, **together}}


def blocked(tool: str = "read", server: str = "vault", **members: JSON) -> JSON:
    members.setdefault("challenges", [challenge()])
    return call(tool, server=server, **members)


def assert_fold_equals_snapshot(stage: Stage, client: Driven) -> None:
    """Fold what a client got onto its snapshots, and compare with what an observer finds now."""
    version = client.version
    for uri, first in client.folds.items():
        kind = kind_of(uri)
        assert kind is not None
        state = first
        for envelope in client.envelopes():
            if envelope["channel"] == uri and "rejectionReason" not in envelope:
                state = reduce(kind, state, envelope["action"], version, lambda: NOW)
        found = stage.client("fold-observer", version=version)
        fresh = found.subscribe(uri)
        found.drop()
        assert _comparable(kind, state) == _comparable(kind, fresh)


def _comparable(kind: str, state: JSON) -> JSON:
    # No action carries the activity of a session (A-13 of the dispute log).
    return {**state, "status": state["status"] & ~31} if kind == "session" else state


def normalised(frames: list[JSON]) -> Iterator[str]:
    """Frames as text, with minted ids replaced by their order of appearance."""
    names: dict[str, str] = {}

    def walk(value: JSON) -> JSON:
        if isinstance(value, dict):
            return {name: walk(item) for name, item in value.items()}
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, str):
            plain = value.removeprefix("ahp-chat:/").removeprefix("mcp-server:/")
            prefix, dash, rest = plain.partition("-")
            if dash and len(rest) >= 16 and prefix in ("chat", "call", "part", "need", "mcp", "turn", "request"):
                name = names.setdefault(rest[:16], f"{prefix}{len(names)}")
                return value.replace(f"{prefix}-{rest[:16]}", name)
        return value

    return (orjson.dumps(walk(frame)).decode() for frame in frames)


Act = Callable[[Stage], None]
