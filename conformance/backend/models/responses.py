"""OpenAI Responses (https://platform.openai.com/docs/api-reference/responses and .../responses-streaming).

Nothing is stored, so a request that continues an earlier response by its id cannot be answered.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from typing import Final

from conformance.backend.player import Call, Fail, Message, Say, Think

from .chat_completions import openai_error
from .surface import JSON, event, json_pieces, new_id, objects, pieces, text_of, tokens, words

# Agents that keep nothing at the service ask for it and hand it back; they do not look into it.
_ENCRYPTED: Final = base64.b64encode(b"a scripted thought").decode()


class Responses:
    name = "responses"

    def conversation(self, body: JSON) -> tuple[Message, ...]:
        asked = body.get("input")
        if isinstance(asked, str):
            return (Message("user", asked),)
        return tuple(found for item in objects(asked) if (found := _message(item)))

    def tools(self, body: JSON) -> tuple[str, ...]:
        return tuple(_offered(body))

    def encoder(self, body: JSON, asked: int) -> ResponseEncoder:
        return ResponseEncoder(body, asked, _offered(body))

    def error(self, status: int, message: str) -> JSON:
        return openai_error(status, message)


def _offered(body: JSON) -> dict[str, JSON]:
    """The tools by name; for each what a call of it has to say. Those in a namespace are named with it."""
    found: dict[str, JSON] = {}
    for tool in objects(body.get("tools")):
        name = words(tool.get("name"))
        if tool.get("type") == "namespace":
            for inner in objects(tool.get("tools")):
                own = words(inner.get("name"))
                if own and inner.get("type") == "function":
                    found[f"{name.rstrip('_')}__{own}"] = {"name": own, "namespace": name}
        elif name and tool.get("type") == "function":
            found[name] = {"name": name}
    return found


def _message(item: JSON) -> Message | None:
    kind = item.get("type", "message")
    if kind == "function_call":
        return Message("assistant", "", (words(item.get("call_id")),))
    if kind == "function_call_output":
        return Message("tool", text_of(item.get("output")), (words(item.get("call_id")),))
    role = item.get("role")
    if kind == "message" and (role == "user" or role == "assistant"):
        return Message(role, text_of(item.get("content")))
    return None


class ResponseEncoder:
    def __init__(self, body: JSON, asked: int, offered: dict[str, JSON]) -> None:
        include = body.get("include")
        self._encrypted = isinstance(include, list) and "reasoning.encrypted_content" in include
        self._offered = offered
        self._asked = asked
        self._number = 0
        self._output: list[JSON] = []
        self._written = ""
        self._response: JSON = {
            "id": new_id("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": words(body.get("model")) or "scripted-model",
            "output": [],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": None,
        }

    def begin(self) -> Iterator[bytes]:
        yield self._event("response.created", response=self._response)
        yield self._event("response.in_progress", response=self._response)

    def part(self, part: Say | Think | Call) -> Iterator[bytes]:
        if isinstance(part, Call):
            yield from self._call(part)
        elif part.text:
            self._written += part.text
            yield from self._thought(part.text) if isinstance(part, Think) else self._text(part.text)

    def _text(self, text: str) -> Iterator[bytes]:
        item: JSON = {"id": new_id("msg"), "type": "message", "role": "assistant", "content": []}
        at = {"item_id": item["id"], "output_index": len(self._output), "content_index": 0}
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        yield self._added({**item, "status": "in_progress"})
        yield self._event("response.content_part.added", **at, part={**part, "text": ""})
        for piece in pieces(text):
            yield self._event("response.output_text.delta", **at, delta=piece, logprobs=[])
        yield self._event("response.output_text.done", **at, text=text, logprobs=[])
        yield self._event("response.content_part.done", **at, part=part)
        yield self._done({**item, "status": "completed", "content": [part]})

    def _thought(self, text: str) -> Iterator[bytes]:
        item: JSON = {"id": new_id("rs"), "type": "reasoning", "summary": []}
        if self._encrypted:
            item["encrypted_content"] = _ENCRYPTED
        at = {"item_id": item["id"], "output_index": len(self._output), "summary_index": 0}
        part = {"type": "summary_text", "text": text}
        yield self._added(item)
        yield self._event("response.reasoning_summary_part.added", **at, part={**part, "text": ""})
        for piece in pieces(text):
            yield self._event("response.reasoning_summary_text.delta", **at, delta=piece)
        yield self._event("response.reasoning_summary_text.done", **at, text=text)
        yield self._event("response.reasoning_summary_part.done", **at, part=part)
        yield self._done({**item, "summary": [part]})

    def _call(self, call: Call) -> Iterator[bytes]:
        self._written += call.arguments
        named = self._offered.get(call.tool, {"name": call.tool})
        item: JSON = {"id": new_id("fc"), "type": "function_call", "call_id": call.id, **named}
        at = {"item_id": item["id"], "output_index": len(self._output)}
        yield self._added({**item, "status": "in_progress", "arguments": ""})
        for piece in json_pieces(call.arguments):
            yield self._event("response.function_call_arguments.delta", **at, delta=piece)
        yield self._event("response.function_call_arguments.done", **at, name=named["name"], arguments=call.arguments)
        yield self._done({**item, "status": "completed", "arguments": call.arguments})

    def end(self) -> Iterator[bytes]:
        yield self._event("response.completed", response=self.whole())

    def fail(self, failure: Fail) -> Iterator[bytes]:
        code = "rate_limit_exceeded" if failure.status == 429 else "server_error"
        error = {"code": code, "message": failure.message}
        yield self._event("response.failed", response={**self.whole(), "status": "failed", "error": error})

    def whole(self) -> JSON:
        written = tokens(self._written)
        usage = {
            "input_tokens": self._asked,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self._asked + written,
        }
        return {**self._response, "status": "completed", "output": self._output, "usage": usage}

    def _added(self, item: JSON) -> bytes:
        return self._event("response.output_item.added", output_index=len(self._output), item=item)

    def _done(self, item: JSON) -> bytes:
        self._output.append(item)
        return self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _event(self, kind: str, **members: JSON) -> bytes:
        number, self._number = self._number, self._number + 1
        return event({"type": kind, "sequence_number": number, **members}, kind)
