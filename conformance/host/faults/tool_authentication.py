"""Hosts that are wrong about a tool call which waits for authentication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.auth import Credential
from conformance.host.channels import Chat, Session
from conformance.host.policy import Policy

from .seams import (
    Fault,
    altered,
    calls_with,
    entry_with,
    envelope_with,
    snapshot_with,
    without,
)

if TYPE_CHECKING:
    from conformance.host.auth import Block
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_ENDS_OF_TURN: Final = ("chat/turnCancelled", "chat/turnComplete", "chat/error", "chat/truncated")


def _subscribed(host: ReferenceHost, peer: Peer, block: Block) -> bool:
    return block.chat is None or peer in block.chat.subscribers


def _resolve_at_once(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    ids = {"turnId": action["turnId"], "toolCallId": action["toolCallId"]}
    for block in host.vault.all():
        if block.call_id == action["toolCallId"]:
            host.vault.keep(block.resource, Credential(block.challenge["accept"][0]))
            block.released = True
    return [action, {"type": "chat/toolCallAuthResolved", **ids}]


def _complete_instead(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    result = {"success": True, "pastTenseMessage": "Done", "content": [{"type": "text", "text": "done"}]}
    return [{**action, "type": "chat/toolCallComplete", "result": result}]


def _remove_entry_first(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    if isinstance(channel, Chat):
        session = channel.session
        for key in [key for key in session.entries if key[0] == "toolAuthentication" and key[1] == channel.uri]:
            if key[3] == action["toolCallId"]:
                host.act(session, {"type": "session/inputNeededRemoved", "id": session.entries.pop(key)})
                session.mirrored.pop(key)
    return [action]


def _take_claimed_result(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "chat/toolCallComplete" and action["result"]["success"] and isinstance(channel, Chat):
        call = channel.call(action["turnId"], action["toolCallId"])
        if call is not None and call["status"] == "auth-required":
            ids = {"turnId": action["turnId"], "toolCallId": action["toolCallId"]}
            host.act(channel, {"type": "chat/toolCallAuthResolved", **ids})
            host.act(channel, {"type": "chat/toolCallComplete", **ids, "result": action["result"]})


def _resume_on_approval(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "chat/toolCallConfirmed" and isinstance(channel, Chat):
        ids = {"turnId": action["turnId"], "toolCallId": action["toolCallId"]}
        call = channel.call(action["turnId"], action["toolCallId"])
        if call is None or call["status"] != "auth-required":
            return
        host.act(channel, {"type": "chat/toolCallAuthResolved", **ids})


def _other_call(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    """The result of a call that was blocked goes to a call that nobody started."""
    if action["toolCallId"] in host.scratch:
        return [{**action, "toolCallId": host.mint("call")}]
    return [action]


def _note_block(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    host.scratch[action["toolCallId"]] = True
    return [action]


def _note_then_other(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    if action["type"] == "chat/toolCallAuthRequired":
        return _note_block(host, channel, action)
    return _other_call(host, channel, action) if action["type"] == "chat/toolCallComplete" else [action]


def _with_origin(peer: Peer, params: JSON) -> JSON:
    return {**params, "origin": {"clientId": peer.client_id, "clientSeq": 1}}


def _as_running(call: JSON) -> JSON:
    return {**without(call, "auth"), "status": "running"} if call["status"] == "auth-required" else call


def _busy_while_blocked(host: ReferenceHost, session: Session, version: str) -> int:
    """The activity without what waits for a token."""
    right = Policy().activity(host, session, version)
    calls = [call for chat in session.chats.values() for call in chat.calls()]
    blocked = any(call["status"] == "auth-required" for call in calls)
    waiting = any(call["status"].startswith("pending") for call in calls)
    return 8 if right == 24 and blocked and not waiting else right


def _stuck(host: ReferenceHost, session: Session, version: str) -> int:
    """InputNeeded stays until the turn is over."""
    right = Policy().activity(host, session, version)
    if right == 24:
        host.scratch[session.uri] = True
    elif right != 8:
        host.scratch.pop(session.uri, None)
    return 24 if host.scratch.get(session.uri) else right


def _all_that_wait(host: ReferenceHost, blocks: list[Block]) -> list[Block]:
    waiting = [block for block in host.vault.all() if block.live]
    for block in waiting:
        host.vault.keep(block.resource, Credential(block.challenge["accept"][0]))
    return waiting


def _servers_first(host: ReferenceHost, blocks: list[Block]) -> list[Block]:
    servers = [block for block in blocks if block.server is not None]
    return servers or blocks


def _union(credential: Credential, challenge: JSON) -> bool:
    wanted = {*challenge.get("scopes", ()), *challenge.get("scopes_supported", ())}
    return credential.scopes is None or wanted <= set(credential.scopes)


def _declares_too_little(credential: Credential, challenge: JSON) -> bool:
    return credential.scopes is not None and not set(challenge.get("scopes", ())) <= set(credential.scopes)


def _needs_scopes(credential: Credential, challenge: JSON) -> bool:
    return set(challenge.get("scopes", ())) <= set(credential.scopes or ())


FAULTS: Final = (
    Fault(
        "challenge-is-a-failure",
        "AHP-TOOLAUTH-014",
        "A challenge in mid-call becomes a failed tool result; nobody is asked for a token.",
        policy={"surfaces_challenge": lambda turn, count: False},
    ),
    Fault(
        "challenge-without-contributor",
        "AHP-TOOLAUTH-015",
        "Calls of MCP servers start without contributor, so that the challenge is a no-op everywhere.",
        acting=altered("chat/toolCallStart", lambda host, channel, action: [without(action, "contributor")]),
    ),
    Fault(
        "blocked-call-not-listed",
        "AHP-TOOLAUTH-022",
        "A blocked call has no entry in inputNeeded.",
        policy={"wants_entry": lambda session, chat, kind, call: kind != "toolAuthentication"},
    ),
    Fault(
        "entry-before-transition",
        "AHP-TOOLAUTH-023",
        "The entry holds the call as it was before the challenge: running, without auth.",
        acting=entry_with(
            "toolAuthentication", lambda channel, entry: {**entry, "toolCall": _as_running(entry["toolCall"])}
        ),
    ),
    Fault(
        "blocked-call-as-confirmation",
        "AHP-TOOLAUTH-024",
        "A blocked call is listed as toolConfirmation.",
        acting=entry_with("toolAuthentication", lambda channel, entry: {**entry, "kind": "toolConfirmation"}),
    ),
    Fault(
        "session-busy-while-blocked",
        "AHP-TOOLAUTH-025",
        "The session, and its summary, show InProgress while a call waits for a token.",
        policy={"activity": _busy_while_blocked},
    ),
    Fault(
        "entry-stays-after-resolution",
        "AHP-TOOLAUTH-026",
        "The entry of a resolved call is not removed.",
        policy={"removes_entry": lambda kind, cause: cause != "chat/toolCallAuthResolved"},
    ),
    Fault(
        "entry-stays-after-cancel",
        "AHP-TOOLAUTH-027",
        "The entry of a blocked call that a client cancelled is not removed.",
        policy={
            "removes_entry": lambda kind, cause: not (kind == "toolAuthentication" and cause == "chat/toolCallComplete")
        },
    ),
    Fault(
        "entry-stays-after-turn",
        "AHP-TOOLAUTH-028",
        "The entry of a blocked call outlives its turn.",
        policy={"removes_entry": lambda kind, cause: not (kind == "toolAuthentication" and cause in _ENDS_OF_TURN)},
    ),
    Fault(
        "authenticate-for-agents-only",
        "AHP-TOOLAUTH-029",
        "authenticate knows the resources of agents only and refuses those of challenges as unknown.",
        policy={"knows_resource": lambda host, resource: False},
    ),
    Fault(
        "accepted-without-effect",
        "AHP-TOOLAUTH-030",
        "authenticate answers {} and the blocked call stays as it is.",
        policy={"released": lambda host, blocks: [block for block in blocks if block.server is not None]},
    ),
    Fault(
        "resolves-by-itself",
        "AHP-TOOLAUTH-031",
        "chat/toolCallAuthResolved follows the challenge at once, without any token.",
        acting=altered("chat/toolCallAuthRequired", _resolve_at_once),
    ),
    Fault(
        "any-token-accepted",
        "AHP-TOOLAUTH-032",
        "Any string is answered with {}, and the call goes through with it.",
        policy={
            "accepts_token": lambda credential, challenge: True,
            "satisfies": lambda credential, challenge: True,
        },
    ),
    Fault(
        "unknown-resource-accepted",
        "AHP-TOOLAUTH-033",
        "authenticate for a resource that nobody advertised is answered with {}.",
        policy={"knows_resource": lambda host, resource: True},
    ),
    Fault(
        "too-few-scopes-go-through",
        "AHP-TOOLAUTH-034",
        "A token declared with too few scopes releases the call, and the refusal of the server is taken for a success.",
        policy={
            "covers_scopes": lambda credential, challenge: True,
            "accepts_token": _declares_too_little,
            "satisfies": _declares_too_little,
        },
    ),
    Fault(
        "only-last-call-resumed",
        "AHP-TOOLAUTH-035",
        "Of several calls that wait for one resource only the one raised last is resumed.",
        policy={"released": lambda host, blocks: blocks[-1:]},
    ),
    Fault(
        "any-push-wakes-all",
        "AHP-TOOLAUTH-036",
        "A good token for one resource wakes the calls that wait for others too, and they go through.",
        policy={"released": _all_that_wait},
    ),
    Fault(
        "entry-id-from-resource",
        "AHP-TOOLAUTH-037",
        "The id of an entry is made from the resource, so two calls on one resource share it.",
        policy={
            "entry_id": lambda host, kind, chat, request: (
                request["toolCall"]["auth"]["resource"]["resource"]
                if kind == "toolAuthentication"
                else host.mint("need")
            )
        },
    ),
    Fault(
        "cancel-needs-ownership",
        "AHP-TOOLAUTH-039",
        "The ownership rule of client tools refuses the cancellation of a blocked call.",
        policy={"may_fail_blocked": lambda chat, peer: False},
    ),
    Fault(
        "only-starter-cancels",
        "AHP-TOOLAUTH-040",
        "Only the client that started the turn may cancel a blocked call.",
        policy={"may_fail_blocked": lambda chat, peer: chat.turn is not None and chat.turn.starter == peer.client_id},
    ),
    Fault(
        "claimed-success-accepted",
        "AHP-TOOLAUTH-041",
        "A client that claims success for a blocked call ends it, with the result it made up.",
        policy={"refuses_success": lambda: False},
        accepted=_take_claimed_result,
    ),
    Fault(
        "zombie-after-cancel",
        "AHP-TOOLAUTH-042",
        "A token pushed after a client cancelled the call still brings chat/toolCallAuthResolved for it.",
        policy={"still_waits": lambda block: block.live or block.call_id != ""},
    ),
    Fault(
        "request-after-cancel",
        "AHP-TOOLAUTH-042",
        "A token pushed after a client cancelled the call sends its request to the server, without a word.",
        policy={"asks_again": lambda block: not block.released and block.chat is not None and block.chat.active},
    ),
    Fault(
        "request-after-turn",
        "AHP-TOOLAUTH-043",
        "A token pushed after the turn was cancelled sends the request of its call to the server, without a word.",
        policy={"asks_again": lambda block: not block.released and block.chat is not None and not block.chat.active},
    ),
    Fault(
        "resumed-without-token",
        "AHP-TOOLAUTH-071",
        "The request that resumes the call carries no token.",
        policy={"presented": lambda host, resource: None},
    ),
    Fault(
        "token-for-everybody",
        "AHP-TOOLAUTH-036",
        "A request to one server carries the token of another where there is none for it.",
        policy={"presented": lambda host, resource: host.vault.any_held(resource)},
    ),
    Fault(
        "zombie-after-turn",
        "AHP-TOOLAUTH-043",
        "A token pushed after the turn was cancelled brings an action for that turn.",
        policy={
            "still_waits": lambda block: (
                block.live or (block.chat is not None and block.chat.active is None and block.call_id != "")
            )
        },
    ),
    Fault(
        "approval-resumes-blocked",
        "AHP-TOOLAUTH-044",
        "chat/toolCallConfirmed resumes a blocked call without a token.",
        policy={"confirmable": lambda call: call["status"] in ("pending-confirmation", "auth-required")},
        accepted=_resume_on_approval,
    ),
    Fault(
        "reserved-actions-echoed",
        "AHP-TOOLAUTH-045",
        "The two authentication actions, dispatched by a client, are echoed as accepted but not folded.",
        outgoing=lambda host, peer, message: [
            {**message, "params": without(message["params"], "rejectionReason")}
            if message.get("method") == "action" and message["params"]["action"]["type"].startswith("chat/toolCallAuth")
            else message
        ],
    ),
    Fault(
        "content-of-blocked-call-accepted",
        "AHP-TOOLAUTH-046",
        "chat/toolCallContentChanged for a blocked call is echoed as accepted.",
        policy={"changes_content": lambda call: call["status"] in ("running", "auth-required")},
    ),
    Fault(
        "snapshot-shows-running",
        "AHP-TOOLAUTH-048",
        "A client that subscribes during the block finds the call running.",
        outgoing=snapshot_with("turns", calls_with(_as_running)),
    ),
    Fault(
        "token-bound-to-starter",
        "AHP-TOOLAUTH-049",
        "Only the client that started the turn can resolve the block; other tokens are kept for later.",
        policy={"may_resolve": lambda host, peer, block: block.starter in (None, peer.client_id)},
    ),
    Fault(
        "block-lost-with-connection",
        "AHP-TOOLAUTH-050",
        "The pending challenge is kept on the connection of the starter and lost with it.",
        policy={"keeps_blocks": lambda host, peer: False},
    ),
    Fault(
        "challenge-ends-turn",
        "AHP-TOOLAUTH-052",
        "The agent takes the challenge for the end of the turn.",
        policy={"waits_for_token": lambda turn: False},
    ),
    Fault(
        "completes-without-resolving",
        "AHP-TOOLAUTH-053",
        "After an accepted token the result comes without chat/toolCallAuthResolved.",
        acting=altered("chat/toolCallAuthResolved", _complete_instead),
    ),
    Fault(
        "original-input-repeated",
        "AHP-TOOLAUTH-054",
        "The repeated request uses the input from before it was edited.",
        policy={"executed_input": lambda call, original: original},
    ),
    Fault(
        "server-resolved-alone",
        "AHP-TOOLAUTH-056",
        "When a server and a call wait for one resource, only the server is resolved.",
        policy={"released": _servers_first},
    ),
    Fault(
        "contributor-missing-in-snapshot",
        "AHP-TOOLAUTH-063",
        "Tool calls in snapshots lack their contributor.",
        outgoing=snapshot_with("turns", calls_with(lambda call: without(call, "contributor"))),
    ),
    Fault(
        "entry-names-session-as-chat",
        "AHP-TOOLAUTH-064",
        "chat of the entry is the URI of the session.",
        acting=entry_with("toolAuthentication", lambda channel, entry: {**entry, "chat": channel.uri}),
    ),
    Fault(
        "removal-under-other-id",
        "AHP-TOOLAUTH-065",
        "Entries are removed under an id that none was set under.",
        acting=altered(
            "session/inputNeededRemoved",
            lambda host, channel, action: [{**action, "id": f"{action['id']}-1"}],
        ),
    ),
    Fault(
        "stop-leaves-call-waiting",
        "AHP-TOOLAUTH-066",
        "Stopping the server of a blocked call leaves the call blocked.",
        policy={"stops_calls": lambda: False},
    ),
    Fault(
        "summary-busy-while-blocked",
        "AHP-TOOLAUTH-067",
        "Session lists and summary notifications never say InputNeeded.",
        outgoing=lambda host, peer, message: [_summaries_without_need(message)],
    ),
    Fault(
        "blocked-call-raises-nothing",
        "AHP-TOOLAUTH-068",
        "A blocked call has no entry, and the aggregation looks at confirmations and questions only.",
        policy={
            "wants_entry": lambda session, chat, kind, call: kind != "toolAuthentication",
            "activity": _busy_while_blocked,
        },
    ),
    Fault(
        "entry-removed-ahead",
        "AHP-TOOLAUTH-069",
        "The entry goes before chat/toolCallAuthResolved is dispatched.",
        acting=altered("chat/toolCallAuthResolved", _remove_entry_first),
    ),
    Fault(
        "stuck-at-input-needed",
        "AHP-TOOLAUTH-070",
        "The session stays InputNeeded until the turn ends.",
        policy={"activity": _stuck},
    ),
    Fault(
        "resumed-under-other-id",
        "AHP-TOOLAUTH-071",
        "The result of a resumed call is sent under a new id.",
        acting=_note_then_other,
    ),
    Fault(
        "resolve-then-challenge",
        "AHP-TOOLAUTH-072",
        "Each push resolves the call, which is challenged again when the token turns out to be refused.",
        policy={
            "accepts_token": lambda credential, challenge: True,
            "covers_scopes": lambda credential, challenge: True,
        },
    ),
    Fault(
        "refused-token-ends-call",
        "AHP-TOOLAUTH-073",
        "A refused token ends the blocked call as a failed tool.",
        policy={"uses_up": lambda host, block: True},
    ),
    Fault(
        "union-of-scopes-demanded",
        "AHP-TOOLAUTH-074",
        "A token has to name the scopes of scopes_supported too.",
        policy={"covers_scopes": _union},
    ),
    Fault(
        "absent-scopes-are-none",
        "AHP-TOOLAUTH-075",
        "A token pushed without scopes never covers a challenge that names some.",
        policy={"covers_scopes": _needs_scopes},
    ),
    Fault(
        "unsubscribed-senders-dropped",
        "AHP-TOOLAUTH-076",
        "Actions of clients that have not subscribed to the channel are dropped.",
        policy={"hears": lambda peer, channel: peer in channel.subscribers},
    ),
    Fault(
        "looks-among-own-chats",
        "AHP-TOOLAUTH-077",
        "authenticate finds a blocked call only in chats that its connection has subscribed to.",
        policy={"may_resolve": _subscribed},
    ),
    Fault(
        "claimed-success-echoed",
        "AHP-TOOLAUTH-078",
        "A claimed success for a blocked call is echoed without rejectionReason.",
        outgoing=envelope_with("chat/toolCallComplete", lambda peer, params: without(params, "rejectionReason")),
    ),
    Fault(
        "agent-waits-for-cancelled-call",
        "AHP-TOOLAUTH-079",
        "The agent goes on waiting for a token after a client cancelled the call.",
        policy={"notices_end_of_call": lambda: False},
    ),
    Fault(
        "reserved-actions-folded",
        "AHP-TOOLAUTH-080",
        "The two authentication actions take effect when a client dispatches them.",
        policy={"may_dispatch": lambda action_type, version: True},
    ),
    Fault(
        "entries-missing-in-snapshot",
        "AHP-TOOLAUTH-081",
        "inputNeeded is told by actions only and missing in snapshots.",
        outgoing=snapshot_with("lifecycle", lambda state: without(state, "inputNeeded")),
    ),
    Fault(
        "resolution-has-an-origin",
        "AHP-TOOLAUTH-082",
        "chat/toolCallAuthResolved carries the origin of a client.",
        outgoing=envelope_with("chat/toolCallAuthResolved", _with_origin),
    ),
)


def _summaries_without_need(message: JSON) -> JSON:
    def busy(summary: JSON) -> JSON:
        status = summary.get("status")
        return {**summary, "status": status & ~16} if isinstance(status, int) else summary

    params, result = message.get("params"), message.get("result")
    if message.get("method") == "root/sessionSummaryChanged":
        return {**message, "params": {**params, "changes": busy(params["changes"])}}
    if isinstance(result, dict) and "items" in result:
        return {**message, "result": {**result, "items": [busy(item) for item in result["items"]]}}
    return message
