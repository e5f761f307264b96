"""Shapes: every value against the schema of the negotiated version, and whose obligation a wrong one breaks.

The schema says what is wrong; the tables here say which obligation states it, by the place of the value: the most
specific path decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import active_turn, calls_in, dicts, entries_in, member, servers_in, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Reply, Snapshot
from conformance.protocol import (
    ACTIONS,
    BASELINE,
    Violation,
    action_violations,
    compare,
    error_data_violations,
    is_known_action,
    is_version,
    params_violations,
    result_violations,
    rules_for,
    state_violations,
)

from . import channel_places
from .customization_places import ENTRY, obligation_at, put_to_the_test
from .customization_places import OBLIGATIONS as CUSTOMIZATIONS

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
        (r"^\$\.changesets", "AHP-CHG-001"),
        (r"^\$\.annotations", "AHP-ANN-001"),
        (r"^\$\.customizations\[\d+\](\.children\[\d+\])?\.state", "AHP-MCPS-002"),
        (r"^\$\.customizations", ENTRY),
        (r"^\$\.chats\[\d+\]\.modifiedAt", "AHP-TURN-031"),
        (r"^\$\.chats", "AHP-CHAT-049"),
        (r"^\$\.config\.schema\.properties[.\[]", "AHP-CFG-004"),
        (r"^\$\.config", "AHP-CFG-010"),
        (r"^\$\.project", "AHP-SESS-044"),
        (r"^\$\.serverTools", "AHP-SESS-045"),
        (r"^\$\.workingDirectories", "AHP-WD-101"),
        (r"^\$\.activeClients", "AHP-ACTC-012"),
        (r"^\$\.status", "AHP-STAT-001"),
        (r"", "AHP-SESS-008"),
    ),
    "chat": (
        (r"\.toolCall\.auth\b", "AHP-TOOLAUTH-062"),
        (r"\.toolCall\.options\b", "AHP-CONF-010"),
        (r"\.toolCall\.riskAssessment\b", "AHP-CONF-018"),
        (r"\.toolCall\.toolInput\b", "AHP-TOOL-032"),
        (r"\.toolCall\.(content|edits)\b.*\.(before|after)\b", "AHP-TOOL-019"),
        (r"\.request\.questions\b", "AHP-INPUTREQ-019"),
        (r"^\$\.(steeringMessage|queuedMessages)\b", "AHP-PEND-021"),
        (r"^\$\.modifiedAt", "AHP-TURN-031"),
        (r"\.toolCall\b", "AHP-TOOL-029"),
        (r"^\$\.(turns|activeTurn)", "AHP-TURN-040"),
        (r"^\$\.status", "AHP-CHAT-035"),
        (r"", "AHP-CHAT-001"),
    ),
    "root": (
        *channel_places.TERMINALS,
        (r"^\$\.config\.schema\.properties[.\[]", "AHP-CFG-004"),
        (r"^\$\.config", "AHP-ROOT-007"),
        (r"^\$\.agents\[\d+\]\.capabilities", "AHP-ROOT-019"),
        (r"^\$\.agents\[\d+\]\.customizations", ENTRY),
        (r"^\$\.agents\[\d+\]\.models\[\d+\].", "AHP-ROOT-024"),
        (r"^\$\.agents\[\d+\]\.protectedResources", "AHP-AUTH-012"),
        (r"", "AHP-ROOT-001"),
    ),
    "automations": ((r"^\$\.entries\[", "AHP-AUTOM-129"), (r"", "AHP-AUTOM-101")),
    "automationRun": ((r"", "AHP-AUTOM-130"),),
    **channel_places.STATES,
}

# Members whose shape is put to the test only where they are.
_IN_SESSION = {
    "config": "AHP-CFG-010",
    "project": "AHP-SESS-044",
    "serverTools": "AHP-SESS-045",
    "workingDirectories": "AHP-WD-101",
}
_IN_AGENT = {
    "capabilities": "AHP-ROOT-019",
    "models": "AHP-ROOT-024",
    "protectedResources": "AHP-AUTH-012",
}

# Members of actions of which another obligation speaks than of the rest: the member, where in it, and the obligation.
_SIDES = r".*\.(before|after)\b"
_IN_ACTIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "chat/inputRequested": (("request", r"\.questions\b", "AHP-INPUTREQ-019"),),
    "chat/toolCallComplete": (("result", _SIDES, "AHP-TOOL-019"),),
    "chat/toolCallContentChanged": (("content", _SIDES, "AHP-TOOL-019"),),
    "chat/toolCallReady": (
        ("options", "", "AHP-CONF-010"),
        ("riskAssessment", "", "AHP-CONF-018"),
        ("toolInput", "", "AHP-TOOL-032"),
        ("edits", _SIDES, "AHP-TOOL-019"),
    ),
    "session/chatAdded": (("summary", r"\.modifiedAt\b", "AHP-TURN-031"),),
    "session/chatUpdated": (("changes", r"\.modifiedAt\b", "AHP-TURN-031"),),
}
_IN_CALLS = {"options": "AHP-CONF-010", "riskAssessment": "AHP-CONF-018"}
# Obligations that took the place of another one, with the first version that they hold in.
_SUCCESSORS = {"AHP-TOOL-032": ("0.7.0", "AHP-TOOL-031")}

# What the action of an envelope breaks when it is malformed.
_ACTIONS = {
    "chat/toolCallAuthRequired": "AHP-TOOLAUTH-062",
    "chat/toolCallComplete": "AHP-TOOL-014",
    "chat/toolCallReady": "AHP-TOOL-020",
    "chat/responsePart": "AHP-TURN-040",
    "chat/turnsLoaded": "AHP-TURN-040",
    "chat/turnStarted": "AHP-TURN-026",
    "chat/turnComplete": "AHP-TURN-026",
    "session/chatAdded": "AHP-CHAT-049",
    "session/mcpServerStateChanged": "AHP-MCPS-002",
    "session/activeClientSet": "AHP-ACTC-012",
    "session/customizationsChanged": ENTRY,
    "session/customizationUpdated": ENTRY,
    "automation/set": "AHP-AUTOM-129",
}
# Members that say by their absence that something is cleared; null means the same (ambiguity A-11).
_CLEARING = {
    "chat/activityChanged": "activity",
    "chat/changesetsChanged": "changesets",
    "chat/draftChanged": "draft",
    "changeset/operationsChanged": "operations",
    "session/activityChanged": "activity",
    "session/changesetsChanged": "changesets",
    "session/defaultChatChanged": "defaultChat",
    "session/metaChanged": "_meta",
    "session/mcpServerStateChanged": "channel",
}
_ERRORS = {-32007: "AHP-AUTH-008", -32005: "AHP-INIT-005", -32009: "AHP-RES-007"}
_INITIALIZE = (
    (r"^\$\.serverInfo", "AHP-INIT-016"),
    (r"^\$\.defaultDirectory", "AHP-INIT-022"),
    (r"^\$\.completionTriggerCharacters", "AHP-INIT-024"),
    (r"^\$\.terminalCommandPrefix", "AHP-INIT-025"),
    (r"^\$\._meta", "AHP-INIT-033"),
    (r"^\$\.telemetry", "AHP-OTLP-001"),
    (r"^\$\.automations", "AHP-AUTOM-133"),
    (r"", "AHP-INIT-003"),
)
# What a result breaks, the most specific place first; results of other methods break AHP-RPC-018.
_RESULTS: dict[str, tuple[tuple[str, str], ...]] = {
    "initialize": _INITIALIZE,
    "reconnect": ((r"", "AHP-RECON-002"),),
    "ping": ((r"", "AHP-PING-001"),),
    "authenticate": ((r"", "AHP-AUTH-001"),),
    "createChat": ((r"", "AHP-CHAT-007"),),
    "resolveSessionConfig": ((r"^\$\.schema\.properties[.\[]", "AHP-CFG-004"), (r"", "AHP-CFG-001")),
    "sessionConfigCompletions": ((r"", "AHP-CFG-006"),),
    "completions": ((r"", "AHP-COMPL-001"),),
    "listSessions": (
        (r"^\$\.items\[\d+\]\.(createdAt|modifiedAt)$", "AHP-SESS-023"),
        (r"^\$\.items\[\d+\]\.changes", "AHP-STAT-012"),
        (r"^\$\.items\[\d+\]\.chats", "AHP-SESS-103"),
        (r"^\$\.items\[\d+\]\.project", "AHP-SESS-044"),
        (r"^\$\.items\[\d+\]\.workingDirectories", "AHP-WD-101"),
        (r"", "AHP-LIST-001"),
    ),
    "resourceRead": ((r"^\$\.encoding$", "AHP-RES-005"), (r"", "AHP-RES-001")),
    "resourceList": ((r"", "AHP-RES-021"),),
    "resourceResolve": ((r"", "AHP-RES-041"),),
    **dict.fromkeys(
        ("resourceWrite", "resourceCopy", "resourceMove", "resourceDelete", "resourceMkdir", "resourceRequest"),
        ((r"", "AHP-RES-054"),),
    ),
    "runAutomation": ((r"", "AHP-AUTOM-130"),),
    "fetchAutomationRuns": ((r"", "AHP-AUTOM-115"),),
    "listAutomationTriggerDefinitions": ((r"", "AHP-AUTOM-137"),),
    **channel_places.RESULTS,
}
_NOTIFICATIONS = {
    "root/sessionAdded": "AHP-ROOT-012",
    "root/sessionSummaryChanged": "AHP-ROOT-016",
    "root/progress": "AHP-PROG-007",
    "otlp/exportLogs": "AHP-OTLP-004",
    "otlp/exportTraces": "AHP-OTLP-004",
    "otlp/exportMetrics": "AHP-OTLP-004",
}


# States are judged as snapshots, by the kind of their channel, and replayed actions as envelopes.
_JUDGED_ELSEWHERE = re.compile(r"\.state\b|^\$\.actions\[\d+\]\.action\b")


# Actions whose obligation depends on nothing but their type: most of what there is, so it is looked at first.
_PLAIN = {
    action: _ACTIONS.get(action, "AHP-SEQ-003")
    for action in ACTIONS
    if action not in _IN_ACTIONS
    and action not in channel_places.ACTIONS
    and action not in _CLEARING
    and action not in ("session/inputNeededSet", "chat/error", "chat/responsePart")
}


class Shapes(Rule):
    """Snapshots, actions, results, error data and notifications have the shape of their type."""

    name = "shapes"
    obligations = tuple(
        dict.fromkeys(
            [
                *(o for places in _STATE_PLACES.values() for _, o in places),
                *_ENTRIES.values(),
                *_ACTIONS.values(),
                *CUSTOMIZATIONS,
                *(o for places in _IN_ACTIONS.values() for _, _, o in places),
                *(before for _, before in _SUCCESSORS.values()),
                *channel_places.OBLIGATIONS,
                "AHP-TURN-032",
                *_ERRORS.values(),
                *_NOTIFICATIONS.values(),
                *(o for places in _RESULTS.values() for _, o in places),
                "AHP-AUTH-016",
                "AHP-AUTH-025",
                "AHP-AUTH-101",
                "AHP-CHAT-101",
                "AHP-DISP-001",
                "AHP-RPC-018",
                "AHP-SEQ-003",
                "AHP-SUB-003",
                "AHP-TOOLAUTH-063",
                "AHP-TURN-038",
                "AHP-VER-002",
            ]
        )
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # What clients dispatched in the shape of its type, and what they did not.
        self._wellformed: dict[tuple[str, int], bool] = Bounded()

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
        self._watch_state(snapshot.kind, snapshot.state, version)
        self.watch(*channel_places.in_state(snapshot.kind, snapshot.state, version))
        if snapshot.kind == "chat":
            self.watch(*_in_chat(snapshot.state, version))
        found = state_violations(version, snapshot.kind, snapshot.state)
        for obligation, group in _by_obligation(found, _STATE_PLACES.get(snapshot.kind, ()), snapshot.state):
            self._report(
                tuple(dict.fromkeys((_by_version(obligation, version), "AHP-SUB-003"))),
                f"the snapshot of {snapshot.channel} is not what its type demands",
                group,
                snapshot.frame.n,
            )

    def _watch_state(self, kind: str, state: Any, version: str) -> None:
        if not isinstance(state, dict):
            return
        if kind == "session":
            self.watch("AHP-SESS-008", "AHP-STAT-001", "AHP-ACTC-012", "AHP-CHAT-049")
            for entry in entries_in(state):
                self.watch("AHP-INPUT-029", _ENTRIES.get(text(entry.get("kind")) or "", "AHP-INPUT-029"))
            if servers_in(state):
                self.watch("AHP-MCPS-002")
            self.watch(*put_to_the_test(state.get("customizations"), version))
            if member(member(member(state, "config"), "schema"), "properties"):
                self.watch("AHP-CFG-004")
            self.watch(*(obligation for name, obligation in _IN_SESSION.items() if name in state))
        elif kind == "chat":
            self.watch("AHP-CHAT-001", "AHP-CHAT-035", "AHP-TURN-040")
            calls = [call for turn in (*dicts(state.get("turns")), active_turn(state)) for call in calls_in(turn)]
            if calls:
                self.watch("AHP-TOOL-029")
            if any(call.get("status") == "auth-required" for call in calls):
                self.watch("AHP-TOOLAUTH-062", "AHP-TOOLAUTH-063")
        elif kind == "root":
            self.watch("AHP-ROOT-001", *(["AHP-ROOT-007"] if "config" in state else []))
            if member(member(member(state, "config"), "schema"), "properties"):
                self.watch("AHP-CFG-004")
            for agent in dicts(state.get("agents")):
                self.watch(*(obligation for name, obligation in _IN_AGENT.items() if name in agent))
                self.watch(*put_to_the_test(agent.get("customizations"), version))
        elif kind == "automations":
            self.watch("AHP-AUTOM-101", *(["AHP-AUTOM-129"] if dicts(state.get("entries")) else []))
        elif kind == "automationRun":
            self.watch("AHP-AUTOM-130")

    def envelope(self, envelope: Envelope) -> None:
        version = envelope.version
        if version is None or not is_known_action(envelope.type, version):
            return
        plain = _PLAIN.get(envelope.type)
        if plain is not None and envelope.by is None and envelope.accepted:
            self.watch(plain)
            if not action_violations(version, envelope.action):
                return
        who = envelope.by
        # What a client dispatched malformed must not come back as accepted.
        malformed = who is not None and not self._wellformed.get(who, True)
        if not envelope.accepted:
            self.watch(*(["AHP-DISP-001"] if malformed else []))
            return
        obligations = ("AHP-DISP-001",) if malformed else self._of_action(envelope, version)
        self.watch(*obligations)
        places = () if malformed else _IN_ACTIONS.get(envelope.type, ())
        of_channel = () if malformed else channel_places.ACTIONS.get(envelope.type, ())
        if of_channel:
            self.watch(*channel_places.in_action(envelope.action, version))
        for name, within, obligation in places:
            if name in envelope.action and not within:
                self.watch(_by_version(obligation, version))
        found = action_violations(version, _less_cleared(envelope.action))
        if not found:
            return
        found = [v for v in found if not channel_places.is_tolerated(v)]
        groups: dict[tuple[str, ...], list[Violation]] = {}
        for violation in found:
            own = next((o for name, within, o in places if re.match(rf"\$\.{name}\b{within}", violation.path)), None)
            own = own or channel_places.place_of(violation, of_channel)
            if obligations == (ENTRY,):
                own = obligation_at(violation, envelope.action)
            groups.setdefault(obligations if own is None else (_by_version(own, version),), []).append(violation)
        for group, violations in groups.items():
            self._report(
                group,
                f"{envelope.type} is not what its type demands",
                violations,
                envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq), version),
            )

    def _of_action(self, envelope: Envelope, version: str) -> tuple[str, ...]:
        if envelope.type == "session/inputNeededSet":
            kind = text(member(envelope.get("request"), "kind"))
            return (_ENTRIES.get(kind or "", "AHP-INPUT-029"),)
        if envelope.type == "chat/error":
            if version >= "0.9.0":
                return ("AHP-CHAT-101",)
            return ("AHP-TURN-038", "AHP-VER-002") if envelope.get("part") is not None else ("AHP-TURN-038",)
        if envelope.type == "chat/responsePart" and member(envelope.get("part"), "kind") == "systemNotification":
            return ("AHP-TURN-032",)
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
        if code not in _ERRORS or (code in (-32005, -32009) and data is None):
            # Whether -32005 has to carry data is the matter of another obligation; -32009 need not.
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
        places = _RESULTS.get(method, places)
        self.watch(places[-1][1])
        if method == "initialize":
            members = reply.result if isinstance(reply.result, dict) else {}
            self.watch(*(o for p, o in _INITIALIZE if p and p.rpartition(".")[2] in members))
        elif method == "listSessions":
            items = dicts(member(reply.result, "items"))
            self.watch(*(o for p, o in places if p and any(p.rpartition(".")[2] in item for item in items)))
        elif method == "resolveSessionConfig" and member(member(reply.result, "schema"), "properties"):
            self.watch("AHP-CFG-004")
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
        if notification.method == "auth/required" and version < "0.8.0":
            self.watch("AHP-VER-002")
            if isinstance(notification.params.get("resource"), dict):
                # The form that 0.8.0 brought.
                obligations = (*obligations, "AHP-VER-002")
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


def _by_version(obligation: str, version: str) -> str:
    """The obligation that says in this version what ``obligation`` says from some version on."""
    since, before = _SUCCESSORS.get(obligation, (BASELINE, obligation))
    return obligation if compare(version, since) >= 0 else before


def _in_chat(state: Any, version: str) -> Iterator[str]:
    """The obligations about places that a chat has only at times."""
    if member(state, "modifiedAt") is not None:
        yield "AHP-TURN-031"
    if member(state, "steeringMessage") is not None or member(state, "queuedMessages") is not None:
        yield "AHP-PEND-021"
    for turn in (*dicts(member(state, "turns")), active_turn(state)):
        if any(part.get("kind") == "systemNotification" for part in dicts(member(turn, "responseParts"))):
            yield "AHP-TURN-032"
        for call in calls_in(turn):
            yield from (o for name, o in _IN_CALLS.items() if name in call)
            if "toolInput" in call:
                yield _by_version("AHP-TOOL-032", version)


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
        if channel_places.is_tolerated(violation):
            continue
        obligation = _place(violation, places)
        if obligation == "AHP-INPUT-029":
            obligation = _entry_obligation(violation.path, value)
        if obligation == ENTRY:
            obligation = obligation_at(violation, value)
        if obligation == "AHP-TOOL-029" and _is_auth_required(violation.path, value):
            obligation = "AHP-TOOLAUTH-063"
        if obligation == "AHP-TURN-040" and _is_notification(violation.path, value):
            obligation = "AHP-TURN-032"
        groups.setdefault(obligation, []).append(violation)
    return list(groups.items())


def _place(violation: Violation, places: Sequence[tuple[str, str]]) -> str:
    """The obligation that speaks of the place of a violation; of what is missing, where a pattern asks for that."""
    for pattern, obligation in places:
        if re.search(pattern, channel_places.where(violation) if "!" in pattern else violation.path):
            return obligation
    return "AHP-SUB-003"


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


def _is_notification(path: str, state: Any) -> bool:
    """Whether the part that a path leads into is a notice of the host."""
    value = state
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = member(value, name) if name else _at(value, index)
        if isinstance(value, dict) and value.get("kind") == "systemNotification":
            return True
    return False


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
