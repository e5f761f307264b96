"""Edges of the folds of terminals, changesets, annotations, automations and canvases, and where versions differ."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.protocol import VERSIONS, fold, reduce

from . import examples

BEFORE_0_9_0 = [version for version in VERSIONS if version < "0.9.0"]
SINCE_0_9_0 = [version for version in VERSIONS if version >= "0.9.0"]
ERROR = {"errorType": "git", "message": "no repository"}
every_version = pytest.mark.parametrize("version", VERSIONS)


def run(command: str) -> dict[str, Any]:
    return {"type": "terminal/commandExecuted", "commandId": command, "commandLine": command, "timestamp": 5}


def printed(text: str) -> dict[str, Any]:
    return {"type": "terminal/data", "data": text}


def finished(command: str, **members: Any) -> dict[str, Any]:
    return {"type": "terminal/commandFinished", "commandId": command, **members}


def shown(state: Any) -> list[str]:
    return [part.get("output", part.get("value")) for part in state["content"]]


@every_version
def test_output_belongs_to_the_command_that_runs(version: str) -> None:
    actions = [printed("a"), printed("b"), run("make"), printed("c"), finished("make"), printed("d"), printed("e")]
    after = fold("terminal", examples.terminal(), actions, version)
    assert shown(after) == ["$ ", "notes\r\n", "ab", "c", "de"]
    assert after["supportsCommandDetection"] is True


def test_output_of_two_open_commands_goes_to_the_last() -> None:
    after = fold(
        "terminal", examples.terminal(content=[]), [run("a"), run("b"), printed("x"), finished("a", exitCode=1)]
    )
    assert shown(after) == ["", "x"]
    assert [(part["isComplete"], part.get("exitCode")) for part in after["content"]] == [(True, 1), (False, None)]


def test_a_command_that_finishes_without_a_code_has_none() -> None:
    state = examples.terminal()
    again = reduce("terminal", state, finished("ls", durationMs=3))
    assert "exitCode" not in again["content"][1]
    assert again["content"][1]["durationMs"] == 3
    assert again["content"][0] is state["content"][0]


def test_a_cleared_terminal_keeps_all_but_its_content() -> None:
    state = examples.terminal(cwd="file:///a", cols=80, rows=24)
    assert reduce("terminal", state, {"type": "terminal/cleared"}) == state | {"content": []}


@pytest.mark.parametrize("code", [0, 137, None])
@every_version
def test_an_exit_is_a_code_first_and_a_lifecycle_since_0_9_0(version: str, code: int | None) -> None:
    action = {"type": "terminal/exited"} | ({} if code is None else {"exitCode": code})
    after = reduce("terminal", examples.terminal(), action, version)
    exit_code = {} if code is None else {"exitCode": code}
    if version in BEFORE_0_9_0:
        assert after == examples.terminal() | exit_code
    else:
        assert after == examples.terminal(lifecycle={"status": "exited"} | exit_code)


def test_a_claim_is_taken_as_a_whole() -> None:
    claim = {"kind": "session", "session": "ahp-session:/s1", "chat": examples.CHAT, "turnId": "t"}
    taken = reduce("terminal", examples.terminal(), {"type": "terminal/claimed", "claim": claim}, "0.9.0")
    assert taken["claim"] == claim
    narrowed = reduce("terminal", taken, {"type": "terminal/claimed", "claim": {"kind": "session"}}, "0.9.0")
    assert narrowed["claim"] == {"kind": "session"}


@every_version
def test_an_error_of_a_changeset_leaves_with_its_status(version: str) -> None:
    failed = reduce(
        "changeset",
        examples.changeset(),
        {"type": "changeset/statusChanged", "status": "error", "error": ERROR},
        version,
    )
    assert (failed["status"], failed["error"]) == ("error", ERROR)
    recovered = reduce(
        "changeset", failed, {"type": "changeset/statusChanged", "status": "computing", "error": ERROR}, version
    )
    assert recovered == examples.changeset(status="computing")


@every_version
def test_the_same_holds_for_an_operation(version: str) -> None:
    def changed(state: Any, **members: Any) -> Any:
        action = {"type": "changeset/operationStatusChanged", "operationId": "commit", **members}
        return reduce("changeset", state, action, version)

    failed = changed(examples.changeset(), status="error", error=ERROR)
    assert failed["operations"] == [examples.operation(status="error") | {"error": ERROR}]
    assert changed(failed, status="running")["operations"] == [examples.operation(status="running")]


@pytest.mark.parametrize("version", BEFORE_0_9_0)
def test_content_brings_or_clears_the_error_until_0_9_0(version: str) -> None:
    content = {"type": "changeset/contentChanged", "files": []}
    state = examples.changeset()
    failed = reduce("changeset", state, content | {"error": ERROR}, version)
    assert failed == state | {"files": [], "error": ERROR}
    assert reduce("changeset", failed, content, version) == state | {"files": []}


@pytest.mark.parametrize("version", SINCE_0_9_0)
def test_content_says_nothing_about_the_error_since_0_9_0(version: str) -> None:
    state = examples.changeset(status="error", error=ERROR)
    for content in ({}, {"error": {"errorType": "other", "message": "x"}}):
        action = {"type": "changeset/contentChanged", "files": [], **content}
        assert reduce("changeset", state, action, version) == state | {"files": []}


def test_content_leaves_the_operations_unless_it_names_them() -> None:
    state = examples.changeset()
    kept = reduce("changeset", state, {"type": "changeset/contentChanged", "files": []})
    assert kept["operations"] is state["operations"]
    emptied = reduce("changeset", state, {"type": "changeset/contentChanged", "files": [], "operations": []})
    assert emptied["operations"] == []
    assert "operations" not in reduce("changeset", state, {"type": "changeset/operationsChanged"})


def test_a_file_keeps_its_place_and_a_new_one_comes_last() -> None:
    state = examples.changeset()
    edited = examples.file("file:///a") | {"reviewed": True}
    actions = [{"type": "changeset/fileSet", "file": each} for each in (examples.file("file:///c"), edited)]
    after = fold("changeset", state, actions)
    assert after["files"] == [edited, examples.file("file:///b"), examples.file("file:///c")]


def test_a_review_of_false_is_written_where_there_was_none() -> None:
    action = {"type": "changeset/filesReviewChanged", "files": ["file:///a", "file:///unknown"], "reviewed": False}
    state = examples.changeset()
    after = reduce("changeset", state, action)
    assert [file.get("reviewed") for file in after["files"]] == [False, None]
    assert after["files"][1] is state["files"][1]
    assert reduce("changeset", after, action) is after


def test_clearing_an_empty_changeset_changes_nothing() -> None:
    state = examples.changeset(files=[])
    assert reduce("changeset", state, {"type": "changeset/cleared"}) is state


@every_version
def test_an_annotation_names_its_turn_first_and_its_origin_since_0_9_0(version: str) -> None:
    origin = {"session": "ahp-session:/s2"}
    action = {"type": "annotations/updated", "annotationId": "note-1", "turnId": "turn-9", "origin": origin}
    changed = {"turnId": "turn-9"} if version in BEFORE_0_9_0 else {"origin": origin}
    after = reduce("annotations", examples.annotated(), action, version)
    assert after["annotations"] == [examples.annotation() | changed]


@every_version
def test_an_update_writes_what_it_has_and_takes_nothing_away(version: str) -> None:
    place = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    action = {"type": "annotations/updated", "annotationId": "note-1", "range": place, "resolved": True}
    after = reduce("annotations", examples.annotated(), action, version)
    assert after["annotations"] == [examples.annotation() | {"range": place, "resolved": True}]
    empty = {"type": "annotations/updated", "annotationId": "note-1"}
    assert reduce("annotations", after, empty, version) is after


def test_an_annotation_without_entries_remains() -> None:
    action = {"type": "annotations/entryRemoved", "annotationId": "note-1", "entryId": "entry-1"}
    after = reduce("annotations", examples.annotated(), action)
    assert after["annotations"] == [examples.annotation() | {"entries": []}]


def test_an_entry_is_replaced_in_its_place() -> None:
    def entry(identity: str, text: str) -> dict[str, Any]:
        return {
            "type": "annotations/entrySet",
            "annotationId": "note-1",
            "entry": {"id": identity, "text": text},
        }

    after = fold("annotations", examples.annotated(), [entry("entry-2", "b"), entry("entry-1", "a")])
    assert [each["text"] for each in after["annotations"][0]["entries"]] == ["a", "b"]


@pytest.mark.parametrize("version", SINCE_0_9_0)
def test_automations_are_replaced_in_their_place_and_removed_by_resource(version: str) -> None:
    weekly = examples.automation("ahp-automation:/weekly")
    renamed = examples.automation() | {"modifiedAt": "2026-03-01T00:00:00.000Z"}
    actions = [{"type": "automation/set", "automation": each} for each in (weekly, renamed)]
    after = fold("automations", examples.automations(), actions, version)
    assert after["entries"] == [renamed, weekly]
    left = reduce("automations", after, {"type": "automation/removed", "resource": renamed["resource"]}, version)
    assert left["entries"] == [weekly]


@pytest.mark.parametrize("version", SINCE_0_9_0)
def test_a_run_loses_its_primary_session_with_that_session(version: str) -> None:
    def gone(session: str) -> Any:
        action = {"type": "automationRun/sessionRemoved", "session": session}
        return reduce("automationRun", examples.automation_run(), action, version)

    assert gone("ahp-session:/s2") == examples.automation_run(sessions=["ahp-session:/s1"])
    without_primary = gone("ahp-session:/s1")
    assert without_primary["sessions"] == ["ahp-session:/s2"]
    assert "primarySession" not in without_primary


@pytest.mark.parametrize("version", SINCE_0_9_0)
def test_the_lifecycle_and_the_primary_session_of_a_run_are_replaced(version: str) -> None:
    ended = {"status": "failed", "error": ERROR}
    actions = [
        {"type": "automationRun/lifecycleChanged", "lifecycle": ended},
        {"type": "automationRun/primarySessionChanged"},
    ]
    after = fold("automationRun", examples.automation_run(), actions, version)
    assert after["lifecycle"] == ended
    assert "primarySession" not in after


@pytest.mark.parametrize("version", SINCE_0_9_0)
def test_operations_of_a_run_change_only_with_a_lifecycle_that_brings_them(version: str) -> None:
    ended = {"type": "automationRun/lifecycleChanged", "lifecycle": examples.lifecycle("cancelled")}
    state = examples.automation_run(operations=["cancel"])
    assert reduce("automationRun", state, ended, version) == state | {"lifecycle": ended["lifecycle"]}
    draft = reduce("automationRun", state, ended | {"operations": []}, version)
    assert draft == state | {"lifecycle": ended["lifecycle"], "operations": []}
    bare = {name: member for name, member in state.items() if name != "operations"}
    assert "operations" not in reduce("automationRun", bare, ended, version)


def test_a_canvas_is_replaced_as_a_whole() -> None:
    state = examples.canvas(url="https://preview.example/", title="Preview")
    bare = examples.canvas()
    action = {"type": "canvas/stateChanged", "canvas": bare}
    assert reduce("canvas", state, action, "1.0.0") is bare
    assert reduce("canvas", state, action, "0.9.0") is state
    assert reduce("canvas", state, action | {"canvas": "x"}, "1.0.0") is state
