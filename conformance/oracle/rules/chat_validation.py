"""What clients do on a chat is taken or refused as the state of the chat demands."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, chats_in, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI, Window, action_violations
from conformance.protocol.status import IS_ARCHIVED

from .chat_demands import DEMANDS, ChatMemory, Demand, client_of, demands_on
from .chat_places import parts_of

_MOST_CHATS = 256
# What is due to the owner of a tool while it is an active client of the session.
_OF_ACTIVE_CLIENTS = frozenset({"AHP-CLTOOL-007", "AHP-CLTOOL-023"})
_SINCE = {"AHP-CHAT-104": Window("0.9.0")}


class ChatValidation(Rule):
    """Judges the echo of each action of a client by the fold right before it."""

    name = "chat-validation"
    hears = frozenset({*DEMANDS, "chat/turnComplete"})
    obligations = (
        "AHP-CHAT-104",
        "AHP-CLTOOL-007",
        "AHP-CLTOOL-008",
        "AHP-CLTOOL-009",
        "AHP-CLTOOL-020",
        "AHP-CLTOOL-023",
        "AHP-CONF-016",
        "AHP-CONF-021",
        "AHP-CONF-022",
        "AHP-CONF-025",
        "AHP-DRAFT-004",
        "AHP-INPUTREQ-009",
        "AHP-INPUTREQ-010",
        "AHP-INPUTREQ-011",
        "AHP-INPUTREQ-012",
        "AHP-INPUTREQ-013",
        "AHP-INPUTREQ-017",
        "AHP-INPUTREQ-020",
        "AHP-INPUTREQ-021",
        "AHP-PEND-011",
        "AHP-PEND-012",
        "AHP-PEND-016",
        "AHP-TOOL-016",
        "AHP-TRUNC-006",
        "AHP-TRUNC-011",
        "AHP-TURN-001",
        "AHP-TURN-011",
        "AHP-TURN-012",
        "AHP-TURN-014",
        "AHP-TURN-025",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chats: Bounded[str, ChatMemory] = Bounded(_MOST_CHATS)
        # Clients whose truncations were taken, in whatever chat.
        self._truncators: set[str] = set()

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not isinstance(envelope.before, dict):
            return
        memory = self._chats.setdefault(envelope.channel, ChatMemory(truncators=self._truncators))
        version = envelope.version
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        if client_of(envelope) is not None and version is not None and view is not None and not view.late:
            if envelope.type == "chat/turnStarted" and not envelope.accepted:
                memory.ready = self._is_ready(envelope)
            for demand in demands_on(envelope, memory):
                if demand.obligation not in _SINCE or _SINCE[demand.obligation].contains(version):
                    self._judge(envelope, demand, version)
        if envelope.accepted:
            self._remember(envelope, memory)

    def _judge(self, envelope: Envelope, demand: Demand, version: str) -> None:
        if demand.refuse is not envelope.accepted:
            # That a turn was taken counts only once the agent has done something with it.
            if demand.obligation != "AHP-TURN-001":
                self.watch(demand.obligation)
            return
        if not demand.refuse and (not _takes_input(envelope.before) or action_violations(version, envelope.action)):
            return
        if not demand.refuse and self._is_new(envelope):
            return
        if not demand.refuse and not self.tracker.whole and self._session(envelope) is None:
            # Another client may have removed the chat, or archived its session.
            return
        if demand.obligation in _OF_ACTIVE_CLIENTS and not self._is_active(envelope):
            return
        self.find(
            demand.obligation,
            f"{'accepted' if envelope.accepted else 'rejected'}: {demand.why}",
            expected="a rejection" if demand.refuse else "an accepted echo",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, client_of(envelope), repr(member(envelope.origin, "clientSeq"))),
        )

    def _remember(self, envelope: Envelope, memory: ChatMemory) -> None:
        turn, client = text(envelope.get("turnId")) or "", client_of(envelope)
        if envelope.type == "chat/turnStarted":
            memory.starters[turn] = client
            memory.dropped = False
        elif envelope.type == "chat/truncated":
            memory.dropped = active_turn(envelope.before) is not None and active_turn(envelope.after) is None
            if client is not None and len(self._truncators) < 64:
                self._truncators.add(client)
        elif envelope.type == "chat/toolCallComplete" and envelope.origin is None:
            memory.completed[(turn, str(envelope.get("toolCallId")))] = None
        elif envelope.type == "chat/turnComplete":
            active = active_turn(envelope.before)
            started = memory.starters.get(turn) is not None and member(active, "id") == turn
            if started and parts_of(active):
                self.watch("AHP-TURN-001")

    def gone(self, channel: str) -> None:
        self._chats.pop(channel, None)

    def _session(self, envelope: Envelope) -> JSON:
        """The state of the chat's session, as far as this connection knows it."""
        for view in self.tracker.connection(envelope.conn).channels.values():
            if view.kind == "session" and view.live and envelope.channel in chats_in(view.state):
                return view.state
        return None

    def _is_new(self, envelope: Envelope) -> bool:
        """Whether the session is not ready yet, and the chat unused: what it takes then is open (AMB-10)."""
        session, chat = self._session(envelope), envelope.before
        used = member(chat, "turns") or active_turn(chat) is not None
        return session is not None and member(session, "lifecycle") != "ready" and not used

    def _is_active(self, envelope: Envelope) -> bool:
        """Whether the client is known to offer its tools still."""
        active = dicts(member(self._session(envelope), "activeClients"))
        return any(client.get("clientId") == client_of(envelope) for client in active)

    def _is_ready(self, envelope: Envelope) -> bool:
        """Whether the session of a chat is known to be ready and not archived, and no agent wants credentials."""
        channels = self.tracker.connection(envelope.conn).channels
        if ROOT_URI not in channels or not channels[ROOT_URI].live:
            return False
        if any(agent.get("protectedResources") for agent in dicts(member(channels[ROOT_URI].state, "agents"))):
            return False
        session = self._session(envelope)
        return member(session, "lifecycle") == "ready" and not _archived(session)


def _takes_input(chat: JSON) -> bool:
    return member(chat, "interactivity") in (None, "full") and not _archived(chat)


def _archived(state: JSON) -> bool:
    status = member(state, "status")
    return isinstance(status, int) and bool(status & IS_ARCHIVED)
