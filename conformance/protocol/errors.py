"""Error codes of JSON-RPC and of AHP, with the shape of their data.

Source: `types/common/errors.ts`; JSON-RPC 2.0, section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from .versions import ALWAYS, Window


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error code.

    data_type: name of the schema of `error.data`, None when data is free.
    data_required: the window in which `error.data` must be there, None when it never must.
    """

    name: str
    code: int
    window: Window = ALWAYS
    data_type: str | None = None
    data_required: Window | None = None


_TABLE: Final = (
    ErrorCode("ParseError", -32700),
    ErrorCode("InvalidRequest", -32600),
    ErrorCode("MethodNotFound", -32601),
    ErrorCode("InvalidParams", -32602),
    ErrorCode("InternalError", -32603),
    ErrorCode("SessionNotFound", -32001),
    ErrorCode("ProviderNotFound", -32002),
    ErrorCode("SessionAlreadyExists", -32003),
    ErrorCode("TurnInProgress", -32004),
    ErrorCode(
        "UnsupportedProtocolVersion",
        -32005,
        data_type="UnsupportedProtocolVersionErrorData",
        data_required=Window("1.0.0"),
    ),
    # The number stays reserved after its removal and is never given to another error.
    ErrorCode("ContentNotFound", -32006, Window("0.1.0", "0.9.0")),
    ErrorCode("AuthRequired", -32007, data_type="AuthRequiredErrorData", data_required=ALWAYS),
    ErrorCode("NotFound", -32008),
    ErrorCode("PermissionDenied", -32009, data_type="PermissionDeniedErrorData"),
    ErrorCode("AlreadyExists", -32010),
    ErrorCode("Conflict", -32011, Window("0.2.0")),
)

ERROR_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType({entry.code: entry for entry in _TABLE})
ERRORS: Final[Mapping[str, int]] = MappingProxyType({entry.name: entry.code for entry in _TABLE})
"""The number of each error by its name in the specification."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
SESSION_NOT_FOUND: Final = -32001
PROVIDER_NOT_FOUND: Final = -32002
SESSION_ALREADY_EXISTS: Final = -32003
TURN_IN_PROGRESS: Final = -32004
UNSUPPORTED_PROTOCOL_VERSION: Final = -32005
AUTH_REQUIRED: Final = -32007
NOT_FOUND: Final = -32008
PERMISSION_DENIED: Final = -32009
ALREADY_EXISTS: Final = -32010
CONFLICT: Final = -32011


def error_name(code: int) -> str:
    """The name of a code for people; unknown codes read as their number."""
    entry = ERROR_CODES.get(code)
    return f"{entry.name} ({code})" if entry else str(code)


def is_assigned(code: int, version: str) -> bool:
    """Whether the version gives this code a meaning."""
    entry = ERROR_CODES.get(code)
    return entry is not None and entry.window.contains(version)
