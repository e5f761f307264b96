"""Terminals, changesets, annotations and watches of the wrong shape, and whose obligation each breaks."""

from __future__ import annotations

from .channels import (
    ANNOTATIONS,
    CHANGESET,
    TERMINAL,
    WATCH,
    changes,
    changeset,
    claims,
    command,
    entry,
    executes,
    file,
    held_by,
    held_by_session,
    life,
    listed,
    lists_terminals,
    note,
    operation,
    remark,
    says,
    sets,
    summary,
    terminal,
    watched,
)
from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

shapes = Cases("shapes")

OLD, NEW = ("0.6.0", "0.8.0"), ("0.9.0", "1.0.0")
SNAPSHOT = "AHP-SUB-003"


def less(value: JSON, *names: str) -> JSON:
    return {name: member for name, member in value.items() if name not in names}


def shown(t: Trace, channel: str, state: JSON) -> None:
    t.handshake()
    t.subscribe(channel, state)


def said(t: Trace, channel: str, action: JSON) -> None:
    """The host says something on a channel, to one who has subscribed to it."""
    states = {TERMINAL: terminal(t), CHANGESET: changeset(), ANNOTATIONS: {"annotations": []}, WATCH: watched()}
    t.handshake()
    if channel in states:
        t.subscribe(channel, states[channel])
    t.envelope(channel, action)


# -- terminals ----------------------------------------------------------------------------------------


@shapes.bad("AHP-TERM-003", SNAPSHOT)
def a_terminal_that_nobody_holds(t: Trace) -> None:
    shown(t, TERMINAL, less(terminal(t), "claim"))


@shapes.bad("AHP-TERM-003", SNAPSHOT)
def a_listed_terminal_without_a_claim(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(terminals=[listed(t, claim=None)]))])


@shapes.bad("AHP-TERM-003")
def a_later_list_without_claims(t: Trace) -> None:
    said(t, ROOT, lists_terminals(less(listed(t), "claim")))


@shapes.bad("AHP-TERM-003")
def a_terminal_is_released(t: Trace) -> None:
    said(t, TERMINAL, claims({"kind": "none"}))


@shapes.bad("AHP-TERM-102", SNAPSHOT, versions=NEW)
def a_claim_without_a_chat(t: Trace) -> None:
    shown(t, TERMINAL, terminal(t, claim=held_by_session("0.6.0")))


@shapes.bad("AHP-TERM-102", versions=NEW)
def a_terminal_is_claimed_without_a_chat(t: Trace) -> None:
    said(t, TERMINAL, claims(held_by_session("0.6.0")))


@shapes.bad("AHP-TERM-101", SNAPSHOT, versions=NEW)
def a_terminal_without_a_lifecycle(t: Trace) -> None:
    shown(t, TERMINAL, {**less(terminal(t), "lifecycle"), "exitCode": 0})


@shapes.bad("AHP-TERM-101", versions=NEW)
def a_listed_terminal_with_another_lifecycle(t: Trace) -> None:
    said(t, ROOT, lists_terminals(listed(t, lifecycle={"status": "killed"})))


@shapes.bad("AHP-TERM-038", SNAPSHOT, versions=OLD)
def an_exit_code_that_is_null(t: Trace) -> None:
    shown(t, TERMINAL, terminal(t, exitCode=None))


@shapes.bad("AHP-TERM-015")
def an_end_with_null_for_a_code(t: Trace) -> None:
    said(t, TERMINAL, {"type": "terminal/exited", "exitCode": None})


@shapes.bad("AHP-TERM-037", SNAPSHOT)
def a_working_directory_that_is_a_path(t: Trace) -> None:
    shown(t, TERMINAL, terminal(t, cwd="/tmp"))


@shapes.bad("AHP-TERM-024")
def a_command_without_an_id(t: Trace) -> None:
    said(t, TERMINAL, less(executes(), "commandId"))


@shapes.bad("AHP-SEQ-003")
def a_command_without_its_text(t: Trace) -> None:
    said(t, TERMINAL, less(executes(), "commandLine"))


@shapes.bad(SNAPSHOT)
def a_terminal_with_text_for_content(t: Trace) -> None:
    shown(t, TERMINAL, {**terminal(t), "content": "$ "})


