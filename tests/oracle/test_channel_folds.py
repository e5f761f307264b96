"""The folds of terminals, changesets, annotations, watches, automations and canvases are what the host hands out."""

from __future__ import annotations

import copy

import pytest

from conformance.oracle.rules.terminal_content import trimmed
from conformance.protocol import fold
from tests.protocol.examples import TURN

from .channels import (
    ANNOTATIONS,
    CHANGESET,
    REVIEWABLE,
    TERMINAL,
    TROUBLE,
    WATCH,
    changes,
    changeset,
    claims,
    command,
    edit,
    entry,
    executes,
    file,
    finishes,
    held_by,
    life,
    listed,
    lists_terminals,
    loose,
    note,
    operation,
    prints,
    remark,
    says,
    sets,
    terminal,
    unsays,
    updates,
    watched,
)
from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

folds = Cases("channel-folds")
convergence = Cases("convergence")

HEARD = ("AHP-SEQ-009", "AHP-SUB-006")
RESIZED = {"type": "terminal/resized", "cols": 77, "rows": 21}
CLEARED = {"type": "terminal/cleared"}
KINDS = {TERMINAL: "terminal", CHANGESET: "changeset", ANNOTATIONS: "annotations", WATCH: "resourceWatch"}


def follow(t: Trace, channel: str, state: JSON, conns: str = "A") -> None:
    for conn in conns:
        t.handshake(conn)
        t.subscribe(channel, state, conn)


def hears(t: Trace, channel: str, state: JSON, *actions: JSON) -> JSON:
    """A client follows a channel and hears of actions of the host; what it has folded."""
    follow(t, channel, state)
    for action in actions:
        t.envelope(channel, action)
    return fold(KINDS[channel], state, actions, t.version)


def of(t: Trace, channel: str, state: JSON) -> None:
    """The same client asks again."""
    t.subscribe(channel, state)


# -- terminals ----------------------------------------------------------------------------------------


@folds.bad(*HEARD)
def a_terminal_changes_silently(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t))
    of(t, TERMINAL, terminal(t, title="other"))


@folds.bad(*HEARD, "AHP-TERM-008")
def what_was_typed_is_stored(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t))
    t.echo(TERMINAL, {"type": "terminal/input", "data": "ls\n"})
    t.envelope(TERMINAL, prints("ls\n"))
    of(t, TERMINAL, terminal(t, loose("ls\nls\n")))


@folds.bad(*HEARD, "AHP-TERM-009")
def output_goes_to_a_finished_command(t: Trace) -> None:
    done = command("a", complete=True)
    hears(t, TERMINAL, terminal(t, done, supportsCommandDetection=True), prints("$ "))
    of(t, TERMINAL, terminal(t, command("a$ ", complete=True), supportsCommandDetection=True))


@folds.bad(*HEARD, "AHP-TERM-009", "AHP-TERM-026", "AHP-TERM-027")
def output_is_lost(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t, loose("$ ")), prints("a"), prints("b"))
    of(t, TERMINAL, terminal(t, loose("$ a")))


@folds.bad(*HEARD, "AHP-TERM-009", "AHP-TERM-026")
def output_is_stored_twice(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t, command(), supportsCommandDetection=True), prints("a"))
    of(t, TERMINAL, terminal(t, command("a"), loose("a"), supportsCommandDetection=True))


@folds.bad(*HEARD, "AHP-TERM-026", "AHP-TERM-027")
def content_goes_silently(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t, loose("$ ")))
    of(t, TERMINAL, terminal(t))


@folds.bad(*HEARD, "AHP-TERM-011")
def a_size_is_not_kept(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t, cols=80, rows=24))
    t.echo(TERMINAL, RESIZED)
    of(t, TERMINAL, terminal(t, cols=80, rows=24))


@folds.bad(*HEARD, "AHP-TERM-011")
def a_claim_is_not_kept(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t), claims(held_by("B")))
    of(t, TERMINAL, terminal(t))


