"""Reading the features as a catalogue reads them: tags against obligations, ids that stay, no empty scenario."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.catalogue import Catalogue, Obligation
from conformance.drivers import PROVOCATIONS
from conformance.protocol.versions import VERSIONS

_OBLIGATION = re.compile(r"AHP-[A-Z]+-\d{3}")
_LEVELS = {"must": ("MUST", "MUST NOT"), "should": ("SHOULD", "SHOULD NOT"), "may": ("MAY",)}
_RANK = {level: rank for rank, levels in enumerate(_LEVELS.values()) for level in levels}


class FeatureError(Exception):
    """A feature contradicts the catalogue or cannot be judged; the message names file, scenario and remedy."""


@dataclass(frozen=True, slots=True)
class ScenarioFacts:
    """What a scenario (or one row of an outline) is about. ``needs`` are provocations, ``tags`` all its tags."""

    id: str
    title: str
    feature: str
    obligations: tuple[str, ...]
    needs: frozenset[str]
    tags: frozenset[str]
    since: str | None = None
    until: str | None = None

    def matches(self, selection: Iterable[str]) -> bool:
        """Whether one of ``selection`` is its id, a tag, an obligation, or a part of id or title."""
        if not (wanted := list(selection)):
            return True
        text = f"{self.id}\n{self.title}\n{self.feature}".lower()
        return any(
            w.lstrip("@") in self.tags or w in self.obligations or w == self.id or w.lower() in text for w in wanted
        )


def slug(text: str) -> str:
    """Lower-case words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


@cache
def _place(filename: str, root: Path) -> str:
    """The path of a feature below ``root``, without its suffix."""
    return Path(filename).resolve().relative_to(root.resolve()).with_suffix("").as_posix()


def facts_of(scenario: Any, example: Mapping[str, str] | None, root: Path, catalogue: Catalogue) -> ScenarioFacts:
    """Check one scenario of pytest-bdd and say what it is about. Raises :class:`FeatureError`."""
    feature = scenario.feature
    path = _place(feature.filename, root)
    where = f"{path}.feature: {scenario.name!r}"
    tags = frozenset(scenario.tags | feature.tags | (scenario.rule.tags if scenario.rule else set()))
    obligations, needs, bounds, identity = _read_tags(where, tags, catalogue)
    _check_level(where, tags, [catalogue[o] for o in obligations])
    _check_bounds(where, bounds, [catalogue[o] for o in obligations])
    _check_steps(where, scenario)
    base = f"{path}/{identity or slug(scenario.name)}"
    row = f"[{slug('-'.join(example.values()))}]" if example else ""
    title = scenario.name
    for name, value in (example or {}).items():
        title = title.replace(f"<{name}>", value)
    return ScenarioFacts(
        id=base + row,
        title=title + ("" if title != scenario.name or not example else f" ({', '.join(example.values())})"),
        feature=feature.name or path,
        obligations=obligations,
        needs=needs,
        tags=tags,
        since=bounds.get("since"),
        until=bounds.get("until"),
    )


def _read_tags(
    where: str, tags: Iterable[str], catalogue: Catalogue
) -> tuple[tuple[str, ...], frozenset[str], dict[str, str], str | None]:
    obligations: list[str] = []
    needs: set[str] = set()
    bounds: dict[str, str] = {}
    identity: str | None = None
    for tag in sorted(tags):
        if _OBLIGATION.fullmatch(tag):
            if tag not in catalogue.obligations:
                raise FeatureError(f"{where}: the catalogue has no obligation {tag}")
            obligations.append(tag)
        elif tag.startswith("needs-"):
            need = tag.removeprefix("needs-")
            if need not in PROVOCATIONS:
                raise FeatureError(f"{where}: @{tag} names no provocation; there are {', '.join(PROVOCATIONS)}")
            needs.add(need)
        elif tag.startswith(("since-", "until-")):
            bound, _, version = tag.partition("-")
            bounds[bound] = version
        elif tag.startswith("id-"):
            identity = tag.removeprefix("id-")
        elif tag not in _LEVELS:
            raise FeatureError(
                f"{where}: unknown tag @{tag}; a tag is an obligation id, @must, @should, @may, @since-VERSION,"
                " @until-VERSION, @needs-PROVOCATION or @id-NAME"
            )
    if not obligations:
        raise FeatureError(f"{where}: no obligation; tag the scenario with the id of what it judges")
    return tuple(obligations), frozenset(needs), bounds, identity


def _check_level(where: str, tags: Iterable[str], obligations: list[Obligation]) -> None:
    claimed = [tag for tag in tags if tag in _LEVELS]
    strongest = min(obligations, key=lambda o: _RANK[o.level]).level
    expected = next(tag for tag, levels in _LEVELS.items() if strongest in levels)
    if claimed != [expected]:
        shown = " ".join(f"@{tag}" for tag in claimed) or "no level"
        raise FeatureError(f"{where}: has {shown}, but the catalogue says @{expected} for its obligations")


def _check_bounds(where: str, bounds: Mapping[str, str], obligations: list[Obligation]) -> None:
    for bound, version in bounds.items():
        if version not in VERSIONS:
            raise FeatureError(f"{where}: @{bound}-{version} is no version of {', '.join(VERSIONS)}")
        stated = {getattr(o, bound) for o in obligations}
        if version not in stated:
            known = ", ".join(sorted(str(v) for v in stated))
            raise FeatureError(f"{where}: has @{bound}-{version}, but the catalogue says {bound} {known}")


def _check_steps(where: str, scenario: Any) -> None:
    kinds = [step.type for step in scenario.steps]
    if "then" not in kinds:
        raise FeatureError(f"{where}: no Then, so it could not fail")
    if any(examples.tags for examples in getattr(scenario, "examples", ())):
        raise FeatureError(f"{where}: tags on Examples are not seen by pytest-bdd; tag the scenario")


def duplicate_titles(path: Path) -> Iterator[str]:
    """Scenario titles that occur twice in a feature file: pytest-bdd would silently keep only the last."""
    seen: set[str] = set()
    for line in path.read_text("utf-8").splitlines():
        match = re.match(r"\s*Scenario(?: Outline| Template)?:\s*(.+?)\s*$", line)
        if match:
            if match[1] in seen:
                yield match[1]
            seen.add(match[1])
