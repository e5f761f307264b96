"""What requests come to."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

outcomes = Cases("outcomes")

AGENT = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
OTHER = "ahp-session:/s2"
SCHEMA = {"type": "object", "properties": {}}


def with_agent(t: Trace, conn: str = "A", **more: Any) -> None:
    t.handshake(conn, snapshots=[t.snapshot(ROOT, root(agents=[AGENT]))], **more)


def creates(t: Trace, session: str = SESSION, conn: str = "A", *, code: int | None = None, provider: str = "p") -> None:
    identity = t.ask("createSession", conn, channel=session, provider=provider)
    if code is None:
        t.result(identity, None, conn)
    else:
        t.error(identity, code, conn)


# -- any command --------------------------------------------------------------------------------------


@outcomes.bad("AHP-PING-001")
def a_ping_fails(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("ping"))


@outcomes.bad("AHP-PING-002")
def a_ping_needs_a_handshake(t: Trace) -> None:
    t.error(t.ask("ping"), -32600)


@outcomes.bad("AHP-PING-003")
def a_ping_needs_a_subscription(t: Trace) -> None:
    t.handshake()
    t.notify("unsubscribe", channel=ROOT)
    t.error(t.ask("ping"), -32600)


@outcomes.bad("AHP-RPC-007")
def an_unknown_method_has_another_error(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("conformanceUnknown"), -32603)


@outcomes.bad("AHP-RPC-007")
def an_unknown_method_has_a_result(t: Trace) -> None:
    t.handshake()
    t.call("conformanceUnknown", {})


@outcomes.bad("AHP-RPC-010")
def a_file_without_name_is_read(t: Trace) -> None:
    t.handshake()
    t.call("resourceRead", {"data": "", "encoding": "utf-8"})


@outcomes.bad("AHP-RPC-024")
def a_file_without_name_is_not_found(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("resourceRead"), -32008)


@outcomes.bad("AHP-RPC-017")
def a_chat_that_exists_has_the_code_of_a_session(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("createChat", channel=SESSION, chat=CHAT), -32003)


@outcomes.bad("AHP-RPC-017")
def a_conflict_without_a_condition(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("resourceWrite", uri="file:///f", data="", encoding="utf-8"), -32011)


@outcomes.bad("AHP-RECON-019")
def a_command_fails_after_a_reconnect(t: Trace) -> None:
    t.handshake()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT], {"type": "replay", "actions": [], "missing": []})
    t.error(t.ask("listSessions", "B"), -32600, "B")


@outcomes.bad("AHP-INIT-031")
def trigger_characters_without_completions(t: Trace) -> None:
    t.handshake(completionTriggerCharacters=["@"])
    t.error(t.ask("completions", channel=CHAT, kind="userMessage", text="@", offset=1), -32601)


@outcomes.bad("AHP-COMPL-001")
def a_range_behind_the_text(t: Trace) -> None:
    t.handshake()
    item = {"insertText": "x", "attachment": {"type": "simple", "label": "x"}, "rangeStart": 2, "rangeEnd": 4}
    t.call("completions", {"items": [item]}, channel=CHAT, kind="userMessage", text="\U0001f600@", offset=3)


@outcomes.good(
    "AHP-COMPL-001",
    "AHP-INIT-031",
    "AHP-PING-001",
    "AHP-PING-002",
    "AHP-PING-003",
    "AHP-RECON-019",
    "AHP-RPC-007",
    "AHP-RPC-010",
    "AHP-RPC-017",
    "AHP-RPC-024",
)
def commands_of_all_sorts(t: Trace) -> None:
    t.ping()
    t.handshake(completionTriggerCharacters=["@"])
    t.ping()
    t.notify("unsubscribe", channel=ROOT)
    t.ping()
    t.error(t.ask("conformanceUnknown"), -32601)
    t.error(t.ask("resourceRead"), -32602)
    item = {"insertText": "x", "attachment": {"type": "simple", "label": "x"}, "rangeStart": 2, "rangeEnd": 3}
    t.call("completions", {"items": [item]}, channel=CHAT, kind="userMessage", text="\U0001f600@", offset=3)
    t.error(t.ask("resourceWrite", uri="file:///f", data="", encoding="utf-8", ifMatch="1"), -32011)
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT], {"type": "replay", "actions": [], "missing": []})
    t.call("listSessions", {"items": []}, "B")


@outcomes.good()
def errors_that_say_something_else(t: Trace) -> None:
    """Commands that are not served, that need a token, or that are no method of AHP."""
    t.error(t.ask("conformanceUnknown", "B"), -32600, "B")
    t.handshake()
    t.error(t.ask("createTerminal", channel=5), -32601)
    t.error(t.ask("x-host/own"), -32000)
    t.error(t.ask("tools/call", channel="mcp://vault"), -32000)
    t.error(t.ask("conformanceUnknown", channel=None), -32602)


# -- sessions -----------------------------------------------------------------------------------------


@outcomes.bad("AHP-SESS-001")
def one_uri_for_two_sessions(t: Trace) -> None:
    t.handshake()
    creates(t)
    creates(t)


@outcomes.bad("AHP-SESS-001")
def a_uri_in_use_has_another_code(t: Trace) -> None:
    t.handshake()
    creates(t)
    creates(t, code=-32603)


@outcomes.bad("AHP-SESS-002")
def a_session_of_an_unknown_agent(t: Trace) -> None:
    with_agent(t)
    creates(t, provider="nobody")


@outcomes.bad("AHP-SESS-002")
def an_unknown_agent_has_another_code(t: Trace) -> None:
    with_agent(t)
    creates(t, provider="nobody", code=-32603)


@outcomes.bad("AHP-CFG-005")
def the_config_of_an_unknown_agent(t: Trace) -> None:
    with_agent(t)
    t.call("resolveSessionConfig", {"schema": SCHEMA, "values": {}}, provider="nobody")


@outcomes.bad("AHP-SESS-018")
def a_failure_uses_up_the_uri(t: Trace) -> None:
    with_agent(t)
    creates(t, provider="nobody", code=-32002)
    creates(t, code=-32003)


@outcomes.bad("AHP-SESS-019")
def a_session_is_disposed_of_twice(t: Trace) -> None:
    t.handshake()
    t.call("disposeSession", channel=SESSION)
    t.call("disposeSession", channel=SESSION)


@outcomes.good("AHP-CFG-005", "AHP-SESS-001", "AHP-SESS-002", "AHP-SESS-018", "AHP-SESS-019")
def sessions_come_and_go(t: Trace) -> None:
    with_agent(t)
    creates(t, provider="nobody", code=-32002)
    t.error(t.ask("resolveSessionConfig", provider="nobody"), -32002)
    creates(t)
    creates(t, code=-32003)
    t.call("disposeSession", channel=SESSION)
    t.error(t.ask("disposeSession", channel=SESSION), -32001)
    creates(t)


@outcomes.good()
def two_clients_at_once(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    first = t.ask("createSession", "A", channel=SESSION, provider="p")
    second = t.ask("createSession", "B", channel=SESSION, provider="p")
    t.error(first, -32603, "A")
    t.result(second, None, "B")


@outcomes.good()
def what_ended_otherwise_is_free(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(lifecycle="creating"))
    creates(t, OTHER)
    t.tell("root/sessionRemoved", session=OTHER)
    creates(t, OTHER)
    t.call("disposeSession", channel=SESSION)
    creates(t)


@outcomes.good()
def a_host_that_was_started_anew(t: Trace) -> None:
    t.handshake("A")
    creates(t)
    t.close("A")
    t.handshake("B")
    creates(t, conn="B")


@outcomes.good()
def other_reasons_for_a_refusal(t: Trace) -> None:
    with_agent(t)
    wanted = {"resources": [{"resource": "https://api.example"}]}
    t.error(t.ask("createSession", channel=OTHER, provider="nobody"), -32007, data=wanted)
    t.error(t.ask("createSession", channel=OTHER, provider="nobody", config=5), -32602)


# -- what the host asks -------------------------------------------------------------------------------


@outcomes.bad("AHP-RPC-015", beside=("published-plugins",))
def the_host_asks_for_a_file_without_name(t: Trace) -> None:
    t.handshake()
    t.into({"jsonrpc": "2.0", "id": 1, "method": "resourceRead", "params": {"channel": ROOT}})


@outcomes.bad("AHP-RPC-025")
def the_host_asks_for_a_session(t: Trace) -> None:
    t.handshake()
    t.into({"jsonrpc": "2.0", "id": 1, "method": "createSession", "params": {"channel": SESSION, "provider": "p"}})


@outcomes.good("AHP-RPC-015", "AHP-RPC-025")
def the_host_asks_for_a_file(t: Trace) -> None:
    t.handshake()
    params = {"channel": ROOT, "uri": "virtual://a/f"}
    t.into({"jsonrpc": "2.0", "id": 1, "method": "resourceRead", "params": params})
    t.into({"jsonrpc": "2.0", "id": 2, "method": "x-host/ask", "params": {}})
    t.into({"jsonrpc": "2.0", "id": 3, "method": "sampling/createMessage", "params": {"channel": "mcp://vault"}})
    t.into({"jsonrpc": "2.0", "id": 4, "method": "subscribe", "params": {"channel": "ahp-resource-watch:/w"}})


# -- other reasons ------------------------------------------------------------------------------------

WITHOUT_TOKEN: dict[str, Any] = {"data": {"resources": []}}


@outcomes.good("AHP-SESS-001")
def a_token_is_asked_for_before_all_else(t: Trace) -> None:
    t.handshake()
    creates(t)
    t.error(t.ask("createSession", channel=SESSION, provider="p"), -32007, **WITHOUT_TOKEN)


@outcomes.good("AHP-SESS-019")
def a_token_is_asked_for_what_does_not_exist(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    t.tell("root/sessionRemoved", session=SESSION)
    t.error(t.ask("disposeSession", channel=SESSION), -32007, **WITHOUT_TOKEN)


@outcomes.good()
def others_may_have_disposed_of_a_session(t: Trace) -> None:
    with_agent(t)
    creates(t)
    t.notify("unsubscribe", channel=ROOT)
    creates(t)


@outcomes.good("AHP-RPC-007")
def a_host_has_methods_of_its_own(t: Trace) -> None:
    t.handshake()
    t.call("vendor/thing", {"found": 1})


@outcomes.good("AHP-RPC-017")
def the_provider_of_a_kept_session_is_not_there(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel=OTHER), -32002)


@outcomes.good("AHP-SESS-018")
def a_session_of_somebody_else_was_there_all_the_time(t: Trace) -> None:
    with_agent(t)
    creates(t, provider="none", code=-32002)
    creates(t, code=-32003)
    t.subscribe(SESSION, calm_session())


@found(outcomes)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(outcomes)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
