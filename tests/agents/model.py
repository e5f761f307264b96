"""The model of the agent: a service that speaks OpenAI Chat Completions, asked with streaming."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

JSON = Any


class ModelError(Exception):
    """The service has refused, or its answer came to no end. kind: how the turn names it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more text of an answer. kind: markdown or reasoning, as the protocol names the parts."""

    kind: str
    text: str


@dataclass(slots=True)
class Wanted:
    """A call of a tool that the model wants. arguments: JSON text, as it comes."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Reply:
    """A whole answer."""

    text: str = ""
    calls: list[Wanted] = field(default_factory=list)

    def message(self) -> JSON:
        """The answer as the next request has to repeat it."""
        said: JSON = {"role": "assistant", "content": self.text or None}
        if self.calls:
            said["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return said


async def ask(
    web: httpx.AsyncClient, url: str, messages: Sequence[JSON], tools: Sequence[JSON], put: Callable[[Piece], None]
) -> Reply:
    """Ask for the next answer, and hand its text on as it comes. Raises ModelError."""
    body: JSON = {"model": "small", "stream": True, "messages": list(messages)}
    if tools:
        body["tools"] = [{"type": "function", "function": tool} for tool in tools]
    reply = Reply()
    try:
        async with web.stream("POST", f"{url}/v1/chat/completions", json=body) as response:
            if response.status_code != 200:
                raise ModelError(f"http-{response.status_code}", _complaint(await response.aread()))
            async for line in response.aiter_lines():
                data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
                if data == "[DONE]":
                    return reply
                if data:
                    _take(reply, json.loads(data), put)
    except httpx.HTTPError as error:
        raise ModelError("model-unreachable", f"the model service broke off: {error!r}") from error
    raise ModelError("model-broke-off", "the answer of the model service came to no end")


def _take(reply: Reply, chunk: JSON, put: Callable[[Piece], None]) -> None:
    if "error" in chunk:
        raise ModelError("model-failed", str(chunk["error"].get("message")))
    for choice in chunk.get("choices", ()):
        delta = choice.get("delta", {})
        if delta.get("reasoning_content"):
            put(Piece("reasoning", delta["reasoning_content"]))
        if delta.get("content"):
            reply.text += delta["content"]
            put(Piece("markdown", delta["content"]))
        for part in delta.get("tool_calls", ()):
            while len(reply.calls) <= part["index"]:
                reply.calls.append(Wanted())
            call, function = reply.calls[part["index"]], part.get("function", {})
            call.id += part.get("id", "")
            call.name += function.get("name") or ""
            call.arguments += function.get("arguments") or ""


def _complaint(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:200]
