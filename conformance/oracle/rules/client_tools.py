"""Tools that clients run: whose call it is, who gives its result, and what becomes of it when the client goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import (
    JSON,
    active_turn,
    call_in,
    calls_in,
    chats_in,
    contributor_of,
    dicts,
    member,
    text,
)
from conformance.oracle.reading import texts as strings
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, Dispatch, Envelope, Request, Snapshot

_Call = tuple[str, str, str]


class ClientTools(Rule):
    """The calls of tools that a client contributes."""

    name = "client-tools"
    hears = frozenset(
        {
            "chat/turnStarted",
            "chat/toolCallStart",
            "chat/toolCallReady",
            "chat/toolCallConfirmed",
            "chat/toolCallComplete",
            "chat/turnComplete",
            "chat/turnCancelled",
            "chat/error",
            "session/activeClientSet",
            "session/activeClientRemoved",
            "session/inputNeededSet",
        }
    )
    obligations = (
        "AHP-CLTOOL-005",
        "AHP-CLTOOL-006",
        "AHP-CLTOOL-011",
        "AHP-CLTOOL-016",
        "AHP-CLTOOL-017",
        "AHP-CLTOOL-022",
        "AHP-CLTOOL-024",
        "AHP-CLTOOL-025",
        "AHP-TOOL-013",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Client -> the names of all tools that it ever offered.
        self._offered: Bounded[str, set[str]] = Bounded(256)
        # Calls whose client was removed while it ran them, with the number of chats that this concerned.
        self._orphans: Bounded[_Call, int] = Bounded(256)
        # Calls that were handed to their client while they waited for a confirmation.
        self._early: Bounded[_Call, None] = Bounded(256)
        # Session and client -> the serverSeq of its removal; chat -> that of the start of its turn.
        self._left: Bounded[tuple[str, str], int] = Bounded(256)
        self._began: Bounded[str, int] = Bounded(1024)

    def gone(self, channel: str) -> None:
        self._began.pop(channel, None)
        books: tuple[Bounded[Any, Any], ...] = (self._orphans, self._early, self._left)
        for kept in books:
            for key in [key for key in kept if key[0] == channel]:
                kept.pop(key, None)

    # -- what clients offer -------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        self._offers(request.params.get("activeClient"))

    def dispatch(self, dispatch: Dispatch) -> None:
        if member(dispatch.action, "type") == "session/activeClientSet":
            self._offers(member(dispatch.action, "activeClient"))

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session":
            if snapshot.folded is None:
                # Who was removed may have come and gone again while nobody looked.
                for key in [key for key in self._left if key[0] == snapshot.channel]:
                    del self._left[key]
            for client in dicts(member(snapshot.state, "activeClients")):
                self._offers(client)

    def _offers(self, client: JSON) -> None:
        identity = text(member(client, "clientId"))
        if identity is not None:
            names = strings([tool.get("name") for tool in dicts(member(client, "tools"))])
            offered = self._offered.setdefault(identity, set())
            if len(offered) < 1024:
                offered.update(names)

    # -- calls --------------------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.type == "session/activeClientSet":
            self._offers(envelope.get("activeClient"))
        if not isinstance(envelope.before, dict):
            return
        if envelope.kind == "session":
            self._of_session(envelope)
        elif envelope.kind == "chat":
            self._of_chat(envelope)

    def _of_session(self, envelope: Envelope) -> None:
        if envelope.type == "session/activeClientRemoved":
            self._removed(envelope, text(envelope.get("clientId")))
        elif envelope.type == "session/activeClientSet":
            back = text(member(envelope.get("activeClient"), "clientId"))
            self._left.pop((envelope.channel, back or ""), None)
            for key, call in self._calls_of(envelope, back):
                if call.get("status") == "running":
                    self._orphans.pop(key, None)
        else:
            entry = envelope.get("request")
            if member(entry, "kind") == "toolClientExecution":
                self._handed_out(envelope, entry)

    def _calls_of(self, envelope: Envelope, client: str | None) -> Iterator[tuple[_Call, dict[str, JSON]]]:
        """The calls of a client in the active turns of the session's chats, as this connection knows them."""
        channels = self.tracker.connection(envelope.conn).channels
        for chat in chats_in(envelope.before):
            view = channels.get(chat)
            turn = active_turn(view.state) if view is not None and view.live else None
            for call in calls_in(turn):
                if client is not None and _owner(call) == client:
                    yield (chat, str(member(turn, "id")), str(call.get("toolCallId"))), call

    def _removed(self, envelope: Envelope, client: str | None) -> None:
        if not any(member(c, "clientId") == client for c in dicts(member(envelope.before, "activeClients"))):
            return
        if client is not None and self._offered.get(client) and isinstance(envelope.seq, int):
            self._left[(envelope.channel, client)] = envelope.seq
        running = [key for key, call in self._calls_of(envelope, client) if call.get("status") == "running"]
        chats = len({chat for chat, _, _ in running})
        for key in running:
            self._orphans[key] = chats

    def _handed_out(self, envelope: Envelope, entry: JSON) -> None:
        chat, turn = text(member(entry, "chat")) or "", member(entry, "turnId")
        view = self.tracker.connection(envelope.conn).channels.get(chat)
        if view is None or not view.live or member(active_turn(view.state), "id") != turn:
            return
        identity = member(member(entry, "toolCall"), "toolCallId")
        call = call_in(active_turn(view.state), identity)
        if member(call, "status") == "pending-confirmation" and contributor_of(call) == "client":
            self._early[(chat, str(turn), str(identity))] = None

    def _of_chat(self, envelope: Envelope) -> None:
        if envelope.type == "chat/turnStarted":
            if isinstance(envelope.seq, int):
                self._began[envelope.channel] = envelope.seq
            return
        turn = active_turn(envelope.before)
        if turn is None or turn.get("id") != envelope.get("turnId"):
            return
        if envelope.type == "chat/toolCallStart":
            self._started(envelope)
            return
        if not envelope.type.startswith("chat/toolCall"):
            self._turn_ends(envelope, turn)
            return
        call = call_in(turn, envelope.get("toolCallId"))
        if call is None or contributor_of(call) != "client":
            return
        key = (envelope.channel, str(turn.get("id")), str(call.get("toolCallId")))
        after = call_in(active_turn(envelope.after), envelope.get("toolCallId"))
        if envelope.type == "chat/toolCallComplete":
            if call.get("status") == "running":
                self._completed(envelope, key)
            return
        if member(after, "status") == "running" and call.get("status") != "running":
            self._runs(envelope, call, after)
        if envelope.type == "chat/toolCallConfirmed" and call.get("status") == "pending-confirmation":
            self.watch("AHP-CLTOOL-025")
            if key in self._early and member(after, "status") == "cancelled":
                self._find(
                    envelope,
                    ("AHP-CLTOOL-025",),
                    "a call was handed to its client, and then denied",
                    "no toolClientExecution entry before the approval",
                )
            self._early.pop(key, None)

    def _started(self, envelope: Envelope) -> None:
        contributor, name = envelope.get("contributor"), text(envelope.get("toolName")) or ""
        if member(contributor, "kind") == "client":
            self._of_client(envelope, text(member(contributor, "clientId")) or "", name)
            return
        session = self._session(envelope)
        if contributor is not None or session is None:
            return
        clients = dicts(member(session, "activeClients"))
        active = [text(c.get("clientId")) or "" for c in clients]
        # A client may have taken back what it once offered.
        offering = [c.get("clientId") for c in clients if name in [tool.get("name") for tool in dicts(c.get("tools"))]]
        own = member(session, "serverTools")
        if not offering:
            self.watch(*(["AHP-TOOL-013"] if any(self._offered.get(client) for client in active) else []))
        elif isinstance(own, list) and all(tool.get("name") != name for tool in dicts(own)):
            self._find(
                envelope,
                ("AHP-CLTOOL-005",),
                "a call of a tool that only a client offers names no contributor",
                f"a contributor of kind client with the clientId {offering}",
            )

    def _of_client(self, envelope: Envelope, client: str, name: str) -> None:
        """Hosts may offer a tool to the agent under another name, so that only who offers nothing is surely wrong."""
        self.watch("AHP-CLTOOL-005")
        if client in self._gone_before(envelope):
            self._find(envelope, ("AHP-CLTOOL-022",), "a call of a client that was removed before the turn", "none")
        if self._offered.get(client) or not self.tracker.connection(envelope.conn).began:
            return
        session = self._session_view(envelope)
        if session is None:
            return
        active = [member(c, "clientId") for c in dicts(member(session.state, "activeClients"))]
        if client not in active and self._began.get(envelope.channel, -1) < session.since:
            # It may have been removed during this turn, before anybody was here to see it.
            return
        others = [other for other, names in self._offered.items() if name in names]
        self._find(
            envelope,
            ("AHP-CLTOOL-005",) if others else ("AHP-TOOL-013",),
            "a call names a client that offers no tools",
            f"the clientId {others}" if others else "no contributor",
        )

    def _gone_before(self, envelope: Envelope) -> set[str]:
        """Clients with tools that were removed from the chat's session before its turn began."""
        began = self._began.get(envelope.channel, -1)
        for name, view in self.tracker.connection(envelope.conn).channels.items():
            if view.kind == "session" and view.live and envelope.channel in chats_in(view.state):
                active = {text(member(c, "clientId")) for c in dicts(member(view.state, "activeClients"))}
                return {c for (s, c), seq in self._left.items() if s == name and seq < began and c not in active}
        return set()

    def _session(self, envelope: Envelope) -> JSON:
        """The state of the chat's session, as this connection knows it."""
        view = self._session_view(envelope)
        return view.state if view is not None else None

    def _session_view(self, envelope: Envelope) -> ChannelView | None:
        for view in self.tracker.connection(envelope.conn).channels.values():
            if view.kind == "session" and view.live and envelope.channel in chats_in(view.state):
                return view
        return None

    def _runs(self, envelope: Envelope, call: dict[str, JSON], after: JSON) -> None:
        given, streamed = member(after, "toolInput"), call.get("partialInput") or call.get("toolInput")
        if given is not None:
            self.watch("AHP-CLTOOL-024")
        elif streamed:
            self._find(envelope, ("AHP-CLTOOL-024",), "a client's call runs without the arguments it had", "toolInput")

    def _completed(self, envelope: Envelope, key: _Call) -> None:
        orphaned = self._orphans.pop(key, 0)
        result = envelope.get("result")
        if envelope.origin is not None:
            self.watch("AHP-CLTOOL-006")
            return
        if orphaned:
            self.watch("AHP-CLTOOL-016", *(["AHP-CLTOOL-017"] if orphaned > 1 else []))
        if member(result, "success") is not False:
            broken = ("AHP-CLTOOL-016",) if orphaned else ("AHP-CLTOOL-006",)
            self._find(envelope, broken, "the host answers a client's call with success", "the result of the owner")
            return
        self.watch("AHP-CLTOOL-011")
        if text(member(member(result, "error"), "message")) is None:
            self._find(envelope, ("AHP-CLTOOL-011",), "a client's call is given up without saying why", "an error")

    def _turn_ends(self, envelope: Envelope, turn: JSON) -> None:
        if envelope.type == "chat/turnComplete" and self._left and self._gone_before(envelope):
            self.watch("AHP-CLTOOL-022")
        for call in calls_in(turn):
            key = (envelope.channel, str(member(turn, "id")), str(call.get("toolCallId")))
            orphaned = self._orphans.pop(key, 0)
            if orphaned and call.get("status") == "running" and envelope.type == "chat/turnComplete":
                self._find(
                    envelope,
                    ("AHP-CLTOOL-016", *(["AHP-CLTOOL-017"] if orphaned > 1 else [])),
                    "the call of a removed client is not completed before its turn",
                    "chat/toolCallComplete with success false",
                )

    def _find(self, envelope: Envelope, obligations: tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            obligations,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )


def _owner(call: JSON) -> str | None:
    return text(member(member(call, "contributor"), "clientId")) if contributor_of(call) == "client" else None
