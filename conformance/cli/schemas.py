"""``schema``: the protocol's types as JSON Schema, for hosts and clients to check against."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from .app import USAGE, app, stop


@app.command()
def schema(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; each version gets a folder there.")],
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="VERSION", help="A protocol version; may be repeated. Without it, every known one."),
    ] = None,
) -> None:
    """Write the types of the protocol as JSON Schema 2020-12."""
    from conformance.protocol import VERSIONS
    from conformance.protocol.publishing import documents

    unknown = [version for version in protocol or () if version not in VERSIONS]
    if unknown:
        stop(f"unknown protocol version {unknown[0]!r}; known are {', '.join(VERSIONS)}", USAGE)
    wanted = [version for version in VERSIONS if protocol is None or version in protocol]
    files = {
        out / version / name: (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
        for version in wanted
        for name, document in documents(version).items()
    }
    try:
        write_all(files)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        stop(f"cannot write {error.filename or out}: {why}; nothing was changed", USAGE)
    for version in wanted:
        typer.echo(f"{out / version}: {sum(path.parent.name == version for path in files)} files")


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write all files, or leave everything as it was and raise the OSError that prevented it.

    Everything is put beside its place first; what goes wrong there, or at the moves after it, is undone.
    """
    made: list[Path] = []
    staged: dict[Path, Path] = {}
    before: dict[Path, bytes | None] = {}
    try:
        for path, content in files.items():
            _make_directory(path.parent, made)
            staged[path] = path.with_name(f".{path.name}.{os.getpid()}.part")
            staged[path].write_bytes(content)
        for path, part in staged.items():
            before[path] = path.read_bytes() if path.exists() else None
            part.replace(path)
    except OSError:
        for path, old in before.items():
            with contextlib.suppress(OSError):
                if old is None:
                    path.unlink(missing_ok=True)
                else:
                    path.write_bytes(old)
        for part in staged.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        for directory in reversed(made):
            with contextlib.suppress(OSError):
                directory.rmdir()
        raise


def _make_directory(directory: Path, made: list[Path]) -> None:
    """Create the directory and those above it, and note which are new."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for new in reversed(missing):
        new.mkdir()
        made.append(new)
