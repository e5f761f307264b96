"""Agents as small as can be, built on the official SDKs: these judge what the model services write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Protocol

import anthropic
import openai
import orjson

JSON = Any
TIMEOUT = 30.0
SCHEMA = {"type": "object", "properties": {}}


class ResponseFailed(Exception):
    """A stream of responses ended in a failure; the SDK leaves it to its users to look."""


@dataclass(slots=True)
class Heard:
    """One answer of the model, as the SDK understood it."""

    text: str = ""
    thought: str = ""
    calls: list[tuple[str, str, JSON]] = field(default_factory=list)
    pieces: int = 0
    usage: int = 0

    @property
    def called(self) -> list[tuple[str, JSON]]:
        return [(name, arguments) for _, name, arguments in self.calls]


class Agent(Protocol):
    """A conversation with a model. Each request goes to the next of the URLs, over and over."""

    def __init__(self, urls: Sequence[str], tools: Sequence[str], *, streamed: bool, key: str = "any") -> None: ...

    def say(self, text: str) -> None: ...

    def give(self, results: Mapping[str, str]) -> None: ...

    def answer(self) -> Heard: ...

    def close(self) -> None: ...


def play(agent: Agent, text: str, run: Callable[[str, JSON], str] = lambda name, _: f"ran {name}") -> list[Heard]:
    """A whole turn: calls are run until the model makes none."""
    agent.say(text)
    answers = [agent.answer()]
    while answers[-1].calls:
        assert len(answers) < 20, "the playbook does not come to its end"
        agent.give({own: run(name, arguments) for own, name, arguments in answers[-1].calls})
        answers.append(agent.answer())
    return answers


class Chat:
    def __init__(self, urls: Sequence[str], tools: Sequence[str], *, streamed: bool, key: str = "any") -> None:
        self._all = [_openai(url, key) for url in urls]
        self._clients = cycle(self._all)
        self._streamed = streamed
        self._tools: JSON = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools]
        self.messages: list[JSON] = [{"role": "system", "content": "You are an agent."}]

    def close(self) -> None:
        for client in self._all:
            client.close()

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def give(self, results: Mapping[str, str]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": own, "content": text} for own, text in results.items()]

    def answer(self) -> Heard:
        client = next(self._clients)
        more: JSON = {"tools": self._tools} if self._tools else {}
        pieces, usage = 0, 0
        if self._streamed:
            more["stream_options"] = {"include_usage": True}
            with client.chat.completions.stream(model="m", messages=self.messages, **more) as stream:
                for event in stream:
                    pieces += event.type == "content.delta"
                completion: JSON = stream.get_final_completion()
            message, thought = completion.choices[0].message, self._thought_of_stream(completion)
        else:
            completion = client.chat.completions.create(model="m", messages=self.messages, **more)
            message = completion.choices[0].message
            thought = message.model_extra.get("reasoning_content", "")
        usage = completion.usage.total_tokens
        calls = [(c.id, c.function.name, orjson.loads(c.function.arguments)) for c in message.tool_calls or ()]
        assert completion.choices[0].finish_reason == ("tool_calls" if calls else "stop")
        reply: JSON = {"role": "assistant", "content": message.content}
        if calls:
            reply["tool_calls"] = [
                {"id": own, "type": "function", "function": {"name": name, "arguments": orjson.dumps(given).decode()}}
                for own, name, given in calls
            ]
        self.messages.append(reply)
        return Heard(message.content or "", thought, calls, pieces, usage)

    def _thought_of_stream(self, completion: JSON) -> str:
        extra = completion.choices[0].message.model_extra or {}
        assert extra.get("reasoning_text") == extra.get("reasoning_content")
        return str(extra.get("reasoning_text") or "")


class Responses:
    def __init__(self, urls: Sequence[str], tools: Sequence[str], *, streamed: bool, key: str = "any") -> None:
        self._all = [_openai(url, key) for url in urls]
        self._clients = cycle(self._all)
        self._streamed = streamed
        self._tools: JSON = [{"type": "function", "name": t, "parameters": SCHEMA, "strict": False} for t in tools]
        self.items: list[JSON] = []

    def close(self) -> None:
        for client in self._all:
            client.close()

    def say(self, text: str) -> None:
        self.items.append({"role": "user", "content": [{"type": "input_text", "text": text}]})

    def give(self, results: Mapping[str, str]) -> None:
        self.items += [{"type": "function_call_output", "call_id": own, "output": t} for own, t in results.items()]

    def answer(self) -> Heard:
        client = next(self._clients)
        asked: JSON = {"model": "m", "input": self.items, "tools": self._tools, "store": False}
        asked["include"] = ["reasoning.encrypted_content"]
        heard = Heard()
        if self._streamed:
            numbers = []
            with client.responses.stream(**asked) as stream:
                for event in stream:
                    numbers.append(event.sequence_number)
                    if event.type == "response.failed":
                        raise ResponseFailed(event.response.error and event.response.error.message)
                    heard.pieces += event.type == "response.output_text.delta"
                response: JSON = stream.get_final_response()
            assert numbers == list(range(len(numbers)))
        else:
            response = client.responses.create(**asked)
        assert response.status == "completed"
        heard.usage = response.usage.total_tokens
        heard.text = response.output_text
        for item in response.output:
            if item.type == "reasoning":
                assert item.encrypted_content
                heard.thought += "".join(part.text for part in item.summary)
            elif item.type == "function_call":
                heard.calls.append((item.call_id, item.name, orjson.loads(item.arguments)))
            self.items.append(item.model_dump(exclude_none=True, exclude={"parsed_arguments"}))
        return heard


class Messages:
    def __init__(self, urls: Sequence[str], tools: Sequence[str], *, streamed: bool, key: str = "any") -> None:
        self._all = [anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=TIMEOUT) for url in urls]
        self._clients = cycle(self._all)
        self._streamed = streamed
        self._tools: JSON = [{"name": name, "input_schema": SCHEMA} for name in tools]
        self.messages: list[JSON] = []

    def close(self) -> None:
        for client in self._all:
            client.close()

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def give(self, results: Mapping[str, str]) -> None:
        blocks: list[JSON] = [{"type": "tool_result", "tool_use_id": o, "content": t} for o, t in results.items()]
        # As agents do, with a reminder of theirs behind it.
        self.messages.append(
            {"role": "user", "content": [*blocks, {"type": "text", "text": "<reminder>Go on.</reminder>"}]}
        )

    def answer(self) -> Heard:
        client = next(self._clients)
        asked: JSON = {"model": "m", "max_tokens": 1000, "messages": self.messages, "tools": self._tools}
        heard = Heard()
        if self._streamed:
            with client.messages.stream(**asked) as stream:
                for event in stream:
                    heard.pieces += event.type == "text"
                message: JSON = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
        heard.usage = message.usage.input_tokens + message.usage.output_tokens
        for block in message.content:
            if block.type == "text":
                heard.text += block.text
            elif block.type == "thinking":
                assert block.signature
                heard.thought += block.thinking
            else:
                heard.calls.append((block.id, block.name, block.input))
        assert message.stop_reason == ("tool_use" if heard.calls else "end_turn")
        content = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in message.content]
        self.messages.append({"role": "assistant", "content": content})
        return heard


def _openai(url: str, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=TIMEOUT)


AGENTS: dict[str, type[Agent]] = {"chat-completions": Chat, "responses": Responses, "messages": Messages}
