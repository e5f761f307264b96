"""Terminals: claims, commands and output; their creation, their end, and the catalogue."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle import Oracle
from tests.protocol.examples import CHAT

from .channels import (
    ANNOTATIONS,
    CHANGESET,
    OTHER,
    TERMINAL,
    changeset,
    claims,
    command,
    create,
    executes,
    file,
    finishes,
    held_by,
    held_by_session,
    life,
    listed,
    lists_terminals,
    loose,
    note,
    prints,
    sets,
    terminal,
)
from .traces import (
    DONE,
    JSON,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    calm_session,
    clean,
    ends,
    finished,
    found,
    idle_chat,
    part_of,
    root,
    working_chat,
)

terminals = Cases("terminals")
lives = Cases("terminal-lives")
catalogue = Cases("terminal-catalogue")
results = Cases("terminal-results")
unasked = Cases("unasked")

RENAMED = {"type": "terminal/titleChanged", "title": "build"}
CLEARED = {"type": "terminal/cleared"}
CHAINED = "\x1b]633;A\x07$ "


def follow(t: Trace, conns: str = "A", *parts: JSON, **members: JSON) -> None:
    """Clients that follow one terminal of client A."""
    for conn in conns:
        t.handshake(conn)
        t.subscribe(TERMINAL, terminal(t, *parts, **members), conn)


def refuse(t: Trace, action: JSON, conn: str = "A", to: str | None = None) -> None:
    t.echo(TERMINAL, action, conn, to, rejected="no")


# -- claims -------------------------------------------------------------------------------------------


@terminals.bad("AHP-TERM-012")
def a_terminal_is_stolen(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, claims(held_by("B")), "B", "AB")


@terminals.good("AHP-TERM-012")
def a_thief_is_refused(t: Trace) -> None:
    follow(t, "AB")
    refuse(t, claims(held_by("B")), "B", "AB")


@terminals.bad("AHP-TERM-013")
def the_holder_may_not_hand_it_on(t: Trace) -> None:
    follow(t, "AB")
    refuse(t, claims(held_by("B")))


@terminals.bad("AHP-TERM-013")
def the_holder_may_not_hand_it_to_a_session(t: Trace) -> None:
    follow(t)
    t.subscribe(SESSION, calm_session())
    refuse(t, claims(held_by_session(t.version)))


@terminals.good()
def a_terminal_whose_holder_has_gone(t: Trace) -> None:
    follow(t, "A", claim=held_by("Z"))
    t.echo(TERMINAL, claims(held_by("A")))


@terminals.good()
def a_claim_for_a_call_that_nobody_knows(t: Trace) -> None:
    follow(t)
    t.subscribe(SESSION, calm_session())
    refuse(t, claims(held_by_session(t.version, turnId="nobody", toolCallId="nothing")))


@terminals.good("AHP-TERM-013")
def the_holder_hands_it_on(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, claims(held_by("B")), to="AB")


@terminals.good()
def a_claim_for_somebody_who_is_not_there(t: Trace) -> None:
    follow(t)
    refuse(t, claims(held_by("Z")))
    refuse(t, claims(held_by_session(t.version)))
    refuse(t, claims({"kind": "nobody"}))


@terminals.good("AHP-TERM-020")
def clients_take_what_a_session_holds(t: Trace) -> None:
    """The guide has clients narrow the claim of a session; whether they may is open (AMB-34)."""
    follow(t, "AB", claim=held_by_session(t.version, turnId="t", toolCallId="c"))
    t.echo(TERMINAL, claims(held_by_session(t.version)), to="AB")
    t.echo(TERMINAL, claims(held_by("B")), "B", "AB")


@terminals.bad("AHP-TERM-012", "AHP-TERM-014")
def two_claims_at_once_are_both_accepted(t: Trace) -> None:
    follow(t, "AB", claim=held_by_session(t.version))
    numbers = [(conn, t.dispatch(TERMINAL, claims(held_by(conn)), conn)) for conn in "AB"]
    for conn, number in numbers:
        t.envelope(TERMINAL, claims(held_by(conn)), "AB", origin=(conn, number))


@terminals.good("AHP-TERM-014")
def of_two_claims_at_once_one_is_accepted(t: Trace) -> None:
    follow(t, "AB", claim=held_by_session(t.version))
    numbers = [(conn, t.dispatch(TERMINAL, claims(held_by(conn)), conn)) for conn in "AB"]
    for conn, number in numbers:
        rejected = {"rejected": "held"} if conn == "B" else {}
        t.envelope(TERMINAL, claims(held_by(conn)), "AB", origin=(conn, number), **rejected)


@terminals.bad("AHP-TERM-020")
def a_terminal_stays_claimed_for_a_turn_that_is_over(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.subscribe(TERMINAL, terminal(t, claim=held_by_session(t.version, turnId="turn-1", toolCallId="call-1")))
    t.envelope(CHAT, ends())


@terminals.good("AHP-TERM-020")
def a_claim_is_narrowed_with_the_end_of_the_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.subscribe(TERMINAL, terminal(t, claim=held_by_session(t.version, turnId="turn-1", toolCallId="call-1")))
    t.envelope(CHAT, ends())
    t.envelope(TERMINAL, claims(held_by_session(t.version)))


@terminals.good()
def a_claim_for_a_turn_that_runs(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.subscribe(TERMINAL, terminal(t, claim=held_by_session(t.version, turnId="turn-1", toolCallId="call-1")))


# -- output -------------------------------------------------------------------------------------------


@terminals.bad("AHP-TERM-021")
def marks_of_the_shell_in_the_output(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, prints("hello " + CHAINED))


@terminals.bad("AHP-TERM-021")
def a_mark_that_is_cut_in_two(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, prints("hello \x1b]13"))
    t.envelope(TERMINAL, prints("3;D;0\x1b\\"))


@terminals.bad("AHP-TERM-021")
def marks_in_a_snapshot(t: Trace) -> None:
    follow(t, "A", command("x\x1b]133;B\x07", complete=True), supportsCommandDetection=True)


@terminals.good("AHP-TERM-021")
def output_with_other_sequences(t: Trace) -> None:
    """Colours, titles and links are for the client; numbers that look like a mark are text."""
    follow(t, supportsCommandDetection=True)
    t.envelope(TERMINAL, prints("\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://x\x07 633;A 133;B"))
    t.envelope(TERMINAL, prints("\x1b]1"))
    t.envelope(TERMINAL, prints("337;File=x\x07"))


# -- commands -----------------------------------------------------------------------------------------


@terminals.bad("AHP-TERM-024")
def every_command_has_the_same_id(t: Trace) -> None:
    follow(t)
    for _ in range(2):
        t.envelope(TERMINAL, executes())
        t.envelope(TERMINAL, finishes())


@terminals.bad("AHP-TERM-024")
def an_id_comes_back_after_the_content_was_cleared(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, executes())
    t.envelope(TERMINAL, finishes())
    t.envelope(TERMINAL, CLEARED)
    t.envelope(TERMINAL, executes())


@terminals.bad("AHP-TERM-024")
def the_end_of_another_command(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, executes())
    t.envelope(TERMINAL, finishes("cmd-9"))


@terminals.good("AHP-TERM-024")
def three_commands(t: Trace) -> None:
    follow(t, "AB")
    for identity in ("1", "2", "3"):
        t.envelope(TERMINAL, executes(identity), "AB")
        t.envelope(TERMINAL, finishes(identity, exitCode=0), "AB")


@terminals.good("AHP-TERM-024")
def a_screen_that_is_cleared_by_its_command(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, executes())
    t.envelope(TERMINAL, CLEARED)
    t.envelope(TERMINAL, finishes())


@terminals.good()
def a_command_that_began_before_the_client_came(t: Trace) -> None:
    follow(t, supportsCommandDetection=True)
    t.envelope(TERMINAL, finishes("old"))


@terminals.good()
def a_terminal_made_anew_counts_its_commands_anew(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, executes())
    t.call("disposeTerminal", channel=TERMINAL)
    t.call("createTerminal", channel=TERMINAL, claim=held_by("A"))
    t.subscribe(TERMINAL, terminal(t))
    t.envelope(TERMINAL, executes())


@terminals.good("AHP-TERM-024")
def a_terminal_that_somebody_else_made_anew(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, executes())
    t.envelope(ROOT, lists_terminals())
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.notify("unsubscribe", channel=TERMINAL)
    t.subscribe(TERMINAL, terminal(t))
    t.envelope(TERMINAL, executes())


@terminals.bad("AHP-TERM-025")
def command_parts_without_the_flag(t: Trace) -> None:
    follow(t, "A", command(complete=True))


@terminals.good("AHP-TERM-025")
def command_parts_with_the_flag(t: Trace) -> None:
    follow(t, "A", command(complete=True), supportsCommandDetection=True)


# -- names and clearing -------------------------------------------------------------------------------


@terminals.bad("AHP-TERM-029")
def the_holder_may_not_rename_it(t: Trace) -> None:
    follow(t)
    refuse(t, RENAMED)


@terminals.bad("AHP-TERM-030")
def the_holder_may_not_clear_it(t: Trace) -> None:
    follow(t)
    refuse(t, CLEARED)


@terminals.good("AHP-TERM-029", "AHP-TERM-030")
def a_client_renames_and_clears(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, RENAMED, "B", "AB")
    t.echo(TERMINAL, CLEARED, to="AB")


@terminals.good()
def others_and_the_dead_may_be_left_alone(t: Trace) -> None:
    follow(t, "AB", **life(t.version, 1))
    refuse(t, RENAMED, "B")
    refuse(t, CLEARED)
    refuse(t, {"type": "terminal/titleChanged", "title": ""})


# -- creation and disposal ----------------------------------------------------------------------------


@lives.bad("AHP-TERM-001")
def a_terminal_that_is_not_where_it_was_wanted(t: Trace) -> None:
    t.handshake()
    create(t, entries=("ahp-terminal:/made-up",))
    t.error(t.ask("subscribe", channel=TERMINAL), -32001)


@lives.good("AHP-TERM-001", "AHP-TERM-002", "AHP-TERM-004")
def a_terminal_is_created(t: Trace) -> None:
    t.handshake()
    create(t)
    t.subscribe(TERMINAL, terminal(t))


@lives.good("AHP-TERM-037")
def a_terminal_is_created_as_it_was_wanted(t: Trace) -> None:
    wanted: JSON = {"cwd": "file:///project", "cols": 101, "rows": 33}
    t.handshake()
    t.call("createTerminal", channel=TERMINAL, claim=held_by("A"), name="build", **wanted)
    t.subscribe(TERMINAL, terminal(t, title="build", **wanted))


@lives.good()
def a_terminal_that_was_changed_meanwhile(t: Trace) -> None:
    t.handshake()
    t.call("createTerminal", channel=TERMINAL, claim=held_by("A"), name="build", cols=101, rows=33)
    t.subscribe(TERMINAL, terminal(t, title="/bin/sh", cols=80, rows=24))


@lives.good()
def a_terminal_goes_by_itself(t: Trace) -> None:
    """A host may dispose of a terminal on its own."""
    t.handshake()
    create(t)
    t.error(t.ask("subscribe", channel=TERMINAL), -32001)
    t.envelope(ROOT, lists_terminals())


@lives.good()
def somebody_else_disposes_of_a_terminal(t: Trace) -> None:
    t.handshake()
    create(t)
    t.envelope(ROOT, lists_terminals())
    t.error(t.ask("subscribe", channel=TERMINAL), -32001)


@lives.good()
def somebody_else_has_such_a_terminal(t: Trace) -> None:
    """Until the creation is refused, what is listed there is his."""
    t.handshake()
    identity = t.ask("createTerminal", channel=TERMINAL, claim=held_by("A"))
    t.envelope(ROOT, lists_terminals(listed(t, claim=held_by("Z"))))
    t.error(identity)


@lives.good("AHP-TERM-002")
def a_terminal_is_listed_after_the_answer(t: Trace) -> None:
    t.handshake()
    create(t, entries=())
    t.envelope(ROOT, lists_terminals(listed(t, OTHER)))
    t.envelope(ROOT, lists_terminals(listed(t, OTHER), listed(t)))


@lives.bad("AHP-TERM-002", "AHP-TERM-005")
def a_new_terminal_is_not_listed(t: Trace) -> None:
    t.handshake()
    create(t, entries=())
    t.envelope(ROOT, lists_terminals(listed(t, OTHER)))
    t.subscribe(TERMINAL, terminal(t))


@lives.bad("AHP-TERM-004")
def a_terminal_of_somebody_else(t: Trace) -> None:
    t.handshake()
    identity = t.ask("createTerminal", channel=TERMINAL, claim=held_by("A"))
    t.envelope(ROOT, lists_terminals(listed(t, claim=held_by("host"))))
    t.result(identity)


@lives.bad("AHP-TERM-004")
def a_snapshot_with_another_claim(t: Trace) -> None:
    t.handshake()
    create(t, entries=())
    t.subscribe(TERMINAL, terminal(t, claim=held_by_session(t.version)))


@lives.good()
def a_claim_that_changed_meanwhile(t: Trace) -> None:
    t.handshake()
    create(t, entries=())
    t.dispatch(TERMINAL, claims(held_by_session(t.version)))
    t.subscribe(TERMINAL, terminal(t, claim=held_by_session(t.version)))


@lives.bad("AHP-TERM-005")
def only_the_new_terminal_is_listed(t: Trace) -> None:
    t.handshake()
    create(t)
    create(t, OTHER, entries=(OTHER,))
    t.subscribe(TERMINAL, terminal(t))


@lives.bad("AHP-TERM-005")
def a_terminal_is_back_in_the_list(t: Trace) -> None:
    t.handshake()
    create(t)
    t.envelope(ROOT, lists_terminals())
    t.envelope(ROOT, lists_terminals(listed(t)))


@lives.good()
def a_terminal_is_made_anew_after_somebody_else_disposed_of_it(t: Trace) -> None:
    t.handshake()
    create(t)
    t.envelope(ROOT, lists_terminals())
    create(t)
    t.subscribe(TERMINAL, terminal(t))


def create_two(t: Trace) -> None:
    t.handshake()
    create(t)
    create(t, OTHER, entries=(TERMINAL, OTHER))


@lives.good("AHP-TERM-005")
def two_terminals_are_listed(t: Trace) -> None:
    t.handshake()
    create(t)
    create(t, OTHER, entries=(TERMINAL, OTHER))
    t.envelope(ROOT, lists_terminals(listed(t), listed(t, OTHER)))


@lives.bad("AHP-TERM-017")
def a_disposed_terminal_is_still_listed(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.envelope(ROOT, lists_terminals(listed(t, **life(t.version, 0))))


@lives.bad("AHP-TERM-017")
def a_disposed_terminal_can_be_subscribed_to(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.subscribe(TERMINAL, terminal(t))


@lives.good(versions=("1.0.0",))
def an_old_terminal_is_shown_once_more(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.subscribe(TERMINAL, terminal(t, **life(t.version, 0)))


@lives.good("AHP-TERM-017")
def a_terminal_is_disposed_of(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.envelope(ROOT, lists_terminals())
    t.error(t.ask("subscribe", channel=TERMINAL), -32001)


@lives.good()
def a_disposed_terminal_is_made_anew(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    create(t)
    t.subscribe(TERMINAL, terminal(t))
    t.envelope(TERMINAL, prints("hi"))


@lives.good()
def a_disposed_terminal_is_made_anew_by_somebody_else(t: Trace) -> None:
    t.handshake()
    create(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.envelope(ROOT, lists_terminals())
    t.subscribe(TERMINAL, terminal(t, claim=held_by("Z")))
    t.envelope(TERMINAL, prints("hi"))
    t.envelope(ROOT, lists_terminals(listed(t, claim=held_by("Z"))))


@lives.bad("AHP-TERM-018")
def output_after_the_disposal(t: Trace) -> None:
    follow(t)
    t.call("disposeTerminal", channel=TERMINAL)
    t.envelope(TERMINAL, prints("late"))


@lives.good("AHP-TERM-018")
def silence_after_the_disposal(t: Trace) -> None:
    """The end of the process may be told before the answer, and to others whenever it reaches them."""
    follow(t, "AB")
    identity = t.ask("disposeTerminal", channel=TERMINAL)
    t.envelope(TERMINAL, {"type": "terminal/exited"}, "A")
    t.result(identity)
    t.into({"jsonrpc": "2.0", "method": "action", "params": t.params(TERMINAL, prints("late"), seq=1)}, "B")
    t.ping()


@lives.bad("AHP-TERM-032")
def a_terminal_is_created_twice(t: Trace) -> None:
    t.handshake()
    create(t)
    create(t)


@lives.good("AHP-TERM-032")
def a_second_creation_is_refused(t: Trace) -> None:
    t.handshake()
    create(t)
    t.error(t.ask("createTerminal", channel=TERMINAL, claim=held_by("A")))


@lives.good()
def a_host_that_is_started_anew(t: Trace) -> None:
    """It knows nothing of its terminals, and nobody who was there before is left."""
    t.handshake()
    create(t)
    t.close()
    t.seq = 0
    t.handshake("B")
    create(t, conn="B")
    t.envelope(ROOT, lists_terminals(), "B")


@lives.good()
def a_client_comes_back_to_a_host_that_is_started_anew(t: Trace) -> None:
    t.handshake()
    create(t)
    t.close()
    t.seq = 0
    snapshots = {"type": "snapshot", "snapshots": [t.snapshot(ROOT, root())], "missing": []}
    t.reconnect("B", "client-A", 1, [ROOT], snapshots)
    create(t, conn="B")


@lives.good()
def a_terminal_that_went_unseen(t: Trace) -> None:
    t.handshake()
    create(t, entries=())
    create(t, entries=())


@lives.bad("AHP-TERM-036")
def a_terminal_without_a_claim(t: Trace) -> None:
    t.handshake()
    t.call("createTerminal", channel=TERMINAL)


@lives.good("AHP-TERM-036")
def a_terminal_without_a_claim_is_refused(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("createTerminal", channel=TERMINAL), -32602)


@lives.bad("AHP-TERM-041")
def a_terminal_goes_with_its_creator(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    create(t)
    t.envelope(ROOT, lists_terminals(listed(t)), "B")
    t.close()
    t.envelope(ROOT, lists_terminals(), "B")


@lives.good("AHP-TERM-041")
def a_terminal_outlives_its_creator(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    create(t)
    t.envelope(ROOT, lists_terminals(listed(t)), "B")
    t.close()
    t.envelope(ROOT, lists_terminals(listed(t), listed(t, OTHER)), "B")


@lives.good("AHP-TERM-041")
def somebody_disposes_of_it_later(t: Trace) -> None:
    a_terminal_outlives_its_creator(t)
    t.envelope(ROOT, lists_terminals(listed(t, OTHER)), "B")


@lives.good()
def a_client_comes_back_and_its_terminal_is_gone(t: Trace) -> None:
    """Others were there meanwhile."""
    t.handshake("A")
    t.handshake("B", client="client-A")
    create(t)
    t.envelope(ROOT, lists_terminals(listed(t)), "B")
    t.close()
    t.envelope(ROOT, lists_terminals(), "B")


# -- in tool results ----------------------------------------------------------------------------------

IN_TERMINAL = {"type": "terminal", "resource": TERMINAL, "title": "ls"}
COMPLETE = {"type": "terminalComplete", "exitCode": 0}
AFTER = ("0.7.0", "0.9.0")


def completes(t: Trace, *content: JSON) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(CHAT, about("Complete", result={**DONE, "content": list(content)}))


@results.bad("AHP-TERM-104", versions=AFTER)
def an_outcome_as_content_of_its_own(t: Trace) -> None:
    completes(t, IN_TERMINAL, COMPLETE)


@results.bad("AHP-TERM-104", versions=AFTER)
def an_outcome_of_its_own_in_a_snapshot(t: Trace) -> None:
    call = {**a_call("completed"), "content": [COMPLETE]}
    t.follow(chat=idle_chat(turns=[finished(part_of(call))]))


@results.good("AHP-TERM-104", versions=AFTER)
def an_outcome_in_its_terminal(t: Trace) -> None:
    completes(t, {**IN_TERMINAL, "result": {"exitCode": 0}})


@results.bad("AHP-TERM-042", versions=("0.6.0",), beside=("shapes",))
def an_outcome_with_words_for_a_code(t: Trace) -> None:
    completes(t, IN_TERMINAL, {**COMPLETE, "exitCode": "zero"})


@results.bad("AHP-TERM-103", versions=("1.0.0",))
def an_old_terminal_is_lost(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.error(t.ask("subscribe", channel=TERMINAL), -32001)


@results.bad("AHP-TERM-103", versions=("1.0.0",))
def an_old_terminal_seems_to_run(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.subscribe(TERMINAL, terminal(t))


@results.good("AHP-TERM-103", versions=("1.0.0",))
def a_terminal_that_is_too_new_for_the_list(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.subscribe(TERMINAL, terminal(t))
    t.envelope(ROOT, lists_terminals(listed(t)))


@results.good(versions=("1.0.0",))
def an_old_terminal_that_is_not_for_everybody(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.error(t.ask("subscribe", channel=TERMINAL), -32009)


@results.good("AHP-TERM-103", versions=("1.0.0",))
def an_old_terminal_is_looked_at(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.subscribe(TERMINAL, terminal(t, loose("output"), **life(t.version, 0)))


@results.good(versions=("0.9.0", "1.0.0"))
def a_terminal_that_is_still_there(t: Trace) -> None:
    completes(t, IN_TERMINAL)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.subscribe(TERMINAL, terminal(t))


@results.good("AHP-TERM-042", versions=("0.6.0",))
def an_outcome_as_it_was(t: Trace) -> None:
    completes(t, IN_TERMINAL, COMPLETE)


# -- what the host says by itself ---------------------------------------------------------------------


@unasked.bad("AHP-TERM-035", beside=("origins",))
def a_title_in_the_name_of_the_typist(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, {"type": "terminal/input", "data": "x"}, to="AB")
    t.envelope(TERMINAL, RENAMED, "AB", origin=("A", 99))


@unasked.bad("AHP-CHG-039", beside=("origins",))
def a_review_in_the_name_of_a_client(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHANGESET, changeset(file("a")))
    t.envelope(CHANGESET, REVIEWS, origin=("A", 99))


@unasked.bad("AHP-ANN-019", beside=("origins",))
def an_annotation_in_the_name_of_a_client(t: Trace) -> None:
    t.handshake()
    t.subscribe(ANNOTATIONS, {"annotations": []})
    t.envelope(ANNOTATIONS, sets(note(t)), origin=("A", 99))


REVIEWS = {"type": "changeset/filesReviewChanged", "files": ["a"], "reviewed": True}


@unasked.good("AHP-TERM-035", "AHP-CHG-039", "AHP-ANN-019")
def what_the_host_says_by_itself(t: Trace) -> None:
    follow(t)
    t.subscribe(CHANGESET, changeset(file("a")))
    t.subscribe(ANNOTATIONS, {"annotations": []})
    t.envelope(TERMINAL, RENAMED)
    t.envelope(CHANGESET, REVIEWS)
    t.envelope(ANNOTATIONS, sets(note(t)))
    t.echo(TERMINAL, RENAMED)
    t.envelope(TERMINAL, RENAMED, origin=("Z", 1))


# -- the catalogue ------------------------------------------------------------------------------------


@catalogue.bad("AHP-TERM-006")
def the_catalogue_keeps_the_old_title(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, RENAMED)
    t.envelope(ROOT, lists_terminals(listed(t)))


@catalogue.bad("AHP-TERM-006")
def the_catalogue_keeps_the_old_claim(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, claims(held_by("B")), to="AB")
    t.envelope(ROOT, lists_terminals(listed(t)))


@catalogue.bad("AHP-TERM-006")
def the_catalogue_keeps_an_ended_terminal_running(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 3})
    t.envelope(ROOT, lists_terminals(listed(t)))


@catalogue.good("AHP-TERM-006")
def the_catalogue_follows_a_moment_later(t: Trace) -> None:
    follow(t, "AB")
    t.envelope(TERMINAL, RENAMED, "AB")
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(ROOT, lists_terminals(listed(t, title="build")))


@catalogue.good()
def nothing_was_listed_since(t: Trace) -> None:
    """A host may wait a little before it lists what has changed."""
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(TERMINAL, RENAMED)


@catalogue.bad("AHP-TERM-015")
def the_end_is_told_by_the_catalogue_alone(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t, **life(t.version, 7))))


@catalogue.good("AHP-TERM-015", "AHP-TERM-006", "AHP-TERM-016")
def the_end_is_told(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.envelope(ROOT, lists_terminals(listed(t, **life(t.version, 7))))


@catalogue.bad("AHP-TERM-016")
def a_terminal_goes_with_its_process(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.echo(TERMINAL, {"type": "terminal/input", "data": "exit 7\n"})
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.envelope(ROOT, lists_terminals())


@catalogue.good()
def an_ended_terminal_is_disposed_of(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    identity = t.ask("disposeTerminal", channel=TERMINAL)
    t.envelope(ROOT, lists_terminals())
    t.result(identity)


@catalogue.good()
def terminals_go_with_their_session(t: Trace) -> None:
    follow(t, claim=held_by_session(t.version))
    t.envelope(ROOT, lists_terminals(listed(t, claim=held_by_session(t.version))))
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.call("disposeSession", channel=SESSION)
    t.envelope(ROOT, lists_terminals())


# -- what is recorded in part ---------------------------------------------------------------------------


def a_terminal_is_made_anew_by_somebody_else(t: Trace) -> None:
    create_two(t)
    t.envelope(ROOT, lists_terminals(listed(t, OTHER)))
    t.envelope(ROOT, lists_terminals(listed(t, claim=held_by("Z")), listed(t, OTHER)))
    t.subscribe(TERMINAL, terminal(t, claim=held_by("Z")))


def somebody_else_closes_it(t: Trace) -> None:
    """That ends the process first."""
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.envelope(ROOT, lists_terminals())


def somebody_else_closes_it_after_its_end(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.echo(TERMINAL, {"type": "terminal/input", "data": "exit 7\n"})
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.envelope(ROOT, lists_terminals(listed(t, **life(t.version, 7))))
    t.envelope(ROOT, lists_terminals())


def the_catalogue_is_made_anew_in_a_moment(t: Trace) -> None:
    follow(t)
    t.envelope(TERMINAL, RENAMED)
    t.envelope(ROOT, lists_terminals(listed(t), listed(t, OTHER)))


def it_goes_with_its_process_though(t: Trace) -> None:
    follow(t)
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.echo(TERMINAL, {"type": "terminal/input", "data": "exit 7\n"})
    t.envelope(TERMINAL, {"type": "terminal/exited", "exitCode": 7})
    t.envelope(ROOT, lists_terminals())


@found(terminals, lives, catalogue, results, unasked)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(terminals, lives, catalogue, results, unasked)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "unsettled"])
def test_a_log_from_the_middle_is_not_accused_of_what_it_lacks(settled: bool) -> None:
    t = Trace("0.9.0")
    t.envelope(TERMINAL, finishes("cmd-7"))
    t.envelope(TERMINAL, claims(held_by("B")), origin=("B", 4))
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.envelope(ROOT, lists_terminals())
    t.envelope(TERMINAL, prints("hi"))
    mine = {"terminals", "terminal-lives", "terminal-catalogue", "channel-folds"}
    assert [f for f in t.judged(settled=settled).findings if f.rule in mine] == []


OTHERS = (
    a_terminal_is_made_anew_by_somebody_else,
    somebody_else_closes_it,
    somebody_else_closes_it_after_its_end,
    the_catalogue_is_made_anew_in_a_moment,
)


@pytest.mark.parametrize("write", OTHERS)
def test_what_a_log_does_not_show_is_not_held_against_the_host(write: Callable[[Trace], None]) -> None:
    assert findings_in_part(write) == []


def test_what_nobody_else_can_have_done_is() -> None:
    assert findings_in_part(it_goes_with_its_process_though) == [("AHP-TERM-016",)]


def findings_in_part(write: Callable[[Trace], None]) -> list[tuple[str, ...]]:
    """The findings about the log of one connection of a host that has others."""
    t, oracle = Trace("0.9.0"), Oracle()
    oracle.tracker.whole = False
    write(t)
    for frame in t.frames:
        oracle.feed(frame)
    oracle.end()
    return [f.obligations for f in oracle.findings]
