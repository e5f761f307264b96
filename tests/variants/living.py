"""Other ways in which sessions, chats and agents come about, and how clients hear of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.host import guarded, mirror
from conformance.host.channels import Channel, Chat, Session, summary_of
from conformance.host.core import ROOT
from conformance.host.peers import Peer

from .hosts import Variant, VariantHost

JSON = Any


class Unready(VariantHost):
    """Sessions whose `session/ready` is held back."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self.unready: dict[str, Session] = {}
        super().__init__(*args, **more)

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        kind = None if callable(action) else action["type"]
        if kind == "session/ready" and isinstance(channel, Session) and "held" not in action:
            self.unready[channel.uri] = channel
            self.hide(channel)
            return
        super().act(channel, action, origin)

    def hide(self, session: Session) -> None:
        """What else is not there yet."""

    def become_ready(self, uri: str) -> None:
        session = self.unready.pop(uri, None)
        if session is not None and not session.disposed:
            self.show(session)

    def show(self, session: Session) -> None:
        super().act(session, {"type": "session/ready"})

    def session_of(self, message: JSON) -> str | None:
        """The session that is not ready yet and that a message is about."""
        uri = (message.get("params") or {}).get("channel") if isinstance(message.get("params"), dict) else None
        if uri in self.unready:
            return str(uri)
        channel = self.channels.get(uri) if isinstance(uri, str) else None
        found = channel.session.uri if isinstance(channel, Chat) else None
        return found if found in self.unready else None


class CreatingFirst(Unready):
    """Ready, and with a chat, a moment after the first client looked."""

    def hide(self, session: Session) -> None:
        for version, state in session.folds.items():
            kept = {name: value for name, value in state.items() if name != "defaultChat"}
            session.folds[version] = {**kept, "chats": []}

    def show(self, session: Session) -> None:
        for chat in list(session.chats.values()):
            self._list(session, chat)
        (default, *_) = session.chats
        self.act(session, {"type": "session/defaultChatChanged", "defaultChat": default})
        super().show(session)

    def _list(self, session: Session, chat: Chat) -> None:
        self.act(
            session,
            lambda version: {"type": "session/chatAdded", "summary": mirror.catalogue_entry(chat, version)},
        )

    def received(self, peer: Peer, message: JSON) -> None:
        super().received(peer, message)
        uri = self.session_of(message)
        if uri is None:
            return
        if message["method"] == "subscribe":
            self.when_idle(lambda: self.become_ready(uri))
        else:
            self.become_ready(uri)


class ReadyWithTheFirstTurn(Unready):
    """Ready, announced and listed only once a message was put to the agent."""

    def announce(self, method: str, params: Callable[[str], JSON | None]) -> None:
        named = params(self.versions[0]) or {}
        uri = named.get("session") or named.get("summary", {}).get("resource")
        if uri not in self.unready:
            super().announce(method, params)

    def received(self, peer: Peer, message: JSON) -> None:
        super().received(peer, message)
        uri = self.session_of(message)
        params = message.get("params")
        if uri is None or not isinstance(params, dict):
            return
        action = params.get("action")
        kind = action.get("type") if isinstance(action, dict) else None
        if kind in ("chat/turnStarted", "chat/pendingMessageSet") or "initialMessage" in params:
            self.become_ready(uri)

    def show(self, session: Session) -> None:
        super().show(session)
        self.announce("root/sessionAdded", lambda version: {"summary": summary_of(session, version)})

    def answer(self, peer: Peer, message: JSON) -> None:
        if self.method_of(peer, message) == "listSessions" and "result" in message:
            items = [item for item in message["result"]["items"] if item["resource"] not in self.unready]
            message = {**message, "result": {**message["result"], "items": items}}
        super().answer(peer, message)


class RefusesEarlyTurns(CreatingFirst):
    """A session that is created only after its first turn was refused."""

    def hide(self, session: Session) -> None:
        """Its chat is there from the first."""

    def show(self, session: Session) -> None:
        Unready.show(self, session)

    def received(self, peer: Peer, message: JSON) -> None:
        VariantHost.received(self, peer, message)
        uri = self.session_of(message)
        if uri is not None and message["method"] != "subscribe":
            self.when_idle(lambda: self.become_ready(uri))


class BornRead(VariantHost):
    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        super().act(channel, action, origin)
        if not callable(action) and action["type"] == "session/ready":
            for version, state in channel.folds.items():
                channel.folds[version] = {**state, "status": state["status"] | 32}


