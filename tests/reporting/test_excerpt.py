"""Excerpts keep what matters, fit where they must, and do nothing to the reader."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.reporting.excerpt import compact, middle, trim, visible, words_of


def test_a_short_message_stays_as_it_is() -> None:
    assert compact({"id": 1, "result": None}) == '{"id":1,"result":null}'


def test_the_named_part_survives_in_a_long_message() -> None:
    parts = [{"id": f"part-{n}", "kind": "markdown", "content": "word " * 50} for n in range(200)]
    parts[150] = {"id": "call-7", "kind": "toolCall", "status": "auth-required", "content": "x" * 500}
    message = {"jsonrpc": "2.0", "id": 4, "result": {"snapshot": {"state": {"turns": [{"parts": parts}]}}}}
    text = compact(message, words=words_of("The call call-7 is still auth-required."), limit=330)
    assert len(text) <= 330
    assert '"call-7"' in text
    assert '"auth-required"' in text
    assert "part-3" not in text


def test_what_is_left_out_is_counted() -> None:
    text = compact({"method": "x", "params": {"deep": {str(n): {"a": {"b": n}} for n in range(90)}}}, limit=60)
    assert len(text) <= 60
    assert "…" in text


def test_control_characters_become_visible() -> None:
    assert visible("a\x1b[31mb\x07\n") == "a\\u001b[31mb\\u0007\\u000a"
    assert visible("a\nb", lines=True) == "a\nb"
    assert visible("\u202eevil\U000e0001") == "\\u202eevil\\U000e0001"
    assert visible("héllo «wörld» 日本") == "héllo «wörld» 日本"


def test_the_middle_goes_first() -> None:
    assert middle("abcdefghij", 10) == "abcdefghij"
    assert middle("abcdefghijk", 7) == "abcd…jk"
    assert middle("abcdef", 1) == "a…"[:2]


def test_what_cannot_be_cut_down_is_not_quoted_once_more() -> None:
    message = {f"member{n}": {"channel": "x" * 60, "type": "y" * 60} for n in range(3)}
    words = [f"member{n}" for n in range(3)] + ["x" * 60, "y" * 60, "channel", "type"]
    assert '\\"' not in compact(message, words=words, limit=200)


def test_words_are_those_that_can_name_something() -> None:
    assert words_of("the entry r1-x of ahp-session:/s1.", None) == {"entry", "r1-x", "ahp-session:/s1"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.integers(40, 400), st.lists(st.text(min_size=1, max_size=5)))
def test_any_value_fits(value: Any, limit: int, words: list[str]) -> None:
    assert len(compact(value, words=words, limit=limit)) <= limit
    trimmed = trim(value, words=words, limit=limit)
    json.dumps(trimmed, allow_nan=False).encode()
    json.dumps(trimmed, ensure_ascii=False).encode("utf-8")
