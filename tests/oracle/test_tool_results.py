"""What the host says of its tool calls."""

from __future__ import annotations

from tests.protocol.examples import CHAT, OPTION

from .traces import (
    DONE,
    JSON,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    begins,
    clean,
    ends,
    finished,
    found,
    idle_chat,
    part_of,
    parts,
    ready,
    working_chat,
)

results = Cases("tool-results")

APPROVED = about("Confirmed", approved=True, confirmed="user-action")
SIDE = {"uri": "file:///a", "content": {"uri": "file:///snapshots/a"}}
LATER = ("0.7.0", "0.9.0", "1.0.0")


def completes(*content: JSON, call: str = "call-1") -> JSON:
    return about("Complete", call, result={**DONE, "content": list(content)})


def begun(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))


def risk(safety: JSON) -> JSON:
    return {"kind": "judge", "status": "complete", "reason": "It writes", "safety": safety}


@results.bad("AHP-CHAT-108", versions=LATER)
def a_client_takes_over_with_ready(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(contributor={"kind": "client", "clientId": "phone"}))


@results.bad("AHP-CONF-006")
def an_approved_call_is_forgotten(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False))
    t.echo(CHAT, APPROVED)
    t.envelope(CHAT, ends())


@results.bad("AHP-CONF-010")
def two_options_share_an_id(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False, options=[OPTION, {**OPTION, "kind": "deny"}]))


@results.bad("AHP-CONF-012")
def the_same_words_again(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    t.envelope(CHAT, ready(confirmed=False))


@results.bad("AHP-CONF-018")
def safety_in_per_cent(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False, riskAssessment=risk(80)))


@results.bad("AHP-CONF-020")
def nobody_was_asked(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, {**ready(), "confirmed": "user-action"})


@results.bad("AHP-TOOL-018", versions=("0.6.0",))
def another_terminal_ends(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    block = {"type": "terminal", "resource": "ahp-terminal:/t1", "title": "Shell"}
    t.envelope(CHAT, about("ContentChanged", content=[block]))
    t.envelope(CHAT, completes({"type": "terminalComplete", "resource": "ahp-terminal:/t2"}))


@results.bad("AHP-TOOL-019")
def an_edit_of_nothing(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    t.envelope(CHAT, completes({"type": "fileEdit"}))


@results.bad("AHP-TOOL-024")
def a_call_runs_on_in_the_history(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(turns=[finished(part_of(a_call("running")))]))


@results.bad("AHP-TOOL-024")
def a_call_runs_on_in_what_is_loaded(t: Trace) -> None:
    t.handshake()
    t.window([finished(identity="t2")])
    t.envelope(CHAT, {"type": "chat/turnsLoaded", "turns": [finished(part_of(a_call("streaming")), identity="t1")]})


@results.bad("AHP-TURN-023")
def every_part_is_called_text(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, parts(identity="text"))
    t.envelope(CHAT, parts("reasoning", "text"))


@results.bad("AHP-TURN-023")
def a_call_is_called_as_a_part(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, parts(identity="call-1"))
    t.envelope(CHAT, begins())


@results.bad("AHP-TURN-023")
def a_snapshot_with_two_parts_of_one_id(t: Trace) -> None:
    one = {"kind": "markdown", "id": "p", "content": ""}
    t.follow(chat=working_chat(one, one))


@results.good("AHP-CONF-006", "AHP-CONF-010", "AHP-CONF-012", "AHP-CONF-018", "AHP-CONF-020", "AHP-TURN-023")
def calls_in_order(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.envelope(CHAT, parts(), "AB")
    t.envelope(CHAT, begins(contributor=None), "AB")
    t.envelope(CHAT, ready(), "AB")
    t.envelope(
        CHAT, ready(confirmed=False, confirmationTitle="Sure?", options=[OPTION], riskAssessment=risk(0.5)), "AB"
    )
    t.echo(CHAT, APPROVED, to="AB")
    t.envelope(CHAT, about("Complete", result=DONE), "AB")
    t.envelope(CHAT, ends(), "AB")


@results.good("AHP-CHAT-108", versions=LATER)
def a_server_is_named_with_ready(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(contributor={"kind": "mcp", "customizationId": "vault"}))


@results.good("AHP-TOOL-018", versions=("0.6.0",))
def a_terminal_ends(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    block = {"type": "terminal", "resource": "ahp-terminal:/t1", "title": "Shell"}
    t.envelope(CHAT, about("ContentChanged", content=[block]))
    t.envelope(CHAT, completes({"type": "terminalComplete", "resource": "ahp-terminal:/t1"}))


@results.good("AHP-TOOL-019")
def files_come_and_go(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    t.envelope(CHAT, completes({"type": "fileEdit", "after": SIDE}, {"type": "fileEdit", "before": SIDE}))


@results.good("AHP-TOOL-024")
def a_history_of_calls(t: Trace) -> None:
    done = [part_of(a_call(status, status)) for status in ("completed", "cancelled")]
    t.follow(session=None, chat=idle_chat(turns=[finished(*done)]))


@results.good()
def an_approved_call_goes_with_its_turn(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False))
    t.echo(CHAT, APPROVED)
    t.echo(CHAT, ends("Cancelled"))


@results.good()
def an_approval_is_told_again_with_ready(t: Trace) -> None:
    """The user decided; only what nobody was asked about must not say so."""
    begun(t)
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(CHAT, {**ready(), "confirmed": "user-action"})
    t.envelope(CHAT, {**ready(), "confirmed": "user-action"})


@results.good()
def parts_without_ids(t: Trace) -> None:
    notice = {"kind": "systemNotification", "content": "Compacted"}
    question = {"kind": "inputRequest", "request": {"id": "q", "message": "Which?"}, "response": "cancel"}
    t.follow(chat=working_chat(notice, notice, question, question))


@found(results)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(results)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