class UnreadWithoutAWord(VariantHost):
    """A new turn makes its session unread in snapshots and summaries; no action says so."""

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if origin is None and not callable(action) and action["type"] == "session/isReadChanged":
            assert isinstance(channel, Session)
            for version, state in channel.folds.items():
                channel.folds[version] = {**state, "status": state["status"] & ~32}
            mirror.refresh(self, channel)
        else:
            super().act(channel, action, origin)


class EmptyLists(VariantHost):
    """Lists without an entry are there, and empty."""

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if not callable(action) and action["type"] == "session/ready" and isinstance(channel, Session):
            for version, state in channel.folds.items():
                channel.folds[version] = {"inputNeeded": [], "customizations": [], "changesets": [], **state}
            for chat in channel.chats.values():
                for version, state in chat.folds.items():
                    chat.folds[version] = {"queuedMessages": [], **state}
        super().act(channel, action, origin)


class Bare(VariantHost):
    """Nothing that is optional: no server info, no number of sessions, no origin of chats."""

    def answer(self, peer: Peer, message: JSON) -> None:
        if self.method_of(peer, message) == "initialize" and "result" in message:
            result = {name: value for name, value in message["result"].items() if name != "serverInfo"}
            message = {**message, "result": result}
        super().answer(peer, message)

    def _root_state(self) -> JSON:
        return {name: value for name, value in super()._root_state().items() if name != "activeSessions"}

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if not callable(action) and action["type"] == "root/activeSessionsChanged":
            return
        if not callable(action) and action["type"] == "session/ready" and isinstance(channel, Session):
            for chat in channel.chats.values():
                for version, state in chat.folds.items():
                    chat.folds[version] = {name: value for name, value in state.items() if name != "origin"}
            for version, state in channel.folds.items():
                chats = [{name: value for name, value in c.items() if name != "origin"} for c in state["chats"]]
                channel.folds[version] = {**state, "chats": chats}
        super().act(channel, action, origin)


class OwnIds(VariantHost):
    """Chats with an authority in their URI, ids that are mere numbers."""

    def mint(self, prefix: str) -> str:
        self.scratch["minted"] = number = self.scratch.get("minted", 0) + 1
        if prefix == "chat":
            return f"/default%20chat/{number}?x=é#f"
        return f"/{number}" if prefix == "mcp" else str(number)


class RemovesChatsFirst(VariantHost):
    def received(self, peer: Peer, message: JSON) -> None:
        super().received(peer, message)
        if message.get("method") == "disposeSession" and isinstance(message.get("params"), dict):
            session = self.sessions.get(message["params"].get("channel", ""))
            for chat in list(session.chats.values()) if session is not None else ():
                assert session is not None
                mirror.drop_entries(self, chat, "session/chatRemoved")
                self.act(session, {"type": "session/chatRemoved", "chat": chat.uri})


class MergedSummaries(VariantHost):
    """One root/sessionSummaryChanged for all that happened at once."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self._changes: dict[str, dict[str, JSON]] = {}
        super().__init__(*args, **more)

    def announce(self, method: str, params: Callable[[str], JSON | None]) -> None:
        if method != "root/sessionSummaryChanged":
            super().announce(method, params)
            return
        for version in self.versions:
            worded = params(version)
            if worded is not None:
                uri = worded["session"]
                if uri not in self._changes:
                    self._changes[uri] = {}
                    self.when_idle(lambda uri=uri: self._flush(uri))  # type: ignore[misc]
                self._changes[uri].setdefault(version, {}).update(worded["changes"])

    def _flush(self, uri: str) -> None:
        changes = self._changes.pop(uri)
        if uri in self.sessions:
            super().announce(
                "root/sessionSummaryChanged",
                lambda version: {"session": uri, "changes": changes[version]} if version in changes else None,
            )


class AnnouncedToAll(VariantHost):
    def announce(self, method: str, params: Callable[[str], JSON | None]) -> None:
        super().announce(method, params)
        if method in ("root/sessionAdded", "root/sessionRemoved"):
            for peer in [peer for peer in self.peers if peer.ready and peer not in self.root.subscribers]:
                worded = params(str(peer.version))
                if worded is not None:
                    self._send(peer, {"jsonrpc": "2.0", "method": method, "params": {"channel": ROOT, **worded}})


class OneChatEach(VariantHost):
    def received(self, peer: Peer, message: JSON) -> None:
        if message.get("method") in ("createChat", "disposeChat"):
            message["method"] = f"{message['method']} is not here"
        super().received(peer, message)

    def _root_state(self) -> JSON:
        state = super()._root_state()
        agents = [{name: value for name, value in agent.items() if name != "capabilities"} for agent in state["agents"]]
        return {**state, "agents": agents}


class SharedAgentTokens(VariantHost):
    """What one client has signed in for, everybody may use."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        demands = self.policy.demands_token

        def shared(host: Any, peer: Peer, provider: str) -> bool:
            return demands(host, peer, provider) and not any(
                guarded.RESOURCE in client.granted for client in self.clients.values()
            )

        setattr(self.policy, "demands_token", shared)  # noqa: B010


