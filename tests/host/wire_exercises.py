"""Short plays of what client messages alone provoke: handshakes, requests, subscriptions, dispatches, sessions."""

from __future__ import annotations

from typing import Any, Final

import orjson

from .driving import NOW, ROOT, Act, Driven, Stage

JSON = Any

OTHER: Final = "ahp-session:/two"


def _title(text: JSON) -> JSON:
    return {"type": "session/titleChanged", "title": text}


def _draft(text: str) -> JSON:
    return {"type": "chat/draftChanged", "draft": {"text": text, "origin": {"kind": "user"}}}


def _entry(name: str, *tools: str) -> JSON:
    return {"clientId": name, "tools": [{"name": tool} for tool in tools]}


def _hear(stage: Stage, *clients: Driven) -> None:
    for client in clients:
        stage.overheard += [*client.frames, {"closed": client.closed}]


def _say(client: Driven, **message: JSON) -> None:
    client.raw(orjson.dumps({"jsonrpc": "2.0", **message}).decode())


def offers(stage: Stage) -> None:
    line = stage.version.rpartition(".")[0]
    mine = stage.version
    for name, offer in enumerate(([], ["99.0.0"], ["99.0.0", mine], [f"{line}.97"], 7)):
        client = Driven(stage.host, f"offer{name}")
        client.request("initialize", protocolVersions=offer, clientId=client.name)
        client.request("ping")
        _hear(stage, client)


def handshakes(stage: Stage) -> None:
    for name, more in (("CAPS", {"capabilities": {"unknown": {}}}), ("MORE", {"unknownMember": 1})):
        client = Driven(stage.host, name)
        client.request("initialize", protocolVersions=[stage.version], clientId=name, **more)
        _hear(stage, client)
    again = stage.client("AGAIN", ROOT, stage.session)
    again.request("initialize", protocolVersions=["99.0.0", stage.version], clientId="AGAIN")
    stage.a.dispatch(stage.session, _title("one"))
    _hear(stage, again)


def too_early(stage: Stage) -> None:
    client = Driven(stage.host, "EARLY")
    client.request("ping")
    client.request("listSessions")
    _hear(stage, client)


def odd_messages(stage: Stage) -> None:
    a, b = stage.a, stage.client("B")
    b.request("ping")
    for text in ("{", "42"):
        b.raw(text)
    for message in (
        {"id": 9},
        {"id": 2**31, "method": "ping", "params": {"channel": ROOT}},
        {"method": "unknown", "params": {"channel": ROOT}},
        {"id": 10, "method": "unknown", "params": {"channel": ROOT}},
        {"id": 11, "method": "createSession", "params": {"channel": 42, "provider": "scripted"}},
        {"id": 12, "method": "listSessions", "params": {"channel": stage.session}},
        {"id": 13, "method": "listSessions", "params": {"channel": ROOT, "unknownMember": 1}},
    ):
        _say(b, **message)
    a.request("ping")
    _hear(stage, b)


def subscriptions(stage: Stage) -> None:
    a, b, c = stage.a, stage.client("B"), stage.client("C", stage.chat)
    b.notify("unsubscribe", stage.session)
    for channel in (ROOT, "ahp-session:/none", "ahp-chat:/none", OTHER):
        b.request("subscribe", channel)
    b.request("subscribe", stage.session, view={"turns": 1, "unknownMember": 1})
    b.notify("unsubscribe", ROOT)
    b.request("subscribe", ROOT)
    b.request("subscribe", stage.session)
    a.dispatch(stage.session, _title("one"))
    a.dispatch(stage.chat, _draft("one"))
    a.request("createSession", OTHER, provider="scripted")
    a.dispatch(OTHER, _title("two"))
    b.notify("unsubscribe", stage.session)
    a.dispatch(stage.session, _title("three"))
    b.request("subscribe", stage.session)
    _hear(stage, b, c)


