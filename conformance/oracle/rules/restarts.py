"""Whether a host may have been started anew, so that nothing of before counts any longer."""

from __future__ import annotations

from conformance.oracle.reading import member
from conformance.oracle.tracker import Reply, Tracker


def may_be_new(tracker: Tracker, reply: Reply) -> bool:
    """Whether ``reply`` grants a handshake while nobody else is connected: the host behind it may be a new one.

    Only a host that remembers what a client has missed, and replays it, is the one of before.
    """
    if reply.request is None or reply.request.method not in ("initialize", "reconnect") or reply.failed:
        return False
    if reply.request.method == "reconnect" and member(reply.result, "type") != "snapshot":
        return False
    return not any(c.fed and c.version for c in tracker.connections.values() if c.name != reply.conn)
