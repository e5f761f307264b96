"""The tokens that the suite makes up: of one form, so that they are known wherever and whenever they turn up.

A host that leaks a token may do so long after the scenario that pushed it, so masking by what one scenario knows
would not do.
"""

from __future__ import annotations

import re
import secrets

MARK = "ahpc-"
FORM = re.compile(MARK + r"([a-z][a-z-]*)-[0-9a-f]{24}")
SHOWN_MARK = "«token:"
SHOWN = re.compile(SHOWN_MARK + r"([a-z][a-z-]*)»")
"""What transcripts show in place of a token."""


def new_token(name: str) -> str:
    """A fresh token. ``name`` (small letters and dashes) is what is shown in its place."""
    if not re.fullmatch(r"[a-z][a-z-]*", name):
        raise ValueError(f"a token is named with small letters and dashes, not {name!r}")
    return f"{MARK}{name}-{secrets.token_hex(12)}"


def without_tokens(text: str) -> str:
    """The text with the name of each token in its place."""
    return FORM.sub(r"«token:\1»", text) if MARK in text else text


def bytes_without_tokens(data: bytes) -> bytes:
    """The same for bytes of any kind."""
    return re.sub(FORM.pattern.encode(), lambda match: f"«token:{match[1].decode()}»".encode(), data)
