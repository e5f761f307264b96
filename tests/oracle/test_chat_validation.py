"""What clients do on a chat is taken or refused as its state demands."""

from __future__ import annotations

from tests.protocol.examples import CHAT, OPTION, TURN, message

from .traces import (
    DONE,
    FAILED,
    JSON,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    answers,
    asks,
    begins,
    calm_session,
    clean,
    ends,
    fails,
    finished,
    found,
    idle_chat,
    part_of,
    parts,
    question,
    ready,
    responds,
    starts,
    unwaits,
    waits,
    working_chat,
)

validation = Cases("chat-validation")

RESUMES = {"type": "chat/turnResume", "turnId": TURN}
TRUNCATES = {"type": "chat/truncated"}
APPROVED = about("Confirmed", approved=True, confirmed="user-action")
DENIED = about("Confirmed", approved=False, reason="denied")
SUCCEEDED = about("Complete", result=DONE)
PRODUCED = about("ContentChanged", content=[{"type": "text", "text": "so far"}])
NEW = ("0.9.0", "1.0.0")


def of(kind: str) -> JSON:
    return {"text": "hello", "origin": {"kind": kind}}


def a_chat(t: Trace, status: str = "running", contributor: JSON = None, conns: str = "AB") -> None:
    """Clients of a chat, without its session, whose active turn has one call."""
    call = {**a_call(status, contributor=None), **({"contributor": contributor} if contributor else {})}
    t.follow(conns, session=None, chat=working_chat(part_of(call), status=24 if status != "running" else 8))


def owned(t: Trace, by: str = "client-A") -> None:
    a_chat(t, "running", {"kind": "client", "clientId": by})


def offered(t: Trace) -> None:
    """The same, by a client that offers its tools still."""
    running = {**a_call("running", contributor=None), "contributor": {"kind": "client", "clientId": "client-A"}}
    session = calm_session(activeClients=[{"clientId": "client-A", "tools": []}])
    t.follow(session=session, chat=working_chat(part_of(running)))


def asked(t: Trace, *questions: JSON, **members: JSON) -> None:
    t.follow("AB", chat=working_chat())
    t.envelope(CHAT, asks("q", *questions, **members), "AB")


# -- what has to be refused ---------------------------------------------------------------------------


@validation.bad("AHP-TURN-025")
def a_turn_in_the_name_of_a_tool(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts(message=of("tool")))


@validation.bad("AHP-TURN-011")
def a_cancellation_of_nothing(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, ends("Cancelled"))


@validation.bad("AHP-TURN-012")
def a_cancellation_of_another_turn(t: Trace) -> None:
    """AMB-07: advice."""
    t.follow(chat=working_chat())
    t.echo(CHAT, ends("Cancelled", "other"))


@validation.bad("AHP-CONF-025")
def a_decision_about_nothing(t: Trace) -> None:
    """AMB-07: advice."""
    t.follow()
    t.echo(CHAT, APPROVED)


@validation.bad("AHP-DRAFT-004")
def a_draft_in_the_name_of_an_agent(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": of("agent")})


@validation.bad("AHP-PEND-012")
def a_steering_message_in_the_name_of_the_system(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, {**waits("s", kind="steering"), "message": of("systemNotification")})


@validation.bad("AHP-PEND-011")
def a_removal_of_what_does_not_wait(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, waits("one"))
    t.echo(CHAT, unwaits("one", "steering"))


@validation.bad("AHP-CHAT-104", versions=NEW)
def a_resumption_of_what_cannot_go_on(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version))
    t.echo(CHAT, RESUMES)


@validation.bad("AHP-CHAT-104", versions=NEW)
def a_resumption_of_an_earlier_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version, resumable=True))
    t.echo(CHAT, starts("next"))
    t.envelope(CHAT, ends(turn="next"))
    t.echo(CHAT, RESUMES)


@validation.bad("AHP-CONF-016")
def a_review_of_what_nobody_reviews(t: Trace) -> None:
    a_chat(t)
    t.echo(CHAT, about("ResultConfirmed", approved=True), to="AB")


@validation.bad("AHP-CONF-021", beside=("shapes",))
def a_denial_for_a_reason_of_the_hosts(t: Trace) -> None:
    a_chat(t, "pending-confirmation", conns="A")
    t.echo(CHAT, about("Confirmed", approved=False, reason="result-denied"))


@validation.bad("AHP-TOOL-016")
def a_result_of_nobodys_for_the_hosts_tool(t: Trace) -> None:
    a_chat(t)
    t.echo(CHAT, SUCCEEDED, to="AB")


@validation.bad("AHP-TOOL-016")
def progress_of_nobodys_for_a_servers_tool(t: Trace) -> None:
    a_chat(t, "running", {"kind": "mcp", "customizationId": "vault"})
    t.echo(CHAT, PRODUCED, "B", to="AB")


