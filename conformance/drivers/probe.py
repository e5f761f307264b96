"""The first look at a host: does it answer, which version does it pick, what can it be made to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.client import Participant, Refused
from conformance.protocol import ROOT_URI

from .base import PROVOCATIONS, Driver

# What messages of a client can provoke on any host, and what playing a playbook adds to it.
_ALWAYS = frozenset({"wire", "second-client", "disconnect"})
META_KEY = "ahp-conformance"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the probe learned. ``version`` is None when the handshake did not succeed; ``problem`` says why."""

    version: str | None
    name: str | None = None
    host_version: str | None = None
    provocations: frozenset[str] = _ALWAYS
    provider: str | None = None
    plays_playbooks: bool = False
    problem: str | None = None
    refused: Refused | None = None
    root: Any = field(default=None, repr=False)


def probe(driver: Driver, versions: Sequence[str], join: Callable[[], Participant]) -> HostFacts:
    """Shake hands, read the root state, and say what was found; a host that does not answer is a finding too."""
    client = join()
    result = client.initialize(versions, [ROOT_URI])
    root: Any = None
    for snapshot in client.mailbox.snapshots:
        if snapshot.channel == ROOT_URI:
            root = snapshot.state
    server = result.get("serverInfo")
    server = server if isinstance(server, dict) else {}
    meta = _member(_member(root, "_meta"), META_KEY)
    plays = _member(meta, "playbook") == 1
    offered = driver.provocations
    if offered is None:
        claimed = _member(meta, "provocations") if plays else None
        offered = frozenset(p for p in claimed if p in PROVOCATIONS) if isinstance(claimed, list) else frozenset()
    if any(getattr(driver, witness, None) is not None for witness in ("upstream", "scripted")):
        offered |= {"mcp-record"} if "mcp-auth" in offered else frozenset()
    lacks: frozenset[str] = getattr(driver, "lacks", frozenset())
    agents = _member(root, "agents")
    first = agents[0] if isinstance(agents, list) and agents else None
    return HostFacts(
        version=result["protocolVersion"],
        name=_text(server.get("name")),
        host_version=_text(server.get("version")),
        provocations=(_ALWAYS | offered) - lacks,
        provider=_text(getattr(driver, "provider", None)) or _text(_member(first, "provider")),
        plays_playbooks=plays,
        root=root,
    )


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
