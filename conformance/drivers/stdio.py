"""The driver for a host that speaks over its standard input and output: one process for each connection."""

from __future__ import annotations

import selectors
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.protocol import ROOT_URI, VERSIONS
from conformance.wire.frames import Closed, Received, encode
from conformance.wire.jsonrpc import request
from conformance.wire.stdio import Framing, StdioTransport
from conformance.wire.transport import Transport

from .base import BaseDriver, DriverError
from .leaving import before_leaving, undone
from .placeholders import Placeholders
from .process import HostProcess

_LEAVING: Final = 2.0  # seconds that a host may take to leave after its client has gone
_DYING: Final = 0.5  # seconds that a process may take to end after its output has


class StdioDriver(BaseDriver):
    """Starts ``argv`` (no shell) once for each connection.

    Such a host has one client for as long as it lives, so neither a second client nor a return after a lost
    connection can be had; while one connection is open, :meth:`connect` raises DriverError. The other arguments are
    those of :class:`~conformance.drivers.command.CommandDriver`; ``evidence`` gets the standard error.
    """

    lacks = frozenset({"second-client", "disconnect"})

    def __init__(
        self,
        argv: Sequence[str],
        *,
        framing: Framing = "lines",
        name: str = "stdio",
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        start_timeout: float = 60.0,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.names: Mapping[str, str] = names or {}
        self.evidence: Path | None = None
        self._argv = tuple(argv)
        self._framing: Framing = framing
        self._env = dict(env or {})
        self._cwd = cwd
        self._start_timeout = start_timeout
        self._room: Path | None = None
        self._values: Placeholders | None = None
        self._process: HostProcess | None = None
        self._transport: StdioTransport | None = None

    @property
    def endpoint(self) -> str:
        return f"stdio: {shlex.join(self._argv)}"

    @property
    def process(self) -> HostProcess | None:
        """The host of the last connection, None before the first."""
        return self._process

    def start(self) -> None:
        """Start the host once and greet it: a program that ends instead of answering is no host."""
        self._room = Path(tempfile.mkdtemp(prefix="ahp-host-"))
        before_leaving(self.stop)
        self._values = Placeholders(self._room, self.names)
        transport = self._open()
        greeting = request(
            1,
            "initialize",
            {"channel": ROOT_URI, "clientId": "conformance-start", "protocolVersions": list(reversed(VERSIONS))},
        )
        transport.send(encode(greeting))
        first = self._first_word(transport)
        transport.close()
        process = self._process
        if process is not None and isinstance(first, Closed) and not first.ours:
            process.wait(_DYING)
            raise DriverError(
                f"{shlex.join(self._argv)} said nothing before its output ended ({process.how_it_ended()})"
                f"{process.last_words()}"
            )

    def connect(self) -> Transport:
        if self._transport is not None and self._transport.fileno() >= 0:
            raise DriverError("a host that speaks over its standard input and output has one client at a time")
        return self._open()

    def stop(self) -> None:
        try:
            self._end()
        finally:
            if self._room is not None:
                shutil.rmtree(self._room, ignore_errors=True)
                self._room = None
            undone(self.stop)

    def _open(self) -> StdioTransport:
        if self._room is None or self._values is None:
            raise DriverError("the host was not started")
        self._end()
        values = self._values
        process = HostProcess(
            [values.fill(word) for word in self._argv],
            log=self.evidence or self._room / "host.log",
            env={name: values.fill(value) for name, value in self._env.items()},
            cwd=None if self._cwd is None else values.fill(str(self._cwd)),
            wire=True,
        )
        self._process = process

        def why() -> str:
            process.wait(_DYING)
            return process.how_it_ended()

        said, told = process.pipes()
        self._transport = StdioTransport(said, told, framing=self._framing, why=why)
        return self._transport

    def _end(self) -> None:
        if self._transport is not None:
            self._transport.close()
        if self._process is not None:
            # Most hosts leave when their input ends; that is kinder than a signal.
            self._process.wait(_LEAVING)
            self._process.end(_LEAVING)

    def _first_word(self, transport: StdioTransport) -> Received | None:
        """What the host says first, None when it is mute: then the scenarios judge it."""
        deadline = time.monotonic() + self._start_timeout
        with selectors.DefaultSelector() as selector:
            selector.register(transport.fileno(), selectors.EVENT_READ)
            while (remaining := deadline - time.monotonic()) > 0:
                if transport.fileno() >= 0:
                    selector.select(remaining)
                received = transport.receive()
                if received:
                    return received[0]
        return None
