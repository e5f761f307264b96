"""The shapes of terminals, changesets, annotations, watches, telemetry, automations and canvases, by version."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.protocol import (
    METHODS,
    VERSIONS,
    action_violations,
    params_violations,
    result_violations,
    state_violations,
    violations,
)

NOW = "2026-01-01T00:00:00.000Z"
LATER = "2026-01-01T00:05:00.000Z"
RUN = "ahp-automation-run:/r1"
AUTOMATION = "ahp-automation:/nightly"


def texts(found: list[Any]) -> list[str]:
    return [str(violation) for violation in found]


def since(version: str) -> list[str]:
    return list(VERSIONS[VERSIONS.index(version) :])


def terminal(**members: Any) -> dict[str, Any]:
    return {"title": "zsh", "claim": {"kind": "client", "clientId": "c"}, "content": []} | members


def definition(**members: Any) -> dict[str, Any]:
    return {
        "title": "Nightly",
        "message": {"text": "triage", "origin": {"kind": "automation"}},
        "session": {"provider": "p", "workingDirectories": ["file:///w"], "config": {}},
        "enabled": True,
        "triggers": [
            {"kind": "schedule", "id": "s", "schedule": {"expression": "0 3 * * *", "timeZone": "UTC"}},
            {"kind": "event", "id": "e", "type": "issue", "title": "Issue", "events": [{"id": "new", "title": "New"}]},
        ],
    } | members


def run(**members: Any) -> dict[str, Any]:
    return {
        "resource": RUN,
        "automation": AUTOMATION,
        "origin": {"kind": "manual"},
        "lifecycle": {"status": "pending", "createdAt": NOW},
        "operations": ["cancel"],
    } | members


def entry(**members: Any) -> dict[str, Any]:
    return {
        "resource": AUTOMATION,
        "definition": definition(),
        "runs": [run(sessionCount=0)],
        "operations": ["update", "remove", "run", "x-own"],
        "createdAt": NOW,
        "modifiedAt": NOW,
    } | members


# Terminals


@pytest.mark.parametrize("version", VERSIONS)
def test_how_a_terminal_tells_that_it_ended(version: str) -> None:
    by_code = terminal(exitCode=0)
    by_lifecycle = terminal(lifecycle={"status": "exited", "exitCode": 0})
    if version < "0.9.0":
        assert texts(state_violations(version, "terminal", by_code)) == []
    else:
        assert texts(state_violations(version, "terminal", by_code)) == ["$: member 'lifecycle' is missing"]
        assert texts(state_violations(version, "terminal", by_lifecycle)) == []
        assert state_violations(version, "terminal", terminal(lifecycle={"status": "paused"}))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_claim_of_a_session_names_its_chat_since_0_9_0(version: str) -> None:
    claim = {"kind": "session", "session": "ahp-session:/s"}
    found = texts(action_violations(version, {"type": "terminal/claimed", "claim": claim}))
    assert found == (["$.claim: member 'chat' is missing"] if version >= "0.9.0" else [])


@pytest.mark.parametrize(
    ("part", "is_legal"),
    [
        ({"type": "unclassified", "value": "$ "}, True),
        ({"type": "unclassified"}, False),
        ({"type": "image", "data": "…"}, True),
        (
            {
                "type": "command",
                "commandId": "1",
                "commandLine": "ls",
                "output": "",
                "timestamp": 1,
                "isComplete": False,
            },
            True,
        ),
        ({"type": "command", "commandId": "1", "commandLine": "ls", "output": "", "timestamp": 1}, False),
    ],
)
def test_parts_of_a_terminal(part: dict[str, Any], is_legal: bool) -> None:
    assert (not state_violations("0.6.0", "terminal", terminal(content=[part]))) is is_legal


# Changesets, annotations, watches, telemetry


@pytest.mark.parametrize("version", VERSIONS)
def test_a_changeset_is_recomputed_since_1_0_0_and_0_9_0_tolerates_it(version: str) -> None:
    found = state_violations(version, "changeset", {"status": "recomputing", "files": []})
    assert (not found) is (version >= "0.9.0")


def test_an_operation_without_a_status_is_idle() -> None:
    operation: dict[str, Any] = {"id": "o", "label": "Revert", "scopes": ["changeset"]}
    state = {"status": "ready", "files": [], "operations": [operation]}
    assert texts(state_violations("0.6.0", "changeset", state)) == []
    operation["status"] = "asleep"
    (found,) = state_violations("0.6.0", "changeset", state)
    assert found.path == "$.operations[0].status"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_annotation_is_anchored_to_a_turn_and_later_to_an_origin(version: str) -> None:
    body = {"id": "a", "resource": "file:///f", "resolved": False, "entries": [{"id": "e", "text": "t"}]}
    by_turn = {"annotations": [body | {"turnId": "t"}]}
    by_origin = {"annotations": [body | {"origin": {"session": "ahp-session:/s"}}]}
    assert (not state_violations(version, "annotations", by_turn)) is (version < "0.9.0")
    assert (not state_violations(version, "annotations", by_origin)) is (version >= "0.9.0")


def test_a_watch_reports_at_least_one_change() -> None:
    change = {"uri": "file:///f", "type": "added"}
    assert not action_violations("0.6.0", {"type": "resourceWatch/changed", "changes": {"items": [change]}})
    assert texts(action_violations("0.6.0", {"type": "resourceWatch/changed", "changes": {"items": []}})) == [
        "$.changes.items: must not be empty; what is not there is left out"
    ]
    assert not state_violations("0.6.0", "resourceWatch", {"root": "file:///r", "recursive": True})


@pytest.mark.parametrize("signal", ["Logs", "Traces", "Metrics"])
def test_telemetry_is_an_object_of_another_standard(signal: str) -> None:
    method = f"otlp/export{signal}"
    params = {"channel": "ahp-otlp://x", "payload": {"resourceLogs": []}}
    assert not params_violations("0.6.0", method, params)
    assert texts(params_violations("0.6.0", method, params | {"payload": []})) == [
        "$.payload: expected object, found an array of 0"
    ]


# Automations


@pytest.mark.parametrize("version", since("0.9.0"))
def test_the_catalogue_of_automations(version: str) -> None:
    assert texts(state_violations(version, "automations", {"entries": [entry()]})) == []
    for member in ("resource", "definition", "runs", "operations", "createdAt", "modifiedAt"):
        short = {key: value for key, value in entry().items() if key != member}
        found = texts(state_violations(version, "automations", {"entries": [short]}))
        assert found == [f"$.entries[0]: member '{member}' is missing"]


def test_older_versions_have_no_automations() -> None:
    assert not state_violations("0.8.0", "automations", 3)
    with pytest.raises(LookupError):
        violations("0.8.0", "AutomationEntry", {})


@pytest.mark.parametrize(
    ("lifecycle", "missing"),
    [
        ({"status": "pending"}, []),
        ({"status": "running", "startedAt": NOW}, []),
        ({"status": "running"}, ["startedAt"]),
        ({"status": "completed", "startedAt": NOW, "completedAt": LATER}, []),
        ({"status": "completed"}, ["startedAt", "completedAt"]),
        ({"status": "failed", "completedAt": LATER, "error": {"errorType": "e", "message": "m"}}, []),
        ({"status": "failed", "completedAt": LATER}, ["error"]),
        ({"status": "cancelled", "completedAt": LATER}, []),
        ({"status": "cancelled"}, ["completedAt"]),
    ],
)
def test_the_life_of_a_run(lifecycle: dict[str, Any], missing: list[str]) -> None:
    state = run(sessions=[], lifecycle={"createdAt": NOW} | lifecycle)
    found = texts(state_violations("0.9.0", "automationRun", state))
    assert found == [f"$.lifecycle: member '{member}' is missing" for member in missing]


def test_where_a_run_comes_from() -> None:
    triggered = {"kind": "trigger", "triggerId": "s", "scheduledFor": NOW, "catchUp": True, "event": {"any": 1}}
    assert not state_violations("0.9.0", "automationRun", run(sessions=[], origin=triggered))
    assert state_violations("0.9.0", "automationRun", run(sessions=[], origin={"kind": "trigger"}))
    assert state_violations("0.9.0", "automationRun", run(sessions=[], origin={"kind": "cosmic"}))
    assert state_violations("0.9.0", "automationRun", run())


@pytest.mark.parametrize(
    ("condition", "is_legal"),
    [
        ({"kind": "afterRuns", "max": 3}, True),
        ({"kind": "afterRuns", "max": 0}, False),
        ({"kind": "afterDate", "date": NOW}, True),
        ({"kind": "afterDate", "date": "tomorrow"}, False),
    ],
)
def test_when_an_automation_stops_itself_since_1_0_0(condition: dict[str, Any], is_legal: bool) -> None:
    action = {
        "type": "automation/updateRequested",
        "resource": AUTOMATION,
        "changes": {"disableConditions": [condition]},
    }
    assert (not action_violations("1.0.0", action)) is is_legal
    # Members of a later version are unknown, and so tolerated.
    assert not action_violations("0.9.0", action)


@pytest.mark.parametrize("version", since("0.9.0"))
def test_actions_of_automations(version: str) -> None:
    good: list[dict[str, Any]] = [
        {"type": "automation/createRequested", "resource": AUTOMATION, "definition": definition()},
        {"type": "automation/updateRequested", "resource": AUTOMATION, "changes": {}},
        {"type": "automation/set", "automation": entry()},
        {"type": "automation/removed", "resource": AUTOMATION},
        {"type": "automationRun/lifecycleChanged", "lifecycle": run()["lifecycle"]},
        {"type": "automationRun/sessionSet", "session": "ahp-session:/s"},
        {"type": "automationRun/sessionRemoved", "session": "ahp-session:/s"},
        {"type": "automationRun/primarySessionChanged"},
        {"type": "automationRun/cancelRequested"},
    ]
    for action in good:
        assert texts(action_violations(version, action)) == []
        for member in action:
            short = {key: value for key, value in action.items() if key != member}
            assert action_violations(version, short), (action["type"], member)
    # Hosts of this version are known that list the operations of a run, and hosts that do not.
    assert texts(action_violations(version, good[4] | {"operations": ["cancel"]})) == []
    wrong = definition(triggers=[{"kind": "schedule", "id": "s"}])
    assert texts(action_violations(version, good[0] | {"definition": wrong})) == [
        "$.definition.triggers[0]: member 'schedule' is missing"
    ]


@pytest.mark.parametrize("version", since("0.9.0"))
def test_commands_of_automations(version: str) -> None:
    catalogue = {"channel": "ahp-automations://", "automation": AUTOMATION}
    assert not params_violations(version, "runAutomation", catalogue | {"requestId": "r"})
    assert texts(params_violations(version, "runAutomation", catalogue)) == ["$: member 'requestId' is missing"]
    assert params_violations(version, "runAutomation", catalogue | {"requestId": "r", "channel": "ahp-root://"})
    assert not result_violations(version, "runAutomation", {"resource": RUN})
    assert texts(result_violations(version, "runAutomation", {})) == ["$: member 'resource' is missing"]
    assert not params_violations(version, "fetchAutomationRuns", catalogue | {"cursor": "c"})
    assert not result_violations(version, "fetchAutomationRuns", {})
    assert texts(result_violations(version, "fetchAutomationRuns", None)) == ["$: expected object, found null"]
    assert not params_violations(version, "listAutomationTriggerDefinitions", {"channel": "ahp-root://"})
    items = [{"type": "issue", "title": "Issue", "events": []}]
    assert not result_violations(version, "listAutomationTriggerDefinitions", {"items": items})
    assert result_violations(version, "listAutomationTriggerDefinitions", {"items": [{"type": "issue"}]})
    assert METHODS["runAutomation"].channel == METHODS["fetchAutomationRuns"].channel == "automations"
    assert METHODS["listAutomationTriggerDefinitions"].channel == "root"


def test_a_host_says_what_it_can_do_with_automations() -> None:
    result: dict[str, Any] = {"protocolVersion": "0.9.0", "serverSeq": 0, "snapshots": []}
    can = {"create": {}, "schedules": {"minIntervalMinutes": 5}, "runCancellation": {}, "runHistoryLimit": 10}
    assert not result_violations("0.9.0", "initialize", result | {"automations": can})
    assert texts(result_violations("0.9.0", "initialize", result | {"automations": {"create": True}})) == [
        "$.automations.create: expected object, found true"
    ]
    assert not result_violations("0.8.0", "initialize", result | {"automations": {"create": True}})


# What 1.0.0 added


def test_background_work_of_a_chat() -> None:
    def found(**work: Any) -> list[str]:
        return texts(
            action_violations("1.0.0", {"type": "chat/backgroundWorkSet", "work": {"id": "w", "label": "l"} | work})
        )

    assert found(kind="shell", command="make", terminal="ahp-terminal:/t", startedAt=NOW) == []
    assert found(kind="subagent", chat="ahp-chat:/c") == []
    assert found(kind="x-dream") == []
    assert found(kind="shell") == ["$.work: member 'command' is missing"]
    assert found(kind="subagent") == ["$.work: member 'chat' is missing"]
    assert found() == ["$.work: member 'kind' is missing"]


def test_a_canvas_and_how_a_chat_refers_to_it() -> None:
    canvas = {"instanceId": "i", "extensionId": "e", "canvasId": "c", "title": "Preview", "url": "https://example.org"}
    assert not state_violations("1.0.0", "canvas", canvas)
    assert texts(action_violations("1.0.0", {"type": "canvas/stateChanged", "canvas": {"instanceId": "i"}})) == [
        "$.canvas: member 'extensionId' is missing",
        "$.canvas: member 'canvasId' is missing",
    ]
    assert not action_violations("1.0.0", {"type": "chat/canvasesChanged", "canvases": [{"resource": "ahp-canvas:/i"}]})
    assert not action_violations("1.0.0", {"type": "chat/canvasesChanged"})
    assert action_violations("1.0.0", {"type": "chat/canvasesChanged", "canvases": ["ahp-canvas:/i"]})


@pytest.mark.parametrize(
    ("destination", "is_legal"),
    [
        ({"kind": "session", "session": "ahp-session:/s"}, True),
        ({"kind": "session", "session": "ahp-session:/s", "after": "ahp-chat:/d"}, True),
        ({"kind": "session"}, False),
        ({"kind": "newSession"}, True),
        ({"kind": "elsewhere"}, False),
        (None, False),
    ],
)
def test_a_chat_moves_to_a_session(destination: Any, is_legal: bool) -> None:
    params = {"channel": "ahp-chat:/c", "destination": destination}
    assert (not params_violations("1.0.0", "moveChat", params)) is is_legal
    assert not result_violations("1.0.0", "moveChat", {"session": "ahp-session:/s"})
    assert texts(result_violations("1.0.0", "moveChat", {})) == ["$: member 'session' is missing"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_command_may_carry_metadata_since_0_8_0(version: str) -> None:
    """In older versions the member is unknown, so that whatever stands there is tolerated."""
    for params in ({"channel": "ahp-root://"}, {"channel": "ahp-root://", "_meta": {"a": 1}}):
        assert not params_violations(version, "ping", params)
    found = params_violations(version, "ping", {"channel": "ahp-root://", "_meta": 3})
    assert bool(found) is (version >= "0.8.0")
