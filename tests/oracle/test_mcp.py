"""MCP servers: their life, their channels, and one announcement of a challenge."""

from __future__ import annotations

import pytest

from conformance.oracle.rules.mcp import LIFE
from tests.protocol.examples import CHAT, auth, server

from .traces import (
    FAILED,
    JSON,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    found,
    part_of,
    root,
    unlists,
    working_chat,
)

servers = Cases("mcp-servers")
stopped = Cases("stopped-servers")
channel = Cases("mcp-channel")

RESOURCE = auth()["resource"]
MORE: dict[str, JSON] = {"authRequired": auth(), "error": {"error": {"errorType": "e", "message": "m"}}}


def becomes(kind: str, identity: str = "vault", **members: JSON) -> JSON:
    state = {"kind": kind, **MORE.get(kind, {})}
    return {"type": "session/mcpServerStateChanged", "id": identity, "state": state, **members}


def with_server(t: Trace, kind: str, conns: str = "A") -> None:
    one = {**server(kind=kind), "state": {"kind": kind, **MORE.get(kind, {})}}
    t.follow(conns, session=calm_session(customizations=[one]), chat=None)


def demand(t: Trace, **params: JSON) -> None:
    t.tell("auth/required", resource=RESOURCE["resource"] if t.version < "0.8.0" else RESOURCE, **params)


@servers.bad("AHP-MCP-017")
def stopped_becomes_ready_at_once(t: Trace) -> None:
    with_server(t, "stopped", "AB")
    t.envelope(SESSION, becomes("ready"), "AB")


@servers.bad("AHP-MCP-017")
def a_server_in_a_plugin_leaps(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, becomes("error", "inner"))
    t.envelope(SESSION, becomes("ready", "inner"))


@servers.bad("AHP-MCP-031")
def the_channel_is_the_address_of_the_server(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(customizations=[{**server(), "channel": "https://vault.example"}]))


@servers.bad("AHP-MCP-031")
def a_channel_told_with_the_state(t: Trace) -> None:
    with_server(t, "starting")
    t.envelope(SESSION, becomes("ready", channel="https://vault.example"))


@servers.bad("AHP-MCP-049")
def a_challenge_is_announced_twice(t: Trace) -> None:
    with_server(t, "ready")
    t.envelope(SESSION, becomes("authRequired"))
    demand(t)


@servers.good("AHP-MCP-017", "AHP-MCP-031", "AHP-MCP-049")
def a_full_life(t: Trace) -> None:
    with_server(t, "starting", "AB")
    for kind in ("authRequired", "authRequired", "ready", "error", "starting", "ready", "stopped", "starting"):
        t.envelope(SESSION, becomes(kind, channel="mcp://vault"), "AB")


@servers.good("AHP-MCP-017")
def a_further_starting_on_the_way(t: Trace) -> None:
    with_server(t, "authRequired")
    t.envelope(SESSION, becomes("starting"))
    t.envelope(SESSION, becomes("ready"))


@servers.good()
def a_stop_overtakes_a_start(t: Trace) -> None:
    with_server(t, "ready")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "vault"})
    t.envelope(SESSION, becomes("stopped"))


@servers.good()
def states_of_the_future_and_servers_unknown(t: Trace) -> None:
    with_server(t, "ready")
    t.envelope(SESSION, becomes("error", "nobody"))


@servers.good("AHP-MCP-049")
def a_resource_of_an_agent_is_asked_for_by_notification(t: Trace) -> None:
    agent = {
        "provider": "p",
        "displayName": "P",
        "description": "An agent",
        "models": [],
        "protectedResources": [RESOURCE],
    }
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, becomes("authRequired"))
    demand(t)


@servers.good()
def another_resource_is_asked_for(t: Trace) -> None:
    with_server(t, "authRequired")
    other = "https://other.example"
    t.tell("auth/required", resource=other if t.version < "0.8.0" else {**RESOURCE, "resource": other})


def without(name: str) -> JSON:
    return {key: value for key, value in RESOURCE.items() if key != name}


