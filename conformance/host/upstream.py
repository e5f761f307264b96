"""What the simulated MCP servers have been asked: the witness for what a host sends upstream, and with which token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .core import ReferenceHost


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """One tools/call as a server got it. digest: SHA-256 of the bearer token, None without one."""

    resource: str
    tool: str
    digest: str | None
    passed: bool


def call(host: ReferenceHost, resource: str | None, tool: str, *, passed: bool) -> None:
    """Send the request of a tool call."""
    if resource is not None:
        presented = host.policy.presented(host, resource)
        host.upstream.append(UpstreamCall(resource, tool, presented.digest if presented else None, passed))
