"""A web application on loopback, on a thread of its own: what stand-ins for model services and MCP servers run on."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK: Final = "127.0.0.1"

# Agents break off requests as they please; that is no news, and standard error belongs to the suite.
_QUIET: Final = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"null": {"class": "logging.NullHandler"}},
    "loggers": {"uvicorn": {"handlers": ["null"], "propagate": False}},
}


class BackendMissing(Exception):
    """What the stand-ins are built with is not installed; the message says how to install it."""


class LoopbackServer:
    """Serves one ASGI application. Port 0 picks a free one.

    `start` returns the base URL, without a slash at its end; `stop` ends every
    connection, open streams included, and may be called twice. Raises BackendMissing where uvicorn is not
    installed, OSError when the port cannot be had.
    """

    def __init__(self, app: ASGIApp, port: int = 0) -> None:
        self._app = app
        self._port = port
        self._server: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        uvicorn = _uvicorn()
        # It listens from here on, so nobody has to wait for the loop of the thread: who comes early is served first.
        listening = socket.create_server((LOOPBACK, self._port))
        # asyncio does this for sockets of its own alone; without it each answer waits for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(self._app, log_config=_QUIET, access_log=False, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, name="ahp-backend", daemon=True
        )
        self._thread.start()
        return f"http://{LOOPBACK}:{listening.getsockname()[1]}"

    def stop(self) -> None:
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is not None and thread is not None:
            # Streams that are held open on purpose are nothing to wait for.
            server.should_exit = server.force_exit = True
            thread.join()


def _uvicorn() -> Any:
    try:
        import uvicorn
    except ImportError:
        raise BackendMissing(
            "the scripted backend needs the extra packages of the suite: pip install 'ahp-conformance[backend]'"
        ) from None
    return uvicorn
