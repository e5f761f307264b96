"""What a specification consists of: the sections of its pages and the declarations of its types.

A section holds its own text, up to the next heading whatever its level; what stands under it are sections of their own
whose path begins with its path. So a change is named where it is, and still concerns whoever cites a heading around it.
Texts are compared by digests in which line breaks and padding do not count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .citations import INTRODUCTION, Citation, plain

SEPARATOR = " > "
BINDING = ("docs/specification/", "docs/guide/", "types/")
"""Where a section can bind; proposals and changelogs are read only where an obligation cites them."""

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*")
_RELEASE = re.compile(r"(\d+\.\d+\.\d+|Unreleased)\b.*")
_KEYWORD = re.compile(r"\b(?:MUST|SHALL|SHOULD|REQUIRED|RECOMMENDED|MAY|OPTIONAL)\b")
_DECLARATION = re.compile(
    r"(?P<export>export\s+)?(?:declare\s+)?(?:default\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:interface|type|(?:const\s+)?enum|class|function\*?|const|let|namespace)\s+(?P<name>[A-Za-z_]\w*)"
)
_BRANCH = re.compile(r"(\s*)case\s+(?:\w+\.)*(\w+)\s*:.*")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of one file.

    ``path`` are its headings, or a declared name. ``normative``: it binds somebody by itself, as a section with an
    RFC 2119 word does in the pages of the specification, and an exported declaration in the types.
    """

    file: str
    path: tuple[str, ...]
    text: str
    normative: bool

    @property
    def place(self) -> str:
        return SEPARATOR.join(self.path)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of SHA-256 over the normalised text."""
        return hashlib.sha256(normalised(self.text, types=not self.file.endswith(".md")).encode()).hexdigest()[:16]


def normalised(text: str, *, types: bool = False) -> str:
    """The text with blanks and line breaks folded, rulers of tables cut short, in ``types`` no marks of comments."""
    if types:
        text = re.sub(r"\*/|^\s*(?:/\*\*|\*(?=\s|$))", " ", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"-{3,}", "---", text).split())


def sections(file: str, text: str) -> Iterator[Section]:
    """All sections of a page or of a file of types, in their order."""
    if file.endswith(".md"):
        return _unique(_page(file, text))
    return _unique(_declarations(file, text))


def _unique(found: Iterator[Section]) -> Iterator[Section]:
    """The sections, a place that occurs again with a number behind it."""
    seen: dict[tuple[str, ...], int] = {}
    for section in found:
        times = seen[section.path] = seen.get(section.path, 0) + 1
        if times > 1:
            path = (*section.path[:-1], f"{section.path[-1]} ({times})")
            section = Section(section.file, path, section.text, section.normative)
        yield section


def _page(file: str, text: str) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    body: list[str] = []
    fenced = False

    def section() -> Section:
        own = "\n".join(body)
        names = tuple(name for _, name in path) or (INTRODUCTION,)
        return Section(file, names, own, file.startswith(BINDING) and _KEYWORD.search(own) is not None)

    for line in text.splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading is None or len(heading[1]) == 1:
            body.append(line)
            continue
        yield section()
        level = len(heading[1])
        path = [(depth, name) for depth, name in path if depth < level] + [(level, _name(heading[2]))]
        body = [line]
    yield section()


def _name(heading: str) -> str:
    """What a heading is called; that of a release is its number alone."""
    name = plain(heading)
    release = _RELEASE.fullmatch(name)
    return release[1] if release else name


def _declarations(file: str, text: str) -> Iterator[Section]:
    """Top-level declarations with the comments above them; each begins in the first column, as formatters see to."""
    comment: list[str] = []
    declaration: list[str] = []
    in_comment = False
    for line in [*text.splitlines(), "// end"]:
        begins = bool(line) and not line[0].isspace() and line[0] not in ")}]|*"
        if begins or in_comment:
            is_comment = in_comment or line.startswith("/")
            if not in_comment and declaration:
                yield from _declared(file, declaration)
                declaration = []
            if is_comment:
                if not in_comment:
                    comment = [line] if line.startswith("/**") else []
                elif comment:
                    comment.append(line)
                in_comment = (in_comment or line.startswith("/*")) and "*/" not in line
            else:
                declaration, comment = [*comment, line], []
        elif declaration:
            declaration.append(line)
        elif not line.strip():
            comment = []


def _declared(file: str, lines: list[str]) -> Iterator[Section]:
    head = next((m for m in map(_DECLARATION.match, lines) if m), None)
    if head is None:
        return
    branches = _branches(lines) if file.endswith("reducer.ts") else {}
    within = {number for span in branches.values() for number in span}
    own = [line for number, line in enumerate(lines) if number not in within]
    yield Section(file, (head["name"],), "\n".join(own), head["export"] is not None)
    for name, span in branches.items():
        yield Section(file, (name,), "\n".join(lines[span.start : span.stop]), True)


def _branches(lines: list[str]) -> dict[str, range]:
    """The branches of a reducer by the action that each handles; actions that are handled alike share their lines."""
    cases = [(number, match) for number, line in enumerate(lines) if (match := _BRANCH.fullmatch(line))]
    outermost = min((len(match[1]) for _, match in cases), default=0)
    starts = [(number, match[2]) for number, match in cases if len(match[1]) == outermost]
    bounds = [*(number for number, _ in starts), len(lines)][1:]
    found: dict[str, range] = {}
    for (number, name), bound in zip(reversed(starts), reversed(bounds), strict=True):
        while bound > number + 1 and re.match(r"\s*(?://|$)", lines[bound - 1]):
            bound -= 1  # a remark above a branch belongs to that branch
        shared = lines[number].rstrip().endswith(":") and bound == number + 1 and found
        found[name] = range(number, next(reversed(found.values())).stop if shared else bound)
    return dict(reversed(found.items()))


def places(citation: Citation, paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Those of a file's paths that the citation can mean: one if it is right, none if it leads nowhere.

    A member after a dot belongs to the declaration before it.
    """
    parts = citation.parts if citation.is_page else citation.parts[:1]
    return [path for path in paths if path[-len(parts) :] == parts]
