"""The driver that does what a profile says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from conformance.backend.lexicon import read_lexicon
from conformance.wire.tokens import new_token
from conformance.wire.transport import Transport

from .base import BaseDriver, DriverError, TargetError
from .command import CommandDriver
from .endpoint import EndpointDriver
from .profile import Profile
from .scripted import Knowledge, Scripted
from .stdio import StdioDriver

Inner: TypeAlias = EndpointDriver | CommandDriver | StdioDriver


class ProfileDriver(BaseDriver):
    """Reaches a host as its profile says, and knows of it what stands there.

    ``timeout`` (seconds, of one connection) is the profile's patience by default. ``names`` are placeholders beside
    those that every command has, such as ``model_url``; they and ``evidence`` may be set before :meth:`start`.
    Raises TargetError when an environment variable that the profile names is not set.
    """

    def __init__(
        self, profile: Profile, *, timeout: float | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self.profile = profile
        self.name = profile.host.name
        self.names: Mapping[str, str] = names or {}
        self.provider = profile.agent.provider
        self.session_config = profile.agent.config
        self.agent_tokens = _tokens(profile, profile.agent.tokens)
        self.refused_agent_tokens = _tokens(profile, profile.agent.refused_tokens)
        self.scripted = _scripted(profile, self.agent_tokens, self.refused_agent_tokens)
        self.provocations = _provocations(profile, self.scripted)
        self.patience = profile.patience
        self.grace = profile.grace
        self.waivers = profile.waivers
        self._inner = _inner(profile, timeout or profile.patience or 10.0)
        self.lacks: frozenset[str] = getattr(self._inner, "lacks", frozenset())

    @property
    def endpoint(self) -> str:
        return self._inner.endpoint

    @property
    def evidence(self) -> Path | None:
        """The file that gets what the host prints. None: a temporary one, or a host that the suite does not start."""
        return None if isinstance(self._inner, EndpointDriver) else self._inner.evidence

    @evidence.setter
    def evidence(self, path: Path | None) -> None:
        if not isinstance(self._inner, EndpointDriver):
            self._inner.evidence = path

    def start(self) -> None:
        names = dict(self.names)
        if self.scripted is not None:
            names |= {"model_url": self.scripted.start()}
        if not isinstance(self._inner, EndpointDriver):
            self._inner.names = names
        self._inner.start()

    def connect(self) -> Transport:
        return self._inner.connect()

    def restart(self) -> None:
        """End the host and start it again. Raises DriverError for one that the suite does not start."""
        if not isinstance(self._inner, CommandDriver):
            raise DriverError(f"{self.name} cannot be started again: its profile has no command that starts a server")
        self._inner.restart()

    def stop(self) -> None:
        try:
            self._inner.stop()
        finally:
            if self.scripted is not None:
                self.scripted.stop()


def _scripted(profile: Profile, tokens: Mapping[str, str], refused: Mapping[str, str]) -> Scripted | None:
    """What the suite plays for the agent, if the profile wants it to play anything."""
    backend = profile.backend
    if not backend.model:
        return None
    try:
        lexicon = read_lexicon(backend.tools)
    except ValueError as error:
        raise TargetError(f"{profile.path}: [backend.tools] {error}") from error
    knowledge = Knowledge(
        lexicon=lexicon,
        route=None if backend.mcp == "none" else backend.mcp,
        approvals=backend.approvals,
        root=backend.root,
        tokens=tokens,
        **({} if backend.plays is None else {"plays": backend.plays}),
    )
    return Scripted(knowledge, refuse=refused.values())


def _provocations(profile: Profile, scripted: Scripted | None) -> frozenset[str] | None:
    """What the profile says; else what the scripted backend makes possible; without one, what the host says."""
    if profile.agent.provocations is not None or scripted is None:
        return profile.agent.provocations
    known = scripted.knowledge
    own_tools = (known.lexicon.plain, known.lexicon.confirmed, known.lexicon.failing)
    offered = {"turn", "client-tool"}
    offered |= {"tool"} if any(own_tools) else set()
    offered |= {"mcp", "mcp-auth"} if known.route is not None else set()
    return frozenset(offered)


def _inner(profile: Profile, timeout: float) -> Inner:
    host = profile.host
    token = None if host.token_env is None else _variable(profile, host.token_env, "[host] token_env")
    if not host.command:
        return EndpointDriver(host.endpoint, token=token, token_in=host.token_in, timeout=timeout)
    if host.framing != "websocket":
        return StdioDriver(
            host.command,
            framing=host.framing,
            name=host.name,
            env=host.env,
            cwd=host.cwd,
            start_timeout=host.start_timeout,
        )
    return CommandDriver(
        host.command,
        name=host.name,
        endpoint=host.endpoint,
        env=host.env,
        cwd=host.cwd,
        ready=host.ready,
        token=token,
        token_in=host.token_in,
        start_timeout=host.start_timeout,
        timeout=timeout,
    )


def _tokens(profile: Profile, sources: Mapping[str, str]) -> dict[str, str]:
    """A token for each resource: one that the suite makes up, or one out of the environment."""
    return {
        resource: new_token("agent")
        if source == "any"
        else _variable(profile, source.removeprefix("env:"), f"[agent] the token for {resource}")
        for resource, source in sources.items()
    }


def _variable(profile: Profile, name: str, where: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise TargetError(f"{profile.path}: {where} comes from the environment variable {name}, which is not set")
    return value
