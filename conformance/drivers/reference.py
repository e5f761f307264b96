"""The driver for the embedded reference host: a real loopback WebSocket on a free port."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.host import HostServer, ReferenceHost
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .base import BaseDriver, DriverError


class ReferenceDriver(BaseDriver):
    """Starts the reference host in this process. ``faults`` names the ways in which it misbehaves."""

    name = "reference"

    def __init__(
        self, *, versions: Sequence[str] | None = None, faults: Sequence[str] = (), timeout: float = 10.0
    ) -> None:
        self._versions = tuple(versions) if versions else None
        self._faults = tuple(faults)
        self._timeout = timeout
        self._server: HostServer | None = None
        self._url = ""

    @property
    def endpoint(self) -> str:
        return self._url or "reference"

    def start(self) -> None:
        more = {"versions": self._versions} if self._versions else {}
        self._server = HostServer(ReferenceHost(faults=self._faults, **more))
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