@folds.bad(*HEARD, "AHP-TERM-011", "AHP-TERM-030")
def a_cleared_terminal_has_its_history(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t, loose("old")))
    t.echo(TERMINAL, CLEARED)
    t.envelope(TERMINAL, prints("new"))
    of(t, TERMINAL, terminal(t, loose("oldnew")))


@folds.bad(*HEARD, "AHP-TERM-015")
def a_process_ends_silently(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t))
    of(t, TERMINAL, terminal(t, **life(t.version, 7)))


@folds.bad(*HEARD, "AHP-TERM-022")
def a_command_is_not_finished(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t), executes(), prints("a"), finishes(exitCode=0))
    of(t, TERMINAL, terminal(t, command("a"), supportsCommandDetection=True))


@folds.bad(*HEARD, "AHP-TERM-022", "AHP-TERM-025")
def the_flag_is_not_kept(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t), {"type": "terminal/commandDetectionAvailable"})
    of(t, TERMINAL, terminal(t))


@folds.bad(*HEARD, "AHP-TERM-038", versions=("0.6.0", "0.8.0"))
def an_exit_code_is_made_up(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t), {"type": "terminal/exited"})
    of(t, TERMINAL, terminal(t, exitCode=0))


@folds.bad(*HEARD, "AHP-TERM-101", versions=("0.9.0", "1.0.0"))
def an_end_without_a_code_is_none(t: Trace) -> None:
    hears(t, TERMINAL, terminal(t), {"type": "terminal/exited"})
    of(t, TERMINAL, terminal(t))


@folds.good(*HEARD, "AHP-TERM-008", "AHP-TERM-009", "AHP-TERM-011", "AHP-TERM-022", "AHP-TERM-025")
def a_terminal_in_use(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t))
    said: list[JSON] = [
        {"type": "terminal/input", "data": "ls\n"},
        executes(),
        prints("a"),
        prints("b"),
        finishes(exitCode=0),
        prints("$ "),
        claims(held_by("B")),
    ]
    t.echo(TERMINAL, RESIZED)
    for action in said:
        t.envelope(TERMINAL, action)
    state = fold("terminal", terminal(t), [RESIZED, *said], t.version)
    of(t, TERMINAL, state)
    t.handshake("B")
    t.subscribe(TERMINAL, state, "B")


@folds.good("AHP-TERM-026", "AHP-TERM-027", "AHP-TERM-030")
def old_output_is_dropped(t: Trace) -> None:
    """Whole parts, and the beginning of others; how the rest is divided is the affair of the host."""
    done = command("abc", "1", complete=True)
    before = terminal(t, done, loose("x"), supportsCommandDetection=True)
    hears(t, TERMINAL, before, CLEARED, prints("12"), prints("34"), executes("2"), prints("56"))
    of(t, TERMINAL, terminal(t, loose("4"), command("56", "2"), supportsCommandDetection=True))
    t.envelope(TERMINAL, finishes("2"))
    t.envelope(TERMINAL, prints("78"))
    state = terminal(t, command("6", "2", complete=True), loose("7"), loose("8"), supportsCommandDetection=True)
    of(t, TERMINAL, state)


@folds.good("AHP-TERM-038", versions=("0.6.0", "0.8.0"))
def a_process_ends_with_a_code(t: Trace) -> None:
    of(t, TERMINAL, hears(t, TERMINAL, terminal(t), {"type": "terminal/exited", "exitCode": 3}))


@folds.good("AHP-TERM-101", versions=("0.9.0", "1.0.0"))
def a_process_ends(t: Trace) -> None:
    of(t, TERMINAL, hears(t, TERMINAL, terminal(t), {"type": "terminal/exited"}))


@folds.bad("AHP-TERM-028")
def output_goes_to_the_creator_alone(t: Trace) -> None:
    follow(t, TERMINAL, terminal(t), "AB")
    t.envelope(TERMINAL, {"type": "terminal/titleChanged", "title": "b"}, "AB")
    t.envelope(TERMINAL, prints("a"))
    t.envelope(TERMINAL, prints("b"))


