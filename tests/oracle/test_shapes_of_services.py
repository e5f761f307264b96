"""Values of the wrong shape: resources, telemetry, customizations, automations."""

from __future__ import annotations

from tests.protocol.examples import automation, server

from .test_customizations import child, directory, plugin
from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

services = Cases("shapes")

OLD, NEW = ("0.6.0", "0.7.0"), ("0.9.0", "1.0.0")
BOTH = ("0.6.0", "0.9.0")
FILE = "file:///scratch/a"


def answers(t: Trace, method: str, result: JSON, **params: JSON) -> None:
    t.handshake(automations={}) if t.version >= "0.9.0" else t.handshake()
    t.call(method, result, **params)


def session_with(t: Trace, *entries: JSON) -> None:
    t.follow(session=calm_session(customizations=list(entries)), chat=None)


def less(value: JSON, *names: str) -> JSON:
    return {name: member for name, member in value.items() if name not in names}


# -- resources ----------------------------------------------------------------------------------------


@services.bad("AHP-RES-001")
def content_that_is_no_text(t: Trace) -> None:
    answers(t, "resourceRead", {"data": 5, "encoding": "utf-8"}, uri=FILE)


@services.bad("AHP-RES-005")
def content_as_latin(t: Trace) -> None:
    answers(t, "resourceRead", {"data": "x", "encoding": "latin1"}, uri=FILE, encoding="latin1")


@services.bad("AHP-RES-007")
def the_way_out_at_the_top(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("resourceRead", uri=FILE), -32009, data={"request": {"uri": FILE, "read": "yes"}})


@services.bad("AHP-RES-021")
def names_without_a_type(t: Trace) -> None:
    answers(t, "resourceList", {"entries": [{"name": "a"}]}, uri="file:///scratch")


@services.bad("AHP-RES-041")
def a_place_without_a_type(t: Trace) -> None:
    answers(t, "resourceResolve", {"uri": FILE}, uri=FILE)


@services.bad("AHP-RES-054")
def null_for_a_write(t: Trace) -> None:
    answers(t, "resourceWrite", None, uri=FILE, data="", encoding="utf-8")


@services.good("AHP-RES-001", "AHP-RES-005", "AHP-RES-007", "AHP-RES-021", "AHP-RES-041", "AHP-RES-054")
def resources_as_they_should_be(t: Trace) -> None:
    answers(t, "resourceRead", {"data": "x", "encoding": "utf-8"}, uri=FILE, encoding="latin1")
    t.call("resourceList", {"entries": [{"name": "a", "type": "directory"}]}, uri="file:///scratch")
    t.call("resourceResolve", {"uri": FILE, "type": "file", "size": 1}, uri=FILE)
    t.call("resourceMkdir", {}, uri="file:///scratch/d")
    t.error(t.ask("resourceRead", uri=FILE), -32009)
    wanted = {"channel": ROOT, "uri": FILE, "read": True}
    t.error(t.ask("resourceRead", uri=FILE), -32009, data={"request": wanted})


# -- telemetry and the marker of automations ----------------------------------------------------------


@services.bad("AHP-OTLP-001")
def a_signal_that_is_no_uri(t: Trace) -> None:
    t.handshake(telemetry={"logs": True})


@services.bad("AHP-OTLP-004")
def a_batch_as_text(t: Trace) -> None:
    t.handshake(telemetry={"logs": "ahp-otlp:logs"})
    t.call("subscribe", {}, channel="ahp-otlp:logs")
    t.tell("otlp/exportLogs", channel="ahp-otlp:logs", payload="{}")


@services.bad("AHP-AUTOM-133", versions=NEW)
def a_limit_in_words(t: Trace) -> None:
    t.handshake(automations={"runHistoryLimit": "fifty"})


@services.good("AHP-OTLP-001", "AHP-OTLP-004")
def telemetry_as_it_should_be(t: Trace) -> None:
    t.handshake(telemetry={"logs": "ahp-otlp:logs"})
    t.call("subscribe", {}, channel="ahp-otlp:logs")
    t.tell("otlp/exportLogs", channel="ahp-otlp:logs", payload={"resourceLogs": []})


# -- customizations -----------------------------------------------------------------------------------


@services.bad("AHP-CUST-008", "AHP-SUB-003")
def degraded_without_a_word(t: Trace) -> None:
    session_with(t, plugin("p", child("s"), load={"kind": "degraded"}))


@services.bad("AHP-CUST-014", "AHP-SUB-003")
def a_directory_of_nothing(t: Trace) -> None:
    session_with(t, less(directory(), "contents"))


@services.bad("AHP-CUST-014", "AHP-SUB-003")
def a_directory_that_is_written_yes(t: Trace) -> None:
    session_with(t, directory(writable="yes"))


@services.bad("AHP-CUST-022", "AHP-SUB-003")
def a_skill_without_a_name(t: Trace) -> None:
    session_with(t, plugin("p", less(child("s"), "name")))


