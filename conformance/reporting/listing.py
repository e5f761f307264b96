"""The catalogue as a list: one line an obligation, for people on a terminal and for programs anywhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from conformance.catalogue import Obligation

from .events import JSONObject

_ROOMY = 110  # columns from which on a line also says what the host must be made to do
_STYLES = {"MUST": "bold red", "MUST NOT": "bold red", "SHOULD": "yellow", "SHOULD NOT": "yellow", "MAY": "dim"}


@dataclass(frozen=True, slots=True)
class Listed:
    """An obligation, and who judges it: ``scenario``, ``oracle``, both or nobody."""

    obligation: Obligation
    judges: tuple[str, ...]


def window(obligation: Obligation) -> str:
    """The versions in which it holds: ``0.6.0``, or ``0.6.0-0.9.0`` for one that 0.9.0 no longer has."""
    return obligation.since + (f"-{obligation.until}" if obligation.until else "")


def print_list(listed: Sequence[Listed], console: Console) -> None:
    """A line an obligation below the name of its theme, cut at the edge of the terminal; then the sum."""
    roomy = console.width >= _ROOMY
    columns = [_cells(entry, roomy) for entry in listed]
    widths = [max(map(len, cells)) for cells in zip(*columns, strict=True)]
    gap = "  " if roomy else " "
    rows = zip(listed, columns, strict=True)
    for theme, entries in groupby(rows, key=lambda row: row[0].obligation.theme):
        console.print(Text(theme, "bold"))
        for entry, cells in entries:
            line = Text("  ")
            styles = ("cyan", _STYLES[entry.obligation.level], "", "green" if entry.judges else "dim", "dim")
            for cell, width, style in zip(cells, widths, styles, strict=False):
                line.append(f"{cell:<{width}}{gap}", style)
            line.append(_one_line(entry.obligation.statement))
            console.print(line, no_wrap=True, overflow="ellipsis")
        console.print()
    marks = "" if roomy else "\n(s: by a scenario, o: by a rule of the oracle)"
    console.print(Text(summary(listed) + (marks if listed else "")))


def _cells(entry: Listed, roomy: bool) -> tuple[str, ...]:
    """What stands before the statement: id, level, versions, judges, and where there is room the provocation."""
    obligation = entry.obligation
    judges = ", ".join(entry.judges) if roomy else "".join(judge[0] for judge in entry.judges)
    cells = (obligation.id, obligation.level, window(obligation), judges or "-")
    return (*cells, obligation.provocation) if roomy else cells


def plain_lines(listed: Sequence[Listed]) -> Iterator[str]:
    """Nine fields with tabs between them, nothing cut: id, level, since, until, theme, provocation, subject, judges,
    statement. A field without a value is a dash."""
    for entry in listed:
        obligation = entry.obligation
        yield "\t".join(
            (
                obligation.id,
                obligation.level,
                obligation.since,
                obligation.until or "-",
                obligation.theme,
                obligation.provocation,
                obligation.subject,
                ",".join(entry.judges) or "-",
                _one_line(obligation.statement),
            )
        )


def as_json(listed: Sequence[Listed]) -> list[JSONObject]:
    """The same for programs; absent members have no value."""
    return [
        {
            "id": entry.obligation.id,
            "level": entry.obligation.level,
            "force": entry.obligation.force,
            "subject": entry.obligation.subject,
            "theme": entry.obligation.theme,
            "since": entry.obligation.since,
            **({"until": entry.obligation.until} if entry.obligation.until else {}),
            "provocation": entry.obligation.provocation,
            "statement": _one_line(entry.obligation.statement),
            "source": [str(citation) for citation in entry.obligation.citations],
            "covered": bool(entry.judges),
            "judges": list(entry.judges),
        }
        for entry in listed
    ]


def summary(listed: Sequence[Listed]) -> str:
    """How many there are, of which levels, and how many are judged."""
    if not listed:
        return "no obligation is like that"
    families = Counter(entry.obligation.level.removesuffix(" NOT") for entry in listed)
    levels = ", ".join(f"{families[level]} {level}" for level in ("MUST", "SHOULD", "MAY") if families[level])
    noun = "obligation" if len(listed) == 1 else "obligations"
    return f"{len(listed)} {noun} ({levels}), {sum(1 for entry in listed if entry.judges)} judged by this edition"


def _one_line(text: str) -> str:
    return " ".join(text.split())
