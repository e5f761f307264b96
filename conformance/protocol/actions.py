"""Every action type: its channel kind, the versions that know it, and whether clients may send it.

The table is the origin rule as data. A client's dispatch of an action that only hosts may produce
must not take effect. Sources: `types/action-origin.generated.ts`, `types/version/registry.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from .versions import Window, compare


@dataclass(frozen=True, slots=True)
class ActionType:
    """One action type.

    type: the wire name. channel: the kind of channel it travels on. window: versions that have it.
    client_dispatch: versions in which a client may dispatch it, None when only hosts may.
    dated: the version that the published registry claims for it, when that is too early; a host
    that filters by that registry sends it to older peers, which ignore it.
    """

    type: str
    channel: str
    window: Window
    client_dispatch: Window | None = None
    dated: str | None = None


HOST, CLIENT = "host", "client"

# By channel kind: wire name, first version, and who may produce it.
_ROWS: Final = {
    "root": (
        ("root/agentsChanged", "0.1.0", HOST),
        ("root/activeSessionsChanged", "0.1.0", HOST),
        ("root/terminalsChanged", "0.1.0", HOST),
        ("root/configChanged", "0.1.0", CLIENT),
    ),
    "session": (
        ("session/ready", "0.1.0", HOST),
        ("session/creationFailed", "0.1.0", HOST),
        ("session/chatAdded", "0.4.0", HOST),
        ("session/chatRemoved", "0.4.0", HOST),
        ("session/chatUpdated", "0.4.0", HOST),
        ("session/defaultChatChanged", "0.4.0", HOST),
        ("session/titleChanged", "0.1.0", CLIENT),
        ("session/isReadChanged", "0.1.0", CLIENT),
        ("session/isArchivedChanged", "0.1.0", CLIENT),
        ("session/activityChanged", "0.1.0", HOST),
        ("session/changesetsChanged", "0.2.0", HOST),
        ("session/configChanged", "0.1.0", CLIENT),
        ("session/metaChanged", "0.1.0", HOST),
        ("session/serverToolsChanged", "0.1.0", HOST),
        ("session/activeClientSet", "0.5.0", CLIENT),
        ("session/activeClientRemoved", "0.5.0", CLIENT),
        ("session/inputNeededSet", "0.5.1", HOST),
        ("session/inputNeededRemoved", "0.5.1", HOST),
        ("session/customizationsChanged", "0.1.0", HOST),
        ("session/customizationToggled", "0.1.0", CLIENT),
        ("session/customizationUpdated", "0.1.0", HOST),
        ("session/customizationRemoved", "0.2.0", HOST),
        ("session/mcpServerStateChanged", "0.3.0", HOST),
        ("session/mcpServerStartRequested", "0.5.2", CLIENT),
        ("session/mcpServerStopRequested", "0.5.2", CLIENT),
        ("session/workingDirectorySet", "0.7.0", CLIENT),
        ("session/workingDirectoryRemoved", "0.7.0", CLIENT),
        ("session/workingDirectoryReplaced", "0.8.0", CLIENT),
        ("session/chatsReordered", "1.0.0", HOST),
        ("session/mcpServerBackgroundRequested", "1.0.0", CLIENT),
    ),
    "chat": (
        ("chat/turnStarted", "0.4.0", CLIENT),
        ("chat/delta", "0.4.0", HOST),
        ("chat/responsePart", "0.4.0", HOST),
        ("chat/reasoning", "0.4.0", HOST),
        ("chat/usage", "0.4.0", HOST),
        ("chat/turnComplete", "0.4.0", HOST),
        ("chat/turnCancelled", "0.4.0", CLIENT),
        ("chat/error", "0.4.0", HOST),
        ("chat/activityChanged", "0.5.0", HOST),
        ("chat/toolCallStart", "0.4.0", HOST),
        ("chat/toolCallDelta", "0.4.0", HOST),
        ("chat/toolCallReady", "0.4.0", HOST),
        ("chat/toolCallConfirmed", "0.4.0", CLIENT),
        ("chat/toolCallComplete", "0.4.0", CLIENT),
        ("chat/toolCallResultConfirmed", "0.4.0", CLIENT),
        ("chat/toolCallContentChanged", "0.4.0", CLIENT),
        ("chat/toolCallAuthRequired", "0.6.0", HOST),
        ("chat/toolCallAuthResolved", "0.6.0", HOST),
        ("chat/truncated", "0.4.0", CLIENT),
        ("chat/turnsLoaded", "0.5.1", HOST),
        ("chat/pendingMessageSet", "0.4.0", CLIENT),
        ("chat/pendingMessageRemoved", "0.4.0", CLIENT),
        ("chat/queuedMessagesReordered", "0.4.0", CLIENT),
        ("chat/draftChanged", "0.5.0", CLIENT),
        ("chat/inputRequested", "0.4.0", HOST),
        ("chat/inputAnswerChanged", "0.4.0", CLIENT),
        ("chat/inputCompleted", "0.4.0", CLIENT),
        ("chat/workingDirectorySet", "0.7.0", CLIENT),
        ("chat/workingDirectoryRemoved", "0.7.0", CLIENT),
        ("chat/turnResume", "0.9.0", CLIENT),
        ("chat/backgroundWorkSet", "1.0.0", HOST),
        ("chat/backgroundWorkRemoved", "1.0.0", HOST),
        ("chat/movableChanged", "1.0.0", HOST),
        ("chat/changesetsChanged", "1.0.0", HOST),
        ("chat/canvasesChanged", "1.0.0", HOST),
        ("chat/isReadChanged", "1.0.0", CLIENT),
        ("chat/isArchivedChanged", "1.0.0", CLIENT),
    ),
    "terminal": (
        ("terminal/data", "0.1.0", HOST),
        ("terminal/input", "0.1.0", CLIENT),
        ("terminal/resized", "0.1.0", CLIENT),
        ("terminal/claimed", "0.1.0", CLIENT),
        ("terminal/titleChanged", "0.1.0", CLIENT),
        ("terminal/cwdChanged", "0.1.0", HOST),
        ("terminal/exited", "0.1.0", HOST),
        ("terminal/cleared", "0.1.0", CLIENT),
        ("terminal/commandDetectionAvailable", "0.1.0", HOST),
        ("terminal/commandExecuted", "0.1.0", HOST),
        ("terminal/commandFinished", "0.1.0", HOST),
    ),
    "changeset": (
        ("changeset/statusChanged", "0.2.0", HOST),
        ("changeset/fileSet", "0.2.0", HOST),
        ("changeset/fileRemoved", "0.2.0", HOST),
        ("changeset/filesReviewChanged", "0.6.0", CLIENT),
        ("changeset/contentChanged", "0.4.0", HOST),
        ("changeset/operationsChanged", "0.2.0", HOST),
        ("changeset/operationStatusChanged", "0.3.0", HOST),
        ("changeset/cleared", "0.2.0", HOST),
    ),
    "annotations": (
        ("annotations/set", "0.4.0", CLIENT),
        ("annotations/updated", "0.4.0", CLIENT),
        ("annotations/removed", "0.4.0", CLIENT),
        ("annotations/entrySet", "0.4.0", CLIENT),
        ("annotations/entryRemoved", "0.4.0", CLIENT),
    ),
    "resourceWatch": (("resourceWatch/changed", "0.2.0", HOST),),
    "automations": (
        ("automation/createRequested", "0.9.0", CLIENT),
        ("automation/updateRequested", "0.9.0", CLIENT),
        ("automation/set", "0.9.0", HOST),
        ("automation/removed", "0.9.0", CLIENT),
    ),
    "automationRun": (
        ("automationRun/lifecycleChanged", "0.9.0", HOST),
        ("automationRun/sessionSet", "0.9.0", HOST),
        ("automationRun/sessionRemoved", "0.9.0", HOST),
        ("automationRun/primarySessionChanged", "0.9.0", HOST),
        ("automationRun/cancelRequested", "0.9.0", CLIENT),
    ),
    "canvas": (("canvas/stateChanged", "1.0.0", HOST),),
}

# The registry of 1.0.0 dates these before the release that first had them.
_MISDATED: Final = {
    "session/chatsReordered": "0.9.0",
    "session/mcpServerBackgroundRequested": "0.9.0",
    "chat/backgroundWorkSet": "0.9.0",
    "chat/backgroundWorkRemoved": "0.9.0",
    "chat/movableChanged": "0.9.0",
    "chat/changesetsChanged": "0.9.0",
    "chat/isReadChanged": "0.9.0",
    "chat/isArchivedChanged": "0.9.0",
    "automation/createRequested": "0.8.0",
    "automation/updateRequested": "0.8.0",
    "automation/set": "0.8.0",
    "automation/removed": "0.8.0",
    "automationRun/lifecycleChanged": "0.8.0",
    "automationRun/sessionSet": "0.8.0",
    "automationRun/sessionRemoved": "0.8.0",
    "automationRun/primarySessionChanged": "0.8.0",
    "automationRun/cancelRequested": "0.8.0",
}


def _build() -> dict[str, ActionType]:
    table = {}
    for channel, rows in _ROWS.items():
        for name, since, origin in rows:
            window = Window(since)
            table[name] = ActionType(name, channel, window, window if origin == CLIENT else None, _MISDATED.get(name))
    return table


ACTIONS: Final[Mapping[str, ActionType]] = MappingProxyType(_build())
"""Every action type known to any version, by its wire name."""


@cache
def actions_of(version: str) -> frozenset[str]:
    """The wire names of all action types that the version has."""
    return frozenset(name for name, action in ACTIONS.items() if action.window.contains(version))


def action_type_name(name: str) -> str:
    """The name of an action's type in the specification: `chat/turnStarted` is a `ChatTurnStartedAction`."""
    return "".join(part[0].upper() + part[1:] for part in name.split("/")) + "Action"


def is_known_action(name: str, version: str) -> bool:
    """Whether the version has this action type."""
    return name in actions_of(version)


def client_may_dispatch(name: str, version: str) -> bool:
    """Whether a client may send this action in `dispatchAction`; False for unknown types."""
    action = ACTIONS.get(name)
    return action is not None and action.client_dispatch is not None and action.client_dispatch.contains(version)


def is_misdated(name: str, version: str) -> bool:
    """Whether the version lacks the action while the published registry says that it has it."""
    action = ACTIONS.get(name)
    return (
        action is not None
        and action.dated is not None
        and not action.window.contains(version)
        and compare(action.dated, version) <= 0
    )