@shapes.bad("AHP-TERM-001")
def a_creation_answered_with_an_object(t: Trace) -> None:
    t.handshake()
    t.call("createTerminal", {}, channel=TERMINAL, claim=held_by("A"))


@shapes.bad("AHP-TERM-017")
def a_disposal_answered_with_an_object(t: Trace) -> None:
    t.handshake()
    t.call("disposeTerminal", {}, channel=TERMINAL)


@shapes.good("AHP-TERM-003", "AHP-TERM-015", "AHP-TERM-024")
def terminals_as_they_should_be(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(terminals=[listed(t, claim=held_by_session(t.version))]))])
    t.subscribe(TERMINAL, terminal(t, command(complete=True), cwd="file:///tmp", supportsCommandDetection=True))
    t.envelope(TERMINAL, executes("2"))
    claim = held_by_session(t.version, turnId="t", toolCallId="c")
    t.envelope(TERMINAL, claims(claim))
    t.envelope(TERMINAL, {"type": "terminal/exited"})
    t.envelope(ROOT, lists_terminals(listed(t, claim=claim, **life(t.version, ended=True))))
    t.call("createTerminal", channel="ahp-terminal:/t2", claim=held_by("A"))
    t.call("disposeTerminal", channel="ahp-terminal:/t2")


@shapes.good("AHP-TERM-101", "AHP-TERM-102", versions=NEW)
def a_terminal_of_a_chat(t: Trace) -> None:
    shown(t, TERMINAL, terminal(t, claim=held_by_session(t.version)))


@shapes.good("AHP-TERM-038", versions=OLD)
def a_terminal_that_ended_with_a_code(t: Trace) -> None:
    shown(t, TERMINAL, terminal(t, exitCode=3))


# -- changesets ---------------------------------------------------------------------------------------


@shapes.bad("AHP-CHG-001", SNAPSHOT)
def a_changeset_without_a_kind(t: Trace) -> None:
    shown(t, SESSION, calm_session(changesets=[less(entry(), "changeKind")]))


