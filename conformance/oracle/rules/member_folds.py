"""Single members of root, sessions and chats: what an action set, a later snapshot has, for who comes late too."""

from __future__ import annotations

from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, texts, whole
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.protocol.status import IS_ARCHIVED, IS_READ

from .convergence import Convergence

# The member that an action sets, and the obligations that say so.
_SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "root/agentsChanged": ("agents", ("AHP-ROOT-006",)),
    "root/terminalsChanged": ("terminals", ("AHP-ROOT-006",)),
    "root/activeSessionsChanged": ("activeSessions", ("AHP-ROOT-005", "AHP-ROOT-006")),
    "root/configChanged": ("config", ("AHP-ROOT-008",)),
    "session/titleChanged": ("title", ("AHP-SESS-030",)),
    "session/activityChanged": ("activity", ("AHP-SESS-033",)),
    "session/configChanged": ("config", ("AHP-SESS-034",)),
    "session/serverToolsChanged": ("serverTools", ("AHP-SESS-035",)),
    "session/metaChanged": ("_meta", ("AHP-SESS-035",)),
    "session/changesetsChanged": ("changesets", ("AHP-SESS-035",)),
    "session/defaultChatChanged": ("defaultChat", ("AHP-CHAT-024",)),
    "session/chatAdded": ("chats", ("AHP-CHAT-040",)),
    "session/creationFailed": ("lifecycle", ()),
    "session/isReadChanged": ("read", ("AHP-SESS-031",)),
    "session/isArchivedChanged": ("archived", ("AHP-SESS-032",)),
    "session/workingDirectorySet": ("workingDirectories", ("AHP-WD-104",)),
    "session/workingDirectoryRemoved": ("workingDirectories", ("AHP-WD-104",)),
    "session/workingDirectoryReplaced": ("workingDirectories", ("AHP-WD-106",)),
    "session/activeClientSet": ("activeClients", ("AHP-ACTC-001",)),
    "session/activeClientRemoved": ("activeClients", ("AHP-ACTC-003",)),
    "chat/activityChanged": ("activity", ("AHP-CHAT-026",)),
    "chat/workingDirectorySet": ("workingDirectories", ("AHP-WD-104",)),
    "chat/workingDirectoryRemoved": ("workingDirectories", ("AHP-WD-104",)),
    "chat/isArchivedChanged": ("archived", ("AHP-CHAT-138",)),
}
_BITS = {"read": IS_READ, "archived": IS_ARCHIVED}


