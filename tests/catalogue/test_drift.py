"""What has changed, vanished and come new in a specification is found, with the obligations that it concerns."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.catalogue import Obligation, load
from conformance.catalogue.checkout import CheckoutError, read_specification
from conformance.catalogue.drift import Drift, Elsewhere, KeptSections, find_drift, read_kept, write_kept
from tests.catalogue.specification import BASELINE, NEXT, repository

PAGE = """# Sample

About samples.

## Asking

A client MAY ask.

### Details

Details are optional reading.

## Answering

The host MUST answer.

## Background

Why it is so.
"""
STATE = (
    "/** A sample. */\nexport interface Sample {\n  name: string;\n}\n\nexport interface Extra {\n  size: number;\n}\n"
)
REDUCER = """export function sampleReducer(state: State, action: Action): State {
  switch (action.type) {
    case ActionType.SampleSet:
      return { ...state, name: action.name };
    case ActionType.SampleGone:
      return {};
  }
}
"""
REGISTRY = "export const PROTOCOL_VERSION = '{version}';\n"


def obligation(number: int, source: str) -> Obligation:
    return replace(load()["AHP-RPC-001"], id=f"AHP-SAMPLE-{number:03}", source=source)


OBLIGATIONS = [
    obligation(1, "docs/specification/sample.md > Asking"),
    obligation(2, "docs/specification/sample.md > Answering; types/sample/state.ts > Sample.name"),
    obligation(3, "types/sample/reducer.ts > SampleSet"),
    obligation(4, "docs/specification/sample.md > Background"),
    obligation(5, "0.7.0 docs/specification/sample.md > Later"),
    obligation(6, "dev types/sample/state.ts > Dream"),
    obligation(7, "docs/specification/sample.md > introduction"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A specification of a few sections, as a work tree."""
    root = tmp_path / "specification"
    for name, text in (
        ("docs/specification/sample.md", PAGE),
        ("types/sample/state.ts", STATE),
        ("types/sample/reducer.ts", REDUCER),
        ("types/version/registry.ts", REGISTRY.format(version="0.6.0")),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


@pytest.fixture
def kept(checkout: Path, tmp_path: Path) -> KeptSections:
    write_kept(read_specification(checkout), tmp_path / "kept.json")
    return read_kept(tmp_path / "kept.json")


def edit(checkout: Path, name: str, old: str, new: str) -> None:
    path = checkout / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def drift(checkout: Path, kept: KeptSections) -> Drift:
    return find_drift(OBLIGATIONS, read_specification(checkout), kept)


def found(drift: Drift) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(d.kind, d.place, tuple(i[-1] for i in d.obligations)) for d in drift.differences]


def test_a_specification_does_not_differ_from_itself(checkout: Path, kept: KeptSections) -> None:
    result = drift(checkout, kept)
    assert result.differences == ()
    assert (
        result.unchanged == 7
    )  # introduction, Asking and what stands under it, Answering, Background, Sample, SampleSet
    assert result.elsewhere == (
        Elsewhere("docs/specification/sample.md > Later", "0.7.0", ("AHP-SAMPLE-005",)),
        Elsewhere("types/sample/state.ts > Dream", "dev", ("AHP-SAMPLE-006",)),
    )


def test_only_digests_are_kept(checkout: Path, tmp_path: Path) -> None:
    count = write_kept(read_specification(checkout), tmp_path / "kept.json")
    stored = json.loads((tmp_path / "kept.json").read_text("utf-8"))
    digests = [digest for places in stored["sections"].values() for digest in places.values()]
    assert len(digests) == count == 11
    assert all(len(digest) == 16 and int(digest, 16) >= 0 for digest in digests)
    assert (stored["version"], stored["commit"]) == ("0.6.0", "")


def test_changed_vanished_and_new_are_told_apart(checkout: Path, kept: KeptSections) -> None:
    page = "docs/specification/sample.md"
    edit(checkout, page, "The host MUST answer.", "The host MUST answer at once.")
    edit(checkout, page, "## Background", "## Reasons")
    edit(checkout, page, "## Answering", "## Refusing\n\nThe host MUST NOT hang up.\n\n## Answering")
    edit(checkout, "types/sample/state.ts", "export interface Extra", "export interface More")
    edit(checkout, "types/sample/reducer.ts", "name: action.name", "name: action.title")
    assert found(drift(checkout, kept)) == [
        ("changed", "Answering", ("2",)),
        ("vanished", "Background", ("4",)),
        ("new", "Refusing", ()),
        ("changed", "SampleSet", ("3",)),
        ("vanished", "Extra", ()),
        ("new", "More", ()),
    ]


