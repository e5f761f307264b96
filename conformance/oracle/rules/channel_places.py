"""Which obligation speaks of which place in states and actions of terminals, changesets, annotations and watches.

Data for the rule about shapes. A pattern is searched in the JSONPath of a violation; ``!name`` after the path stands
for a member that is missing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.oracle.reading import JSON, dicts, member
from conformance.protocol import Violation

Places = tuple[tuple[str, str], ...]

_LISTED = r"^\$\.terminals\[\d+\]"
TERMINALS: Places = (
    (_LISTED + r"\.claim(!chat$|\.chat\b)", "AHP-TERM-102"),
    (_LISTED + r"[.!]claim\b", "AHP-TERM-003"),
    (_LISTED + r"[.!]lifecycle\b", "AHP-TERM-101"),
)
"""Of the list of terminals in the root state, and in the action that replaces it."""

STATES: dict[str, Places] = {
    "terminal": (
        (r"^\$\.claim(!chat$|\.chat\b)", "AHP-TERM-102"),
        (r"^\$[.!]claim\b", "AHP-TERM-003"),
        (r"^\$[.!]lifecycle\b", "AHP-TERM-101"),
        (r"^\$\.exitCode\b", "AHP-TERM-038"),
        (r"^\$\.cwd\b", "AHP-TERM-037"),
    ),
    "changeset": (
        (r"^\$\.operations\b", "AHP-CHG-023"),
        (r"^\$\.files\[\d+\][.!]id\b", "AHP-CHG-016"),
        (r"", "AHP-CHG-006"),
    ),
    "annotations": (
        (r"^\$\.annotations\[\d+\][.!]origin\b", "AHP-ANN-101"),
        (r"^\$\.annotations\[\d+\][.!]turnId\b", "AHP-ANN-022"),
        (r"", "AHP-ANN-002"),
    ),
    "resourceWatch": ((r"", "AHP-RW-005"),),
}
ACTIONS: dict[str, Places] = {
    "root/terminalsChanged": TERMINALS,
    "session/changesetsChanged": ((r"", "AHP-CHG-001"),),
    "terminal/claimed": ((r"^\$\.claim(!chat$|\.chat\b)", "AHP-TERM-102"), (r"", "AHP-TERM-003")),
    "terminal/exited": ((r"", "AHP-TERM-015"),),
    "terminal/commandExecuted": ((r"^\$[.!]commandId\b", "AHP-TERM-024"),),
    "terminal/commandFinished": ((r"^\$[.!]commandId\b", "AHP-TERM-024"),),
    "changeset/statusChanged": ((r"", "AHP-CHG-006"),),
    "changeset/fileSet": ((r"^\$\.file[.!]id\b", "AHP-CHG-016"),),
    "changeset/contentChanged": (
        (r"^\$\.operations\b", "AHP-CHG-023"),
        (r"^\$\.files\[\d+\][.!]id\b", "AHP-CHG-016"),
    ),
    "changeset/operationsChanged": ((r"", "AHP-CHG-023"),),
    "changeset/operationStatusChanged": ((r"", "AHP-CHG-023"),),
    "annotations/set": (
        (r"^\$\.annotation[.!]origin\b", "AHP-ANN-101"),
        (r"^\$\.annotation[.!]turnId\b", "AHP-ANN-022"),
        (r"", "AHP-ANN-002"),
    ),
    "annotations/entrySet": ((r"^\$\.entry", "AHP-ANN-002"),),
    "resourceWatch/changed": (
        (r"^\$\.changes\.items$", "AHP-RW-008"),
        (r"^\$\.changes\.items\[", "AHP-RW-009"),
        (r"", "AHP-RW-007"),
    ),
}
RESULTS: dict[str, Places] = {
    # That the answer is null is not all that these ask for, so that the last place alone counts as put to the test.
    "createTerminal": ((r"^\$", "AHP-TERM-001"), (r"", "AHP-RPC-018")),
    "disposeTerminal": ((r"^\$", "AHP-TERM-017"), (r"", "AHP-RPC-018")),
    "invokeChangesetOperation": ((r"", "AHP-CHG-042"),),
    "createResourceWatch": ((r"", "AHP-RW-001"),),
}
OBLIGATIONS = tuple(
    dict.fromkeys(o for table in (STATES, ACTIONS, RESULTS) for places in table.values() for _, o in places)
)

_MISSING = re.compile(r"member '(\w+)' is missing$")
# An operation without a status is idle (AMB-40).
_TOLERATED = re.compile(r"\.operations\[\d+\]!status$")


def where(violation: Violation) -> str:
    """The place of a violation, or of the member whose absence it is."""
    missing = _MISSING.match(violation.message)
    return f"{violation.path}!{missing[1]}" if missing else violation.path


def is_tolerated(violation: Violation) -> bool:
    return _TOLERATED.search(where(violation)) is not None


def place_of(violation: Violation, places: Places) -> str | None:
    """The obligation that speaks of the place of a violation, if one does."""
    return next((o for pattern, o in places if re.search(pattern, where(violation))), None)


def in_state(kind: str, state: JSON, version: str) -> Iterator[str]:
    """The obligations that a snapshot puts to the test."""
    if kind == "terminal":
        yield from _in_terminal(state, version)
        yield from (["AHP-TERM-038"] if version < "0.9.0" and member(state, "exitCode") is not None else [])
    elif kind == "root":
        yield from _in_terminals(member(state, "terminals"), version)
    elif kind == "session":
        yield from (["AHP-CHG-001"] if dicts(member(state, "changesets")) else [])
        yield from (["AHP-ANN-001"] if member(state, "annotations") is not None else [])
    elif kind == "changeset":
        yield from _in_changeset(state)
        yield "AHP-CHG-006"
    elif kind == "annotations":
        yield "AHP-ANN-002"
        yield from (["AHP-ANN-101" if version >= "0.9.0" else "AHP-ANN-022"] if member(state, "annotations") else [])
    elif kind == "resourceWatch":
        yield "AHP-RW-005"


def in_action(action: JSON, version: str) -> Iterator[str]:
    """The obligations that an action puts to the test, beside the one about all actions."""
    name = member(action, "type")
    if name == "root/terminalsChanged":
        yield from _in_terminals(member(action, "terminals"), version)
    elif name == "terminal/claimed":
        yield "AHP-TERM-003"
        yield from _in_claim(member(action, "claim"), version)
    elif name in ("changeset/contentChanged", "changeset/operationsChanged"):
        yield from _in_changeset(action)
    elif name == "annotations/set":
        yield from ("AHP-ANN-002", "AHP-ANN-101" if version >= "0.9.0" else "AHP-ANN-022")
    elif name == "resourceWatch/changed":
        yield from ("AHP-RW-007", "AHP-RW-008", "AHP-RW-009")
    else:
        yield from (obligation for _, obligation in ACTIONS.get(str(name), ()))


def _in_terminals(terminals: JSON, version: str) -> Iterator[str]:
    for terminal in dicts(terminals):
        yield from _in_terminal(terminal, version)


def _in_terminal(terminal: JSON, version: str) -> Iterator[str]:
    yield from ("AHP-TERM-003", *(["AHP-TERM-101"] if version >= "0.9.0" else []))
    yield from _in_claim(member(terminal, "claim"), version)


def _in_claim(claim: JSON, version: str) -> Iterator[str]:
    if version >= "0.9.0" and member(claim, "kind") == "session":
        yield "AHP-TERM-102"


def _in_changeset(changeset: JSON) -> Iterator[str]:
    yield from (["AHP-CHG-016"] if dicts(member(changeset, "files")) else [])
    yield from (["AHP-CHG-023"] if dicts(member(changeset, "operations")) else [])
