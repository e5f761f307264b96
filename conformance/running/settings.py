"""What a run is told to do; it crosses process borders as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from conformance.protocol.versions import VERSIONS
from conformance.wire.endpoints import TokenPlace

if TYPE_CHECKING:
    from conformance.drivers import Driver

# Newest first, so that both readings of the negotiation rule (preference, or the highest) agree.
OFFERS = tuple(reversed(VERSIONS))


@dataclass(frozen=True, slots=True)
class Settings:
    """``patience`` in seconds; ``only`` are ids, tags or texts; ``level`` is the weakest level to run.

    With a ``command`` that starts the host the target is only a name; ``endpoint``, ``ready_line`` and ``framing`` are
    about it.
    """

    target: str = "reference"
    token_env: str | None = None
    token_in: TokenPlace = "query"
    offers: tuple[str, ...] = OFFERS
    patience: float = 10.0
    out: str | None = None
    only: tuple[str, ...] = ()
    level: str = "may"
    faults: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    endpoint: str | None = None
    ready_line: str | None = None
    framing: Literal["websocket", "lines", "headers"] = "websocket"

    @property
    def protocol(self) -> str | None:
        """The version that is offered, None when there are several to choose from."""
        return self.offers[0] if len(self.offers) == 1 else None

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Settings:
        value: dict[str, Any] = json.loads(text)
        for name in ("offers", "only", "faults", "command"):
            value[name] = tuple(value[name])
        return cls(**value)

    def keep_evidence(self, driver: Driver, worker: str | None = None) -> None:
        """Have what the host prints kept in the folder of the run, if it is one that the driver starts."""
        if self.out is not None and hasattr(driver, "evidence"):
            driver.evidence = Path(self.out) / ("host.log" if worker is None else f"host-{worker}.log")

    def driver(self, *, timeout: float | None) -> Driver:
        """A driver for the host of the run, not started yet; ``timeout`` as :func:`conformance.drivers.resolve` has it.

        Raises :class:`conformance.drivers.TargetError`.
        """
        from conformance.drivers import resolve

        return resolve(
            self.target,
            token_env=self.token_env,
            token_in=self.token_in,
            faults=self.faults,
            protocol=self.protocol,
            timeout=timeout,
            command=self.command,
            endpoint=self.endpoint,
            ready_line=self.ready_line,
            framing=self.framing,
        )
