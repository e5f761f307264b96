"""The driver for the embedded reference host: a real loopback WebSocket on a free port."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from conformance.host import VERSIONS_SUPPORTED, HostServer, ReferenceHost
from conformance.protocol import VERSIONS
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .base import BaseDriver, DriverError, TargetError

if TYPE_CHECKING:
    from conformance.host.faults import Fault
    from conformance.host.upstream import UpstreamCall


def reference_host(
    *,
    versions: Sequence[str] = (),
    faults: Sequence[str] = (),
    grace: float = 5.0,
    clock: Callable[[], float] = time.monotonic,
) -> ReferenceHost:
    """A reference host by names. Raises :class:`TargetError` for a version or a fault that it does not have."""
    chosen = [_fault(name) for name in faults]
    for version in versions:
        if version not in VERSIONS:
            raise TargetError(f"the reference host does not speak {version}; it can speak {', '.join(VERSIONS)}")
    return ReferenceHost(versions=tuple(versions) or VERSIONS_SUPPORTED, faults=chosen, grace=grace, clock=clock)


def _fault(name: str) -> Fault:
    # Some hundred departures that a right host never needs; loading them takes longer than starting it.
    from conformance.host.faults import FAULTS

    if name not in FAULTS:
        raise TargetError(f"the reference host has no fault {name!r}; ahp-conformance host --list-faults shows them")
    return FAULTS[name]


class ReferenceDriver(BaseDriver):
    """Starts the reference host in this process. ``faults`` names the ways in which it misbehaves.

    It speaks what it speaks by default, and ``protocol`` beside that, if it can.
    """

    name = "reference"
    grace = 5.0

    def __init__(self, *, protocol: str | None = None, faults: Sequence[str] = (), timeout: float = 10.0) -> None:
        self._versions = tuple(v for v in VERSIONS if v in VERSIONS_SUPPORTED or v == protocol)
        self._faults = tuple(faults)
        self._timeout = timeout
        self._server: HostServer | None = None
        self._url = ""
        self._skipped = 0.0

    def clock(self) -> float:
        """The seconds that the host counts in."""
        return time.monotonic() + self._skipped

    def skip(self, seconds: float) -> None:
        """Let that much time pass for the host at once."""
        self._skipped += seconds
        if self._server is not None:
            self._server.wake()

    def upstream(self, resource: str) -> Sequence[UpstreamCall]:
        """The calls that the simulated server of that resource has got."""
        calls = tuple(self._server.host.upstream) if self._server is not None else ()
        return [call for call in calls if call.resource == resource]

    @property
    def endpoint(self) -> str:
        return self._url or "reference"

    def start(self) -> None:
        self._server = HostServer(
            reference_host(versions=self._versions, faults=self._faults, grace=self.grace, clock=self.clock)
        )
        try:
            self._url = self._server.start()
        except OSError as error:
            raise DriverError(f"the reference host could not listen on loopback: {error}") from error

    def connect(self) -> Transport:
        return connect_websocket(self._url, timeout=self._timeout)

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None
