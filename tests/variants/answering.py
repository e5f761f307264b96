"""Other ways to answer, to number and to be slow."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from conformance.host.channels import Channel, Logged
from conformance.host.peers import Peer

from .hosts import Variant, VariantHost

JSON = Any


class ResponseLast(VariantHost):
    def answer(self, peer: Peer, message: JSON) -> None:
        if self.method_of(peer, message) == "authenticate" and "result" in message:
            self.when_idle(lambda: super(ResponseLast, self).answer(peer, message))
        else:
            super().answer(peer, message)


class SlowAnswers(VariantHost):
    """Answers without a snapshot are held for a moment, and pings for the longest."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self._held: list[tuple[float, Peer, JSON]] = []
        super().__init__(*args, **more)

    def answer(self, peer: Peer, message: JSON) -> None:
        if message.get("result", 0) not in (None, {}):
            super().answer(peer, message)
            return
        delay = 0.0015 if self.method_of(peer, message) == "ping" else 0.0005
        self._held.append((self.clock() + delay, peer, message))

    def next_deadline(self) -> float | None:
        due = [deadline for deadline, _, _ in self._held]
        other = super().next_deadline()
        return min([*due, *([] if other is None else [other])], default=None)

    def tick(self) -> None:
        now = self.clock()
        due = [held for held in self._held if held[0] <= now]
        self._held = [held for held in self._held if held[0] > now]
        for _, peer, message in due:
            super().answer(peer, message)
        super().tick()


class OtherCodes(VariantHost):
    _CODES: Final = {
        ("authenticate", -32007): -32603,
        ("authenticate", -32602): -32008,
        ("initialize", -32602): -32600,
        ("subscribe", -32602): -32008,  # a channel that is not there
        ("createChat", -32602): -32010,
    }

    def answer(self, peer: Peer, message: JSON) -> None:
        error = message.get("error")
        if error is not None:
            missing = isinstance(self.params_of(peer, message).get("channel"), str)
            known = (self.method_of(peer, message) or "", error["code"])
            code = self._CODES.get(known, error["code"]) if missing else error["code"]
            error = {**error, "code": code, "message": f"[{code}] no\nway"}
            if code != -32007:
                error.pop("data", None)
            message = {**message, "error": error}
        super().answer(peer, message)

    def close(self, peer: Peer, code: int) -> None:
        super().close(peer, {1002: 1008}.get(code, code))


class GarbageEndsTheConnection(VariantHost):
    def answer(self, peer: Peer, message: JSON) -> None:
        if message.get("error", {}).get("code") == -32700:
            self.close(peer, 1007)
        else:
            super().answer(peer, message)


class SameVersionAgain(VariantHost):
    def answer(self, peer: Peer, message: JSON) -> None:
        again = self.method_of(peer, message) == "initialize" and peer.version is not None and "error" in message
        if again:
            result: JSON = {"protocolVersion": peer.version, "serverSeq": self.seq, "snapshots": []}
            message = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        super().answer(peer, message)


class SmallPages(VariantHost):
    def received(self, peer: Peer, message: JSON) -> None:
        if message.get("method") == "listSessions" and isinstance(message.get("params"), dict):
            limit = message["params"].get("limit")
            if limit is None or (isinstance(limit, int) and limit > 3):
                message["params"]["limit"] = 3
        super().received(peer, message)


class Gaps(VariantHost):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.seq = 2**40

    def _apply(self, channel: Channel, action: Any, origin: JSON | None) -> None:
        self.seq += 6
        super()._apply(channel, action, origin)


class RejectionsForAll(VariantHost):
    def reject(self, peer: Peer, channel: Channel, action: JSON, origin: JSON, reason: str) -> None:
        self.seq += 1
        entry = Logged(self.seq, channel.uri, dict.fromkeys(self.versions, action), origin, reason)
        self.log.add(entry)
        self.deliver(channel, entry)


class RejectionsWithoutNumber(VariantHost):
    def reject(self, peer: Peer, channel: Channel, action: JSON, origin: JSON, reason: str) -> None:
        entry = Logged(self.seq, channel.uri, dict.fromkeys(self.versions, action), origin, reason)
        params = entry.params(str(peer.version))
        if peer in channel.subscribers and params is not None:
            self._send(peer, {"jsonrpc": "2.0", "method": "action", "params": params})


class EchoesWithoutSubscription(VariantHost):
    """Whoever dispatches hears what became of it, subscribed or not."""

    _speaker: Peer | None = None

    def received(self, peer: Peer, message: JSON) -> None:
        self._speaker = peer
        super().received(peer, message)

    def deliver(self, channel: Channel, entry: Logged) -> None:
        super().deliver(channel, entry)
        speaker = self._speaker
        if entry.origin is None or speaker is None or speaker in channel.subscribers or not speaker.ready:
            return
        params = entry.params(str(speaker.version))
        if params is not None:
            self._send(speaker, {"jsonrpc": "2.0", "method": "action", "params": params})


class SnapshotsForReconnect(VariantHost):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{**more, "replay_limit": 1})


