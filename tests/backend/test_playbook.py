"""The playbook in a message: written, found, and refused when nobody could play it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.backend import PlaybookError, compose, find, token_hash
from conformance.backend.playbook import find_within

HASH = token_hash("t")
CHALLENGE = {"status": 401, "resource": "https://r.example", "accept": [HASH]}

GOOD: list[list[dict[str, Any]]] = [
    [],
    [{"say": "hi"}, {"think": "hm"}, {"pause": "here"}],
    [{"call": {"tool": "t", "server": "s", "input": {"a": [1]}, "challenges": [CHALLENGE]}}],
    [{"call": {"tool": "t", "client": "c", "confirm": True, "with": [{"tool": "u", "fails": "no"}]}}],
    [{"mcp": {"server": "s", "resource": "https://r.example", "challenge": CHALLENGE, "wait": False}}],
    [{"ask": {"message": "?", "questions": []}}, {"fail": {"message": "boom", "errorType": "x"}}],
]
BAD: list[Any] = [
    {"say": "hi"},
    ["say"],
    [{}],
    [{"say": "a", "think": "b"}],
    [{"dance": 1}],
    [{"say": 1}],
    [{"call": {}}],
    [{"call": {"tool": 1}}],
    [{"call": {"tool": "t", "confirm": 1}}],
    [{"call": {"tool": "t", "server": "s", "client": "c"}}],
    [{"call": {"tool": "t", "challenges": [CHALLENGE]}}],
    [{"call": {"tool": "t", "server": "s", "challenges": [{**CHALLENGE, "status": 500}]}}],
    [{"call": {"tool": "t", "server": "s", "challenges": [{**CHALLENGE, "accept": ["a-token"]}]}}],
    [{"call": {"tool": "t", "with": [{"server": "s"}]}}],
    [{"mcp": {"challenge": CHALLENGE}}],
    [{"ask": {"questions": "no"}}],
    [{"fail": {}}],
]


@pytest.mark.parametrize("moves", GOOD)
def test_what_is_composed_is_found(moves: list[dict[str, Any]]) -> None:
    assert find(compose("Do it.\nNow.", moves)) == moves


@pytest.mark.parametrize("moves", BAD)
def test_what_nobody_can_play_is_refused(moves: Any) -> None:
    with pytest.raises(PlaybookError):
        find(f"x\nahp-playbook: {orjson.dumps(moves).decode()}" if isinstance(moves, list) else "ahp-playbook: [3]")
    with pytest.raises(PlaybookError):
        compose("x", moves)


def test_messages_without_a_playbook_have_none() -> None:
    assert find("") is None
    assert find("the words ahp-playbook: [] in a sentence") is None
    assert find('ahp-playbook: [{"say":"x"}]\nand more text') is None
    with pytest.raises(PlaybookError, match="not JSON"):
        find("ahp-playbook: [oops]")


@given(st.text(), st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=3))
def test_any_text_can_be_said(text: str, says: list[str]) -> None:
    moves = [{"say": said} for said in says]
    assert find(compose(text, moves)) == moves


@given(
    st.text(),
    st.text(),
    st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])) | st.just("\n>ahp-playbook: [1]"), max_size=3),
)
def test_a_playbook_is_found_within_whatever_an_agent_puts_around_it(before: str, after: str, says: list[str]) -> None:
    moves = [{"say": said} for said in says]
    assert find_within(f"{before}{compose('x', moves)}{after}") == moves
    assert find_within(f"<user>{compose('', moves).strip()}</user>{after}") == moves


def test_the_last_playbook_within_a_text_wins() -> None:
    one, two = compose("", [{"say": "one"}]), compose("", [{"say": "two"}])
    assert find_within(f"{one} [1] {two} ]") == [{"say": "two"}]
    assert find_within(f"ahp-playbook: [oops {two}") == [{"say": "two"}]
    assert find_within(f"{one}\nahp-playbook: nothing") == [{"say": "one"}]
    for text in ("", "the words ahp-playbook: [] in a sentence", "ahp-playbook: {}"):
        assert find_within(text) is None


@pytest.mark.parametrize("end", ["[oops", "[NaN]", "[" * 100_000, '[{"dance": 1}]', "[3]"])
def test_a_last_playbook_that_is_none_is_an_error(end: str) -> None:
    with pytest.raises(PlaybookError):
        find_within(f"{compose('', [])}\nahp-playbook: {end}\n</user>")


def test_a_token_is_named_by_its_hash_alone() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", token_hash("geheim"))
    assert token_hash("a") != token_hash("b")


def test_the_schema_in_the_contract_agrees() -> None:
    contract = Path(__file__).parents[2] / "docs" / "backend.md"
    if not contract.exists():
        pytest.skip("runs in a checkout only")
    block = re.search(r"```json\n(\{\n  \"\$schema\".*?)\n```", contract.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    schema = orjson.loads(block[1])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for moves in GOOD:
        validator.validate(moves)
    for moves in BAD:
        assert not validator.is_valid(moves), moves
