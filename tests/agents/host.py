"""The host: ``python -m tests.agents.host --port N --model URL [--flaw NAME]``. Prints ``ready ws://…`` when it is."""

from __future__ import annotations

import argparse
import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any

import httpx
import orjson

from conformance.host import HostServer, Peer, ReferenceHost, guarded
from conformance.host.channels import Channel, Server, Session
from conformance.host.core import PROVIDER, Wording
from conformance.host.rpc import RequestError
from conformance.protocol import ROOT_URI

from .flaws import FLAWS, LEAKS_TOKEN
from .servers import Plugins, RealServer, connect_if_starting
from .signing import Wait, authenticate
from .turns import AgentTurn

JSON = Any

_AGENT: JSON = {
    "provider": PROVIDER,
    "displayName": "Small agent",
    "description": "Does what its model says.",
    "models": [{"id": "small", "provider": PROVIDER, "name": "Small"}],
    "capabilities": {"multipleChats": {}},
}


class AgentHost(ReferenceHost):
    """The reference host with an agent that works. Lives on one loop, as whoever serves it does.

    model_url: of a service that speaks Chat Completions. port: 0 picks a free one. flaw: one of flaws.FLAWS. tokens: by
    resource.
    """

    performer = AgentTurn

    def __init__(self, model_url: str, *, port: int = 0, flaw: str | None = None) -> None:
        super().__init__(versions=("0.9.0",))
        self.model_url = model_url
        self.flaw = flaw
        self.web = httpx.AsyncClient(timeout=None, trust_env=False, verify=False)
        self.tokens: dict[str, str] = {}
        self.plugins = Plugins(self)
        self.server = HostServer(self, port)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asked: dict[str, tuple[Peer, asyncio.Future[JSON]]] = {}
        self._numbers = itertools.count(1)
        # The servers are real ones, so nobody but them knows how a start ends.
        self.policy.shows_start = lambda requested: False  # type: ignore[method-assign]

    # -- work on the loop ---------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def wake(self) -> None:
        """Have turns go on and messages sent, for work that is done outside of a message of a client."""
        self.server.wake()

    # -- tokens -------------------------------------------------------------------------------------------

    def waits(self, resource: str | None) -> list[Wait]:
        """What waits for a token, for this resource or (None) for any."""
        if resource is None:
            return [wait for wait in self.vault.all() if isinstance(wait, Wait) and wait.live]
        return [wait for wait in self.vault.blocks_on(resource) if isinstance(wait, Wait)]

    def token_for(self, server: Server) -> str | None:
        own = None if server.resource is None else self.tokens.get(server.resource)
        return next(iter(self.tokens.values()), None) if own is None and self.flaw == LEAKS_TOKEN else own

    def advertised(self, resource: str) -> bool:
        return resource != guarded.RESOURCE and super().advertised(resource)

    # -- clients ------------------------------------------------------------------------------------------

    async def ask_client(self, client_id: str, method: str, params: JSON) -> JSON:
        """Ask a client and await its response. Raises LookupError when it is not here, or leaves."""
        client = self.clients.get(client_id)
        peer = next(iter(client.peers), None) if client is not None else None
        if peer is None:
            raise LookupError(f"the client {client_id} is not here")
        number = f"host-{next(self._numbers)}"
        future: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        self._asked[number] = peer, future
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"channel": ROOT_URI, **params}}
        self.answer(peer, request)
        self.wake()
        return await future

    def receive(self, peer: Peer, data: str | bytes) -> None:
        message = _request_or_response(data)
        if peer.ready and "method" not in message and message.get("id") in self._asked:
            self._asked.pop(message["id"])[1].set_result(message)
        elif peer.ready and message.get("method") == "authenticate":
            self.spawn(self._authenticate(peer, message))
        else:
            super().receive(peer, data)

    async def _authenticate(self, peer: Peer, message: JSON) -> None:
        """The one request whose answer has to wait for somebody else."""
        outcome: JSON
        try:
            outcome = {"result": await authenticate(self, message["params"])}
        except RequestError as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            outcome = {"error": error if refusal.data is None else {**error, "data": refusal.data}}
        self.answer(peer, {"jsonrpc": "2.0", "id": message["id"], **outcome})
        self.wake()

    def dropped(self, peer: Peer) -> None:
        for number in [number for number, (asked, _) in self._asked.items() if asked is peer]:
            self._asked.pop(number)[1].set_exception(LookupError("the client has left"))
        super().dropped(peer)

    # -- what follows actions -----------------------------------------------------------------------------

    def act(self, channel: Channel, action: Wording, origin: JSON | None = None) -> None:
        super().act(channel, action, origin)
        kind = "" if callable(action) else action["type"]
        if isinstance(channel, Session) and kind in (
            "session/ready",
            "session/activeClientSet",
            "session/activeClientRemoved",
        ):
            self.plugins.follow(channel)
        self.wake()

    def accepted(self, peer: Peer, channel: Channel, action: JSON) -> None:
        super().accepted(peer, channel, action)
        if isinstance(channel, Session) and action["type"].startswith(("session/mcpServer", "session/customization")):
            server = channel.server_by_id(action["id"])
            connect_if_starting(self, channel, server)
            if isinstance(server, RealServer) and channel.server_state(server) == "stopped":
                server.connection.forget()

    def _root_state(self) -> JSON:
        return {"agents": [_AGENT], "activeSessions": 0}


def _request_or_response(data: str | bytes) -> JSON:
    """A message that the host may take itself; an empty one for everything that the core has to look at."""
    try:
        message = orjson.loads(data) if isinstance(data, str) else None
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(message, dict) or not isinstance(message.get("id"), int | str):
        return {}
    if isinstance(message["id"], bool):
        return {}
    if "method" not in message:
        return message
    params = message.get("params")
    whole = message.get("jsonrpc") == "2.0" and isinstance(params, dict) and isinstance(params.get("channel"), str)
    return message if whole else {}


def main() -> None:
    parser = argparse.ArgumentParser(description="A small host with a real agent.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", required=True, metavar="URL", help="the base URL of the model service")
    parser.add_argument("--flaw", choices=sorted(FLAWS), help="a way in which the host is wrong")
    chosen = parser.parse_args()
    AgentHost(chosen.model, port=chosen.port, flaw=chosen.flaw).server.run_forever()


if __name__ == "__main__":
    main()
