"""Whole turns of agents on the official SDKs: each surface, as a stream and as a whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import anthropic
import openai
import pytest

from conformance.backend import compose
from conformance.backend.models import ModelServices
from conformance.backend.player import FINISHED, HARMLESS, Lexicon, Template

from .agents import AGENTS, Heard, ResponseFailed, play
from .conftest import NewAgent, Services

JSON = Any
TOOLS = ["vault-read", "vault-write", "mcp__notes__add", "show"]
ROUNDS: list[JSON] = [
    {"think": "What is this about?"},
    {"say": "I look it up, wait a moment."},
    {
        "call": {
            "tool": "read",
            "server": "vault",
            "input": {"key": 'ä\n"quoted"', "many": [1, 2.5, None]},
            "with": [{"tool": "add", "server": "notes"}, {"tool": "show", "client": "c"}],
        }
    },
    {"mcp": {"server": "vault"}},
    {"think": "One more."},
    {"call": {"tool": "write", "server": "vault", "input": {"deep": {"er": {}}}}},
    {"say": "All "},
    {"say": "is well."},
]


def test_a_turn_of_several_rounds(new_agent: NewAgent, streamed: bool, services: Services, surface: str) -> None:
    first, second, last = play(new_agent(TOOLS), compose("Please.", ROUNDS))
    assert first.thought == "What is this about?"
    assert first.text == "I look it up, wait a moment."
    assert first.called == [
        ("vault-read", {"key": 'ä\n"quoted"', "many": [1, 2.5, None]}),
        ("mcp__notes__add", {}),
        ("show", {}),
    ]
    assert len({own for own, _, _ in first.calls}) == 3
    assert (second.thought, second.text) == ("One more.", "")
    assert second.called == [("vault-write", {"deep": {"er": {}}})]
    assert last.text.split() == ["All", "is", "well."]
    assert not last.thought and not last.calls
    assert (first.pieces >= 6) == streamed, "a word at a time"
    assert all(answer.usage > 1 for answer in (first, second, last))

    records = services.requests
    assert [record.place for record in records] == [0, 3, 6]
    assert [record.performed for record in records] == [
        ("think", "say", "call vault-read", "call mcp__notes__add", "call show"),
        ("think", "call vault-write"),
        ("say", "say"),
    ]
    for record in records:
        assert (record.surface, record.method, record.status) == (surface, "POST", 200)
        assert record.streamed == streamed
        assert record.message == compose("Please.", ROUNDS)
        assert record.tools == tuple(TOOLS)
        assert (record.missing, record.error, record.held, record.ended) == ((), None, None, "complete")


def test_nothing_is_kept_at_the_service(new_agent: NewAgent, services: Services) -> None:
    other = ModelServices()
    other.start()
    try:
        answers = play(new_agent(TOOLS, urls=[services.url, other.url]), compose("", ROUNDS))
        asked = [[record.place for record in each.requests] for each in (services, other)]
    finally:
        other.stop()
    assert [len(answer.calls) for answer in answers] == [3, 1, 0]
    assert asked == [[0, 6], [3]]


def test_the_next_message_brings_its_own_playbook(new_agent: NewAgent) -> None:
    agent = new_agent(TOOLS)
    play(agent, compose("", ROUNDS))
    assert [answer.text for answer in play(agent, compose("", [{"say": "Once more."}]))] == ["Once more."]
    assert [answer.text for answer in play(agent, "Thanks!")] == [HARMLESS]


def test_a_request_without_a_playbook_gets_a_harmless_answer(new_agent: NewAgent, services: Services) -> None:
    assert [answer.text for answer in play(new_agent(TOOLS), "Find a title for: a walk")] == [HARMLESS]
    (record,) = services.requests
    assert (record.message, record.place, record.performed) == (None, None, ())


def test_a_playbook_that_ends_with_a_call_has_a_last_word(new_agent: NewAgent) -> None:
    answers = play(new_agent(["s-t"]), compose("", [{"call": {"tool": "t", "server": "s"}}]))
    assert [answer.text for answer in answers] == ["", FINISHED]


def test_a_message_wrapped_by_the_agent(new_agent: NewAgent) -> None:
    told = compose("Do it.", [{"say": "with ]} <in> it"}, {"call": {"tool": "t", "server": "s"}}, {"say": "end"}])
    wrapped = f"<date>Today [1]</date>\n<user>\n{told}</user>\n\n<reminder>\nUse tools: [a, b]\n</reminder>"
    first, last = play(new_agent(["s-t"]), wrapped)
    assert (first.text, first.called, last.text) == ("with ]} <in> it", [("s-t", {})], "end")


def test_a_tool_that_is_not_offered(new_agent: NewAgent, services: Services) -> None:
    moves: list[JSON] = [
        {"call": {"tool": "gone", "server": "vault", "with": [{"tool": "read", "server": "vault"}]}},
        {"call": {"tool": "gone"}},
        {"say": "On."},
    ]
    first, last = play(new_agent(TOOLS), compose("", moves))
    assert (first.text, first.called) == ("The tool gone is not available.", [("vault-read", {})])
    assert last.text.split("The tool gone is not available.")[1].strip() == "On."
    assert [record.missing for record in services.requests] == [("vault/gone",), ("gone",)]


def test_a_broken_playbook_is_told_and_recorded(new_agent: NewAgent, services: Services) -> None:
    (answer,) = play(new_agent(TOOLS), 'x\nahp-playbook: [{"dance": 1}]')
    assert "unknown move 'dance'" in answer.text
    (record,) = services.requests
    assert record.error is not None and "unknown move 'dance'" in record.error
    assert record.message == 'x\nahp-playbook: [{"dance": 1}]'


def test_moves_in_the_tools_of_the_host(new_agent: NewAgent) -> None:
    lexicon = Lexicon(
        confirmed=Template("bash", {"command": "echo {tool}", "why": ["{result}"]}),
        ask=Template("ask_user", {"question": "{message}", "choices": "{choices}"}),
    )
    question = {"id": "q", "message": "Which?", "options": [{"id": "a", "label": "Red"}, {"id": "b", "label": "Blue"}]}
    moves: list[JSON] = [
        {"call": {"tool": "shell", "confirm": True, "result": "fine"}},
        {"ask": {"message": "Some questions", "questions": [question]}},
        {"say": "Bye."},
    ]
    services = ModelServices(lexicon=lexicon)
    try:
        agent = new_agent(["bash", "ask_user"], urls=[services.start()])
        answers = play(agent, compose("", moves), lambda name, _: "Blue" if name == "ask_user" else "")
    finally:
        services.stop()
    assert [answer.called for answer in answers] == [
        [("bash", {"command": "echo shell", "why": ["fine"]})],
        [("ask_user", {"question": "Which?", "choices": ["Red", "Blue"]})],
        [],
    ]
    assert answers[-1].text.startswith("The answer was: Blue")
    assert answers[-1].text.endswith("Bye.")


ERRORS: dict[str, tuple[type[Exception], type[Exception]]] = {
    "http-401": (openai.AuthenticationError, anthropic.AuthenticationError),
    "http-429": (openai.RateLimitError, anthropic.RateLimitError),
    "http-500": (openai.InternalServerError, anthropic.InternalServerError),
    "whatever": (openai.InternalServerError, anthropic.InternalServerError),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_failure_in_place_of_an_answer(new_agent: NewAgent, surface: str, kind: str, services: Services) -> None:
    expected = ERRORS[kind][surface == "messages"]
    agent = new_agent()
    agent.say(compose("", [{"fail": {"message": "It broke.", "errorType": kind}}, {"say": "never"}]))
    for _ in range(2):  # a retry meets the same
        with pytest.raises(expected, match=r"It broke\."):
            agent.answer()
    status = int(kind[-3:]) if kind.startswith("http") else 500
    assert [(record.status, record.performed) for record in services.requests] == [(status, ("fail",))] * 2


def test_a_failure_after_a_call_and_after_a_text(new_agent: NewAgent, streamed: bool, services: Services) -> None:
    moves: list[JSON] = [{"call": {"tool": "t", "server": "s"}}, {"say": "So far"}, {"fail": {"message": "It broke."}}]
    with pytest.raises((openai.APIError, anthropic.APIError, ResponseFailed), match=r"It broke\."):
        play(new_agent(["s-t"]), compose("", moves))
    record = services.requests[-1]
    assert record.performed == ("say", "fail")
    assert record.status == (200 if streamed else 500)


def test_an_answer_that_is_cut(new_agent: NewAgent, services: Services) -> None:
    agent = new_agent()
    agent.say(compose("", [{"say": "Well"}, {"fail": {"message": "", "errorType": "cut"}}]))
    # One of the SDKs lets the error of its transport through.
    with pytest.raises(Exception, match=r"Connection error|peer closed connection"):
        agent.answer()
    (record,) = services.requests
    assert (record.ended, record.status, record.performed) == ("cut", 200, ("say", "fail"))


def test_many_conversations_at_once(services: Services) -> None:
    def one(number: int) -> list[Heard]:
        agent = list(AGENTS.values())[number % 3]([services.url], TOOLS, streamed=number % 2 == 0)
        call = {"tool": "read", "server": "vault", "input": {"number": number}}
        moves: list[JSON] = [{"call": call}, {"pause": "all"}, {"call": call}, {"say": f"I am {number}."}]
        with closing(agent):
            return play(agent, compose("", moves), lambda _, given: str(given["number"]))

    with ThreadPoolExecutor(50) as pool:
        running = [pool.submit(one, number) for number in range(50)]
        # All of them stand at the pause at the same time.
        everyone = services.await_request(
            lambda _: len([1 for record in services.requests if record.held == "all"]) == 50
        )
        services.release("all")
        turns = [turn.result(30) for turn in running]
    assert everyone is not None
    for number, turn in enumerate(turns):
        assert [answer.called for answer in turn] == [[("vault-read", {"number": number})]] * 2 + [[]]
        assert turn[-1].text == f"I am {number}."
    assert len(services.requests) == 150
