"""Changesets: their catalogue, their files, review, and operations."""

from __future__ import annotations

from .channels import (
    CHANGESET,
    REVIEWABLE,
    TROUBLE,
    changeset,
    edit,
    entry,
    file,
    operation,
)
from .traces import JSON, SESSION, Case, Cases, Trace, calm_session, clean, found

changesets = Cases("changesets")
operations = Cases("changeset-operations")


def follow(t: Trace, state: JSON, conns: str = "A", **members: JSON) -> None:
    """Clients that follow a session which offers one changeset, and that changeset."""
    for conn in conns:
        t.handshake(conn)
        t.subscribe(SESSION, calm_session(changesets=[entry(**members)]), conn)
        t.subscribe(CHANGESET, state, conn)


def offers(t: Trace, *entries: JSON) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(changesets=list(entries)))


def reviews(*files: str, reviewed: bool = True) -> JSON:
    return {"type": "changeset/filesReviewChanged", "files": list(files), "reviewed": reviewed}


def replaces(*files: JSON, **members: JSON) -> JSON:
    return {"type": "changeset/contentChanged", "files": list(files), **members}


def puts(value: JSON) -> JSON:
    return {"type": "changeset/fileSet", "file": value}


def goes(status: str, **members: JSON) -> JSON:
    return {"type": "changeset/statusChanged", "status": status, **members}


def operation_goes(status: str, identity: str = "revert", **members: JSON) -> JSON:
    return {"type": "changeset/operationStatusChanged", "operationId": identity, "status": status, **members}


# -- the catalogue ------------------------------------------------------------------------------------


@changesets.bad("AHP-CHG-002")
def a_template_with_a_variable_of_its_own(t: Trace) -> None:
    offers(t, entry("ahp-changeset:/{branch}"))


@changesets.bad("AHP-CHG-002")
def a_later_catalogue_with_two_kinds_of_turns(t: Trace) -> None:
    offers(t)
    t.envelope(SESSION, {"type": "session/changesetsChanged", "changesets": [entry("x:/{turnId}{?file}")]})


@changesets.bad("AHP-CHG-005")
def a_comparison_with_one_side(t: Trace) -> None:
    offers(t, entry("ahp-changeset:/{originalTurnId}"))


@changesets.good("AHP-CHG-002", "AHP-CHG-005")
def templates_of_all_sorts(t: Trace) -> None:
    templates = (CHANGESET, "x:/{turnId}", "x:/{+turnId}", "x:/{originalTurnId}/{modifiedTurnId}")
    offers(t, *map(entry, templates), entry("x:/c{?originalTurnId,modifiedTurnId}"))


# -- what it holds ------------------------------------------------------------------------------------


@changesets.bad("AHP-CHG-006")
def an_error_without_a_reason(t: Trace) -> None:
    follow(t, changeset(status="error"))


@changesets.bad("AHP-CHG-006")
def a_transition_to_error_without_a_reason(t: Trace) -> None:
    follow(t, changeset(), "AB")
    t.envelope(CHANGESET, goes("error"), "AB")


@changesets.good("AHP-CHG-006")
def errors_with_reasons(t: Trace) -> None:
    follow(t, changeset(status="error", error=TROUBLE))
    t.envelope(CHANGESET, goes("ready"))
    t.envelope(CHANGESET, goes("error", error=TROUBLE))


@changesets.good(versions=("0.6.0",))
def an_error_beside_another_status(t: Trace) -> None:
    """What the fold makes of a failed content (AMB-38)."""
    follow(t, changeset())
    t.envelope(CHANGESET, replaces(error=TROUBLE))
    t.subscribe(CHANGESET, changeset(error=TROUBLE))


@changesets.bad("AHP-CHG-016")
def two_files_with_one_id(t: Trace) -> None:
    follow(t, changeset(file("a"), {**file("b"), "id": "a"}))


@changesets.bad("AHP-CHG-016")
def the_same_file_twice(t: Trace) -> None:
    follow(t, changeset(file("a")))
    t.envelope(CHANGESET, puts({"id": "another", "edit": edit("a", "2")}))


@changesets.bad("AHP-CHG-016")
def ids_that_are_made_up_anew(t: Trace) -> None:
    follow(t, changeset(file("a"), file("b")), "AB")
    t.envelope(CHANGESET, replaces({"id": "r1", "edit": edit("a")}, file("b")), "AB")


