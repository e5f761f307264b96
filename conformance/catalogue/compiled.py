"""The themes in a form that loads without a YAML parser.

Reading 14,000 lines of YAML takes longer than everything else that a command does before it starts. So the entries are
also kept as JSON: in a distribution, beside this module (the build puts them there); in a checkout, in the directory
where Python keeps its own compiled modules. Either is believed only if it was made from the very texts that lie here,
so it can be missing, unwritable or old without anyone noticing.

This module needs the standard library alone until a text must be parsed, because the build loads it by itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SCHEMA = "catalogue.schema.json"
NAME = "themes.json"

Themes = dict[str, Any]
"""Entries by theme, as they stand in the files."""


def theme_texts(folder: Path = FOLDER) -> dict[str, str]:
    """The text of each theme by its name."""
    return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.yaml"), key=lambda p: p.name)}


def digest(texts: Mapping[str, str]) -> str:
    """SHA-256 over the texts in their order; its first sixteen digits name the catalogue in a run record."""
    return hashlib.sha256("".join(texts.values()).encode()).hexdigest()


def parse(texts: Mapping[str, str]) -> Themes:
    """The entries of the texts, unchecked."""
    import yaml

    return {theme: yaml.load(text, Loader=yaml.CSafeLoader) for theme, text in texts.items()}


def themes(
    texts: Mapping[str, str],
    check: Callable[[Themes], None],
    folder: Path = FOLDER,
    cached: Path | None = None,
) -> Themes:
    """The entries of ``texts``: compiled ones if they were made from these, else parsed, checked and kept.

    ``check`` raises for entries that are wrong, and nothing is kept then. ``cached`` is the file that may be written,
    None for none.
    """
    wanted = key(texts, folder)
    for place in (folder / NAME, cached):
        if place is not None and (found := _stored(place, wanted)) is not None:
            return found
    parsed = parse(texts)
    check(parsed)
    if cached is not None:
        with suppress(OSError):
            store(cached, wanted, parsed)
    return parsed


def key(texts: Mapping[str, str], folder: Path = FOLDER) -> bytes:
    """What compiled entries come from and were checked against: names and texts of the themes, and their schema."""
    whole = json.dumps([sorted(texts.items()), (folder / SCHEMA).read_text("utf-8")])
    return hashlib.sha256(whole.encode()).hexdigest().encode()


def _stored(place: Path, wanted: bytes) -> Themes | None:
    try:
        with place.open("rb") as stream:
            found: Themes | None = json.loads(stream.read()) if stream.readline().rstrip() == wanted else None
    except (OSError, ValueError):
        return None
    return found


def store(place: Path, made_from: bytes, entries: Themes) -> None:
    """Write compiled entries: one line that says what from, then JSON. Whoever reads sees the old file or the new one.

    Raises OSError where nothing can be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        unfinished.write_bytes(made_from + b"\n" + json.dumps(entries, separators=(",", ":")).encode())
        unfinished.replace(place)
    finally:
        with suppress(OSError):
            unfinished.unlink()