@folds.good("AHP-TERM-028")
def everybody_sees_the_output(t: Trace) -> None:
    """One came later, to a terminal that had forgotten something; and one gets it in other pieces."""
    follow(t, TERMINAL, terminal(t))
    t.envelope(TERMINAL, prints("abc"))
    follow(t, TERMINAL, terminal(t, loose("bc")), "B")
    t.envelope(TERMINAL, prints("d"), "A")
    t.envelope(TERMINAL, prints("ef"), "A")
    t.envelope(TERMINAL, prints("def"), "B")


@folds.good()
def one_of_them_was_slow(t: Trace) -> None:
    """A client that permits delays may get its output after everything else."""
    follow(t, TERMINAL, terminal(t))
    t.handshake("B")
    t.subscribe(TERMINAL, terminal(t), "B", delivery={"maxLatencyMs": 100})
    t.envelope(TERMINAL, {"type": "terminal/titleChanged", "title": "b"}, "AB")
    t.envelope(TERMINAL, prints("d"), "A")


# -- changesets ---------------------------------------------------------------------------------------


def goes(status: str, **members: JSON) -> JSON:
    return {"type": "changeset/statusChanged", "status": status, **members}


def puts(value: JSON) -> JSON:
    return {"type": "changeset/fileSet", "file": value}


def replaces(*files: JSON, **members: JSON) -> JSON:
    return {"type": "changeset/contentChanged", "files": list(files), **members}


def reviews(reviewed: bool = True) -> JSON:
    return {"type": "changeset/filesReviewChanged", "files": ["a"], "reviewed": reviewed}


def offers(*operations: JSON) -> JSON:
    return {"type": "changeset/operationsChanged", "operations": list(operations)}


EMPTIED = {"type": "changeset/cleared"}


@folds.bad(*HEARD, "AHP-CHG-008")
def an_error_stays_after_the_recovery(t: Trace) -> None:
    hears(t, CHANGESET, changeset(status="error", error=TROUBLE), goes("ready"))
    of(t, CHANGESET, changeset(error=TROUBLE))


@folds.bad(*HEARD, "AHP-CHG-009")
def a_replaced_file_moves_to_the_end(t: Trace) -> None:
    hears(t, CHANGESET, changeset(file("a"), file("b")), puts(file("a", "2")))
    of(t, CHANGESET, changeset(file("b"), file("a", "2")))


@folds.bad(*HEARD, "AHP-CHG-010", "AHP-CHG-019")
def a_review_is_forgotten(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(changesets=[entry(**REVIEWABLE)]))
    t.subscribe(CHANGESET, changeset(file("a")))
    t.echo(CHANGESET, reviews())
    of(t, CHANGESET, changeset(file("a")))


@folds.bad(*HEARD, "AHP-CHG-011")
def new_content_clears_the_operations(t: Trace) -> None:
    hears(t, CHANGESET, changeset(operations=[operation()]), replaces(file("a")))
    of(t, CHANGESET, changeset(file("a")))


@folds.bad(*HEARD, "AHP-CHG-012")
def cleared_operations_leave_a_list(t: Trace) -> None:
    hears(t, CHANGESET, changeset(operations=[operation()]), {"type": "changeset/operationsChanged"})
    of(t, CHANGESET, changeset(operations=[]))


@folds.bad(*HEARD, "AHP-CHG-013")
def an_operation_does_not_recover(t: Trace) -> None:
    failed = operation(status="error", error=TROUBLE)
    action = {"type": "changeset/operationStatusChanged", "operationId": "revert", "status": "idle"}
    hears(t, CHANGESET, changeset(operations=[failed]), action)
    of(t, CHANGESET, changeset(operations=[failed]))