class NoAgentNeedsAToken(VariantHost):
    def _root_state(self) -> JSON:
        state = super()._root_state()
        return {**state, "agents": state["agents"][:1]}


class ClientsChooseTheDefaultChat(VariantHost):
    """session/defaultChatChanged by a client is accepted when it names a chat of the session."""

    _naming: tuple[Any, Any] = (None, None)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        may = self.policy.may_dispatch

        def choose(action_type: str, version: str) -> bool:
            if action_type != "session/defaultChatChanged":
                return may(action_type, version)
            uri, action = self._naming
            session = self.sessions.get(uri)
            return session is not None and action.get("defaultChat") in session.chats

        setattr(self.policy, "may_dispatch", choose)  # noqa: B010

    def received(self, peer: Peer, message: JSON) -> None:
        params = message.get("params")
        if message.get("method") == "dispatchAction" and isinstance(params, dict):
            self._naming = (params.get("channel"), params.get("action"))
        super().received(peer, message)


LIVING: Final = (
    Variant(
        "creating-first",
        "A session is `creating` and without chats at first; chat, default chat and ready follow the first snapshot.",
        "A-35 and A-43: session-channel.md has the first snapshot say creating, and the chat may come by chatAdded.",
        CreatingFirst,
    ),
    Variant(
        "ready-with-the-first-turn",
        "A session becomes ready, announced and listed only with its first turn.",
        "A-35: how long a session is creating is open; VS Code makes sessions for good with their first turn.",
        ReadyWithTheFirstTurn,
    ),
    Variant(
        "refuses-early-turns",
        "A session is creating until something was asked of it, and refuses turns before.",
        "AMB-10: chat-channel.md lets a turn be refused until the session is ready.",
        RefusesEarlyTurns,
    ),
    Variant(
        "born-read",
        "A new session is read by the client that made it: the status is 33.",
        "The flags of a new session are not said.",
        BornRead,
    ),
    Variant(
        "unread-without-a-word",
        "A new turn makes its session unread in snapshots and summaries, and no action says so.",
        "A-14: only the fold of the chat clears the flag.",
        UnreadWithoutAWord,
    ),
    Variant(
        "empty-lists",
        "Lists that have no entry yet are there and empty.",
        "inputNeeded, customizations, changesets and queuedMessages are optional; an empty list says the same.",
        EmptyLists,
    ),
    Variant(
        "bare",
        "Server info, the number of sessions and the origin of chats are left out.",
        "They are optional.",
        Bare,
    ),
    Variant(
        "own-ids",
        "Chat URIs of the host have an authority, a query and a fragment, and ids are plain numbers.",
        "URIs and ids are opaque; of a chat URI only the scheme is said.",
        OwnIds,
    ),
    Variant(
        "removes-chats-first",
        "The chats of a session are announced as removed before the session goes.",
        "A-23: the announcement is optional.",
        RemovesChatsFirst,
    ),
    Variant(
        "merged-summaries",
        "All changes of a summary that belong together come in one notification.",
        "root-channel.md: servers MAY coalesce or debounce root/sessionSummaryChanged.",
        MergedSummaries,
    ),
    Variant(
        "announced-to-all",
        "root/sessionAdded and root/sessionRemoved go to clients that do not follow the root too.",
        "A-31: one sentence has all clients hear of sessions.",
        AnnouncedToAll,
    ),
    Variant(
        "one-chat-each",
        "createChat and disposeChat are unknown, and no agent claims several chats.",
        "capabilities.multipleChats is optional; AMB-02 for disposeChat.",
        OneChatEach,
        withholds=("input-needed/several-chats/", "sessions/status/"),
    ),
    Variant(
        "shared-agent-tokens",
        "An agent's token that one client pushed serves all clients.",
        "A-20: nobody has to stay unauthenticated.",
        SharedAgentTokens,
        withholds=("authentication/",),
    ),
    Variant(
        "no-agent-needs-a-token",
        "No agent has protected resources.",
        "protectedResources is optional.",
        NoAgentNeedsAToken,
        withholds=("authentication/",),
    ),
    Variant(
        "clients-choose-the-default-chat",
        "session/defaultChatChanged of a client is accepted when it names a chat of the session.",
        "A-12, AMB-03: the prose lists it as a client action.",
        ClientsChooseTheDefaultChat,
    ),
)
