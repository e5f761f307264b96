"""Automations: requests and commands, entries, runs, schedules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conformance.oracle.rules.automation_entries import LIFE
from conformance.oracle.rules.automations import CATALOGUE
from conformance.oracle.rules.cron import Outside, schedule_of
from tests.protocol.examples import automation

from .traces import JSON, SESSION, STARTED, Case, Cases, Trace, calm_session, clean, found

requests = Cases("automation-requests")
entries = Cases("automation-entries")
runs = Cases("automation-runs")

VERSIONS = ("0.9.0", "1.0.0")
NEWEST = ("1.0.0",)
NIGHTLY, OTHER = "ahp-automation:/nightly", "ahp-automation:/other"
RUN = "ahp-automation-run:/r1"


def entry(resource: str = NIGHTLY, **members: JSON) -> JSON:
    return {**automation(resource), "operations": ["run", "update", "remove"], **members}


def defined(**members: JSON) -> JSON:
    """An entry whose definition differs."""
    definition = {**automation()["definition"], **members}
    return entry(definition=definition)


def scheduled(expression: str = "0 9 * * 1-5", zone: str = "UTC", **members: JSON) -> JSON:
    return {"id": "t1", "kind": "schedule", "schedule": {"expression": expression, "timeZone": zone}, **members}


def follows(t: Trace, *listed: JSON, conns: str = "A", **offer: JSON) -> None:
    for conn in conns:
        t.handshake(conn, automations={"create": {}, **offer})
        t.subscribe(CATALOGUE, {"entries": list(listed)}, conn)


def sets(t: Trace, value: JSON, to: str = "A") -> None:
    t.envelope(CATALOGUE, {"type": "automation/set", "automation": value}, to)


def creates(t: Trace, resource: str = NIGHTLY, rejected: JSON = None, to: str = "A", **members: JSON) -> None:
    definition = {**automation()["definition"], **members}
    action = {"type": "automation/createRequested", "resource": resource, "definition": definition}
    t.echo(CATALOGUE, action, to=to, rejected=rejected)


def changes(t: Trace, resource: str = NIGHTLY, rejected: JSON = None, **members: JSON) -> None:
    action = {"type": "automation/updateRequested", "resource": resource, "changes": members}
    t.echo(CATALOGUE, action, rejected=rejected)


def removes(t: Trace, resource: str = NIGHTLY, rejected: JSON = None) -> None:
    t.echo(CATALOGUE, {"type": "automation/removed", "resource": resource}, rejected=rejected)


def summary(status: str = "completed", identity: str = RUN, created: str = STARTED, **origin: JSON) -> JSON:
    """A run in the list of an entry; with members of an origin it was triggered."""
    provenance: JSON = {"kind": "trigger", "triggerId": "t1", **origin} if origin else {"kind": "manual"}
    return {
        "resource": identity,
        "automation": NIGHTLY,
        "origin": provenance,
        "lifecycle": lifecycle(status, created),
        "sessionCount": 0,
        "operations": [],
    }


def lifecycle(status: str, created: str = STARTED) -> JSON:
    value: JSON = {"status": status, "createdAt": created}
    value |= {"startedAt": STARTED} if status in ("running", "completed") else {}
    value |= {"completedAt": STARTED} if status in ("completed", "failed", "cancelled") else {}
    return value | ({"error": {"errorType": "e", "message": "m"}} if status == "failed" else {})


# -- commands -----------------------------------------------------------------------------------------


@requests.bad("AHP-AUTOM-101", versions=VERSIONS)
def the_catalogue_cannot_be_had(t: Trace) -> None:
    t.handshake(automations={})
    t.error(t.ask("subscribe", channel=CATALOGUE), -32602)


@requests.bad("AHP-AUTOM-104", versions=VERSIONS)
def a_request_is_repeated_and_starts_a_second_run(t: Trace) -> None:
    follows(t, entry())
    for run in ("1", "2"):
        t.call(
            "runAutomation",
            {"resource": f"ahp-automation-run:/{run}"},
            channel=CATALOGUE,
            automation=NIGHTLY,
            requestId="k",
        )


@requests.bad("AHP-AUTOM-130", versions=VERSIONS)
def a_run_under_another_scheme(t: Trace) -> None:
    follows(t, entry())
    t.call("runAutomation", {"resource": SESSION}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")


@requests.bad("AHP-AUTOM-130", versions=VERSIONS)
def a_run_that_cannot_be_followed(t: Trace) -> None:
    follows(t, entry(runs=[summary("running")]))
    t.call("runAutomation", {"resource": RUN}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")
    t.error(t.ask("subscribe", channel=RUN), -32008)


@requests.good("AHP-AUTOM-130", versions=VERSIONS)
def a_run_that_was_on_its_way_out(t: Trace) -> None:
    follows(t, entry(runs=[summary("completed")]))
    t.call("runAutomation", {"resource": RUN}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")
    t.error(t.ask("subscribe", channel=RUN), -32008)
    sets(t, entry())


@requests.good(versions=VERSIONS)
def what_is_not_for_everybody(t: Trace) -> None:
    t.handshake(automations={})
    t.error(t.ask("subscribe", channel=CATALOGUE), -32009)


@entries.good(versions=VERSIONS)
def an_update_overtakes_the_new_entry(t: Trace) -> None:
    """Both requests are accepted before the host has made anything of them."""
    follows(t)
    creates(t)
    changes(t, title="New")
    sets(t, defined(title="New"))


@requests.bad("AHP-AUTOM-130", versions=VERSIONS)
def a_run_of_another_automation(t: Trace) -> None:
    follows(t, entry())
    t.call("runAutomation", {"resource": RUN}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")
    t.subscribe(RUN, {**run_state("running"), "automation": OTHER})


@requests.bad("AHP-AUTOM-135", versions=VERSIONS)
def an_entry_is_a_channel(t: Trace) -> None:
    follows(t, entry())
    t.call("subscribe", {"snapshot": t.snapshot(NIGHTLY, entry())}, channel=NIGHTLY)


@requests.bad("AHP-AUTOM-136", versions=VERSIONS)
def a_catalogue_without_the_marker(t: Trace) -> None:
    t.handshake()
    t.subscribe(CATALOGUE, {"entries": []})


@requests.bad("AHP-AUTOM-136", versions=VERSIONS)
def a_command_without_the_marker(t: Trace) -> None:
    t.handshake()
    t.call("listAutomationTriggerDefinitions", {"items": []})


@requests.good("AHP-AUTOM-101", "AHP-AUTOM-104", "AHP-AUTOM-130", "AHP-AUTOM-135", versions=VERSIONS)
def commands_as_they_should_be(t: Trace) -> None:
    follows(t, entry())
    for _ in range(2):
        t.call("runAutomation", {"resource": RUN}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")
    t.subscribe(RUN, run_state("running"))
    t.call("fetchAutomationRuns", {}, channel=CATALOGUE, automation=NIGHTLY)
    t.error(t.ask("subscribe", channel=NIGHTLY), -32602)


@requests.good("AHP-AUTOM-136", versions=VERSIONS)
def nothing_without_the_marker(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel=CATALOGUE), -32602)
    t.error(t.ask("runAutomation", channel=CATALOGUE, automation=NIGHTLY, requestId="k"), -32601)


@requests.good(versions=VERSIONS)
def a_run_that_was_not_kept(t: Trace) -> None:
    follows(t, entry())
    t.call("runAutomation", {"resource": RUN}, channel=CATALOGUE, automation=NIGHTLY, requestId="k")
    t.error(t.ask("subscribe", channel=RUN), -32008)


@requests.good(versions=("0.8.0",))
def before_there_were_automations(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {}, channel="ahp-automation:/x")


# -- requests -----------------------------------------------------------------------------------------

TWICE = [{"kind": "afterRuns", "max": 2}, {"kind": "afterRuns", "max": 2}]


@requests.bad("AHP-AUTOM-112", versions=NEWEST)
def two_conditions_of_one_kind(t: Trace) -> None:
    follows(t)
    creates(t, disableConditions=TWICE)


@requests.bad("AHP-AUTOM-112", versions=NEWEST)
def two_conditions_by_an_update(t: Trace) -> None:
    follows(t, entry())
    changes(t, disableConditions=TWICE)


@requests.bad("AHP-AUTOM-116", versions=VERSIONS)
def an_unknown_automation_is_changed(t: Trace) -> None:
    follows(t, entry())
    changes(t, OTHER, title="New")


@requests.bad("AHP-AUTOM-116", versions=VERSIONS)
def an_entry_that_may_not_be_changed(t: Trace) -> None:
    follows(t, entry(operations=["run"]))
    changes(t, title="New")


@requests.bad("AHP-AUTOM-116", versions=VERSIONS)
def a_message_of_the_user(t: Trace) -> None:
    follows(t)
    creates(t, message={"text": "Tidy", "origin": {"kind": "user"}})


@requests.bad("AHP-AUTOM-116", versions=VERSIONS)
def an_automation_under_any_uri(t: Trace) -> None:
    follows(t)
    creates(t, "urn:nightly")


@requests.bad("AHP-AUTOM-117", versions=VERSIONS)
def an_entry_that_may_not_be_removed(t: Trace) -> None:
    follows(t, entry(operations=["run"]))
    removes(t)


@requests.bad("AHP-AUTOM-118", versions=VERSIONS, beside=("convergence", "session-folds", "channel-folds"))
def what_was_removed_is_back(t: Trace) -> None:
    follows(t, entry(), conns="A")
    removes(t)
    follows(t, entry(), conns="B")


@requests.bad("AHP-AUTOM-119", versions=VERSIONS)
def a_macro_is_accepted(t: Trace) -> None:
    follows(t)
    creates(t, triggers=[scheduled("@daily")])


@requests.bad("AHP-AUTOM-134", versions=VERSIONS)
def every_minute_although_it_is_too_often(t: Trace) -> None:
    follows(t, entry(), schedules={"minIntervalMinutes": 15})
    changes(t, triggers=[scheduled("*/5 * * * *")])


@requests.good("AHP-AUTOM-116", "AHP-AUTOM-117", "AHP-AUTOM-119", "AHP-AUTOM-134", versions=VERSIONS)
def what_is_wrong_is_rejected(t: Trace) -> None:
    follows(t, entry(operations=["run"]), schedules={"minIntervalMinutes": 15})
    creates(t, OTHER, "no", triggers=[scheduled("0 0 0 * * *")])
    creates(t, OTHER, "no", triggers=[scheduled("* * * * *")])
    changes(t, OTHER, "no", title="x")
    removes(t, rejected="no")


@requests.good("AHP-AUTOM-112", versions=NEWEST)
def two_conditions_are_rejected(t: Trace) -> None:
    follows(t)
    creates(t, OTHER, "no", disableConditions=TWICE)
    creates(t, OTHER, "no", disableConditions=[])


@requests.good("AHP-AUTOM-118", versions=VERSIONS)
def what_is_right_is_accepted(t: Trace) -> None:
    follows(t, entry(), conns="A", schedules={"minIntervalMinutes": 15})
    changes(t, triggers=[scheduled("*/15 * * * *"), scheduled("0 9 * * MON-FRI", id="t2")])
    removes(t)
    removes(t, OTHER)
    follows(t, conns="B")
    creates(t, to="AB")
    sets(t, entry(), "AB")
    follows(t, entry(), conns="C")


@requests.good(versions=VERSIONS)
def made_again_where_one_has_not_heard_it_yet(t: Trace) -> None:
    follows(t, entry(), conns="A")
    removes(t)
    t.seq += 1
    follows(t, entry(), conns="B")
    t.envelope(CATALOGUE, {"type": "automation/set", "automation": entry()}, "A", seq=t.seq)


def test_only_who_sees_an_automation_can_be_sure_of_it() -> None:
    t = Trace("0.9.0")
    follows(t, entry(), conns="A")
    follows(t, entry(), entry(OTHER), conns="B")
    t.echo(CATALOGUE, {"type": "automation/updateRequested", "resource": OTHER, "changes": {"title": "x"}}, "B", "AB")
    assert [f for f in t.judged().findings if f.rule == "automation-requests"] == []


# -- entries ------------------------------------------------------------------------------------------


@entries.bad("AHP-AUTOM-102", versions=VERSIONS)
def another_title_than_asked_for(t: Trace) -> None:
    follows(t)
    creates(t)
    sets(t, defined(title="Automation 1"))


@entries.bad("AHP-AUTOM-103", versions=VERSIONS)
def an_update_takes_the_message_along(t: Trace) -> None:
    follows(t, entry())
    changes(t, enabled=False)
    sets(t, defined(enabled=False, message={"text": "", "origin": {"kind": "automation"}}))


@entries.bad("AHP-AUTOM-107", versions=VERSIONS)
def late_and_nobody_knows_for_when(t: Trace) -> None:
    follows(t, entry(runs=[summary(catchUp=True)]))


@entries.bad("AHP-AUTOM-107", versions=VERSIONS)
def caught_up_although_skip(t: Trace) -> None:
    skipping = defined(triggers=[scheduled(misfirePolicy="skip")])
    first = summary(created="2026-01-01T00:00:00Z")
    follows(t, {**skipping, "runs": [first]})
    late = summary("running", f"{RUN}/2", catchUp=True, scheduledFor="2026-01-01T09:00:00Z")
    sets(t, {**skipping, "runs": [late, first]})


@entries.bad("AHP-AUTOM-113", versions=NEWEST)
def a_count_that_nobody_asked_for(t: Trace) -> None:
    follows(t, entry(runCount=1))


@entries.bad("AHP-AUTOM-114", versions=NEWEST)
def no_copy_of_a_plugin(t: Trace) -> None:
    plugin = {"type": "plugin", "id": "p", "uri": "virtual://a", "name": "p"}
    follows(t, defined(session={"customizations": [plugin]}))


@entries.bad("AHP-AUTOM-120", versions=VERSIONS)
def next_on_a_sunday(t: Trace) -> None:
    follows(t, {**defined(triggers=[scheduled()]), "nextRunAt": "2026-11-29T09:00:00Z"})


@entries.bad("AHP-AUTOM-121", versions=VERSIONS)
def one_occurrence_starts_two_runs(t: Trace) -> None:
    one, other = "2026-01-01T09:00:00Z", "2026-01-01T10:00:00+01:00"
    two = [summary(identity=f"{RUN}/{n}", scheduledFor=at) for n, at in enumerate((one, other))]
    follows(t, entry(runs=two))


@entries.bad("AHP-AUTOM-123", versions=NEWEST)
def it_goes_on_although_it_was_to_stop(t: Trace) -> None:
    follows(t, {**defined(disableConditions=[{"kind": "afterRuns", "max": 2}]), "runCount": 2})


@entries.bad("AHP-AUTOM-125", versions=NEWEST)
def the_count_goes_on_after_switching_on(t: Trace) -> None:
    conditions = [{"kind": "afterRuns", "max": 5}]
    follows(t, {**defined(disableConditions=conditions, enabled=False), "runCount": 3})
    changes(t, enabled=True)
    sets(t, {**defined(disableConditions=conditions), "runCount": 3})


@entries.bad("AHP-AUTOM-125", versions=NEWEST)
def a_new_title_sets_the_count_back(t: Trace) -> None:
    conditions = [{"kind": "afterRuns", "max": 5}]
    follows(t, {**defined(disableConditions=conditions), "runCount": 3})
    changes(t, title="New")
    sets(t, {**defined(disableConditions=conditions, title="New"), "runCount": 0})


@entries.bad("AHP-AUTOM-128", versions=VERSIONS)
def more_runs_than_the_limit(t: Trace) -> None:
    follows(t, entry(runs=[summary(identity=f"{RUN}/{n}") for n in range(3)]), runHistoryLimit=2)


@entries.bad("AHP-AUTOM-129", versions=VERSIONS)
def an_entry_of_another_scheme(t: Trace) -> None:
    follows(t, entry("urn:nightly"))


@entries.bad("AHP-AUTOM-130", versions=VERSIONS)
def the_oldest_first(t: Trace) -> None:
    young, old = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
    follows(t, entry(runs=[summary(created=old), summary(identity=f"{RUN}/2", created=young)]))


@entries.good(
    "AHP-AUTOM-102",
    "AHP-AUTOM-103",
    "AHP-AUTOM-107",
    "AHP-AUTOM-120",
    "AHP-AUTOM-121",
    "AHP-AUTOM-128",
    "AHP-AUTOM-129",
    "AHP-AUTOM-130",
    versions=VERSIONS,
)
def entries_as_they_should_be(t: Trace) -> None:
    follows(t, runHistoryLimit=2)
    creates(t, triggers=[scheduled()])
    sets(t, {**defined(triggers=[scheduled()]), "nextRunAt": "2026-11-30T09:00:00Z"})
    changes(t, enabled=False, title="New")
    sets(t, defined(triggers=[scheduled()], title="New", enabled=False))
    late = summary("running", f"{RUN}/3", "2026-01-03T00:00:00Z", catchUp=True, scheduledFor="2026-01-02T09:00:00Z")
    first = summary(identity=f"{RUN}/2", created="2026-01-02T00:00:00Z", scheduledFor="2026-01-01T09:00:00Z")
    last = entry(runs=[late, first, summary()])
    sets(t, last)
    follows(t, last, conns="B", runHistoryLimit=2)


@entries.good("AHP-AUTOM-123", versions=NEWEST)
def it_has_stopped(t: Trace) -> None:
    follows(t, {**defined(disableConditions=[{"kind": "afterRuns", "max": 2}], enabled=False), "runCount": 2})


@entries.good("AHP-AUTOM-113", "AHP-AUTOM-114", "AHP-AUTOM-125", versions=NEWEST)
def conditions_and_copies(t: Trace) -> None:
    conditions = [{"kind": "afterRuns", "max": 2}, {"kind": "afterDate", "date": STARTED}]
    plugin = {"type": "plugin", "id": "p", "uri": "virtual://a", "name": "p"}
    template = {"customizations": [plugin]}
    copy = {"customizations": [{**plugin, "uri": "file:///copies/p"}]}
    ended = defined(disableConditions=conditions, enabled=False, session=template)
    follows(t, {**ended, "runCount": 2, **copy})
    changes(t, enabled=True)
    sets(t, {**defined(disableConditions=conditions, session=template), "runCount": 0, **copy})


@entries.good(versions=VERSIONS)
def the_host_has_its_own_words(t: Trace) -> None:
    """An entry about something else comes first; a zone whose rules may change; two things asked for at once."""
    follows(t, entry())
    changes(t, enabled=False)
    sets(t, entry(runs=[summary("running")]))
    changes(t, title="One")
    changes(t, enabled=False)
    sets(t, defined(title="One", session={"provider": "q"}))
    sets(t, {**defined(triggers=[scheduled(zone="Europe/Berlin")]), "nextRunAt": "2026-11-29T03:00:00Z"})


# -- runs ---------------------------------------------------------------------------------------------


def run_state(status: str, **members: JSON) -> JSON:
    state = {"resource": RUN, "automation": NIGHTLY, "origin": {"kind": "manual"}, "sessions": [SESSION]}
    return {**state, "lifecycle": lifecycle(status), "operations": [], **members}


def becomes(t: Trace, status: str, to: str = "A") -> None:
    t.envelope(RUN, {"type": "automationRun/lifecycleChanged", "lifecycle": lifecycle(status), "operations": []}, to)


@runs.bad("AHP-AUTOM-108", versions=VERSIONS)
def pending_becomes_completed(t: Trace) -> None:
    t.handshake()
    t.subscribe(RUN, run_state("pending"))
    becomes(t, "completed")


@runs.bad("AHP-AUTOM-108", versions=VERSIONS)
def a_summary_goes_back(t: Trace) -> None:
    follows(t, entry(runs=[summary("failed")]))
    sets(t, entry(runs=[summary("running")]))


@runs.bad("AHP-AUTOM-108", "AHP-AUTOM-109", versions=VERSIONS)
def what_has_ended_is_cancelled(t: Trace) -> None:
    t.handshake()
    t.subscribe(RUN, run_state("completed"))
    t.echo(RUN, {"type": "automationRun/cancelRequested"})
    becomes(t, "cancelled")


@runs.bad("AHP-AUTOM-110", versions=VERSIONS)
def a_session_that_does_not_know_its_run(t: Trace) -> None:
    t.handshake()
    t.subscribe(RUN, run_state("running", primarySession=SESSION))
    t.subscribe(SESSION, calm_session())


@runs.bad("AHP-AUTOM-110", versions=VERSIONS)
def a_session_of_another_run(t: Trace) -> None:
    t.handshake()
    t.subscribe(RUN, run_state("running"))
    t.envelope(RUN, {"type": "automationRun/primarySessionChanged", "primarySession": SESSION})
    origin = {"kind": "automation", "automation": NIGHTLY, "run": "ahp-automation-run:/r2"}
    t.subscribe(SESSION, calm_session(origin=origin))


@runs.good("AHP-AUTOM-108", "AHP-AUTOM-109", "AHP-AUTOM-110", versions=VERSIONS)
def a_run_from_beginning_to_end(t: Trace) -> None:
    follows(t, entry(runs=[summary("pending")]), conns="AB")
    for conn in "AB":
        t.subscribe(RUN, run_state("pending", primarySession=SESSION), conn)
    origin = {"kind": "automation", "automation": NIGHTLY, "run": RUN}
    t.subscribe(SESSION, calm_session(origin=origin))
    for status in ("running", "running", "completed", "completed"):
        becomes(t, status, "AB")
    t.echo(RUN, {"type": "automationRun/cancelRequested"}, to="AB")
    sets(t, entry(runs=[summary("completed")]), "AB")


@pytest.mark.parametrize("new", sorted(LIFE))
@pytest.mark.parametrize("old", sorted(LIFE))
def test_every_step_of_a_run(old: str, new: str) -> None:
    t = Trace("0.9.0")
    t.handshake()
    t.subscribe(RUN, run_state(old))
    becomes(t, new)
    right = new in LIFE[old] or new == old
    assert [f.obligations for f in t.judged().findings] == ([] if right else [("AHP-AUTOM-108",)])


# -- schedules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        *("@daily", "* * * *", "0 0 0 * * *", "0 0 ? * 1", "0 0 L * *", "60 * * * *", "* 24 * * *", "* * 0 * *"),
        *(
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "x * * * *",
            "1- * * * *",
            "* * * * FOO",
            "0 0 * * 5#3",
            "-1 0 * * *",
        ),
    ],
)
def test_outside_of_the_grammar(expression: str) -> None:
    with pytest.raises(Outside):
        schedule_of(expression)


@pytest.mark.parametrize("expression", ["5/10 * * * *", "1-5/2,9 * * * *", "* * * * FRI-MON", "*,5 * * * *"])
def test_what_may_be_read_so_or_so(expression: str) -> None:
    assert schedule_of(expression) is None


@pytest.mark.parametrize(
    ("expression", "moment", "expected"),
    [
        ("0 9 * * MON-FRI", "2026-11-30T09:00:00", True),
        ("0 9 * * mon-fri", "2026-11-29T09:00:00", False),
        ("0 0 13 * 5", "2026-11-13T00:00:00", True),
        ("0 0 13 * 5", "2026-11-20T00:00:00", True),
        ("0 0 13 * 5", "2026-11-21T00:00:00", False),
        ("0 0 * * 7", "2026-11-29T00:00:00", True),
        ("0 0 * * 0", "2026-11-29T00:00:00", True),
        ("*/15 * * * *", "2026-11-29T00:45:00", True),
        ("1-30/2 0 1,15 jan-DEC *", "2026-11-15T00:03:00", True),
        ("1-30/2 0 1,15 jan-DEC *", "2026-11-15T00:04:00", False),
        ("* * * * *", "2026-11-15T00:04:01", False),
    ],
)
def test_occurrences(expression: str, moment: str, expected: bool) -> None:
    schedule = schedule_of(expression)
    assert schedule is not None and schedule.has(datetime.fromisoformat(moment).replace(tzinfo=UTC)) is expected


@pytest.mark.parametrize(
    ("expression", "minutes"),
    [("* * * * *", 1), ("0,50 * * * *", 10), ("*/15 9 * * *", 15), ("30 9 * * *", 1440), ("0 9,12 * * *", 180)],
)
def test_the_shortest_time_between(expression: str, minutes: int) -> None:
    schedule = schedule_of(expression)
    assert schedule is not None and schedule.shortest == minutes


@found(requests, entries, runs)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(requests, entries, runs)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