@folds.bad(*HEARD, "AHP-CHG-014")
def a_cleared_changeset_loses_its_operations(t: Trace) -> None:
    hears(t, CHANGESET, changeset(file("a"), operations=[operation()]), EMPTIED)
    of(t, CHANGESET, changeset())


@folds.bad(*HEARD, "AHP-CHG-040", versions=("0.6.0", "0.8.0"))
def an_old_error_stays_beside_the_content(t: Trace) -> None:
    hears(t, CHANGESET, changeset(error=TROUBLE), replaces(file("a")))
    of(t, CHANGESET, changeset(file("a"), error=TROUBLE))


@folds.good(*HEARD, *(f"AHP-CHG-0{n:02}" for n in (8, 9, 10, 11, 12, 13, 14, 19)))
def a_changeset_in_use(t: Trace) -> None:
    """A mark that is false and an operation without a status say nothing."""
    t.handshake()
    t.subscribe(SESSION, calm_session(changesets=[entry(**REVIEWABLE)]))
    t.subscribe(CHANGESET, changeset(status="computing"))
    said = [
        replaces(file("a")),
        goes("ready"),
        puts(file("b")),
        {"type": "changeset/fileRemoved", "fileId": "b"},
        offers(operation()),
        {"type": "changeset/operationStatusChanged", "operationId": "revert", "status": "running"},
        {"type": "changeset/operationStatusChanged", "operationId": "revert", "status": "idle"},
    ]
    for action in said:
        t.envelope(CHANGESET, action)
    t.echo(CHANGESET, reviews())
    t.echo(CHANGESET, reviews(False))
    quiet = {name: value for name, value in operation().items() if name != "status"}
    of(t, CHANGESET, changeset({"id": "a", "edit": edit("a")}, operations=[quiet]))
    t.envelope(CHANGESET, EMPTIED)
    of(t, CHANGESET, changeset(operations=[operation()]))


@folds.good("AHP-CHG-040", versions=("0.6.0", "0.8.0"))
def an_error_goes_with_new_content(t: Trace) -> None:
    of(t, CHANGESET, hears(t, CHANGESET, changeset(error=TROUBLE), replaces(file("a"))))


# -- annotations --------------------------------------------------------------------------------------


def notes(*annotations: JSON) -> JSON:
    return {"annotations": list(annotations)}


@folds.bad(*HEARD, "AHP-ANN-004")
def the_host_chooses_the_ids(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(), sets(note(t)))
    of(t, ANNOTATIONS, notes(note(t, "host-1")))


@folds.bad(*HEARD, "AHP-ANN-005")
def a_replaced_annotation_moves_to_the_end(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(note(t), note(t, "n2")), sets(note(t, resolved=True)))
    of(t, ANNOTATIONS, notes(note(t, "n2"), note(t, resolved=True)))


SPAN = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}


@folds.bad(*HEARD, "AHP-ANN-006")
def an_update_clears_the_range(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(note(t, range=SPAN)), updates(resolved=True))
    of(t, ANNOTATIONS, notes(note(t, resolved=True)))


@folds.bad(*HEARD, "AHP-ANN-007")
def a_removed_annotation_stays(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(note(t)), {"type": "annotations/removed", "annotationId": "n1"})
    of(t, ANNOTATIONS, notes(note(t)))


@folds.bad(*HEARD, "AHP-ANN-008")
def a_removed_entry_stays(t: Trace) -> None:
    both = note(t, "n1", remark(), remark("e2"))
    hears(t, ANNOTATIONS, notes(both), unsays("e2"))
    of(t, ANNOTATIONS, notes(both))


@folds.bad(*HEARD, "AHP-ANN-005", "AHP-ANN-012")
def annotations_are_kept_per_connection(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(), sets(note(t)))
    follow(t, ANNOTATIONS, notes(), "B")


@folds.bad(*HEARD, "AHP-ANN-014")
def entries_are_sorted(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(note(t, "n1", remark("z"))), says(remark("a")))
    of(t, ANNOTATIONS, notes(note(t, "n1", remark("a"), remark("z"))))


