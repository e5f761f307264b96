"""The driver for a host that a command starts, and that is then reached over a WebSocket."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.wire.endpoints import UNIX, TokenPlace, without_secrets
from conformance.wire.errors import (
    BadUrl,
    ConnectError,
    ConnectTimeout,
    NotWebSocket,
    Refused,
    TlsFailed,
    Unreachable,
    UpgradeRefused,
)
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .base import BaseDriver, DriverError, TargetError
from .leaving import before_leaving, undone
from .placeholders import Placeholders
from .process import HostProcess, printable

DEFAULT_ENDPOINT: Final = "ws://127.0.0.1:{port}"
_GLANCE: Final = 0.05  # seconds between two looks at a host that is starting
_DYING: Final = 0.5  # seconds that a process may take to end after its socket is gone
_LONGEST_LINE: Final = 2**20  # bytes; what has no end of line until then is passed over
_ADDRESS: Final = ("ws://", "wss://", UNIX)


@dataclass(frozen=True, slots=True)
class Ready:
    """How a host shows that it takes connections, beside taking them. With neither, that is all that counts.

    line: a regular expression that a line of its output matches; a group ``url`` in it is the endpoint, a group
    ``port`` is what ``{port}`` in the endpoint stands for. file: the path of a file that appears or changes (may hold
    placeholders); if an address or a port number stands in it, it is used the same way.
    """

    line: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if self.line is not None and self.file is not None:
            raise TargetError("a host is ready by a line or by a file, not by both")
        try:
            re.compile(self.line or "")
        except re.error as error:
            raise TargetError(f"the ready line {self.line!r} is no regular expression: {error}") from error


class CommandDriver(BaseDriver):
    """Starts ``argv`` (no shell) and connects to ``endpoint``.

    ``argv``, ``env``, ``cwd`` and ``endpoint`` may hold placeholders (docs/drivers.md); ``names``, which may also be
    set before :meth:`start`, are further ones with their values. ``start_timeout`` and ``timeout`` (of one connection)
    are seconds. ``token`` is a connection secret that the host knows already; with ``{token}`` the suite makes one up.
    ``evidence`` is the file that gets what the host prints; None: a temporary one that goes at :meth:`stop`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        name: str = "command",
        endpoint: str = DEFAULT_ENDPOINT,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        ready: Ready | None = None,
        token: str | None = None,
        token_in: TokenPlace = "query",
        start_timeout: float = 60.0,
        timeout: float = 10.0,
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.names: Mapping[str, str] = names or {}
        self.evidence: Path | None = None
        self._argv = tuple(argv)
        self._template = endpoint
        self._env = dict(env or {})
        self._cwd = cwd
        self._ready = ready or Ready()
        self._token = token
        self._token_in: TokenPlace = token_in
        self._start_timeout = start_timeout
        self._timeout = timeout
        self._room: Path | None = None
        self._values: Placeholders | None = None
        self._process: HostProcess | None = None
        self._url = ""

    @property
    def endpoint(self) -> str:
        return without_secrets(self._url) if self._url else self._template

    @property
    def process(self) -> HostProcess | None:
        """The host, None before it was started."""
        return self._process

    # -- the life of the host -------------------------------------------------------------------------

    def start(self) -> None:
        self._room = Path(tempfile.mkdtemp(prefix="ahp-host-"))
        before_leaving(self.stop)
        self._values = Placeholders(self._room, self.names)
        self._launch(self._room, self._values)

    def restart(self) -> None:
        """End the host and start it again, at the same port and in the same folder."""
        if self._room is None or self._values is None or self._process is None:
            raise DriverError("the host was never started, so it cannot be started again")
        self._process.end()
        self._launch(self._room, self._values)

    def stop(self) -> None:
        try:
            if self._process is not None:
                self._process.end()
        finally:
            if self._room is not None:
                shutil.rmtree(self._room, ignore_errors=True)
                self._room = None
            undone(self.stop)

    def _launch(self, room: Path, values: Placeholders) -> None:
        argv = [values.fill(word) for word in self._argv]
        env = {name: values.fill(value) for name, value in self._env.items()}
        cwd = None if self._cwd is None else values.fill(str(self._cwd))
        values.socket.unlink(missing_ok=True)  # one that a host left behind cannot be bound again
        sign = None if self._ready.file is None else Sign(Path(cwd or ".") / values.fill(self._ready.file))
        self._refuse_stranger(values)
        self._process = HostProcess(argv, log=self.evidence or room / "host.log", env=env, cwd=cwd)
        self._await_ready(self._process, values, sign)

    def _refuse_stranger(self, values: Placeholders) -> None:
        """Nothing may answer at the endpoint before the host is there: the wrong host would be judged."""
        if re.compile(self._ready.line or "").groupindex.keys() & {"url", "port"}:
            return  # where that will be only the host knows
        url = values.fill(self._template)
        try:
            connect_websocket(url, timeout=self._timeout).close()
        except BadUrl as error:
            raise TargetError(str(error)) from error
        except (Unreachable, Refused, ConnectTimeout):
            return
        except ConnectError:
            pass  # something listens, whatever it speaks
        raise DriverError(
            f"something listens at {without_secrets(url)} already; end it,"
            " or let the suite choose a free port with {port} in the command and in the endpoint"
        )

    # -- waiting for it -------------------------------------------------------------------------------

    def _await_ready(self, process: HostProcess, values: Placeholders, sign: Sign | None) -> None:
        deadline = time.monotonic() + self._start_timeout
        lines = Lines(process, self._ready.line)
        waits_for = "it to listen"
        while True:
            url = self._where(values, lines, sign)
            remaining = deadline - time.monotonic()
            if url is None:
                waits_for = f"the line {self._ready.line!r}" if sign is None else f"the file {sign.path}"
            elif (trouble := self._trouble(url, max(0.1, min(self._timeout, remaining)))) is None:
                self._url = url
                if process.ended is None:
                    return
            else:
                waits_for = f"it to take connections ({trouble})"
            if process.wait(_GLANCE) is not None:
                raise DriverError(
                    f"{shlex.join(self._argv)} ended before it was ready ({process.how_it_ended()})"
                    f"{process.last_words()}"
                )
            if remaining <= 0:
                raise DriverError(
                    f"{shlex.join(self._argv)} was not ready after {self._start_timeout:g} s of waiting for"
                    f" {waits_for}{process.last_words()}"
                )

    def _where(self, values: Placeholders, lines: Lines, sign: Sign | None) -> str | None:
        """The endpoint as far as the host has told; None while it has not."""
        if self._ready.line is not None:
            match = lines.match()
            if match is None:
                return None
            told = match.groupdict()
            return self._endpoint(values, told.get("url"), told.get("port"))
        if sign is not None:
            content = sign.content()
            if content is None:
                return None
            port = content if content.isdecimal() else None
            return self._endpoint(values, content if content.startswith(_ADDRESS) else None, port)
        return self._endpoint(values, None, None)

    def _endpoint(self, values: Placeholders, url: str | None, port: str | None) -> str:
        if url is None:
            return values.fill(self._template, **({} if port is None else {"port": port}))
        if not url.startswith(_ADDRESS):
            raise TargetError(
                f"the host says it listens at {printable(url)!r}, which is no ws://, wss:// or unix: address"
            )
        return url

    def _trouble(self, url: str, timeout: float) -> str | None:
        """Why no connection can be had yet, None when it can."""
        try:
            self._connected(url, timeout).close()
        except BadUrl as error:
            raise TargetError(str(error)) from error
        except UpgradeRefused as error:
            if error.status in (401, 403):
                raise DriverError(f"{error}{self._last_words()}") from error
            return str(error)
        except ConnectError as error:
            return str(error)
        return None

    # -- connections ----------------------------------------------------------------------------------

    def connect(self) -> Transport:
        if self._process is None:
            raise DriverError("the host was not started")
        try:
            if self._process.ended is None:
                return self._connected(self._url, self._timeout)
        except (Unreachable, Refused, NotWebSocket, TlsFailed):
            # A process whose socket is gone is about to end; why it did says more than that nobody listens.
            if self._process.wait(_DYING) is None:
                raise
        raise DriverError(
            f"the host has ended in the middle of the run ({self._process.how_it_ended()}){self._last_words()}"
        )

    def _connected(self, url: str, timeout: float) -> Transport:
        token = self._token or (self._values.token if self._values is not None else None)
        if token is not None and "{token}" in self._template:
            token = None  # it is in the endpoint itself
        return connect_websocket(url, timeout=timeout, token=token, token_in=self._token_in)

    def _last_words(self) -> str:
        return "" if self._process is None else self._process.last_words()


class Lines:
    """Looks through a log as it grows for the first whole line that matches."""

    def __init__(self, process: HostProcess, pattern: str | None) -> None:
        self._process = process
        self._pattern = None if pattern is None else re.compile(pattern)
        self._seen = 0
        self._found: re.Match[str] | None = None

    def match(self) -> re.Match[str] | None:
        if self._found is None and self._pattern is not None:
            fresh = self._process.output(self._seen, _LONGEST_LINE)
            whole = fresh.rfind(b"\n") + 1 or len(fresh) // _LONGEST_LINE * _LONGEST_LINE
            self._seen += whole
            for line in fresh[:whole].decode(errors="replace").splitlines():
                self._found = self._pattern.search(printable(line))
                if self._found is not None:
                    break
        return self._found


class Sign:
    """A file whose appearance says that the host is ready. One that was there before counts once it has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = self._stamp()

    def content(self) -> str | None:
        """What stands in it, None while it has not appeared."""
        if self._stamp() in (None, self._before):
            return None
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size
