"""createChat."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT, TURN, message

from .traces import (
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    calm_session,
    clean,
    ends,
    finished,
    found,
    idle_chat,
    root,
    starts,
    working_chat,
)

creation = Cases("chat-creation")

OTHER = "ahp-chat:/c2"
SECOND = "ahp-session:/s2"
FOREIGN = "ahp-chat:/c9"
OLD, NEW = ("0.6.0",), ("0.7.0", "0.9.0")
FORK = {"chat": CHAT, "turnId": TURN}


def entry(uri: str = OTHER, **members: Any) -> Any:
    return {**calm_session()["chats"][0], "resource": uri, **members}


def world(t: Trace, chat: Any = None, **several: Any) -> None:
    """A session of an agent with these capabilities, and its chat with one finished turn."""
    capabilities = {"multipleChats": several or {"fork": True}}
    agent = {"provider": "p", "displayName": "P", "description": "an agent", "models": [], "capabilities": capabilities}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])
    t.subscribe(SESSION, calm_session())
    t.subscribe(CHAT, idle_chat(turns=[finished()]) if chat is None else chat)


def opens(t: Trace, *, code: int | None = None, summary: Any = None, chat: str = OTHER, **params: Any) -> None:
    """createChat, with the announcement ahead of its answer."""
    identity = t.ask("createChat", channel=SESSION, chat=chat, **params)
    if code is not None:
        t.error(identity, code)
        return
    if summary is not ...:
        t.envelope(SESSION, {"type": "session/chatAdded", "summary": summary or entry(chat)})
    t.result(identity)


def origin(kind: str = "fork", **members: Any) -> Any:
    return {"kind": kind, **FORK, **members}


def source(t: Trace, **members: Any) -> Any:
    """A fork source of the version."""
    return {**({"kind": "fork"} if t.version >= "0.7.0" else {}), **FORK, **members}


# -- what comes of it ---------------------------------------------------------------------------------


@creation.bad("AHP-CHAT-007")
def an_answer_ahead_of_the_announcement(t: Trace) -> None:
    world(t)
    opens(t, summary=...)
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry()})


@creation.bad("AHP-CHAT-008")
def a_chat_under_another_uri(t: Trace) -> None:
    world(t)
    opens(t, summary=entry("ahp-chat:/mine"))


@creation.bad("AHP-CHAT-012")
def a_fork_without_origin(t: Trace) -> None:
    world(t)
    opens(t, source=source(t))


@creation.bad("AHP-CHAT-015")
def a_chat_of_a_client_as_that_of_a_tool(t: Trace) -> None:
    world(t)
    opens(t, summary=entry(origin={"kind": "tool", "chat": CHAT, "toolCallId": "c"}))


@creation.bad("AHP-CHAT-112", versions=NEW)
def a_selection_is_shortened(t: Trace) -> None:
    world(t, sideChat=True)
    wanted = {**origin("sideChat"), "selection": {"text": "some words"}}
    opens(t, source=wanted, summary=entry(origin=origin("sideChat", selection={"text": "some"})))


@creation.bad("AHP-CHAT-130", versions=NEW)
def a_side_chat_of_another_turn(t: Trace) -> None:
    world(t, sideChat=True)
    opens(t, source=origin("sideChat"), summary=entry(origin={**origin("sideChat"), "turnId": "other"}))


@creation.good("AHP-CHAT-007", "AHP-CHAT-008", "AHP-CHAT-012", "AHP-CHAT-015")
def chats_and_forks(t: Trace) -> None:
    world(t)
    opens(t)
    opens(t, chat="ahp-chat:/c3", source=source(t), summary=entry("ahp-chat:/c3", origin=origin()))
    opens(t, chat="ahp-chat:/c4", code=-32603)


@creation.good("AHP-CHAT-112", "AHP-CHAT-130", versions=NEW)
def a_side_chat(t: Trace) -> None:
    world(t, sideChat=True)
    wanted = origin("sideChat", selection={"text": "some words"})
    opens(t, source=wanted, summary=entry(origin=wanted))


@creation.good()
def nobody_follows_the_session(t: Trace) -> None:
    t.handshake()
    t.call("createChat", channel=SESSION, chat=OTHER)
    t.call("createChat", channel=SESSION, chat="ahp-chat:/c3", source=source(t))


# -- what has to be refused ---------------------------------------------------------------------------


@creation.bad("AHP-CHAT-046")
def a_chat_that_exists_is_created(t: Trace) -> None:
    world(t)
    opens(t, chat=CHAT, summary=...)


@creation.bad("AHP-CHAT-053")
def a_message_of_the_system_begins_a_chat(t: Trace) -> None:
    world(t)
    opens(t, initialMessage={**message(), "origin": {"kind": "systemNotification"}})


@creation.bad("AHP-CHAT-047", versions=OLD)
def a_fork_of_nothing(t: Trace) -> None:
    world(t)
    opens(t, source=source(t, chat=FOREIGN), summary=entry(origin={**origin(), "chat": FOREIGN}))


@creation.bad("AHP-CHAT-127", versions=NEW)
def a_fork_at_no_turn(t: Trace) -> None:
    world(t)
    opens(t, source=source(t, turnId="none"), summary=entry(origin={**origin(), "turnId": "none"}))


@creation.bad("AHP-CHAT-110", versions=NEW)
def a_side_chat_of_an_agent_without(t: Trace) -> None:
    world(t, fork=True)
    opens(t, source=origin("sideChat"), summary=entry(origin=origin("sideChat")))


@creation.bad("AHP-CHAT-125", versions=NEW)
def a_source_without_kind(t: Trace) -> None:
    world(t)
    opens(t, source=FORK, summary=entry(origin=origin()))


@creation.bad("AHP-CHAT-126", versions=NEW)
def a_source_of_another_session(t: Trace) -> None:
    world(t)
    t.subscribe(SECOND, calm_session(chats=[entry(FOREIGN)], defaultChat=FOREIGN))
    opens(t, source=source(t, chat=FOREIGN), summary=entry(origin={**origin(), "chat": FOREIGN}))


@creation.bad("AHP-CHAT-128", versions=NEW)
def a_chat_of_itself(t: Trace) -> None:
    world(t)
    opens(t, source=source(t, chat=OTHER), summary=entry(origin={**origin(), "chat": OTHER}))


@creation.bad("AHP-CHAT-129", versions=NEW)
def a_fork_in_the_middle_of_a_turn(t: Trace) -> None:
    world(t, working_chat())
    opens(t, source=source(t), summary=entry(origin=origin()))


@creation.bad("AHP-CHAT-131", versions=NEW)
def a_selection_of_nothing(t: Trace) -> None:
    world(t, sideChat=True)
    wanted = origin("sideChat", selection={"text": ""})
    opens(t, source=wanted, summary=entry(origin=wanted))


@creation.bad("AHP-WD-108", versions=NEW)
def a_chat_in_a_foreign_directory(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(workingDirectories=["file:///one"]))
    opens(t, workingDirectories=["file:///two"])


@creation.good("AHP-CHAT-046", "AHP-CHAT-053", "AHP-CHAT-047", versions=OLD)
def impossible_forks_are_refused(t: Trace) -> None:
    world(t)
    opens(t, chat=CHAT, code=-32602)
    opens(t, initialMessage={**message(), "origin": {"kind": "systemNotification"}}, code=-32602)
    opens(t, source=source(t, chat=FOREIGN), code=-32602)


@creation.good(
    "AHP-CHAT-110",
    "AHP-CHAT-125",
    "AHP-CHAT-126",
    "AHP-CHAT-127",
    "AHP-CHAT-128",
    "AHP-CHAT-129",
    "AHP-CHAT-131",
    "AHP-WD-108",
    versions=NEW,
)
def impossible_sources_are_refused(t: Trace) -> None:
    world(t, working_chat(turns=[finished(identity="done")]), fork=True)
    t.subscribe(SESSION, calm_session(workingDirectories=["file:///one"]))
    t.subscribe(SECOND, calm_session(chats=[entry(FOREIGN)], defaultChat=FOREIGN))
    for wanted in (
        origin("sideChat", selection={"text": ""}),
        FORK,
        source(t, chat=FOREIGN),
        source(t, turnId="none"),
        source(t, chat=OTHER),
        source(t),
    ):
        opens(t, source=wanted, code=-32602)
    opens(t, workingDirectories=["file:///two"], code=-32602)


@creation.good(versions=NEW)
def a_turn_that_ends_meanwhile(t: Trace) -> None:
    world(t, working_chat())
    identity = t.ask("createChat", channel=SESSION, chat=OTHER, source=source(t))
    t.envelope(CHAT, {"type": "chat/turnComplete", "turnId": TURN, "duration": 5})
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(origin=origin())})
    t.result(identity)


@creation.good()
def older_turns_that_are_not_loaded(t: Trace) -> None:
    world(t)
    t.notify("unsubscribe", channel=CHAT)
    t.ping()
    t.window([finished(identity="young")])
    opens(t, source=source(t), summary=entry(origin=origin()))


# -- several at once ----------------------------------------------------------------------------------


def adds(t: Trace, to: str = "A", **more: Any) -> None:
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(**more)}, to)


@creation.good("AHP-CHAT-007")
def a_chat_is_made_anew_at_once(t: Trace) -> None:
    t.follow()
    adds(t)
    disposal = t.ask("disposeChat", channel=OTHER)
    wanted = t.ask("createChat", channel=SESSION, chat=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    adds(t)
    t.result(disposal)
    t.result(wanted)


@creation.good()
def another_client_disposes_of_it_just_then(t: Trace) -> None:
    t.follow()
    adds(t)
    wanted = t.ask("createChat", channel=SESSION, chat=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    adds(t)
    t.result(wanted)


@creation.good("AHP-CHAT-015", versions=OLD)
def two_clients_want_one_uri(t: Trace) -> None:
    t.follow("AB", chat=idle_chat(turns=[finished()]))
    first = t.ask("createChat", "A", channel=SESSION, chat=OTHER)
    second = t.ask("createChat", "B", channel=SESSION, chat=OTHER, source=FORK)
    adds(t, "AB")
    t.result(first)
    t.error(second, -32602, "B")


@creation.good("AHP-CHAT-012", versions=OLD, settled=False)
def one_client_is_ahead_of_another(t: Trace) -> None:
    t.follow("BA")
    t.envelope(CHAT, starts())
    t.envelope(CHAT, ends())
    forked = t.ask("createChat", channel=SESSION, chat=OTHER, source=FORK)
    adds(t, origin={"kind": "fork", **FORK})
    t.result(forked)


@creation.good(versions=NEW, settled=False)
def the_turn_ended_before_it_was_forked(t: Trace) -> None:
    t.follow("A", chat=None)
    t.follow("B", chat=working_chat(), session=None)
    source_ = {"kind": "fork", **FORK}
    forked = t.ask("createChat", channel=SESSION, chat=OTHER, source=source_)
    t.seq = 1
    adds(t, origin=source_)
    t.result(forked)
    t.envelope(CHAT, ends(), "B", seq=1)


@found(creation)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(creation)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
