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
    "unordered": "Nothing on the wire orders the two events, so the absence of one could not be shown.",
}
_UNKNOWN = "The recording shows where it stopped."


def advice(reason: str) -> str:
    """One or two sentences; something useful also for a code that has no entry."""
    return ADVICE.get(reason, _UNKNOWN)
