"""Anthropic Messages (https://docs.anthropic.com/en/api/messages and .../streaming)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Final

import orjson

from conformance.backend.player import Call, Fail, Message, Say, Think

from .surface import JSON, event, json_pieces, new_id, objects, pieces, text_of, tokens, words

_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}

# Agents hand it back with the thought and do not look into it.
_SIGNATURE: Final = base64.b64encode(b"a scripted thought").decode()


class Messages:
    name = "messages"

    def conversation(self, body: JSON) -> tuple[Message, ...]:
        return tuple(found for message in objects(body.get("messages")) for found in _messages(message))

    def tools(self, body: JSON) -> tuple[str, ...]:
        return tuple(name for tool in objects(body.get("tools")) if (name := words(tool.get("name"))))

    def encoder(self, body: JSON, asked: int) -> MessageEncoder:
        return MessageEncoder(words(body.get("model")) or "scripted-model", asked)

    def error(self, status: int, message: str) -> JSON:
        fallback = "api_error" if status >= 500 else "invalid_request_error"
        return {"type": "error", "error": {"type": _KINDS.get(status, fallback), "message": message}}


def _messages(message: JSON) -> Iterator[Message]:
    """A message of the user may hold results of tools beside, or in place of, what the user says."""
    content = message.get("content")
    role = message.get("role")
    if role == "assistant":
        calls = (part for part in objects(content) if part.get("type") == "tool_use")
        yield Message("assistant", text_of(content), tuple(words(call.get("id")) for call in calls))
    elif role == "user":
        results = [part for part in objects(content) if part.get("type") == "tool_result"]
        for result in results:
            yield Message("tool", text_of(result.get("content")), (words(result.get("tool_use_id")),))
        said = [part for part in content if part not in results] if isinstance(content, list) else content
        if not results or said:
            yield Message("user", text_of(said))


class MessageEncoder:
    def __init__(self, model: str, asked: int) -> None:
        self._id = new_id("msg")
        self._model = model
        self._asked = asked
        self._content: list[JSON] = []

    def begin(self) -> Iterator[bytes]:
        yield _named("message_start", message=self._message(None, 1))
        yield _named("ping")

    def part(self, part: Say | Think | Call) -> Iterator[bytes]:
        at = len(self._content)
        if isinstance(part, Call):
            opening: JSON = {"type": "tool_use", "id": part.id, "name": part.tool, "input": {}}
            whole = {**opening, "input": orjson.loads(part.arguments)}
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in json_pieces(part.arguments)]
        elif not part.text:
            return  # blocks without text are refused when they are handed back
        elif isinstance(part, Think):
            opening = {"type": "thinking", "thinking": "", "signature": ""}
            whole = {**opening, "thinking": part.text, "signature": _SIGNATURE}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(part.text)]
            deltas.append({"type": "signature_delta", "signature": _SIGNATURE})
        else:
            opening = {"type": "text", "text": ""}
            whole = {**opening, "text": part.text}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(part.text)]
        self._content.append(whole)
        yield _named("content_block_start", index=at, content_block=opening)
        for delta in deltas:
            yield _named("content_block_delta", index=at, delta=delta)
        yield _named("content_block_stop", index=at)

    def end(self) -> Iterator[bytes]:
        delta = {"stop_reason": self._reason, "stop_sequence": None}
        yield _named("message_delta", delta=delta, usage={"output_tokens": self._written})
        yield _named("message_stop")

    def fail(self, failure: Fail) -> Iterator[bytes]:
        yield event(Messages().error(failure.status, failure.message), "error")

    def whole(self) -> JSON:
        return {**self._message(self._reason, self._written), "content": self._content}

    @property
    def _reason(self) -> str:
        return "tool_use" if any(block["type"] == "tool_use" for block in self._content) else "end_turn"

    @property
    def _written(self) -> int:
        return tokens(orjson.dumps(self._content).decode())

    def _message(self, reason: str | None, written: int) -> JSON:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": self._asked,
                "output_tokens": written,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        }


def _named(kind: str, **members: JSON) -> bytes:
    return event({"type": kind, **members}, kind)