@validation.bad("AHP-CLTOOL-008")
def a_result_of_another_client(t: Trace) -> None:
    owned(t)
    t.echo(CHAT, SUCCEEDED, "B", to="AB")


@validation.bad("AHP-CLTOOL-009")
def progress_of_another_client(t: Trace) -> None:
    owned(t)
    t.echo(CHAT, PRODUCED, "B", to="AB")


@validation.bad("AHP-CLTOOL-020")
def a_result_after_the_host_gave_up(t: Trace) -> None:
    owned(t)
    t.envelope(CHAT, about("Complete", result=FAILED), "AB")
    t.echo(CHAT, SUCCEEDED, to="AB")


@validation.bad("AHP-INPUTREQ-009")
def an_answer_to_nothing(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, answers())


@validation.bad("AHP-INPUTREQ-011")
def a_second_completion(t: Trace) -> None:
    asked(t)
    t.echo(CHAT, responds(), to="AB")
    t.echo(CHAT, responds(), "B", to="AB")


@validation.bad("AHP-INPUTREQ-010", beside=("shapes",))
def a_number_that_is_a_word(t: Trace) -> None:
    asked(t, question(kind="number"))
    answer = {"state": "submitted", "value": {"kind": "number", "value": "x"}}
    t.echo(CHAT, {**answers(), "answer": answer}, to="AB")


@validation.bad("AHP-INPUTREQ-010", beside=("shapes",))
def an_answer_without_value(t: Trace) -> None:
    asked(t, question())
    t.echo(CHAT, {**answers(), "answer": {"state": "submitted"}}, to="AB")


@validation.bad("AHP-INPUTREQ-020")
def a_word_where_a_number_is_due(t: Trace) -> None:
    """AMB-29: advice."""
    asked(t, question(kind="integer"))
    t.echo(CHAT, answers(), to="AB")


@validation.bad("AHP-INPUTREQ-012")
def an_empty_form_is_accepted(t: Trace) -> None:
    asked(t, question(required=True))
    t.echo(CHAT, answers(state="draft"), to="AB")
    t.echo(CHAT, responds(), to="AB")


# -- what has to be taken -----------------------------------------------------------------------------


@validation.bad("AHP-TURN-001")
def a_plain_message_is_refused(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts(), rejected="not now")


@validation.bad("AHP-TRUNC-011")
def no_turn_behind_a_truncation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, TRUNCATES)
    t.echo(CHAT, starts("next"), rejected="one is running")


@validation.bad("AHP-TURN-014")
def only_who_started_may_cancel(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, starts(), to="AB")
    t.echo(CHAT, ends("Cancelled"), "B", rejected="not yours")


@validation.bad("AHP-TRUNC-006")
def only_one_client_may_truncate(t: Trace) -> None:
    t.follow("AB", chat=idle_chat(turns=[finished()]))
    t.echo(CHAT, {**TRUNCATES, "turnId": TURN}, to="AB")
    t.echo(CHAT, TRUNCATES, "B", rejected="not yours")


@validation.bad("AHP-CONF-022")
def only_who_started_may_approve(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, begins(contributor=None), "AB")
    t.envelope(CHAT, ready(confirmed=False), "AB")
    t.echo(CHAT, APPROVED, "B", rejected="not yours")


@validation.bad("AHP-CLTOOL-007")
def the_owners_result_is_refused(t: Trace) -> None:
    offered(t)
    t.echo(CHAT, SUCCEEDED, rejected="no")


@validation.bad("AHP-CLTOOL-023")
def the_owners_progress_is_refused(t: Trace) -> None:
    offered(t)
    t.echo(CHAT, PRODUCED, rejected="no")


@validation.bad("AHP-PEND-016")
def only_the_owner_may_reorder(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    for identity in ("one", "two"):
        t.echo(CHAT, waits(identity), to="AB")
    t.echo(CHAT, {"type": "chat/queuedMessagesReordered", "order": ["two"]}, "B", rejected="not yours")


@validation.bad("AHP-PEND-016")
def nothing_may_wait(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, waits("one", kind="steering"), rejected="idle")


@validation.bad("AHP-INPUTREQ-013")
def a_refusal_is_refused(t: Trace) -> None:
    asked(t, question(required=True))
    t.echo(CHAT, responds("decline"), rejected="answer first")


@validation.bad("AHP-INPUTREQ-017")
def only_who_started_may_answer(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, asks("q", question()), "AB")
    t.echo(CHAT, responds(), "B", rejected="not yours")


@validation.bad("AHP-INPUTREQ-021")
def a_page_that_was_seen_is_not_enough(t: Trace) -> None:
    asked(t, url="https://example.com/review")
    t.echo(CHAT, responds(), rejected="no answers")


# -- right hosts --------------------------------------------------------------------------------------


@validation.good("AHP-TURN-001", "AHP-TURN-014", "AHP-TURN-011", "AHP-TURN-025", "AHP-DRAFT-004")
def turns_and_drafts(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, starts(message=of("agent")), rejected="not you")
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, parts(), "AB")
    t.envelope(CHAT, ends(), "AB")
    t.echo(CHAT, starts("next"), to="AB")
    t.echo(CHAT, ends("Cancelled", "next"), "B", to="AB")
    t.echo(CHAT, ends("Cancelled", "next"), rejected="it is over")
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": of("tool")}, rejected="not you")
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message()}, to="AB")
    t.echo(CHAT, {"type": "chat/draftChanged"}, to="AB")


