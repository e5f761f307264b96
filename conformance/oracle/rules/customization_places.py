"""Which obligation speaks of a wrong place in a list of customizations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.oracle.reading import dicts, member, text
from conformance.protocol import Violation

ENTRY = "AHP-CUST-022"
"""The obligation about entries in general, of which the others here speak in particular."""

OBLIGATIONS = (ENTRY, "AHP-CUST-008", "AHP-CUST-014", "AHP-CUST-023", "AHP-CUST-024", "AHP-MCP-001", "AHP-MCP-042")

_ENABLED = {"plugin": "AHP-CUST-023", "directory": "AHP-CUST-024", "mcpServer": "AHP-MCP-042"}
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def obligation_at(violation: Violation, value: Any) -> str:
    """The obligation that a violation breaks somewhere in a value that has customizations."""
    entry, last = None, ""
    for name, index in _STEP.findall(violation.path):
        if name:
            value, last = member(value, name), name
        else:
            place = int(index) if len(index) < 10 else -1
            value = value[place] if isinstance(value, list) and 0 <= place < len(value) else None
            last = ""
        if name == "load":
            return "AHP-CUST-008"
        if isinstance(value, dict) and text(value.get("type")) is not None:
            entry, last = value, ""
    kind = text(member(entry, "type")) or ""
    missing = re.search(r"member '(\w+)'", violation.message)
    wrong = last or (missing[1] if missing else "")
    if wrong == "enabled" and kind in _ENABLED:
        return _ENABLED[kind]
    if kind == "directory" and wrong in ("contents", "writable"):
        return "AHP-CUST-014"
    return "AHP-MCP-001" if kind == "mcpServer" else ENTRY


def put_to_the_test(entries: Any, version: str) -> Iterator[str]:
    """The obligations that a list of customizations puts to the test."""
    every = [*dicts(entries), *(child for entry in dicts(entries) for child in dicts(entry.get("children")))]
    for entry in every:
        kind = text(entry.get("type")) or ""
        yield "AHP-MCP-001" if kind == "mcpServer" else ENTRY
        if kind == "directory":
            yield from ("AHP-CUST-014", "AHP-CUST-024")
        elif kind in _ENABLED and version < "0.8.0":
            yield _ENABLED[kind]
        if entry.get("load") is not None:
            yield "AHP-CUST-008"
