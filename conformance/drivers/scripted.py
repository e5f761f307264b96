"""A real agent under control: the stand-ins that the suite runs for it, and what a profile knows about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from conformance.backend.playbook import Move
from conformance.protocol import ROOT_URI

from .base import DriverError

if TYPE_CHECKING:
    from conformance.backend.lexicon import Lexicon
    from conformance.backend.mcp_servers import McpServers
    from conformance.backend.models import ModelServices
    from conformance.client import Participant

JSON = Any
Route = Literal["plugin", "root-config", "workspace"]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What has to be known about an agent to control it; a profile says it.

    lexicon: the host's own tools that stand for calls without a server or a client.
    route: how MCP servers reach the host: a plugin that a client publishes, `mcpServers` of the root configuration, or
    the file `.mcp.json` in the working folder of the session.
    approvals: what to set in the configuration of a session so that tools are `asked` for, or are not (`unasked`).
    root: what to set in the configuration of the host.
    plays: members of a call that this agent and its tools can be made to play (docs/backend.md), and `oauth_client` if
    the host reads `oauth` in the entry of an MCP server.
    tokens: a token for each resource that the agent itself demands.
    """

    lexicon: Lexicon
    route: Route | None = "plugin"
    approvals: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    root: Mapping[str, JSON] = field(default_factory=dict)
    plays: frozenset[str] = frozenset({"fails", "with"})
    tokens: Mapping[str, str] = field(default_factory=dict)


# What any agent with MCP servers of the suite can be made to play.
_ALWAYS = frozenset({"tool", "server", "client", "input", "result", "challenges"})


class Scripted:
    """The scripted model service and the challenged MCP servers of one host, started and stopped with its driver."""

    def __init__(self, knowledge: Knowledge, *, refuse: Iterable[str] = ()) -> None:
        """``refuse``: tokens that the model service answers with 401."""
        self.knowledge = knowledge
        self._refuse = tuple(refuse)
        self._models: ModelServices | None = None
        self._mcp: McpServers | None = None
        self._signed_in = False
        self._configured = False

    def start(self) -> str:
        """Start the model service and return its base URL. Raises DriverError when it cannot be had."""
        from conformance.backend.web import BackendMissing

        try:
            return self._start()
        except (BackendMissing, OSError) as error:
            self.stop()
            raise DriverError(str(error)) from error

    def _start(self) -> str:
        from conformance.backend.mcp_servers import McpServers
        from conformance.backend.models import ModelServices

        self._models = ModelServices(lexicon=self.knowledge.lexicon, refuse_tokens=self._refuse)
        self._mcp = McpServers()
        self._mcp.start()
        return self._models.start()

    def stop(self) -> None:
        for service in (self._models, self._mcp):
            if service is not None:
                service.stop()
        self._models = self._mcp = None

    @property
    def models(self) -> ModelServices:
        if self._models is None:
            raise RuntimeError("the scripted backend was not started")
        return self._models

    @property
    def mcp(self) -> McpServers:
        if self._mcp is None:
            raise RuntimeError("the scripted backend was not started")
        return self._mcp

    def sign_in(self, client: Callable[[], Participant]) -> None:
        """Once for a host: configure it as the profile says, and push the tokens that its agent demands."""
        known = self.knowledge
        if self._signed_in or not (known.root or known.tokens):
            return
        who = client()
        if known.root and not self._configured:
            who.act(ROOT_URI, {"type": "root/configChanged", "config": dict(known.root)})
            # A host may not echo what changes nothing, so it is said once.
            self._configured = True
        for resource, token in known.tokens.items():
            who.succeed("authenticate", resource=resource, token=token)
        who.leave()
        self._signed_in = True

    def sign_in_again(self) -> None:
        """Before the next turn, push the tokens once more: somebody has pushed others."""
        self._signed_in = False

    def root_config(self, urls: Mapping[str, str]) -> dict[str, JSON]:
        """The configuration of the host that names MCP servers."""
        return {"mcpServers": {name: {"type": "http", "url": url} for name, url in urls.items()}}

    def unplayable(self, moves: Sequence[Move]) -> str:
        """What of the moves this agent cannot be made to do, in words; empty when it can do all."""
        return ", ".join(dict.fromkeys(self._unplayable(moves)))

    def _unplayable(self, moves: Sequence[Move]) -> list[str]:
        missing: list[str] = []
        known = self.knowledge
        for move in moves:
            ((name, body),) = move.items()
            if name == "ask" and known.lexicon.ask is None:
                missing.append("ask the user")
            elif name == "mcp":
                missing += self._of_servers([body["challenge"]] if body.get("challenge") else [])
            elif name == "call":
                for call in (body, *body.get("with", ())):
                    missing += self._of_call(call)
        return missing

    def _of_servers(self, challenges: Sequence[Mapping[str, JSON]]) -> list[str]:
        known = self.knowledge
        missing = [] if known.route else ["bring MCP servers to the host"]
        if "oauth_client" not in known.plays and any("oauth_client" in c for c in challenges):
            missing.append("give the host an OAuth client for an MCP server")
        return missing

    def _of_call(self, call: Mapping[str, JSON]) -> list[str]:
        known = self.knowledge
        missing = [f"calls with {member!r}" for member in sorted(set(call) - _ALWAYS - known.plays) if call[member]]
        if "server" in call:
            missing += self._of_servers(call.get("challenges", ()))
        elif "client" not in call:
            wanted = "confirmed" if call.get("confirm") else "failing" if "fails" in call else "plain"
            if getattr(known.lexicon, wanted) is None:
                missing.append(f"call a {wanted} tool of its own")
        return missing