@changesets.good("AHP-CHG-016")
def a_file_is_staged_in_part(t: Trace) -> None:
    """What is in the index and what is not are two entries for one file."""
    follow(t, changeset(file("a")))
    staged = edit("a")
    staged["after"]["content"]["uri"] = "git-index:///project/a.py"
    t.envelope(CHANGESET, puts({"id": "staged", "edit": staged}))
    t.envelope(CHANGESET, replaces(file("a"), {"id": "staged", "edit": staged}, {"id": "other", "edit": edit("a")}))


@changesets.good("AHP-CHG-016")
def files_come_and_go(t: Trace) -> None:
    """A file that was away, or is renamed, is another one."""
    follow(t, changeset(file("a")))
    t.envelope(CHANGESET, puts(file("a", "2")))
    t.envelope(CHANGESET, replaces(file("a", "3"), file("b")))
    t.envelope(CHANGESET, {"type": "changeset/fileRemoved", "fileId": "a"})
    t.envelope(CHANGESET, puts({"id": "again", "edit": edit("a")}))
    t.envelope(CHANGESET, {"type": "changeset/cleared"})
    t.envelope(CHANGESET, replaces({"id": "new", "edit": edit("a")}))


@changesets.bad("AHP-CHG-017")
def an_edit_of_nothing(t: Trace) -> None:
    follow(t, changeset({"id": "a", "edit": {"diff": {"added": 1}}}))


@changesets.good("AHP-CHG-017")
def edits_of_all_sorts(t: Trace) -> None:
    before = {"before": edit("b")["after"]}
    follow(t, changeset(file("a"), {"id": "b", "edit": before}, {"id": "c", "edit": {**edit("c"), **before}}))


# -- review -------------------------------------------------------------------------------------------


@changesets.bad("AHP-CHG-019")
def a_review_is_refused(t: Trace) -> None:
    follow(t, changeset(file("a")), "AB", **REVIEWABLE)
    t.echo(CHANGESET, reviews("a"), to="AB", rejected="server-only")


@changesets.bad("AHP-CHG-021")
def an_unknown_id_spoils_the_review(t: Trace) -> None:
    follow(t, changeset(file("a")), **REVIEWABLE)
    t.echo(CHANGESET, reviews("a", "nobody"), rejected="unknown")


@changesets.good("AHP-CHG-021")
def files_are_reviewed(t: Trace) -> None:
    follow(t, changeset(file("a")), **REVIEWABLE)
    t.echo(CHANGESET, reviews("a"))
    t.echo(CHANGESET, reviews("a", "nobody", reviewed=False))


@changesets.good()
def a_review_that_changes_nothing_may_be_refused(t: Trace) -> None:
    follow(t, changeset(file("a", reviewed=True)), **REVIEWABLE)
    t.echo(CHANGESET, reviews("a"), rejected="no")
    t.echo(CHANGESET, reviews("nobody"), rejected="no")


@changesets.bad("AHP-CHG-020")
def a_review_of_what_cannot_be_reviewed(t: Trace) -> None:
    follow(t, changeset(file("a")))
    t.echo(CHANGESET, reviews("a"))


@changesets.good("AHP-CHG-020")
def a_review_of_what_cannot_be_reviewed_is_refused(t: Trace) -> None:
    follow(t, changeset(file("a")))
    t.echo(CHANGESET, reviews("a"), rejected="no")
    t.echo(CHANGESET, reviews("nobody"))
    t.echo(CHANGESET, reviews("a", reviewed=False))


@changesets.good()
def a_changeset_that_nobody_is_known_to_offer(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHANGESET, changeset(file("a")))
    t.echo(CHANGESET, reviews("a"))
    t.echo(CHANGESET, reviews("a", reviewed=False), rejected="no")


@changesets.bad("AHP-CHG-022")
def a_changed_file_counts_as_reviewed(t: Trace) -> None:
    follow(t, changeset(file("a")), "AB", **REVIEWABLE)
    t.echo(CHANGESET, reviews("a"), to="AB")
    t.envelope(CHANGESET, puts(file("a", "2", reviewed=True)), "AB")
    t.envelope(CHANGESET, replaces(file("a", "2", reviewed=True)), "AB")


