"""A page falls into its sections, a file of types into its declarations, and only what matters makes a digest."""

from __future__ import annotations

from conformance.catalogue.citations import parse_citations
from conformance.catalogue.sections import Section, places, sections

PAGE = """# Channels

Channels carry state.

## Subscribing

A client MUST subscribe.

### Views

Views are advisory.

```md
## Not a heading
```

## `unsubscribe` (request)

It ends.

### Views

Nothing is kept, and MAY be sent.
"""

TYPES = """/**
 * Tools.
 * @module tools
 */
import type { URI } from './common.js';

// ─── Tools ───

/** A tool. */
export interface Tool {
  /** Its name. */
  name: string;
  nested: {
    deep: boolean;
  };
}

/** Not for
 * everybody. */
interface Hidden { secret: string }

export type Either =
  | Tool
  | Hidden
;

export const enum Status {
  Idle = 1,
}

function quiet(): void {
}
"""

REDUCER = """/** Folds. */
export function reducer(state: State, action: Action): State {
  switch (action.type) {
    // ── Lists ──
    case ActionType.Set: {
      switch (action.kind) {
        case 'inner': return state;
      }
      return { ...state };
    }

    // ── Removal ──
    case ActionType.Gone:
    case ActionType.Lost:
      return without(state);

    default:
      return state;
  }
}
"""


def of(file: str, text: str) -> dict[str, Section]:
    return {section.place: section for section in sections(file, text)}


def test_a_page_falls_into_sections_below_their_headings() -> None:
    found = of("docs/specification/channels.md", PAGE)
    assert list(found) == [
        "introduction",
        "Subscribing",
        "Subscribing > Views",
        "unsubscribe (request)",
        "unsubscribe (request) > Views",
    ]
    assert "advisory" not in found["Subscribing"].text
    assert "Not a heading" in found["Subscribing > Views"].text


def test_a_section_binds_with_an_rfc_2119_word_where_the_specification_is() -> None:
    found = of("docs/specification/channels.md", PAGE)
    assert [place for place, section in found.items() if section.normative] == [
        "Subscribing",
        "unsubscribe (request) > Views",
    ]
    assert not [s for s in of("docs/proposals/channels.md", PAGE).values() if s.normative]


def test_a_heading_that_stands_twice_is_told_apart_by_what_it_stands_under() -> None:
    found = [section.path for section in sections("docs/specification/channels.md", PAGE)]
    vague, exact, marked = parse_citations(
        "docs/a.md > Views; docs/a.md > Subscribing > Views; docs/a.md > `unsubscribe` (request)"
    )
    assert len(places(vague, found)) == 2
    assert places(exact, found) == [("Subscribing", "Views")]
    assert places(marked, found) == [("unsubscribe (request)",)]


def test_equal_places_get_numbers() -> None:
    found = of("docs/guide/a.md", "## Example\none\n## Example\ntwo\n")
    assert list(found) == ["introduction", "Example", "Example (2)"]


def test_a_release_is_called_by_its_number() -> None:
    found = of("CHANGELOG.md", "# Changes\n## [Unreleased]\n## [0.6.0] — 2026-07-20\n### Added\n- a\n")
    assert list(found) == ["introduction", "Unreleased", "0.6.0", "0.6.0 > Added"]


def test_a_file_of_types_falls_into_declarations_with_their_comments() -> None:
    found = of("types/tools/state.ts", TYPES)
    assert list(found) == ["Tool", "Hidden", "Either", "Status", "quiet"]
    assert found["Tool"].text.startswith("/** A tool. */")
    assert "deep: boolean" in found["Tool"].text
    assert found["Hidden"].text.startswith("/** Not for")
    assert "| Hidden" in found["Either"].text
    assert [place for place, section in found.items() if section.normative] == ["Tool", "Either", "Status"]


def test_a_reducer_falls_into_its_branches_too() -> None:
    found = of("types/tools/reducer.ts", REDUCER)
    assert list(found) == ["reducer", "Set", "Gone", "Lost"]
    assert "'inner'" in found["Set"].text
    assert "Removal" not in found["Set"].text
    assert "without(state)" in found["Gone"].text
    assert "without(state)" in found["Lost"].text
    assert "without(state)" not in found["reducer"].text
    assert "Folds" in found["reducer"].text


def test_a_change_in_one_branch_is_a_change_of_that_branch_alone() -> None:
    before = of("types/tools/reducer.ts", REDUCER)
    after = of("types/tools/reducer.ts", REDUCER.replace("{ ...state }", "{ ...state, set: true }"))
    assert [place for place in before if before[place].digest != after[place].digest] == ["Set"]


def test_line_breaks_padding_and_comment_gutters_do_not_count() -> None:
    page = of("docs/guide/a.md", "## A\nOne two\nthree.\n\n| a | b |\n| --- | ------ |\n")
    same = of("docs/guide/a.md", "## A\n\nOne\n  two three.\n\n| a | b |\n| ------ | --- |\n\n")
    other = of("docs/guide/a.md", "## A\nOne two\nfour.\n\n| a | b |\n| --- | --- |\n")
    assert page["A"].digest == same["A"].digest != other["A"].digest
    long = of("types/a.ts", "/**\n * One two\n * three.\n */\nexport type A = 'a';\n")
    short = of("types/a.ts", "/** One two three. */\nexport type A = 'a';\n")
    assert long["A"].digest == short["A"].digest


def test_windows_line_ends_do_not_count() -> None:
    found = of("types/tools/state.ts", TYPES)
    assert {p: s.digest for p, s in of("types/tools/state.ts", TYPES.replace("\n", "\r\n")).items()} == {
        p: s.digest for p, s in found.items()
    }
