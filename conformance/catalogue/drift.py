"""How a checkout of the specification differs from the text that this catalogue was read from.

Of that text only digests are kept, one for each section (:mod:`.sections`). Whoever maintains the catalogue learns
from the comparison which obligations to read again, and what is new that no obligation speaks of yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conformance.protocol.versions import BASELINE, compare

from .checkout import Specification
from .citations import Citation
from .model import Obligation
from .sections import BINDING, SEPARATOR, Section, places

KEPT = Path(__file__).with_name("sections.json")

Place = tuple[str, ...]
Where = tuple[str, Place]
Kind = Literal["changed", "vanished", "new"]


@dataclass(frozen=True, slots=True)
class KeptSections:
    """The digests of a specification by file and place. ``version`` and ``commit`` say which one it was."""

    version: str
    commit: str
    digests: Mapping[str, Mapping[str, str]]

    def places(self, file: str) -> list[Place]:
        return [tuple(place.split(SEPARATOR)) for place in self.digests.get(file, {})]


@dataclass(frozen=True, slots=True)
class Difference:
    """One section that is not as it was. ``obligations`` cite it, or a heading above it; empty if none does."""

    kind: Kind
    file: str
    place: str
    obligations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A citation that this checkout cannot show, because it is of the text of a later version."""

    citation: str
    since: str
    obligations: tuple[str, ...]


@dataclass(frozen=True)
class Drift:
    """What was found. ``unchanged`` counts the cited sections that are as they were, ``known`` the new ones that
    obligations of later versions cite already."""

    specification: str
    version: str | None
    kept: str
    unchanged: int
    known: int
    differences: tuple[Difference, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()

    def of(self, kind: Kind) -> list[Difference]:
        return [difference for difference in self.differences if difference.kind == kind]


def read_kept(path: Path = KEPT) -> KeptSections:
    """Raises OSError, or ValueError for what is no such file."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        return KeptSections(stored["version"], stored["commit"], stored["sections"])
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is no file of kept sections") from error


def write_kept(specification: Specification, path: Path = KEPT) -> int:
    """Keep the digests of ``specification`` and return how many. Raises OSError."""
    digests: dict[str, dict[str, str]] = {}
    found = specification.sections()
    for section in found:
        digests.setdefault(section.file, {})[section.place] = section.digest
    content = {
        "version": specification.version or BASELINE,
        "commit": specification.commit or "",
        "sections": digests,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return len(found)


def find_drift(obligations: Iterable[Obligation], specification: Specification, kept: KeptSections) -> Drift:
    """Compare. Citations of a version that ``specification`` does not reach are set aside, the others looked up."""
    now = {(s.file, s.path): s for s in specification.sections()}
    before = {
        (file, place): kept.digests[file][SEPARATOR.join(place)] for file in kept.digests for place in kept.places(file)
    }
    by_file: dict[str, list[Place]] = {}
    for file, place in dict.fromkeys([*before, *now]):
        by_file.setdefault(file, []).append(place)
    here, elsewhere = _split(obligations, specification.version or kept.version, kept.version)
    citing = _citing({c: ids for c, ids in here.items() if _of(c, kept.version)}, by_file)
    citing_later = _citing({c: ids for c, ids in here.items() if not _of(c, kept.version)}, by_file)
    differences: list[Difference] = []
    unchanged = known = 0
    for where in sorted(before.keys() | now.keys()):
        kind = _kind(before.get(where), now.get(where))
        ids = citing.get(where, {}) if kind == "new" else {**citing.get(where, {}), **citing_later.get(where, {})}
        if kind is None:
            unchanged += bool(ids)
        elif kind == "new" and where in citing_later:
            known += 1
        elif ids or _binds(where[0], now.get(where)):
            differences.append(Difference(kind, where[0], SEPARATOR.join(where[1]), tuple(ids)))
    return Drift(
        specification.name,
        specification.version,
        kept.version,
        unchanged,
        known,
        (*differences, *_lost(here, by_file, kept.version)),
        tuple(elsewhere),
    )


def _kind(before: str | None, now: Section | None) -> Kind | None:
    if now is None:
        return "vanished"
    if before is None:
        return "new"
    return "changed" if before != now.digest else None


def _binds(file: str, now: Section | None) -> bool:
    """Whether a section matters that nobody cites; of one that is gone only the file is known."""
    return file.startswith(BINDING) if now is None else now.normative


def _of(citation: Citation, baseline: str) -> bool:
    return citation.version in (None, baseline)


def _split(
    obligations: Iterable[Obligation], reached: str, baseline: str
) -> tuple[dict[Citation, list[str]], list[Elsewhere]]:
    """The citations that a specification of the version ``reached`` can show, and those that it cannot."""
    here: dict[Citation, list[str]] = {}
    later: dict[Citation, list[str]] = {}
    for obligation in obligations:
        for citation in obligation.citations:
            away = not _of(citation, baseline) and (
                citation.version == "dev" or compare(citation.version or baseline, reached) > 0
            )
            (later if away else here).setdefault(citation, []).append(obligation.id)
    return here, [
        Elsewhere(f"{c.file} > {c.place}", c.version or baseline, tuple(ids))
        for c, ids in sorted(later.items(), key=lambda item: str(item[0]))
    ]


def _citing(cited: Mapping[Citation, list[str]], by_file: Mapping[str, list[Place]]) -> dict[Where, dict[str, None]]:
    """For each section the obligations that cite it or a heading above it, in order."""
    found: dict[Where, dict[str, None]] = {}
    for citation, ids in cited.items():
        candidates = by_file.get(citation.file, [])
        for target in places(citation, candidates):
            for place in candidates:
                if place[: len(target)] == target:
                    found.setdefault((citation.file, place), {}).update(dict.fromkeys(ids))
    return found


def _lost(here: Mapping[Citation, list[str]], by_file: Mapping[str, list[Place]], baseline: str) -> list[Difference]:
    """Citations of a later version that this specification has reached, and that lead nowhere in it."""
    return [
        Difference("vanished", citation.file, citation.place, tuple(ids))
        for citation, ids in here.items()
        if not _of(citation, baseline) and not places(citation, by_file.get(citation.file, []))
    ]
