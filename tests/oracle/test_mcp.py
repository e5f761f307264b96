"""MCP servers: their life, their channels, and one announcement of a challenge."""

from __future__ import annotations

import pytest

from conformance.oracle.rules.mcp import LIFE
from tests.protocol.examples import auth, server

from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

servers = Cases("mcp-servers")

RESOURCE = auth()["resource"]
MORE: dict[str, JSON] = {"authRequired": auth(), "error": {"error": {"errorType": "e", "message": "m"}}}


def becomes(kind: str, identity: str = "vault", **members: JSON) -> JSON:
    state = {"kind": kind, **MORE.get(kind, {})}
    return {"type": "session/mcpServerStateChanged", "id": identity, "state": state, **members}


def with_server(t: Trace, kind: str, conns: str = "A") -> None:
    one = {**server(kind=kind), "state": {"kind": kind, **MORE.get(kind, {})}}
    t.follow(conns, session=calm_session(customizations=[one]), chat=None)


def demand(t: Trace) -> None:
    t.tell("auth/required", resource=RESOURCE["resource"] if t.version < "0.8.0" else RESOURCE)


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
    t.tell("auth/required", resource=other if t.version < "0.8.0" else {"resource": other})


@pytest.mark.parametrize("new", LIFE)
@pytest.mark.parametrize("old", LIFE)
def test_every_step_of_the_graph(old: str, new: str) -> None:
    t = Trace("0.9.0")
    with_server(t, old)
    t.envelope(SESSION, becomes(new))
    right = new in LIFE[old] or new in (old, "starting")
    assert [f.obligations for f in t.judged().findings] == ([] if right else [("AHP-MCP-017",)])


@found(servers)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(servers)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
