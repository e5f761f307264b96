"""Channel kinds, and how a URI or a state tells its kind.

A URI of a known scheme tells its kind. Hosts may name sessions and chats in a form of their own, so
for other URIs the kind has to be known from where the URI was found (a session's `chats`, a
summary), or from the state itself. Source: `docs/specification/subscriptions.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .versions import Window

ROOT_URI: Final = "ahp-root://"

CHANNEL_KINDS: Final[Mapping[str, Window]] = {
    "root": Window("0.1.0"),
    "session": Window("0.1.0"),
    "terminal": Window("0.1.0"),
    "changeset": Window("0.2.0"),
    "resourceWatch": Window("0.2.0"),
    "telemetry": Window("0.2.0"),
    "chat": Window("0.4.0"),
    "annotations": Window("0.4.0"),
    "automations": Window("0.9.0"),
    "automationRun": Window("0.9.0"),
    "canvas": Window("1.0.0"),
}

STATELESS_KINDS: Final = frozenset({"telemetry"})
"""Kinds whose subscription has no snapshot."""

STATE_TYPES: Final[Mapping[str, str]] = {
    "root": "RootState",
    "session": "SessionState",
    "chat": "ChatState",
    "terminal": "TerminalState",
    "changeset": "ChangesetState",
    "annotations": "AnnotationsState",
    "resourceWatch": "ResourceWatchState",
    "automations": "AutomationState",
    "automationRun": "AutomationRunState",
    "canvas": "CanvasState",
}
"""The name of the state type of each kind with state."""

_SCHEMES: Final = {
    "ahp-root": "root",
    "ahp-session": "session",
    "ahp-chat": "chat",
    "ahp-terminal": "terminal",
    "ahp-changeset": "changeset",
    "ahp-resource-watch": "resourceWatch",
    "ahp-otlp": "telemetry",
    "ahp-automations": "automations",
    "ahp-automation-run": "automationRun",
    "ahp-canvas": "canvas",
}

URI_PATTERNS: Final[Mapping[str, str]] = {
    "annotations": "/annotations/?$",
    **{kind: f"^{scheme}:" for scheme, kind in _SCHEMES.items()},
}
"""Regular expressions that tell a kind by its URI, as far as URIs tell: the first that is found decides.

Annotations come first because they live under the URI of their session. Every dialect of regular expressions reads
these the same way.
"""

TELLTALES: Final = (
    ("turns", "chat"),
    ("chats", "session"),
    ("agents", "root"),
    ("annotations", "annotations"),
    ("files", "changeset"),
    ("content", "terminal"),
    ("recursive", "resourceWatch"),
)
"""A member that every state of a kind has, in order: the first that is there tells the kind.

A session may have `annotations` too, which is why it comes before them.
"""


def kind_of(uri: str) -> str | None:
    """The channel kind a URI announces, or None when it does not tell."""
    scheme, colon, rest = uri.partition(":")
    if not colon:
        return None
    if rest.rstrip("/").endswith("/annotations"):
        return "annotations"
    return _SCHEMES.get(scheme)


def kind_of_state(state: Any) -> str | None:
    """The channel kind a state shows by its members, or None when it does not tell."""
    if isinstance(state, dict):
        for member, kind in TELLTALES:
            if member in state:
                return kind
    return None
