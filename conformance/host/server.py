"""The reference host behind a real WebSocket, on a thread with a loop of its own.

The core stays synchronous and is only ever entered from that loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

if TYPE_CHECKING:
    from .core import ReferenceHost

# Broken handshakes of strangers are no news unless somebody listens for them.
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())

_LARGEST_MESSAGE: Final = 32 * 1024 * 1024
_UNREAD_LIMIT: Final = 128 * 1024 * 1024
# Loopback peers answer at once; one that does not read is not worth waiting for.
_CLOSE_TIMEOUT: Final = 0.5


class HostServer:
    """Serves one ReferenceHost over WebSocket.

    port 0 picks a free one. `start` returns the URL once connections are taken; `stop` ends everything
    that was started, threads and sockets included. Both may be called from any thread, `stop` twice.
    """

    def __init__(self, host: ReferenceHost, port: int = 0, host_name: str = "127.0.0.1") -> None:
        self.host = host
        self._port = port
        self._name = host_name
        self._url: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._dirty: dict[_Outbox, None] = {}
        self._connections: set[ServerConnection] = set()

    @property
    def url(self) -> str:
        """Where it listens. Raises RuntimeError before `start`."""
        if self._url is None:
            raise RuntimeError("the server is not running")
        return self._url

    def start(self) -> str:
        """Listen on a background thread. Raises OSError when the port cannot be had."""
        if self._thread is not None:
            raise RuntimeError("the server was started before")
        listening = threading.Event()
        self._thread = threading.Thread(target=self._main, args=(listening,), name="ahp-reference-host", daemon=True)
        self._thread.start()
        listening.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        return self.url

    def stop(self) -> None:
        """Close every connection and wait until the thread has ended."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        loop, ending = self._loop, self._ending
        if loop is not None and ending is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended by itself
                loop.call_soon_threadsafe(ending.set)
        thread.join()
        self._url = None

    def wake(self) -> None:
        """Have the host look at its clock: somebody has moved it."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._tick)

    def run_forever(self, announce: Callable[[str], None] = lambda url: print(f"ready {url}", flush=True)) -> None:
        """Serve on the present thread until SIGINT or SIGTERM; prints `ready URL` unless told otherwise.

        Raises OSError when the port cannot be had.
        """
        asyncio.run(self._serve(announce, signals=True))

    def _main(self, listening: threading.Event) -> None:
        def announce(url: str) -> None:
            listening.set()

        try:
            asyncio.run(self._serve(announce, signals=False))
        except BaseException as error:
            self._failure = error
        finally:
            listening.set()

    async def _serve(self, announce: Callable[[str], None], *, signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        if signals:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._loop.add_signal_handler(number, self._ending.set)
        server = await serve(
            self._connected,
            self._name,
            self._port,
            compression=None,
            max_size=_LARGEST_MESSAGE,
            ping_interval=None,
            close_timeout=_CLOSE_TIMEOUT,
            logger=_log,
            create_connection=_tracking(self._connections),
        )
        try:
            port = next(iter(server.sockets)).getsockname()[1]
            self._url = f"ws://{self._name}:{port}"
            announce(self._url)
            await self._ending.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            server.close()
            for connection in tuple(self._connections):
                # Nobody is owed the rest of an opening handshake.
                if connection.protocol.state is State.CONNECTING:
                    connection.transport.abort()
            await server.wait_closed()

    async def _connected(self, socket: ServerConnection) -> None:
        """One connection from its first message to its end."""
        outbox = _Outbox(socket, self._dirty)
        peer = self.host.open(outbox.put, outbox.finish)
        try:
            async for message in socket:
                self.host.receive(peer, message)
                self._flush()
        except ConnectionClosed:
            pass
        finally:
            self.host.dropped(peer)
            self._flush()
            await outbox.closed()

    def _flush(self) -> None:
        """Write what the host has to say, and have its next deadline kept."""
        while self._dirty:
            outbox = next(iter(self._dirty))
            del self._dirty[outbox]
            outbox.flush()
        self._arm()

    def _arm(self) -> None:
        """Have the host's next deadline kept, on the host's own clock."""
        deadline = self.host.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline is not None and self._loop is not None:
            self._timer = self._loop.call_later(max(0.0, deadline - self.host.clock()), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.host.tick()
        self._flush()


def _tracking(known: set[ServerConnection]) -> type[ServerConnection]:
    """A class of connections that are known from their first byte on, before they have shaken hands."""

    class Tracked(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            known.add(self)
            super().connection_made(transport)

        def connection_lost(self, exc: Exception | None) -> None:
            known.discard(self)
            super().connection_lost(exc)

    return Tracked


class _Outbox:
    """What one connection gets, frame by frame in order, written together once the host is done.

    It writes through the connection's own protocol and transport, which saves a task and a system call
    for each message. A client that lets the buffer grow beyond its bound loses the connection.
    """

    def __init__(self, socket: ServerConnection, dirty: dict[_Outbox, None]) -> None:
        self._socket = socket
        self._dirty = dirty
        self._texts: list[str] = []
        self._code: int | None = None
        self._closing: asyncio.Task[None] | None = None

    def put(self, text: str) -> None:
        self._texts.append(text)
        self._dirty[self] = None

    def finish(self, code: int) -> None:
        """Close the connection behind everything that is put before."""
        self._code = code
        self._dirty[self] = None

    def flush(self) -> None:
        protocol, transport = self._socket.protocol, self._socket.transport
        texts, self._texts = self._texts, []
        if protocol.state is not State.OPEN:
            return
        for text in texts:
            protocol.send_text(text.encode())
        transport.write(b"".join(protocol.data_to_send()))
        if transport.get_write_buffer_size() > _UNREAD_LIMIT:
            transport.abort()
        elif self._code is not None and self._closing is None:
            self._closing = asyncio.create_task(self._socket.close(self._code))

    async def closed(self) -> None:
        """Wait for a close that this side began."""
        if self._closing is not None:
            await self._closing