@servers.bad("AHP-MCP-044")
def nobody_to_get_a_token_from(t: Trace) -> None:
    with_server(t, "ready")
    action = becomes("authRequired")
    action["state"]["resource"] = without("authorization_servers")
    t.envelope(SESSION, action)


@servers.bad("AHP-MCP-044")
def an_empty_list_of_authorization_servers(t: Trace) -> None:
    waiting = {"kind": "authRequired", **auth(), "resource": {**RESOURCE, "authorization_servers": []}}
    t.follow(session=calm_session(customizations=[{**server(), "state": waiting}]), chat=None)


@servers.bad("AHP-MCP-007")
def a_resource_by_its_name(t: Trace) -> None:
    with_server(t, "ready")
    action = becomes("authRequired")
    action["state"]["resource"] = {**RESOURCE, "resource": "vault"}
    t.envelope(SESSION, action)


@servers.bad("AHP-MCP-037")
def the_channel_changes_with_a_token(t: Trace) -> None:
    with_server(t, "ready")
    t.envelope(SESSION, becomes("authRequired"))
    t.envelope(SESSION, becomes("ready", channel="mcp://another"))


@servers.bad("AHP-MCP-019")
def a_stop_switches_the_server_off(t: Trace) -> None:
    with_server(t, "ready")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    off = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    entry = {**server(kind="stopped"), **off}
    del entry["channel"]
    t.envelope(SESSION, {"type": "session/customizationUpdated", "customization": entry})


@servers.bad("AHP-MCP-027")
def a_restart_brings_another_id(t: Trace) -> None:
    with_server(t, "ready")
    again = {**server("vault-2"), "name": "vault", "uri": server()["uri"]}
    t.envelope(SESSION, {"type": "session/customizationsChanged", "customizations": [again]})


@servers.bad("AHP-MCP-048")
def ready_by_a_token_that_was_refused(t: Trace) -> None:
    with_server(t, "authRequired")
    t.error(t.ask("authenticate", resource=RESOURCE["resource"], token="no-token-of-ours"), -32602)
    t.envelope(SESSION, becomes("ready"))


@servers.good("AHP-MCP-007")
def ready_again_once_the_call_that_was_challenged_is_given_up(t: Trace) -> None:
    with_server(t, "ready")
    t.envelope(SESSION, becomes("authRequired", channel="mcp://vault"))
    t.error(t.ask("authenticate", resource=RESOURCE["resource"], token="no-token-of-ours"), -32602)
    t.envelope(SESSION, becomes("ready", channel="mcp://vault"))


@servers.bad("AHP-MCP-048")
def ready_by_a_refused_token_after_a_new_start(t: Trace) -> None:
    with_server(t, "ready")
    t.envelope(SESSION, becomes("authRequired", channel="mcp://vault"))
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "vault"})
    t.envelope(SESSION, becomes("authRequired"))
    t.error(t.ask("authenticate", resource=RESOURCE["resource"], token="no-token-of-ours"), -32602)
    t.envelope(SESSION, becomes("ready"))


@servers.good("AHP-MCP-048")
def ready_by_the_next_token(t: Trace) -> None:
    with_server(t, "authRequired")
    t.error(t.ask("authenticate", resource=RESOURCE["resource"], token="no-token-of-ours"), -32602)
    t.call("authenticate", {}, resource=RESOURCE["resource"], token="a-token-of-ours")
    t.envelope(SESSION, becomes("ready"))


@servers.good("AHP-MCP-007", "AHP-MCP-019", "AHP-MCP-027", "AHP-MCP-037", "AHP-MCP-044")
def stopped_and_started_again(t: Trace) -> None:
    with_server(t, "ready", "AB")
    t.envelope(SESSION, becomes("authRequired", channel="mcp://vault"), "AB")
    t.envelope(SESSION, becomes("ready", channel="mcp://vault"), "AB")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"}, to="AB")
    entry = {**server(kind="stopped")}
    del entry["channel"]
    t.envelope(SESSION, {"type": "session/customizationUpdated", "customization": entry}, "AB")
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "vault"}, to="AB")
    t.envelope(SESSION, becomes("ready", channel="mcp://new"), "AB")


