"""The participant: request, dispatch, subscribe, await, fence."""

from .library import Library
from .outcomes import Broken, HostClosed, NotClaimed, Refused, Rejected, Silent, Unreached
from .participant import Mailbox, Participant

__all__ = [
    "Broken",
    "HostClosed",
    "Library",
    "Mailbox",
    "NotClaimed",
    "Participant",
    "Refused",
    "Rejected",
    "Silent",
    "Unreached",
]
