"""Loading the obligations.

Each theme is one YAML file beside this module: a list of mappings whose members are the fields of
:class:`Obligation`, held to ``catalogue.schema.json``. The files are the source; nothing else in the project repeats
a level, a window or a statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from conformance.protocol.versions import VERSIONS, Window

from . import compiled
from .citations import Citation, parse_citations

Level = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"]
LEVELS: tuple[Level, ...] = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY")

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

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The places of ``source``. Raises ValueError when it is not a list of citations."""
        return parse_citations(self.source)

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


def check(themes: compiled.Themes) -> None:
    """Hold entries to the schema and their windows to reason; :class:`CatalogueError` names file and id."""
    import json

    from jsonschema_rs import validator_for

    schema = validator_for(json.loads((compiled.FOLDER / compiled.SCHEMA).read_text("utf-8")))
    for theme, entries in themes.items():
        for error in schema.iter_errors(entries):
            raise CatalogueError(f"{theme}.yaml: {_place(entries, error.instance_path)}: {error.message}")
        for entry in entries:
            if entry["since"] != "dev":
                try:
                    Window(entry["since"], entry.get("until"))
                except ValueError as empty:
                    raise CatalogueError(f"{theme}.yaml: {entry['id']}: {empty}") from empty


def _place(entries: Any, path: list[Any]) -> str:
    """The id of the entry that a path of the schema validator leads into, and the member."""
    if not path:
        return "the file"
    entry = entries[path[0]]
    named = str(entry.get("id", f"entry {path[0] + 1}")) if isinstance(entry, dict) else f"entry {path[0] + 1}"
    return ": ".join([named, *map(str, path[1:2])])


def _obligation(theme: str, entry: Mapping[str, Any]) -> Obligation:
    return Obligation(theme=theme, **{**entry, **{name: tuple(entry.get(name, ())) for name in _LISTS}})


def _cache() -> Path | None:
    """Where compiled themes are kept: in the directory that Python has for compiled modules, wherever that is."""
    beside = __spec__.cached if __spec__ is not None else None
    return None if beside is None else Path(beside).with_name(compiled.NAME)


@cache
def load() -> Catalogue:
    """Read all themes, once per process. Raises :class:`CatalogueError` with file and id when an entry is wrong."""
    texts = compiled.theme_texts()
    obligations: dict[str, Obligation] = {}
    aliases: dict[str, str] = {}
    for theme, entries in compiled.themes(texts, check, cached=_cache()).items():
        for entry in entries:
            obligation = _obligation(theme, entry)
            if obligation.id in obligations:
                raise CatalogueError(f"{theme}.yaml: {obligation.id} is there twice")
            obligations[obligation.id] = obligation
            aliases.update(dict.fromkeys(obligation.merged, obligation.id))
    for alias in aliases.keys() & obligations.keys():
        raise CatalogueError(f"{alias} is an entry and merged into {aliases[alias]}")
    return Catalogue(obligations, version=VERSIONS[-1], digest=compiled.digest(texts)[:16], _aliases=aliases)
