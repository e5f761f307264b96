"""SessionStatus: an activity (low five bits, exactly one value) and independent flags above it.

Source: type `SessionStatus`, `types/channels-session/state.ts`. Published schemas list it as an
enumeration of single values; on the wire it is a bit set, and unknown higher bits must survive.
"""

from __future__ import annotations

from typing import Any, Final, TypeGuard

IDLE: Final = 1
ERROR: Final = 2
IN_PROGRESS: Final = 8
INPUT_NEEDED: Final = 24
"""In progress and waiting: contains the bit of IN_PROGRESS, so compare after masking."""

IS_READ: Final = 32
IS_ARCHIVED: Final = 64

ACTIVITY_MASK: Final = 31
ACTIVITIES: Final = (IDLE, ERROR, IN_PROGRESS, INPUT_NEEDED)
NAMES: Final = {
    IDLE: "Idle",
    ERROR: "Error",
    IN_PROGRESS: "InProgress",
    INPUT_NEEDED: "InputNeeded",
    IS_READ: "IsRead",
    IS_ARCHIVED: "IsArchived",
}


def activity(status: int) -> int:
    """The activity part alone."""
    return status & ACTIVITY_MASK


def needs_input(status: int) -> bool:
    """Whether the activity is InputNeeded."""
    return status & ACTIVITY_MASK == INPUT_NEEDED


def with_activity(status: int, value: int) -> int:
    """The status with another activity and all its flags, unknown ones included."""
    return status & ~ACTIVITY_MASK | value


def with_flag(status: int, flag: int, on: bool) -> int:
    """The status with one flag set or cleared."""
    return status | flag if on else status & ~flag


def is_status(value: Any) -> TypeGuard[int]:
    """Whether a JSON value is a legal status: a non-negative integer with exactly one activity."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0 and value & ACTIVITY_MASK in ACTIVITIES


def describe(status: int) -> str:
    """For people: `56 (InputNeeded, IsRead)`."""
    parts = [NAMES.get(activity(status), f"activity {activity(status)}")]
    parts += [NAMES[flag] for flag in (IS_READ, IS_ARCHIVED) if status & flag]
    return f"{status} ({', '.join(parts)})"
