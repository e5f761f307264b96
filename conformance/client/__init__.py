"""The participant: request, dispatch, subscribe, await, fence."""

from .outcomes import Broken, HostClosed, NotClaimed, Refused, Rejected, Silent, Unreached
from .participant import Mailbox, Participant

__all__ = ["Broken", "HostClosed", "Mailbox", "NotClaimed", "Participant", "Refused", "Rejected", "Silent", "Unreached"]
