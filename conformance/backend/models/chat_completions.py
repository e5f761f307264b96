"""OpenAI Chat Completions (https://platform.openai.com/docs/api-reference/chat); GitHub Copilot speaks it as well."""

from __future__ import annotations

import time
from collections.abc import Iterator

from conformance.backend.player import Call, Fail, Message, Say, Think

from .surface import JSON, event, json_pieces, new_id, objects, pieces, text_of, tokens, words


class ChatCompletions:
    name = "chat-completions"

    def conversation(self, body: JSON) -> tuple[Message, ...]:
        return tuple(found for message in objects(body.get("messages")) if (found := _message(message)))

    def tools(self, body: JSON) -> tuple[str, ...]:
        functions = (tool.get("function") for tool in objects(body.get("tools")))
        return tuple(name for tool in functions if isinstance(tool, dict) and (name := words(tool.get("name"))))

    def encoder(self, body: JSON, asked: int) -> ChatEncoder:
        options = body.get("stream_options")
        own_chunk = isinstance(options, dict) and options.get("include_usage") is True
        return ChatEncoder(words(body.get("model")) or "scripted-model", asked, own_chunk)

    def error(self, status: int, message: str) -> JSON:
        return openai_error(status, message)


def openai_error(status: int, message: str) -> JSON:
    """The error body of both OpenAI surfaces."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _message(message: JSON) -> Message | None:
    text = text_of(message.get("content"))
    match message.get("role"):
        case "user":
            return Message("user", text)
        case "assistant":
            calls = objects(message.get("tool_calls"))
            return Message("assistant", text, tuple(words(call.get("id")) for call in calls))
        case "tool":
            return Message("tool", text, (words(message.get("tool_call_id")),))
    return None


class ChatEncoder:
    """usage_chunk: the usage comes in a chunk of its own at the end (`stream_options.include_usage`)."""

    def __init__(self, model: str, asked: int, usage_chunk: bool) -> None:
        self._frame = {"id": new_id("chatcmpl"), "created": int(time.time()), "model": model}
        self._asked = asked
        self._usage_chunk = usage_chunk
        self._text = ""
        self._thought = ""
        self._calls: list[JSON] = []

    def begin(self) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})

    def part(self, part: Say | Think | Call) -> Iterator[bytes]:
        if isinstance(part, Say):
            # The message has one text, so what is said in two goes becomes two paragraphs.
            said = f"\n\n{part.text}" if self._text and part.text else part.text
            self._text += said
            for piece in pieces(said):
                yield self._chunk({"content": piece})
        elif isinstance(part, Think):
            thought = f"\n\n{part.text}" if self._thought and part.text else part.text
            self._thought += thought
            for piece in pieces(thought):
                yield self._chunk(_reasoning(piece))
        else:
            yield from self._call(part)

    def _call(self, call: Call) -> Iterator[bytes]:
        at = len(self._calls)
        function = {"name": call.tool, "arguments": call.arguments}
        self._calls.append({"id": call.id, "type": "function", "function": function})
        opening = {"index": at, "id": call.id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
        yield self._chunk({"tool_calls": [opening]})
        for piece in json_pieces(call.arguments):
            yield self._chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})

    def end(self) -> Iterator[bytes]:
        if self._usage_chunk:
            yield self._chunk({}, self._reason)
            yield event({**self._frame, "object": "chat.completion.chunk", "choices": [], "usage": self._usage})
        else:
            # Copilot's service sends it unasked, and its agents count on it.
            yield self._chunk({}, self._reason, usage=self._usage)
        yield b"data: [DONE]\n\n"

    def fail(self, failure: Fail) -> Iterator[bytes]:
        yield event(openai_error(failure.status, failure.message))

    def whole(self) -> JSON:
        message: JSON = {"role": "assistant", "content": self._text or None, "refusal": None}
        if self._thought:
            message.update(_reasoning(self._thought))
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._reason, "logprobs": None}
        return {**self._frame, "object": "chat.completion", "choices": [choice], "usage": self._usage}

    @property
    def _reason(self) -> str:
        return "tool_calls" if self._calls else "stop"

    @property
    def _usage(self) -> JSON:
        written = tokens(self._text + self._thought + "".join(call["function"]["arguments"] for call in self._calls))
        return {"prompt_tokens": self._asked, "completion_tokens": written, "total_tokens": self._asked + written}

    def _chunk(self, delta: JSON, reason: str | None = None, **more: JSON) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return event({**self._frame, "object": "chat.completion.chunk", "choices": [choice], **more})


def _reasoning(text: str) -> dict[str, str]:
    """Not part of the documented surface: Copilot's agents read one of these members, most others the other."""
    return {"reasoning_text": text, "reasoning_content": text}
