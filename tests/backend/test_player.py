"""What the model answers, from the conversation alone."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from conformance.backend import compose
from conformance.backend.lexicon import offered_name
from conformance.backend.player import (
    FINISHED,
    HARMLESS,
    Answer,
    Call,
    Fail,
    Lexicon,
    Message,
    Pause,
    Say,
    Template,
    Think,
    answer,
    read_lexicon,
)

JSON = Any

READ: JSON = {"call": {"tool": "read", "server": "vault", "input": {"a": 1}}}
WRITE: JSON = {"call": {"tool": "write", "server": "vault"}}
TOOLS = ("vault-read", "vault-write")


def user(*moves: JSON) -> Message:
    return Message("user", compose("Please.", moves))


def called(*ids: str, text: str = "") -> Message:
    return Message("assistant", text, ids)


def result(own: str, text: str = "") -> Message:
    return Message("tool", text, (own,))


def told(found: Answer) -> list[Any]:
    """The parts, calls by their tool."""
    return [part.tool if isinstance(part, Call) else part for part in found.parts]


def test_one_answer_plays_up_to_the_next_call() -> None:
    message = user({"think": "a"}, {"say": "b"}, {"pause": "p"}, {"say": "c"}, READ, {"say": "later"})
    found = answer([message], TOOLS)
    assert found.parts[:-1] == (Think("a"), Say("b"), Pause("p"), Say("c"))
    call = found.parts[-1]
    assert isinstance(call, Call)
    assert (call.tool, orjson.loads(call.arguments)) == ("vault-read", {"a": 1})
    assert (found.message, found.place, found.missing, found.error) == (message.text, 0, (), None)


def test_ids_are_such_that_every_service_and_agent_takes_them() -> None:
    moves = [{"say": ""}] * 120 + [{"call": {**READ["call"], "with": [WRITE["call"]] * 12}}]
    ids = [part.id for part in answer([user(*moves)], TOOLS).parts if isinstance(part, Call)]
    assert len(set(ids)) == 13
    for sibling, own in enumerate(ids):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,39}", own)
        assert own.startswith(f"ahpc_120_{sibling}_")


def test_the_place_follows_from_the_ids() -> None:
    message = user(READ, {"say": "x"}, READ, {"say": "y"}, READ, {"say": "z"})
    since = [called("ahpc_0_0_aa"), result("ahpc_0_0_aa"), called("ahpc_2_0_bb"), result("ahpc_2_0_bb")]
    found = answer([message, *since], TOOLS)
    assert (told(found), found.place) == ([Say("y"), "vault-read"], 3)
    # An agent may put something of its own around an id, and forget early rounds.
    found = answer([message, called("call|ahpc_4_1_cc|fc"), result("call|ahpc_4_1_cc|fc")], TOOLS)
    assert (told(found), found.place) == ([Say("z")], 5)


def test_the_place_is_counted_where_the_agent_renames_calls() -> None:
    message = user(
        {"say": "a"}, {"call": {"tool": "gone", "server": "vault"}}, READ, {"think": "b"}, WRITE, {"say": "c"}
    )
    first = [message, called("toolu_1"), result("toolu_1")]
    assert told(answer(first, TOOLS)) == [Think("b"), "vault-write"]
    second = [*first, called("toolu_2"), result("toolu_2")]
    assert told(answer(second, TOOLS)) == [Say("c")]
    third = [*second, called("toolu_3"), result("toolu_3")]
    assert told(answer(third, TOOLS)) == [Say(FINISHED, "")]


def test_siblings_are_one_round() -> None:
    both = {"call": {**READ["call"], "with": [WRITE["call"]]}}
    message = user(both, {"say": "on"})
    assert told(answer([message], TOOLS)) == ["vault-read", "vault-write"]
    for ids in (("ahpc_0_0_aa", "ahpc_0_1_bb"), ("x", "y")):
        # Some agents write each call as a message of its own.
        split = [called(ids[0]), called(ids[1]), result(ids[0]), result(ids[1])]
        joined = [called(*ids), result(ids[1]), result(ids[0])]
        for since in (split, joined):
            assert told(answer([message, *since], TOOLS)) == [Say("on")]


def test_an_answer_without_calls_ends_the_playbook() -> None:
    message = user(READ, {"say": "on"})
    since = [called("ahpc_0_0_aa"), result("ahpc_0_0_aa"), called(text="on")]
    for tail in ([], [Message("user", "And now?")]):
        found = answer([message, *since, *tail], TOOLS)
        assert (found.parts, found.message, found.place) == ((Say(HARMLESS, ""),), None, None)


def test_text_and_calls_of_one_answer_may_be_several_messages() -> None:
    message = user(READ, {"say": "on"})
    since = [called(text="I look."), called("x"), result("x")]
    assert told(answer([message, *since], TOOLS)) == [Say("on")]


def test_the_last_message_with_a_playbook_counts() -> None:
    old = [user({"say": "old"}), called(text="old")]
    new = user({"say": "new"})
    assert told(answer([*old, new], ())) == [Say("new")]
    # Reminders in messages of their own, before and after, and texts that tools have read.
    around = [Message("user", "<env>here</env>"), new, Message("user", "<reminder>be good</reminder>")]
    assert told(answer([*old, *around], ())) == [Say("new")]
    read = Message("tool", user({"say": "by a tool"}).text, ("x",))
    assert told(answer([user(READ, {"say": "mine"}), called("x"), read], TOOLS)) == [Say("mine")]


def test_a_message_after_a_turn_that_came_to_nothing_is_the_next_turn() -> None:
    hello = Message("user", "<date day='1'>today</date>\n\nHello.\n<reminder>be good</reminder>")
    aside = Message("user", "<reminder>be <b>good</b>\n</reminder>\n<env>here</env>")
    failing, held = user({"fail": {"message": "m"}}), user({"pause": "p"}, {"say": "x"})
    after_call = [user(READ, {"fail": {"message": "m"}}), called("x"), result("x")]
    for before in ([failing], [held], after_call):
        assert answer([*before, hello], TOOLS) == Answer((Say(HARMLESS, ""),))
        assert answer([*before, aside], TOOLS) == answer(before, TOOLS)
    steered = [user(READ, {"say": "on"}), called("x"), result("x"), Message("user", "Faster, please.")]
    assert told(answer(steered, TOOLS)) == [Say("on")]


def test_without_a_playbook_the_answer_is_harmless() -> None:
    for conversation in ([], [Message("user", "Hi")], [called(text="Hi")], [Message("assistant", user().text)]):
        assert answer(conversation, TOOLS) == Answer((Say(HARMLESS, ""),))


def test_a_broken_playbook_is_told() -> None:
    found = answer([Message("user", 'x\nahp-playbook: [{"say": 1}]')], ())
    assert found.error == "move 0 (say): expected a string"
    assert found.parts == (Say(f"The playbook cannot be played: {found.error}", ""),)
    broken = answer([Message("user", "ahp-playbook: [oops"), called("x"), result("x")], ())
    assert broken.error is not None and "not JSON" in broken.error


def test_an_empty_answer_is_none() -> None:
    for moves in ([], [{"say": ""}], [{"think": "only"}], [{"mcp": {"server": "s"}}], [{"pause": "p"}]):
        assert answer([user(*moves)], ()).parts[-1] == Say(FINISHED, "")
    assert answer([user({"say": "x"}, {"mcp": {"server": "s"}})], ()).parts == (Say("x"),)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ({}, Fail("m")),
        ({"errorType": "http-429"}, Fail("m", 429)),
        ({"errorType": "http-401"}, Fail("m", 401)),
        ({"errorType": "http-200"}, Fail("m", 500)),
        ({"errorType": "broken"}, Fail("m", 500)),
        ({"errorType": "cut"}, Fail("m", 500, cut=True)),
    ],
)
def test_failures(kind: JSON, expected: Fail) -> None:
    message = user(READ, {"say": "a"}, {"fail": {"message": "m", **kind}}, {"say": "never"})
    since = [called("x"), result("x")]
    found = answer([message, *since], TOOLS)
    assert found.parts == (Say("a"), expected)
    assert answer([message, *since], TOOLS) == found, "a retry meets the same"


def test_what_is_not_available_is_told_and_left_out() -> None:
    part: JSON = {"call": {"tool": "gone", "server": "vault", "with": [READ["call"], {"tool": "off", "client": "c"}]}}
    found = answer([user({"call": {"tool": "bash"}}, part, {"say": "on"})], TOOLS)
    lines = [Say(f"The tool {tool} is not available.", "") for tool in ("bash", "gone", "off")]
    assert told(found) == [*lines, "vault-read"]
    assert found.missing == ("bash", "vault/gone", "off")
    assert told(answer([user(READ, {"ask": {"message": "?"}}, {"say": "on"})], ())) == [
        Say("The tool read is not available.", ""),
        Say("The tool ask is not available.", ""),
        Say("on"),
    ]


@pytest.mark.parametrize(
    ("tool", "server", "offered", "expected"),
    [
        ("read", None, ["read"], "read"),
        ("read", None, ["vault-read", "read"], "read"),
        ("read", None, ["bread", "vault-read"], "vault-read"),
        ("read", None, ["bread", "ready"], None),
        ("read", "vault", ["read", "vault-read"], "vault-read"),
        ("read", "vault", ["read", "other-read"], "read"),
        ("read", "vault", ["other-read"], None),
        ("read", "vault", ["mcp__vault__read"], "mcp__vault__read"),
        ("read", "vault", ["vault_read", "other_read"], "vault_read"),
        ("read", "vault", ["old-vault-read", "vault-read"], "vault-read"),
        ("read", "vault", ["oldvault-read", "vaults-read"], None),
        ("read", "vault", ["vault-un-read"], None),
        ("read", "my.vault-2", ["mcp__my_vault-2__read"], "mcp__my_vault-2__read"),
        ("read-it.now", "vault", ["vault-read_it_now"], "vault-read_it_now"),
        ("read", "vault", ["vault-read-more", "vault-"], None),
    ],
)
def test_names_of_tools(tool: str, server: str | None, offered: list[str], expected: str | None) -> None:
    assert offered_name(tool, offered, server) == expected


LEXICON = Lexicon(
    plain=Template("bash", {"command": "echo {tool} {result}"}),
    confirmed=Template("python", {"code": ["print('{tool}')", {"deep": "{result}"}, 3]}),
    failing=Template("bash", {"command": "echo '{message}'; false"}),
    ask=Template("ask_user", {"question": "{message}", "choices": "{choices}", "hint": "one of {choices}"}),
)
OWN = ("x-bash", "python", "ask_user", "shell")


@pytest.mark.parametrize(
    ("move", "tool", "arguments"),
    [
        ({"call": {"tool": "t", "result": "r"}}, "x-bash", {"command": "echo t r"}),
        ({"call": {"tool": "t", "input": {"a": 1}}}, "x-bash", {"command": 'echo t {"a":1}'}),
        ({"call": {"tool": "t", "result": "{message}"}}, "x-bash", {"command": "echo t {message}"}),
        ({"call": {"tool": "shell"}}, "x-bash", {"command": "echo shell {}"}),
        ({"call": {"tool": "t", "fails": 'it"s'}}, "x-bash", {"command": "echo 'it\"s'; false"}),
        (
            {"call": {"tool": "t", "confirm": True, "fails": "m", "result": "r"}},
            "python",
            {"code": ["print('t')", {"deep": "r"}, 3]},
        ),
        (
            {"ask": {"message": "Some", "questions": [{"message": "Which?", "options": ["A", {"id": "b"}, 3, {}]}]}},
            "ask_user",
            {"question": "Which?", "choices": ["A", "b"], "hint": "one of A, b"},
        ),
        ({"ask": {"message": "Free?"}}, "ask_user", {"question": "Free?", "hint": "one of "}),
        ({"ask": {"questions": [3, {"options": 7}]}}, "ask_user", {"question": "", "hint": "one of "}),
    ],
)
def test_moves_in_the_tools_of_the_host(move: JSON, tool: str, arguments: JSON) -> None:
    (call,) = answer([user(move)], OWN, LEXICON).parts
    assert isinstance(call, Call)
    assert (call.tool, orjson.loads(call.arguments)) == (tool, arguments)


def test_without_a_template_only_a_plain_call_of_that_very_name_can_be_made() -> None:
    assert told(answer([user({"call": {"tool": "shell"}})], OWN)) == ["shell"]
    for call in ({"tool": "bash"}, {"tool": "shell", "confirm": True}, {"tool": "shell", "fails": "no"}):
        found = answer([user({"call": call})], OWN)
        assert found.missing == (call["tool"],)
    assert answer([user({"call": {"tool": "t"}})], ("other",), LEXICON).missing == ("t",), "its template is not offered"


def test_how_a_question_was_answered_is_told() -> None:
    message = user({"ask": {"message": "Which?"}}, {"say": "on"})
    for own in ("ahpc_0_0_aa", "renamed"):
        found = answer([message, called(own), result(own, "Blue")], OWN, LEXICON)
        assert found.parts == (Say("The answer was: Blue", ""), Say("on"))


def test_a_lexicon_is_read_from_a_table() -> None:
    table = {"plain": {"name": "bash", "input": {"command": "{tool}"}}, "ask": {"name": "ask_user"}}
    assert read_lexicon(table) == Lexicon(plain=Template("bash", {"command": "{tool}"}), ask=Template("ask_user"))
    assert read_lexicon({}) == Lexicon()
    wrong: list[tuple[JSON, str]] = [
        ({"plan": {"name": "x"}}, "unknown tool 'plan'"),
        ({"ask": "x"}, "ask: expected a table"),
        ({"ask": {}}, "ask: expected a table"),
        ({"ask": {"name": "x", "arguments": {}}}, "ask: expected a table"),
        ({"ask": {"name": "x", "input": []}}, "ask: input is a table"),
    ]
    for bad, why in wrong:
        with pytest.raises(ValueError, match=why):
            read_lexicon(bad)
