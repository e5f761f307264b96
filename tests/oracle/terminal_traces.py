"""What traces about terminals have in common."""

from __future__ import annotations

from .channels import (
    TERMINAL,
    terminal,
)
from .traces import (
    JSON,
    Trace,
)

RENAMED = {"type": "terminal/titleChanged", "title": "build"}
CLEARED = {"type": "terminal/cleared"}
CHAINED = "\x1b]633;A\x07$ "


def follow(t: Trace, conns: str = "A", *parts: JSON, **members: JSON) -> None:
    """Clients that follow one terminal of client A."""
    for conn in conns:
        t.handshake(conn)
        t.subscribe(TERMINAL, terminal(t, *parts, **members), conn)


def refuse(t: Trace, action: JSON, conn: str = "A", to: str | None = None) -> None:
    t.echo(TERMINAL, action, conn, to, rejected="no")
