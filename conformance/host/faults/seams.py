"""How a fault gets into the host: a handful of hooks and the decisions of the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

Outgoing = Callable[["ReferenceHost", "Peer", JSON], list[JSON]]
Acting = Callable[["ReferenceHost", "Channel", JSON], list[JSON]]
Incoming = Callable[["ReferenceHost", "Peer", JSON], None]
Accepted = Callable[["ReferenceHost", "Peer", "Channel", JSON], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to be wrong.

    name: kebab case, unique. obligation: the catalogue id that it breaks first. doc: what the host does.
    outgoing: what goes out on one connection in place of a message. acting: what the host dispatches in
    place of an action of its own, before it is folded. incoming: sees each message of a client first.
    accepted: called after an action of a client took effect. policy: methods of `Policy` by name,
    without self.
    """

    name: str
    obligation: str
    doc: str
    outgoing: Outgoing | None = None
    acting: Acting | None = None
    incoming: Incoming | None = None
    accepted: Accepted | None = None
    policy: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def altered(kind: str, change: Callable[[ReferenceHost, Channel, JSON], list[JSON]]) -> Acting:
    """A hook for the host's own actions of one type: what is dispatched in their place."""

    def hook(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
        return change(host, channel, action) if action["type"] == kind else [action]

    return hook


def without(value: JSON, *names: str) -> JSON:
    """A copy of an object without some members."""
    return {name: item for name, item in value.items() if name not in names}


def challenge_with(change: Callable[[ReferenceHost, JSON], JSON]) -> Acting:
    """A hook that changes `auth` of chat/toolCallAuthRequired."""
    return altered(
        "chat/toolCallAuthRequired",
        lambda host, channel, action: [{**action, "auth": change(host, action["auth"])}],
    )


def server_with(kind: str, change: Callable[[ReferenceHost, JSON], JSON]) -> Acting:
    """A hook that changes the state which session/mcpServerStateChanged announces, if it is of that kind."""

    def hook(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
        state = action["state"]
        return [{**action, "state": change(host, state)}] if state["kind"] == kind else [action]

    return altered("session/mcpServerStateChanged", hook)


def entry_with(kind: str, change: Callable[[Channel, JSON], JSON]) -> Acting:
    """A hook that changes the entries of one kind which session/inputNeededSet lists."""

    def hook(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
        request = action["request"]
        return [{**action, "request": change(channel, request)}] if request["kind"] == kind else [action]

    return altered("session/inputNeededSet", hook)


def snapshot_with(member: str, change: Callable[[JSON], JSON]) -> Outgoing:
    """A hook that changes states in snapshots, those that have the member: `turns` or `lifecycle`."""

    def changed(snapshot: JSON) -> JSON:
        state = snapshot["state"]
        return {**snapshot, "state": change(state)} if member in state else snapshot

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        result = message.get("result")
        if not isinstance(result, dict):
            return [message]
        if "snapshot" in result:
            result = {**result, "snapshot": changed(result["snapshot"])}
        elif "snapshots" in result:
            result = {**result, "snapshots": [changed(snapshot) for snapshot in result["snapshots"]]}
        return [{**message, "result": result}]

    return hook


def envelope_with(kind: str, change: Callable[[Peer, JSON], JSON | None]) -> Outgoing:
    """A hook that changes the params of envelopes with one action type; None drops the envelope."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        if message.get("method") != "action" or message["params"]["action"]["type"] != kind:
            return [message]
        params = change(peer, message["params"])
        return [] if params is None else [{**message, "params": params}]

    return hook


def calls_with(change: Callable[[JSON], JSON]) -> Callable[[JSON], JSON]:
    """A change of a ChatState that changes each tool call of the active turn."""

    def changed(state: JSON) -> JSON:
        active = state.get("activeTurn")
        if active is None:
            return state
        parts = [
            {**part, "toolCall": change(part["toolCall"])} if part["kind"] == "toolCall" else part
            for part in active["responseParts"]
        ]
        return {**state, "activeTurn": {**active, "responseParts": parts}}

    return changed
