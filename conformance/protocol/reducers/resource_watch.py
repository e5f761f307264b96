"""The fold of a resource watch. Source: `types/channels-resource-watch/reducer.ts`.

Changes pass through: the state says what is watched and keeps no history.
"""

from __future__ import annotations

from typing import Final

from .folding import Handlers, unchanged

HANDLERS: Final[Handlers] = {"resourceWatch/changed": unchanged}
