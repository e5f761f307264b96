"""Reading the specification out of somebody's checkout: a work tree, or a git directory at some revision."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.protocol.versions import is_version

from .sections import Section, sections

_READ = re.compile(
    r"docs/(?:specification|guide|proposals)/.+\.md | types/.+(?<!\.test)\.ts | (?:clients/\w+/)?CHANGELOG\.md",
    re.VERBOSE,
)
_REGISTRY = "types/version/registry.ts"
_VERSION = re.compile(r"\bPROTOCOL_VERSION\b[^=\n]*=\s*['\"]([^'\"]+)['\"]")


class CheckoutError(Exception):
    """The path is no checkout of the specification, or the revision is not in it; the message says which."""


@dataclass(frozen=True)
class Specification:
    """The text of one revision.

    ``name`` says to people which, ``commit`` is None for a work tree, ``version`` is what it declares itself, if it
    does. ``files`` are the pages and types by their paths.
    """

    name: str
    version: str | None
    files: dict[str, str]
    commit: str | None = None

    def sections(self) -> list[Section]:
        """Everything in it, file by file."""
        return [section for file, text in sorted(self.files.items()) for section in sections(file, text)]


def read_specification(path: Path, at: str | None = None) -> Specification:
    """The specification below ``path``: its work tree, or with ``at`` that revision of its git repository.

    Raises :class:`CheckoutError`.
    """
    if not path.is_dir():
        raise CheckoutError(f"{path} is not a directory")
    commit = None
    if at is not None:
        commit, files = _from_git(path, at)
    elif (path / "HEAD").is_file() and not (path / "types").is_dir():
        raise CheckoutError(f"{path} is a git directory without a work tree; say which revision to read with --at REV")
    else:
        files = _from_tree(path)
    name = f"{path} at {commit[:12]}" if commit else str(path)
    if not any(file.startswith("docs/specification/") for file in files):
        raise CheckoutError(f"{name} holds no docs/specification/*.md, so it is no checkout of the specification")
    declared = _VERSION.search(files.get(_REGISTRY, ""))
    return Specification(name, declared[1] if declared and is_version(declared[1]) else None, files, commit)


def _from_tree(path: Path) -> dict[str, str]:
    wanted = [*path.glob("docs/**/*.md"), *path.glob("types/**/*.ts"), *path.glob("clients/*/CHANGELOG.md")]
    wanted.append(path / "CHANGELOG.md")
    named = {file.relative_to(path).as_posix(): file for file in wanted if file.is_file()}
    return {name: file.read_text("utf-8", "replace") for name, file in named.items() if _READ.fullmatch(name)}


def _from_git(path: Path, at: str) -> tuple[str, dict[str, str]]:
    commit = _git(path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{at}^{{commit}}").decode().strip()
    listing = _git(path, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).decode("utf-8", "replace")
    names = [name for name in listing.split("\0") if _READ.fullmatch(name)]
    return commit, dict(zip(names, _blobs(path, commit, names), strict=True))


def _blobs(path: Path, commit: str, names: Iterable[str]) -> Iterable[str]:
    answer = _git(path, "cat-file", "--batch", stdin="".join(f"{commit}:{name}\n" for name in names).encode())
    while answer:
        head, _, rest = answer.partition(b"\n")
        if not head.rpartition(b" ")[2].isdigit():
            raise CheckoutError(f"{path}: git cannot show {head.decode('utf-8', 'replace')}")
        size = int(head.rpartition(b" ")[2])
        yield rest[:size].decode("utf-8", "replace").replace("\r\n", "\n")
        answer = rest[size + 1 :]


def _git(path: Path, *words: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(path), *words], input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise CheckoutError(f"git is needed for --at, and could not be started: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CheckoutError(f"{path}: {said[-1] if said else 'there is no such revision'}")
    return done.stdout