@folds.bad(*HEARD, "AHP-ANN-008", "AHP-ANN-020")
def an_entry_makes_its_annotation(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(), says(remark(), "n9"))
    of(t, ANNOTATIONS, notes(note(t, "n9")))


@folds.bad(*HEARD, "AHP-ANN-022", versions=("0.6.0", "0.8.0"))
def a_new_turn_is_ignored(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(note(t)), updates(turnId="later"))
    of(t, ANNOTATIONS, notes(note(t)))


@folds.bad(*HEARD, "AHP-ANN-101", versions=("0.9.0", "1.0.0"))
def an_origin_is_lost(t: Trace) -> None:
    hears(t, ANNOTATIONS, notes(), sets(note(t)))
    of(t, ANNOTATIONS, notes({**note(t), "origin": {"session": SESSION}}))


NOTED = ("AHP-ANN-004", "AHP-ANN-005", "AHP-ANN-006", "AHP-ANN-007", "AHP-ANN-008", "AHP-ANN-012", "AHP-ANN-014")


@folds.good(*HEARD, *NOTED, "AHP-ANN-020")
def annotations_in_use(t: Trace) -> None:
    said = [
        sets(note(t)),
        sets(note(t, "n2")),
        updates(resolved=True, range=SPAN),
        updates("nobody", resolved=True),
        says(remark("e2")),
        says(remark("e2", "Because")),
        unsays("e1"),
        {"type": "annotations/removed", "annotationId": "n2"},
    ]
    state = hears(t, ANNOTATIONS, notes(), *said)
    of(t, ANNOTATIONS, state)
    follow(t, ANNOTATIONS, copy.deepcopy(state), "B")


@folds.good("AHP-ANN-022", versions=("0.6.0", "0.8.0"))
def an_annotation_is_anchored_anew(t: Trace) -> None:
    of(t, ANNOTATIONS, hears(t, ANNOTATIONS, notes(note(t)), updates(turnId="later")))


@folds.good("AHP-ANN-101", versions=("0.9.0", "1.0.0"))
def an_annotation_has_its_origin(t: Trace) -> None:
    of(t, ANNOTATIONS, hears(t, ANNOTATIONS, notes(), sets(note(t, turn=TURN))))


# -- watches, automations, canvases -------------------------------------------------------------------


@folds.bad(*HEARD, "AHP-RW-006")
def a_watch_keeps_its_events(t: Trace) -> None:
    follow(t, WATCH, watched())
    t.envelope(WATCH, changes("file:///project/a"))
    t.subscribe(WATCH, watched(includes={"items": ["a"]}))


@folds.bad(*HEARD, "AHP-RW-006", "AHP-RW-016", settled=True)
def a_watch_is_resumed_with_other_options(t: Trace) -> None:
    follow(t, WATCH, watched(recursive=True), "AB")
    t.close("B")
    result = {"type": "snapshot", "snapshots": [t.snapshot(WATCH, watched())]}
    t.reconnect("C", "client-B", 0, [WATCH], result)


@folds.good(*HEARD, "AHP-RW-006", "AHP-RW-016")
def a_watch_stays_as_it_is(t: Trace) -> None:
    follow(t, WATCH, watched(recursive=True), "AB")
    t.envelope(WATCH, changes("file:///project/a"), "AB")
    of(t, WATCH, watched(recursive=True))
    t.close("B")
    result = {"type": "snapshot", "snapshots": [t.snapshot(WATCH, watched(recursive=True))]}
    t.reconnect("C", "client-B", 1, [WATCH], result)


RUN = "ahp-automation-run:/r1"
PENDING = {"status": "pending", "createdAt": "2026-01-01T00:00:00.000Z"}


def run(**members: JSON) -> JSON:
    state = {"resource": RUN, "automation": "ahp-automation:/a", "origin": {"kind": "manual"}, "lifecycle": PENDING}
    return {**state, "operations": ["cancel"], "sessions": [], **members}


