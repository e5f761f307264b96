"""Terminals: claims, output, commands, names."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .channels import (
    TERMINAL,
    claims,
    command,
    executes,
    finishes,
    held_by,
    held_by_session,
    life,
    listed,
    lists_terminals,
    prints,
    terminal,
)
from .terminal_traces import CHAINED, CLEARED, RENAMED, follow, refuse
from .traces import (
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    calm_session,
    clean,
    ends,
    found,
    working_chat,
)

terminals = Cases("terminals")


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


@found(terminals)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(terminals)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
