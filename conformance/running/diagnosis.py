"""A first examination of a host: what it speaks, what its agents need, and how deep it can be judged.

Nothing here is a verdict. Each version is asked for on a connection of its own, as a host answers one `initialize`
for each; one session is created and disposed of again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.backend.playbook import agent_token
from conformance.catalogue import highest_tier
from conformance.client import HostClosed, Participant, Refused, Silent, Unreached
from conformance.drivers import PROVOCATIONS, Driver
from conformance.protocol import ROOT_URI
from conformance.protocol.errors import AUTH_REQUIRED, UNSUPPORTED_PROTOCOL_VERSION
from conformance.protocol.versions import VERSIONS
from conformance.running.runner import build_theatre
from conformance.running.settings import Settings
from conformance.running.stage import Stage, Theatre

JSON = Any
_TROUBLE = (Refused, Silent, HostClosed, Unreached)


@dataclass(frozen=True, slots=True)
class VersionAnswer:
    """What came of offering one version alone. ``supported`` is what a refusal says that the host speaks."""

    version: str
    outcome: Literal["accepted", "refused", "trouble", "not-asked"]
    detail: str = ""
    supported: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """A protected resource of an agent, and whether a token for it is at hand."""

    resource: str
    required: bool
    token: bool


@dataclass(frozen=True, slots=True)
class AgentSeen:
    """An agent of the root state. ``models`` is their number."""

    provider: str
    display_name: str
    models: int
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """A provocation that is not at hand, and what would bring it."""

    provocation: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SessionTrial:
    """Whether a session could be created and disposed of."""

    outcome: Literal["created", "refused", "not-tried"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was found. ``version`` is what the host picks of all versions, None when it will not shake hands;
    ``problem`` says why then."""

    version: str | None
    problem: str | None
    name: str | None
    host_version: str | None
    versions: tuple[VersionAnswer, ...]
    agents: tuple[AgentSeen, ...]
    plays_playbooks: bool
    provocations: tuple[str, ...]
    missing: tuple[Missing, ...]
    tier: str
    session: SessionTrial

    @property
    def usable(self) -> bool:
        """Whether a run could judge the host."""
        return self.version is not None

    @property
    def accepted(self) -> tuple[str, ...]:
        """The versions that the host took, oldest first."""
        return tuple(answer.version for answer in self.versions if answer.outcome == "accepted")


def diagnose(driver: Driver, settings: Settings) -> Diagnosis:
    """Examine a started host. Trouble with it is a finding, never an exception."""
    theatre = build_theatre(driver, settings)
    facts = theatre.facts
    versions = _versions(theatre)
    agents = _agents(theatre)
    offered = tuple(p for p in PROVOCATIONS if p in facts.provocations)
    return Diagnosis(
        version=facts.version,
        problem=facts.problem,
        name=facts.name,
        host_version=facts.host_version,
        versions=versions,
        agents=agents,
        plays_playbooks=facts.plays_playbooks,
        provocations=offered,
        missing=tuple(
            Missing(p, _remedy(p, facts.plays_playbooks)) for p in PROVOCATIONS if p not in facts.provocations
        ),
        tier=highest_tier(facts.provocations),
        session=_try_session(theatre, agents),
    )


# -- versions -----------------------------------------------------------------------------------------------


def _versions(theatre: Theatre) -> tuple[VersionAnswer, ...]:
    """What the host says to each version; one that keeps silent to all of them is not asked for each again."""
    refused = theatre.facts.refused
    if theatre.facts.version is None and (refused is None or refused.code != UNSUPPORTED_PROTOCOL_VERSION):
        return tuple(VersionAnswer(v, "not-asked", "the handshake fails for another reason") for v in VERSIONS)
    return tuple(_offer(theatre, version) for version in VERSIONS)


def _offer(theatre: Theatre, version: str) -> VersionAnswer:
    stage = Stage(theatre)
    try:
        picked = stage.enter("doctor").initialize([version])["protocolVersion"]
        detail = "" if picked == version else f"the host answers with {picked}, which was not offered"
        return VersionAnswer(version, "accepted" if picked == version else "trouble", detail)
    except Refused as refused:
        if refused.code != UNSUPPORTED_PROTOCOL_VERSION:
            return VersionAnswer(version, "trouble", str(refused))
        return VersionAnswer(version, "refused", "", _supported(refused))
    except _TROUBLE as trouble:
        return VersionAnswer(version, "trouble", str(trouble))
    finally:
        stage.conclude(witness=False)


