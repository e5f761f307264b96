"""What a host may say by itself although clients may say it too: then it names no client."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope
from conformance.protocol import ACTIONS

# The obligation that gives leave, by action.
_LEAVE = {
    "terminal/resized": "AHP-TERM-035",
    "terminal/titleChanged": "AHP-TERM-035",
    "changeset/filesReviewChanged": "AHP-CHG-039",
    **{name: "AHP-ANN-019" for name, action in ACTIONS.items() if action.channel == "annotations"},
}


class Unasked(Rule):
    """An envelope that no dispatch asked for has no origin."""

    name = "unasked"
    obligations = tuple(dict.fromkeys(_LEAVE.values()))
    hears = frozenset(_LEAVE)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._dispatched: Bounded[tuple[str, int], bool] = Bounded()

    def dispatch(self, dispatch: Dispatch) -> None:
        if dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            self._dispatched[(dispatch.client_id, dispatch.client_seq)] = True

    def envelope(self, envelope: Envelope) -> None:
        who, obligation = envelope.by, _LEAVE[envelope.type]
        if envelope.origin is None:
            self.watch(obligation)
        elif who is not None and who not in self._dispatched and self._is_known(who[0]):
            self.find(
                obligation,
                f"{envelope.type} names a client that did not ask for it",
                expected="no origin",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )

    def _is_known(self, client_id: str) -> bool:
        """Whether the recording has all that a client ever dispatched, and no more than is remembered."""
        known = any(c.client_id == client_id and c.began for c in self.tracker.connections.values())
        return known and len(self._dispatched) < self._dispatched.limit
