"""Entries of the automation catalogue, and the life of the runs in them."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

from conformance.oracle.comparing import difference
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Snapshot
from conformance.protocol import compare

from .automations import CATALOGUE, FINAL, entry_of, is_in_utc, moment_of, schedules_in

# From each status of a run to those that may follow (docs/guide/automations.md, Run lifecycle).
LIFE: dict[str, frozenset[str]] = {
    "pending": frozenset({"running", "failed", "cancelled"}),
    "running": frozenset({"completed", "failed", "cancelled"}),
    **dict.fromkeys(FINAL, frozenset()),
}


class AutomationEntries(Rule):
    """What every entry says, and what a new one says next to the one before."""

    name = "automation-entries"
    obligations = (
        "AHP-AUTOM-102",
        "AHP-AUTOM-103",
        "AHP-AUTOM-107",
        "AHP-AUTOM-113",
        "AHP-AUTOM-114",
        "AHP-AUTOM-120",
        "AHP-AUTOM-121",
        "AHP-AUTOM-123",
        "AHP-AUTOM-125",
        "AHP-AUTOM-128",
        "AHP-AUTOM-129",
        "AHP-AUTOM-130",
    )
    hears = frozenset({"automation/createRequested", "automation/updateRequested", "automation/set"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection: how many runs in a final state an entry keeps.
        self._limits: Bounded[str, int] = Bounded()
        # Per connection and automation: what a client asked for and no entry has shown yet; None when it was asked
        # for several things at once.
        self._asked: Bounded[tuple[str, str], dict[str, Any] | None] = Bounded()

    def reply(self, reply: Reply) -> None:
        if reply.request is not None and reply.request.method == "initialize" and not reply.failed:
            limit = whole(member(member(reply.result, "automations"), "runHistoryLimit"))
            if limit is not None:
                self._limits[reply.conn] = limit

    def snapshot(self, snapshot: Snapshot) -> None:
        version = self.version(snapshot.conn)
        if version is not None and snapshot.channel == CATALOGUE:
            for entry in dicts(member(snapshot.state, "entries")):
                self._entry(snapshot.conn, version, entry, snapshot.frame.n)

    def envelope(self, envelope: Envelope) -> None:
        version = envelope.version
        if version is None or envelope.channel != CATALOGUE or not envelope.accepted:
            return
        if envelope.type != "automation/set":
            place = (envelope.conn, text(envelope.get("resource")) or "")
            created = envelope.type == "automation/createRequested"
            known = entry_of(envelope.before, place[1]) is not None
            # An update may be asked for before the new entry has come.
            if isinstance(envelope.before, dict) and (known is not created or place in self._asked):
                value = envelope.get("definition" if created else "changes")
                several = place in self._asked or not isinstance(value, dict)
                self._asked[place] = None if several else value
            return
        entry = envelope.get("automation")
        if isinstance(entry, dict):
            self._entry(envelope.conn, version, entry, envelope.frame.n)
            self._compared(envelope, version, entry, entry_of(envelope.before, text(entry.get("resource"))))

    # -- an entry by itself ---------------------------------------------------------------------------

    def _entry(self, conn: str, version: str, entry: dict[str, Any], frame: int) -> None:
        resource, runs = text(entry.get("resource")), dicts(entry.get("runs"))
        self.watch("AHP-AUTOM-129")
        if resource is not None and not resource.startswith("ahp-automation:"):
            self._find("AHP-AUTOM-129", "an automation has another scheme", "ahp-automation:/…", resource, frame)
        occasions = [
            (text(run["origin"].get("triggerId")), moment_of(run["origin"].get("scheduledFor")))
            for run in runs
            if isinstance(run.get("origin"), dict)
        ]
        occasions = [occasion for occasion in occasions if None not in occasion]
        self.watch(*(["AHP-AUTOM-121"] if len(occasions) > 1 else []))
        if len(set(occasions)) < len(occasions):
            self._find("AHP-AUTOM-121", "one occurrence has started two runs", "one run", runs, frame)
        self._history(conn, runs, frame)
        self._late(runs, frame)
        self._next(entry, frame)
        if compare(version, "1.0.0") >= 0:
            self._of_later_versions(entry, frame)

    def _history(self, conn: str, runs: list[dict[str, Any]], frame: int) -> None:
        over = sum(1 for run in runs if text(member(run.get("lifecycle"), "status")) in FINAL)
        limit = self._limits.get(conn)
        if limit is not None and over:
            self.watch("AHP-AUTOM-128")
            if over > limit:
                self._find("AHP-AUTOM-128", f"{over} runs in a final state are kept", f"{limit} at most", runs, frame)
        made: list[datetime] = [
            moment for run in runs if (moment := moment_of(member(run.get("lifecycle"), "createdAt"))) is not None
        ]
        self.watch(*(["AHP-AUTOM-130"] if len(made) > 1 else []))
        if any(older > younger for younger, older in pairwise(made)):
            self._find("AHP-AUTOM-130", "the runs are not in order", "the newest first", runs, frame)

    def _late(self, runs: list[dict[str, Any]], frame: int) -> None:
        for run in runs:
            if member(run.get("origin"), "catchUp") is True:
                self.watch("AHP-AUTOM-107")
                if member(run["origin"], "scheduledFor") is None:
                    self._find("AHP-AUTOM-107", "a late run does not say for when", "scheduledFor", run, frame)

    def _next(self, entry: dict[str, Any], frame: int) -> None:
        """Time zones change their rules, so only UTC is reckoned with."""
        definition, following = entry.get("definition"), moment_of(entry.get("nextRunAt"))
        triggers = [t for t in dicts(member(definition, "triggers")) if t.get("kind") == "schedule"]
        schedules = [schedule for _, schedule in schedules_in(definition) if schedule is not None]
        if following is None or not triggers or member(definition, "enabled") is not True:
            return
        if len(schedules) == len(triggers) and all(map(is_in_utc, triggers)):
            self.watch("AHP-AUTOM-120")
            if not any(schedule.has(following) for schedule in schedules):
                self._find("AHP-AUTOM-120", "the next run is at no occurrence", triggers, entry["nextRunAt"], frame)

    def _of_later_versions(self, entry: dict[str, Any], frame: int) -> None:
        definition = entry.get("definition")
        if entry.get("runCount") is not None or _most(definition) is not None:
            self.watch("AHP-AUTOM-113")
        if entry.get("runCount") is not None and _most(definition) is None:
            self._find("AHP-AUTOM-113", "runs are counted although no condition asks", "no runCount", entry, frame)
        template = _ids(member(member(definition, "session"), "customizations"))
        copies = dicts(entry.get("customizations"))
        if template or copies:
            self.watch("AHP-AUTOM-114")
            if template != _ids(copies) or any(copy.get("clientId") is not None for copy in copies):
                self._find("AHP-AUTOM-114", "the copies are not those of the template", sorted(template), copies, frame)

    # -- an entry next to the one before --------------------------------------------------------------

    def _compared(self, envelope: Envelope, version: str, entry: dict[str, Any], before: Any) -> None:
        new, frame = entry.get("definition"), envelope.frame.n
        place = (envelope.conn, text(entry.get("resource")) or "")
        asked = self._asked.pop(place, {})
        if before is None and asked:
            self.watch("AHP-AUTOM-102")
            if _gist(asked) != _gist(new):
                self._find("AHP-AUTOM-102", "an automation is made otherwise than asked", _gist(asked), new, frame)
        elif before is not None:
            old = before.get("definition")
            if asked and isinstance(old, dict) and isinstance(new, dict):
                self._patched(asked, old, new, version, frame)
            if compare(version, "1.0.0") >= 0:
                self._counted(entry, before, asked, frame)
            self._skipped(entry, before, frame)

    def _patched(
        self, asked: dict[str, Any], old: dict[str, Any], new: dict[str, Any], version: str, frame: int
    ) -> None:
        carried = {name: value for name, value in asked.items() if name in ("title", "enabled")}
        if not carried or any(new.get(name) != value for name, value in carried.items()):
            # The entry is about something else; or the host has put it in its own words.
            return
        self.watch("AHP-AUTOM-103")
        for name in ("title", "message", "session"):
            if name not in asked and difference(old.get(name), new.get(name), version) is not None:
                self._find("AHP-AUTOM-103", f"an update has changed {name} as well", old.get(name), new, frame)

    def _counted(self, entry: dict[str, Any], before: dict[str, Any], asked: Any, frame: int) -> None:
        old, new = before.get("definition"), entry.get("definition")
        count, earlier = whole(entry.get("runCount")), whole(before.get("runCount"))
        if count is None or earlier is None or earlier == 0 or _most(old) is None or _most(new) is None:
            return
        switched_on = member(old, "enabled") is False and member(new, "enabled") is True
        known = [run.get("resource") for run in dicts(before.get("runs"))]
        fresh = [run for run in dicts(entry.get("runs")) if run.get("resource") not in known]
        if switched_on and not fresh:
            self.watch("AHP-AUTOM-125")
            if count != 0:
                self._find("AHP-AUTOM-125", "the count goes on when an automation is switched on", 0, entry, frame)
        elif member(old, "enabled") is member(new, "enabled") is True and asked and "enabled" not in asked:
            self.watch("AHP-AUTOM-125")
            if count < earlier and "disableConditions" not in asked:
                self._find("AHP-AUTOM-125", "an edit has set the count back", earlier, entry, frame)

    def _skipped(self, entry: dict[str, Any], before: dict[str, Any], frame: int) -> None:
        """A run for a missed occurrence that has come up while its trigger was to let them pass."""
        skipping = _skipping(entry) & _skipping(before)
        known = [run.get("resource") for run in dicts(before.get("runs"))]
        for run in dicts(entry.get("runs")):
            origin = run.get("origin")
            late = member(origin, "catchUp") is True and text(member(origin, "triggerId")) in skipping
            if late and run.get("resource") not in known and dicts(before.get("runs")):
                self._find("AHP-AUTOM-107", "a missed occurrence is caught up with although skip", "none", run, frame)

    def end(self) -> None:
        for connection, view in self.tracker.views(CATALOGUE) if self.tracker.settled else ():
            if connection.version is None or compare(connection.version, "1.0.0") < 0 or not view.live:
                continue
            for entry in dicts(member(view.state, "entries")) if connection.fed else ():
                definition, count = entry.get("definition"), whole(entry.get("runCount"))
                most = _most(definition)
                if most is None or count is None or count < most:
                    continue
                self.watch("AHP-AUTOM-123")
                if member(definition, "enabled") is True:
                    self._find("AHP-AUTOM-123", "a condition is met, and the automation goes on", False, entry, None)

    def _find(self, obligation: str, message: str, expected: Any, seen: Any, frame: int | None) -> None:
        once = (member(seen, "resource"), message) if frame is None else None
        self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=once)


class AutomationRuns(Rule):
    """The life of a run, and what the sessions that it makes say of it."""

    name = "automation-runs"
    obligations = ("AHP-AUTOM-108", "AHP-AUTOM-109", "AHP-AUTOM-110")
    hears = frozenset(
        {
            "automationRun/lifecycleChanged",
            "automationRun/primarySessionChanged",
            "automationRun/cancelRequested",
            "automation/set",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Runs whose end was followed by a request to cancel them.
        self._too_late: Bounded[str, None] = Bounded()
        # Session -> the run that names it as its first, with the automation of the run.
        self._sessions: Bounded[str, tuple[str, Any]] = Bounded()

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.type == "automation/set":
            self._summaries(envelope)
            return
        old = text(member(member(envelope.before, "lifecycle"), "status"))
        if envelope.type == "automationRun/cancelRequested":
            if old in FINAL:
                self._too_late[envelope.channel] = None
                self.watch("AHP-AUTOM-109")
            return
        self._learn(envelope.channel, envelope.after)
        if envelope.type == "automationRun/primarySessionChanged":
            return
        new = text(member(envelope.get("lifecycle"), "status"))
        if old not in LIFE or new not in LIFE:
            return
        self.watch("AHP-AUTOM-108")
        # To say the same again, with other data, is no step; but what has ended stays as it is.
        same = old == new and (
            old not in FINAL or difference(envelope.before.get("lifecycle"), envelope.get("lifecycle")) is None
        )
        if not same and new not in LIFE[old]:
            late = envelope.channel in self._too_late
            self._find(("AHP-AUTOM-108", "AHP-AUTOM-109") if late else ("AHP-AUTOM-108",), old, new, envelope)

    def _summaries(self, envelope: Envelope) -> None:
        """A summary may leave out steps, and never goes back."""
        entry = envelope.get("automation")
        before = entry_of(envelope.before, text(member(entry, "resource")))
        earlier = {
            run["resource"]: text(member(run.get("lifecycle"), "status"))
            for run in dicts(member(before, "runs"))
            if isinstance(run.get("resource"), str)
        }
        for run in dicts(member(entry, "runs")):
            old, new = earlier.get(text(run.get("resource")) or ""), text(member(run.get("lifecycle"), "status"))
            if old not in LIFE or new not in LIFE:
                continue
            self.watch("AHP-AUTOM-108")
            if old != new and (old in FINAL or new == "pending"):
                self._find(("AHP-AUTOM-108",), old, new, envelope)

    def _find(self, broken: tuple[str, ...], old: str, new: str, envelope: Envelope) -> None:
        self.find(
            broken,
            f"a run went from {old} to {new}",
            expected=" or ".join(sorted(LIFE[old])) or "nothing more",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "automationRun":
            self._learn(snapshot.channel, snapshot.state)
        elif snapshot.kind == "session" and snapshot.channel in self._sessions:
            run, automation = self._sessions[snapshot.channel]
            version, origin = self.version(snapshot.conn), member(snapshot.state, "origin")
            if version is None or compare(version, "0.9.0") < 0 or not isinstance(snapshot.state, dict):
                return
            self.watch("AHP-AUTOM-110")
            expected = {"kind": "automation", "automation": automation, "run": run}
            if any(member(origin, name) != value for name, value in expected.items()):
                self.find(
                    "AHP-AUTOM-110",
                    "a session does not say which run has made it",
                    expected=expected,
                    seen=origin,
                    frame=snapshot.frame.n,
                )

    def _learn(self, run: str, state: Any) -> None:
        first, automation = text(member(state, "primarySession")), text(member(state, "automation"))
        if first is not None and automation is not None:
            self._sessions[first] = (run, automation)


def _most(definition: Any) -> int | None:
    """How many scheduled runs a definition allows itself."""
    conditions = dicts(member(definition, "disableConditions"))
    return next((whole(c.get("max")) for c in conditions if c.get("kind") == "afterRuns"), None)


def _ids(customizations: Any) -> set[str]:
    return {repr(entry.get("id")) for entry in dicts(customizations)}


def _gist(definition: Any) -> dict[str, Any]:
    """What a host takes over as it is: labels of events and dates it may put in its own words."""
    gist = {"title": member(definition, "title"), "text": member(member(definition, "message"), "text")}
    gist["schedules"] = [
        [member(trigger.get("schedule"), "expression"), member(trigger.get("schedule"), "timeZone")]
        for trigger in dicts(member(definition, "triggers"))
        if trigger.get("kind") == "schedule"
    ]
    if not dicts(member(definition, "disableConditions")):
        gist["enabled"] = member(definition, "enabled")
    return gist


def _skipping(entry: dict[str, Any]) -> set[str | None]:
    triggers = dicts(member(entry.get("definition"), "triggers"))
    return {text(trigger.get("id")) for trigger in triggers if trigger.get("misfirePolicy") == "skip"} - {None}
