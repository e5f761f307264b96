"""What AHP is, as data: versions, methods, actions, status bits, errors, schemas and folds.

Everything here is pure. Nothing opens a socket, reads a clock or keeps state beyond caches.
"""

from __future__ import annotations

from . import status
from .actions import ACTIONS, ActionType, actions_of, client_may_dispatch, is_known_action, is_misdated
from .channels import CHANNEL_KINDS, ROOT_URI, STATE_TYPES, STATELESS_KINDS, kind_of, kind_of_state
from .errors import ERROR_CODES, ERRORS, ErrorCode, error_name, is_assigned
from .methods import METHODS, Method, is_known_method
from .reducers import (
    BLOCKING_STATUSES,
    FINAL_STATUSES,
    REDUCERS,
    TOOL_CALL_STATUSES,
    TOOL_CALL_TRANSITIONS,
    awaits_user,
    chat_activity,
    contributor_kind,
    event_of,
    fold,
    next_status,
    reduce,
)
from .status import activity, is_status, needs_input
from .validation import (
    Violation,
    action_violations,
    error_data_violations,
    params_violations,
    result_violations,
    schema_for,
    state_violations,
    type_names,
    violations,
)
from .versions import BASELINE, NEWEST, VERSIONS, Window, compare, is_version, parse_version, rules_for

STATUS = status
"""The status module under the name of the other tables: STATUS.IDLE, STATUS.INPUT_NEEDED and so on."""

__all__ = [
    "ACTIONS",
    "BASELINE",
    "BLOCKING_STATUSES",
    "CHANNEL_KINDS",
    "ERRORS",
    "ERROR_CODES",
    "FINAL_STATUSES",
    "METHODS",
    "NEWEST",
    "REDUCERS",
    "ROOT_URI",
    "STATELESS_KINDS",
    "STATE_TYPES",
    "STATUS",
    "TOOL_CALL_STATUSES",
    "TOOL_CALL_TRANSITIONS",
    "VERSIONS",
    "ActionType",
    "ErrorCode",
    "Method",
    "Violation",
    "Window",
    "action_violations",
    "actions_of",
    "activity",
    "awaits_user",
    "chat_activity",
    "client_may_dispatch",
    "compare",
    "contributor_kind",
    "error_data_violations",
    "error_name",
    "event_of",
    "fold",
    "is_assigned",
    "is_known_action",
    "is_known_method",
    "is_misdated",
    "is_status",
    "is_version",
    "kind_of",
    "kind_of_state",
    "needs_input",
    "next_status",
    "params_violations",
    "parse_version",
    "reduce",
    "result_violations",
    "rules_for",
    "schema_for",
    "state_violations",
    "status",
    "type_names",
    "violations",
]
