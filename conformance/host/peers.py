"""One connection as the host sees it, and what it remembers of a client between connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .channels import Channel, Session


@dataclass(slots=True, eq=False)
class Peer:
    """A connection. version: the supported version whose rules apply; None before the handshake."""

    send: Callable[[str], None]
    close: Callable[[int], None]
    client_id: str | None = None
    version: str | None = None
    channels: dict[str, Channel] = field(default_factory=dict)
    open: bool = True

    @property
    def ready(self) -> bool:
        """Whether the handshake, or a reconnect, is done."""
        return self.open and self.version is not None


@dataclass(slots=True, eq=False)
class Client:
    """What outlives a connection: the agreed version, the sessions the client is active in, and the agents'
    resources that it has pushed a good token for (granted)."""

    version: str
    peers: dict[Peer, None] = field(default_factory=dict)
    active_in: dict[Session, None] = field(default_factory=dict)
    granted: set[str] = field(default_factory=set)
