"""Folds: how an action changes the state of a channel, per kind and version.

`reduce` is pure: it never changes its input, shares what did not change, and gives the same object
back when an action changes nothing. A further channel is one more module with HANDLERS, named here.
"""

# No future import here: its name would hide the module of the annotations channel.

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from conformance.protocol.actions import actions_of
from conformance.protocol.versions import BASELINE, rules_for

from . import annotations, automation_run, automations, canvas, changeset, chat, resource_watch, root, session, terminal
from .chat import chat_activity
from .folding import Handlers, Step
from .session import awaits_user
from .toolcalls import (
    BLOCKING_STATUSES,
    FINAL_STATUSES,
    MCP_ONLY,
    TOOL_CALL_STATUSES,
    TOOL_CALL_TRANSITIONS,
    contributor_kind,
    event_of,
    next_status,
)

REDUCERS: Final[Mapping[str, Handlers]] = MappingProxyType(
    {
        "root": root.HANDLERS,
        "session": session.HANDLERS,
        "chat": chat.HANDLERS,
        "terminal": terminal.HANDLERS,
        "changeset": changeset.HANDLERS,
        "annotations": annotations.HANDLERS,
        "resourceWatch": resource_watch.HANDLERS,
        "automations": automations.HANDLERS,
        "automationRun": automation_run.HANDLERS,
        "canvas": canvas.HANDLERS,
    }
)
"""The handlers of each channel kind with state, by action type. Telemetry has none."""


@lru_cache(maxsize=256)
def _rules(kind: str, version: str) -> tuple[Handlers, Step]:
    """The handlers that the version has, and the step of a fold without a clock."""
    if kind not in REDUCERS:
        raise LookupError(f"no fold for channel kind {kind!r}; there is one for {', '.join(REDUCERS)}")
    known = actions_of(version)
    return {name: handler for name, handler in REDUCERS[kind].items() if name in known}, Step(rules_for(version))


def reduce(
    kind: str,
    state: Any,
    action: Any,
    version: str = BASELINE,
    now: Callable[[], str] | None = None,
) -> Any:
    """The state after an action; the same object when the action changes nothing.

    kind: a key of REDUCERS, others raise LookupError. version: the negotiated version.
    now: gives the ISO 8601 time that versions before 0.9.0 stamp on a chat; without it the
    timestamp stays. Actions of an unknown type, of a type that the version lacks, and actions or
    states too malformed to fold change nothing: whether they are legal is what the schemas say.
    """
    handlers, step = _rules(kind, version)
    if not isinstance(state, dict) or not isinstance(action, Mapping):
        return state
    name = action.get("type")
    handler = handlers.get(name) if isinstance(name, str) else None
    if handler is None:
        return state
    try:
        return handler(state, action, step if now is None else Step(step.version, now))
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        # A member that the rule needs is missing or of another shape.
        return state


def fold(
    kind: str,
    state: Any,
    actions: Iterable[Any],
    version: str = BASELINE,
    now: Callable[[], str] | None = None,
) -> Any:
    """The state after several actions in order."""
    for action in actions:
        state = reduce(kind, state, action, version, now)
    return state


__all__ = [
    "BLOCKING_STATUSES",
    "FINAL_STATUSES",
    "MCP_ONLY",
    "REDUCERS",
    "TOOL_CALL_STATUSES",
    "TOOL_CALL_TRANSITIONS",
    "Step",
    "awaits_user",
    "chat_activity",
    "contributor_kind",
    "event_of",
    "fold",
    "next_status",
    "reduce",
]
