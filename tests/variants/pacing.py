"""Other paces: networks with a delay, hosts that think before they act, news that comes late.

Nothing here sleeps: the host's own deadlines say when it goes on, some milliseconds later.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Callable
from typing import Any, Final

from conformance.host.channels import Channel, Session
from conformance.host.peers import Peer

from .hosts import Variant, VariantHost

JSON = Any


class Paced(VariantHost):
    """A host that can put things off."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        super().__init__(*args, **more)

    def put_off(self, seconds: float, work: Callable[[], None]) -> None:
        """Do something later; what is put off equally long stays in order."""
        heapq.heappush(self._due, (self.clock() + seconds, next(self._order), work))

    def next_deadline(self) -> float | None:
        other = super().next_deadline()
        due = self._due[0][0] if self._due else None
        return min((moment for moment in (other, due) if moment is not None), default=None)

    def tick(self) -> None:
        now = self.clock()
        while self._due and self._due[0][0] <= now:
            heapq.heappop(self._due)[2]()
        super().tick()


class SlowDelivery(Paced):
    """What goes out to every second connection takes its time."""

    def open(self, send: Callable[[str], None], close: Callable[[int], None]) -> Peer:
        self.scratch["peers"] = number = self.scratch.get("peers", 0) + 1
        if number % 2 == 0:
            return super().open(send, close)
        return super().open(
            lambda text: self.put_off(0.002, lambda: send(text)),
            lambda code: self.put_off(0.002, lambda: close(code)),
        )


class SlowIntake(Paced):
    """What comes in from every second connection takes its time."""

    def open(self, send: Callable[[str], None], close: Callable[[int], None]) -> Peer:
        peer = super().open(send, close)
        slow = self.scratch.setdefault("slow", set())
        self.scratch["peers"] = number = self.scratch.get("peers", 0) + 1
        if number % 2 == 0:
            slow.add(peer)
        return peer

    def receive(self, peer: Peer, data: str | bytes) -> None:
        if peer in self.scratch["slow"]:
            self.put_off(0.002, lambda: super(SlowIntake, self).receive(peer, data))
        else:
            super().receive(peer, data)

    def dropped(self, peer: Peer) -> None:
        if peer in self.scratch["slow"]:
            self.put_off(0.002, lambda: super(SlowIntake, self).dropped(peer))
        else:
            super().dropped(peer)


class PingsOvertake(Paced):
    """Pings are answered at once, whatever waits to be done."""

    def receive(self, peer: Peer, data: str | bytes) -> None:
        if isinstance(data, str) and '"ping"' in data and '"method"' in data:
            super().receive(peer, data)
        else:
            self.put_off(0.002, lambda: super(PingsOvertake, self).receive(peer, data))

    def dropped(self, peer: Peer) -> None:
        self.put_off(0.002, lambda: super(PingsOvertake, self).dropped(peer))


class SlowAgent(Paced):
    """The agent goes on a moment after there was a reason to."""

    def settle(self) -> None:
        touched, self._touched = self._touched, {}
        while self._later:
            self._later.popleft()()
        touched.update(self._touched)
        self._touched = {}
        if touched:
            self.put_off(0.002, lambda: self._go_on(touched))
        while self._idle and not touched:
            self._idle.popleft()()

    def _go_on(self, touched: Any) -> None:
        self._touched.update(touched)
        VariantHost.settle(self)


class LateEntries(Paced):
    """What a session repeats of its chats comes a moment after them."""

    _LATE: Final = frozenset({"session/inputNeededSet", "session/inputNeededRemoved", "session/chatUpdated"})

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        kind = action(self.versions[0])["type"] if callable(action) else action["type"]
        if kind not in self._LATE or not isinstance(channel, Session):
            super().act(channel, action, origin)
            return

        def tell() -> None:
            if not channel.disposed:
                super(LateEntries, self).act(channel, action, origin)
                self.settle()

        self.put_off(0.03, tell)


class SlowAuthenticate(Paced):
    """A token is tried for a while; the connection goes on meanwhile."""

    def receive(self, peer: Peer, data: str | bytes) -> None:
        if isinstance(data, str) and '"method":"authenticate"' in data.replace(" ", ""):
            self.put_off(0.003, lambda: super(SlowAuthenticate, self).receive(peer, data))
        else:
            super().receive(peer, data)


class LateAnnouncements(Paced):
    """What the root tells of sessions comes a moment after it happened."""

    def announce(self, method: str, params: Callable[[str], JSON | None]) -> None:
        worded = {version: params(version) for version in self.versions}
        self.put_off(0.03, lambda: super(LateAnnouncements, self).announce(method, worded.get))


class LateFarewells(Paced):
    """Clients that left are taken off a moment later."""

    def retire(self, session: Session, client_id: str, cause: str) -> None:
        def take_off() -> None:
            client = self.clients[client_id]
            if not any(peer in session.subscribers for peer in client.peers):
                super(LateFarewells, self).retire(session, client_id, cause)
                self.settle()

        self.put_off(0.03, take_off)


class OtherJson(VariantHost):
    """Indented, escaped, with the members the other way round."""

    def open(self, send: Callable[[str], None], close: Callable[[int], None]) -> Peer:
        return super().open(lambda text: send(_other(text)), close)


def _other(text: str) -> str:
    def turned(value: JSON) -> JSON:
        if isinstance(value, dict):
            return {name: turned(item) for name, item in reversed(value.items())}
        return [turned(item) for item in value] if isinstance(value, list) else value

    return json.dumps(turned(json.loads(text)), indent=1)


PACING: Final = (
    Variant(
        "slow-delivery",
        "Every second connection gets everything two milliseconds later than the others.",
        "Connections are independent of each other; no order between them is said.",
        SlowDelivery,
    ),
    Variant(
        "slow-intake",
        "What every second connection sends arrives two milliseconds later than what the others send.",
        "Connections are independent of each other; no order between them is said.",
        SlowIntake,
    ),
    Variant(
        "slow-agent",
        "The agent goes on two milliseconds after a message, a token, a confirmation.",
        "How long an agent takes is not said.",
        SlowAgent,
    ),
    Variant(
        "slow-authenticate",
        "A token is tried for three milliseconds before anything comes of it; other messages overtake it.",
        "AMB-24: a host may wait for the first use before it answers.",
        SlowAuthenticate,
    ),
    Variant(
        "pings-overtake",
        "Everything but a ping waits two milliseconds.",
        "JSON-RPC 2.0 has no order of requests; ping tells that the connection is alive, and no more.",
        PingsOvertake,
    ),
    Variant(
        "late-entries",
        "Entries of inputNeeded and of the catalogue follow what they repeat thirty milliseconds later.",
        "AMB-17: any order.",
        LateEntries,
    ),
    Variant(
        "late-announcements",
        "Notifications of the root come thirty milliseconds after what they tell of.",
        "root-channel.md: servers MAY debounce; no order of announcement and answer is said.",
        LateAnnouncements,
    ),
    Variant(
        "late-farewells",
        "A client that unsubscribed is taken off the active clients thirty milliseconds later.",
        "No time is said in which a client that left is taken off.",
        LateFarewells,
    ),
    Variant(
        "other-json",
        "Messages are indented, escape what is not ASCII, and have their members in another order.",
        "JSON (RFC 8259): space, escapes and the order of members mean nothing.",
        OtherJson,
    ),
)
