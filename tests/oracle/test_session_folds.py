"""The own state of the host follows its actions: sessions, automations, blocked calls."""

from __future__ import annotations

from tests.protocol.examples import CALL, CHAT, automation, message, server

from .test_automations import run_state
from .test_customizations import child, decides, plugin
from .traces import (
    DONE,
    FAILED,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    ends,
    entry,
    finished,
    found,
    idle_chat,
    lists,
    part_of,
    starts,
    unlists,
    working_chat,
)

folds = Cases("session-folds")

NEW, NEWEST = ("0.9.0",), ("1.0.0",)
CATALOGUE, RUN = "ahp-automations://", "ahp-automation-run:/r1"
ROUND = ("input-needed-bit", "tool-authentication", "input-leftovers", "origins", "stopped-servers")


def with_list(t: Trace, *entries: JSON) -> None:
    t.follow(session=calm_session(customizations=list(entries)), chat=None)


def shows(t: Trace, *entries: JSON, conn: str = "A", **members: JSON) -> None:
    """A later snapshot of the session, with these customizations."""
    t.subscribe(SESSION, calm_session(customizations=list(entries), **members), conn)


def says(t: Trace, kind: str, **members: JSON) -> None:
    t.envelope(SESSION, {"type": f"session/{kind}", **members})


def toggles(t: Trace, identity: str = "p", rejected: JSON = None) -> None:
    off: JSON = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    t.echo(SESSION, {"type": "session/customizationToggled", "id": identity, **off}, rejected=rejected)


# -- customizations -----------------------------------------------------------------------------------


@folds.bad("AHP-CUST-001")
def the_list_is_not_replaced(t: Trace) -> None:
    with_list(t, plugin())
    says(t, "customizationsChanged", customizations=[plugin("q")])
    shows(t, plugin(), plugin("q"))


@folds.bad("AHP-CUST-003")
def an_entry_is_not_updated(t: Trace) -> None:
    with_list(t, plugin())
    says(t, "customizationUpdated", customization=plugin(name="New"))
    shows(t, plugin())


@folds.bad("AHP-CUST-003", "AHP-CUST-012")
def children_are_merged(t: Trace) -> None:
    with_list(t, plugin("p", child("a")))
    says(t, "customizationUpdated", customization=plugin("p", child("b")))
    shows(t, plugin("p", child("a"), child("b")))


@folds.bad("AHP-CUST-004")
def a_removed_child_stays(t: Trace) -> None:
    with_list(t, plugin("p", child("a")))
    says(t, "customizationRemoved", id="a")
    shows(t, plugin("p", child("a")))


@folds.bad("AHP-CUST-002", "AHP-CUST-005", versions=("0.6.0",))
def a_toggle_without_effect(t: Trace) -> None:
    with_list(t, plugin())
    toggles(t)
    shows(t, plugin())


@folds.bad("AHP-CUST-101", "AHP-CUST-005", versions=NEW)
def decisions_without_effect(t: Trace) -> None:
    with_list(t, plugin(enablement=decides("session")))
    toggles(t)
    shows(t, plugin(enablement=decides("session")))


@folds.bad("AHP-CUST-016", versions=("0.6.0",))
def children_are_switched_off_too(t: Trace) -> None:
    with_list(t, plugin("p", child("a")))
    toggles(t)
    shows(t, plugin("p", child("a", enabled=False), enabled=False))


@folds.bad("AHP-CUST-020")
def an_unknown_id_makes_an_entry(t: Trace) -> None:
    with_list(t, plugin())
    toggles(t, "nobody", "no")
    shows(t, plugin(), plugin("nobody"))


@folds.good("AHP-CUST-001", "AHP-CUST-003", "AHP-CUST-004", "AHP-CUST-005", "AHP-CUST-012", "AHP-CUST-020")
def lists_that_follow(t: Trace) -> None:
    with_list(t, plugin())
    says(t, "customizationsChanged", customizations=[plugin("p", child("a"), child("b"))])
    says(t, "customizationUpdated", customization=plugin("p", child("a"), child("c")))
    says(t, "customizationRemoved", id="c")
    toggles(t)
    toggles(t, "nobody")
    off = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    shows(t, plugin("p", child("a"), **off))


@folds.good("AHP-CUST-002", "AHP-CUST-016", versions=("0.6.0",))
def a_toggle_of_a_container(t: Trace) -> None:
    with_list(t, plugin("p", child("a")))
    toggles(t)
    shows(t, plugin("p", child("a"), enabled=False))


