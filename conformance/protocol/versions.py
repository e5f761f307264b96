"""Protocol versions and the windows in which a rule, action, member or method exists.

Source: `docs/specification/versioning.md` and the changelog of the specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

VERSIONS: Final = ("0.6.0", "0.7.0", "0.8.0", "0.9.0", "1.0.0")
"""Every version whose rules this suite knows, oldest first."""

BASELINE: Final = VERSIONS[0]
NEWEST: Final = VERSIONS[-1]

_SEMVER = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")


def parse_version(text: str) -> tuple[int, int, int]:
    """The three numbers of a MAJOR.MINOR.PATCH string.

    Raises ValueError for anything else: pre-release and build parts, leading zeros and blanks are
    not protocol versions.
    """
    match = _SEMVER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a protocol version: {text!r} (expected MAJOR.MINOR.PATCH)")
    major, minor, patch = match.groups()
    return int(major), int(minor), int(patch)


parse: Final = parse_version
"""The same under the name that reads well after the module: `versions.parse`."""


def is_version(text: object) -> bool:
    """Whether the value is a well-formed protocol version string."""
    return isinstance(text, str) and _SEMVER.fullmatch(text) is not None


def compare(left: str, right: str) -> int:
    """-1, 0 or 1, in version order. Raises ValueError for malformed versions."""
    a, b = parse_version(left), parse_version(right)
    return (a > b) - (a < b)


@lru_cache(maxsize=256)
def rules_for(version: str) -> str:
    """The member of VERSIONS whose rules apply to a negotiated version.

    That is the newest known version not above it, so 0.9.3 is judged as 0.9.0 and 1.7.3 as 1.0.0.
    0.10.0 was never released; hosts that announce it speak the wire contract of 1.0.0.
    Versions older than the baseline are judged by the baseline. Raises ValueError when malformed.
    """
    wanted = parse_version(version)
    if (0, 10, 0) <= wanted < (1, 0, 0):
        return "1.0.0"
    known = [candidate for candidate in VERSIONS if parse_version(candidate) <= wanted]
    return known[-1] if known else BASELINE


@lru_cache(maxsize=1024)
def _contains(since: str, until: str | None, version: str) -> bool:
    judged = parse_version(rules_for(version))
    return parse_version(since) <= judged and (until is None or judged < parse_version(until))


@dataclass(frozen=True, slots=True)
class Window:
    """The versions in which something exists.

    since: the first version with it. until: the first version without it; None while it lasts.
    """

    since: str = "0.1.0"
    until: str | None = None

    def __post_init__(self) -> None:
        parse_version(self.since)
        if self.until is not None and compare(self.since, self.until) >= 0:
            raise ValueError(f"empty version window: since {self.since}, until {self.until}")

    def contains(self, version: str) -> bool:
        """Whether a connection that negotiated this version has it (see `rules_for`)."""
        return _contains(self.since, self.until, version)

    def __str__(self) -> str:
        return f"{self.since}..{self.until or ''}"


ALWAYS: Final = Window()
