"""The content of a terminal, compared as what has been printed: either side may forget the beginning of it."""

from __future__ import annotations

from conformance.oracle.reading import JSON, member, text

Touches = tuple[str, ...]


def trimmed(left: JSON, right: JSON) -> JSON:
    """The fold ``left`` less what the state ``right`` no longer keeps: older parts, and the beginning of others.

    Neighbouring unclassified parts count as one. What was printed last is never forgotten, so that a state without
    content is compared as it is.
    """
    folded, shown = _parts(left), _parts(right)
    if folded is None or shown is None or not isinstance(right, dict):
        return left
    if len(folded) > len(shown) > 0:
        folded = folded[-len(shown) :]
    if len(folded) == len(shown):
        folded = [
            _cut(part, kept, last=place == len(shown) - 1)
            for place, (part, kept) in enumerate(zip(folded, shown, strict=True))
        ]
    if folded == shown:
        # However the host divides it.
        return {**left, "content": right["content"]}
    return {**left, "content": folded}


def _cut(part: JSON, kept: JSON, *, last: bool) -> JSON:
    """A part less its beginning, where the other one has only the rest of it."""
    name = _output(part)
    if name != _output(kept) or member(part, "type") != member(kept, "type"):
        return part
    here, there = text(member(part, name)), text(member(kept, name))
    if here is None or there is None or not here.endswith(there) or (last and not there):
        return part
    return {**part, name: there}


def _parts(terminal: JSON) -> list[JSON] | None:
    """The content less empty parts, with neighbouring unclassified ones joined; None when it has another shape."""
    content = member(terminal, "content")
    if not isinstance(content, list):
        return None
    parts: list[JSON] = []
    for part in content:
        loose = member(part, "type") == "unclassified" and isinstance(member(part, "value"), str)
        if loose and parts and member(parts[-1], "type") == "unclassified" and isinstance(parts[-1].get("value"), str):
            parts[-1] = {**parts[-1], "value": parts[-1]["value"] + part["value"]}
        elif not loose or part["value"]:
            parts.append(part)
    return parts


def _output(part: JSON) -> str:
    return "output" if member(part, "type") == "command" else "value"


def printed(terminal: JSON) -> str:
    """All that was printed, as far as the content holds it."""
    parts = member(terminal, "content")
    return "".join(text(member(p, _output(p))) or "" for p in parts) if isinstance(parts, list) else ""


def blame_content(left: JSON, right: JSON, touched: frozenset[str], typed: str | None) -> Touches:
    """The obligations that a difference between the content of the fold and that of a snapshot breaks.

    ``touched``: what actions were about; ``typed``: what a client typed last.
    """
    folded, shown = printed(left), printed(right)
    if folded == shown:
        return ("AHP-TERM-022",) if _commands(left) != _commands(right) else ("AHP-TERM-009",)
    if typed and shown.count(typed) > folded.count(typed):
        return ("AHP-TERM-008",)
    if "cleared" in touched and shown.endswith(folded):
        return ("AHP-TERM-011", "AHP-TERM-030")
    forgot = ("AHP-TERM-027",) if folded.startswith(shown) else ()
    return (*(("AHP-TERM-009",) if "content" in touched else ()), "AHP-TERM-026", *forgot)


def _commands(terminal: JSON) -> list[JSON]:
    """The command parts less what they printed."""
    parts = member(terminal, "content")
    listed = [part for part in parts if member(part, "type") == "command"] if isinstance(parts, list) else []
    return [{name: value for name, value in part.items() if name != "output"} for part in listed]