@changesets.good("AHP-CHG-022")
def a_changed_file_loses_its_mark(t: Trace) -> None:
    follow(t, changeset(file("a", reviewed=True), file("b", reviewed=True)), **REVIEWABLE)
    t.envelope(CHANGESET, puts(file("a", "2")))
    t.envelope(CHANGESET, replaces(file("a", "2"), file("b", "2", reviewed=True)))
    t.envelope(CHANGESET, reviews("b", reviewed=False))


@changesets.good("AHP-CHG-022")
def a_changed_file_is_reviewed_again(t: Trace) -> None:
    """The host may review what its agent did, and a client what it sees."""
    follow(t, changeset(file("a", reviewed=True), file("b", reviewed=True)), **REVIEWABLE)
    t.envelope(CHANGESET, replaces(file("a", "2", reviewed=True), file("b", "2", reviewed=True)))
    t.envelope(CHANGESET, reviews("a"))
    t.echo(CHANGESET, reviews("b"))


@changesets.good()
def what_it_is_compared_with_changes(t: Trace) -> None:
    """Counts and places of the content may change without the content."""
    follow(t, changeset(file("a", reviewed=True)), **REVIEWABLE)
    moved = {"uri": "file:///project/a.py", "content": {"uri": "git:/a?2", "nonce": "1"}}
    t.envelope(CHANGESET, puts({"id": "a", "edit": {"after": moved, "diff": {"added": 3}}, "reviewed": True}))


@changesets.good()
def a_client_that_left_is_told_nothing_more(t: Trace) -> None:
    follow(t, changeset(file("a", reviewed=True)), **REVIEWABLE)
    t.envelope(CHANGESET, puts(file("a", "2", reviewed=True)))
    t.close()


# -- operations in the state --------------------------------------------------------------------------


@changesets.bad("AHP-CHG-023")
def an_operation_in_error_without_a_reason(t: Trace) -> None:
    follow(t, changeset(operations=[operation(status="error")]))


