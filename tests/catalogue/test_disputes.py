"""The dispute log and the catalogue agree: every dispute is explained, and every explanation concerns somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.catalogue import Catalogue, load

ROOT = Path(__file__).parents[2]

LABELS = ("Readings", "Accepted", "Since", "Obligations")
PARTS = {
    "Connection, root, sessions, authentication": "A",
    "Chats, tools, terminals, changesets": "AMB",
    "Later versions": "V",
}
"""The headings between the entries, with what the ids of the entries behind each begin with."""
NOBODY = "None: "
"""How the obligations of an entry begin that concerns no obligation; the reason follows."""

_DISPUTE = r"(?:A|AMB|V)-\d{2}"
_OBLIGATION = re.compile(r"\bAHP-[A-Z]+-\d+\b")
# A dispute that source, scenarios or tests name in passing; what is part of a longer id or path is none.
_MENTION = re.compile(rf"(?<![\w/-]){_DISPUTE}(?![\w-])")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log: its id, and its labelled paragraphs in the order of the file."""

    id: str
    paragraphs: tuple[tuple[str, str], ...]

    def __getitem__(self, label: str) -> str:
        return dict(self.paragraphs)[label]

    @property
    def obligations(self) -> list[str]:
        return [] if self["Obligations"].startswith(NOBODY) else _OBLIGATION.findall(self["Obligations"])


def entries_of(text: str) -> list[Entry]:
    """The entries of a log. A heading with an id begins one, a bold word and a full stop each paragraph of it."""
    found = []
    for piece in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = piece.partition("\n")
        if heading in PARTS:
            continue
        paragraphs = [" ".join(p.split()) for p in body.split("\n\n") if p.strip()]
        labelled = [re.match(r"\*\*(\w+)\.\*\* ?(.*)", p) for p in paragraphs]
        found.append(Entry(heading.split(" · ")[0], tuple((m[1], m[2]) if m else ("", "") for m in labelled)))
    return found


def problems(text: str, catalogue: Catalogue) -> Iterator[str]:
    """Everything in which a log is incomplete in itself, or at odds with the catalogue."""
    entries = entries_of(text)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)[1:]
    if [heading for heading in headings if heading in PARTS] != list(PARTS):
        yield "parts: not each once, in order"
    begin = None
    for heading in headings:
        begin = PARTS.get(heading, begin)
        if heading not in PARTS and not re.fullmatch(rf"{begin}-\d{{2}} · \S.*", heading):
            yield f"heading: {heading}"
    ids = [entry.id for entry in entries]
    if ids != sorted(set(ids)):
        yield "order: ids are not unique and ascending"
    named: dict[str, set[str]] = {}
    for obligation in catalogue:
        for dispute in obligation.dispute:
            named.setdefault(dispute, set()).add(obligation.id)
    for dispute in named.keys() - set(ids):
        yield f"unexplained: {dispute}"
    for entry in entries:
        yield from _problems_of(entry, named.get(entry.id, set()))
    for unknown in sorted(set(_OBLIGATION.findall(text)) - catalogue.obligations.keys()):
        yield f"unknown obligation: {unknown}"


def _problems_of(entry: Entry, named_by: set[str]) -> Iterator[str]:
    if tuple(label for label, _ in entry.paragraphs) != LABELS:
        yield f"paragraphs: {entry.id} has {[label for label, _ in entry.paragraphs]}"
        return
    for label in LABELS:
        if len(entry[label].rstrip(".")) < 5:
            yield f"empty: {entry.id} {label}"
    if entry["Since"].rstrip(".") not in _suite_versions():
        yield f"since: {entry.id} {entry['Since']}"
    listed = entry.obligations
    if not listed and not re.fullmatch(rf"{NOBODY}\w.{{20,}}", entry["Obligations"]):
        yield f"nobody: {entry.id} is named by no obligation and does not say why"
    if len(listed) != len(set(listed)) or set(listed) != named_by:
        yield f"obligations: {entry.id} differs in {sorted(set(listed) ^ named_by)}"