@folds.good("AHP-CUST-101", versions=NEW)
def new_decisions(t: Trace) -> None:
    with_list(t, plugin(enablement=decides("session")))
    toggles(t)
    shows(t, plugin(enablement=[{"kind": "session", "enabled": False}]))


# -- servers ------------------------------------------------------------------------------------------


def idle(kind: str, **members: JSON) -> JSON:
    shown = {**server(kind=kind), "state": {"kind": kind, **members}}
    return {name: value for name, value in shown.items() if name != "channel"}


@folds.bad("AHP-MCP-009")
def the_channel_is_left_standing(t: Trace) -> None:
    with_list(t, server())
    says(t, "mcpServerStateChanged", id="vault", state={"kind": "error", "error": {"errorType": "e", "message": "m"}})
    shows(t, {**idle("error", error={"errorType": "e", "message": "m"}), "channel": "mcp://vault"})


@folds.bad("AHP-MCPS-005")
def a_stop_that_is_not_seen(t: Trace) -> None:
    with_list(t, server())
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    shows(t, server())


@folds.bad("AHP-MCP-016")
def an_unknown_server_is_started(t: Trace) -> None:
    with_list(t, plugin())
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "nobody"})
    shows(t, plugin(), {**idle("starting"), "id": "nobody"})


@folds.bad("AHP-MCP-102", versions=NEWEST)
def the_turn_still_waits_for_the_server(t: Trace) -> None:
    with_list(t, idle("starting", blocking=True))
    t.echo(SESSION, {"type": "session/mcpServerBackgroundRequested", "id": "vault"})
    shows(t, idle("starting", blocking=True))


@folds.bad("AHP-MCP-040")
def who_comes_late_does_not_see_the_challenge(t: Trace) -> None:
    waiting = {"kind": "authRequired", **a_call("auth-required")["auth"]}
    t.follow("AB", session=None, chat=None)
    t.subscribe(SESSION, calm_session(customizations=[{**idle("authRequired"), "state": waiting}]))
    t.subscribe(SESSION, calm_session(customizations=[idle("starting")]), "B")


@folds.good("AHP-MCP-009", "AHP-MCP-016", "AHP-MCP-040", "AHP-MCPS-005")
def servers_that_follow(t: Trace) -> None:
    waiting = {"kind": "authRequired", **a_call("auth-required")["auth"]}
    t.follow("AB", session=None, chat=None)
    t.subscribe(SESSION, calm_session(customizations=[server(), {**idle("stopped"), "id": "other"}]))
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "other"})
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "nobody"})
    says(t, "mcpServerStateChanged", id="vault", state=waiting)
    shown = [{**idle("authRequired"), "state": waiting}, {**idle("starting"), "id": "other"}]
    t.subscribe(SESSION, calm_session(customizations=shown), "B")


@folds.good("AHP-MCP-102", versions=NEWEST)
def the_server_goes_on_in_the_background(t: Trace) -> None:
    with_list(t, idle("starting", blocking=True))
    t.echo(SESSION, {"type": "session/mcpServerBackgroundRequested", "id": "vault"})
    shows(t, idle("starting", blocking=False))


# -- entries ------------------------------------------------------------------------------------------


def _bits(obligation: str, versions: tuple[str, ...]) -> None:
    def archived_no_more(t: Trace) -> None:
        t.follow(session=calm_session(status=64 | 1), chat=None)
        t.envelope(SESSION, lists(entry("toolConfirmation")))
        t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))

    def bits_as_they_were(t: Trace) -> None:
        t.follow(session=calm_session(status=64 | 1), chat=None)
        t.envelope(SESSION, lists(entry("toolConfirmation")))
        t.subscribe(SESSION, calm_session(status=64 | 24, inputNeeded=[entry("toolConfirmation")]))
        t.envelope(SESSION, unlists("need-1"))
        t.subscribe(SESSION, calm_session(status=64 | 1))

    folds.bad(obligation, versions=versions, beside=ROUND)(archived_no_more)
    folds.good(obligation, versions=versions)(bits_as_they_were)


_bits("AHP-INPUT-012", ("0.6.0",))
_bits("AHP-INPUT-102", NEW)


@folds.bad("AHP-INPUT-022", beside=ROUND)
def who_comes_late_does_not_see_the_question(t: Trace) -> None:
    t.follow("AB", session=None, chat=None)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))
    t.subscribe(SESSION, calm_session(status=24), "B")


@folds.bad("AHP-TOOLAUTH-081", beside=ROUND)
def who_comes_late_does_not_see_the_block(t: Trace) -> None:
    t.follow("AB", session=None, chat=None)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))
    t.subscribe(SESSION, calm_session(status=24), "B")


