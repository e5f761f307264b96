"""Writing reports whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


class ReportError(Exception):
    """A report could not be written or read. The message says where, why, and what to do."""


def make_directory(directory: Path) -> None:
    """Create the directory and see that files can be made in it, before a long run is spent for nothing."""
    probe = _temporary(directory / "probe")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise _refusal(directory, error) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write the file so that a reader sees the old one or the whole new one.

    Raises ReportError when the place does not take it; then nothing is left there.
    """
    temporary = _temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _refusal(path: Path, error: OSError) -> ReportError:
    why = (error.strerror or str(error)).lower()
    return ReportError(f"cannot write {path}: {why}; choose a writable place with --out")
