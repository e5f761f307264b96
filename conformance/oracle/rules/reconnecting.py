"""Coming back: what a replay has to hold, and in which order; what is missing; what is never sent again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.comparing import difference
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import ROOT_URI, STATELESS_KINDS, is_known_action, kind_of, params_violations

from .convergence import comparable
from .everyone import HEARD, SINGLE, Told
from .existence import Departed

AUTH_REQUIRED = -32007
_ANNOUNCED = {"root/sessionAdded", "root/sessionRemoved"}
_COMPARED = frozenset({"root", "session", "chat"})


@dataclass(slots=True)
class Return:
    """A reconnect under way: what the client says, and what others know that it has missed."""

    request: Request
    client: str | None
    last: int | None
    listed: list[str]
    # The connection that the client had before, the highest number seen there, and those who were there all the time.
    old: str | None = None
    old_began: bool = False
    old_seen: int = -1
    witnesses: list[str] = field(default_factory=list)
    # The listed channels that the old connection followed; what was told of them above ``last``.
    held: dict[str, str | None] = field(default_factory=dict)
    missed: dict[tuple[str, int], Told] = field(default_factory=dict)
    # Channel -> the position and fold of somebody who followed it all the time.
    folds: dict[str, tuple[int, Any]] = field(default_factory=dict)
    # Channels of which it got a snapshot since.
    fresh: set[str] = field(default_factory=set)


class Reconnecting(Rule):
    """A client that comes back gets all that it missed of the channels it lists, once, and nothing else."""

    name = "reconnecting"
    hears = HEARD
    obligations = (
        "AHP-ACTC-006",
        "AHP-RECON-001",
        "AHP-RECON-003",
        "AHP-RECON-004",
        "AHP-RECON-006",
        "AHP-RECON-007",
        "AHP-RECON-008",
        "AHP-RECON-009",
        "AHP-RECON-010",
        "AHP-RECON-011",
        "AHP-RECON-012",
        "AHP-RECON-014",
        "AHP-RECON-015",
        "AHP-RECON-016",
        "AHP-RECON-017",
        "AHP-RECON-024",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._departed = Departed(self.tracker)
        self._told: Bounded[tuple[str, int], Told] = Bounded()
        self._returns: dict[str, Return] = {}
        self._back: Bounded[str, Return] = Bounded(256)
        # Announcements of sessions: the last frame, and who was told. When each session was last created.
        self._announced: Bounded[tuple[str, str], tuple[int, set[str]]] = Bounded(1024)
        self._created: Bounded[str, int] = Bounded(1024)
        # Channels that a snapshot result left out although somebody follows them, and the frame of that result.
        self._left_out: Bounded[tuple[str, str], int] = Bounded(256)

    # -- the request ----------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        self._departed.asked(request)
        channel = text(request.params.get("channel"))
        if request.method == "createSession" and channel is not None:
            self._created[channel] = request.frame.n
        if request.method == "reconnect":
            self._returns[request.conn] = self._coming_back(request)

    def _coming_back(self, request: Request) -> Return:
        params = request.params
        client = text(params.get("clientId"))
        came = Return(request, client, whole(params.get("lastSeenServerSeq")), texts(params.get("subscriptions")))
        everybody = [c for c in self.tracker.connections.values() if c.name != request.conn]
        before = [c for c in everybody if c.client_id == client and c.version is not None and not c.replaced]
        if client is None or not before or self.tracker.connection(request.conn).version is not None:
            return came
        old = before[-1]
        came.old, came.old_began, came.old_seen = old.name, old.began, old.seen
        came.held = {uri: old.channels[uri].kind for uri in came.listed if uri in old.channels}
        came.held = {uri: kind for uri, kind in came.held.items() if old.channels[uri].live}
        there = [c for c in everybody if c.fed and c.version is not None and c is not old]
        came.witnesses = [c.name for c in there]
        if came.last is None:
            return came
        late = {uri for uri in came.held if old.channels[uri].late}
        for (channel, seq), told in self._told.items():
            known = old.version is not None and is_known_action(told.type, old.version)
            known = known and (channel not in late or told.type in SINGLE)
            if channel in came.held and seq > came.last and known and told.conns & set(came.witnesses):
                came.missed[(channel, seq)] = told
        for uri in came.held:
            for connection in there:
                view = connection.channels.get(uri)
                same = connection.version == old.version
                if view is not None and view.live and not view.late and same and uri not in late:
                    came.folds[uri] = (view.position, view.state)
        return came

    # -- the answer -----------------------------------------------------------------------------------

    def reply(self, reply: Reply) -> None:
        self._departed.answered(reply)
        if reply.request is None or reply.request.method != "reconnect":
            return
        came = self._returns.pop(reply.conn, None)
        if came is None or came.request is not reply.request:
            return
        self._is_accepted(came, reply)
        result = reply.result
        if reply.failed or not isinstance(result, dict):
            return
        self._back[reply.conn] = came
        for uri in came.held:
            view = self.tracker.connection(reply.conn).channels.get(uri)
            if view is not None and any(
                entry.get("clientId") == came.client for entry in dicts(member(view.state, "activeClients"))
            ):
                self.watch("AHP-ACTC-006")
        self._nothing_repeated(came)
        if result.get("type") == "replay":
            missing = texts(result.get("missing"))
            self._missing(came, missing, reply)
            self._replayed(came, missing, dicts(result.get("actions")), reply)
        elif result.get("type") == "snapshot":
            came.fresh.update(text(each.get("resource")) or "" for each in dicts(result.get("snapshots")))
            self._snapshots(came, dicts(result.get("snapshots")), reply)

    def _is_accepted(self, came: Return, reply: Reply) -> None:
        """Of a client that the host knows; that it still is the same host, those tell who are still there."""
        witnessed = any(self.tracker.connection(conn).fed for conn in came.witnesses)
        if came.old is None or not came.old_began or not witnessed:
            return
        version = self.version(came.old)
        if version is None or params_violations(version, "reconnect", came.request.params):
            return
        self.watch("AHP-RECON-001")
        if reply.failed and whole(member(reply.error, "code")) != AUTH_REQUIRED:
            self._find(
                reply, "AHP-RECON-001", "a client that the host knows may not come back", "a result", reply.error
            )

    def _missing(self, came: Return, missing: list[str], reply: Reply) -> None:
        if missing:
            self.watch("AHP-RECON-007")
        foreign = sorted(set(missing) - set(came.listed))
        if foreign:
            self._find(reply, "AHP-RECON-007", "missing names channels that were not asked for", came.listed, foreign)
        for uri in came.listed:
            if self._departed.since(uri, came.request.frame.n) is not None:
                self.watch("AHP-RECON-006")
                if uri not in missing:
                    message = "a channel that was disposed of is not named in missing"
                    self._find(reply, "AHP-RECON-006", message, f"missing with {uri}", missing)

    def _replayed(self, came: Return, missing: list[str], actions: list[dict[str, Any]], reply: Reply) -> None:
        got: dict[tuple[str, int], dict[str, Any]] = {}
        for envelope in actions:
            channel, seq = text(envelope.get("channel")), whole(envelope.get("serverSeq"))
            if channel is None or seq is None or envelope.get("rejectionReason") is not None:
                continue
            got[(channel, seq)] = envelope
            if kind_of(channel) in STATELESS_KINDS:
                message = "a message of a stateless channel is replayed"
                self._find(reply, "AHP-RECON-012", message, "nothing of it", envelope)
        if any(kind_of(uri) in STATELESS_KINDS for uri in came.listed):
            self.watch("AHP-RECON-012")
        if came.last is None:
            return
        missed = {key: told for key, told in came.missed.items() if key[0] not in missing and key in self._told}
        self._too_old(came, got, missed, reply)
        if not missed:
            return
        self.watch("AHP-RECON-003", "AHP-RECON-008")
        if any(told.who is not None and told.who[0] == came.client for told in missed.values()):
            self.watch("AHP-RECON-014")
        lost = sorted((key for key in missed if key not in got), key=lambda key: key[1])
        if lost:
            self._lost(came, missed, lost, got, reply)
        self._own_ones(came, missed, got, reply)
        self._folds(came, {key[0] for key in lost} | set(missing), reply)

    def _too_old(self, came: Return, got: dict[tuple[str, int], Any], missed: dict[Any, Told], reply: Reply) -> None:
        """What the client has seen already is not replayed."""
        if got:
            self.watch("AHP-RECON-004")
        old = [envelope for (_, seq), envelope in got.items() if came.last is not None and seq <= came.last]
        quiet = not missed and bool(came.witnesses) and bool(came.held)
        if quiet:
            self.watch("AHP-RECON-015")
        if old:
            self._find(
                reply,
                ("AHP-RECON-004", "AHP-RECON-015") if quiet else "AHP-RECON-004",
                "the replay holds what the client had seen",
                f"numbers above {came.last}",
                old[:5],
            )

    def _lost(
        self,
        came: Return,
        missed: dict[tuple[str, int], Told],
        lost: list[tuple[str, int]],
        got: dict[tuple[str, int], Any],
        reply: Reply,
    ) -> None:
        broken = ["AHP-RECON-003"]
        # A replay that begins in the middle is what a log that does not reach back far enough gives.
        if any(key in got for key in missed) and lost[-1][1] < min(key[1] for key in missed if key in got):
            broken.append("AHP-RECON-008")
        own = [key for key in lost if (missed[key].who or ("",))[0] == came.client and came.client]
        if own:
            broken.append("AHP-RECON-014")
        self._find(
            reply,
            tuple(broken),
            "the replay lacks what others were told in the meantime",
            [f"{channel} {seq} {missed[(channel, seq)].type}" for channel, seq in lost[:20]],
            sorted(seq for _, seq in got),
        )

    def _own_ones(
        self, came: Return, missed: dict[tuple[str, int], Told], got: dict[tuple[str, int], Any], reply: Reply
    ) -> None:
        for key, told in missed.items():
            if told.who is None or told.who[0] != came.client or key not in got:
                continue
            origin = got[key].get("origin")
            if (member(origin, "clientId"), whole(member(origin, "clientSeq"))) != told.who:
                message = "an action of the client's own is replayed without its origin"
                expected = {"clientId": told.who[0], "clientSeq": told.who[1]}
                self._find(reply, "AHP-RECON-014", message, expected, origin)

    def _folds(self, came: Return, without: set[str], reply: Reply) -> None:
        for uri, (position, state) in came.folds.items():
            view = self.tracker.connection(reply.conn).channels.get(uri)
            kind = came.held.get(uri)
            if uri in without or view is None or kind not in _COMPARED or came.last is None or position <= came.last:
                continue
            mine = view.at(position)
            if mine is None or member(mine, "turnsNextCursor") != member(state, "turnsNextCursor"):
                continue
            self.watch("AHP-RECON-010")
            found = difference(comparable(kind, mine), comparable(kind, state), self.version(reply.conn))
            if found is not None:
                message = f"after the replay the fold of {uri} is not that of one who was there, at {found.path}"
                self._find(reply, "AHP-RECON-010", message, found.right, found.left)

    def _snapshots(self, came: Return, snapshots: list[dict[str, Any]], reply: Reply) -> None:
        shown = {text(snapshot.get("resource")) for snapshot in snapshots}
        for uri in came.listed:
            if self._departed.since(uri, came.request.frame.n) is not None:
                self.watch("AHP-RECON-017")
                if uri in shown:
                    message = "a snapshot of a channel that was disposed of"
                    self._find(reply, "AHP-RECON-017", message, "no snapshot of it", uri)
            elif uri == ROOT_URI or uri in came.folds:
                self.watch("AHP-RECON-024")
                if uri == ROOT_URI and uri not in shown:
                    self._no_snapshot(uri, reply.frame.n)
                elif uri not in shown:
                    self._left_out[(reply.conn, uri)] = reply.frame.n

    def _no_snapshot(self, uri: str, frame: int) -> None:
        self.find(
            "AHP-RECON-024",
            "the result of type snapshot leaves out a channel that exists",
            expected=f"a snapshot of {uri}",
            seen="none",
            frame=frame,
        )

    def end(self) -> None:
        """A channel that nobody has seen end was there all the time."""
        for (_, uri), frame in self._left_out.items() if self.tracker.settled else ():
            if self._departed.is_there(uri):
                self._no_snapshot(uri, frame)

    # -- afterwards -----------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        self._departed.heard(envelope)
        seq = whole(envelope.seq)
        if not envelope.accepted or seq is None:
            return
        came = self._back.get(envelope.conn)
        if came is not None and not envelope.replayed:
            self._numbers_go_on(came, envelope, seq)
            if envelope.type == "session/activeClientRemoved":
                self._removed(came, envelope)
        told = self._told.get((envelope.channel, seq))
        if told is None or not any(self.tracker.connection(conn).fed for conn in told.conns):
            told = Told(envelope.type, envelope.action, envelope.by, envelope.frame.n)
            self._told[(envelope.channel, seq)] = told
        told.conns.add(envelope.conn)

    def _removed(self, came: Return, envelope: Envelope) -> None:
        """Who came back to a session and follows it has not left it."""
        active = {entry.get("clientId") for entry in dicts(member(envelope.before, "activeClients"))}
        if envelope.origin is None and envelope.get("clientId") == came.client and came.client in active:
            self.find(
                "AHP-ACTC-006",
                "a client that came back to its session is taken out of it",
                expected="it stays active",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _numbers_go_on(self, came: Return, envelope: Envelope, seq: int) -> None:
        if came.last is None or envelope.channel not in came.held or not came.last <= came.old_seen:
            return
        self.watch("AHP-RECON-009", "AHP-RECON-016")
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        if seq > came.last or view is None or view.base > came.last or envelope.channel in came.fresh:
            return
        told = self._told.get((envelope.channel, seq))
        again = told is not None and came.old in told.conns and told.action == envelope.action
        self.find(
            "AHP-RECON-009" if again else "AHP-RECON-016",
            "a client that came back is told once more what it had seen"
            if again
            else "a host that counts anew resumed a client with an older, larger number",
            expected=f"numbers above {came.last}",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.conn, envelope.channel),
        )

    def snapshot(self, snapshot: Snapshot) -> None:
        came = self._back.get(snapshot.conn)
        if came is not None:
            came.fresh.add(snapshot.channel)

    def notification(self, notification: Notification) -> None:
        self._departed.told(notification)
        if notification.method not in _ANNOUNCED:
            return
        params = notification.params
        uri = text(params.get("session")) or text(member(params.get("summary"), "resource"))
        if uri is None:
            return
        last, told = self._announced.get((notification.method, uri), (-1, set()))
        came = self._back.get(notification.conn)
        other = next(iter(_ANNOUNCED - {notification.method}))
        since = max(self._created.get(uri, -1), self._announced.get((other, uri), (-1, set()))[0])
        if came is not None and told and since < last < came.request.frame.n:
            self.find(
                "AHP-RECON-011",
                f"{notification.method} from the time of a client's absence is sent to it afterwards",
                expected="no notification about what happened before the reconnect",
                seen=params,
                frame=notification.frame.n,
            )
        self._announced[(notification.method, uri)] = (notification.frame.n, told | {notification.conn})

    def _nothing_repeated(self, came: Return) -> None:
        if ROOT_URI in came.held and any(came.old not in told for _, told in self._announced.values()):
            self.watch("AHP-RECON-011")

    def gone(self, channel: str) -> None:
        for key in [key for key in self._told if key[0] == channel]:
            del self._told[key]
        for left in [left for left in self._left_out if left[1] == channel]:
            del self._left_out[left]

    def _find(self, reply: Reply, obligation: str | tuple[str, ...], message: str, expected: Any, seen: Any) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)