@folds.good("AHP-INPUT-022", "AHP-TOOLAUTH-081", "AHP-TOOLAUTH-048")
def who_comes_late_sees_everything(t: Trace) -> None:
    for conn in "AB":
        question = entry("toolConfirmation", "need-2", toolCall=a_call("pending-confirmation", "other"))
        chat = working_chat(part_of(a_call("auth-required")), status=24)
        t.follow(conn, session=calm_session(status=24, inputNeeded=[question, auth_entry()]), chat=chat)


def two(*names: str) -> JSON:
    listed = {
        "one": entry("toolConfirmation", "one", toolCall=a_call("pending-confirmation", "call-1")),
        "two": entry("toolConfirmation", "two", toolCall=a_call("pending-confirmation", "call-2")),
        "far": entry("toolConfirmation", "far", chat="ahp-chat:/c2"),
    }
    return [listed[name] for name in names]


@folds.bad("AHP-INPUT-013", beside=(*ROUND, "input-entries"))
def one_answer_takes_all_entries(t: Trace) -> None:
    t.follow(session=calm_session(status=24, inputNeeded=two("one", "two")), chat=None)
    t.envelope(SESSION, unlists("one"))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[]))


@folds.bad("AHP-INNEED-019", beside=(*ROUND, "input-entries"))
def one_chat_at_a_time(t: Trace) -> None:
    t.follow(session=calm_session(status=24, inputNeeded=two("one")), chat=None)
    t.envelope(SESSION, lists(two("far")[0]))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=two("far")))


@folds.good("AHP-INPUT-013", "AHP-INNEED-019")
def entries_side_by_side(t: Trace) -> None:
    chats = [{**calm_session()["chats"][0], "resource": uri} for uri in (CHAT, "ahp-chat:/c2")]
    t.follow(session=calm_session(status=24, chats=chats, inputNeeded=two("one", "two")), chat=None)
    t.envelope(SESSION, lists(two("far")[0]))
    t.envelope(SESSION, unlists("two"))
    t.subscribe(SESSION, calm_session(status=24, chats=chats, inputNeeded=two("one", "far")))


def selects(t: Trace, shown: JSON) -> None:
    agent = {"uri": "file:///agents/reviewer.md"}
    said = {**message(), "agent": agent}
    t.follow(session=None, chat=idle_chat())
    t.echo(CHAT, starts(message=said))
    active = {**working_chat()["activeTurn"], "message": {**message(), **({"agent": agent} if shown else {})}}
    t.subscribe(CHAT, idle_chat(status=8, activeTurn=active))


@folds.bad("AHP-CUST-018")
def the_agent_is_forgotten(t: Trace) -> None:
    selects(t, False)


@folds.good("AHP-CUST-018")
def the_agent_is_kept(t: Trace) -> None:
    selects(t, True)


# -- blocked calls ------------------------------------------------------------------------------------


def call_becomes(t: Trace, before: JSON, action: JSON, after: JSON, *, by: bool = False, no: JSON = None) -> None:
    """An action about the call of the active turn, and a snapshot that shows the call after it."""
    t.follow(session=None, chat=_chat(before))
    if by:
        t.echo(CHAT, action, rejected=no)
    else:
        t.envelope(CHAT, action)
    t.subscribe(CHAT, _chat(after))


def _chat(call: JSON) -> JSON:
    return working_chat(part_of(call), status=24 if call["status"] in ("auth-required", "pending-confirmation") else 8)


BLOCKED, RUNNING, OURS = a_call("auth-required"), a_call("running"), a_call("running", contributor=None)
REQUIRED, RESOLVED = about("AuthRequired", auth=BLOCKED["auth"]), about("AuthResolved")
# The end of the turn of the traces.
LATER = "2026-01-01T00:01:00.005Z"
ENDED = {**RUNNING, **FAILED, "status": "completed"}
BESIDE = ("tool-call-transitions", "tool-results", "tool-authentication", "origins", "turns", "shapes")


@folds.bad("AHP-TOOLAUTH-002", beside=BESIDE)
def a_call_of_the_host_is_blocked(t: Trace) -> None:
    call_becomes(
        t, OURS, REQUIRED, {**BLOCKED, "contributor": None} | {"contributor": {"kind": "mcp", "customizationId": "x"}}
    )


@folds.bad("AHP-TOOLAUTH-004", beside=BESIDE)
def a_second_challenge_replaces_the_first(t: Trace) -> None:
    other = {**BLOCKED["auth"], "reason": "expired"}
    call_becomes(t, BLOCKED, about("AuthRequired", auth=other), {**BLOCKED, "auth": other})


