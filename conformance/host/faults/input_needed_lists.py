"""Hosts whose list of needs, and the status with it, come to differ from what their actions say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.channels import Chat, Session
from conformance.host.policy import Policy
from conformance.protocol.status import IN_PROGRESS, INPUT_NEEDED, IS_ARCHIVED

from .seams import Fault, altered, envelope_with, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_WAITING_BIT: Final = INPUT_NEEDED & ~IN_PROGRESS


def _newest_first(state: JSON) -> JSON:
    listed = state.get("inputNeeded")
    return {**state, "inputNeeded": listed[::-1]} if listed else state


def _append_update(peer: Peer, params: JSON) -> JSON:
    """A set that brings a draft reaches clients under another id, so that they append it."""
    request = params["action"]["request"]
    if "answers" not in request.get("request", {}):
        return params
    return {**params, "action": {**params["action"], "request": {**request, "id": f"{request['id']}-2"}}}


def _wrong_place(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    """Clients are told that the first entry goes, whichever it is."""
    params = message.get("params")
    if message.get("method") != "action" or params["action"]["type"] != "session/inputNeededRemoved":
        return [message]
    left = host.channels[params["channel"]].state.get("inputNeeded")
    if not left:
        return [message]
    return [{**message, "params": {**params, "action": {**params["action"], "id": left[0]["id"]}}}]


def _shift(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    """Ids are places in the list: when an earlier entry goes, those behind it are listed anew."""
    if not isinstance(channel, Session):
        return [action]
    result = [action]
    for entry in channel.state.get("inputNeeded", ()):
        key = next((key for key, known in channel.entries.items() if known == entry["id"]), None)
        if key is not None and entry["id"] != action["id"]:
            channel.entries[key] = host.mint("place")
            result.append({**action, "id": entry["id"]})
            result.append({"type": "session/inputNeededSet", "request": {**entry, "id": channel.entries[key]}})
    return result


def _lowered(host: ReferenceHost, session: Session, version: str) -> int:
    kinds = {entry["kind"] for entry in session.folds[version].get("inputNeeded", ())}
    return IN_PROGRESS if "toolClientExecution" in kinds else Policy().activity(host, session, version)


def _replace_answer(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    """The last answer counts, also in the chat."""
    if action["type"] != "chat/inputCompleted" or not isinstance(channel, Chat):
        return
    for version, state in channel.folds.items():
        active = state.get("activeTurn")
        if active is None:
            continue
        parts = [
            {**part, "response": action["response"]}
            if part["kind"] == "inputRequest" and part["request"]["id"] == action["requestId"]
            else part
            for part in active["responseParts"]
        ]
        channel.folds[version] = {**state, "activeTurn": {**active, "responseParts": parts}}


def _end_untold(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    """Summaries keep the bit once they have said it."""
    params, result = message.get("params"), message.get("result")
    if message.get("method") == "root/sessionSummaryChanged":
        return [{**message, "params": {**params, "changes": _kept(host, params["session"], params["changes"])}}]
    if isinstance(result, dict) and "items" in result:
        items = [_kept(host, item["resource"], item) for item in result["items"]]
        return [{**message, "result": {**result, "items": items}}]
    return [message]


def _kept(host: ReferenceHost, uri: str, summary: JSON) -> JSON:
    status = summary.get("status")
    if not isinstance(status, int):
        return summary
    needed = host.scratch[uri] = bool(status & _WAITING_BIT) or bool(host.scratch.get(uri))
    return {**summary, "status": status | INPUT_NEEDED} if needed else summary


def _end_unsaid(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    """Notifications tell of needs, and never of their end."""
    if message.get("method") != "root/sessionSummaryChanged":
        return [message]
    params = message["params"]
    status = params["changes"].get("status", INPUT_NEEDED)
    changes = params["changes"] if status & _WAITING_BIT else without(params["changes"], "status")
    return [{**message, "params": {**params, "changes": changes}}]


def _as_session(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    return [{**action, "request": {**action["request"], "chat": channel.uri}}]


def _bare(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    """What is asked, and with which input the tool is called, is left to the chat."""
    entry = action["request"]
    if entry["kind"] == "chatInput":
        entry = {**entry, "request": without(entry["request"], "questions")}
    else:
        entry = {**entry, "toolCall": without(entry["toolCall"], "toolInput")}
    return [{**action, "request": entry}]


def _needing(state: JSON) -> JSON:
    """A chat whose turn goes on still needs input."""
    return {**state, "status": state["status"] | INPUT_NEEDED} if state["status"] & IN_PROGRESS else state


FAULTS: Final = (
    Fault(
        "every-entry-names-session",
        "AHP-INNEED-011",
        "chat of each entry is the URI of the session.",
        acting=altered("session/inputNeededSet", _as_session),
    ),
    Fault(
        "entries-are-bare",
        "AHP-INPUT-020",
        "Entries lack the questions and the input of the call.",
        acting=altered("session/inputNeededSet", _bare),
    ),
    Fault(
        "chat-keeps-need",
        "AHP-INPUT-026",
        "A chat shows InputNeeded for as long as its turn goes on.",
        outgoing=snapshot_with("turns", _needing),
    ),
    Fault(
        "end-of-need-unsaid",
        "AHP-INPUT-028",
        "The end of a need is not announced.",
        outgoing=_end_unsaid,
    ),
    Fault(
        "snapshot-lists-newest-first",
        "AHP-INNEED-001",
        "Snapshots list the entries in another order than the actions that set them.",
        outgoing=snapshot_with("lifecycle", _newest_first),
    ),
    Fault(
        "update-appends",
        "AHP-INNEED-001",
        "An entry that is set again is appended where clients fold, and replaced in snapshots.",
        outgoing=envelope_with("session/inputNeededSet", _append_update),
    ),
    Fault(
        "removal-at-wrong-place",
        "AHP-INNEED-002",
        "The removal that clients get names the first entry that is left.",
        outgoing=_wrong_place,
    ),
    Fault(
        "empty-list-left-behind",
        "AHP-INNEED-002",
        "A session that needs nothing has an empty inputNeeded in snapshots.",
        outgoing=snapshot_with("lifecycle", lambda state: {"inputNeeded": [], **state}),
    ),
    Fault(
        "ids-are-places",
        "AHP-INNEED-010",
        "When an earlier entry goes, the later ones get new ids.",
        acting=altered("session/inputNeededRemoved", _shift),
    ),
    Fault(
        "summary-keeps-need",
        "AHP-INNEED-018",
        "Summaries say InputNeeded for good once something was open.",
        outgoing=_end_untold,
    ),
    Fault(
        "client-work-lowers",
        "AHP-INPUT-011",
        "A client execution in the list switches InputNeeded off, whatever else is listed.",
        policy={"activity": _lowered},
    ),
    Fault(
        "archived-lost-with-need",
        "AHP-INPUT-012",
        "Snapshots of the session have lost the archived flag.",
        outgoing=snapshot_with("lifecycle", lambda state: {**state, "status": state["status"] & ~IS_ARCHIVED}),
    ),
    Fault(
        "second-answer-counts",
        "AHP-INPUT-025",
        "A second answer to a question replaces the first.",
        policy={"answers_once": lambda: False},
        accepted=_replace_answer,
    ),
    Fault(
        "need-until-list-is-empty",
        "AHP-INPUT-102",
        "From 0.8.0 on, client executions that are left keep the session InputNeeded.",
        policy={
            "activity": lambda host, session, version: (
                INPUT_NEEDED if session.folds[version].get("inputNeeded") else Policy().activity(host, session, version)
            )
        },
    ),
)