class MemberFolds(Convergence):
    """Compares a snapshot with a fold, as convergence does, at the members that actions have set."""

    name = "member-folds"
    hears = frozenset(_SETS)
    kinds = frozenset({"root", "session", "chat"})
    obligations = (
        "AHP-ACTC-001",
        "AHP-ACTC-003",
        "AHP-ACTC-011",
        "AHP-AUTH-023",
        "AHP-CHAT-024",
        "AHP-CHAT-026",
        "AHP-CHAT-040",
        "AHP-CHAT-138",
        "AHP-ROOT-005",
        "AHP-ROOT-006",
        "AHP-ROOT-008",
        "AHP-ROOT-009",
        "AHP-SESS-006",
        "AHP-SESS-030",
        "AHP-SESS-031",
        "AHP-SESS-032",
        "AHP-SESS-033",
        "AHP-SESS-034",
        "AHP-SESS-035",
        "AHP-SESS-101",
        "AHP-WD-104",
        "AHP-WD-106",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Channel -> member -> the obligations of the action that set it last.
        self._set: Bounded[str, dict[str, tuple[str, ...]]] = Bounded(1024)
        # Session -> client -> the obligation of the action that was about it last.
        self._clients: Bounded[str, Bounded[str, str]] = Bounded(256)

    def envelope(self, envelope: Envelope) -> None:
        what = _SETS.get(envelope.type)
        if what is not None and envelope.accepted and envelope.before is not None:
            self._touch(envelope, *what)

    def _touch(self, envelope: Envelope, name: str, obligations: tuple[str, ...]) -> None:
        version = envelope.version or ""
        if envelope.type == "session/creationFailed":
            obligations = ("AHP-SESS-101",) if version >= "0.9.0" else ("AHP-SESS-006",)
        elif envelope.type == "root/configChanged" and member(envelope.before, "config") is None:
            obligations = ("AHP-ROOT-009",)
        elif name == "activeClients":
            client = text(envelope.get("clientId")) or text(member(envelope.get("activeClient"), "clientId"))
            if client is not None:
                self._clients.setdefault(envelope.channel, Bounded(256))[client] = obligations[0]
        self._set.setdefault(envelope.channel, {})[name] = obligations

    def gone(self, channel: str) -> None:
        super().gone(channel)
        self._set.pop(channel, None)
        self._clients.pop(channel, None)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        if not isinstance(fold, dict) or not isinstance(snapshot.state, dict):
            return
        if snapshot.kind == "root":
            self._root(snapshot, fold, conn)
        for name, obligations in self._set.get(snapshot.channel, {}).items():
            self.watch(*obligations)
            if name == "activeClients":
                self._active(snapshot, fold, conn)
            elif self._differs(snapshot, fold, name):
                self._wrong(snapshot, conn, obligations, name, _at(fold, name), _at(snapshot.state, name))

    def _differs(self, snapshot: Snapshot, fold: dict[str, JSON], name: str) -> bool:
        ours, theirs = _at(fold, name), _at(snapshot.state, name)
        if name == "read":
            # A new turn makes a session unread, and no action says so (A-14, AMB-49).
            return bool(theirs) and not ours
        if name == "chats":
            return not set(_at(fold, name)) <= set(_at(snapshot.state, name))
        version = self.version(snapshot.conn)
        return difference({name: without_nulls(ours)}, {name: without_nulls(theirs)}, version) is not None

    def _root(self, snapshot: Snapshot, fold: dict[str, JSON], conn: str) -> None:
        """A change of the root that no action told."""
        told = self._set.get(snapshot.channel, {})
        if "activeSessions" in snapshot.state and "activeSessions" not in told:
            self.watch("AHP-ROOT-005")
            ours, theirs = fold.get("activeSessions"), snapshot.state.get("activeSessions")
            if whole(ours) is not None and ours != theirs:
                self._wrong(snapshot, conn, ("AHP-ROOT-005",), "activeSessions", ours, theirs)
        needs, shown = (_needs(state) for state in (fold, snapshot.state))
        if needs or shown:
            self.watch("AHP-AUTH-023")
            if needs != shown:
                self._wrong(snapshot, conn, ("AHP-AUTH-023",), "protectedResources", needs, shown)

    def _active(self, snapshot: Snapshot, fold: dict[str, JSON], conn: str) -> None:
        """Client by client: those that an action was about, and those that it was not about."""
        about = self._clients.get(snapshot.channel, Bounded())
        ours, theirs = (
            {text(e.get("clientId")): e for e in dicts(s.get("activeClients"))} for s in (fold, snapshot.state)
        )
        self.watch(*set(about.values()))
        if "AHP-ACTC-003" in about.values() and len(ours) > 0:
            self.watch("AHP-ACTC-011")
        for client in (*ours, *(client for client in theirs if client not in ours)):
            mine, shown = without_nulls(ours.get(client)), without_nulls(theirs.get(client))
            if difference({"entry": mine}, {"entry": shown}, self.version(snapshot.conn)) is None and (
                (mine is None) == (shown is None)
            ):
                continue
            obligation = about.get(client or "")
            if obligation == "AHP-ACTC-003" and shown is None:
                continue
            if obligation is None:
                if "AHP-ACTC-003" not in about.values() or shown is not None:
                    continue
                obligation = "AHP-ACTC-011"
            self._wrong(snapshot, conn, (obligation,), f"activeClients ({client})", mine, shown)

    def _wrong(
        self, snapshot: Snapshot, conn: str, obligations: tuple[str, ...], name: str, ours: Any, theirs: Any
    ) -> None:
        self.find(
            obligations,
            f"{name} in the snapshot of {snapshot.channel} is not what client {conn} has folded",
            expected=ours if ours is not None else "absent",
            seen=theirs if theirs is not None else "absent",
            frame=snapshot.frame.n,
            once=(snapshot.channel, name),
        )


def _at(state: dict[str, JSON], name: str) -> Any:
    """What stands in a member; of the flags of a status their bit, of the chats their URIs."""
    if name in _BITS:
        return bool((whole(state.get("status")) or 0) & _BITS[name])
    if name == "chats":
        return texts([entry.get("resource") for entry in dicts(state.get("chats"))])
    if name == "lifecycle":
        return [state.get("lifecycle"), state.get("creationError")]
    return state.get(name)


def _needs(state: dict[str, JSON]) -> dict[str, list[str]]:
    """The resources that agents ask tokens for, by provider."""
    return {
        provider: texts([entry.get("resource") for entry in dicts(agent.get("protectedResources"))])
        for agent in dicts(state.get("agents"))
        if (provider := text(agent.get("provider"))) is not None and agent.get("protectedResources")
    }