@changesets.bad("AHP-CHG-023")
def an_operation_fails_without_a_reason(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    t.envelope(CHANGESET, operation_goes("error"))


@changesets.bad("AHP-CHG-023")
def an_idle_operation_with_an_error(t: Trace) -> None:
    follow(t, changeset())
    t.envelope(CHANGESET, {"type": "changeset/operationsChanged", "operations": [operation(error=TROUBLE)]})


@changesets.bad("AHP-CHG-023")
def two_operations_with_one_id(t: Trace) -> None:
    follow(t, changeset())
    t.envelope(CHANGESET, replaces(operations=[operation(), operation()]))


@changesets.good("AHP-CHG-023")
def operations_of_all_sorts(t: Trace) -> None:
    """An absent status is idle (AMB-40)."""
    quiet = {name: value for name, value in operation("quiet").items() if name != "status"}
    follow(t, changeset(operations=[quiet, operation(status="error", error=TROUBLE)]))
    t.envelope(CHANGESET, operation_goes("error", error=TROUBLE))
    t.envelope(CHANGESET, operation_goes("idle"))


@changesets.bad("AHP-CS-101", versions=("0.9.0", "1.0.0"))
def a_failure_in_the_content(t: Trace) -> None:
    follow(t, changeset(), "AB")
    t.envelope(CHANGESET, replaces(error=TROUBLE), "AB")


@changesets.good("AHP-CS-101", versions=("0.9.0", "1.0.0"))
def content_without_a_failure(t: Trace) -> None:
    follow(t, changeset(status="computing"))
    t.envelope(CHANGESET, replaces(file("a")))
    t.envelope(CHANGESET, goes("error", error=TROUBLE))


@changesets.bad("AHP-CS-102", versions=("1.0.0",))
def a_first_computation_that_is_not_the_first(t: Trace) -> None:
    follow(t, changeset(status="computing"))
    t.envelope(CHANGESET, goes("recomputing"))


@changesets.good("AHP-CS-102", versions=("1.0.0",))
def a_changeset_is_computed_again(t: Trace) -> None:
    follow(t, changeset(status="computing"))
    t.envelope(CHANGESET, goes("ready"))
    t.envelope(CHANGESET, goes("recomputing"))
    t.envelope(CHANGESET, goes("ready"))


# -- invocations --------------------------------------------------------------------------------------


def invoke(t: Trace, identity: str = "revert", *actions: JSON, result: JSON = ..., **params: JSON) -> None:
    """An invocation; the host sends the actions and then the answer, an error unless there is a result."""
    number = t.ask("invokeChangesetOperation", channel=CHANGESET, operationId=identity, **params)
    for action in actions:
        t.envelope(CHANGESET, action)
    if result is ...:
        t.error(number, -32602)
    else:
        t.result(number, result)


ON_A_FILE: JSON = {"target": {"kind": "resource", "resource": "file:///project/a.py"}}
RUNS = (operation_goes("running"), operation_goes("idle"))


@operations.bad("AHP-CHG-024")
def an_unknown_operation_is_accepted(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "invented", result={})


@operations.bad("AHP-CHG-024")
def an_operation_of_a_changeset_without_any(t: Trace) -> None:
    follow(t, changeset())
    invoke(t, result={})


@operations.good("AHP-CHG-024", "AHP-CHG-029")
def an_unknown_operation_is_refused(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "invented")


@operations.good()
def an_operation_that_comes_just_then(t: Trace) -> None:
    follow(t, changeset())
    invoke(t, "revert", {"type": "changeset/operationsChanged", "operations": [operation()]}, result={})


@operations.bad("AHP-CHG-025")
def an_operation_is_run_on_the_wrong_thing(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", *RUNS, result={}, **ON_A_FILE)


@operations.good("AHP-CHG-025")
def a_wrong_target_is_refused(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, **ON_A_FILE)


@operations.bad("AHP-CHG-026")
def an_operation_is_run_on_everything(t: Trace) -> None:
    follow(t, changeset(operations=[operation(scopes=["resource", "range"])]))
    invoke(t, "revert", *RUNS, result={})


@operations.good("AHP-CHG-026")
def a_missing_target_is_refused(t: Trace) -> None:
    follow(t, changeset(operations=[operation(scopes=["resource"])]))
    invoke(t)


@operations.bad("AHP-CHG-028")
def a_failed_operation_runs_on(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", operation_goes("running"))


@operations.good("AHP-CHG-029")
def another_client_was_faster(t: Trace) -> None:
    """Its run goes on, and is no matter of the invocation that was refused for it."""
    follow(t, changeset(operations=[operation()]))
    t.envelope(CHANGESET, operation_goes("running"))
    invoke(t, "revert")


@operations.good("AHP-CHG-028", "AHP-CHG-029")
def a_failed_operation_says_so(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", operation_goes("running"))
    t.envelope(CHANGESET, operation_goes("error", error=TROUBLE))
    invoke(t, "revert", operation_goes("running"), operation_goes("error", error=TROUBLE))


@operations.bad("AHP-CHG-029")
def a_failure_inside_the_result(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", *RUNS, result={"success": False})


@operations.bad("AHP-CHG-029")
def an_error_inside_the_result(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", *RUNS, result={"error": "no"})


@operations.bad("AHP-CHG-030")
def a_disabled_operation_runs(t: Trace) -> None:
    follow(t, changeset(operations=[operation(status="disabled")]))
    invoke(t, result={})


@operations.good("AHP-CHG-030")
def a_disabled_operation_is_refused(t: Trace) -> None:
    follow(t, changeset(operations=[operation(status="disabled")]))
    invoke(t)


@operations.bad("AHP-CHG-041")
def an_operation_runs_unseen(t: Trace) -> None:
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", operation_goes("idle"), result={})


@operations.good("AHP-CHG-041")
def operations_run(t: Trace) -> None:
    """Before the answer, after it, as part of a new list, or at once with another invocation."""
    follow(t, changeset(operations=[operation()]))
    invoke(t, "revert", *RUNS, result={"message": "Done"}, target=None)
    invoke(t, result={})
    for action in RUNS:
        t.envelope(CHANGESET, action)
    listed = {"type": "changeset/operationsChanged", "operations": [operation(status="running")]}
    invoke(t, "revert", listed, result={})
    invoke(t, result={})


@found(changesets, operations)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(changesets, operations)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_a_log_from_the_middle_is_not_accused_of_what_it_lacks() -> None:
    t = Trace("0.9.0")
    t.envelope(CHANGESET, reviews("a"), origin=("A", 1))
    t.envelope(CHANGESET, puts(file("a", "2", reviewed=True)))
    t.envelope(CHANGESET, operation_goes("idle"))
    invoke(t, result={})
    mine = {"changesets", "changeset-operations", "channel-folds", "offers"}
    assert [f for f in t.judged().findings if f.rule in mine] == []