@servers.good()
def the_host_does_not_do_as_asked(t: Trace) -> None:
    """It goes on with a server that it was to stop, and says so (AHP-MCP-015)."""
    with_server(t, "ready", "AB")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"}, to="AB")
    t.envelope(SESSION, becomes("ready"), "AB")
    t.echo(SESSION, {"type": "session/mcpServerStartRequested", "id": "vault"}, to="AB")
    t.envelope(SESSION, becomes("stopped"), "AB")


@servers.bad("AHP-MCP-017")
def one_request_has_one_answer(t: Trace) -> None:
    with_server(t, "ready", "AB")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"}, to="AB")
    t.envelope(SESSION, becomes("stopped"), "AB")
    t.envelope(SESSION, becomes("ready"), "AB")


# -- what waits for a server that was stopped -----------------------------------------------------------


def stops(t: Trace, *, entry: bool, call: bool) -> None:
    """The server of a blocked call is stopped; its entry, and the call, may stay as they are."""
    t.follow(session=calm_session(customizations=[server()]), chat=working_chat())
    t.blocked()
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    if not call:
        t.envelope(CHAT, about("Complete", result=FAILED))
    if not entry:
        t.envelope(SESSION, unlists("need-1"))
    ours = [auth_entry()] if entry else None
    idle = {key: value for key, value in server(kind="stopped").items() if key != "channel"}
    shown = calm_session(customizations=[idle], status=24 if entry else 8, inputNeeded=ours)
    t.subscribe(SESSION, {key: value for key, value in shown.items() if value is not None})
    rest = a_call("auth-required") if call else {**a_call("running"), **FAILED, "status": "completed"}
    t.subscribe(CHAT, working_chat(part_of(rest), status=24 if call else 8))


LATE = ("convergence", "session-folds", "chat-folds", "tool-authentication", "input-needed-bit")


@stopped.bad("AHP-MCP-014", beside=LATE)
def the_entry_stays(t: Trace) -> None:
    stops(t, entry=True, call=False)


@stopped.bad("AHP-TOOLAUTH-066", beside=LATE)
def the_call_stays(t: Trace) -> None:
    stops(t, entry=False, call=True)


def test_nothing_waits_for_a_stopped_server() -> None:
    t = Trace("0.9.0")
    stops(t, entry=False, call=False)
    oracle = t.judged()
    assert [f for f in oracle.findings if f.rule == "stopped-servers"] == []
    assert {"AHP-MCP-014", "AHP-TOOLAUTH-066"} <= oracle.watched.keys()


@stopped.good("AHP-MCP-014", "AHP-TOOLAUTH-066")
def entry_and_call_go(t: Trace) -> None:
    t.follow(session=calm_session(customizations=[server()]), chat=working_chat())
    t.blocked()
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.envelope(CHAT, about("Complete", result=FAILED))
    t.envelope(SESSION, unlists("need-1"))


@stopped.good()
def the_server_goes_on(t: Trace) -> None:
    t.follow(session=calm_session(customizations=[server()]), chat=working_chat())
    t.blocked()
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.envelope(SESSION, becomes("ready", channel="mcp://vault"))


# -- the side channel -----------------------------------------------------------------------------------


def offering(t: Trace, *capabilities: str, kind: str = "ready") -> None:
    one = {**server(kind=kind), "mcpApp": {"capabilities": {name: {} for name in capabilities}}}
    t.follow(session=calm_session(customizations=[one]), chat=None)


def asks(t: Trace, method: str, code: int = 0, uri: str = "mcp://vault") -> None:
    identity = t.ask(method, channel=uri)
    if code:
        t.error(identity, code)
    else:
        t.result(identity, {"tools": []})


@channel.bad("AHP-MCP-032")
def prompts_are_served_unasked(t: Trace) -> None:
    offering(t, "serverTools")
    asks(t, "prompts/list")


@channel.bad("AHP-MCP-032")
def refused_with_another_code(t: Trace) -> None:
    offering(t, "serverTools")
    asks(t, "resources/read", -32602)


