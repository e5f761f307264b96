"""Questions to the user."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .traces import Case, Cases, Trace, asks, clean, ends, fails, found, question, responds, working_chat

elicitation = Cases("elicitation")


@elicitation.bad("AHP-INPUTREQ-001")
def a_turn_ends_with_an_open_question(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks())
    t.envelope(CHAT, ends())


@elicitation.bad("AHP-INPUTREQ-002")
def new_ids_with_each_update(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks("q", question("one"), question("two")))
    t.envelope(CHAT, asks("q", question("1"), question("2")))


@elicitation.bad("AHP-INPUTREQ-003")
def a_question_while_nothing_runs(t: Trace) -> None:
    t.follow()
    t.envelope(CHAT, asks())


@elicitation.bad("AHP-INPUTREQ-019")
def two_questions_share_an_id(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks("q", question("one"), question("one")))


@elicitation.bad("AHP-INPUTREQ-019")
def two_options_share_an_id(t: Trace) -> None:
    options = [{"id": "x", "label": "X"}, {"id": "x", "label": "Y"}]
    request = asks("q", question(kind="single-select", options=options))["request"]
    t.follow(chat=working_chat({"kind": "inputRequest", "request": request}, status=24))


@elicitation.good("AHP-INPUTREQ-001", "AHP-INPUTREQ-002", "AHP-INPUTREQ-003", "AHP-INPUTREQ-019")
def a_question_is_asked_refined_and_answered(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.envelope(CHAT, asks("q", question("one")), "AB")
    t.envelope(CHAT, asks("q", question("one"), question("two")), "AB")
    t.echo(CHAT, responds("decline"), to="AB")
    t.envelope(CHAT, ends(), "AB")


@elicitation.good()
def questions_that_nobody_answers(t: Trace) -> None:
    """A turn that is cancelled, or fails, leaves them open."""
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks())
    t.envelope(CHAT, fails(t.version))


@elicitation.good()
def a_question_that_was_cancelled_with_its_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks())
    t.echo(CHAT, ends("Cancelled"))


@elicitation.good()
def an_answered_question_in_a_snapshot(t: Trace) -> None:
    request = asks("q", question())["request"]
    t.follow(chat=working_chat({"kind": "inputRequest", "request": request, "response": "cancel"}))
    t.envelope(CHAT, asks("q", question("other")))
    t.echo(CHAT, responds())
    t.envelope(CHAT, ends())


@found(elicitation)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(elicitation)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
