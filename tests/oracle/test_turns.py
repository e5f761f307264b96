"""Turns: one end each, and nothing after it."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN

from .traces import (
    DONE,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    about,
    begins,
    clean,
    ends,
    fails,
    finished,
    found,
    idle_chat,
    ready,
    starts,
    unwaits,
    waits,
    working_chat,
)

turns = Cases("turns")

RESUMES = {"type": "chat/turnResume", "turnId": TURN}


def part(kind: str = "markdown", identity: str = "p", turn: str = TURN) -> JSON:
    return {
        "type": "chat/responsePart",
        "turnId": turn,
        "part": {"kind": kind, "id": identity, "content": ""},
    }


def delta(kind: str = "delta", identity: str = "p", turn: str = TURN) -> JSON:
    return {"type": f"chat/{kind}", "turnId": turn, "partId": identity, "content": "Hi"}


# -- one end ------------------------------------------------------------------------------------------


@turns.bad("AHP-TURN-005")
def an_error_and_then_a_completion(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version))
    t.envelope(CHAT, ends())


@turns.bad("AHP-TURN-005")
def a_turn_of_the_snapshot_ends_again(t: Trace) -> None:
    t.follow(chat=idle_chat(turns=[finished()]))
    t.envelope(CHAT, ends())


@turns.bad("AHP-TURN-005", "AHP-TURN-013")
def a_completion_after_the_cancellation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(CHAT, ends())


@turns.bad("AHP-TURN-027", "AHP-TURN-037")
def a_second_turn_overwrites_the_first(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, starts("other"))


@turns.bad("AHP-TURN-027", "AHP-PEND-015")
def a_queued_message_does_not_wait(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, waits("q1"))
    t.envelope(CHAT, unwaits("q1"))
    t.envelope(CHAT, starts("other", queuedMessageId="q1"))


@turns.bad("AHP-TURN-027", "AHP-CHAT-105", versions=("0.9.0", "1.0.0"))
def a_resumption_goes_on_in_a_turn_of_its_own(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version, resumable=True))
    t.echo(CHAT, RESUMES)
    t.envelope(CHAT, starts("other"))


@turns.bad("AHP-TURN-028")
def two_turns_of_one_id(t: Trace) -> None:
    t.follow(chat=idle_chat(turns=[finished()]))
    t.echo(CHAT, starts())
    t.envelope(CHAT, ends())


# -- nothing outside a turn -----------------------------------------------------------------------------


@turns.bad("AHP-TURN-024")
def background_output_for_a_turn_that_is_over(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, ends())
    t.envelope(CHAT, part())


@turns.bad("AHP-TURN-024")
def output_for_a_turn_that_never_was(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, delta(turn="nobody"))


@turns.bad("AHP-TURN-024", "AHP-TURN-013")
def text_goes_on_after_the_cancellation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, part())
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(CHAT, delta())


@turns.bad("AHP-TOOL-022")
def a_tool_reports_after_the_end(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(CHAT, ends())
    t.envelope(CHAT, about("Complete", result=DONE))


@turns.bad("AHP-TOOL-022", "AHP-TURN-013")
def a_tool_reports_after_the_cancellation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(CHAT, about("Complete", result=DONE))


@turns.bad("AHP-TOOL-022", "AHP-TURN-024")
def a_call_begins_after_the_end(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, ends())
    t.envelope(CHAT, begins())


@turns.bad("AHP-TURN-024", "AHP-CHAT-106", versions=("0.9.0", "1.0.0"))
def a_refused_resumption_runs_the_agent(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version))
    t.echo(CHAT, RESUMES, rejected="it cannot go on")
    t.envelope(CHAT, part())


@turns.bad("AHP-TRUNC-007")
def a_cut_in_turns_that_were_not_loaded(t: Trace) -> None:
    t.follow("A", chat=idle_chat(turns=[finished(identity="t1"), finished(identity="t2")]))
    t.handshake("B")
    t.window([finished(identity="t2")], "B")
    t.echo(CHAT, {"type": "chat/truncated", "turnId": "t1"}, to="AB")


@turns.bad("AHP-TOOL-022", "AHP-TURN-024", "AHP-TRUNC-005")
def output_for_a_turn_that_was_truncated_away(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, {"type": "chat/truncated"})
    t.envelope(CHAT, begins())


@turns.bad("AHP-TOOL-026")
def a_tool_action_for_a_turn_that_never_was(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, about("Complete", turn="nobody", result=DONE))


@turns.bad("AHP-TURN-017")
def text_for_a_part_that_is_not_there(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, delta())


@turns.bad("AHP-TURN-018")
def reasoning_into_a_part_of_text(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, part())
    t.envelope(CHAT, delta("reasoning"))


@turns.bad("AHP-TURN-024")
def after_a_reconnect_the_end_is_still_known(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, ends())
    t.close()
    t.reconnect("B", "client-A", t.seq, [CHAT], {"type": "replay", "actions": [], "missing": []})
    t.envelope(CHAT, part(), "B")


# -- right hosts ----------------------------------------------------------------------------------------


@turns.good("AHP-TURN-005", "AHP-TURN-017", "AHP-TURN-018", "AHP-TURN-024", "AHP-TURN-027", "AHP-TOOL-022")
def a_turn_with_everything(t: Trace) -> None:
    t.follow("AB", chat=idle_chat())
    t.echo(CHAT, starts(), to="AB")
    for action in (part(), delta(), part("reasoning", "r"), delta("reasoning", "r")):
        t.envelope(CHAT, action, "AB")
    t.running("AB")
    t.envelope(CHAT, about("Complete", result=DONE), "AB")
    t.envelope(CHAT, ends(), "AB")
    t.echo(CHAT, starts("second"), to="AB")


@turns.good("AHP-TURN-005", "AHP-TURN-013")
def after_the_cancellation_there_is_silence(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, ends("Cancelled"))
    t.echo(CHAT, starts("next"))
    t.envelope(CHAT, part(turn="next"))


@turns.good()
def a_cancellation_that_comes_too_late_changes_nothing(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, ends())
    t.echo(CHAT, starts("next"))
    t.echo(CHAT, ends("Cancelled"), rejected="it is over")


@turns.good("AHP-TURN-037", "AHP-TURN-028")
def what_would_disturb_a_turn_is_refused(t: Trace) -> None:
    t.follow(chat=idle_chat(turns=[finished()]))
    t.echo(CHAT, starts(), rejected="there is one of that id")
    t.echo(CHAT, starts("next"))
    t.echo(CHAT, starts("other"), rejected="one is running")


@turns.good("AHP-TRUNC-005")
def after_a_truncation_there_is_silence(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, {"type": "chat/truncated"})
    t.echo(CHAT, starts("next"))
    t.envelope(CHAT, part(turn="next"))


@turns.good("AHP-TRUNC-007")
def older_turns_are_loaded_before_a_cut_there(t: Trace) -> None:
    t.handshake()
    t.window([finished(identity="t2")])
    t.envelope(CHAT, {"type": "chat/turnsLoaded", "turns": [finished(identity="t1")]})
    t.echo(CHAT, {"type": "chat/truncated", "turnId": "t1"})


@turns.good()
def a_cut_at_a_turn_that_is_gone_changes_nothing(t: Trace) -> None:
    t.handshake()
    t.window([finished(identity="t2"), finished()])
    for _ in range(2):
        t.echo(CHAT, {"type": "chat/truncated", "turnId": "t2"})
    t.echo(CHAT, {"type": "chat/truncated", "turnId": TURN})


@turns.good("AHP-PEND-015")
def a_queued_message_waits_for_its_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.echo(CHAT, waits("q1"))
    t.envelope(CHAT, ends())
    t.envelope(CHAT, unwaits("q1"))
    t.envelope(CHAT, starts("other", queuedMessageId="q1"))


@turns.good("AHP-CHAT-106", versions=("0.9.0", "1.0.0"))
def a_refused_resumption_does_nothing(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version))
    t.echo(CHAT, RESUMES, rejected="it cannot go on")
    t.echo(CHAT, starts("next"))


@turns.good("AHP-TURN-028")
def a_truncated_id_may_come_again(t: Trace) -> None:
    t.follow(chat=idle_chat(turns=[finished(identity="t1"), finished()]))
    t.echo(CHAT, starts(), rejected="there is one of that id")
    t.echo(CHAT, {"type": "chat/truncated", "turnId": "t1"})
    t.echo(CHAT, starts())
    t.envelope(CHAT, ends())


@turns.good()
def a_late_result_of_a_client_changes_nothing(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running(contributor={"kind": "client", "clientId": "client-A"})
    t.envelope(CHAT, ends())
    t.echo(CHAT, about("Complete", result=DONE))


@turns.good("AHP-TURN-005", "AHP-CHAT-105", versions=("0.9.0", "1.0.0"))
def a_failed_turn_is_resumed_and_ends_again(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version, resumable=True))
    t.echo(CHAT, RESUMES)
    t.envelope(CHAT, part())
    t.envelope(CHAT, ends())


@turns.good()
def usage_may_come_when_the_turn_is_over(t: Trace) -> None:
    """It adds no content."""
    t.follow(chat=working_chat())
    t.envelope(CHAT, ends())
    t.envelope(CHAT, {"type": "chat/usage", "turnId": TURN, "usage": {"outputTokens": 1}})


@turns.good()
def a_start_told_again_under_the_same_id(t: Trace) -> None:
    t.follow(chat=idle_chat())
    t.echo(CHAT, starts())
    t.echo(CHAT, starts())


@turns.good()
def one_client_hears_later_than_another(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    late = [t.envelope(CHAT, action) for action in (part(), delta(), ends())]
    for envelope in late:
        t.tell("action", "B", **envelope)


@turns.good()
def a_subscriber_comes_in_the_middle(t: Trace) -> None:
    t.follow(session=None, chat=working_chat({"kind": "markdown", "id": "p", "content": "H"}))
    t.envelope(CHAT, delta())
    t.envelope(CHAT, ends())


@turns.good()
def a_replay_is_no_second_end(t: Trace) -> None:
    t.follow(chat=working_chat())
    told = [t.envelope(CHAT, action) for action in (part(), ends())]
    t.close()
    t.reconnect("B", "client-A", 0, [CHAT], {"type": "replay", "actions": told, "missing": []})


@turns.good()
def envelopes_on_their_way_to_one_who_left(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.notify("unsubscribe", channel=CHAT)
    identity = t.ask("ping")
    t.envelope(CHAT, part())
    t.envelope(CHAT, ends())
    t.result(identity)


@turns.good()
def actions_of_no_turn_and_of_the_session(t: Trace) -> None:
    t.follow(chat=idle_chat())
    t.envelope(CHAT, {"type": "chat/activityChanged", "activity": "thinking"})
    t.envelope(SESSION, {"type": "session/activityChanged"})
    t.envelope(CHAT, starts())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready())


def test_others_may_have_removed_the_turn() -> None:
    """While the client was away another one cut the chat, so that to cut there once more changes nothing."""
    t = Trace()
    t.follow(chat=idle_chat(turns=[finished(identity=name) for name in ("t1", "t2", "t3")]))
    t.notify("unsubscribe", channel=CHAT)
    t.seq += 9
    t.window([finished(identity="t5")])
    t.envelope(CHAT, {"type": "chat/truncated", "turnId": "t2"}, origin=("Z", 1))
    assert t.judged(whole=False).findings == []


@found(turns)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(turns)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
