"""Hosts that are none: each shows one way of doing nothing, and none of them may get a single pass."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


def _error(request: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "internal error"}}


def _null(request: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": None}


def _empty(request: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": {}}


def _handshake_only(request: dict[str, Any]) -> dict[str, Any]:
    """Shakes hands like a host and then knows nothing: every other request gets null."""
    if request["method"] != "initialize":
        return _null(request)
    result = {"protocolVersion": request["params"]["protocolVersions"][0], "serverSeq": 0, "snapshots": []}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


IMPOSTORS: dict[str, Answer | None] = {
    "closes every connection": None,
    "never answers": lambda request: None,
    "answers everything with -32603": _error,
    "answers everything with null": _null,
    "answers everything with an empty object": _empty,
}
HALF_HOST = _handshake_only


@contextmanager
def serving(answer: Answer | None) -> Iterator[str]:
    """Serve such a host on loopback; the value is its address."""
    started, loop_box, stop_box = threading.Event(), [], []
    address: list[str] = []

    async def connected(socket: ServerConnection) -> None:
        if answer is None:
            await socket.close(1011)
            return
        try:
            async for message in socket:
                request = json.loads(message)
                reply = answer(request) if "id" in request else None
                if reply is not None:
                    await socket.send(json.dumps(reply))
        except ConnectionClosed:
            pass

    async def main() -> None:
        stop = asyncio.Event()
        loop_box.append(asyncio.get_running_loop())
        stop_box.append(stop)
        async with serve(connected, "127.0.0.1", 0) as server:
            address.append(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}")
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    started.wait()
    try:
        yield address[0]
    finally:
        loop_box[0].call_soon_threadsafe(stop_box[0].set)
        thread.join()
