"""Messages that wait: which one goes when, and which must not."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN, message

from .traces import (
    JSON,
    Case,
    Cases,
    Trace,
    clean,
    ends,
    finished,
    found,
    idle_chat,
    starts,
    unwaits,
    waits,
    working_chat,
)

pending = Cases("pending-messages")


def queued(t: Trace, *identities: str, conns: str = "A") -> None:
    """A running turn, and messages that wait, each with its id as text."""
    t.follow(conns, chat=working_chat())
    for identity in identities:
        t.echo(CHAT, waits(identity, identity), to=conns)


def runs(identity: str, text: str | None = None, turn: str = "next") -> JSON:
    """chat/turnStarted of a queued message."""
    return starts(turn, queuedMessageId=identity, message=message(text or identity))


@pending.bad("AHP-PEND-007")
def a_queued_turn_without_removal(t: Trace) -> None:
    queued(t, "one")
    t.envelope(CHAT, ends())
    t.envelope(CHAT, runs("one"))


@pending.bad("AHP-PEND-009")
def the_second_of_the_queue_goes_first(t: Trace) -> None:
    queued(t, "one", "two")
    t.echo(CHAT, {"type": "chat/queuedMessagesReordered", "order": ["two", "one"]})
    t.envelope(CHAT, ends())
    t.envelope(CHAT, unwaits("one"))
    t.envelope(CHAT, runs("one"))


@pending.bad("AHP-PEND-010")
def all_of_the_queue_in_one_turn(t: Trace) -> None:
    queued(t, "one", "two")
    t.envelope(CHAT, ends())
    t.envelope(CHAT, unwaits("one"))
    t.envelope(CHAT, runs("one", "one two"))


@pending.bad("AHP-PEND-010")
def a_queued_turn_that_does_not_say_so(t: Trace) -> None:
    queued(t, "one")
    t.envelope(CHAT, ends())
    t.envelope(CHAT, unwaits("one"))
    t.envelope(CHAT, starts("next", message=message("one")))


@pending.bad("AHP-PEND-019")
def a_withdrawn_message_runs(t: Trace) -> None:
    queued(t, "one", "two")
    t.echo(CHAT, unwaits("one"))
    t.envelope(CHAT, ends())
    t.envelope(CHAT, runs("one"))


@pending.bad("AHP-PEND-013")
def a_steering_message_starts_a_turn(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, waits("s", "go left", kind="steering"))
    t.envelope(CHAT, starts("next", message=message("go left")))


@pending.bad("AHP-PEND-006")
def the_queue_is_looked_at_with_the_next_message_only(t: Trace) -> None:
    queued(t, "one")
    t.envelope(CHAT, ends())
    t.ping()
    t.echo(CHAT, starts("typed"))


@pending.bad("AHP-PEND-008")
def what_is_queued_on_an_idle_chat_stays_there(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, waits("one", "one"))
    t.ping()
    t.echo(CHAT, starts("typed"))


@pending.good("AHP-PEND-006", "AHP-PEND-007", "AHP-PEND-009", "AHP-PEND-010", "AHP-PEND-019")
def a_queue_that_runs_dry(t: Trace) -> None:
    queued(t, "one", "two", "gone", conns="AB")
    t.echo(CHAT, unwaits("gone"), "B", to="AB")
    t.envelope(CHAT, ends(), "AB")
    turn = TURN
    for identity in ("one", "two"):
        if turn != TURN:
            t.envelope(CHAT, ends(turn=turn), "AB")
        turn = f"turn of {identity}"
        t.envelope(CHAT, unwaits(identity), "AB")
        t.envelope(CHAT, runs(identity, turn=turn), "AB")


@pending.good("AHP-PEND-008")
def an_idle_chat_takes_at_once(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, waits("one", "one"))
    t.envelope(CHAT, unwaits("one"))
    t.envelope(CHAT, runs("one"))


@pending.good("AHP-PEND-013")
def a_steering_message_waits(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, waits("s", "go left", kind="steering"))
    t.echo(CHAT, starts("typed"))
    t.envelope(CHAT, unwaits("s", "steering"))


@pending.good()
def a_client_is_as_fast_as_the_host(t: Trace) -> None:
    """It had not heard of the end when it sent its own message."""
    queued(t, "one")
    number = t.dispatch(CHAT, starts("typed"))
    t.envelope(CHAT, ends())
    t.envelope(CHAT, starts("typed"), origin=("A", number))


@pending.good()
def a_queue_may_stay_when_a_turn_was_cancelled(t: Trace) -> None:
    """AMB-25."""
    queued(t, "one")
    t.echo(CHAT, ends("Cancelled"))
    t.echo(CHAT, starts("typed"))


@pending.good()
def a_withdrawn_message_is_queued_again(t: Trace) -> None:
    queued(t, "one")
    t.echo(CHAT, unwaits("one"))
    t.echo(CHAT, waits("one", "one"))
    t.envelope(CHAT, ends())
    t.envelope(CHAT, unwaits("one"))
    t.envelope(CHAT, runs("one"))


@pending.good()
def a_host_may_withdraw_a_message_without_running_it(t: Trace) -> None:
    queued(t, "one", "two")
    t.envelope(CHAT, unwaits("two"))


@pending.good()
def what_was_typed_is_sent_while_the_end_is_on_its_way_to_another(t: Trace) -> None:
    """B has not been told of the end of the turn yet."""
    queued(t, "one", conns="AB")
    over = t.envelope(CHAT, ends())
    number = t.dispatch(CHAT, starts("typed"), "B")
    t.tell("action", "B", **over)
    t.envelope(CHAT, starts("typed"), "AB", origin=("B", number))


@pending.good()
def a_client_is_faster_than_the_queue(t: Trace) -> None:
    """The host was about to take the message when a client started a turn."""
    queued(t, "one")
    t.envelope(CHAT, ends())
    t.echo(CHAT, starts("typed"))


@pending.good()
def a_queue_that_went_on_unseen(t: Trace) -> None:
    """While the client was away the message was taken, its turn cancelled, and another one queued before that."""
    queued(t, "one")
    t.envelope(CHAT, ends())
    t.notify("unsubscribe", channel=CHAT)
    t.seq += 5
    turns = [finished(), finished(identity="turn of one", state="cancelled")]
    later = {"id": "two", "message": message("two")}
    t.subscribe(CHAT, idle_chat(turns=turns, queuedMessages=[later]))
    t.ping()
    t.echo(CHAT, starts("typed"))


@found(pending)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(pending)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
