"""Pauses hold an answer until the suite lets it go, or until the agent does not want it any more."""

from __future__ import annotations

import socket
import threading
from typing import Any
from uuid import uuid4

import anthropic
import httpx
import orjson
import pytest

from conformance.backend import compose
from conformance.backend.models import ModelServices

from .agents import play
from .conftest import NewAgent, Services

JSON = Any


def _body(moves: list[JSON], *, stream: bool = True) -> JSON:
    return {"model": "m", "stream": stream, "messages": [{"role": "user", "content": compose("", moves)}]}


def test_an_answer_is_held_until_it_is_released(new_agent: NewAgent, services: Services) -> None:
    name = str(uuid4())
    answers: list[str] = []
    moves: list[JSON] = [{"say": "before"}, {"pause": name}, {"say": "after"}]

    agent = new_agent()
    turn = threading.Thread(target=lambda: answers.extend(a.text for a in play(agent, compose("", moves))))
    turn.start()
    held = services.await_request(lambda record: record.held == name)
    assert held is not None
    assert (held.performed, held.ended) == (("say", f"pause {name}"), "")
    assert not answers
    services.release("another")
    services.release(name)
    turn.join(30)
    assert [text.split() for text in answers] in ([["before", "after"]], [["beforeafter"]])
    (record,) = services.requests
    assert (record.held, record.ended) == (None, "complete")
    assert record.performed == ("say", f"pause {name}", "say")


def test_what_comes_before_a_pause_is_there_while_it_holds(services: Services) -> None:
    name = str(uuid4())
    seen = b""
    moves: list[JSON] = [{"say": "one two"}, {"pause": name}, {"say": "three"}]
    with httpx.stream("POST", f"{services.url}/chat/completions", json=_body(moves), timeout=30) as response:
        pieces = response.iter_raw()
        while b"two" not in seen:
            seen += next(pieces)
        assert b"three" not in seen
        services.release(name)
        seen += b"".join(pieces)
    assert b"three" in seen and seen.endswith(b"data: [DONE]\n\n")


def test_a_release_that_came_before_counts(new_agent: NewAgent, services: Services) -> None:
    name = str(uuid4())
    services.release(name)
    moves: list[JSON] = [{"pause": name}, {"say": "on"}, {"pause": name}]
    assert [answer.text for answer in play(new_agent(), compose("", moves))] == ["on"]


def test_one_release_frees_everyone_at_that_pause(services: Services) -> None:
    name = str(uuid4())
    replies: list[int] = []
    moves: list[JSON] = [{"pause": name}, {"fail": {"message": "no", "errorType": "http-429"}}]

    def ask() -> None:
        replies.append(httpx.post(f"{services.url}/v1/messages", json=_body(moves), timeout=30).status_code)

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert services.await_request(lambda _: [r.held for r in services.requests] == [name] * 5)
    # A failure that is still to come has a status of its own, so nothing was sent yet.
    assert {record.status for record in services.requests} == {None}
    services.release(name)
    for thread in threads:
        thread.join(30)
    assert replies == [429] * 5


@pytest.mark.parametrize("stream", [True, False])
def test_an_agent_that_breaks_off_frees_the_pause(services: Services, stream: bool) -> None:
    name = str(uuid4())
    body = orjson.dumps(_body([{"say": "a"}, {"pause": name}, {"say": "never"}], stream=stream))
    host, _, port = services.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 30) as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        assert services.await_request(lambda record: record.held == name)
    gone = services.await_request(lambda record: record.ended == "abandoned")
    assert gone is not None
    assert (gone.held, gone.performed) == (None, ("say", f"pause {name}"))


def test_a_cancelled_turn_of_the_sdk_and_the_next_one(services: Services) -> None:
    name = str(uuid4())
    with anthropic.Anthropic(base_url=services.url, api_key="any", max_retries=0) as client:
        first: JSON = {"role": "user", "content": compose("", [{"say": "a b"}, {"pause": name}])}
        with client.messages.create(model="m", max_tokens=10, messages=[first], stream=True) as stream:
            next(event for event in stream if event.type == "content_block_delta")
        assert services.await_request(lambda record: record.ended == "abandoned")
        second: JSON = {"role": "user", "content": compose("", [{"say": "c"}])}
        again = client.messages.create(model="m", max_tokens=10, messages=[first, second])
    assert again.content[0].to_dict()["text"] == "c"


def test_stopping_the_service_ends_what_is_held() -> None:
    services = ModelServices()
    url = services.start()
    assert url == services.url
    outcome: list[str] = []

    def ask() -> None:
        try:
            httpx.post(f"{url}/v1/messages", json=_body([{"say": "a"}, {"pause": "x"}]), timeout=30)
        except httpx.RemoteProtocolError as error:
            outcome.append(type(error).__name__)

    asking = threading.Thread(target=ask)
    asking.start()
    assert services.await_request(lambda record: record.held == "x", 30)
    services.stop()
    services.stop()
    asking.join(30)
    assert outcome == ["RemoteProtocolError"]
    assert services.requests[0].ended == "abandoned"
    services.release("x")  # nothing is there any more that could go on
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
