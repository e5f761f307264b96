"""What actions do to customizations, servers, entries, automations and blocked calls: obligations, and where they show.

An effect is an obligation with a place: the name of a reading and its arguments. Where a later snapshot says something
else at that place than the fold, the host's own state did not follow the action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.oracle.reading import (
    JSON,
    active_turn,
    call_in,
    calls_in,
    contributor_of,
    dicts,
    entries_in,
    member,
    servers_in,
    text,
)
from conformance.oracle.tracker import Envelope
from conformance.oracle.unknown import has_unknown_kind
from conformance.protocol import compare, needs_input
from conformance.protocol.status import ACTIVITY_MASK, IS_READ

Place = tuple[str, ...]
Effect = tuple[str, Place]

BLOCKED = "auth-required"
_ENDS = ("chat/turnComplete", "chat/turnCancelled", "chat/error")
_CALLS = (
    "chat/toolCallReady",
    "chat/toolCallDelta",
    "chat/toolCallConfirmed",
    "chat/toolCallContentChanged",
    "chat/toolCallResultConfirmed",
)
_LIST: Place = ("customizations",)


# -- readings -------------------------------------------------------------------------------------------


def _entry(session: JSON, identity: str) -> dict[str, JSON] | None:
    """A customization by its id, as JSON text; the top level comes first."""
    top = dicts(member(session, "customizations"))
    children = [child for entry in top for child in dicts(entry.get("children"))]
    return next((entry for entry in (*top, *children) if repr(entry.get("id")) == identity), None)


def _tree(session: JSON) -> JSON:
    return [
        {"id": entry.get("id"), "children": [child.get("id") for child in dicts(entry.get("children"))]}
        for entry in dicts(member(session, "customizations"))
    ]


def _switch(session: JSON, identity: str) -> JSON:
    entry = _entry(session, identity)
    return None if entry is None else {name: entry.get(name) for name in ("enabled", "enablement") if entry.get(name)}


def _switches_below(session: JSON, identity: str) -> JSON:
    entry = _entry(session, identity)
    children = dicts(member(entry, "children"))
    return [{n: c.get(n) for n in ("id", "enabled", "enablement") if c.get(n) is not None} for c in children] or None


def _server(session: JSON, identity: str) -> JSON:
    server = next((s for s in servers_in(session) if repr(s.get("id")) == identity), None)
    return None if server is None else {"state": server.get("state"), "channel": server.get("channel")}


def _need(session: JSON, identity: str) -> JSON:
    return next((entry for entry in entries_in(session) if repr(entry.get("id")) == identity), None)


def _needs(session: JSON) -> JSON:
    return [entry.get("id") for entry in entries_in(session)] or None


def _agent(chat: JSON, turn: str) -> JSON:
    """The custom agent that a message selects."""
    turns = [*dicts(member(chat, "turns")), active_turn(chat)]
    message = next((member(each, "message") for each in turns if member(each, "id") == turn), None)
    return None if message is None else {"agent": member(message, "agent")}


def _flags(session: JSON) -> JSON:
    """The bits beside the activity; the one for what was read is cleared by a turn, and no action says so."""
    status = member(session, "status")
    return (
        {"flags": status & ~(ACTIVITY_MASK | IS_READ)}
        if isinstance(status, int) and not isinstance(status, bool)
        else None
    )


def _raised(session: JSON) -> JSON:
    """That the session needs input; nothing while it does not, as it may be raised for other reasons.

    Nor while only an entry of an unknown kind may have raised it.
    """
    status, entries = member(session, "status"), entries_in(session)
    known = {text(entry.get("kind")) for entry in entries if not has_unknown_kind(entry)}
    if any(map(has_unknown_kind, entries)) and known <= {"toolClientExecution"}:
        return None
    return True if isinstance(status, int) and needs_input(status) else None


def _call(chat: JSON, turn: str, identity: str) -> JSON:
    turns = [*dicts(member(chat, "turns")), active_turn(chat)]
    return next(
        (call_in(each, identity) for each in turns if member(each, "id") == turn and call_in(each, identity)), None
    )


def _calls(chat: JSON) -> JSON:
    return calls_in(active_turn(chat)) or None


def _waits(chat: JSON) -> JSON:
    """The activity of a chat, as long as its turn goes on."""
    status = member(chat, "status")
    return {"activity": status & ACTIVITY_MASK} if isinstance(status, int) and active_turn(chat) is not None else None


def _automation(catalogue: JSON, resource: str) -> JSON:
    entries = [entry for entry in dicts(member(catalogue, "entries")) if repr(entry.get("resource")) == resource]
    return {"entry": entries}


def _order(catalogue: JSON) -> JSON:
    return [entry.get("resource") for entry in dicts(member(catalogue, "entries"))]


def _of_run(run: JSON, name: str) -> JSON:
    return {name: member(run, name)}


_READINGS: dict[str, Callable[..., JSON]] = {
    "customization": _entry,
    "customizations": _tree,
    "switch": _switch,
    "switches below": _switches_below,
    "server": _server,
    "need": _need,
    "needs": _needs,
    "agent": _agent,
    "flags": _flags,
    "raised": _raised,
    "call": _call,
    "calls": _calls,
    "activity": _waits,
    "automation": _automation,
    "order": _order,
    "run": _of_run,
}


def read(state: JSON, place: Place) -> JSON:
    """What stands at a place; None when there is nothing to compare there."""
    return _READINGS[place[0]](state, *place[1:])


# -- effects --------------------------------------------------------------------------------------------


def effects_of(envelope: Envelope, version: str) -> Iterator[Effect]:
    """The effects of an action on a state whose fold is known; of a refused one, that everything stays."""
    if envelope.type.startswith("chat/"):
        yield from _of_chat(envelope)
    elif envelope.type.startswith("automation"):
        yield from _of_automations(envelope)
    elif envelope.type.startswith("session/inputNeeded"):
        if envelope.accepted:
            recomputed = "AHP-INPUT-012" if compare(version, "0.8.0") < 0 else "AHP-INPUT-102"
            yield from ((recomputed, ("flags",)), (recomputed, ("raised",)))
            yield from _of_needs(envelope)
    elif envelope.type.startswith("session/mcpServer"):
        yield from _of_servers(envelope, repr(envelope.get("id")))
    else:
        yield from _of_customizations(envelope, version)


def _of_needs(envelope: Envelope) -> Iterator[Effect]:
    """What else is listed stays so."""
    if envelope.type == "session/inputNeededRemoved":
        if entries_in(envelope.after) and envelope.after is not envelope.before:
            yield from (("AHP-INPUT-013", ("needs",)), ("AHP-INPUT-013", ("raised",)))
    elif any(entry.get("chat") != member(envelope.get("request"), "chat") for entry in entries_in(envelope.before)):
        yield "AHP-INNEED-019", ("needs",)


def _of_customizations(envelope: Envelope, version: str) -> Iterator[Effect]:
    identity = repr(envelope.get("id"))
    if envelope.type == "session/customizationToggled":
        if _entry(envelope.before, identity) is None:
            yield "AHP-CUST-020", _LIST
        elif envelope.accepted:
            yield "AHP-CUST-002" if compare(version, "0.8.0") < 0 else "AHP-CUST-101", ("switch", identity)
            if envelope.origin is not None:
                yield "AHP-CUST-005", ("switch", identity)
            if dicts(member(_entry(envelope.before, identity), "children")):
                yield "AHP-CUST-016", ("switches below", identity)
    elif not envelope.accepted:
        return
    elif envelope.type == "session/customizationsChanged":
        yield "AHP-CUST-001", _LIST
    elif envelope.type == "session/customizationRemoved":
        yield "AHP-CUST-004", _LIST
    else:
        identity = repr(member(envelope.get("customization"), "id"))
        yield "AHP-CUST-003", ("customization", identity)
        if member(envelope.get("customization"), "children") is not None:
            yield "AHP-CUST-012", ("customization", identity)


def _of_servers(envelope: Envelope, identity: str) -> Iterator[Effect]:
    known = _server(envelope.before, identity) is not None
    if envelope.type == "session/mcpServerStateChanged":
        if envelope.accepted and known:
            yield "AHP-MCP-009", ("server", identity)
    elif envelope.type == "session/mcpServerBackgroundRequested":
        if envelope.accepted and known:
            yield "AHP-MCP-102", ("server", identity)
    elif not known:
        yield "AHP-MCP-016", _LIST
    elif envelope.accepted:
        yield "AHP-MCPS-005", ("server", identity)


def _of_automations(envelope: Envelope) -> Iterator[Effect]:
    if not envelope.accepted:
        return
    if envelope.type.startswith("automationRun/"):
        for name in {
            "automationRun/lifecycleChanged": ("lifecycle",),
            "automationRun/primarySessionChanged": ("primarySession",),
            "automationRun/cancelRequested": ("lifecycle",),
        }.get(envelope.type, ("sessions", "primarySession")):
            yield "AHP-AUTOM-132", ("run", name)
        return
    yield "AHP-AUTOM-131", ("order",)
    if envelope.type == "automation/set":
        yield "AHP-AUTOM-131", ("automation", repr(member(envelope.get("automation"), "resource")))
    elif envelope.type == "automation/removed" and envelope.after == envelope.before:
        yield "AHP-AUTOM-105", ("order",)


def _of_chat(envelope: Envelope) -> Iterator[Effect]:
    if envelope.type == "chat/turnStarted":
        if envelope.accepted and member(envelope.get("message"), "agent") is not None:
            yield "AHP-CUST-018", ("agent", text(envelope.get("turnId")) or "")
        return
    turn = active_turn(envelope.before)
    name, identity = text(member(turn, "id")) or "", text(envelope.get("toolCallId")) or ""
    if envelope.type in _ENDS:
        for each in calls_in(turn) if envelope.accepted and envelope.get("turnId") == name else ():
            if each.get("status") == BLOCKED:
                yield "AHP-TOOLAUTH-012", ("call", name, text(each.get("toolCallId")) or "")
        return
    call = call_in(turn, identity)
    place = ("call", name, identity)
    ours = envelope.type in ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved")
    if call is None or envelope.get("turnId") != name:
        if ours and turn is not None:
            yield "AHP-TOOLAUTH-005", ("calls",)
        return
    status = call.get("status")
    if ours and envelope.origin is not None:
        yield "AHP-TOOLAUTH-080", place
    if envelope.type == "chat/toolCallAuthRequired":
        if contributor_of(call) != "mcp":
            yield "AHP-TOOLAUTH-002", place
        elif status != "running":
            yield "AHP-TOOLAUTH-004", place
    elif envelope.type == "chat/toolCallAuthResolved":
        if status != BLOCKED:
            yield "AHP-TOOLAUTH-007", place
    elif status == BLOCKED and envelope.type == "chat/toolCallComplete":
        yield from _completed(envelope, place)
    elif status == BLOCKED and envelope.type in _CALLS:
        yield "AHP-TOOLAUTH-013", place
    if envelope.accepted and (ours or status == BLOCKED) and envelope.after is not envelope.before:
        yield "AHP-TOOLAUTH-008", ("activity",)


def _completed(envelope: Envelope, place: Place) -> Iterator[Effect]:
    result = envelope.get("result")
    if member(result, "success") is True:
        yield "AHP-TOOLAUTH-011", place
        if envelope.origin is not None:
            yield "AHP-TOOLAUTH-041", place
    elif envelope.accepted:
        yield "AHP-TOOLAUTH-009", place
        if envelope.get("requiresResultConfirmation") is True:
            yield "AHP-TOOLAUTH-010", place


FOLDED = frozenset(
    {
        *_ENDS,
        *_CALLS,
        "chat/turnStarted",
        "chat/toolCallAuthRequired",
        "chat/toolCallAuthResolved",
        "chat/toolCallComplete",
        "session/customizationToggled",
        "session/customizationsChanged",
        "session/customizationUpdated",
        "session/customizationRemoved",
        "session/mcpServerStateChanged",
        "session/mcpServerStartRequested",
        "session/mcpServerStopRequested",
        "session/mcpServerBackgroundRequested",
        "session/inputNeededSet",
        "session/inputNeededRemoved",
        "automation/createRequested",
        "automation/updateRequested",
        "automation/set",
        "automation/removed",
        "automationRun/lifecycleChanged",
        "automationRun/sessionSet",
        "automationRun/sessionRemoved",
        "automationRun/primarySessionChanged",
        "automationRun/cancelRequested",
    }
)
"""The actions that have effects."""
