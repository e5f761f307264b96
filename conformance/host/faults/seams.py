"""How a fault gets into the host: a handful of hooks and the decisions of the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

Outgoing = Callable[["ReferenceHost", "Peer", JSON], list[JSON]]
Acting = Callable[["ReferenceHost", "Channel", JSON], list[JSON]]
Incoming = Callable[["ReferenceHost", "Peer", JSON], None]
Accepted = Callable[["ReferenceHost", "Peer", "Channel", JSON], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to be wrong.

    name: kebab case, unique. obligation: the catalogue id that it breaks first. doc: what the host does.
    outgoing: what goes out on one connection in place of a message. acting: what the host dispatches in
    place of an action of its own, before it is folded. incoming: sees each message of a client first.
    accepted: called after an action of a client took effect. policy: methods of `Policy` by name,
    without self.
    """

    name: str
    obligation: str
    doc: str
    outgoing: Outgoing | None = None
    acting: Acting | None = None
    incoming: Incoming | None = None
    accepted: Accepted | None = None
    policy: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