@channel.bad("AHP-MCP-033", beside=("negotiation", "shapes", "offers"))
def the_handshake_of_mcp(t: Trace) -> None:
    offering(t, "serverTools")
    identity = t.ask("initialize", channel="mcp://vault", protocolVersion="2025-11-25")
    t.result(identity, {"protocolVersion": t.version, "serverSeq": 0, "snapshots": []})


@channel.bad("AHP-MCP-034")
def tools_that_are_advertised_only(t: Trace) -> None:
    offering(t, "serverTools")
    asks(t, "tools/list", -32601)


@channel.bad("AHP-MCPS-032")
def logging_that_is_advertised_only(t: Trace) -> None:
    offering(t, "logging")
    asks(t, "logging/setLevel", -32601)


@channel.good("AHP-MCP-032", "AHP-MCP-033", "AHP-MCP-034", "AHP-MCPS-032")
def served_as_advertised(t: Trace) -> None:
    offering(t, "serverTools", "sampling")
    asks(t, "tools/list")
    asks(t, "tools/call", -32602)
    asks(t, "sampling/createMessage", -32603)
    asks(t, "prompts/list", -32601)
    asks(t, "initialize", -32601)


@channel.good()
def who_knows_what_is_served(t: Trace) -> None:
    """No entry, one that is not ready, one that may serve more than is known here."""
    offering(t, "serverPrompts")
    asks(t, "prompts/list")
    asks(t, "prompts/list", uri="mcp://nobody")
    t.envelope(SESSION, becomes("authRequired"))
    asks(t, "tools/list", -32601)


@pytest.mark.parametrize("new", LIFE)
@pytest.mark.parametrize("old", LIFE)
def test_every_step_of_the_graph(old: str, new: str) -> None:
    t = Trace("0.9.0")
    with_server(t, old)
    t.envelope(SESSION, becomes(new))
    right = new in LIFE[old] or new in (old, "starting")
    assert [f.obligations for f in t.judged().findings] == ([] if right else [("AHP-MCP-017",)])


@servers.good()
def a_server_is_switched_off_while_it_starts(t: Trace) -> None:
    with_server(t, "starting", "AB")
    off: JSON = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    t.echo(SESSION, {"type": "session/customizationToggled", "id": "vault", **off}, to="AB")
    t.envelope(SESSION, becomes("stopped"), "AB")


@servers.good()
def who_permits_delays_misses_states(t: Trace) -> None:
    one = {**server(kind="starting"), "state": {"kind": "starting"}}
    t.handshake()
    t.subscribe(SESSION, calm_session(customizations=[one]), delivery={"maxLatencyMs": 500})
    t.envelope(SESSION, becomes("stopped"))


@servers.good()
def a_server_started_again_while_nobody_looked(t: Trace) -> None:
    with_server(t, "starting")
    t.envelope(SESSION, becomes("ready", channel="mcp://vault/1"))
    t.notify("unsubscribe", channel=SESSION)
    t.seq += 5
    t.subscribe(SESSION, calm_session(customizations=[{**server(kind="ready"), "channel": "mcp://vault/2"}]))


@servers.good()
def an_agents_resource_for_who_does_not_know_the_agents(t: Trace) -> None:
    t.handshake()
    t.notify("unsubscribe", channel=ROOT)
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, becomes("authRequired"))
    demand(t, channel=SESSION)


def test_others_may_have_pushed_a_good_token() -> None:
    t = Trace()
    ready_by_a_token_that_was_refused(t)
    assert t.judged(whole=False).findings == []


@servers.good()
def a_server_is_switched_off_later(t: Trace) -> None:
    """Somebody edits a file long after the host has followed the request to stop."""
    with_server(t, "ready")
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.envelope(SESSION, becomes("stopped"))
    off = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    entry = {**server(kind="stopped"), **off}
    del entry["channel"]
    t.envelope(SESSION, {"type": "session/customizationUpdated", "customization": entry})


@channel.good()
def who_has_no_right_to_the_channel(t: Trace) -> None:
    offering(t, "serverTools")
    asks(t, "prompts/list", -32009)


@channel.good()
def a_server_without_templates(t: Trace) -> None:
    offering(t, "serverResources")
    asks(t, "resources/templates/list", -32601)


@found(servers, stopped, channel)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(servers, stopped, channel)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
