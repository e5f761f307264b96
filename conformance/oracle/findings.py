"""What the oracle reports: one breach of one rule, with its evidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach: the rule that saw it, the obligations it breaks, and the frame that shows it.

    ``frame`` is the number ``n`` of the frame in the transcript, or None when the breach is an absence.
    """

    rule: str
    obligations: tuple[str, ...]
    message: str
    expected: str
    seen: str
    frame: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "obligations": list(self.obligations)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Finding:
        return cls(**{**value, "obligations": tuple(value["obligations"])})
