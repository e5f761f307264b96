"""What tools do, seen by the official client in both eras of MCP."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from conformance.backend.mcp_servers import (
    Add,
    Echo,
    Embedded,
    Fail,
    Held,
    Image,
    McpServer,
    McpServers,
    Progress,
    Structured,
    Text,
    Tool,
)
from conformance.backend.mcp_servers.tools import Call, Result

from .clients import PATIENCE, Mode, Plain, connected, request, texts

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
FORMS = pytest.mark.parametrize("json_responses", [False, True])


def play(server: McpServer, mode: Mode, act: Callable[[Client], Coroutine[Any, Any, Any]], **options: Any) -> Any:
    async def acting() -> Any:
        async with asyncio.timeout(PATIENCE), connected(server, mode, **options) as client:
            return await act(client)

    return asyncio.run(acting())


def call(server: McpServer, mode: Mode, behaviour: Tool, arguments: dict[str, Any] | None = None) -> Any:
    server.tool("it", behaviour)
    return play(server, mode, lambda client: client.call_tool("it", arguments or {}))


@ERAS
@FORMS
def test_tools_are_listed_as_they_were_added(servers: McpServers, mode: Mode, json_responses: bool) -> None:
    server = servers.open("vault", json_responses=json_responses)
    server.tool("open")
    schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    server.tool("strict", Add(), schema=schema, description="Adds.")

    async def act(client: Client) -> Any:
        assert client.server_info is not None
        return client.server_info.name, (await client.list_tools()).tools

    name, (first, second) = play(server, mode, act)
    assert name == "vault"
    assert (first.name, first.input_schema) == ("open", {"type": "object"})
    assert (second.name, second.input_schema, second.description) == ("strict", schema, "Adds.")


@ERAS
@FORMS
def test_echo_returns_its_input(servers: McpServers, mode: Mode, json_responses: bool) -> None:
    given = {"a": [1, None, "ü"], "b": {"c": True}}
    result = call(servers.open("s", json_responses=json_responses), mode, Echo(), given)
    (text,) = texts(result)
    assert json.loads(text) == given and not result.is_error


@ERAS
def test_fixed_results(servers: McpServers, mode: Mode) -> None:
    server = servers.open("s")
    assert texts(call(server, mode, Text("as agreed"))) == ["as agreed"]
    assert texts(call(server, mode, Add(), {"a": 2, "b": 0.5})) == ["2.5"]
    failed = call(server, mode, Fail("no luck"))
    assert failed.is_error and texts(failed) == ["no luck"]
    missing = call(server, mode, Add(), {"a": 2})
    assert missing.is_error and "a and b" in texts(missing)[0]


@ERAS
def test_rich_results(servers: McpServers, mode: Mode) -> None:
    server = servers.open("s")
    _, image = call(server, mode, Image()).content
    assert isinstance(image, types.ImageContent) and image.mime_type == "image/png"
    _check_png(base64.b64decode(image.data, validate=True))
    (embedded,) = call(server, mode, Embedded("text", "note://1", "text/markdown")).content
    assert isinstance(embedded, types.EmbeddedResource) and isinstance(embedded.resource, types.TextResourceContents)
    found = embedded.resource
    assert (str(found.uri), found.mime_type, found.text) == ("note://1", "text/markdown", "text")
    structured = call(server, mode, Structured({"answer": [42]}))
    assert structured.structured_content == {"answer": [42]} == json.loads(texts(structured)[0])


def _check_png(data: bytes) -> None:
    """Every chunk is whole, and the pixels are as many as the head says."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    rest = data[8:]
    while rest:
        (length,) = struct.unpack(">I", rest[:4])
        kind, body, check = rest[4:8], rest[8 : 8 + length], rest[8 + length : 12 + length]
        assert struct.unpack(">I", check)[0] == zlib.crc32(kind + body)
        chunks[kind], rest = body, rest[12 + length :]
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)


@ERAS
def test_progress_is_reported_before_the_result(servers: McpServers, mode: Mode) -> None:
    server = servers.open("s")
    server.tool("it", Progress(4, "there"))
    reports: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total))

    result = play(server, mode, lambda client: client.call_tool("it", {}, progress_callback=note))
    assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert texts(result) == ["there"]


@ERAS
def test_progress_that_nobody_asked_for_is_not_sent(servers: McpServers, mode: Mode) -> None:
    assert texts(call(servers.open("s"), mode, Progress(4, "there"))) == ["there"]
    with Plain(plain := servers.open("t")) as client:
        plain.tool("it", Progress())
        client.initialize()
        assert "notifications/progress" not in client.call("it").text


@ERAS
def test_an_unknown_tool_is_an_error_of_the_protocol(servers: McpServers, mode: Mode) -> None:
    async def act(client: Client) -> int:
        with pytest.raises(MCPError, match="nowhere") as raised:
            await client.call_tool("nowhere", {})
        return raised.value.code

    assert play(servers.open("s"), mode, act) == types.INVALID_PARAMS


# -- held calls ---------------------------------------------------------------------------------------------


@ERAS
@FORMS
def test_a_held_call_is_answered_when_it_is_released(servers: McpServers, mode: Mode, json_responses: bool) -> None:
    server = servers.open("s", json_responses=json_responses)
    server.tool("it", Held())
    server.tool("quick")

    async def act(client: Client) -> Any:
        held = [asyncio.create_task(client.call_tool("it", {"n": n})) for n in range(2)]
        for n in range(2):
            assert await asyncio.to_thread(_await_call, server, "it", n + 1)
        # Other calls go through, and when they have, the held ones are still open.
        await client.call_tool("quick", {})
        assert not any(task.done() for task in held)
        server.release("it")
        return [texts(await task)[0] for task in held], texts(await client.call_tool("it", {"n": 3}))

    assert play(server, mode, act) == (['{"n": 0}', '{"n": 1}'], ['{"n": 3}'])