def order(stage: Stage) -> None:
    a, b = stage.a, stage.client("B", stage.session, stage.chat)
    cancelled = {"type": "chat/turnCancelled", "turnId": "none", "duration": 0}
    for channel, action in ((stage.chat, _draft("one")), (stage.chat, cancelled), (stage.session, _title("A"))):
        a.dispatch(channel, action)
    b.dispatch(stage.session, _title("B"))
    a.dispatch(stage.session, _title("A again"))
    a.request("subscribe", stage.chat)
    _hear(stage, b)


def dispatches(stage: Stage) -> None:
    a, b = stage.a, stage.client("B", stage.session)
    for channel, action in (
        (stage.session, {"type": "session/isReadChanged", "isRead": False}),
        (stage.session, {"type": "session/titleChanged"}),
        (stage.session, _title(5)),
        (stage.session, {"type": "session/unknown"}),
        (stage.session, {"type": "session/defaultChatChanged", "defaultChat": "ahp-chat:/none"}),
        ("ahp-session:/none", _title("nowhere")),
        (stage.chat, _title("on the chat")),
        (ROOT, {"type": "root/terminalsChanged", "terminals": []}),
    ):
        a.dispatch(channel, action)
    b.notify("dispatchAction", stage.session, clientSeq=5, action=_title("five"))
    b.notify("dispatchAction", stage.session, clientSeq=900, action=_title("nine hundred"))
    _hear(stage, b)


def flags(stage: Stage) -> None:
    for kind, member in (("session/isArchivedChanged", "isArchived"), ("session/isReadChanged", "isRead")):
        for value in (True, False, True):
            stage.a.dispatch(stage.session, {"type": kind, member: value})
    stage.a.request("subscribe", stage.session)
    stage.play({"say": "done"})
    stage.a.request("listSessions")


def active_clients(stage: Stage) -> None:
    a, b = stage.a, stage.client("B", stage.session)
    for client, entry in ((a, _entry("A", "one")), (a, _entry("A", "two")), (b, _entry("B", "three"))):
        client.dispatch(stage.session, {"type": "session/activeClientSet", "activeClient": entry})
    for client_id in ("nobody", "A"):
        a.dispatch(stage.session, {"type": "session/activeClientRemoved", "clientId": client_id})
    b.drop()
    stage.time += 0.001
    stage.host.tick()
    a.request("createSession", OTHER, provider="scripted", activeClient=_entry("A", "four"))
    a.request("subscribe", OTHER)


def creations(stage: Stage) -> None:
    a = stage.a
    a.request("createSession", stage.session, provider="scripted")
    a.request("createSession", OTHER, provider="nobody")
    a.request("createSession", OTHER, provider="scripted")
    a.request("subscribe", OTHER)
    a.request("listSessions")


def disposals(stage: Stage) -> None:
    a = stage.a
    a.request("disposeSession", "ahp-session:/none")
    a.request("createSession", OTHER, provider="scripted")
    chat = str(a.request("subscribe", OTHER)["result"]["snapshot"]["state"].get("defaultChat"))
    b = stage.client("B", OTHER, chat)
    a.request("disposeSession", OTHER)
    a.request("subscribe", OTHER)
    a.dispatch(OTHER, _title("late"))
    steering = {"text": "continue x", "origin": {"kind": "user"}}
    a.dispatch(chat, {"type": "chat/pendingMessageSet", "kind": "steering", "id": "s", "message": steering})
    _hear(stage, b)


def error_in_another_chat(stage: Stage) -> None:
    stage.a.request("createChat", stage.session, chat="ahp-chat:/second")
    stage.play({"fail": {"message": NOW}}, chat="ahp-chat:/second")
    stage.a.request("listSessions")


EXERCISES: Final[tuple[Act, ...]] = (
    offers,
    handshakes,
    too_early,
    odd_messages,
    subscriptions,
    order,
    dispatches,
    flags,
    active_clients,
    creations,
    disposals,
    error_in_another_chat,
)
