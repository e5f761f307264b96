"""Authentication of agents."""

from __future__ import annotations

from typing import Any

from .traces import ROOT, SESSION, Case, Cases, Trace, clean, found, root

authentication = Cases("authentication")

API = "https://api.example"


def with_agent(t: Trace, *resources: Any) -> None:
    agent: dict[str, Any] = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
    if resources:
        agent["protectedResources"] = list(resources)
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])


def demands(t: Trace, resource: str = API) -> None:
    identity = t.ask("createSession", channel=SESSION, provider="p")
    t.error(identity, -32007, data={"resources": [{"resource": resource}]})


def pushes(t: Trace, token: str = "a-token-of-ours", *, code: int | None = None) -> None:
    identity = t.ask("authenticate", resource=API, token=token)
    if code is None:
        t.result(identity, {})
    else:
        t.error(identity, code)


def requires(t: Trace, reason: str) -> None:
    t.tell("auth/required", resource=API if t.version < "0.8.0" else {"resource": API}, reason=reason)


@authentication.bad("AHP-AUTH-010")
def an_optional_token_is_demanded(t: Trace) -> None:
    with_agent(t, {"resource": API, "required": False})
    demands(t)


@authentication.bad("AHP-AUTH-011")
def a_token_is_demanded_that_was_not_advertised(t: Trace) -> None:
    with_agent(t)
    demands(t)


@authentication.bad("AHP-AUTH-012")
def a_resource_without_encryption(t: Trace) -> None:
    with_agent(t, {"resource": "http://api.example"})


@authentication.bad("AHP-AUTH-012")
def a_resource_with_a_fragment(t: Trace) -> None:
    with_agent(t, {"resource": API})
    demands(t, f"{API}#part")


@authentication.bad("AHP-AUTH-012")
def a_resource_that_is_a_word(t: Trace) -> None:
    with_agent(t)
    agent = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
    agents = [{**agent, "protectedResources": [{"resource": "vault"}]}]
    t.envelope(ROOT, {"type": "root/agentsChanged", "agents": agents})


@authentication.bad("AHP-AUTH-026")
def an_expired_token_never_was(t: Trace) -> None:
    with_agent(t, {"resource": API})
    pushes(t)
    requires(t, "required")


@authentication.bad("AHP-AUTH-102", versions=("1.0.0",))
def a_token_cannot_be_taken_back(t: Trace) -> None:
    with_agent(t, {"resource": API})
    pushes(t)
    pushes(t, "", code=-32602)


@authentication.good("AHP-AUTH-010", "AHP-AUTH-012")
def a_session_without_an_optional_token(t: Trace) -> None:
    with_agent(t, {"resource": API, "required": False}, {"resource": "http://127.0.0.1:8000/mcp", "required": False})
    t.call("createSession", channel=SESSION, provider="p")


@authentication.good("AHP-AUTH-011")
def a_session_without_any_token(t: Trace) -> None:
    with_agent(t)
    t.call("createSession", channel=SESSION, provider="p")


@authentication.good("AHP-AUTH-026")
def an_expired_token(t: Trace) -> None:
    with_agent(t, {"resource": API}, {"resource": f"{API}/optional", "required": False})
    demands(t)
    requires(t, "required")
    pushes(t)
    requires(t, "expired")


@authentication.good("AHP-AUTH-102", versions=("1.0.0",))
def a_token_is_taken_back(t: Trace) -> None:
    with_agent(t, {"resource": API})
    pushes(t)
    pushes(t, "")
    requires(t, "required")


@authentication.good(versions=("0.9.0",))
def an_empty_token_before_it_meant_anything(t: Trace) -> None:
    with_agent(t, {"resource": API})
    pushes(t)
    pushes(t, "", code=-32602)


@authentication.good()
def an_agent_that_changes_its_mind(t: Trace) -> None:
    with_agent(t)
    identity = t.ask("createSession", channel=SESSION, provider="p")
    agent = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
    agents = [{**agent, "protectedResources": [{"resource": API}]}]
    t.envelope(ROOT, {"type": "root/agentsChanged", "agents": agents})
    t.error(identity, -32007, data={"resources": [{"resource": API}]})


@authentication.good()
def an_agent_of_which_nothing_is_known(t: Trace) -> None:
    demands(t)


@found(authentication)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(authentication)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
