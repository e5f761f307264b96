"""What the tools of a played MCP server do. Results are JSON as in the MCP specification (`CallToolResult`)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeGuard

Result = dict[str, Any]

OPEN_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType({"type": "object"})
"""The input schema of a tool that takes anything."""

PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR42mM4IWcDRAwQCgAh9gSJ9oSVYQAAAABJRU5ErkJggg=="
"""A picture of two by two pixels, in base64."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a tool performs.

    progress(done, total) reports to a caller who asked for reports, and to nobody else; released() returns when the
    tool is let go, or when the caller has broken the call off.
    """

    arguments: dict[str, Any]
    progress: Callable[[float, float], Awaitable[None]]
    released: Callable[[], Awaitable[None]]


class Tool(Protocol):
    """How a tool behaves."""

    async def perform(self, call: Call) -> Result: ...


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as a server lists it."""

    name: str
    behaviour: Tool
    schema: Mapping[str, Any]
    description: str


@dataclass(frozen=True, slots=True)
class Echo:
    """Returns its input as JSON text."""

    async def perform(self, call: Call) -> Result:
        return _text(json.dumps(call.arguments, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Add:
    """Returns a + b."""

    async def perform(self, call: Call) -> Result:
        a, b = call.arguments.get("a"), call.arguments.get("b")
        if not _is_number(a) or not _is_number(b):
            return _failure("add wants two numbers, a and b")
        return _text(json.dumps(a + b))


@dataclass(frozen=True, slots=True)
class Text:
    """Returns always the same text."""

    result: str

    async def perform(self, call: Call) -> Result:
        return _text(self.result)


@dataclass(frozen=True, slots=True)
class Fail:
    """Fails, as tools fail: the request succeeds and the result says `isError`."""

    message: str

    async def perform(self, call: Call) -> Result:
        return _failure(self.message)


@dataclass(frozen=True, slots=True)
class Image:
    """Returns a small PNG, and a text that introduces it."""

    async def perform(self, call: Call) -> Result:
        return {"content": [_part("A picture:"), {"type": "image", "data": PNG, "mimeType": "image/png"}]}


@dataclass(frozen=True, slots=True)
class Embedded:
    """Returns a resource that is embedded in the result."""

    text: str = "embedded text"
    uri: str = "note://embedded/1"
    mime_type: str = "text/plain"

    async def perform(self, call: Call) -> Result:
        resource = {"uri": self.uri, "mimeType": self.mime_type, "text": self.text}
        return {"content": [{"type": "resource", "resource": resource}]}


@dataclass(frozen=True, slots=True)
class Structured:
    """Returns an object as structured content, and as JSON text for callers that do not know it."""

    value: Mapping[str, Any]

    async def perform(self, call: Call) -> Result:
        value = dict(self.value)
        return _text(json.dumps(value, ensure_ascii=False)) | {"structuredContent": value}


@dataclass(frozen=True, slots=True)
class Progress:
    """Reports progress `steps` times, then returns the result."""

    steps: int = 3
    result: str = "done"

    async def perform(self, call: Call) -> Result:
        for step in range(1, self.steps + 1):
            await call.progress(step, self.steps)
        return _text(self.result)


@dataclass(frozen=True, slots=True)
class Held:
    """Does not answer until the server is told to release the tool; by default it then returns its input."""

    result: str | None = None

    async def perform(self, call: Call) -> Result:
        await call.released()
        return _text(json.dumps(call.arguments, ensure_ascii=False) if self.result is None else self.result)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _part(text: str) -> Result:
    return {"type": "text", "text": text}


def _text(text: str) -> Result:
    return {"content": [_part(text)]}


def _failure(message: str) -> Result:
    return {"content": [_part(message)], "isError": True}
