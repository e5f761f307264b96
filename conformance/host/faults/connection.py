"""Hosts that are wrong about the handshake, subscriptions and the order of envelopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.policy import Policy

from .seams import Fault, without

if TYPE_CHECKING:
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _handshake(change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            return [{**message, "result": change(result)}]
        return [message]

    return hook


def _refusals(code: int, change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        error = message.get("error")
        if error is not None and error["code"] == code:
            return [{**message, "error": change(error)}]
        return [message]

    return hook


def _actions(change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        if message.get("method") != "action":
            return [message]
        return [{**message, "params": params} for params in change(peer, message["params"])]

    return hook


def _pings(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    if message.get("id") is not None and "result" in message and message["result"] is None:
        return [{**message, "result": {}}]
    return [message]


def _not_own(peer: Peer, params: JSON) -> list[JSON]:
    own = (params.get("origin") or {}).get("clientId") == peer.client_id
    return [] if own else [params]


FAULTS: Final = (
    Fault(
        "announces-its-newest",
        "AHP-INIT-002",
        "The version in the result is one that nobody offered.",
        outgoing=_handshake(lambda result: {**result, "protocolVersion": "0.6.99"}),
    ),
    Fault(
        "snapshots-left-out",
        "AHP-INIT-003",
        "The result of initialize has no snapshots when none were asked for.",
        outgoing=_handshake(lambda result: result if result["snapshots"] else without(result, "snapshots")),
    ),
    Fault(
        "refusal-names-no-list",
        "AHP-INIT-005",
        "data of -32005 is a bare string.",
        outgoing=_refusals(-32005, lambda error: {**error, "data": "0.6.0"}),
    ),
    Fault(
        "open-after-refusal",
        "AHP-INIT-006",
        "The connection stays open after -32005.",
        policy={"closes_on_refusal": lambda: False},
    ),
    Fault(
        "server-seq-always-zero",
        "AHP-INIT-021",
        "serverSeq of the handshake is always 0.",
        outgoing=_handshake(lambda result: {**result, "serverSeq": 0}),
    ),
    Fault("null-becomes-object", "AHP-PING-001", "Null results are answered as {}.", outgoing=_pings),
    Fault(
        "auth-error-without-data",
        "AHP-AUTH-008",
        "-32007 comes without data.",
        outgoing=_refusals(-32007, lambda error: without(error, "data")),
    ),
    Fault(
        "session-errors-are-internal",
        "AHP-SUB-025",
        "-32603 stands for a session that does not exist.",
        outgoing=_refusals(-32001, lambda error: {**error, "code": -32603}),
    ),
    Fault(
        "everybody-hears-everything",
        "AHP-SUB-009",
        "Envelopes go to all connections.",
        policy={"delivers": lambda peer, channel: peer not in channel.subscribers},
    ),
    Fault(
        "delivered-twice",
        "AHP-SUB-013",
        "Each envelope is delivered twice.",
        outgoing=_actions(lambda peer, params: [params, params]),
    ),
    Fault(
        "no-echo-to-sender",
        "AHP-SUB-010",
        "The dispatching client gets no echo.",
        outgoing=_actions(_not_own),
    ),
    Fault(
        "origin-null",
        "AHP-SEQ-017",
        "origin is null in envelopes without one.",
        outgoing=_actions(lambda peer, params: [{**params, "origin": params.get("origin")}]),
    ),
    Fault(
        "rejections-look-accepted",
        "AHP-SEQ-011",
        "Refused actions are echoed without rejectionReason.",
        outgoing=_actions(lambda peer, params: [without(params, "rejectionReason")]),
    ),
    Fault(
        "rejections-swallowed",
        "AHP-DISP-003",
        "Refused actions are dropped without a word.",
        outgoing=_actions(lambda peer, params: [] if "rejectionReason" in params else [params]),
    ),
    Fault(
        "second-turn-overwrites",
        "AHP-TURN-027",
        "A turn may be started while another is running.",
        policy={"one_turn_at_a_time": lambda: False},
    ),
    Fault(
        "session-actions-forged",
        "AHP-ORIGIN-004",
        "Session actions of the host take effect when a client dispatches them.",
        policy={
            "may_dispatch": lambda action_type, version: (
                action_type.startswith("session/") or Policy().may_dispatch(action_type, version)
            )
        },
    ),
    Fault(
        "chat-actions-forged",
        "AHP-ORIGIN-003",
        "Chat actions of the host take effect when a client dispatches them.",
        policy={
            "may_dispatch": lambda action_type, version: (
                action_type.startswith("chat/") or Policy().may_dispatch(action_type, version)
            )
        },
    ),
)
