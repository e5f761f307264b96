"""The requests that steps name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.client import Participant
from scenarios.handshake_table import handshake
from scenarios.places import channel_of
from scenarios.world import World

Body = tuple[str, Any]
# What may follow the name of a request, and the members that it stands for.
ADDITIONS: dict[str, dict[str, Any]] = {
    ", with an unknown member": {"conformanceUnknown": {"x": 1}},
    " with a view that does not fit": {"view": {"turns": 1, "conformanceUnknown": True}},
}


def _on(method: str, channel: str, **more: Any) -> Callable[[World, Participant], Body]:
    return lambda world, client: (method, {"channel": channel_of(world, channel), **more})


def _create(world: World, client: Participant, **more: Any) -> Body:
    uri = world.noted.setdefault("asked session", world.stage.new_session_uri())
    return "createSession", {"channel": uri, "provider": world.provider, **more}


def _unknown_provider(world: World, client: Participant) -> Body:
    return _create(world, client, provider="no-such-agent")


REQUESTS: dict[str, Callable[[World, Participant], Body]] = {
    "ping": _on("ping", "the root"),
    "the list of sessions": _on("listSessions", "the root"),
    "the list of sessions on the session": _on("listSessions", "the session"),
    "a method that does not exist": _on("conformanceUnknown", "the root"),
    "dispatchAction": _on("dispatchAction", "the root", clientSeq=1, action={"type": "root/unknown"}),
    "unsubscribe": _on("unsubscribe", "the root"),
    "a subscription without a channel": lambda world, client: ("subscribe", {}),
    "a subscription to a number": lambda world, client: ("subscribe", {"channel": 42}),
    "a subscription with text in place of params": lambda world, client: ("subscribe", "ahp-root://"),
    "a session without a channel": lambda world, client: ("createSession", {"provider": world.provider}),
    "a session at a number": lambda world, client: ("createSession", {"channel": 42, "provider": world.provider}),
    "the disposal of a number": lambda world, client: ("disposeSession", {"channel": 42}),
    "a new session": _create,
    "a new session of an unknown provider": _unknown_provider,
    "a new session at the URI of the session": lambda world, client: (
        "createSession",
        {"channel": world.session, "provider": world.provider},
    ),
    "the disposal of the session": _on("disposeSession", "the session"),
    "the disposal of a session that does not exist": _on("disposeSession", "a session that does not exist"),
}


def body_of(world: World, client: Participant, what: str) -> Body:
    """The method and params of a request that a step names."""
    for words, members in ADDITIONS.items():
        if what.endswith(words):
            method, params = body_of(world, client, what.removesuffix(words))
            return method, {**params, **members}
    if what in REQUESTS:
        return REQUESTS[what](world, client)
    if what.startswith("a handshake "):
        return "initialize", handshake(world, client, what)
    prefix = "a subscription to "
    if what.startswith(prefix):
        return "subscribe", {"channel": channel_of(world, what.removeprefix(prefix))}
    raise LookupError(f"no request is called {what!r}")
