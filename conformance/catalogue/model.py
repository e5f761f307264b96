"""Loading the obligations.

Each theme is one YAML file beside this module: a list of mappings whose members are the fields of
:class:`Obligation`. The files are the source; nothing else in the project repeats a level, a window or a
statement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal

import yaml

from conformance.protocol.versions import VERSIONS, Window

Level = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY")

_REQUIRED = {
    "id",
    "level",
    "subject",
    "since",
    "basis",
    "force",
    "statement",
    "source",
    "provocation",
    "observe",
}
_OPTIONAL = {"until", "gate", "fault", "dispute", "see", "merged"}
_LISTS = ("dispute", "see", "merged")


class CatalogueError(Exception):
    """The catalogue itself is wrong: a missing member, an id used twice, an unknown level."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing that the specification demands.

    ``since`` and ``until`` are versions; ``until`` is the first version without the rule. ``force`` says how
    strong the text is: ``keyword`` (an RFC 2119 word), ``declarative`` (stated as fact) or ``derived``
    (follows from other rules; advisory, never decides a verdict). ``source`` cites file and heading.
    """

    id: str
    theme: str
    level: Level
    subject: str
    since: str
    basis: str
    force: str
    statement: str
    source: str
    provocation: str
    observe: str
    until: str | None = None
    gate: str | None = None
    fault: str | None = None
    dispute: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()

    @property
    def is_must(self) -> bool:
        return self.level in ("MUST", "MUST NOT")

    @property
    def is_should(self) -> bool:
        return self.level in ("SHOULD", "SHOULD NOT")

    @property
    def decides(self) -> bool:
        """Whether a breach can turn a verdict: derived obligations are advice."""
        return self.force != "derived"

    def applies(self, version: str) -> bool:
        """Whether the obligation holds at ``version``. Obligations of unreleased versions never do."""
        return self.since != "dev" and Window(self.since, self.until).contains(version)


@dataclass(frozen=True)
class Catalogue:
    """All obligations by id; ids that were merged into another one lead to that one."""

    obligations: Mapping[str, Obligation]
    version: str
    digest: str
    _aliases: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __getitem__(self, obligation_id: str) -> Obligation:
        try:
            return self.obligations[self._aliases.get(obligation_id, obligation_id)]
        except KeyError:
            raise KeyError(f"no obligation has the id {obligation_id}") from None

    def __contains__(self, obligation_id: object) -> bool:
        return obligation_id in self.obligations or obligation_id in self._aliases

    def __iter__(self) -> Iterator[Obligation]:
        return iter(self.obligations.values())

    def __len__(self) -> int:
        return len(self.obligations)

    @cached_property
    def themes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(o.theme for o in self))


def _obligation(theme: str, entry: Any) -> Obligation:
    if not isinstance(entry, dict) or "id" not in entry:
        raise CatalogueError(f"{theme}.yaml: an entry without id: {entry!r:.80}")
    missing, unknown = _REQUIRED - entry.keys(), entry.keys() - _REQUIRED - _OPTIONAL
    if missing or unknown:
        raise CatalogueError(
            f"{theme}.yaml: {entry['id']}: "
            + "; ".join(
                [f"lacks {', '.join(sorted(missing))}"] * bool(missing)
                + [f"has unknown members {', '.join(sorted(unknown))}"] * bool(unknown)
            )
        )
    if entry["level"] not in LEVELS:
        raise CatalogueError(f"{theme}.yaml: {entry['id']}: level {entry['level']!r} is none of {LEVELS}")
    for bound in ("since", "until"):
        value = entry.get(bound)
        if value is not None and value != "dev" and str(value).count(".") != 2:
            raise CatalogueError(f"{theme}.yaml: {entry['id']}: {bound} {value!r} is no version")
    lists = {name: tuple(entry.get(name, ())) for name in _LISTS}
    return Obligation(theme=theme, **{**entry, **lists})


@cache
def load() -> Catalogue:
    """Read all themes, once per process. Raises :class:`CatalogueError` with file and id when an entry is wrong."""
    obligations: dict[str, Obligation] = {}
    aliases: dict[str, str] = {}
    digest = hashlib.sha256()
    for path in sorted(resources.files(__package__).iterdir(), key=lambda p: p.name):
        if not path.name.endswith(".yaml"):
            continue
        text = path.read_text("utf-8")
        digest.update(text.encode())
        for entry in yaml.load(text, Loader=yaml.CSafeLoader):
            obligation = _obligation(path.name.removesuffix(".yaml"), entry)
            if obligation.id in obligations:
                raise CatalogueError(f"{path.name}: {obligation.id} is there twice")
            obligations[obligation.id] = obligation
            aliases.update(dict.fromkeys(obligation.merged, obligation.id))
    for alias in aliases.keys() & obligations.keys():
        raise CatalogueError(f"{alias} is an entry and merged into {aliases[alias]}")
    return Catalogue(obligations, version=VERSIONS[-1], digest=digest.hexdigest()[:16], _aliases=aliases)
