"""Shapes: every value against the schema of the negotiated version, and whose obligation a wrong one breaks.

The schema says what is wrong; the tables here say which obligation states it, by the place of the value: the most
specific path decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from conformance.oracle.reading import active_turn, calls_in, dicts, entries_in, member, servers_in, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Reply, Snapshot
from conformance.protocol import (
    BASELINE,
    Violation,
    action_violations,
    error_data_violations,
    is_known_action,
    is_version,
    params_violations,
    result_violations,
    rules_for,
    state_violations,
)

from .sequence import origin_of

# Which obligation speaks of a place in a state, the most specific first. A pattern is searched in the JSONPath.
_ENTRIES = {
    "toolAuthentication": "AHP-TOOLAUTH-023",
    "toolConfirmation": "AHP-INPUT-019",
    "toolClientExecution": "AHP-INPUT-017",
}
_STATE_PLACES: dict[str, tuple[tuple[str, str], ...]] = {
    "session": (
        (r"^\$\.inputNeeded\[\d+\]", "AHP-INPUT-029"),
        (r"^\$\.inputNeeded$", "AHP-INNEED-002"),
        (r"^\$\.customizations\[\d+\](\.children\[\d+\])?\.state", "AHP-MCPS-002"),
        (r"^\$\.customizations", "AHP-MCP-001"),
        (r"^\$\.chats", "AHP-CHAT-049"),
        (r"^\$\.activeClients", "AHP-ACTC-012"),
        (r"^\$\.status", "AHP-STAT-001"),
        (r"", "AHP-SESS-008"),
    ),
    "chat": (
        (r"\.toolCall\.auth\b", "AHP-TOOLAUTH-062"),
        (r"\.toolCall\b", "AHP-TOOL-029"),
        (r"^\$\.(turns|activeTurn)", "AHP-TURN-040"),
        (r"^\$\.status", "AHP-CHAT-035"),
        (r"", "AHP-CHAT-001"),
    ),
    "root": ((r"", "AHP-ROOT-001"),),
}

# What the action of an envelope breaks when it is malformed.
_ACTIONS = {
    "chat/toolCallAuthRequired": "AHP-TOOLAUTH-062",
    "chat/toolCallComplete": "AHP-TOOL-014",
    "chat/toolCallReady": "AHP-TOOL-020",
    "chat/turnStarted": "AHP-TURN-026",
    "chat/turnComplete": "AHP-TURN-026",
    "session/chatAdded": "AHP-CHAT-049",
    "session/mcpServerStateChanged": "AHP-MCPS-002",
    "session/activeClientSet": "AHP-ACTC-012",
}
# Members that say by their absence that something is cleared; null means the same (ambiguity A-11).
_CLEARING = {
    "chat/activityChanged": "activity",
    "chat/draftChanged": "draft",
    "session/activityChanged": "activity",
    "session/changesetsChanged": "changesets",
    "session/defaultChatChanged": "defaultChat",
    "session/metaChanged": "_meta",
    "session/mcpServerStateChanged": "channel",
}
_ERRORS = {-32007: "AHP-AUTH-008", -32005: "AHP-INIT-005"}
_INITIALIZE = (
    (r"^\$\.serverInfo", "AHP-INIT-016"),
    (r"^\$\.defaultDirectory", "AHP-INIT-022"),
    (r"^\$\.completionTriggerCharacters", "AHP-INIT-024"),
    (r"^\$\.terminalCommandPrefix", "AHP-INIT-025"),
    (r"", "AHP-INIT-003"),
)
_NOTIFICATIONS = {
    "root/sessionAdded": "AHP-ROOT-012",
    "root/sessionSummaryChanged": "AHP-ROOT-016",
    "root/progress": "AHP-PROG-007",
}


# States are judged as snapshots, by the kind of their channel, and replayed actions as envelopes.
_JUDGED_ELSEWHERE = re.compile(r"\.state\b|^\$\.actions\[\d+\]\.action\b")


class Shapes(Rule):
    """Snapshots, actions, results, error data and notifications have the shape of their type."""

    name = "shapes"
    obligations = tuple(
        dict.fromkeys(
            [
                *(o for places in _STATE_PLACES.values() for _, o in places),
                *_ENTRIES.values(),
                *_ACTIONS.values(),
                *_ERRORS.values(),
                *_NOTIFICATIONS.values(),
                *(o for _, o in _INITIALIZE),
                "AHP-AUTH-016",
                "AHP-AUTH-025",
                "AHP-AUTH-101",
                "AHP-CHAT-101",
                "AHP-DISP-001",
                "AHP-LIST-001",
                "AHP-RPC-018",
                "AHP-SEQ-003",
                "AHP-SUB-003",
                "AHP-TOOLAUTH-063",
                "AHP-TURN-038",
            ]
        )
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # What clients dispatched in the shape of its type, and what they did not.
        self._wellformed: dict[tuple[str, int], bool] = {}

    def dispatch(self, dispatch: Dispatch) -> None:
        version = self.version(dispatch.conn)
        if version is not None and dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            who = (dispatch.client_id, dispatch.client_seq)
            fine = not action_violations(version, _less_cleared(dispatch.action))
            self._wellformed[who] = fine and self._wellformed.get(who, True)

    def snapshot(self, snapshot: Snapshot) -> None:
        version = self.version(snapshot.conn)
        if version is None or snapshot.kind is None:
            return
        self.watch("AHP-SUB-003")
        self._watch_state(snapshot.kind, snapshot.state)
        found = state_violations(version, snapshot.kind, snapshot.state)
        for obligation, group in _by_obligation(found, _STATE_PLACES.get(snapshot.kind, ()), snapshot.state):
            self._report(
                tuple(dict.fromkeys((obligation, "AHP-SUB-003"))),
                f"the snapshot of {snapshot.channel} is not what its type demands",
                group,
                snapshot.frame.n,
            )

    def _watch_state(self, kind: str, state: Any) -> None:
        if not isinstance(state, dict):
            return
        if kind == "session":
            self.watch("AHP-SESS-008", "AHP-STAT-001", "AHP-ACTC-012", "AHP-CHAT-049")
            for entry in entries_in(state):
                self.watch("AHP-INPUT-029", _ENTRIES.get(text(entry.get("kind")) or "", "AHP-INPUT-029"))
            if servers_in(state):
                self.watch("AHP-MCP-001", "AHP-MCPS-002")
        elif kind == "chat":
            self.watch("AHP-CHAT-001", "AHP-CHAT-035", "AHP-TURN-040")
            calls = [call for turn in (*dicts(state.get("turns")), active_turn(state)) for call in calls_in(turn)]
            if calls:
                self.watch("AHP-TOOL-029")
            if any(call.get("status") == "auth-required" for call in calls):
                self.watch("AHP-TOOLAUTH-062", "AHP-TOOLAUTH-063")
        elif kind == "root":
            self.watch("AHP-ROOT-001")

    def envelope(self, envelope: Envelope) -> None:
        version = self.version(envelope.conn)
        if version is None or not is_known_action(envelope.type, version):
            return
        who = origin_of(envelope)
        # What a client dispatched malformed must not come back as accepted.
        malformed = who is not None and not self._wellformed.get(who, True)
        if not envelope.accepted:
            self.watch(*(["AHP-DISP-001"] if malformed else []))
            return
        obligations = ("AHP-DISP-001",) if malformed else self._of_action(envelope, version)
        self.watch(*obligations)
        found = action_violations(version, _less_cleared(envelope.action))
        if found:
            self._report(
                obligations,
                f"{envelope.type} is not what its type demands",
                found,
                envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq), version),
            )

    def _of_action(self, envelope: Envelope, version: str) -> tuple[str, ...]:
        if envelope.type == "session/inputNeededSet":
            kind = text(member(envelope.get("request"), "kind"))
            return (_ENTRIES.get(kind or "", "AHP-INPUT-029"),)
        if envelope.type == "chat/error":
            return ("AHP-CHAT-101",) if version >= "0.9.0" else ("AHP-TURN-038",)
        return (_ACTIONS.get(envelope.type, "AHP-SEQ-003"),)

    def reply(self, reply: Reply) -> None:
        if reply.request is None:
            return
        version = self.version(reply.conn)
        if isinstance(reply.error, dict):
            self._error(reply, version or BASELINE)
        elif "result" in reply.frame.msg:
            if version is None and reply.request.method == "initialize":
                # A result that names no version is judged by the one that was asked for.
                version = _offered(reply.request.params)
            if version is not None:
                self._result(reply, version)

    def _error(self, reply: Reply, version: str) -> None:
        code, data = whole(reply.error.get("code")), reply.error.get("data")
        if code not in _ERRORS or (code == -32005 and data is None):
            # Whether -32005 has to carry data is the matter of another obligation.
            return
        self.watch(_ERRORS[code])
        found = error_data_violations(version, code, data)
        if found:
            self._report((_ERRORS[code],), f"the data of the error {code} are wrong", found, reply.frame.n)

    def _result(self, reply: Reply, version: str) -> None:
        assert reply.request is not None
        method = reply.request.method
        found = [v for v in result_violations(version, method, reply.result) if not _JUDGED_ELSEWHERE.search(v.path)]
        places: Sequence[tuple[str, str]] = ((r"", "AHP-RPC-018"),)
        if method == "initialize":
            places = _INITIALIZE
            members = reply.result if isinstance(reply.result, dict) else {}
            self.watch("AHP-INIT-003", *(o for p, o in _INITIALIZE if p and p.rpartition(".")[2] in members))
        elif method == "listSessions":
            places = ((r"", "AHP-LIST-001"),)
            self.watch("AHP-LIST-001")
        else:
            self.watch("AHP-RPC-018")
        for obligation, group in _by_obligation(found, places, reply.result):
            self._report((obligation,), f"the result of {method} is not what its type demands", group, reply.frame.n)

    def notification(self, notification: Notification) -> None:
        version = self.version(notification.conn)
        if version is None:
            return
        if notification.method == "auth/required":
            obligations: tuple[str, ...] = (
                "AHP-AUTH-016",
                "AHP-AUTH-101" if version >= "0.8.0" else "AHP-AUTH-025",
            )
        elif notification.method in _NOTIFICATIONS:
            obligations = (_NOTIFICATIONS[notification.method],)
        else:
            return
        self.watch(*obligations)
        found = params_violations(version, notification.method, notification.params)
        if found:
            self._report(
                obligations, f"{notification.method} is not what its type demands", found, notification.frame.n
            )

    def _report(
        self, obligations: tuple[str, ...], message: str, found: Iterable[Violation], frame: int, once: Any = None
    ) -> None:
        self.find(
            obligations,
            message,
            expected="the shape of the type in the negotiated version",
            seen="; ".join(str(v) for v in found),
            frame=frame,
            once=once,
        )


def _less_cleared(action: Any) -> Any:
    name = _CLEARING.get(text(member(action, "type")) or "")
    if name is None or action.get(name, "") is not None:
        return action
    return {key: value for key, value in action.items() if key != name}


def _by_obligation(
    found: Iterable[Violation], places: Sequence[tuple[str, str]], value: Any
) -> list[tuple[str, list[Violation]]]:
    """The violations of one value, grouped by the obligation that speaks of their place."""
    groups: dict[str, list[Violation]] = {}
    for violation in found:
        obligation = next((o for pattern, o in places if re.search(pattern, violation.path)), "AHP-SUB-003")
        if obligation == "AHP-INPUT-029":
            obligation = _entry_obligation(violation.path, value)
        if obligation == "AHP-TOOL-029" and _is_auth_required(violation.path, value):
            obligation = "AHP-TOOLAUTH-063"
        groups.setdefault(obligation, []).append(violation)
    return list(groups.items())


def _entry_obligation(path: str, state: Any) -> str:
    match = re.match(r"\$\.inputNeeded\[(\d+)\]", path)
    entry = _at(member(state, "inputNeeded"), match[1]) if match else None
    return _ENTRIES.get(text(member(entry, "kind")) or "", "AHP-INPUT-029")


def _is_auth_required(path: str, state: Any) -> bool:
    """Whether the tool call that a path leads into is auth-required."""
    value = state
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = member(value, name) if name else _at(value, index)
        if name == "toolCall":
            break
    return bool(member(value, "status") == "auth-required")


def _at(value: Any, index: str) -> Any:
    """An entry of an array by the index in a path, None when there is none."""
    place = int(index) if len(index) < 10 else -1
    return value[place] if isinstance(value, list) and 0 <= place < len(value) else None


def _offered(params: Any) -> str | None:
    """The rules of the first version that a client offered, those of the baseline when it offered none."""
    for version in texts(member(params, "protocolVersions")):
        if is_version(version) and len(version) < 20:
            return rules_for(version)
    return BASELINE
