"""Hosts that are wrong about the handshake and about single requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from conformance.host.peers import Client

from .seams import Fault

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_NO_CHANNEL: Final = 0
"""In place of a channel: the host then refuses the params."""

_KNOWN_TEXT: Final = (
    "channel protocolVersions clientId clientInfo initialSubscriptions locale capabilities provider activeClient"
    " workingDirectory workingDirectories lastSeenServerSeq subscriptions resource token scopes chat limit cursor"
    " view delivery source initialMessage config fork progressToken"
)
_KNOWN: Final = frozenset(_KNOWN_TEXT.split())


def key_of(peer: Peer) -> str:
    """A key of this connection for what a fault has to remember."""
    return f"peer {id(peer)}"


def offers(change: Any) -> Any:
    """A hook that changes the params of each initialize before the host reads them."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> None:
        params = message.get("params")
        if message.get("method") == "initialize" and isinstance(params, dict):
            change(host, peer, params)

    return hook


def errors(code: int, change: Any) -> Any:
    """A hook for answers with one error code: what goes out in their place."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        error = message.get("error")
        return change(host, peer, message) if error is not None and error["code"] == code else [message]

    return hook


def requests(method: str, change: Any) -> Any:
    """A hook that changes the params of one method before the host reads them."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> None:
        params = message.get("params")
        if message.get("method") == method and isinstance(params, dict):
            change(host, peer, params)

    return hook


