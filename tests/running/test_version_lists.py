"""What a refused handshake may list as supported versions, and which of them the suite then offers."""

from __future__ import annotations

import pytest

from scenarios.supported_versions import is_listed_right, lowest_of


@pytest.mark.parametrize(
    ("listed", "lowest"),
    [
        ("0.9.0", "0.9.0"),
        ("^0.9.0", "0.9.0"),
        ("~0.9", "0.9.0"),
        ("0.9.x", "0.9.0"),
        (">=0.1.0 <0.3.0", "0.1.0"),
        ("0.6.0 - 0.9.0", "0.6.0"),
        ("^0.7.0 || ^0.6.0", "0.6.0"),
        ("<1.0.0", None),
        (">0.5.0 <=0.9.0", None),
        ("*", None),
    ],
)
def test_ranges_are_read_as_semver_writes_them(listed: str, lowest: str | None) -> None:
    assert is_listed_right(listed)
    assert lowest_of(listed) == lowest


@pytest.mark.parametrize("listed", ["", "all of them", "0.9.0 or so", 9, None])
def test_what_is_no_range_is_told_apart(listed: object) -> None:
    assert not is_listed_right(listed)
