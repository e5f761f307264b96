"""Deliberately wrong hosts, at least one for each obligation that the suite has to catch.

A fault changes one decision of the reference host or one thing that it says; everything else is right.
`ReferenceHost(faults=[FAULTS["entry-stays-after-cancel"]])` is such a host.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from . import (
    authentication,
    challenges,
    connection,
    dispatching,
    handshaking,
    input_needed,
    input_needed_lists,
    mcp_servers,
    server_life,
    session_life,
    sessions,
    subscribing,
    tool_authentication,
)
from .seams import Fault

FAULTS: Final[Mapping[str, Fault]] = MappingProxyType(
    {
        fault.name: fault
        for module in (
            tool_authentication,
            challenges,
            input_needed,
            input_needed_lists,
            mcp_servers,
            authentication,
            server_life,
            sessions,
            connection,
            handshaking,
            subscribing,
            dispatching,
            session_life,
        )
        for fault in module.FAULTS
    }
)
"""All faults by name."""

__all__ = ["FAULTS", "Fault"]
