"""Protocol versions at the host: which one a connection gets, and how an action sounds in each.

The host keeps every channel folded once per supported version. An action is written once, in a form
that holds the members of all versions, and `speak` gives each version its own. Sources:
`docs/specification/versioning.md`; for the differences the changelog of the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from conformance.protocol.actions import ACTIONS
from conformance.protocol.versions import parse_version

JSON = Any

VERSIONS_SUPPORTED: Final = ("0.6.0", "0.9.0")
"""What the reference host speaks unless told otherwise, oldest first."""

_SPECIFIC_FIRST: Final = ("session", "workspace", "global")


class NoCommonVersionError(Exception):
    """Nothing in the offer is spoken here (error -32005)."""


def negotiate(offered: Sequence[str], supported: Sequence[str]) -> tuple[str, str]:
    """(the version to announce, the supported version whose rules apply).

    A host below 1.0.0 takes the first offered version that it speaks. A 1.x host takes the numerically
    highest offer inside the caret range of a version that it supports. Raises NoCommonVersionError, and
    ValueError when a 1.x host meets an entry that is no version at all.
    """
    if "1.0.0" not in supported:
        for version in offered:
            if version in supported:
                return version, version
        raise NoCommonVersionError
    best: tuple[tuple[int, int, int], str, str] | None = None
    for version in offered:
        numbers = parse_version(version)
        for baseline in supported:
            base = parse_version(baseline)
            same_line = numbers[:1] == base[:1] if base[0] else numbers[:2] == base[:2]
            if same_line and numbers >= base and (best is None or numbers > best[0]):
                best = (numbers, version, baseline)
    if best is None:
        raise NoCommonVersionError
    return best[1], best[2]


@lru_cache(maxsize=256)
def at_least(version: str, since: str) -> bool:
    """Whether a supported version is not older than `since`."""
    return parse_version(version) >= parse_version(since)


@lru_cache(maxsize=1024)
def knows(action_type: str, version: str) -> bool:
    """Whether the version has this action type."""
    entry = ACTIONS.get(action_type)
    return entry is not None and entry.window.contains(version)


def complete(action: JSON) -> JSON:
    """A client's action with the members added that other versions have for the same thing."""
    if action.get("type") != "session/customizationToggled":
        return action
    if "enablement" in action:
        decisions = sorted(action["enablement"], key=lambda entry: _SPECIFIC_FIRST.index(entry["kind"]))
        enabled = decisions[0]["enabled"] if decisions else True
        return {**action, "enablement": decisions, "enabled": enabled}
    return {**action, "enablement": [{"kind": "session", "enabled": action["enabled"]}]}


def speak(action: JSON, version: str) -> JSON:
    """The action as a connection of that version has to receive it."""
    kind = action["type"]
    if kind == "chat/error" and at_least(version, "0.9.0"):
        rest = {name: value for name, value in action.items() if name != "error"}
        return {**rest, "part": {"kind": "error", "error": action["error"]}}
    if kind == "session/customizationToggled":
        return _without(action, "enabled" if at_least(version, "0.8.0") else "enablement")
    if kind == "session/customizationUpdated":
        return {**action, "customization": customization(action["customization"], version)}
    return action


def customization(entry: JSON, version: str) -> JSON:
    """An MCP server entry in the words of a version: a flag until 0.8.0, a list of decisions from then on."""
    return _without(entry, "enabled") if at_least(version, "0.8.0") else _without(entry, "enablement")


def is_enabled(entry: JSON) -> bool:
    """Whether a customization is on, in either form; what says nothing is on."""
    decisions = entry.get("enablement")
    if decisions:
        return bool(decisions[0]["enabled"])
    return bool(entry.get("enabled", True))


def directories(wanted: Sequence[str], version: str) -> JSON:
    """The working directory member of a session in the words of a version, empty when there is none.

    The agent works in one directory, so only the first counts.
    """
    if not wanted:
        return {}
    if at_least(version, "0.7.0"):
        return {"workingDirectories": [wanted[0]]}
    return {"workingDirectory": wanted[0]}


def _without(value: JSON, name: str) -> JSON:
    return {key: item for key, item in value.items() if key != name}
