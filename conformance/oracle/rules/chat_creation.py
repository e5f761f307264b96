"""createChat: which requests have to be refused, and what a chat that comes of one says about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, chats_in, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request
from conformance.protocol import ROOT_URI

_SOURCES = ("fork", "sideChat")


@dataclass(slots=True)
class Wish:
    """A createChat under way: what its text, the catalogue and the source said about it when it was sent."""

    request: Request
    # Obligations that make a success wrong, each with what is wrong with the request.
    refusals: dict[str, str] = field(default_factory=dict)
    # The chats that came into the catalogue of the session since then, as this connection was told.
    added: dict[str, Envelope] = field(default_factory=dict)
    follows: bool = False


class ChatCreation(Rule):
    """A chat is announced before its creation is answered; impossible requests are refused."""

    name = "chat-creation"
    hears = frozenset({"session/chatAdded", "session/chatRemoved"})
    obligations = (
        "AHP-CHAT-007",
        "AHP-CHAT-008",
        "AHP-CHAT-012",
        "AHP-CHAT-015",
        "AHP-CHAT-046",
        "AHP-CHAT-047",
        "AHP-CHAT-053",
        "AHP-CHAT-110",
        "AHP-CHAT-112",
        "AHP-CHAT-125",
        "AHP-CHAT-126",
        "AHP-CHAT-127",
        "AHP-CHAT-128",
        "AHP-CHAT-129",
        "AHP-CHAT-130",
        "AHP-CHAT-131",
        "AHP-WD-108",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._wishes: dict[tuple[str, int | str], Wish] = {}
        # What was asked for the chats that were made here.
        self._origins: Bounded[str, dict[str, JSON]] = Bounded(1024)
        # Disposals that are under way.
        self._disposing: dict[tuple[str, int | str], str] = {}

    def request(self, request: Request) -> None:
        if request.method in ("disposeChat", "disposeSession"):
            self._disposing[(request.conn, request.id)] = text(request.params.get("channel")) or ""
        session, chat = text(request.params.get("channel")), text(request.params.get("chat"))
        version = self.version(request.conn)
        if request.method != "createChat" or session is None or chat is None or version is None:
            return
        wish = Wish(request)
        view = self.tracker.connection(request.conn).channels.get(session)
        wish.follows = view is not None and view.live and not view.late
        wish.refusals = self._refusals(request, session, chat, version)
        own = wish.follows and view is not None and chat in chats_in(view.state)
        if not own or not {session, chat}.isdisjoint(self._disposing.values()):
            # It may be gone by the time that the host comes to this.
            wish.refusals.pop("AHP-CHAT-046", None)
        self._wishes[(request.conn, request.id)] = wish
        self._origins.pop(chat, None)

    # -- what has to be refused -----------------------------------------------------------------------

    def _refusals(self, request: Request, session: str, chat: str, version: str) -> dict[str, str]:
        params, source = request.params, request.params.get("source")
        found: dict[str, str] = {}
        catalogue = self._catalogue(session)
        if catalogue is not None and chat in catalogue:
            found["AHP-CHAT-046"] = "the URI of a chat that exists"
        kind = member(member(params.get("initialMessage"), "origin"), "kind")
        if isinstance(kind, str) and kind != "user":
            found["AHP-CHAT-053"] = f"an initialMessage with the origin {kind}"
        if version >= "0.7.0":
            own = member(self._state(session), "workingDirectories")
            asked = params.get("workingDirectories")
            if isinstance(own, list) and isinstance(asked, list) and not isinstance(source, dict):
                foreign = [entry for entry in asked if entry not in own]
                found.update(
                    {"AHP-WD-108": f"directories that the session does not have: {foreign}"} if foreign else {}
                )
        if isinstance(source, dict):
            found.update(self._source(request, source, version, catalogue))
        return found

    def _source(
        self, request: Request, source: dict[str, JSON], version: str, catalogue: set[str] | None
    ) -> dict[str, str]:
        session, chat = request.params["channel"], request.params["chat"]
        unknown = "AHP-CHAT-127" if version >= "0.7.0" else "AHP-CHAT-047"
        origin, turn, kind = text(source.get("chat")), text(source.get("turnId")), source.get("kind")
        found: dict[str, str] = {}
        if version >= "0.7.0":
            if kind not in _SOURCES:
                # Later versions may know more kinds; one that is no text can never be one.
                return {"AHP-CHAT-125": f"a source of the kind {kind!r}"}
            several = self._several_chats(session)
            if several is not None and several.get(kind) is not True:
                found["AHP-CHAT-110"] = f"a source of the kind {kind}, which the agent does not advertise"
            if origin is not None and origin == chat:
                found["AHP-CHAT-128"] = "a source that is the chat to be created"
            if kind == "sideChat" and member(source.get("selection"), "text") == "":
                found["AHP-CHAT-131"] = "a selection without text"
        if origin is None or origin == chat:
            return found
        owner = self._owner(origin)
        if version >= "0.7.0" and owner is not None and owner != session:
            found["AHP-CHAT-126"] = f"a source chat of the session {owner}"
        elif owner is None and catalogue is not None and not any(v.live for _, v in self.tracker.views(origin)):
            found[unknown] = "a source chat that is not in the catalogue"
        if owner == session and turn is not None:
            own = self.tracker.connection(request.conn).channels.get(origin)
            active = member(active_turn(own.state), "id") if own is not None and own.live else None
            # Only what this client was told is sure to be as far as the answer.
            if turn == active and version >= "0.7.0" and kind == "fork":
                found["AHP-CHAT-129"] = "a fork at a turn that is still active"
            if self._is_without(origin, turn):
                found[unknown] = "a source turn that the chat does not have"
        return found

    def _is_without(self, chat: str, turn: str) -> bool:
        """Whether nobody who follows the whole of a chat knows a turn; some may be behind others."""
        states = [v.state for c, v in self.tracker.views(chat) if v.live and c.fed and c.version is not None]
        known = [member(active_turn(state), "id") for state in states]
        known += [entry.get("id") for state in states for entry in dicts(member(state, "turns"))]
        whole = all(isinstance(state, dict) and state.get("turnsNextCursor") is None for state in states)
        return bool(states) and whole and turn not in known

    def _state(self, channel: str) -> JSON:
        """The fold of somebody who follows a channel."""
        for connection, view in self.tracker.views(channel):
            if view.live and connection.fed and connection.version is not None:
                return view.state
        return None

    def _catalogue(self, session: str) -> set[str] | None:
        state = self._state(session)
        return set(chats_in(state)) if isinstance(state, dict) else None

    def _owner(self, chat: str) -> str | None:
        """The session that lists a chat, as far as anybody follows it."""
        for connection in self.tracker.connections.values():
            for view in connection.channels.values() if connection.fed else ():
                if view.kind == "session" and view.live and chat in chats_in(view.state):
                    return view.channel
        return None

    def _several_chats(self, session: str) -> dict[str, JSON] | None:
        """What the agent of a session says of several chats; None when it is not known."""
        provider = member(self._state(session), "provider")
        for agent in dicts(member(self._state(ROOT_URI), "agents")):
            if provider is not None and agent.get("provider") == provider:
                several = member(agent.get("capabilities"), "multipleChats")
                return several if isinstance(several, dict) else {}
        return None

    # -- what comes of it -----------------------------------------------------------------------------

    def reply(self, reply: Reply) -> None:
        if reply.request is not None:
            self._disposing.pop((reply.conn, reply.request.id), None)
        wish = self._wishes.pop((reply.conn, reply.request.id), None) if reply.request is not None else None
        if wish is None:
            return
        version = self.version(reply.conn) or ""
        params = wish.request.params
        self.watch(*wish.refusals)
        if reply.failed:
            return
        self._origins[params["chat"]] = params
        told = wish.added.get(params["chat"])
        if told is not None:
            self._origin(told, params, told.get("summary"))
        # What is wrong with a request must still be so when it is answered, as others may have changed it meanwhile.
        still = self._refusals(wish.request, params["channel"], params["chat"], version)
        for obligation, why in wish.refusals.items():
            if obligation == "AHP-CHAT-046" or obligation in still:
                self.find(
                    obligation,
                    f"createChat was carried out with {why}",
                    expected="an error",
                    seen=params,
                    frame=reply.frame.n,
                )
        if wish.follows and not wish.refusals:
            self._announced(wish, reply)

    def _announced(self, wish: Wish, reply: Reply) -> None:
        chat, session = wish.request.params["chat"], wish.request.params["channel"]
        view = self.tracker.connection(reply.conn).channels.get(session)
        if view is None or not view.live:
            return
        self.watch("AHP-CHAT-007", "AHP-CHAT-008")
        if chat in wish.added or chat in chats_in(view.state):
            return
        self.find(
            "AHP-CHAT-008" if wish.added else "AHP-CHAT-007",
            "the chat was created at another URI"
            if wish.added
            else "createChat was answered before the chat was announced",
            expected=f"session/chatAdded for {chat} ahead of the answer",
            seen=sorted(wish.added) or "no session/chatAdded",
            frame=reply.frame.n,
        )

    def envelope(self, envelope: Envelope) -> None:
        if envelope.type == "session/chatRemoved":
            for wish in self._wishes.values() if envelope.accepted else ():
                if wish.request.params["chat"] == envelope.get("chat"):
                    wish.refusals.pop("AHP-CHAT-046", None)
            return
        summary = envelope.get("summary")
        chat = text(member(summary, "resource"))
        if not envelope.accepted or chat is None or not isinstance(summary, dict):
            return
        for wish in self._wishes.values():
            if wish.request.conn == envelope.conn and wish.request.params["channel"] == envelope.channel:
                wish.added[chat] = envelope
        params = self._origins.get(chat)
        if params is not None and params.get("channel") == envelope.channel:
            self._origin(envelope, params, summary)

    def _origin(self, envelope: Envelope, params: dict[str, JSON], summary: dict[str, JSON]) -> None:
        source, origin = params.get("source"), summary.get("origin")
        if not isinstance(source, dict):
            self.watch("AHP-CHAT-015")
            if origin is not None and member(origin, "kind") != "user":
                self._differs(envelope, "AHP-CHAT-015", "a chat of a client has another origin", "user", origin)
            return
        kind = text(source.get("kind")) or "fork"
        if kind not in _SOURCES:
            return
        obligation = "AHP-CHAT-012" if kind == "fork" else "AHP-CHAT-130"
        self.watch(obligation)
        expected = {"kind": kind, "chat": source.get("chat"), "turnId": source.get("turnId")}
        if any(member(origin, name) != value for name, value in expected.items()):
            self._differs(envelope, obligation, "the origin of a chat does not name its source", expected, origin)
        words = text(member(source.get("selection"), "text")) if kind == "sideChat" else None
        if words and isinstance(origin, dict):
            self.watch("AHP-CHAT-112")
            told = member(origin.get("selection"), "text")
            if told != words:
                message = "the selection of a side chat is not what was sent"
                self._differs(envelope, "AHP-CHAT-112", message, words, told)

    def _differs(self, envelope: Envelope, obligation: str, message: str, expected: Any, seen: Any) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=seen if seen is not None else "absent",
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
