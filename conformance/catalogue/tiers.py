"""Tiers: how far a host was provoked, and what a certificate of that depth requires.

A tier contains the obligations that its provocations can reach. It requires the MUSTs among them and, for
tool authentication, the SHOULDs that the tier is about.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from .model import Catalogue, Obligation


@dataclass(frozen=True, slots=True)
class Tier:
    """A named depth. ``provocations`` is cumulative; ``demands`` names SHOULDs that it requires all the same."""

    name: str
    provocations: frozenset[str]
    demands: frozenset[str] = frozenset()


_CORE = frozenset({"wire", "second-client", "disconnect"})
_TURNS = _CORE | {"turn", "tool", "client-tool"}
_TOOL_AUTH = _TURNS | {"mcp", "mcp-auth"}
_FULL = _TOOL_AUTH | {"restart", "fs-root", "terminal", "clock", "paging", "telemetry", "automation"}

# The text recommends that a blocked call is shown on its session and that the entry goes with the block.
# A client that watches only the session depends on it, so a tool-auth certificate requires it.
_PAIRING = frozenset({"AHP-TOOLAUTH-022", "AHP-TOOLAUTH-026"})

TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (
        Tier("core", _CORE),
        Tier("turns", _TURNS),
        Tier("tool-auth", _TOOL_AUTH, _PAIRING),
        Tier("full", _FULL, _PAIRING),
    )
}


def demanded(tier: str, obligation: Obligation) -> bool:
    """Whether ``tier`` requires the obligation: a deciding MUST within reach, or one of its demands."""
    chosen = TIERS[tier]
    if obligation.provocation not in chosen.provocations or obligation.subject == "client":
        return False
    return obligation.id in chosen.demands or (obligation.is_must and obligation.decides)


def required(catalogue: Catalogue, tier: str, version: str, covered: Collection[str]) -> frozenset[str]:
    """The ids that must be decided for a certificate of ``tier`` at ``version``.

    ``covered`` are the obligations that a scenario or an oracle rule of this edition judges: what nobody
    judges cannot be required, and a report gives the number of those.
    """
    return frozenset(o.id for o in catalogue if o.id in covered and o.applies(version) and demanded(tier, o))


def highest_tier(provocations: Collection[str]) -> str:
    """The deepest tier below ``full`` that a host with these provocations can reach."""
    offered = set(provocations)
    if {"turn", "tool", "mcp", "mcp-auth"} <= offered:
        return "tool-auth"
    return "turns" if {"turn", "tool"} <= offered else "core"
