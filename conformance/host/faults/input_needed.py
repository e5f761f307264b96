"""Hosts that are wrong about what a session shows of the requests in its chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.channels import Chat, Session
from conformance.host.policy import Policy

from .seams import Fault, altered, entry_with, envelope_with, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_ANSWERS: Final = ("chat/inputCompleted", "chat/toolCallConfirmed", "chat/toolCallResultConfirmed")
_ENDS_OF_TURN: Final = ("chat/turnCancelled", "chat/turnComplete", "chat/error", "chat/truncated")


def _busy_unless_input(host: ReferenceHost, session: Session, version: str) -> int:
    """A confirmation or a question does not raise the session."""
    right = Policy().activity(host, session, version)
    kinds = {entry["kind"] for entry in session.folds[version].get("inputNeeded", ())}
    return 8 if right == 24 and kinds <= {"chatInput", "toolConfirmation"} else right


def _clients_never(host: ReferenceHost, session: Session, version: str) -> int:
    kinds = {entry["kind"] for entry in session.folds[version].get("inputNeeded", ())}
    right = Policy().activity(host, session, version)
    return 8 if right == 24 and kinds == {"toolClientExecution"} else right


def _clients_always(host: ReferenceHost, session: Session, version: str) -> int:
    return 24 if session.folds[version].get("inputNeeded") else Policy().activity(host, session, version)


def _until_idle(host: ReferenceHost, session: Session, version: str) -> int:
    right = Policy().activity(host, session, version)
    host.scratch[session.uri] = right == 24 or (right == 8 and host.scratch.get(session.uri, False))
    return 24 if host.scratch[session.uri] else right


def _clear_all(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    """The first removal empties the list."""
    ids = [entry["id"] for entry in channel.state.get("inputNeeded", ())]
    return [{**action, "id": identifier} for identifier in ids] or [action]


def _twice(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    """Each subscription to a session lists what is open once more."""
    session = host.sessions.get(str((message.get("params") or {}).get("channel")))
    if message.get("method") == "subscribe" and session is not None:
        for entry in session.state.get("inputNeeded", ()):
            host.act(
                session,
                {"type": "session/inputNeededSet", "request": {**entry, "id": host.mint("need")}},
            )


def _early_execution(chat: Chat, call: JSON) -> str | None:
    contributor = call.get("contributor") or {}
    return "toolClientExecution" if contributor.get("kind") == "client" and call["status"] == "streaming" else None


def _running_host_call(chat: Chat, call: JSON) -> str | None:
    return "toolConfirmation" if call["status"] == "running" and "contributor" not in call else None


def _cut(channel: Channel, entry: JSON) -> JSON:
    return {**entry, "toolCall": {"displayName": entry["toolCall"]["displayName"]}}


def _without_input(channel: Channel, entry: JSON) -> JSON:
    return {**entry, "toolCall": without(entry["toolCall"], "toolInput", "options")}


def _unlisted(kind: str, status: str = "") -> dict[str, Any]:
    return {
        "wants_entry": lambda session, chat, listed, call: (
            not (listed == kind and (not status or (call is not None and call["status"] == status)))
        )
    }


FAULTS: Final = (
    Fault(
        "entry-renamed-on-update",
        "AHP-INNEED-010",
        "An update of an entry comes under a new id, and the old entry stays.",
        policy={"renames_entry": lambda: True},
    ),
    Fault(
        "any-entry-names-session-as-chat",
        "AHP-INNEED-011",
        "chat of a confirmation entry is the URI of the session.",
        acting=entry_with("toolConfirmation", lambda channel, entry: {**entry, "chat": channel.uri}),
    ),
    Fault(
        "entry-per-subscription",
        "AHP-INNEED-017",
        "Each subscription to the session adds an entry for what is open.",
        incoming=_twice,
    ),
    Fault(
        "summary-frozen",
        "AHP-INNEED-018",
        "Summaries never carry InputNeeded, whatever is open.",
        outgoing=lambda host, peer, message: [_frozen(message)],
    ),
    Fault(
        "only-default-chat-listed",
        "AHP-INNEED-019",
        "Only the default chat is aggregated.",
        policy={"wants_entry": lambda session, chat, kind, call: session.state.get("defaultChat") == chat.uri},
    ),
    Fault("questions-not-listed", "AHP-INPUT-001", "Questions have no entry.", policy=_unlisted("chatInput")),
    Fault(
        "confirmations-not-listed",
        "AHP-INPUT-002",
        "Confirmations of parameters have no entry.",
        policy=_unlisted("toolConfirmation", "pending-confirmation"),
    ),
    Fault(
        "result-confirmations-not-listed",
        "AHP-INPUT-003",
        "Confirmations of results have no entry.",
        policy=_unlisted("toolConfirmation", "pending-result-confirmation"),
    ),
    Fault(
        "client-executions-not-listed",
        "AHP-INPUT-004",
        "Running calls of client tools have no entry.",
        policy=_unlisted("toolClientExecution"),
    ),
    Fault(
        "answered-question-stays",
        "AHP-INPUT-006",
        "The entry of an answered question stays.",
        policy={"removes_entry": lambda kind, cause: cause != "chat/inputCompleted"},
    ),
    Fault(
        "decided-confirmation-stays",
        "AHP-INPUT-007",
        "The entry of a decided confirmation stays.",
        policy={"removes_entry": lambda kind, cause: kind != "toolConfirmation" or cause not in _ANSWERS},
    ),
    Fault(
        "executed-call-stays",
        "AHP-INPUT-008",
        "The entry of a client execution stays when its owner has reported the result.",
        policy={
            "removes_entry": lambda kind, cause: (
                not (kind == "toolClientExecution" and cause == "chat/toolCallComplete")
            )
        },
    ),
    Fault(
        "entries-outlive-turn",
        "AHP-INPUT-010",
        "Cancelling the turn cleans the chat but not the list.",
        policy={"removes_entry": lambda kind, cause: cause not in (*_ENDS_OF_TURN, "session/chatRemoved")},
    ),
    Fault(
        "entries-do-not-raise",
        "AHP-INPUT-011",
        "Questions and confirmations leave the session InProgress.",
        policy={"activity": _busy_unless_input},
    ),
    Fault(
        "first-answer-clears-list",
        "AHP-INPUT-013",
        "The first answer empties the list.",
        acting=altered("session/inputNeededRemoved", _clear_all),
    ),
    Fault(
        "one-id-for-all",
        "AHP-INPUT-014",
        "All entries of a session share one id.",
        policy={"entry_id": lambda host, kind, chat, request: "need"},
    ),
    Fault(
        "entry-cut-down",
        "AHP-INPUT-015",
        "toolCall of a confirmation entry is cut down to its title.",
        acting=entry_with("toolConfirmation", _cut),
    ),
    Fault(
        "answers-need-subscription",
        "AHP-INPUT-016",
        "Answers of clients that have not subscribed to the chat are dropped.",
        policy={"hears": lambda peer, channel: channel.kind != "chat" or peer in channel.subscribers},
    ),
    Fault(
        "execution-listed-early",
        "AHP-INPUT-017",
        "A client's call is listed for execution while it still streams.",
        policy={"extra_entries": _early_execution},
    ),
    Fault(
        "running-call-as-confirmation",
        "AHP-INPUT-019",
        "A running call is listed as a confirmation.",
        acting=entry_with(
            "toolConfirmation",
            lambda channel, entry: {**entry, "toolCall": {**entry["toolCall"], "status": "running"}},
        ),
    ),
    Fault(
        "entry-lacks-input",
        "AHP-INPUT-020",
        "The entry of a confirmation lacks the input and the options of the call.",
        acting=entry_with("toolConfirmation", _without_input),
    ),
    Fault(
        "clients-plant-entries",
        "AHP-INPUT-021",
        "session/inputNeededSet and Removed take effect when a client dispatches them.",
        policy={
            "may_dispatch": lambda action_type, version: (
                action_type.startswith("session/inputNeeded") or Policy().may_dispatch(action_type, version)
            )
        },
    ),
    Fault(
        "late-subscribers-see-no-entries",
        "AHP-INPUT-022",
        "Entries are told by actions only.",
        outgoing=snapshot_with("lifecycle", lambda state: without(state, "inputNeeded")),
    ),
    Fault(
        "every-call-flashes",
        "AHP-INPUT-023",
        "A call that waits for nobody has an entry while it runs.",
        policy={"extra_entries": _running_host_call},
    ),
    Fault(
        "second-answer-accepted",
        "AHP-INPUT-025",
        "A second answer to a question is echoed as accepted.",
        policy={"answers_once": lambda: False},
    ),
    Fault(
        "never-back-to-progress",
        "AHP-INPUT-026",
        "After the last answer the session stays InputNeeded until the turn ends.",
        policy={"activity": _until_idle},
    ),
    Fault(
        "client-work-never-raises",
        "AHP-INPUT-027",
        "Before 0.8.0, a client execution alone leaves the session InProgress.",
        policy={"activity": _clients_never},
    ),
    Fault(
        "status-not-announced",
        "AHP-INPUT-028",
        "root/sessionSummaryChanged never carries a status.",
        outgoing=lambda host, peer, message: [_silent(message)],
    ),
    Fault(
        "invented-kind",
        "AHP-INPUT-029",
        "A question is listed under a kind that the protocol does not have.",
        acting=entry_with("chatInput", lambda channel, entry: {**entry, "kind": "question"}),
    ),
    Fault(
        "removal-has-an-origin",
        "AHP-INPUT-030",
        "session/inputNeededRemoved carries the origin of a client.",
        outgoing=envelope_with(
            "session/inputNeededRemoved",
            lambda peer, params: {**params, "origin": {"clientId": peer.client_id, "clientSeq": 1}},
        ),
    ),
    Fault(
        "client-work-still-raises",
        "AHP-INPUT-101",
        "From 0.8.0 on, a client execution alone still makes the session InputNeeded.",
        policy={"activity": _clients_always},
    ),
)


def _frozen(message: JSON) -> JSON:
    def busy(summary: JSON) -> JSON:
        return {**summary, "status": summary["status"] & ~16} if "status" in summary else summary

    params, result = message.get("params"), message.get("result")
    if message.get("method") == "root/sessionSummaryChanged":
        return {**message, "params": {**params, "changes": busy(params["changes"])}}
    if isinstance(result, dict) and "items" in result:
        return {**message, "result": {**result, "items": [busy(item) for item in result["items"]]}}
    return message


def _silent(message: JSON) -> JSON:
    if message.get("method") != "root/sessionSummaryChanged":
        return message
    params = message["params"]
    return {**message, "params": {**params, "changes": without(params["changes"], "status")}}