@folds.bad("AHP-TOOLAUTH-005", beside=BESIDE)
def a_challenge_of_another_turn(t: Trace) -> None:
    call_becomes(t, RUNNING, about("AuthRequired", turn="turn-0", auth=BLOCKED["auth"]), BLOCKED)


@folds.bad("AHP-TOOLAUTH-007", beside=BESIDE)
def a_question_is_settled_by_a_token(t: Trace) -> None:
    call_becomes(t, a_call("pending-confirmation"), RESOLVED, RUNNING)


@folds.bad("AHP-TOOLAUTH-008", beside=BESIDE)
def a_blocked_chat_that_works(t: Trace) -> None:
    t.follow(session=None, chat=_chat(RUNNING))
    t.envelope(CHAT, REQUIRED)
    t.subscribe(CHAT, working_chat(part_of(BLOCKED)))


@folds.bad("AHP-TOOLAUTH-009", beside=BESIDE)
def what_was_produced_is_lost(t: Trace) -> None:
    lost = {name: value for name, value in ENDED.items() if name not in ("content", "toolInput")}
    call_becomes(t, BLOCKED, about("Complete", result=FAILED), lost, by=True)


@folds.bad("AHP-TOOLAUTH-009", "AHP-TOOLAUTH-010", beside=BESIDE)
def a_failure_is_to_be_reviewed(t: Trace) -> None:
    action = about("Complete", result=FAILED, requiresResultConfirmation=True)
    call_becomes(t, BLOCKED, action, {**ENDED, "status": "pending-result-confirmation"}, by=True)


@folds.bad("AHP-TOOLAUTH-011", "AHP-TOOLAUTH-041", beside=BESIDE)
def a_claimed_success_counts(t: Trace) -> None:
    call_becomes(
        t, BLOCKED, about("Complete", result=DONE), {**RUNNING, **DONE, "status": "completed"}, by=True, no="no"
    )


@folds.bad("AHP-TOOLAUTH-012", beside=BESIDE)
def a_blocked_call_outlives_its_turn(t: Trace) -> None:
    t.follow(session=None, chat=_chat(BLOCKED))
    t.echo(CHAT, ends("Cancelled"))
    t.subscribe(CHAT, idle_chat(turns=[finished(part_of(BLOCKED), state="cancelled")], modifiedAt=LATER))


@folds.bad("AHP-TOOLAUTH-013", beside=BESIDE)
def a_confirmation_resumes_the_call(t: Trace) -> None:
    action = about("Confirmed", approved=True, confirmed="user-action")
    call_becomes(t, BLOCKED, action, RUNNING, by=True, no="no")


@folds.bad("AHP-TOOLAUTH-080", beside=BESIDE)
def a_client_resolves_the_challenge(t: Trace) -> None:
    call_becomes(t, BLOCKED, RESOLVED, RUNNING, by=True, no="no")


@folds.bad("AHP-TOOLAUTH-048", beside=BESIDE)
def who_comes_late_sees_the_call_running(t: Trace) -> None:
    t.follow("AB", session=None, chat=None)
    t.subscribe(CHAT, _chat(BLOCKED))
    t.subscribe(CHAT, {**_chat(RUNNING), "status": 24}, "B")


def challenged_again(t: Trace, after: JSON) -> None:
    t.follow(session=None, chat=_chat(BLOCKED))
    t.call("authenticate", {}, resource=BLOCKED["auth"]["resource"]["resource"], token="a-token-of-ours")
    t.envelope(CHAT, RESOLVED)
    t.envelope(CHAT, about("AuthRequired", auth={**BLOCKED["auth"], "reason": "expired"}))
    t.subscribe(CHAT, _chat(after))


@folds.bad("AHP-TOOLAUTH-038", beside=BESIDE)
def the_second_challenge_is_the_first(t: Trace) -> None:
    challenged_again(t, BLOCKED)


@folds.good("AHP-TOOLAUTH-038")
def the_second_challenge_is_another(t: Trace) -> None:
    challenged_again(t, {**BLOCKED, "auth": {**BLOCKED["auth"], "reason": "expired"}})


