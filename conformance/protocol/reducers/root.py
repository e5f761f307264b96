"""The fold of the root channel. Source: `types/channels-root/reducer.ts`."""

from __future__ import annotations

from typing import Final

from .folding import Handlers, config_changed, setter

HANDLERS: Final[Handlers] = {
    "root/agentsChanged": setter("agents"),
    "root/activeSessionsChanged": setter("activeSessions"),
    "root/terminalsChanged": setter("terminals"),
    "root/configChanged": config_changed,
}