def test_what_changes_below_a_cited_heading_concerns_whoever_cites_it(checkout: Path, kept: KeptSections) -> None:
    page = "docs/specification/sample.md"
    edit(checkout, page, "optional reading", "for the curious")
    edit(checkout, page, "## Answering", "### Examples\n\nNone yet.\n\n## Answering")
    assert found(drift(checkout, kept)) == [
        ("changed", "Asking > Details", ("1",)),
        ("new", "Asking > Examples", ("1",)),
    ]


def test_what_binds_nobody_and_is_cited_by_nobody_does_not_count(checkout: Path, kept: KeptSections) -> None:
    edit(checkout, "docs/specification/sample.md", "## Background", "## Thanks\n\nTo all.\n\n## Background")
    edit(checkout, "types/sample/state.ts", "export interface Extra", "interface Inner {}\n\nexport interface Extra")
    assert found(drift(checkout, kept)) == []


def test_later_citations_are_looked_up_once_the_checkout_is_there(checkout: Path, kept: KeptSections) -> None:
    edit(checkout, "types/version/registry.ts", "0.6.0", "0.7.0")
    lost = drift(checkout, kept)
    assert ("vanished", "Later", ("5",)) in found(lost)
    assert [e.since for e in lost.elsewhere] == ["dev"]
    edit(checkout, "docs/specification/sample.md", "## Background", "## Later\n\nA client MUST wait.\n\n## Background")
    there = drift(checkout, kept)
    assert found(there) == [("changed", "PROTOCOL_VERSION", ())]
    assert there.known == 1


def test_a_git_directory_is_read_at_a_revision(checkout: Path, kept: KeptSections, tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("needs git")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "-m", "one"]):
        subprocess.run([git, "-C", str(checkout), *words], check=True, capture_output=True)
    edit(checkout, "docs/specification/sample.md", "MUST answer", "MUST reply")
    assert found(drift(checkout, kept)) == [("changed", "Answering", ("2",))]
    at_head = read_specification(checkout, "HEAD")
    assert find_drift(OBLIGATIONS, at_head, kept).differences == ()
    assert at_head.commit is not None
    assert at_head.commit[:12] in at_head.name
    with pytest.raises(CheckoutError, match="no such revision"):
        read_specification(checkout, "nothing")
    with pytest.raises(CheckoutError, match="--at REV"):
        read_specification(checkout / ".git")
    bare = read_specification(checkout / ".git", "HEAD")
    assert bare.files == at_head.files


def test_what_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckoutError, match="is not a directory"):
        read_specification(tmp_path / "nowhere")
    with pytest.raises(CheckoutError, match="is no checkout of the specification"):
        read_specification(tmp_path)
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    (tmp_path / "docs" / "guide" / "a.md").write_text("# A\n", "utf-8")
    with pytest.raises(CheckoutError, match="is no checkout of the specification"):
        read_specification(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "0.6.0"}'])
def test_a_file_of_kept_sections_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match="no file of kept sections"):
        read_kept(tmp_path / "kept.json")


def test_the_baseline_has_not_drifted() -> None:
    checkout = repository(BASELINE)
    if checkout is None:
        pytest.skip("no copy of the specification with the release 0.6.0; AHP_SPEC_CHECKOUT names one")
    result = find_drift(load(), read_specification(checkout, BASELINE), read_kept())
    assert result.differences == ()
    assert result.version == "0.6.0"
    assert result.unchanged > 500
    assert {e.since for e in result.elsewhere} == {"0.7.0", "0.8.0", "0.9.0", "1.0.0", "dev"}


def test_the_next_release_has_drifted() -> None:
    checkout = repository(NEXT)
    if checkout is None:
        pytest.skip("no copy of the specification with the release 0.7.0; AHP_SPEC_CHECKOUT names one")
    result = find_drift(load(), read_specification(checkout, NEXT), read_kept())
    assert result.version == "0.7.0"
    differences = {(d.kind, d.file, d.place): d.obligations for d in result.differences}
    creation = differences["changed", "docs/specification/chat-channel.md", "Lifecycle > Creation"]
    assert "AHP-CHAT-010" in creation
    assert (
        "AHP-TERM-042" in differences["vanished", "types/channels-chat/state.ts", "ToolResultTerminalCompleteContent"]
    )
    assert differences["new", "types/channels-session/actions.ts", "SessionWorkingDirectorySetAction"] == ()
    # What this release brought and the catalogue has already, or what stayed, is no drift.
    places = {place for _, _, place in differences}
    assert "Lifecycle > Tool call metadata refinement" not in places
    assert "ChatToolCallAuthRequiredAction" not in places
    # Every citation of 0.7.0 leads somewhere in it.
    later = {c.place for o in load() for c in o.citations if c.version == "0.7.0"}
    assert not [d for d in result.of("vanished") if d.place in later]
    assert {e.since for e in result.elsewhere} == {"0.8.0", "0.9.0", "1.0.0", "dev"}