@cache
def _suite_versions() -> frozenset[str]:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return frozenset(re.findall(r"^## (\d+\.\d+\.\d+)", changelog, re.MULTILINE))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture(scope="module")
def log() -> str:
    return (ROOT / "docs" / "disputes.md").read_text("utf-8")


def test_log_and_catalogue_agree(log: str, catalogue: Catalogue) -> None:
    assert entries_of(log)
    assert list(problems(log, catalogue)) == []


@pytest.mark.parametrize(
    ("wrong", "right", "problem"),
    [
        ("## A-02 · ", "## A-2 · ", "heading: A-2"),
        ("## A-02 · ", "### A-02 · ", "unexplained: A-02"),
        ("## AMB-01 · ", "## V-01 · ", "heading: V-01"),
        ("## Later versions", "## Other versions", "parts: "),
        ("## A-02 · ", "## A-03 · ", "order: "),
        ("## A-02 · ", "## A-90 · ", "unexplained: A-02"),
        ("## A-02 · ", "## A-90 · ", "obligations: A-90 differs in ['AHP-INIT-005', 'AHP-INIT-006']"),
        ("**Readings.**", "**Reading.**", "paragraphs: A-01 "),
        ("**Since.** 0.1.0.\n\n**Obligations.** AHP-INIT-005", "**Obligations.** AHP-INIT-005", "paragraphs: A-02 "),
        ("**Since.** 0.1.0.", "**Since.** 9.9.9.", "since: A-01 "),
        ("**Since.** 0.1.0.", "**Since.** .", "empty: A-01 Since"),
        ("AHP-INIT-005, AHP-INIT-006.", "AHP-INIT-005.", "obligations: A-02 differs in ['AHP-INIT-006']"),
        ("AHP-INIT-005, AHP-INIT-006.", "AHP-INIT-005, AHP-INIT-005, AHP-INIT-006.", "obligations: A-02 "),
        ("AHP-INIT-005, AHP-INIT-006.", "AHP-INIT-005, AHP-INIT-006, AHP-INIT-001.", "obligations: A-02 "),
        ("AHP-INIT-005, AHP-INIT-006.", "nobody.", "nobody: A-02 "),
        (NOBODY, "Nobody, and so ", "nobody: A-49 "),
        ("(AHP-TOOL-026)", "(AHP-TOOL-926)", "unknown obligation: AHP-TOOL-926"),
    ],
)
def test_what_is_wrong_in_a_log_is_noticed(
    wrong: str, right: str, problem: str, log: str, catalogue: Catalogue
) -> None:
    assert wrong in log
    found = list(problems(log.replace(wrong, right, 1), catalogue))
    assert any(p.startswith(problem) for p in found), found


def _raw_entries() -> Iterator[tuple[str, Any]]:
    for path in resources.files("conformance.catalogue").iterdir():
        if path.name.endswith(".yaml"):
            for entry in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader):
                yield path.name, entry


def test_disputes_are_lists_of_ids_in_the_files() -> None:
    """A text in place of a list would be taken apart into its characters."""
    seen = 0
    for file, entry in _raw_entries():
        disputes = entry.get("dispute", [])
        assert isinstance(disputes, list), f"{file}: {entry['id']}: {disputes!r}"
        assert all(re.fullmatch(_DISPUTE, str(d)) for d in disputes), f"{file}: {entry['id']}: {disputes!r}"
        assert len(disputes) == len(set(disputes)), f"{file}: {entry['id']}: {disputes!r}"
        seen += len(disputes)
    assert seen


def test_every_dispute_that_code_and_docs_refer_to_is_explained(log: str) -> None:
    explained = {entry.id for entry in entries_of(log)}
    mentioned: dict[str, str] = {}
    for folder in ("conformance", "scenarios", "features", "docs", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md", ".feature", ".yaml") and path != Path(__file__).resolve():
                mentioned |= dict.fromkeys(_MENTION.findall(path.read_text("utf-8")), path.name)
    assert mentioned
    assert {d: where for d, where in mentioned.items() if d not in explained} == {}
