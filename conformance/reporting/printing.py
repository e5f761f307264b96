"""How text reports print: sections, labelled rows, tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .excerpt import visible
from .failure import Block, Row

_LABEL = 10  # width of the column of labels
_JSON_WORD = re.compile(r'"[^"\\]*"|-?\b[0-9]+\b')


def print_section(console: Console, title: str) -> None:
    console.print()
    console.print(Rule(Text(title, "bold"), align="left", style="dim"))


def print_rows(console: Console, block: Block | Iterable[Row]) -> None:
    for row in block.rows if isinstance(block, Block) else block:
        if row.look == "rule":
            name, _, statement = row.text.partition("\n")
            console.print(indented(Text(name, "bold cyan"), 3))
            console.print(indented(Text(visible(statement)), 3))
            console.print()
        elif row.look == "verbatim":
            # Printed past the edge rather than folded: this is there to be copied.
            line = Text.assemble(" " * 3, (f"{row.label:<{_LABEL}}", "dim"), (row.text, "cyan"))
            console.print(line, soft_wrap=True)
        else:
            style = {"seen": "red", "expected": "green"}.get(row.label, "")
            text = Text(row.text, "dim" if row.look == "code" else style)
            text.overflow = "fold"
            grid = Table.grid(padding=0)
            grid.add_column(width=_LABEL, no_wrap=True)
            grid.add_column(overflow="fold")
            grid.add_row(Text(row.label, "dim"), _json(text, row.marks) if row.look == "code" else text)
            console.print(indented(grid, 3))


def _json(text: Text, marks: frozenset[str]) -> Text:
    """Compact JSON, folded at the edge and not at blanks inside strings, with the marked words bright."""
    shown = text.copy()
    shown.plain = text.plain.replace(" ", "\N{NO-BREAK SPACE}")
    for match in _JSON_WORD.finditer(text.plain):
        if match[0].strip('"') in marks:
            shown.stylize("not dim bold", *match.span())
    return shown


def indented(what: Text | Table, by: int) -> Padding:
    return Padding(what, (0, 0, 0, by), expand=False)


def table(title: str, columns: Iterable[tuple[str, str]], rows: Iterable[tuple[str, list[int]]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(title, no_wrap=True, min_width=12)
    styles = []
    for name, style in columns:
        table.add_column(name.replace("not-applicable", "n/a"), justify="right")
        styles.append(style)
    for name, numbers in rows:
        cells = [Text(str(n), style) if n else Text("-", "dim") for n, style in zip(numbers, styles, strict=True)]
        table.add_row(name, *cells)
    return table