@validation.good("AHP-TRUNC-006", "AHP-TRUNC-011")
def a_turn_behind_a_truncation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, TRUNCATES)
    t.echo(CHAT, starts("next"))


@validation.good("AHP-CONF-016", "AHP-CONF-021", "AHP-CONF-022", "AHP-CONF-025", "AHP-TURN-012")
def decisions(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, APPROVED, rejected="there is no such call")
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, begins(contributor=None), "AB")
    t.envelope(CHAT, ready(confirmed=False), "AB")
    t.echo(CHAT, about("Confirmed", approved=False, reason="result-denied"), rejected="no such reason")
    t.echo(CHAT, about("ResultConfirmed", approved=True), rejected="there is none")
    t.echo(CHAT, ends("Cancelled", "other"), rejected="it does not run")
    t.echo(CHAT, DENIED, "B", to="AB")


@validation.good("AHP-CLTOOL-007", "AHP-CLTOOL-008", "AHP-CLTOOL-009", "AHP-CLTOOL-020", "AHP-CLTOOL-023")
def a_clients_tool(t: Trace) -> None:
    owned(t)
    t.echo(CHAT, PRODUCED, "B", rejected="not yours")
    t.echo(CHAT, SUCCEEDED, "B", rejected="not yours")
    t.echo(CHAT, PRODUCED, to="AB")
    t.echo(CHAT, SUCCEEDED, to="AB")
    t.envelope(CHAT, about("Start", "other", toolName="x", displayName="x", contributor=_A), "AB")
    t.envelope(CHAT, ready("other"), "AB")
    t.envelope(CHAT, about("Complete", "other", result=FAILED), "AB")
    t.echo(CHAT, about("Complete", "other", result=DONE), rejected="too late")


_A = {"kind": "client", "clientId": "client-A"}


@validation.good()
def one_who_left_has_no_calls(t: Trace) -> None:
    t.follow("A", chat=working_chat(part_of({**a_call("running", contributor=None), "contributor": _A})))
    t.echo(CHAT, SUCCEEDED, rejected="you are not there")


@validation.good("AHP-TOOL-016")
def a_result_of_nobodys_is_refused(t: Trace) -> None:
    a_chat(t)
    t.echo(CHAT, SUCCEEDED, rejected="not yours")


@validation.good("AHP-PEND-011", "AHP-PEND-012", "AHP-PEND-016")
def waiting_messages(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.echo(CHAT, waits("one"), to="AB")
    t.echo(CHAT, waits("two"), to="AB")
    t.echo(CHAT, {"type": "chat/queuedMessagesReordered", "order": ["two", "gone"]}, "B", rejected="gone is gone")
    t.echo(CHAT, {"type": "chat/queuedMessagesReordered", "order": ["two"]}, "B", to="AB")
    t.echo(CHAT, unwaits("one"), "B", to="AB")
    t.echo(CHAT, unwaits("one"), "B", rejected="gone")
    t.echo(CHAT, {**waits("three"), "message": of("tool")}, rejected="not you")


@validation.good(
    "AHP-INPUTREQ-009",
    "AHP-INPUTREQ-010",
    "AHP-INPUTREQ-011",
    "AHP-INPUTREQ-012",
    "AHP-INPUTREQ-013",
    "AHP-INPUTREQ-020",
)
def questions(t: Trace) -> None:
    asked(t, question(required=True), question("two", "number"))
    t.echo(CHAT, answers(request="other"), rejected="no such question")
    t.echo(CHAT, {**answers("two"), "answer": {"state": "submitted"}}, rejected="no value")
    t.echo(CHAT, responds(), rejected="answer first")
    t.echo(CHAT, answers(), "B", to="AB")
    t.echo(CHAT, answers("two"), "B", rejected="no number")
    number = {"state": "submitted", "value": {"kind": "number", "value": 2}}
    t.echo(CHAT, {**answers("two"), "answer": number}, "B", to="AB")
    t.echo(CHAT, answers("unknown"), "B", rejected="no such question")
    t.echo(CHAT, responds(), to="AB")
    t.echo(CHAT, responds(), "B", rejected="answered")
    t.envelope(CHAT, asks("again", question(required=True)), "AB")
    t.echo(CHAT, responds("cancel", "again"), to="AB")


@validation.good("AHP-INPUTREQ-017")
def anybody_may_answer(t: Trace) -> None:
    t.follow("AB")
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, asks("q", question()), "AB")
    t.echo(CHAT, responds(), "B", to="AB")