@services.bad("AHP-CUST-022")
def an_update_without_a_uri(t: Trace) -> None:
    session_with(t, plugin())
    action = {"type": "session/customizationUpdated", "customization": less(plugin(), "uri")}
    t.envelope(SESSION, action)


@services.bad("AHP-CUST-008")
def an_update_with_an_unknown_load(t: Trace) -> None:
    session_with(t, plugin())
    broken = plugin(load={"kind": "slow"})
    t.envelope(SESSION, {"type": "session/customizationsChanged", "customizations": [broken]})


@services.bad("AHP-CUST-022", "AHP-SUB-003")
def an_agent_brings_something_nameless(t: Trace) -> None:
    agent = {"provider": "p", "displayName": "P", "description": "An agent", "models": []}
    state = root(agents=[{**agent, "customizations": [less(plugin(), "name")]}])
    t.handshake(snapshots=[t.snapshot(ROOT, state)])


@services.bad("AHP-CUST-023", "AHP-SUB-003", versions=OLD)
def a_plugin_that_is_neither_on_nor_off(t: Trace) -> None:
    session_with(t, less(plugin(), "enabled"))


@services.bad("AHP-CUST-024", "AHP-SUB-003", versions=BOTH)
def a_directory_that_is_neither_on_nor_off(t: Trace) -> None:
    session_with(t, less(directory(), "enabled"))


@services.bad("AHP-MCP-042", "AHP-SUB-003", versions=OLD)
def a_server_that_is_neither_on_nor_off(t: Trace) -> None:
    session_with(t, less(server(), "enabled"))


@services.bad("AHP-MCP-001", "AHP-SUB-003")
def a_server_without_a_name(t: Trace) -> None:
    session_with(t, plugin("p", less(server(), "name")))


@services.good("AHP-CUST-008", "AHP-CUST-014", "AHP-CUST-022", "AHP-CUST-024", "AHP-MCP-001")
def customizations_as_they_should_be(t: Trace) -> None:
    session_with(t, plugin("p", child("s"), load={"kind": "loaded"}), directory(), server())


@services.good("AHP-CUST-023", "AHP-MCP-042", versions=OLD)
def switches_of_old(t: Trace) -> None:
    session_with(t, plugin(), server())


@services.good(versions=("0.9.0",))
def no_switches_any_more(t: Trace) -> None:
    session_with(t, less(plugin(), "enabled"), less(server(), "enabled"))


# -- automations --------------------------------------------------------------------------------------


@services.bad("AHP-AUTOM-101", "AHP-SUB-003", versions=NEW)
def a_catalogue_without_entries(t: Trace) -> None:
    t.handshake(automations={})
    t.subscribe("ahp-automations://", {})


@services.bad("AHP-AUTOM-129", "AHP-SUB-003", versions=NEW)
def an_entry_without_a_definition(t: Trace) -> None:
    t.handshake(automations={})
    t.subscribe("ahp-automations://", {"entries": [less(automation(), "definition")]})


@services.bad("AHP-AUTOM-129", versions=NEW)
def an_entry_that_is_set_without_runs(t: Trace) -> None:
    t.handshake(automations={})
    t.subscribe("ahp-automations://", {"entries": []})
    t.envelope("ahp-automations://", {"type": "automation/set", "automation": less(automation(), "runs")})


@services.bad("AHP-AUTOM-130", "AHP-SUB-003", versions=NEW)
def a_run_without_sessions(t: Trace) -> None:
    t.handshake(automations={})
    t.subscribe("ahp-automation-run:/r", {"resource": "ahp-automation-run:/r", "automation": "ahp-automation:/a"})


@services.bad("AHP-AUTOM-115", versions=NEW)
def runs_in_the_answer(t: Trace) -> None:
    answers(t, "fetchAutomationRuns", [], channel="ahp-automations://", automation="ahp-automation:/a")


@services.bad("AHP-AUTOM-130", versions=NEW)
def a_run_that_has_no_uri(t: Trace) -> None:
    params = {"channel": "ahp-automations://", "automation": "ahp-automation:/a", "requestId": "k"}
    answers(t, "runAutomation", {}, **params)


@services.bad("AHP-AUTOM-137", versions=NEW)
def a_trigger_without_events(t: Trace) -> None:
    answers(t, "listAutomationTriggerDefinitions", {"items": [{"type": "t", "title": "T"}]})


@services.good("AHP-AUTOM-101", "AHP-AUTOM-115", "AHP-AUTOM-129", "AHP-AUTOM-133", "AHP-AUTOM-137", versions=NEW)
def automations_as_they_should_be(t: Trace) -> None:
    answers(t, "listAutomationTriggerDefinitions", {"items": []})
    t.subscribe("ahp-automations://", {"entries": [automation()]})
    t.call("fetchAutomationRuns", {}, channel="ahp-automations://", automation=automation()["resource"])


@found(services)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(services)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
