"""The automation catalogue: who has one, which requests are refused, and what an entry says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from conformance.oracle.memory import Bounded, forget
from conformance.oracle.reading import dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Snapshot
from conformance.protocol import compare

from .cron import Outside, Schedule, schedule_of

CATALOGUE = "ahp-automations://"
FINAL = frozenset({"completed", "failed", "cancelled"})
_COMMANDS = frozenset({"runAutomation", "fetchAutomationRuns", "listAutomationTriggerDefinitions"})
# Who has to log in first, or may not see it, is told so.
_NOT_FOR_YOU = (-32007, -32009)
_UTC = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "Zulu", "Etc/Zulu"})


class AutomationRequests(Rule):
    """Commands and requests around the catalogue: those that the host has to serve, and those it has to refuse."""

    name = "automation-requests"
    obligations = (
        "AHP-AUTOM-101",
        "AHP-AUTOM-104",
        "AHP-AUTOM-112",
        "AHP-AUTOM-116",
        "AHP-AUTOM-117",
        "AHP-AUTOM-118",
        "AHP-AUTOM-119",
        "AHP-AUTOM-130",
        "AHP-AUTOM-134",
        "AHP-AUTOM-135",
        "AHP-AUTOM-136",
    )
    hears = frozenset(
        {"automation/createRequested", "automation/updateRequested", "automation/removed", "automation/set"}
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection: what initialize said of automations, None when it said nothing.
        self._offers: Bounded[str, Any] = Bounded()
        # The run of each request to run, the automation of each run, and entries that were removed, by serverSeq.
        self._runs: Bounded[tuple[str, str], str] = Bounded()
        self._started: Bounded[str, str] = Bounded()
        self._removed: Bounded[str, int] = Bounded()
        # Automations of which a creation was accepted, and which are not in the catalogue yet.
        self._coming: Bounded[str, None] = Bounded()
        # Runs that were started and could not be subscribed to when they were asked for.
        self._unreachable: Bounded[str, Reply] = Bounded()
        # Removed entries that a snapshot has all the same: its position and frame, and the entry.
        self._back: Bounded[str, tuple[int, int, Any]] = Bounded()

    # -- commands -------------------------------------------------------------------------------------

    def reply(self, reply: Reply) -> None:
        request, version = reply.request, self.version(reply.conn)
        if request is None or version is None or compare(version, "0.9.0") < 0:
            return
        if request.method == "initialize" and not reply.failed:
            self._offers[reply.conn] = member(reply.result, "automations")
        elif request.method == "subscribe":
            self._subscribed(reply, text(member(request.params, "channel")) or "")
        elif request.method in _COMMANDS:
            if self._offers.get(reply.conn, {}) is None:
                self._without_catalogue(reply, f"{request.method} is served")
            elif request.method == "runAutomation" and not reply.failed:
                self._run(reply)

    def _subscribed(self, reply: Reply, channel: str) -> None:
        code = whole(member(reply.error, "code"))
        if channel == CATALOGUE and reply.conn in self._offers:
            if self._offers[reply.conn] is None:
                self._without_catalogue(reply, "the catalogue can be subscribed to")
            elif code not in _NOT_FOR_YOU:
                self.watch("AHP-AUTOM-101")
                if reply.failed:
                    self._find("AHP-AUTOM-101", "the catalogue cannot be subscribed to", "a snapshot", reply)
        elif channel.startswith("ahp-automation:"):
            self.watch("AHP-AUTOM-135")
            if not reply.failed:
                self._find("AHP-AUTOM-135", "an automation is subscribed to like a channel", "an error", reply)
        elif channel in self._started:
            self.watch("AHP-AUTOM-130")
            if not reply.failed:
                self._unreachable.pop(channel, None)
            elif code not in _NOT_FOR_YOU and self._listed(channel):
                self._unreachable[channel] = reply

    def _without_catalogue(self, reply: Reply, message: str) -> None:
        self.watch("AHP-AUTOM-136")
        if not reply.failed:
            self._find("AHP-AUTOM-136", f"{message} without the automations marker", "an error", reply)

    def _listed(self, run: str) -> bool:
        """Whether somebody who follows the catalogue sees the run; one that is not kept may be gone."""
        return any(
            summary.get("resource") == run
            for connection, view in self.tracker.views(CATALOGUE)
            if view.live and connection.fed
            for entry in dicts(member(view.state, "entries"))
            for summary in dicts(entry.get("runs"))
        )

    def _run(self, reply: Reply) -> None:
        assert reply.request is not None
        run, params = text(member(reply.result, "resource")), reply.request.params
        automation, key = text(member(params, "automation")), text(member(params, "requestId"))
        if run is None or automation is None or key is None:
            return
        self.watch("AHP-AUTOM-130")
        if not run.startswith("ahp-automation-run:"):
            self._find("AHP-AUTOM-130", "a run has no URI of a run", "ahp-automation-run:/…", reply)
        if (automation, key) in self._runs:
            self.watch("AHP-AUTOM-104")
        if self._runs.setdefault((automation, key), run) != run:
            self._find("AHP-AUTOM-104", "one request has started two runs", self._runs[(automation, key)], reply)
        self._started[run] = automation

    def _find(self, obligation: str, message: str, expected: Any, reply: Reply) -> None:
        assert reply.request is not None
        seen = {"request": reply.request.frame.msg, "answer": reply.frame.msg}
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)

    # -- actions --------------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        version, resource = envelope.version, text(envelope.get("resource"))
        if version is None or envelope.channel != CATALOGUE:
            return
        if envelope.type == "automation/set":
            resource = text(member(envelope.get("automation"), "resource")) or ""
            self._coming.pop(resource, None)
            if resource in self._removed and _later(envelope.seq, self._removed[resource]):
                # It was made again, by the time of the snapshot or later.
                del self._removed[resource]
                if resource in self._back and not _later(envelope.seq, self._back[resource][0]):
                    del self._back[resource]
            return
        if envelope.type == "automation/removed" and envelope.accepted and isinstance(envelope.seq, int):
            self._removed[resource or ""] = envelope.seq
            forget(self._runs, resource or "")
        if envelope.type == "automation/createRequested" and envelope.accepted:
            self._coming[resource or ""] = None
        if envelope.origin is None:
            return
        for obligation, message in self._faults(envelope, version, resource):
            # A rejection is what is due to it.
            self.watch(obligation)
            if envelope.accepted:
                self.find(
                    obligation,
                    message,
                    expected="a rejection",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, repr(envelope.seq), message),
                )

    def _faults(self, envelope: Envelope, version: str, resource: str | None) -> Iterator[tuple[str, str]]:
        """Why a request of a client has to be rejected."""
        entry = entry_of(envelope.before, resource)
        if envelope.type == "automation/removed":
            if entry is not None and not {"remove", "dispose"} & set(texts(entry.get("operations"))):
                yield "AHP-AUTOM-117", "an entry is removed that does not allow it"
            return
        definition = envelope.get("definition" if envelope.type == "automation/createRequested" else "changes")
        if envelope.type == "automation/createRequested":
            if resource is not None and not resource.startswith("ahp-automation:"):
                yield "AHP-AUTOM-116", "an automation is made under a URI that is none of an automation"
        elif isinstance(envelope.before, dict) and self._is_own(envelope):
            if entry is None and resource in self._coming:
                # The host has accepted it, and may hold several requests at a time.
                return
            if entry is None:
                yield "AHP-AUTOM-116", "an automation is changed that is not in the catalogue"
            elif "update" not in texts(entry.get("operations")):
                yield "AHP-AUTOM-116", "an entry is changed that does not allow it"
        kind = member(member(member(definition, "message"), "origin"), "kind")
        if isinstance(kind, str) and kind != "automation":
            yield "AHP-AUTOM-116", "the message of an automation has another origin"
        if compare(version, "1.0.0") >= 0 and _twice(definition):
            yield "AHP-AUTOM-112", "two disable conditions of one kind are accepted"
        yield from self._schedules(envelope.conn, definition)

    def _is_own(self, envelope: Envelope) -> bool:
        """Whether the client of this connection asked: others may see automations that this one does not."""
        who = envelope.by
        return who is not None and who[0] == self.tracker.connection(envelope.conn).client_id

    def _schedules(self, conn: str, definition: Any) -> Iterator[tuple[str, str]]:
        least = member(member(self._offers.get(conn), "schedules"), "minIntervalMinutes")
        for expression, schedule in schedules_in(definition):
            if schedule is None:
                yield "AHP-AUTOM-119", f"the schedule {expression} is outside of the grammar"
            elif isinstance(least, int | float) and not isinstance(least, bool) and _often(schedule, least):
                yield "AHP-AUTOM-134", f"the schedule {expression} occurs more often than every {least} minutes"

    def snapshot(self, snapshot: Snapshot) -> None:
        version = self.version(snapshot.conn)
        if version is None or compare(version, "0.9.0") < 0:
            return
        if snapshot.kind == "automationRun":
            self._run_state(snapshot)
        elif snapshot.channel == CATALOGUE:
            for resource, seq in self._removed.items():
                if snapshot.from_seq is None or snapshot.from_seq < seq:
                    continue
                self.watch("AHP-AUTOM-118")
                entry = entry_of(snapshot.state, resource)
                if entry is not None:
                    self._back.setdefault(resource, (snapshot.from_seq, snapshot.frame.n, entry))

    def end(self) -> None:
        """Somebody who has followed the catalogue since the removal knows that the entry was not made again."""
        for run, reply in self._unreachable.items() if self.tracker.settled else ():
            # One that is no longer listed was on its way out.
            if self._listed(run):
                self._find("AHP-AUTOM-130", "a run that was started cannot be subscribed to", "a snapshot", reply)
        for resource, (_, frame, entry) in self._back.items() if self.tracker.settled else ():
            seq = self._removed.get(resource)
            followed = [c for c, v in self.tracker.views(CATALOGUE) if v.live and c.fed and seq and v.since <= seq]
            if followed:
                self.find(
                    "AHP-AUTOM-118",
                    "an automation that was removed is back",
                    expected="no entry",
                    seen=entry,
                    frame=frame,
                )

    def _run_state(self, snapshot: Snapshot) -> None:
        told = member(snapshot.state, "resource")
        self.watch("AHP-AUTOM-130")
        if isinstance(told, str) and told != snapshot.channel:
            self._see("AHP-AUTOM-130", "a run has another URI than its channel", snapshot.channel, told, snapshot)
        automation = self._started.get(snapshot.channel)
        told = member(snapshot.state, "automation")
        if automation is not None and isinstance(told, str) and told != automation:
            self._see("AHP-AUTOM-130", "a run belongs to another automation", automation, told, snapshot)

    def _see(self, obligation: str, message: str, expected: Any, seen: Any, snapshot: Snapshot) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=snapshot.frame.n)


def entry_of(catalogue: Any, resource: str | None) -> dict[str, Any] | None:
    """The entry of an automation in the state of the catalogue."""
    entries = dicts(member(catalogue, "entries"))
    return next((entry for entry in entries if entry.get("resource") == resource and resource is not None), None)


def schedules_in(definition: Any) -> Iterator[tuple[str, Schedule | None]]:
    """The schedules of a definition that can be judged; None for one that the grammar does not know."""
    for trigger in dicts(member(definition, "triggers")):
        expression = text(member(trigger.get("schedule"), "expression"))
        if trigger.get("kind") != "schedule" or expression is None:
            continue
        try:
            schedule = schedule_of(expression)
        except Outside:
            yield expression, None
        else:
            if schedule is not None:
                yield expression, schedule


def moment_of(value: Any) -> datetime | None:
    """A timestamp of ISO 8601; None when it is none."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment is not None and moment.tzinfo is not None else None


def is_in_utc(trigger: dict[str, Any]) -> bool:
    return text(member(trigger.get("schedule"), "timeZone")) in _UTC


def _twice(definition: Any) -> bool:
    kinds = [text(condition.get("kind")) for condition in dicts(member(definition, "disableConditions"))]
    return len(set(kinds)) < len(kinds)


def _often(schedule: Schedule, least: float) -> bool:
    """Whether two occurrences of one day are nearer than allowed, for a schedule that has such days for sure."""
    return bool(schedule.days & frozenset(range(1, 29))) and schedule.shortest < least


def _later(seq: Any, than: int) -> bool:
    return isinstance(seq, int) and seq > than