@validation.good("AHP-INPUTREQ-021")
def a_page(t: Trace) -> None:
    asked(t, url="https://example.com/review")
    t.echo(CHAT, responds(), to="AB")


@validation.good("AHP-CHAT-104", versions=NEW)
def resumptions(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, RESUMES, rejected="it runs")
    t.envelope(CHAT, fails(t.version))
    t.echo(CHAT, RESUMES, rejected="it cannot go on")


@validation.good()
def what_a_host_may_refuse(t: Trace) -> None:
    """Messages with a model, an agent or attachments, and ids that were used."""
    t.follow(chat=idle_chat(turns=[finished()]))
    t.echo(CHAT, starts("a", message={**message(), "model": {"id": "unknown"}}), rejected="no such model")
    t.echo(CHAT, starts(), rejected="that id was used")
    t.echo(CHAT, TRUNCATES, rejected="the agent cannot forget")
    t.echo(CHAT, {**waits("one"), "message": {**message(), "agent": {"uri": "x:y"}}}, rejected="no such agent")


@validation.good()
def nothing_is_taken_where_nobody_may_write(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(turns=[finished()], interactivity="read-only"))
    t.echo(CHAT, starts("next"), rejected="read-only")
    t.echo(CHAT, waits("one"), rejected="read-only")


@validation.good()
def a_session_that_is_not_ready_takes_no_turn(t: Trace) -> None:
    t.follow(session=calm_session(lifecycle="creating"))
    t.echo(CHAT, starts(), rejected="not yet")
    t.echo(CHAT, waits("one"), rejected="not yet")


@validation.good()
def a_host_may_want_one_of_its_options(t: Trace) -> None:
    a_chat(t, "pending-confirmation")
    t.envelope(CHAT, ready(confirmed=False, options=[OPTION]), "AB")
    t.echo(CHAT, APPROVED, "B", rejected="choose one")


@validation.good()
def who_follows_late_knows_nothing(t: Trace) -> None:
    """A client that permits delays may hear of a refusal before what it rests on."""
    t.handshake()
    t.subscribe(CHAT, working_chat(), delivery={"maxLatencyMs": 500})
    number = t.dispatch(CHAT, ends("Cancelled"))
    t.envelope(CHAT, ends("Cancelled"), origin=("A", number), rejected="it is over")


@validation.good()
def a_recording_that_begins_in_the_middle(t: Trace) -> None:
    t.reconnect("B", "client-B", 5, [CHAT], {"type": "replay", "actions": [], "missing": []})
    t.seq = 5
    t.echo(CHAT, ends("Cancelled"), "B")


@validation.good()
def a_client_is_no_longer_active_where_nobody_looks(t: Trace) -> None:
    owned(t)
    t.echo(CHAT, SUCCEEDED, rejected="you have left")


@validation.good()
def no_turn_behind_a_truncation_in_an_unknown_session(t: Trace) -> None:
    """It may be archived, or wait for a token."""
    t.follow(session=None, chat=working_chat())
    t.echo(CHAT, TRUNCATES)
    t.echo(CHAT, starts("next"), rejected="archived")


@validation.good()
def a_message_is_refused_to_one_who_does_not_know_the_agents(t: Trace) -> None:
    """An agent may wait for a token."""
    t.handshake()
    t.notify("unsubscribe", channel=ROOT)
    t.subscribe(SESSION, calm_session())
    t.subscribe(CHAT, idle_chat())
    t.echo(CHAT, starts(), rejected="a token is needed")


@validation.good(versions=NEW)
def a_turn_outside_of_the_window_is_resumed(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat(status=2, turnsNextCursor="older"), view={"turns": 0})
    t.echo(CHAT, {"type": "chat/turnResume", "turnId": TURN})


def test_others_may_have_removed_the_chat() -> None:
    """Who follows the chat alone is not told of it."""
    t = Trace()
    t.follow(session=None, chat=working_chat())
    t.echo(CHAT, waits("one"), rejected="no such chat")
    assert t.judged().findings
    assert t.judged(whole=False).findings == []


@found(validation)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(validation)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