@folds.good(
    "AHP-TOOLAUTH-008",
    "AHP-TOOLAUTH-009",
    "AHP-TOOLAUTH-010",
    "AHP-TOOLAUTH-011",
    "AHP-TOOLAUTH-013",
    "AHP-TOOLAUTH-041",
)
def a_blocked_call_that_is_cancelled(t: Trace) -> None:
    t.follow(session=None, chat=_chat(RUNNING))
    t.envelope(CHAT, REQUIRED)
    t.echo(CHAT, about("Confirmed", approved=True, confirmed="user-action"), rejected="no")
    t.echo(CHAT, about("Complete", result=DONE), rejected="no")
    t.subscribe(CHAT, _chat(BLOCKED))
    t.echo(CHAT, about("Complete", result=FAILED, requiresResultConfirmation=True))
    t.subscribe(CHAT, _chat(ENDED))


def _follows(obligation: str, before: JSON, action: JSON, *, by: bool = False) -> None:
    def good(t: Trace) -> None:
        call_becomes(t, before, action, before, by=by, no="no" if by else None)

    good.__name__ = f"nothing_changes_{obligation[-3:]}"
    STILL.append((obligation, good))


STILL: list[tuple[str, object]] = []
_follows("AHP-TOOLAUTH-002", OURS, REQUIRED, by=True)
_follows("AHP-TOOLAUTH-004", BLOCKED, REQUIRED, by=True)
_follows("AHP-TOOLAUTH-005", RUNNING, about("AuthResolved", turn="turn-0"), by=True)
_follows("AHP-TOOLAUTH-007", RUNNING, RESOLVED, by=True)
_follows("AHP-TOOLAUTH-080", BLOCKED, RESOLVED, by=True)
for _obligation, _write in STILL:
    folds.good(_obligation)(_write)  # type: ignore[arg-type]


@folds.good("AHP-TOOLAUTH-012")
def a_blocked_call_ends_with_its_turn(t: Trace) -> None:
    t.follow(session=None, chat=_chat(BLOCKED))
    t.echo(CHAT, ends("Cancelled"))
    over = {**a_call("cancelled"), "reason": "skipped"}
    over = {name: value for name, value in over.items() if name in a_call("cancelled")}
    t.subscribe(CHAT, idle_chat(turns=[finished(part_of(over), state="cancelled")], modifiedAt=LATER))


# -- automations --------------------------------------------------------------------------------------


def nightly(**members: JSON) -> JSON:
    return {**automation(), "operations": ["run", "update", "remove"], **members}


OTHER = "ahp-automation:/other"


def catalogue(t: Trace, *entries: JSON) -> None:
    t.handshake(automations={"create": {}})
    t.subscribe(CATALOGUE, {"entries": list(entries)})


@folds.bad("AHP-AUTOM-131", versions=NEW)
def a_replaced_entry_moves_to_the_end(t: Trace) -> None:
    catalogue(t, nightly(), nightly(resource=OTHER))
    t.envelope(CATALOGUE, {"type": "automation/set", "automation": nightly(modifiedAt="2026-01-02T00:00:00Z")})
    t.subscribe(CATALOGUE, {"entries": [nightly(resource=OTHER), nightly(modifiedAt="2026-01-02T00:00:00Z")]})


@folds.bad("AHP-AUTOM-105", "AHP-AUTOM-131", versions=NEW)
def the_wrong_entry_is_removed(t: Trace) -> None:
    catalogue(t, nightly())
    t.echo(CATALOGUE, {"type": "automation/removed", "resource": OTHER})
    t.subscribe(CATALOGUE, {"entries": []})


@folds.bad("AHP-AUTOM-132", versions=NEW)
def the_first_session_stays_after_its_removal(t: Trace) -> None:
    t.handshake()
    t.subscribe(RUN, run_state("running", primarySession=SESSION))
    t.envelope(RUN, {"type": "automationRun/sessionRemoved", "session": SESSION})
    t.subscribe(RUN, run_state("running", primarySession=SESSION, sessions=[]))


@folds.good("AHP-AUTOM-105", "AHP-AUTOM-131", "AHP-AUTOM-132", versions=NEW)
def automations_that_follow(t: Trace) -> None:
    catalogue(t, nightly())
    t.envelope(CATALOGUE, {"type": "automation/set", "automation": nightly(resource=OTHER)})
    t.echo(CATALOGUE, {"type": "automation/removed", "resource": "ahp-automation:/nobody"})
    t.subscribe(CATALOGUE, {"entries": [nightly(), nightly(resource=OTHER)]})
    t.subscribe(RUN, run_state("running", primarySession=SESSION))
    t.envelope(RUN, {"type": "automationRun/sessionRemoved", "session": SESSION})
    t.subscribe(RUN, run_state("running", sessions=[]))


@found(folds)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(folds)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_the_call_of_the_traces() -> None:
    assert BLOCKED["toolCallId"] == CALL