@shapes.bad("AHP-CHG-001")
def a_later_catalogue_without_templates(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/changesetsChanged", "changesets": [less(entry(), "uriTemplate")]})


@shapes.bad("AHP-CHG-006", SNAPSHOT)
def a_changeset_without_files(t: Trace) -> None:
    shown(t, CHANGESET, {"status": "computing"})


@shapes.bad("AHP-CHG-006", versions=OLD)
def a_status_before_its_time(t: Trace) -> None:
    said(t, CHANGESET, {"type": "changeset/statusChanged", "status": "recomputing"})


@shapes.bad("AHP-CHG-016", SNAPSHOT)
def a_file_without_an_id(t: Trace) -> None:
    shown(t, CHANGESET, changeset(less(file(), "id")))


@shapes.bad("AHP-CHG-016")
def a_new_file_without_an_id(t: Trace) -> None:
    said(t, CHANGESET, {"type": "changeset/fileSet", "file": less(file(), "id")})


@shapes.bad("AHP-CHG-023", SNAPSHOT)
def an_operation_without_scopes(t: Trace) -> None:
    shown(t, CHANGESET, changeset(operations=[less(operation(), "scopes")]))


@shapes.bad("AHP-CHG-023", versions=OLD)
def a_new_operation_with_another_status(t: Trace) -> None:
    operations = [operation(status="done")]
    said(t, CHANGESET, {"type": "changeset/contentChanged", "files": [], "operations": operations})


@shapes.bad("AHP-SEQ-003")
def content_without_files(t: Trace) -> None:
    said(t, CHANGESET, {"type": "changeset/contentChanged"})


@shapes.bad("AHP-CHG-042")
def an_invocation_answered_with_null(t: Trace) -> None:
    t.handshake()
    t.call("invokeChangesetOperation", channel=CHANGESET, operationId="revert")


@shapes.bad("AHP-CHG-042")
def an_invocation_that_leads_to_a_bare_uri(t: Trace) -> None:
    t.handshake()
    t.call("invokeChangesetOperation", {"followUp": "https://x"}, channel=CHANGESET, operationId="revert")


@shapes.good("AHP-CHG-001", "AHP-CHG-006", "AHP-CHG-016", "AHP-CHG-023", "AHP-CHG-042")
def changesets_as_they_should_be(t: Trace) -> None:
    t.follow(session=calm_session(changesets=[entry(description="All")]), chat=None)
    t.subscribe(CHANGESET, changeset(file(), operations=[less(operation(), "status")]))
    t.envelope(CHANGESET, {"type": "changeset/operationsChanged", "operations": [less(operation(), "status")]})
    t.close()
    t.handshake("B")
    follow_up = {"content": {"uri": "https://x"}, "external": True}
    t.call("invokeChangesetOperation", {"followUp": follow_up}, "B", channel=CHANGESET, operationId="revert")


# -- annotations --------------------------------------------------------------------------------------


@shapes.bad("AHP-ANN-001", SNAPSHOT)
def annotations_without_a_channel(t: Trace) -> None:
    shown(t, SESSION, calm_session(annotations=less(summary(), "resource")))


@shapes.bad("AHP-ANN-002", SNAPSHOT)
def an_empty_channel_without_a_list(t: Trace) -> None:
    shown(t, ANNOTATIONS, {})


@shapes.bad("AHP-ANN-002", SNAPSHOT)
def an_annotation_without_resolved(t: Trace) -> None:
    shown(t, ANNOTATIONS, {"annotations": [less(note(t), "resolved")]})


@shapes.bad("AHP-ANN-002")
def an_entry_without_a_text(t: Trace) -> None:
    said(t, ANNOTATIONS, says(less(remark(), "text")))


@shapes.bad("AHP-ANN-022", SNAPSHOT, versions=OLD)
def an_annotation_without_a_turn(t: Trace) -> None:
    shown(t, ANNOTATIONS, {"annotations": [less(note(t), "turnId")]})


@shapes.bad("AHP-ANN-101", SNAPSHOT, versions=NEW)
def an_annotation_without_an_origin(t: Trace) -> None:
    shown(t, ANNOTATIONS, {"annotations": [{**less(note(t), "origin"), "turnId": "t"}]})


@shapes.bad("AHP-ANN-101", versions=NEW)
def a_new_annotation_without_a_session(t: Trace) -> None:
    said(t, ANNOTATIONS, sets({**note(t), "origin": {"turnId": "t"}}))


@shapes.good("AHP-ANN-001", "AHP-ANN-002")
def annotations_as_they_should_be(t: Trace) -> None:
    t.follow(session=calm_session(annotations=summary()), chat=None)
    t.subscribe(ANNOTATIONS, {"annotations": [note(t, "n1", remark() | {"text": {"markdown": "*why*"}})]})
    t.envelope(ANNOTATIONS, sets(note(t, "n2")))


@shapes.good("AHP-ANN-022", versions=OLD)
def an_annotation_of_a_turn(t: Trace) -> None:
    shown(t, ANNOTATIONS, {"annotations": [note(t)]})


@shapes.good("AHP-ANN-101", versions=NEW)
def an_annotation_of_a_session(t: Trace) -> None:
    shown(t, ANNOTATIONS, {"annotations": [note(t)]})


# -- watches ------------------------------------------------------------------------------------------


@shapes.bad("AHP-RW-001")
def a_watch_without_a_channel(t: Trace) -> None:
    t.handshake()
    t.call("createResourceWatch", {}, uri="file:///project")


@shapes.bad("AHP-RW-005", SNAPSHOT)
def a_watch_that_does_not_say_how_deep(t: Trace) -> None:
    shown(t, WATCH, {"root": "file:///project"})


@shapes.bad("AHP-RW-007")
def changes_without_a_wrapper(t: Trace) -> None:
    said(t, WATCH, {"type": "resourceWatch/changed", "changes": changes("file:///project/a")["changes"]["items"]})


@shapes.bad("AHP-RW-008")
def changes_of_nothing(t: Trace) -> None:
    said(t, WATCH, changes())


@shapes.bad("AHP-RW-009")
def a_change_of_another_type(t: Trace) -> None:
    items = [{"uri": "file:///project/a", "type": "created"}]
    said(t, WATCH, {"type": "resourceWatch/changed", "changes": {"items": items}})


@shapes.good("AHP-RW-001", "AHP-RW-005", "AHP-RW-007", "AHP-RW-008", "AHP-RW-009")
def watches_as_they_should_be(t: Trace) -> None:
    said(t, WATCH, changes("file:///project/a"))
    t.call("createResourceWatch", {"channel": "ahp-resource-watch:/w9"}, uri="file:///project")


@found(shapes)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(shapes)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
