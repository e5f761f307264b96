"""Terminals in the results of tools."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .channels import (
    TERMINAL,
    life,
    listed,
    lists_terminals,
    loose,
    terminal,
)
from .traces import (
    DONE,
    JSON,
    ROOT,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    clean,
    finished,
    found,
    idle_chat,
    part_of,
    working_chat,
)

results = Cases("terminal-results")


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


@found(results)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(results)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