def _await_call(server: McpServer, tool: str, count: int) -> bool:
    """Whether so many calls of the tool have come."""
    place = -1
    for _ in range(count):
        seen = server.await_seen(lambda seen: seen.tool == tool, PATIENCE, start=place + 1)
        if seen is None:
            return False
        place = seen.place
    return True


def test_a_tool_that_is_added_again_holds_again(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it", Held("first"))
    server.release("it")
    with Plain(server) as client:
        client.initialize()
        assert "first" in client.call("it").text
    server.tool("it", Held("second"))

    async def act(client: Client) -> Any:
        held = asyncio.create_task(client.call_tool("it", {}))
        assert await asyncio.to_thread(_await_call, server, "it", 2)
        await client.list_tools()
        assert not held.done()
        server.tool("it", Text("other"))
        return texts(await held)

    assert play(server, "legacy", act) == ["second"]


def test_only_what_is_held_can_be_released(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it")
    for name in ("it", "nowhere"):
        with pytest.raises(ValueError, match=rf"no held tool '{name}'"):
            server.release(name)


@dataclass(frozen=True)
class Watched(Held):
    """A held tool that says when it begins and ends, in whatever way."""

    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    async def perform(self, call: Call) -> Result:
        self.begun.set()
        try:
            return await Held.perform(self, call)
        finally:
            self.ended.set()


@ERAS
def test_a_held_call_ends_when_the_client_breaks_it_off(servers: McpServers, mode: Mode) -> None:
    """With streams only: the official client stumbles over a late JSON answer to what it has cancelled."""
    server = servers.open("s")
    watched = Watched()
    server.tool("it", watched)

    async def act(client: Client) -> bool:
        held = asyncio.create_task(client.call_tool("it", {}))
        assert await asyncio.to_thread(watched.begun.wait, PATIENCE)
        assert not watched.ended.is_set()
        held.cancel()
        return await asyncio.to_thread(watched.ended.wait, PATIENCE)

    assert play(server, mode, act)


@FORMS
def test_a_lost_connection_ends_its_call_and_no_other(servers: McpServers, json_responses: bool) -> None:
    server = servers.open("s", json_responses=json_responses)
    watched = Watched()
    server.tool("it", watched)
    with Plain(server) as client:
        client.initialize()
        answers: list[httpx.Response] = []
        other = threading.Thread(target=lambda: answers.append(client.ask("tools/call", {"name": "it"}, number=7)))
        other.start()
        assert watched.begun.wait(PATIENCE)
        watched.begun.clear()
        _call_and_hang_up(client, watched)
        assert watched.ended.wait(PATIENCE)
        assert other.is_alive() and not answers
        server.release("it")
        other.join(PATIENCE)
        assert answers[0].status_code == 200 and '"id":7' in answers[0].text


def _call_and_hang_up(client: Plain, watched: Watched) -> None:
    """Call with a connection of its own, and close that as soon as the tool has begun."""
    parts = urlsplit(client.server.url)
    assert parts.hostname is not None
    body = json.dumps(request("tools/call", {"name": "it", "arguments": {}}, 8)).encode()
    lines = [f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in client.headers.items()), "", ""]
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join(lines).encode() + body)
        assert watched.begun.wait(PATIENCE)


# -- changes of the list ------------------------------------------------------------------------------------


def test_clients_of_the_handshake_are_told_of_new_tools(servers: McpServers) -> None:
    server = servers.open("s")

    async def acting() -> list[str]:
        told = asyncio.Event()

        async def note(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                told.set()

        async with asyncio.timeout(PATIENCE), connected(server, "legacy", message_handler=note) as client:
            assert client.server_capabilities.tools is not None and client.server_capabilities.tools.list_changed
            # Notices take the stream that a GET has opened, so it has to be there.
            await asyncio.to_thread(server.await_seen, lambda s: s.method == "GET" and s.status == 200, PATIENCE)
            await client.list_tools()
            server.tool("new")
            await told.wait()
            return [tool.name for tool in (await client.list_tools()).tools]

    assert asyncio.run(acting()) == ["new"]


def test_only_what_the_list_shows_is_a_change_of_it() -> None:
    server = McpServer("s", "http://127.0.0.1:1/s", "http://127.0.0.1:1/s")
    changes: list[str] = []

    def tool(step: str, *behaviour: Tool, **more: Any) -> None:
        server.on_change(lambda: changes.append(step))
        server.tool("it", *behaviour, **more)

    tool("new")
    tool("same")
    tool("another behaviour", Text("other"))
    tool("another description", description="Described anew.")
    tool("another schema", description="Described anew.", schema={"type": "object", "required": ["a"]})
    assert changes == ["new", "another description", "another schema"]


def test_subscribers_are_told_of_new_tools(servers: McpServers) -> None:
    server = servers.open("s")

    async def act(client: Client) -> list[str]:
        async with client.listen(tools_list_changed=True) as events:
            server.tool("new")
            async for _ in events:
                break
        return [tool.name for tool in (await client.list_tools()).tools]

    assert play(server, "auto", act) == ["new"]
