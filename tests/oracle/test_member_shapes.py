"""Shapes of configuration, agents and summaries."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .test_shapes import RESOURCE, SUMMARY, session_of
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

shapes = Cases("shapes")


# -- configuration, agents and summaries --------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"mode": {"type": "string", "title": "Mode"}}}
UNTITLED = {"type": "object", "properties": {"mode": {"type": "string"}}}
AGENT: JSON = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
MODEL = {"id": "m", "provider": "p", "name": "M"}


def root_of(t: Trace, **members: JSON) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(**members))])


def lists_a_session(t: Trace, **members: JSON) -> None:
    t.handshake()
    t.call("listSessions", {"items": [{**SUMMARY, **members}]})


@shapes.bad("AHP-CFG-004", "AHP-SUB-003")
def a_property_of_a_session_without_title(t: Trace) -> None:
    session_of(t, config={"schema": UNTITLED, "values": {}})


@shapes.bad("AHP-CFG-010", "AHP-SUB-003")
def a_session_config_without_values(t: Trace) -> None:
    session_of(t, config={"schema": SCHEMA})


@shapes.bad("AHP-SESS-044", "AHP-SUB-003")
def a_project_without_name(t: Trace) -> None:
    session_of(t, project={"uri": "file:///p"})


@shapes.bad("AHP-SESS-045", "AHP-SUB-003")
def a_tool_without_name(t: Trace) -> None:
    session_of(t, serverTools=[{"description": "?"}])


@shapes.bad("AHP-WD-101", "AHP-SUB-003", versions=("0.7.0", "0.9.0"))
def one_directory_in_place_of_several(t: Trace) -> None:
    session_of(t, workingDirectories="file:///w")


@shapes.good("AHP-CFG-004", "AHP-CFG-010", "AHP-SESS-044", "AHP-SESS-045", "AHP-WD-101", versions=("0.7.0", "0.9.0"))
def a_session_with_all_of_it(t: Trace) -> None:
    session_of(
        t,
        config={"schema": SCHEMA, "values": {"mode": "fast"}},
        project={"uri": "file:///p", "displayName": "P"},
        serverTools=[{"name": "read"}],
        workingDirectories=["file:///w"],
    )


@shapes.bad("AHP-ROOT-007", "AHP-SUB-003")
def a_host_config_without_schema(t: Trace) -> None:
    root_of(t, config={"values": {}})


@shapes.bad("AHP-ROOT-019", "AHP-SUB-003")
def a_capability_that_is_true(t: Trace) -> None:
    root_of(t, agents=[{**AGENT, "capabilities": {"multipleChats": True}}])


@shapes.bad("AHP-ROOT-024", "AHP-SUB-003")
def a_model_with_a_window_in_words(t: Trace) -> None:
    root_of(t, agents=[{**AGENT, "models": [{**MODEL, "maxContextWindow": "large"}]}])


@shapes.bad("AHP-AUTH-012", "AHP-SUB-003")
def scopes_in_one_string(t: Trace) -> None:
    root_of(t, agents=[{**AGENT, "protectedResources": [{**RESOURCE, "scopes_supported": "read write"}]}])


@shapes.good("AHP-AUTH-012", "AHP-CFG-004", "AHP-ROOT-007", "AHP-ROOT-019", "AHP-ROOT-024")
def a_root_with_all_of_it(t: Trace) -> None:
    agent = {**AGENT, "models": [{**MODEL, "maxContextWindow": 1000}], "capabilities": {"multipleChats": {}}}
    agent["protectedResources"] = [{**RESOURCE, "scopes_supported": ["read"]}]
    root_of(t, agents=[agent], config={"schema": SCHEMA, "values": {}})


@shapes.bad("AHP-SESS-023")
def a_time_in_milliseconds(t: Trace) -> None:
    lists_a_session(t, modifiedAt=1700000000000)


@shapes.bad("AHP-STAT-012")
def changes_in_words(t: Trace) -> None:
    lists_a_session(t, changes={"additions": "many"})


@shapes.bad("AHP-SESS-044")
def a_listed_project_without_name(t: Trace) -> None:
    lists_a_session(t, project={"uri": "file:///p"})


@shapes.bad("AHP-SESS-103", versions=("1.0.0",))
def a_listed_chat_without_title(t: Trace) -> None:
    lists_a_session(t, chats=[{"resource": CHAT}])


@shapes.good("AHP-SESS-044", "AHP-SESS-103", "AHP-STAT-012", versions=("1.0.0",))
def a_list_with_all_of_it(t: Trace) -> None:
    chats = [{"resource": CHAT, "title": "C", "status": 1}]
    lists_a_session(
        t, changes={"additions": 1}, chats=chats, defaultChat=CHAT, project={"uri": "file:///p", "displayName": "P"}
    )


@shapes.bad("AHP-AUTH-001")
def a_token_answered_with_null(t: Trace) -> None:
    t.handshake()
    t.call("authenticate", None, resource=RESOURCE["resource"], token="a-token-of-ours")


@shapes.bad("AHP-CHAT-007")
def a_chat_answered_with_its_state(t: Trace) -> None:
    t.handshake()
    t.call("createChat", {"chat": CHAT}, channel=SESSION, chat=CHAT)


@shapes.bad("AHP-CFG-001")
def a_resolved_config_without_values(t: Trace) -> None:
    t.handshake()
    t.call("resolveSessionConfig", {"schema": SCHEMA}, provider="p")


@shapes.bad("AHP-CFG-006")
def completions_of_a_property_without_label(t: Trace) -> None:
    t.handshake()
    t.call("sessionConfigCompletions", {"items": [{"value": "fast"}]}, provider="p", property="mode")


@shapes.bad("AHP-COMPL-001")
def a_completion_without_text(t: Trace) -> None:
    t.handshake()
    t.call("completions", {"items": [{"attachment": {"type": "simple", "label": "a"}}]}, channel=CHAT, text="@")


@shapes.bad("AHP-INIT-033", versions=("0.9.0",))
def a_handshake_with_meta_in_words(t: Trace) -> None:
    t.handshake(_meta="words")


@shapes.good(
    "AHP-AUTH-001",
    "AHP-CFG-001",
    "AHP-CFG-004",
    "AHP-CFG-006",
    "AHP-CHAT-007",
    "AHP-COMPL-001",
    "AHP-INIT-033",
    "AHP-RECON-002",
    versions=("0.9.0",),
)
def results_of_all_methods(t: Trace) -> None:
    t.handshake(_meta={"any": "thing"})
    t.call("authenticate", {}, resource=RESOURCE["resource"], token="a-token-of-ours")
    t.call("createChat", None, channel=SESSION, chat=CHAT)
    t.call("resolveSessionConfig", {"schema": SCHEMA, "values": {}}, provider="p")
    t.call("sessionConfigCompletions", {"items": [{"value": "f", "label": "F"}]}, provider="p", property="mode")
    t.call("completions", {"items": []}, channel=CHAT, text="@")
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT], {"type": "replay", "actions": [], "missing": []})


@found(shapes)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(shapes)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
