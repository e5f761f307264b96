"""What to do about a scenario that could not judge, by reason code."""

from __future__ import annotations

from collections.abc import Mapping

ADVICE: Mapping[str, str] = {
    "backend-missing": "The host's agent cannot be told what to do. Let it play playbooks, or give the "
    "driver a backend (docs/backend.md).",
    "precondition-failed": "A Given was never seen on the wire. The recording shows how far the host came; "
    "often another failure above is the cause.",
    "host-closed": "The host closed the connection in the middle. Its own log should say why.",
    "timeout": "Something that had to come did not come in time. If the host is only slow, raise --patience.",
    "auth-required": "The host wants a token for its agent before it does this. Authenticate the host, or give the "
    "driver agent_tokens (docs/drivers.md).",
    "unreachable": "A connection could not be opened in the middle of the run. Look whether the host still runs.",
    "malformed": "What the host sent has not the shape of its type; the findings on shapes say where.",
    "nothing-seen": "The host answered nothing in this scenario.",
    "unordered": "Nothing on the wire orders the two events, so the absence of one could not be shown.",
}
_UNKNOWN = "The recording shows where it stopped."


def advice(reason: str) -> str:
    """One or two sentences; something useful also for a code that has no entry."""
    return ADVICE.get(reason, _UNKNOWN)