def succeeded(message: JSON, result: JSON = None) -> JSON:
    """The answer as a success."""
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _handshakes(change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            return [{**message, "result": change(host, peer, result)}]
        return [message]

    return hook


def _add_own(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if isinstance(params.get("protocolVersions"), list) and params["protocolVersions"]:
        params["protocolVersions"] = [*params["protocolVersions"], host.versions[-1]]


def _own_patch(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    line = {version.rpartition(".")[0]: version for version in host.versions}
    if isinstance(params.get("protocolVersions"), list):
        params["protocolVersions"] = [line.get(v.rpartition(".")[0], v) for v in params["protocolVersions"]]


def _fill_empty(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    params["protocolVersions"] = params.get("protocolVersions") or [host.versions[-1]]


def _first_only(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if isinstance(params.get("protocolVersions"), list):
        params["protocolVersions"] = params["protocolVersions"][:1]


def _renegotiate(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    host.scratch.pop("again", None)
    if peer.version is not None:
        peer.version = None
        host.scratch["again"] = params["protocolVersions"][0]


def _announce_again(host: ReferenceHost, peer: Peer, result: JSON) -> JSON:
    again = host.scratch.pop("again", None)
    return result if again is None else {**result, "protocolVersion": again}


def _need_known_capabilities(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if set(params.get("capabilities", {})) - {"mcpApps"}:
        params["channel"] = _NO_CHANNEL


def _need_subscriptions(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if "initialSubscriptions" not in params:
        params["channel"] = _NO_CHANNEL


def _lower_id(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if isinstance(params.get("clientId"), str):
        params["clientId"] = params["clientId"].lower()


def _forget(host: ReferenceHost, peer: Peer, result: JSON) -> JSON:
    for channel in peer.channels.values():
        channel.subscribers.pop(peer, None)
    peer.channels.clear()
    return result


def _let_in(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if peer.version is None and message.get("method") not in ("initialize", "ping", "reconnect"):
        peer.version, peer.client_id = host.versions[-1], "early"
        host.clients.setdefault("early", Client(peer.version)).peers[peer] = None


def _note(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    host.scratch["last"] = message


def _pings(wrong: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        last = host.scratch.get("last") or {}
        if last.get("method") == "ping" and last.get("id") == message.get("id") and wrong(peer):
            return [{"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32600, "message": "not yet"}}]
        return [message]

    return hook


def _close_unsaid(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    if peer.version is not None:
        return [message]
    host.close(peer, 1011)
    return []


def _close_all(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    for other in list(host.peers):
        host.close(other, 1011)
    return []


def _answer_notification(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if "id" not in message:
        host.answer(peer, {"jsonrpc": "2.0", "id": None, "result": None})


def _take_number(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if not isinstance(params.get("channel"), str):
        params["channel"] = f"ahp-session:/{json.dumps(params.get('channel'))}"


def _be_strict(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    params = message.get("params")
    if "id" in message and isinstance(params, dict) and set(params) - _KNOWN:
        params["channel"] = _NO_CHANNEL


def _move_to_root(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    params["channel"] = "ahp-root://"


def _wrap_id(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    number = message.get("id")
    return [{**message, "id": (number + 2**31) % 2**32 - 2**31} if isinstance(number, int) else message]


def _root_to(who: Any) -> Any:
    def delivers(peer: Peer, channel: Channel) -> bool:
        return channel.kind == "root" and peer not in channel.subscribers and bool(who(peer))

    return delivers


FAULTS: Final = (
    Fault("refusal-unsaid", "AHP-INIT-001", "An offer that cannot be met gets no answer.",
          outgoing=errors(-32005, lambda host, peer, message: [])),
    Fault("patches-taken-for-equal", "AHP-INIT-002", "An offer of another patch is answered with the host's own.",
          incoming=offers(_own_patch)),
    Fault("serves-unknown-versions", "AHP-INIT-004", "Whoever offers unknown versions gets the host's own.",
          incoming=offers(_add_own)),
    Fault("renegotiates", "AHP-INIT-009", "A second initialize switches to the first version of its offer.",
          incoming=offers(_renegotiate), outgoing=_handshakes(_announce_again)),
    Fault("root-snapshot-only", "AHP-INIT-010", "Of the channels named in initialize only the root has a snapshot.",
          outgoing=_handshakes(lambda host, peer, result: {
              **result, "snapshots": [s for s in result["snapshots"] if s["resource"] == "ahp-root://"]})),
    Fault("initial-subscriptions-forgotten", "AHP-INIT-011", "Channels named in initialize are not subscribed.",
          outgoing=_handshakes(_forget)),
    Fault("root-to-everybody", "AHP-INIT-012", "Clients without any subscription get all root traffic.",
          policy={"delivers": _root_to(lambda peer: not peer.channels)}),
    Fault("early-requests-served", "AHP-INIT-014", "Requests before the handshake are carried out.", incoming=_let_in),
    Fault("closes-on-bad-handshake", "AHP-INIT-015", "initialize with wrong params ends the connection unanswered.",
          outgoing=errors(-32602, _close_unsaid)),
    Fault("unknown-capability-refused", "AHP-INIT-019", "An unknown capability fails the handshake.",
          incoming=offers(_need_known_capabilities)),
    Fault("first-offer-only", "AHP-INIT-026", "Only the first entry of an offer is looked at.",
          incoming=offers(_first_only)),
    Fault("empty-offer-served", "AHP-INIT-027", "An empty offer gets the host's own version.",
          incoming=offers(_fill_empty)),
    Fault("client-id-lowered", "AHP-INIT-028", "The clientId comes back in lower case.", incoming=offers(_lower_id)),
    Fault("lists-what-it-refuses", "AHP-INIT-029", "supportedVersions names a version that is refused as well.",
          outgoing=errors(-32005, lambda host, peer, message: [{**message, "error": {
              **message["error"], "data": {"supportedVersions": [*host.versions, "0.5.0"]}}}])),
    Fault("insists-on-subscriptions", "AHP-INIT-030", "initialize without initialSubscriptions is refused.",
          incoming=offers(_need_subscriptions)),
    Fault("ping-needs-handshake", "AHP-PING-002", "ping is refused before the handshake.", incoming=_note,
          outgoing=_pings(lambda peer: peer.version is None)),
    Fault("ping-needs-subscription", "AHP-PING-003", "ping is refused without a subscription.", incoming=_note,
          outgoing=_pings(lambda peer: peer.version is not None and not peer.channels)),
    Fault("unknown-method-unanswered", "AHP-RPC-001", "Requests for unknown methods are dropped.",
          outgoing=errors(-32601, lambda host, peer, message: [])),
    Fault("notifications-answered", "AHP-RPC-002", "Each notification gets a response with the id null.",
          incoming=_answer_notification),
    Fault("unknown-method-null", "AHP-RPC-007", "Unknown methods are answered with null.",
          outgoing=errors(-32601, lambda host, peer, message: [succeeded(message)])),
    Fault("unreadable-text-swallowed", "AHP-RPC-008", "Text that is not JSON is passed over in silence.",
          outgoing=errors(-32700, lambda host, peer, message: [])),
    Fault("no-method-swallowed", "AHP-RPC-009", "An object without a method is passed over in silence.",
          outgoing=errors(-32600, lambda host, peer, message: [])),
    Fault("numeric-channel-taken", "AHP-RPC-010", "createSession takes a number for a channel.",
          incoming=requests("createSession", _take_number)),
    Fault("root-commands-anywhere", "AHP-RPC-013", "listSessions is carried out on any channel.",
          incoming=requests("listSessions", _move_to_root)),
    Fault("strict-params", "AHP-RPC-014", "Unknown members of params are refused.", incoming=_be_strict),
    Fault("ids-wrapped", "AHP-RPC-022", "Ids above 2^31 come back wrapped.", outgoing=_wrap_id),
    Fault("bad-frame-ends-all", "AHP-RPC-023", "Unreadable text ends every connection.",
          outgoing=errors(-32700, _close_all)),
    Fault("bad-params-internal", "AHP-RPC-024", "-32603 stands for params of a wrong type.",
          outgoing=errors(-32602, lambda host, peer, message: [
              {**message, "error": {**message["error"], "code": -32603}}])),
    Fault("root-to-any-subscriber", "AHP-SUB-021", "Whoever follows anything gets all root traffic.",
          policy={"delivers": _root_to(lambda peer: peer.channels)}),
)  # fmt: skip
