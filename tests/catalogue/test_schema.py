"""Every theme keeps to the schema, every reference leads somewhere, every citation to a place in the specification."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import jsonschema
import pytest

from conformance.catalogue import CatalogueError, load
from conformance.catalogue.checkout import read_specification
from conformance.catalogue.citations import parse_citations
from conformance.catalogue.compiled import FOLDER, SCHEMA, Themes, parse, theme_texts
from conformance.catalogue.disputes import load_disputes
from conformance.catalogue.drift import read_kept
from conformance.catalogue.model import check
from conformance.catalogue.sections import places
from conformance.protocol.versions import VERSIONS, compare
from tests.catalogue.specification import BASELINE, repository

SCHEMA_TEXT = json.loads((FOLDER / SCHEMA).read_text("utf-8"))
THEMES = sorted(theme_texts())
KNOWN: list[str] = SCHEMA_TEXT["$defs"]["version"]["enum"]


@pytest.fixture(scope="module")
def entries() -> Themes:
    return parse(theme_texts())


def one(**members: Any) -> Themes:
    """A theme of one entry, right but for the members given; None takes a member away."""
    entry: dict[str, Any] = {
        "id": "AHP-SAMPLE-001",
        "level": "MUST",
        "subject": "host",
        "since": "0.6.0",
        "basis": "text",
        "force": "keyword",
        "statement": "The host answers.",
        "source": "docs/specification/sample.md > Answers",
        "provocation": "wire",
        "observe": "Ask it.",
    }
    return {"sample": [{name: value for name, value in {**entry, **members}.items() if value is not None}]}


def test_the_schema_is_a_schema_of_2020_12() -> None:
    assert SCHEMA_TEXT["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA_TEXT)


@pytest.mark.parametrize("theme", THEMES)
def test_every_theme_keeps_to_the_schema(theme: str, entries: Themes) -> None:
    errors = jsonschema.Draft202012Validator(SCHEMA_TEXT).iter_errors(entries[theme])
    assert [f"{entries[theme][e.path[0]]['id']}: {e.message}" for e in errors] == []


def test_a_right_entry_passes() -> None:
    check(one())
    check(one(until="0.8.0", dispute=["A-13"], see=["AHP-SAMPLE-002"], merged=["AHP-OTHER-001"], since="0.7.0"))
    check(one(since="dev"))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"id": "AHP-sample-1"}, "sample.yaml: AHP-sample-1: id: "),
        ({"level": "SHALL"}, "sample.yaml: AHP-SAMPLE-001: level: "),
        ({"subject": "agent"}, "AHP-SAMPLE-001: subject: "),
        ({"since": "0.6"}, "AHP-SAMPLE-001: since: "),
        ({"since": "0.6.1"}, "AHP-SAMPLE-001: since: "),
        ({"until": "dev"}, "AHP-SAMPLE-001: until: "),
        ({"until": "0.6.0"}, "AHP-SAMPLE-001: empty version window: since 0.6.0, until 0.6.0"),
        ({"since": "0.9.0", "until": "0.7.0"}, "AHP-SAMPLE-001: empty version window"),
        ({"dispute": "A-13"}, "AHP-SAMPLE-001: dispute: "),
        ({"dispute": []}, "AHP-SAMPLE-001: dispute: "),
        ({"see": ["AHP-X-001", "AHP-X-001"]}, "AHP-SAMPLE-001: see: "),
        ({"merged": ["X-1"]}, "AHP-SAMPLE-001: merged: "),
        ({"statement": "no sentence"}, "AHP-SAMPLE-001: statement: "),
        ({"source": "somewhere"}, "AHP-SAMPLE-001: source: "),
        ({"provocation": "magic"}, "AHP-SAMPLE-001: provocation: "),
        ({"observe": None}, "AHP-SAMPLE-001: "),
        ({"note": "aside"}, "AHP-SAMPLE-001: "),
        ({"id": None}, "sample.yaml: entry 1: "),
    ],
)
def test_an_entry_that_is_wrong_is_named_with_its_member(members: dict[str, Any], said: str) -> None:
    with pytest.raises(CatalogueError, match=re.escape(said)):
        check(one(**members))


@pytest.mark.parametrize("wrong", [[], {}, [1], None])
def test_a_file_that_is_no_list_of_entries_is_refused(wrong: Any) -> None:
    with pytest.raises(CatalogueError, match=r"sample\.yaml: "):
        check({"sample": wrong})


@pytest.mark.parametrize("theme", THEMES)
def test_no_member_of_an_entry_stands_twice(theme: str) -> None:
    for entry in re.split(r"^- ", theme_texts()[theme], flags=re.MULTILINE)[1:]:
        members = re.findall(r"^(?:  )?(\w+):", entry, flags=re.MULTILINE)
        assert "id" in members
        assert len(members) == len(set(members)), entry.partition("\n")[0]


def test_no_id_is_used_twice_nor_given_up_and_used(entries: Themes) -> None:
    every = [entry for theme in entries.values() for entry in theme]
    used = Counter([entry["id"] for entry in every] + [merged for entry in every for merged in entry.get("merged", ())])
    assert [id_ for id_, times in used.items() if times > 1] == []


def test_windows_are_of_versions_that_exist() -> None:
    assert set(VERSIONS) <= set(KNOWN)
    assert sorted(KNOWN, key=lambda v: [int(n) for n in v.split(".")]) == KNOWN
    for obligation in load():
        assert obligation.since in (*KNOWN, "dev"), obligation.id
        if obligation.until is not None:
            assert obligation.until in KNOWN
            assert obligation.since != "dev"
            assert compare(obligation.since, obligation.until) < 0, obligation.id


def test_see_leads_to_another_entry_and_disputes_to_a_heading() -> None:
    catalogue = load()
    headings = load_disputes()
    lost = []
    for obligation in catalogue:
        lost += [
            f"{obligation.id} sees {other}"
            for other in obligation.see
            if other not in catalogue or catalogue[other].id == obligation.id
        ]
        lost += [f"{obligation.id} names {name}" for name in obligation.dispute if name not in headings]
    assert lost == []


def test_every_disputed_rule_says_what_is_accepted() -> None:
    assert load_disputes()
    assert [d.id for d in load_disputes().values() if "Accepted" not in d.text or not d.title] == []


@pytest.mark.parametrize(
    "source",
    ["docs/a.md", "docs/a.md#b", "types/a.ts > Two, Names", "types/a.ts Name", "see CL-NET", "0.7 docs/a.md > B", ""],
)
def test_what_is_no_citation_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="not a citation"):
        parse_citations(source)


def test_citations_name_version_file_and_place() -> None:
    first, second, third = parse_citations(
        "docs/guide/a.md > Tools > `run` (request); 0.7.0 types/b/state.ts > Tool.name; dev docs/a.md > introduction"
    )
    assert (first.version, first.file, first.parts) == (None, "docs/guide/a.md", ("Tools", "run (request)"))
    assert (second.version, second.file, second.parts) == ("0.7.0", "types/b/state.ts", ("Tool", "name"))
    assert str(third) == "dev docs/a.md > introduction"


def test_every_citation_of_the_baseline_leads_to_one_kept_section() -> None:
    kept = read_kept()
    assert (kept.version, kept.commit) == ("0.6.0", BASELINE)
    assert [
        f"{obligation.id}: {citation}: {len(found)} places"
        for obligation in load()
        for citation in obligation.citations
        if citation.version is None
        for found in [places(citation, kept.places(citation.file))]
        if len(found) != 1
    ] == []


def test_citations_of_later_versions_belong_to_entries_or_texts_of_later_versions() -> None:
    for obligation in load():
        for citation in obligation.citations:
            if citation.version not in (None, "dev"):
                assert citation.version in VERSIONS[1:], f"{obligation.id}: {citation}"
            if citation.version is None and obligation.since != "dev":
                assert compare(obligation.since, "0.6.0") <= 0 or any(
                    other.version for other in obligation.citations
                ), f"{obligation.id} is of {obligation.since} and cites only older text"


def test_every_cited_place_and_member_is_in_the_specification() -> None:
    checkout = repository(BASELINE)
    if checkout is None:
        pytest.skip("no copy of the specification with the release 0.6.0; AHP_SPEC_CHECKOUT names one")
    found = {(s.file, s.path): s.text for s in read_specification(checkout, BASELINE).sections()}
    lost = []
    for obligation in load():
        for citation in obligation.citations:
            if citation.version is not None:
                continue
            there = places(citation, [path for file, path in found if file == citation.file])
            if not there:
                lost.append(f"{obligation.id}: {citation}")
            elif not citation.is_page:
                text = found[citation.file, there[0]]
                lost += [
                    f"{obligation.id}: {citation}: no {member}"
                    for member in citation.parts[1:]
                    if re.search(rf"\b{member}\b", text) is None
                ]
    assert lost == []
