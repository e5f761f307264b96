"""Showing what a host sent: shortened to the part that matters, and harmless to look at.

Reports quote hosts that may be hostile or broken. So text is never passed through raw (escape sequences would
drive the reader's terminal, lone surrogates break encoders), and a message of sixteen megabytes still becomes
a few lines.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection
from typing import Any

JSON = Any

# Tried in order until the message fits: depth below which only relevant containers stay open, longest string,
# most members of one container. The members that identify a message survive every stage.
_STAGES = (
    (40, 400, 40),
    (9, 160, 24),
    (7, 80, 12),
    (6, 60, 8),
    (5, 48, 6),
    (4, 40, 4),
    (3, 32, 3),
    (2, 24, 2),
)
_DEEPEST = 40
_IDENTIFYING = frozenset(
    {"id", "method", "params", "result", "error", "code", "message", "channel", "action", "type", "serverSeq"}
)
_WORD = re.compile(r"[A-Za-z0-9_$./:#@-]{3,}")
_ELIDED = re.compile(r'"…([{\[])(\d+)([}\]])"')
_COMMON = frozenset({"the", "and", "for", "with", "that", "this", "not", "was", "has", "one", "its", "are"})


def visible(text: str, *, lines: bool = False) -> str:
    """``text`` with control, format and surrogate characters written as escapes. ``lines`` keeps newlines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if (lines and character == "\n") or not _acts(character) else _escape(character) for character in text
    )


def _acts(character: str) -> bool:
    """Whether a character does something to a terminal or an encoder instead of being seen."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _escape(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def words_of(*texts: str | None) -> frozenset[str]:
    """The words in the texts of a finding that may name a member or a value of the message."""
    found = {word.strip(".:-") for text in texts if text for word in _WORD.findall(text)}
    return frozenset(word for word in found if word.lower() not in _COMMON)


def compact(message: JSON, *, words: Collection[str] = (), limit: int = 360) -> str:
    """The message as one line of compact JSON of at most ``limit`` characters, for a human reader.

    Whatever ``words`` name stays; the rest is shortened first: ``{…5}`` stands for an object of five members,
    ``…`` for missing text.
    """
    trimmed = trim(message, words=words, limit=limit)
    # What cannot be cut down by its structure is cut text already; as a JSON string it would be quoted once more.
    text = trimmed if isinstance(trimmed, str) and not isinstance(message, str) else _dump(trimmed)
    text = visible(_ELIDED.sub(r"\1…\2\3", text))
    return text if len(text) <= limit else middle(text, limit)


def trim(message: JSON, *, words: Collection[str] = (), limit: int) -> JSON:
    """A JSON value like ``message`` whose compact text has about ``limit`` characters at most.

    The result is plain data: no lone surrogates, no infinities, no integers beyond 64 bits, at most 40
    levels.
    """
    relevant = _relevant(message, frozenset(words))
    whole = _cut(message, relevant, frozenset(words), _DEEPEST, None, None, 0)
    if len(_dump(whole)) <= limit:
        return whole
    candidate = whole
    for depth, string, members in _STAGES:
        candidate = _cut(message, relevant, frozenset(words), depth, string, members, 0)
        if len(_dump(candidate)) <= limit:
            return candidate
    return middle(_dump(candidate), limit)


def middle(text: str, limit: int) -> str:
    """``text`` with its middle left out when it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    head = max(1, limit * 2 // 3)
    tail = max(0, limit - head - 1)
    return f"{text[:head]}…{text[len(text) - tail :]}"


def _dump(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _named(value: JSON, words: frozenset[str]) -> bool:
    if isinstance(value, str):
        return value in words
    return isinstance(value, int) and not isinstance(value, bool) and str(value)[:20] in words


def _relevant(message: JSON, words: frozenset[str]) -> frozenset[int]:
    """The identities of the containers that hold something that ``words`` name."""
    found: set[int] = set()

    def look(value: JSON, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        if isinstance(value, dict):
            # max, not any: every branch must be looked at, also after the first hit.
            hit = max((look(item, depth + 1) or key in words for key, item in value.items()), default=False)
        elif isinstance(value, list):
            hit = max((look(item, depth + 1) for item in value), default=False)
        else:
            return _named(value, words)
        if hit:
            found.add(id(value))
        return hit

    if words:
        look(message, 0)
    return frozenset(found)


def _cut(
    value: JSON,
    relevant: frozenset[int],
    words: frozenset[str],
    depth: int,
    string: int | None,
    members: int | None,
    level: int,
) -> JSON:
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode("utf-8")
        return text if string is None or value in words else middle(text, string)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else middle(hex(value), 40)
    if not isinstance(value, (dict, list)):
        return value
    open_here = level < depth or (id(value) in relevant and level < _DEEPEST)
    if value and not open_here:
        return f"…{{{len(value)}}}" if isinstance(value, dict) else f"…[{len(value)}]"

    def inner(item: JSON) -> JSON:
        return _cut(item, relevant, words, depth, string, members, level + 1)

    if isinstance(value, list):
        if members is None or len(value) <= members:
            return [inner(item) for item in value]
        kept = [item for item in value if id(item) in relevant or _named(item, words)][:members]
        kept = kept or value[:members]
        return [*(inner(item) for item in kept), f"… {len(value) - len(kept)} more"]
    names = list(value)
    if members is not None and len(names) > members:
        wanted = [
            name
            for name in names
            if name in _IDENTIFYING | words or id(value[name]) in relevant or _named(value[name], words)
        ]
        spare = [name for name in names if name not in set(wanted)][: max(0, members - len(wanted))]
        chosen = set(wanted[: max(members, 8)]) | set(spare)
        names = [name for name in names if name in chosen]
    cut = {_cut(name, relevant, words, depth, string, None, 0): inner(value[name]) for name in names}
    return cut if len(names) == len(value) else {**cut, "…": f"{len(value) - len(names)} more"}
