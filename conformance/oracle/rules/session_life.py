"""Sessions: how their creation comes out, what they take over from it, and which client actions they take."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import ROOT_URI, action_violations

_OUTCOMES = ("session/ready", "session/creationFailed")
# Renaming is for every client too, but a host may have rules of its own about what a title is.
_FLAGS = ("session/isReadChanged", "session/isArchivedChanged")
_MOST_REJECTED = 16
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


class SessionLife(Rule):
    """One outcome of a creation; the provider, clients and directories that were asked for; legal changes only."""

    name = "session-life"
    hears = frozenset(
        {
            *_OUTCOMES,
            *_FLAGS,
            "root/configChanged",
            "session/activeClientRemoved",
            "session/configChanged",
            "session/defaultChatChanged",
            "session/workingDirectoryReplaced",
            "chat/workingDirectorySet",
        }
    )
    obligations = (
        "AHP-DISP-006",
        "AHP-DISP-007",
        "AHP-DISP-009",
        "AHP-ROOT-010",
        "AHP-SESS-005",
        "AHP-SESS-010",
        "AHP-SESS-016",
        "AHP-WD-101",
        "AHP-WD-102",
        "AHP-WD-103",
        "AHP-WD-110",
        "AHP-WD-111",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Session -> how its creation came out, for those that were seen while they were created.
        self._outcomes: Bounded[str, tuple[str, int]] = Bounded()
        # Session -> the connection and the params of the createSession that succeeded.
        self._made: Bounded[str, tuple[str, dict[str, JSON]]] = Bounded(1024)
        # Session -> flags of clients that were rejected, unless its end is on its way.
        self._rejected: Bounded[str, list[Envelope]] = Bounded(64)
        self._disposing: Bounded[str, None] = Bounded(1024)
        # Sessions that somebody asked to take an active client out of.
        self._left: Bounded[str, None] = Bounded(1024)

    def request(self, request: Request) -> None:
        session = text(request.params.get("channel"))
        if request.method == "disposeSession" and session is not None:
            self._made.pop(session, None)
            self._disposing[session] = None
        elif request.method == "createSession" and session is not None:
            self._disposing.pop(session, None)
            self._left.pop(session, None)

    def dispatch(self, dispatch: Dispatch) -> None:
        if member(dispatch.action, "type") == "session/activeClientRemoved":
            # Who does not follow the session need not hear of it.
            self._left[dispatch.channel] = None

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is not None and request.method == "listSessions":
            for item in dicts(member(reply.result, "items")):
                self._provider(text(item.get("resource")), item, reply.frame.n)
        if request is None or reply.failed or request.method != "createSession":
            return
        session = text(request.params.get("channel"))
        if session is not None and session not in self._made:
            self._made[session] = (reply.conn, request.params)

    def notification(self, notification: Notification) -> None:
        if notification.method == "root/sessionAdded":
            summary = notification.params.get("summary")
            self._provider(text(member(summary, "resource")), summary, notification.frame.n)
        elif notification.method == "root/sessionRemoved":
            self._rejected.pop(text(notification.params.get("session")) or "", None)

    def gone(self, channel: str) -> None:
        self._outcomes.pop(channel, None)
        self._made.pop(channel, None)

    # -- what was asked for ---------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        state = snapshot.state
        if snapshot.kind != "session" or not isinstance(state, dict):
            return
        version = self.version(snapshot.conn)
        self._provider(snapshot.channel, state, snapshot.frame.n)
        if state.get("lifecycle") == "ready":
            self._active(snapshot)
        if version is not None and version >= "0.7.0":
            self._directories(snapshot, state)

    def _provider(self, session: str | None, told: JSON, frame: int) -> None:
        if session is None or session not in self._made:
            return
        asked = text(self._made[session][1].get("provider"))
        if asked is None or not isinstance(told, dict):
            return
        self.watch("AHP-SESS-010")
        if told.get("provider") != asked:
            self._wrong("AHP-SESS-010", f"{session} has another provider", asked, told.get("provider"), frame)

    def _active(self, snapshot: Snapshot) -> None:
        conn, params = self._made.get(snapshot.channel, ("", {}))
        client = text(member(params.get("activeClient"), "clientId"))
        creator = self.tracker.connections.get(conn)
        if creator is None or client is None or client != creator.client_id or not creator.fed:
            return
        if snapshot.channel in creator.left or snapshot.channel in self._left:
            return
        self.watch("AHP-SESS-016")
        ids = [entry.get("clientId") for entry in dicts(snapshot.state.get("activeClients"))]
        if client not in ids:
            message = "the activeClient of createSession is not active"
            self._wrong("AHP-SESS-016", message, client, ids, snapshot.frame.n)

    def _directories(self, snapshot: Snapshot, state: dict[str, JSON]) -> None:
        frame = snapshot.frame.n
        if "workingDirectory" in state or "workingDirectories" in state:
            self.watch("AHP-WD-101")
        if text(state.get("workingDirectory")) is not None and "workingDirectories" not in state:
            message = "the directory is told under the name it had before 0.7.0"
            self._wrong("AHP-WD-101", message, "workingDirectories", state["workingDirectory"], frame)
        own = texts(state.get("workingDirectories"))
        for chat in dicts(state.get("chats")):
            if not texts(chat.get("workingDirectories")):
                continue
            self.watch("AHP-WD-111")
            foreign = sorted(set(texts(chat["workingDirectories"])) - set(own))
            if foreign:
                message = "a chat has directories that its session does not have"
                self._wrong("AHP-WD-111", message, own, foreign, frame)
        asked = texts(member(self._made.get(snapshot.channel, ("", {}))[1], "workingDirectories"))
        capabilities = self._capabilities(text(state.get("provider")))
        if len(asked) > 1 and capabilities is not None and "multipleWorkingDirectories" not in capabilities:
            self.watch("AHP-WD-102")
            if set(own) & set(asked[1:]) - {asked[0]}:
                message = "an agent for one directory got more of those that createSession named"
                self._wrong("AHP-WD-102", message, asked[:1], own, frame)

    def _capabilities(self, provider: str | None) -> dict[str, JSON] | None:
        """What the root state says of an agent; None when nobody follows it or the agent is not there."""
        for connection, view in self.tracker.views(ROOT_URI):
            if view.live and connection.fed:
                for agent in dicts(member(view.state, "agents")):
                    if provider is not None and agent.get("provider") == provider:
                        capabilities = agent.get("capabilities")
                        return capabilities if isinstance(capabilities, dict) else {}
        return None

    # -- what happens to it ---------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if envelope.type in _FLAGS:
            self._flag(envelope)
            return
        if not envelope.accepted or envelope.before is None:
            return
        if envelope.type in _OUTCOMES:
            self._outcome(envelope)
        elif envelope.type == "session/activeClientRemoved":
            # It does not matter whether the client came back later.
            self._made.pop(envelope.channel, None)
        elif envelope.type == "chat/workingDirectorySet":
            self._directory_of_chat(envelope)
        elif envelope.type == "session/workingDirectoryReplaced":
            self._primary(envelope)
        elif envelope.by is not None:
            if envelope.type == "session/defaultChatChanged":
                self._default_chat(envelope)
            else:
                self._config(envelope)

    def _outcome(self, envelope: Envelope) -> None:
        known = self._outcomes.get(envelope.channel)
        if known is None:
            if member(envelope.before, "lifecycle") == "creating":
                self.watch("AHP-SESS-005")
                self._outcomes[envelope.channel] = (envelope.type, envelope.seq)
        elif known != (envelope.type, envelope.seq) and member(envelope.before, "lifecycle") != "creating":
            self._refused(envelope, "AHP-SESS-005", "a creation came out twice", f"{known[0]} alone")

    def _flag(self, envelope: Envelope) -> None:
        """Marking and archiving are for every client."""
        version, who = envelope.version, envelope.by
        if version is None or who is None or member(envelope.before, "lifecycle") != "ready":
            return
        if action_violations(version, envelope.action):
            return
        self.watch("AHP-DISP-009")
        if not envelope.accepted and envelope.channel not in self._disposing:
            rejected = self._rejected.setdefault(envelope.channel, [])
            if len(rejected) < _MOST_REJECTED:
                rejected.append(envelope)

    def end(self) -> None:
        """Of the end of a session only those are told who follow the root."""
        if not self.tracker.settled or not any(v.live and c.fed for c, v in self.tracker.views(ROOT_URI)):
            return
        for envelope in [envelope for several in self._rejected.values() for envelope in several]:
            self._refused(envelope, "AHP-DISP-009", f"{envelope.type} of a client was rejected", "an accepted echo")

    def _default_chat(self, envelope: Envelope) -> None:
        chat = text(envelope.get("defaultChat"))
        known = [entry.get("resource") for entry in dicts(member(envelope.before, "chats"))]
        if chat is None:
            return
        self.watch("AHP-DISP-006")
        if chat not in known:
            self._refused(envelope, "AHP-DISP-006", "a client made an unknown chat the default", known)

    def _config(self, envelope: Envelope) -> None:
        properties = member(member(member(envelope.before, "config"), "schema"), "properties")
        named = envelope.get("config")
        if not isinstance(properties, dict) or not isinstance(named, dict):
            return
        values = member(member(envelope.before, "config"), "values")
        for name, value in named.items():
            schema = properties.get(name)
            if not isinstance(schema, dict) or (isinstance(values, dict) and values.get(name, ...) == value):
                # A value that is what it was changes nothing.
                continue
            if envelope.type == "session/configChanged":
                self.watch("AHP-DISP-007")
                if schema.get("sessionMutable") is not True:
                    message = f"a client changed {name}, which is not sessionMutable"
                    self._refused(envelope, "AHP-DISP-007", message, "a rejection")
            else:
                self.watch("AHP-ROOT-010")
                if value is not None and not _allows(schema, value):
                    message = f"a client gave {name} a value that its schema does not allow"
                    self._refused(envelope, "AHP-ROOT-010", message, schema)

    def _directory_of_chat(self, envelope: Envelope) -> None:
        directory = text(envelope.get("directory"))
        session = self._session_of(envelope)
        if directory is None or session is None:
            return
        self.watch("AHP-WD-103")
        own = texts(member(session, "workingDirectories"))
        if directory not in own:
            message = "a chat got a directory that its session does not have"
            self._refused(envelope, "AHP-WD-103", message, own)

    def _session_of(self, envelope: Envelope) -> JSON:
        """The fold of the session that lists the chat of an envelope; serverSeq orders both on one connection."""
        for view in self.tracker.connection(envelope.conn).channels.values():
            if view.kind == "session" and view.live and not view.late:
                chats = [entry.get("resource") for entry in dicts(member(view.state, "chats"))]
                if envelope.channel in chats:
                    return view.state
        return None

    def _primary(self, envelope: Envelope) -> None:
        capabilities = self._capabilities(text(member(envelope.before, "provider")))
        several = member(capabilities, "multipleWorkingDirectories")
        own = texts(member(envelope.before, "workingDirectories"))
        if member(several, "immutablePrimary") is not True or not own:
            return
        self.watch("AHP-WD-110")
        first = texts(member(envelope.after, "workingDirectories"))[:1]
        if member(several, "primaryReplacement") is not True and first != own[:1]:
            message = "the immutable first directory of a session was replaced"
            self._refused(envelope, "AHP-WD-110", message, own[:1])

    def _refused(self, envelope: Envelope, obligation: str, message: str, expected: Any) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )

    def _wrong(self, obligation: str, message: str, expected: Any, seen: Any, frame: int) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame)


def _allows(schema: dict[str, JSON], value: JSON) -> bool:
    """Whether a property takes a value, as far as type, enum and readOnly say."""
    if schema.get("readOnly") is True:
        return False
    wanted = _TYPES.get(text(schema.get("type")) or "")
    if wanted is not None and not isinstance(value, wanted):
        return False
    if isinstance(value, bool) and schema.get("type") == "number":
        return False
    choices = schema.get("enum")
    return not isinstance(choices, list) or schema.get("enumDynamic") is True or value in choices
