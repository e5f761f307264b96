"""The reference host without I/O: text of clients in, text for clients out, in a deterministic order.

Everything runs to its end inside `receive`, `dropped` or `tick`; nothing here waits, sleeps or knows
of sockets. What the agent waits for is kept as a condition and tried again after each input.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from conformance.backend.playbook import PLAYBOOK_KEY, PROVOCATIONS
from conformance.protocol import reduce

from . import agent, guarded, mirror, rpc
from .auth import Vault
from .channels import JSON, Channel, Chat, Log, Logged, Session
from .peers import Client, Peer
from .policy import Policy
from .upstream import UpstreamCall
from .versions import VERSIONS_SUPPORTED, knows, speak

if TYPE_CHECKING:
    from .agent import Turn
    from .faults.seams import Fault

ROOT: Final = "ahp-root://"
PROVIDER: Final = "scripted"
_log = logging.getLogger(__name__)

Wording = JSON | Callable[[str], JSON]
"""An action, or a function that gives it for a version where the versions hold different values."""


def iso_now() -> str:
    """The wall clock as ISO 8601 with milliseconds, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ReferenceHost:
    """A conforming AHP host whose agent plays playbooks.

    versions: supported protocol versions, oldest first. faults: ways in which this host shall be wrong.
    grace: seconds that a client may stay away before its sessions lose it. replay_limit: envelopes kept
    for reconnects. clock: seconds, for grace and durations. now: the wall clock as ISO 8601 text.
    """

    performer: type[agent.Turn] = agent.Turn
    """What performs the turns; a host with another agent has another one."""

    def __init__(
        self,
        versions: Sequence[str] = VERSIONS_SUPPORTED,
        faults: Iterable[Fault] = (),
        *,
        grace: float = 5.0,
        replay_limit: int = 4096,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = iso_now,
    ) -> None:
        self.versions: Final = tuple(versions)
        self.grace: Final = grace
        self.clock: Final = clock
        self.now: Final = now
        self.seq = 0
        self.log: Final = Log(replay_limit)
        self.policy: Final = Policy()
        self.vault: Final = Vault(self.policy)
        # Bounded, as a host may run for days.
        self.upstream: Final[deque[UpstreamCall]] = deque(maxlen=10_000)
        self.peers: Final[dict[Peer, None]] = {}
        self.clients: Final[dict[str, Client]] = {}
        self.away: Final[dict[str, float]] = {}
        self.scratch: Final[dict[str, Any]] = {}  # for faults that have to remember something
        self.faults: Final = tuple(faults)
        for fault in self.faults:
            for name, decision in fault.policy.items():
                if not hasattr(self.policy, name):
                    raise ValueError(f"fault {fault.name}: the policy has no decision {name!r}")
                setattr(self.policy, name, decision)
        self._outgoing = [fault.outgoing for fault in self.faults if fault.outgoing]
        self._acting = [fault.acting for fault in self.faults if fault.acting]
        self._incoming = [fault.incoming for fault in self.faults if fault.incoming]
        self._accepted = [fault.accepted for fault in self.faults if fault.accepted]
        self._overhearing = any("delivers" in fault.policy for fault in self.faults)
        self._touched: dict[Turn, None] = {}
        self._later: deque[Callable[[], None]] = deque()
        self.sessions: Final[dict[str, Session]] = {}
        self.channels: Final[dict[str, Channel]] = {}
        self.root: Final = Channel(ROOT, "root", 0, {version: self._root_state() for version in self.versions})
        self.channels[ROOT] = self.root

    # -- the shell's side -------------------------------------------------------------------------

    def open(self, send: Callable[[str], None], close: Callable[[int], None]) -> Peer:
        """A connection was made. `send` takes one text message, `close` a WebSocket close code."""
        peer = Peer(send, close)
        self.peers[peer] = None
        return peer

    def receive(self, peer: Peer, data: str | bytes) -> None:
        """A client sent one message: text, or bytes when it was a binary one."""
        if not peer.open:
            return
        rpc.receive(self, peer, data)
        self.settle()

    def dropped(self, peer: Peer) -> None:
        """A connection is gone. Calling it again does nothing."""
        if peer not in self.peers:
            return
        del self.peers[peer]
        peer.open = False
        for channel in peer.channels.values():
            channel.subscribers.pop(peer, None)
        peer.channels.clear()
        client = self.clients.get(peer.client_id) if peer.client_id is not None else None
        if client is not None and peer in client.peers:
            del client.peers[peer]
            if not client.peers and client.active_in and peer.client_id is not None:
                self.away[peer.client_id] = self.clock() + self.grace
            if not self.policy.keeps_blocks(self, peer):
                self.vault.forget_blocks_of(str(peer.client_id))
        self.settle()

    def next_deadline(self) -> float | None:
        """When, on the host's clock, `tick` has something to do; None when never."""
        return min(self.away.values(), default=None)

    def tick(self) -> None:
        """Take clients that stayed away too long off their sessions."""
        now = self.clock()
        for client_id in [client_id for client_id, deadline in self.away.items() if deadline <= now]:
            del self.away[client_id]
            client = self.clients[client_id]
            for session in list(client.active_in):
                if not any(peer in session.subscribers for peer in client.peers):
                    self.retire(session, client_id, "disconnect")
        self.settle()

    # -- actions ----------------------------------------------------------------------------------

    def act(self, channel: Channel, action: Wording, origin: JSON | None = None) -> None:
        """Dispatch an action: number it, fold it in every version, and deliver it.

        With an origin it is a client's that was accepted; without one it is the host's own.
        """
        if origin is None and self._acting:
            plain = action(self.versions[0]) if callable(action) else action
            wanted = [plain]
            for hook in self._acting:
                wanted = [result for entry in wanted for result in hook(self, channel, entry)]
            for entry in wanted:
                self._apply(channel, action if entry is plain else entry, origin)
            return
        self._apply(channel, action, origin)

    def _apply(self, channel: Channel, action: Wording, origin: JSON | None) -> None:
        spoken = {}
        for version in self.versions:
            worded = action(version) if callable(action) else action
            if knows(worded["type"], version):
                spoken[version] = speak(worded, version)
        self.seq += 1
        stamp = self.now()
        for version, worded in spoken.items():
            channel.folds[version] = reduce(channel.kind, channel.folds[version], worded, version, lambda: stamp)
        entry = Logged(self.seq, channel.uri, spoken, origin)
        self.log.add(entry)
        self.deliver(channel, entry)
        kind = next(iter(spoken.values()))["type"] if spoken else ""
        if isinstance(channel, Chat):
            if channel.turn is not None:
                self._touched[channel.turn] = None
            mirror.after_chat_action(self, channel, kind)
        elif isinstance(channel, Session):
            self._touched.update((chat.turn, None) for chat in channel.chats.values() if chat.turn is not None)
            mirror.after_session_action(self, channel, next(iter(spoken.values())))

    def reject(self, peer: Peer, channel: Channel, action: JSON, origin: JSON, reason: str) -> None:
        """Send an action back to the client that dispatched it, as refused. Others do not see it."""
        self.seq += 1
        spoken = dict.fromkeys(self.versions, action)
        entry = Logged(self.seq, channel.uri, spoken, origin, reason, peer.client_id)
        self.log.add(entry)
        if peer in channel.subscribers:
            self._send(peer, _notification("action", entry.params(str(peer.version))))

    def accepted(self, peer: Peer, channel: Channel, action: JSON) -> None:
        for hook in self._accepted:
            hook(self, peer, channel, action)

    def received(self, peer: Peer, message: JSON) -> None:
        for hook in self._incoming:
            hook(self, peer, message)

    # -- delivery ---------------------------------------------------------------------------------

    def deliver(self, channel: Channel, entry: Logged) -> None:
        """Send an envelope to the subscribers of its channel, serialised once per version."""
        texts: dict[str, str] = {}
        for peer in self._receivers(channel):
            version = str(peer.version)
            if self._outgoing:
                params = entry.params(version)
                if params is not None:
                    self._send(peer, _notification("action", params))
                continue
            text = texts.get(version)
            if text is None:
                params = entry.params(version)
                text = texts[version] = "" if params is None else _dump(_notification("action", params))
            if text:
                peer.send(text)

    def announce(self, method: str, params: Callable[[str], JSON | None]) -> None:
        """Send a notification of the root channel to its subscribers, worded for their versions."""
        for peer in self._receivers(self.root):
            worded = params(str(peer.version))
            if worded is not None:
                self._send(peer, _notification(method, {"channel": ROOT, **worded}))

    def announce_need(self, peer: Peer, resource: JSON) -> None:
        """Tell one client that it has no token yet for a resource of an agent, if it watches the root."""
        if peer in self.root.subscribers:
            params = {"channel": ROOT, "resource": resource, "reason": "required"}
            self._send(peer, _notification("auth/required", params))

    def answer(self, peer: Peer, message: JSON) -> None:
        """Send a response."""
        self._send(peer, message)

    def _receivers(self, channel: Channel) -> list[Peer]:
        receivers = list(channel.subscribers)
        if self._overhearing:
            receivers += [peer for peer in self.peers if peer.ready and self.policy.delivers(peer, channel)]
        return receivers

    def _send(self, peer: Peer, message: JSON) -> None:
        if not peer.open:
            return
        messages = [message]
        for hook in self._outgoing:
            messages = [result for entry in messages for result in hook(self, peer, entry)]
        for entry in messages:
            peer.send(_dump(entry))

    def close(self, peer: Peer, code: int) -> None:
        """End a connection from this side."""
        if peer.open:
            peer.close(code)
            self.dropped(peer)

    # -- turns ------------------------------------------------------------------------------------

    def touch(self, turn: Turn) -> None:
        """Have the turn look again at what it waits for."""
        self._touched[turn] = None

    def later(self, work: Callable[[], None]) -> None:
        """Do something once the response to the present request is out."""
        self._later.append(work)

    def settle(self) -> None:
        """Let every turn go on that can, until all wait."""
        while self._touched or self._later:
            if self._later:
                self._later.popleft()()
                continue
            turn = next(iter(self._touched))
            del self._touched[turn]
            try:
                turn.advance()
            except Exception:
                # A defect of the agent, or of a fault, ends this turn's work and nothing else.
                _log.exception("the reference host's agent failed")
                turn.stop()

    # -- clients ----------------------------------------------------------------------------------

    def retire(self, session: Session, client_id: str, cause: str) -> None:
        """Take a client off a session it is active in, and end the calls that only it could run."""
        if session.has_client(client_id) and self.policy.removes_client(cause):
            self.act(session, {"type": "session/activeClientRemoved", "clientId": client_id})
            agent.client_left(self, session, client_id)

    def advertised(self, resource: str) -> bool:
        """Whether a client could know the resource from this host."""
        if resource == guarded.RESOURCE:
            return True
        if self.vault.blocks_on(resource) or self.vault.was_challenged(resource):
            return True
        return any(
            server.resource == resource for session in self.sessions.values() for server in session.servers.values()
        )

    def mint(self, prefix: str) -> str:
        """A new id that nobody can take apart."""
        return f"{prefix}-{secrets.token_hex(8)}"

    def _root_state(self) -> JSON:
        return {
            "agents": [
                {
                    "provider": PROVIDER,
                    "displayName": "Scripted agent",
                    "description": "Plays the playbook in the user's message.",
                    "models": [{"id": "script", "provider": PROVIDER, "name": "Script"}],
                    "capabilities": {"multipleChats": {}},
                },
                guarded.AGENT,
            ],
            "activeSessions": 0,
            "_meta": {PLAYBOOK_KEY: {"playbook": 1, "provocations": list(PROVOCATIONS)}},
        }


def _notification(method: str, params: JSON) -> JSON:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _dump(message: JSON) -> str:
    return orjson.dumps(message).decode()