@folds.bad(*HEARD, versions=("0.9.0",))
def a_run_goes_on_silently(t: Trace) -> None:
    follow(t, RUN, run())
    of(t, RUN, run(sessions=[SESSION]))


@folds.good(*HEARD, versions=("0.9.0",))
def a_run_offers_other_operations(t: Trace) -> None:
    """No action carries them."""
    follow(t, RUN, run())
    of(t, RUN, run(operations=[]))


CANVAS = "ahp-canvas:/1"


def canvas(**members: JSON) -> JSON:
    return {"instanceId": "i", "extensionId": "e", "canvasId": "c", **members}


@folds.bad(*HEARD, versions=("1.0.0",))
def a_withdrawn_source_is_still_there(t: Trace) -> None:
    follow(t, CANVAS, canvas(url="https://x"))
    t.envelope(CANVAS, {"type": "canvas/stateChanged", "canvas": canvas()})
    of(t, CANVAS, canvas(url="https://x"))


# -- what others say of them --------------------------------------------------------------------------


@convergence.bad(*HEARD, "AHP-TERM-002")
def a_terminal_is_listed_on_the_next_connect_only(t: Trace) -> None:
    t.handshake()
    t.subscribe(ROOT, root(terminals=[listed(t)]))


@convergence.bad(*HEARD, "AHP-TERM-006")
def the_root_knows_a_title_that_nobody_heard_of(t: Trace) -> None:
    t.handshake()
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.subscribe(ROOT, root(terminals=[listed(t, title="other")]))


@convergence.bad(*HEARD, "AHP-TERM-017")
def a_terminal_goes_without_a_word(t: Trace) -> None:
    t.handshake()
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.subscribe(ROOT, root(terminals=[]))


@convergence.bad(*HEARD, "AHP-CHG-032")
def catalogues_of_changesets_are_merged(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(changesets=[entry()]))
    t.envelope(SESSION, {"type": "session/changesetsChanged", "changesets": [entry("x:/2")]})
    t.subscribe(SESSION, calm_session(changesets=[entry(), entry("x:/2")]))


@convergence.bad(*HEARD, "AHP-CHG-033")
def a_catalogue_appears_silently(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session())
    t.subscribe(SESSION, calm_session(changesets=[entry()]))


@convergence.good("AHP-CHG-032", "AHP-CHG-033", "AHP-TERM-002", "AHP-TERM-006")
def catalogues_change_in_words(t: Trace) -> None:
    t.handshake()
    t.envelope(ROOT, lists_terminals(listed(t)))
    t.subscribe(ROOT, root(terminals=[listed(t)]))
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, {"type": "session/changesetsChanged", "changesets": [entry()]})
    t.subscribe(SESSION, calm_session(changesets=[entry()]))


@found(folds, convergence)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(folds, convergence)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


@pytest.mark.parametrize(
    ("folded", "shown", "same"),
    [
        ([loose("abc")], [loose("bc")], True),
        ([loose("abc")], [loose("ab")], False),
        ([loose("abc")], [], False),
        ([loose("a"), loose("b")], [loose("ab")], True),
        ([loose("a"), command("b"), loose("c")], [command("b"), loose("c")], True),
        ([command("abc"), loose("d")], [command("c"), loose("d")], True),
        ([command("abc"), loose("d")], [command(""), loose("d")], True),
        ([command("abc")], [command("")], False),
        ([command("abc")], [command("abc", "other")], False),
        ([command("abc")], [command("abc"), loose("d")], False),
        ([loose("a"), loose("")], [loose("a")], True),
        ("text", [loose("a")], False),
    ],
)
def test_what_a_state_may_have_forgotten(folded: JSON, shown: JSON, same: bool) -> None:
    assert (trimmed({"content": folded}, {"content": shown}) == {"content": shown}) is same
