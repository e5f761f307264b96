"""Where an obligation stands in the specification.

The member ``source`` of an entry is a list, joined by semicolons, of citations: a file of the specification's
repository, `` > ``, and a place in it. The place is a heading of a page (preceded by the headings it stands under
where the page has it more than once), ``introduction`` for what a page says before its first heading, or a declared
name of a TypeScript file, with members after dots. In a reducer it may be the action that a branch handles.

A citation is of the baseline, unless a version (or ``dev``) stands before the file: then it is of the text of that
version, which one checkout of the baseline cannot show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

INTRODUCTION = "introduction"

_CITATION = re.compile(
    r"""
    (?:(?P<version>\d+\.\d+\.\d+|dev)\ )?
    (?P<file>(?:[\w.-]+/)*[\w.-]+\.(?:md|ts))
    \ >\ (?P<place>\S(?:.*\S)?)
    """,
    re.VERBOSE,
)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class Citation:
    """One place. ``version`` is the version whose text is meant, None for the baseline."""

    file: str
    place: str
    version: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The headings of the place, outermost first, or the declared name followed by members."""
        return tuple(plain(part) for part in self.place.split(" > " if self.is_page else "."))

    @property
    def is_page(self) -> bool:
        return self.file.endswith(".md")

    def __str__(self) -> str:
        return f"{self.version + ' ' if self.version else ''}{self.file} > {self.place}"


def plain(heading: str) -> str:
    """A heading without code marks and link brackets, blanks folded."""
    return " ".join(heading.replace("`", "").replace("[", "").replace("]", "").split())


def parse_citations(source: str) -> tuple[Citation, ...]:
    """The citations of a ``source``. Raises ValueError for a part that is none."""
    return tuple(_parsed(part.strip()) for part in source.split(";"))


def _parsed(part: str) -> Citation:
    match = _CITATION.fullmatch(part)
    if match is None:
        raise ValueError(f"not a citation: {part!r} (expected [VERSION] FILE > HEADING or FILE > NAME)")
    citation = Citation(match["file"], match["place"], match["version"])
    if not citation.is_page and _NAME.fullmatch(citation.place) is None:
        raise ValueError(f"not a citation: {part!r} (one declared name for each TypeScript file)")
    return citation
