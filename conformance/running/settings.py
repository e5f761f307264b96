"""What a run is told to do; it crosses process borders as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from conformance.protocol.versions import VERSIONS
from conformance.wire.endpoints import TokenPlace

# Newest first, so that both readings of the negotiation rule (preference, or the highest) agree.
OFFERS = tuple(reversed(VERSIONS))


@dataclass(frozen=True, slots=True)
class Settings:
    """``patience`` in seconds; ``only`` are ids, tags or texts; ``level`` is the weakest level to run."""

    target: str = "reference"
    token_env: str | None = None
    token_in: TokenPlace = "query"
    offers: tuple[str, ...] = OFFERS
    patience: float = 10.0
    out: str | None = None
    only: tuple[str, ...] = ()
    level: str = "may"
    faults: tuple[str, ...] = ()

    @property
    def protocol(self) -> str | None:
        """The version that is offered, None when there are several to choose from."""
        return self.offers[0] if len(self.offers) == 1 else None

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Settings:
        value: dict[str, Any] = json.loads(text)
        for name in ("offers", "only", "faults"):
            value[name] = tuple(value[name])
        return cls(**value)
