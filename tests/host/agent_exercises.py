"""Short plays about agents that need a token, and about servers that are stopped, missing or challenged anew."""

from __future__ import annotations

from typing import Any, Final

from conformance.host import guarded

from .driving import ROOT, Act, Stage, call, challenge

JSON = Any


def guarded_agent(stage: Stage) -> None:
    a = stage.a
    a.request("createSession", "ahp-session:/guarded", provider=guarded.PROVIDER)
    for token in ("bad", guarded.TOKEN, guarded.TOKEN):
        a.request("authenticate", resource=guarded.RESOURCE, token=token)
    a.request("authenticate", resource="https://nobody.example/", token="bad")
    a.request("subscribe", ROOT)
    a.request("createSession", "ahp-session:/guarded", provider=guarded.PROVIDER)


def stronger_server(stage: Stage) -> None:
    client = {"clientId": "me"}
    stage.play({"mcp": {"server": "vault", "challenge": challenge(oauth_client=client)}})
    stage.authenticate()
    stage.play({"mcp": {"server": "vault", "challenge": challenge("two", 403, scopes=["b"])}})
    stage.authenticate("two")


def latecomer(stage: Stage) -> None:
    stage.play({"mcp": {"server": "vault", "challenge": challenge()}})
    stage.authenticate(by=stage.client("B"))


def stopped_server(stage: Stage) -> None:
    stage.play({"mcp": {"server": "vault"}})
    server = stage.state().get("customizations", [{"id": "?"}])[0]
    for identifier in (server["id"], "no-such-server"):
        stage.a.dispatch(stage.session, {"type": "session/mcpServerStopRequested", "id": identifier})
        stage.play(call(server="vault"))
    stage.a.request("subscribe", stage.session)


def unknown_server(stage: Stage) -> None:
    stage.play({"mcp": {"server": "vault"}})
    stage.a.dispatch(stage.session, {"type": "session/mcpServerStopRequested", "id": "no-such-server"})


EXERCISES: Final[tuple[Act, ...]] = (guarded_agent, stronger_server, latecomer, stopped_server, unknown_server)
