"""What the surfaces of model services have in common. Agents send what they please: nothing here breaks on a shape."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import orjson

from conformance.backend.player import Call, Fail, Message, Say, Think

JSON = Any

# Content of parts of content; nobody nests it deeper, and a request must not be able to exhaust the stack.
_DEPTH: Final = 8


class Encoder(Protocol):
    """Writes one answer as a stream, and keeps what it wrote so that it can be had as a whole."""

    def begin(self) -> Iterator[bytes]:
        """The events before the first part."""

    def part(self, part: Say | Think | Call) -> Iterator[bytes]:
        """The events of a part, in small pieces."""

    def end(self) -> Iterator[bytes]:
        """The events after the last part."""

    def fail(self, failure: Fail) -> Iterator[bytes]:
        """The events of an answer that fails after its stream has begun."""

    def whole(self) -> JSON:
        """The body of an answer that is not streamed."""


class Surface(Protocol):
    """One way in which agents ask models. ``body`` is any JSON object."""

    name: str

    def conversation(self, body: JSON) -> tuple[Message, ...]:
        """What was said so far."""

    def tools(self, body: JSON) -> tuple[str, ...]:
        """The names of the tools that are offered to the model."""

    def encoder(self, body: JSON, asked: int) -> Encoder:
        """A fresh encoder for an answer to this request of so many tokens."""

    def error(self, status: int, message: str) -> JSON:
        """The body of an answer with that status."""


def objects(value: JSON) -> Iterator[dict[str, JSON]]:
    """The objects in a value that should be a list of objects."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def words(value: JSON) -> str:
    """A value that should be a string; empty otherwise."""
    return value if isinstance(value, str) else ""


def text_of(content: JSON, depth: int = _DEPTH) -> str:
    """The text of a content: a string, or parts that have a text or a content of their own, line by line."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return text if isinstance(text, str) else text_of(content.get("content"), depth - 1) if depth else ""
    if isinstance(content, list) and depth:
        return "\n".join(text for part in content if (text := text_of(part, depth - 1)))
    return ""


def pieces(text: str) -> list[str]:
    """A text in pieces of a word each, with the space behind it."""
    return re.findall(r"\S+\s*|\s+", text)


def json_pieces(text: str) -> list[str]:
    """A JSON text in three pieces at most, none of them complete unless it is a very short one."""
    size = max(1, -(-len(text) // 3))
    return [text[at : at + size] for at in range(0, len(text), size)]


def event(data: JSON, name: str = "") -> bytes:
    """A server-sent event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + orjson.dumps(data) + b"\n\n"


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def tokens(text: str) -> int:
    """About as many tokens as a text has; agents want a number above 0."""
    return max(1, len(text) // 4)


def asked_tokens(conversation: Sequence[Message]) -> int:
    """About as many tokens as a conversation has."""
    return tokens("".join(message.text for message in conversation))