def _supported(refused: Refused) -> tuple[str, ...]:
    data = refused.error.get("data") if isinstance(refused.error, dict) else None
    listed = data.get("supportedVersions") if isinstance(data, dict) else None
    return tuple(map(str, listed)) if isinstance(listed, list) else ()


# -- agents -------------------------------------------------------------------------------------------------


def _agents(theatre: Theatre) -> tuple[AgentSeen, ...]:
    root = theatre.facts.root
    listed = root.get("agents") if isinstance(root, dict) else None
    return tuple(
        AgentSeen(
            provider=agent["provider"],
            display_name=str(agent.get("displayName") or ""),
            models=len(agent["models"]) if isinstance(agent.get("models"), list) else 0,
            needs=tuple(_needs(theatre, agent.get("protectedResources"))),
        )
        for agent in (listed if isinstance(listed, list) else ())
        if isinstance(agent, dict) and isinstance(agent.get("provider"), str)
    )


def _needs(theatre: Theatre, listed: JSON) -> list[Need]:
    return [
        Need(entry["resource"], entry.get("required") is not False, _token(theatre, entry["resource"]) is not None)
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("resource"), str)
    ]


def _token(theatre: Theatre, resource: str) -> str | None:
    known: Mapping[str, str] = getattr(theatre.driver, "agent_tokens", None) or {}
    if known.get(resource):
        return known[resource]
    return agent_token(resource) if theatre.facts.plays_playbooks else None


# -- a session ----------------------------------------------------------------------------------------------


def _try_session(theatre: Theatre, agents: tuple[AgentSeen, ...]) -> SessionTrial:
    if theatre.facts.version is None:
        return SessionTrial("not-tried", "the host does not shake hands")
    if not agents:
        return SessionTrial("not-tried", "the root state names no agent")
    agent = next((a for a in agents if a.provider == theatre.facts.provider), None)
    if agent is None:
        return SessionTrial("not-tried", f"the host has no agent {theatre.facts.provider}, which the driver names")
    stage = Stage(theatre)
    try:
        return _created(stage, stage.join("doctor", [ROOT_URI]), agent)
    except Refused as refused:
        return SessionTrial("refused", _why_refused(refused, agent))
    except _TROUBLE as trouble:
        return SessionTrial("refused", str(trouble))
    finally:
        stage.conclude(witness=False)


def _created(stage: Stage, client: Participant, agent: AgentSeen) -> SessionTrial:
    for need in agent.needs:
        token = _token(stage.theatre, need.resource)
        if token is not None and need.required:
            stage.recorder.conceal("agent", token)
            client.succeed("authenticate", resource=need.resource, token=token)
    session = stage.new_session_uri()
    config = getattr(stage.theatre.driver, "session_config", None)
    more = {"config": dict(config)} if config else {}
    client.succeed("createSession", channel=session, provider=agent.provider, **more)
    client.subscribe(session)
    client.succeed("disposeSession", channel=session)
    stage.sessions.clear()
    return SessionTrial("created", f"with the agent {agent.provider}, and disposed of again")


def _why_refused(refused: Refused, agent: AgentSeen) -> str:
    if refused.code != AUTH_REQUIRED:
        return str(refused)
    wanted = [need.resource for need in agent.needs if need.required and not need.token]
    resources = ", ".join(wanted) or "a resource that it does not list"
    return f"{refused.method} wants a token for {resources}; name one in agent_tokens of the driver (docs/drivers.md)"


# -- provocations -------------------------------------------------------------------------------------------

_BY_AN_AGENT = frozenset({"turn", "tool", "client-tool", "mcp", "mcp-auth"})
_BY_THE_DRIVER: Mapping[str, str] = {
    "wire": "a driver whose connections work",
    "second-client": "a host that takes several connections at once; one on stdio takes one",
    "disconnect": "a connection that can be dropped",
    "mcp-record": "a driver that tells what has reached the MCP servers, or a profile with [backend], which plays them",
    "restart": "a driver that can restart the host: it starts it by a command, or has a method restart()",
    "fs-root": "a driver that says so, for a host that was given a folder to work in",
    "terminal": "a driver that says so, for a host that runs terminals",
    "clock": "a driver with a method skip(seconds) that moves the host's clock",
}


def _remedy(provocation: str, plays_playbooks: bool) -> str:
    if provocation not in _BY_AN_AGENT:
        return _BY_THE_DRIVER.get(provocation, "a driver that offers it (docs/drivers.md)")
    if plays_playbooks:
        return "the agent plays playbooks: name it in the provocations of _meta as soon as it plays these moves"
    return "an agent that plays playbooks (docs/backend.md), or a profile with [backend], which plays its model service"
