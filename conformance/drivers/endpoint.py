"""The driver for a host that already runs: a WebSocket address, or a unix socket."""

from __future__ import annotations

from conformance.wire.endpoints import TokenPlace
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .base import BaseDriver


class EndpointDriver(BaseDriver):
    """``ws://``, ``wss://`` or ``unix:PATH``. ``token`` goes into the query or the Authorization header."""

    name = "endpoint"

    def __init__(
        self, url: str, *, token: str | None = None, token_in: TokenPlace = "query", timeout: float = 10.0
    ) -> None:
        self._url = url
        self._token = token
        self._token_in = token_in
        self._timeout = timeout

    @property
    def endpoint(self) -> str:
        return self._url.split("?", 1)[0]

    def start(self) -> None:
        self.connect().close()

    def connect(self) -> Transport:
        return connect_websocket(self._url, timeout=self._timeout, token=self._token, token_in=self._token_in)
