"""Versions, windows and the rules that a negotiated version falls under."""

from __future__ import annotations

import pytest

from conformance.protocol import VERSIONS, Window, compare, is_version, parse_version, rules_for


def test_versions_are_in_order() -> None:
    assert list(VERSIONS) == sorted(VERSIONS, key=parse_version)


@pytest.mark.parametrize("text", ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-rc.1", "v1.0.0", " 1.0.0", "1.0.0\n"])
def test_only_three_plain_numbers_are_a_version(text: str) -> None:
    assert not is_version(text)
    with pytest.raises(ValueError, match="not a protocol version"):
        parse_version(text)


def test_comparison_is_numeric() -> None:
    assert compare("0.10.0", "0.9.0") == 1
    assert compare("0.9.0", "0.10.0") == -1
    assert compare("1.0.0", "1.0.0") == 0


@pytest.mark.parametrize(
    ("negotiated", "rules"),
    [
        ("0.5.2", "0.6.0"),
        ("0.6.0", "0.6.0"),
        ("0.6.9", "0.6.0"),
        ("0.9.3", "0.9.0"),
        ("0.10.0", "1.0.0"),
        ("1.7.3", "1.0.0"),
    ],
)
def test_a_negotiated_version_is_judged_by_the_newest_rules_below_it(negotiated: str, rules: str) -> None:
    assert rules_for(negotiated) == rules


def test_until_is_the_first_version_without() -> None:
    window = Window("0.7.0", "0.9.0")
    assert [version for version in VERSIONS if window.contains(version)] == ["0.7.0", "0.8.0"]
    assert window.contains("0.8.5")


def test_an_open_window_lasts() -> None:
    assert Window("0.9.0").contains("1.0.0")
    assert not Window("0.9.0").contains("0.8.0")


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(ValueError, match="empty version window"):
        Window("0.9.0", "0.9.0")
