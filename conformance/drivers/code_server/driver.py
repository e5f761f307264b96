"""The driver for VS Code's agent host: installed out of npm, started on loopback, judged, and gone without a trace."""

from __future__ import annotations

import base64
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from conformance.drivers.base import BaseDriver, DriverError
from conformance.drivers.process import HostProcess, printable
from conformance.drivers.scripted import Scripted
from conformance.protocol.versions import parse_version
from conformance.wire.errors import ConnectError
from conformance.wire.tokens import new_token, without_tokens
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .agent import SESSION_CONFIG, knowledge
from .install import DEFAULT_VERSION, Installation, Progress, installation
from .launch import launch, port_of

GITHUB: Final = "https://api.github.com"
_START_WITHIN: Final = 60.0  # seconds; it takes less than one, but a machine may be busy
_GLANCE: Final = 0.05
_LAST_LINES: Final = 8
# Older ones take no other session URIs than those of their agent, and no OAuth clients for MCP servers.
_RECENT: Final = (4, 139, 0)


def tell(line: str) -> None:
    """Show how far an installation is, where it disturbs no report."""
    print(line, file=sys.stderr, flush=True)


class CodeServerDriver(BaseDriver):
    """Installs code-server ``version`` unless it is there, and starts its agent host with a home of its own.

    ``scripted`` plays Copilot's model and GitHub APIs and the MCP servers. ``evidence`` is a file that keeps what the
    host writes to its standard output, else nobody keeps it.
    """

    name = "code-server"
    provocations: frozenset[str] | None = frozenset({"turn", "tool", "client-tool", "mcp", "mcp-auth", "restart"})
    session_config: Mapping[str, str] = SESSION_CONFIG
    provider = "copilotcli"
    grace = 30.0
    # On loopback it does in one second whatever it does at all; the rest is for busy machines.
    patience = 5.0

    def __init__(
        self,
        version: str | None = None,
        *,
        timeout: float = 10.0,
        progress: Progress = tell,
    ) -> None:
        self.version = version or DEFAULT_VERSION
        self.evidence: Path | None = None
        self.agent_tokens: Mapping[str, str] = {GITHUB: new_token("github")}
        self.refused_agent_tokens: Mapping[str, str] = {GITHUB: new_token("github-refused")}
        self.scripted = Scripted(
            knowledge(self.agent_tokens, oauth=self._is_recent), refuse=self.refused_agent_tokens.values()
        )
        self._model_url = ""
        self._timeout = timeout
        self._progress = progress
        self._installed: Installation | None = None
        self._folder: Path | None = None
        self._process: HostProcess | None = None
        self._port = 0

    @property
    def endpoint(self) -> str:
        return f"ws://127.0.0.1:{self._port}" if self._port else f"code-server@{self.version}"

    # -- the life of the host -------------------------------------------------------------------------

    def start(self) -> None:
        self._installed = installation(self.version, progress=self._progress)
        self._folder = Path(tempfile.mkdtemp(prefix="conformance-code-server-"))
        self._model_url = self.scripted.start()
        self._begin()

    def connect(self) -> Transport:
        if self._process is None:
            raise DriverError("code-server was not started")
        if self._process.ended is not None:
            raise DriverError(f"code-server has ended with {self._process.how_it_ended()}{self._last_words()}")
        try:
            return connect_websocket(self.endpoint, timeout=self._timeout)
        except ConnectError as error:
            if self._process.wait(_GLANCE) is None:
                raise
            raise DriverError(
                f"code-server has ended with {self._process.how_it_ended()}{self._last_words()}"
            ) from error

    def restart(self) -> None:
        """End the host and start it again, at the same port and with all that it has stored."""
        self._end()
        self._begin()

    def stop(self) -> None:
        self._end()
        self.scripted.stop()
        folder, self._folder, self._port = self._folder, None, 0
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _begin(self) -> None:
        if self._installed is None or self._folder is None:
            raise DriverError("code-server was not started")
        how = launch(self._installed, self._folder, port=self._port, model_url=self._model_url)
        log = self.evidence or self._folder / "host.log"
        self._process = HostProcess(how.argv, env=how.environment, cwd=how.folder, log=log)
        self._port = self._await_port(self._process)

    def _await_port(self, process: HostProcess) -> int:
        deadline = time.monotonic() + _START_WITHIN
        while True:
            over = process.wait(_GLANCE) is not None or time.monotonic() > deadline
            port = port_of(process.output().decode("utf-8", "replace"))
            if port is not None:
                return port
            if process.ended is not None:
                raise DriverError(
                    f"code-server {self.version} ended at its start with {process.how_it_ended()}{self._last_words()}"
                )
            if over:
                raise DriverError(
                    f"code-server {self.version} does not listen after {_START_WITHIN:g} s{self._last_words()}"
                )

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            # What it has stored goes with its folder, so nothing has to be saved.
            process.end(grace=1.0)

    def _last_words(self) -> str:
        """What the host wrote last, to its output and to its own log, which goes with its folder."""
        words = "" if self._process is None else self._process.last_words(_LAST_LINES)
        with contextlib.suppress(OSError, AttributeError):
            text = (self._folder / "logs" / "agenthost.log").read_text("utf-8", "replace")  # type: ignore[operator]
            lines = [printable(line) for line in without_tokens(text).splitlines() if line.strip()]
            words += "\n  and in its own log:\n" + "\n".join(f"    {line}" for line in lines[-_LAST_LINES:])
        return words

    # -- the URIs that it takes -----------------------------------------------------------------------

    def session_uri(self) -> str:
        """A URI for a new session."""
        return f"{'ahp-session' if self._is_recent else self.provider}:/{uuid4()}"

    @property
    def _is_recent(self) -> bool:
        return parse_version(self.version) >= _RECENT

    def chat_uri(self, session: str) -> str:
        """A URI for a new chat of ``session``; it has to name that session."""
        return f"ahp-chat://{uuid4()}/{base64.urlsafe_b64encode(session.encode()).decode().rstrip('=')}"
