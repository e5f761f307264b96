"""Terminals: creation, disposal, and the catalogue of the root, also in logs of one connection out of many."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.oracle import Oracle

from .channels import (
    OTHER,
    TERMINAL,
    claims,
    create,
    finishes,
    held_by,
    held_by_session,
    life,
    listed,
    lists_terminals,
    prints,
    terminal,
)
from .terminal_traces import RENAMED, follow
from .traces import (
    JSON,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    clean,
    found,
    root,
)

lives = Cases("terminal-lives")
catalogue = Cases("terminal-catalogue")


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


@found(lives, catalogue)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(lives, catalogue)
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