class OtherTimes(VariantHost):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{**more, "now": lambda: datetime.now(UTC).isoformat(timespec="microseconds")})


class ExtraMembers(VariantHost):
    """Members that nobody knows, and _meta, wherever there is an object."""

    def answer(self, peer: Peer, message: JSON) -> None:
        if message.get("result"):  # null and {} are said to be just that
            message = {**message, "result": self._richer(message["result"])}
        if "error" in message:
            error = message["error"]
            data = {**error["data"], "x-more": 1} if isinstance(error.get("data"), dict) else {"x-more": 1}
            message = {**message, "error": {**error, "data": data, "x-more": [None]}}
        super().answer(peer, {**message, "x-trace": "7"})

    def _richer(self, result: JSON) -> JSON:
        richer = {**result, "x-more": {"a": None}, "_meta": {"x-vendor": True}}
        if "snapshot" in richer:
            richer["snapshot"] = self._snapshot(richer["snapshot"])
        for name in ("snapshots", "actions", "items"):
            if name in richer:
                change = self._snapshot if name == "snapshots" else self._plain
                richer[name] = [change(item) for item in richer[name]]
        return richer

    def _snapshot(self, snapshot: JSON) -> JSON:
        state = {**snapshot["state"], "x-more": ["a", 1]}
        if "turns" in state or "lifecycle" in state:
            state["_meta"] = {"x-vendor": {"deep": True}}
        return {**snapshot, "state": state, "x-more": 0}

    def _plain(self, value: JSON) -> JSON:
        return {**value, "x-more": {"b": []}}

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if origin is None and not callable(action):
            action = {**action, "x-more": "act", "_meta": {"x-vendor": 1}}
            for name in ("request", "customization", "auth", "part", "result"):
                if isinstance(action.get(name), dict):
                    action[name] = self._plain(action[name])
        super().act(channel, action, origin)

    def _send(self, peer: Peer, message: JSON) -> None:
        if "method" in message:
            message = {**message, "params": {**message["params"], "x-more": 2, "_meta": {}}, "x-trace": "8"}
        super()._send(peer, message)

    def deliver(self, channel: Channel, entry: Logged) -> None:
        for peer in self._receivers(channel):
            params = entry.params(str(peer.version))
            if params is not None:
                self._send(peer, {"jsonrpc": "2.0", "method": "action", "params": params})


ANSWERING: Final = (
    Variant(
        "response-last",
        "The answer to authenticate comes once the resumed calls, and even their turns, are over.",
        "AMB-22: the order of the answer and the resumption is not said.",
        ResponseLast,
    ),
    Variant(
        "slow-answers",
        "Requests are answered in another order than they came in, pings last.",
        "JSON-RPC 2.0 pairs answers and requests by id; no order is said.",
        SlowAnswers,
    ),
    Variant(
        "other-codes",
        "Refusals have other codes and texts where none is fixed, and no data but with -32007.",
        "A-02, A-04, A-08, A-18, AMB-24: any error.",
        OtherCodes,
        withholds=("handshake/negotiation/",),
    ),
    Variant(
        "garbage-ends-the-connection",
        "What cannot be parsed is answered by the end of its connection.",
        "A-30: the types have no answer for it.",
        GarbageEndsTheConnection,
    ),
    Variant(
        "same-version-again",
        "A second initialize succeeds and says the same version.",
        "A-06: not treated by the text.",
        SameVersionAgain,
    ),
    Variant(
        "small-pages",
        "listSessions gives three entries at a time, whatever limit is asked for.",
        "root-channel.md: the server MAY return fewer and MAY impose its own upper cap.",
        SmallPages,
    ),
    Variant(
        "gaps",
        "serverSeq starts high and leaves numbers out.",
        "The text asks for numbers that grow, not for consecutive ones.",
        Gaps,
    ),
    Variant(
        "rejections-for-all",
        "Rejections go to every subscriber, with their reason, and are replayed.",
        "A-21: who gets a rejection is open.",
        RejectionsForAll,
    ),
    Variant(
        "rejections-without-number",
        "A rejection carries the number that the host is at.",
        "A-21: whether a rejection takes a number of its own is open.",
        RejectionsWithoutNumber,
    ),
    Variant(
        "echoes-without-subscription",
        "Whoever dispatches to a channel without following it gets the echo all the same.",
        "A-22: an echo is not required, and not forbidden.",
        EchoesWithoutSubscription,
    ),
    Variant(
        "snapshots-for-reconnect",
        "A client that comes back gets snapshots, because next to nothing is kept for a replay.",
        "lifecycle.md: snapshots when the gap exceeds the buffer, whose depth is the host's (A-42).",
        SnapshotsForReconnect,
    ),
    Variant(
        "other-times",
        "Times have microseconds and an offset instead of a Z.",
        "The types ask for ISO 8601, without a precision.",
        OtherTimes,
    ),
    Variant(
        "extra-members",
        "Objects have members that no type names, and _meta.",
        "versioning.md: unknown members are ignored; _meta is the place for a host's own data.",
        ExtraMembers,
    ),
)
