"""The dispute log as data: which readings of a disputed rule the suite accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_HEADING = re.compile(r"## (?P<id>[A-Z]+-\d+) · (?P<title>.+)")


@dataclass(frozen=True, slots=True)
class Dispute:
    """One heading of docs/disputes.md; ``text`` is what stands under it, paragraphs apart."""

    id: str
    title: str
    text: str


@cache
def load_disputes() -> dict[str, Dispute]:
    """All disputes by id. A distribution carries the log beside this module, a checkout in docs/.

    Raises FileNotFoundError for a broken installation.
    """
    for place in (_HERE / "disputes.md", _HERE.parents[1] / "docs" / "disputes.md"):
        if place.is_file():
            return _read(place.read_text("utf-8"))
    raise FileNotFoundError("the installation lacks its dispute log; install ahp-conformance again")


def _read(text: str) -> dict[str, Dispute]:
    found: dict[str, Dispute] = {}
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        match = _HEADING.fullmatch(heading.strip())
        if match is not None:
            paragraphs = re.split(r"\n\s*\n", body.strip())
            found[match["id"]] = Dispute(
                match["id"], match["title"], "\n\n".join(" ".join(p.split()) for p in paragraphs)
            )
    return found
