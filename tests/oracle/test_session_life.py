"""Sessions: their creation, and what clients may change of them."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, idle_chat, root

life = Cases("session-life")

ROOTS = ("0.7.0", "0.9.0")
REPLACED = ("0.8.0", "0.9.0")
ONE, TWO, THREE = "file:///one", "file:///two", "file:///three"
FAILURE = {"type": "session/creationFailed", "error": {"errorType": "x", "message": "no"}}
READY = {"type": "session/ready"}


def creating(t: Trace, conns: str = "A") -> None:
    t.follow(conns, session=calm_session(lifecycle="creating"), chat=None)


def made(t: Trace, state: Any = None, **params: Any) -> None:
    """A session that a client creates and follows."""
    t.handshake()
    t.call("createSession", channel=SESSION, **{"provider": "p", **params})
    t.subscribe(SESSION, calm_session() if state is None else state)


def with_capabilities(t: Trace, **capabilities: Any) -> None:
    agent = {"provider": "p", "displayName": "P", "description": "an agent", "models": [], "capabilities": capabilities}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])


def config(**properties: Any) -> Any:
    titled = {name: {"title": name, **schema} for name, schema in properties.items()}
    return {"schema": {"type": "object", "properties": titled}, "values": {}}


# -- creation -----------------------------------------------------------------------------------------


@life.bad("AHP-SESS-005")
def a_session_is_ready_twice(t: Trace) -> None:
    creating(t)
    t.envelope(SESSION, READY)
    t.envelope(SESSION, READY)


@life.bad("AHP-SESS-005")
def a_session_is_ready_and_failed(t: Trace) -> None:
    creating(t)
    t.envelope(SESSION, READY)
    t.envelope(SESSION, FAILURE)


@life.bad("AHP-SESS-010")
def a_session_of_another_provider(t: Trace) -> None:
    made(t, provider="q")


@life.bad("AHP-SESS-010")
def a_session_announced_with_another_provider(t: Trace) -> None:
    made(t)
    moment = "2026-01-01T00:00:00.000Z"
    summary = {
        "resource": SESSION,
        "provider": "q",
        "title": "S",
        "status": 1,
        "createdAt": moment,
        "modifiedAt": moment,
    }
    t.tell("root/sessionAdded", summary=summary)


@life.bad("AHP-SESS-010", beside=("session-catalogue",))
def a_session_listed_with_another_provider(t: Trace) -> None:
    made(t)
    moment = "2026-01-01T00:00:00.000Z"
    entry = {"resource": SESSION, "provider": "ahp-session", "title": "Session", "status": 1}
    t.call("listSessions", {"items": [{**entry, "createdAt": moment, "modifiedAt": moment}]})


@life.bad("AHP-SESS-016")
def the_active_client_is_forgotten(t: Trace) -> None:
    made(t, activeClient={"clientId": "client-A", "tools": []})


@life.good("AHP-SESS-005", "AHP-SESS-010", "AHP-SESS-016")
def a_session_as_it_was_asked_for(t: Trace) -> None:
    client = {"clientId": "client-A", "tools": []}
    made(t, calm_session(lifecycle="creating", activeClients=[]), activeClient=client)
    t.envelope(SESSION, {"type": "session/activeClientSet", "activeClient": client})
    t.envelope(SESSION, READY)
    t.subscribe(SESSION, calm_session(activeClients=[client]))


@life.good()
def a_client_that_went_is_not_active(t: Trace) -> None:
    """What a client that stayed away is owed is another matter."""
    client = {"clientId": "client-A", "tools": []}
    made(t, calm_session(lifecycle="creating", activeClients=[client]), activeClient=client)
    t.envelope(SESSION, READY)
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-A"})
    t.subscribe(SESSION, calm_session(activeClients=[]))


@life.good()
def an_outcome_that_several_clients_see(t: Trace) -> None:
    creating(t, "AB")
    t.envelope(SESSION, READY, "AB")


@life.good()
def a_session_that_is_made_again(t: Trace) -> None:
    creating(t)
    t.envelope(SESSION, FAILURE)
    t.call("disposeSession", channel=SESSION)
    t.call("createSession", channel=SESSION, provider="q")
    t.subscribe(SESSION, calm_session(lifecycle="creating", provider="q"))
    t.envelope(SESSION, READY)


# -- what clients may change --------------------------------------------------------------------------


@life.bad("AHP-DISP-009")
def a_session_cannot_be_archived(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/isArchivedChanged", "isArchived": True}, rejected="no")


@life.good("AHP-DISP-009")
def a_session_is_marked_and_archived(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/isArchivedChanged", "isArchived": True})
    t.echo(SESSION, {"type": "session/isReadChanged", "isRead": True})
    t.echo(SESSION, {"type": "session/isReadChanged", "isRead": "yes"}, rejected="malformed")


@life.good()
def a_session_that_is_not_ready_may_refuse(t: Trace) -> None:
    creating(t)
    t.echo(SESSION, {"type": "session/isReadChanged", "isRead": True}, rejected="too early")


@life.bad("AHP-DISP-006")
def an_unknown_chat_becomes_the_default(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/defaultChatChanged", "defaultChat": "ahp-chat:/unknown"})


@life.good("AHP-DISP-006")
def the_default_chat_is_one_of_the_session(t: Trace) -> None:
    """A-12: whether a client may move it at all is open."""
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/defaultChatChanged", "defaultChat": CHAT})
    t.echo(SESSION, {"type": "session/defaultChatChanged", "defaultChat": "ahp-chat:/unknown"}, rejected="unknown")


@life.bad("AHP-DISP-007")
def what_was_chosen_at_the_start_is_changed(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(config=config(mode={"type": "string"})))
    t.echo(SESSION, {"type": "session/configChanged", "config": {"mode": "fast"}})


@life.good("AHP-DISP-007")
def a_mutable_property_is_changed(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(config=config(mode={"type": "string", "sessionMutable": True})))
    t.echo(SESSION, {"type": "session/configChanged", "config": {"mode": "fast", "unknown": 1}})


@life.good()
def values_that_are_what_they_were(t: Trace) -> None:
    state = calm_session(config={**config(mode={"type": "string"}), "values": {"mode": "fast"}})
    t.follow(chat=None, session=state)
    t.echo(SESSION, {"type": "session/configChanged", "config": {"mode": "fast"}, "replace": True})


@life.bad("AHP-ROOT-010")
def a_number_in_place_of_a_word(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(config=config(mode={"type": "string"})))])
    t.echo(ROOT, {"type": "root/configChanged", "config": {"mode": 5}})


@life.bad("AHP-ROOT-010")
def what_is_only_to_be_read(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(config=config(mode={"type": "string", "readOnly": True})))])
    t.echo(ROOT, {"type": "root/configChanged", "config": {"mode": "x"}})


@life.bad("AHP-ROOT-010")
def a_word_that_is_not_offered(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(config=config(mode={"type": "string", "enum": ["a"]})))])
    t.echo(ROOT, {"type": "root/configChanged", "config": {"mode": "b"}})


@life.good("AHP-ROOT-010")
def a_host_config_is_changed(t: Trace) -> None:
    properties = {"mode": {"type": "string", "enum": ["a"]}, "limit": {"type": "number"}}
    t.handshake(snapshots=[t.snapshot(ROOT, root(config=config(**properties)))])
    t.echo(ROOT, {"type": "root/configChanged", "config": {"mode": "a", "limit": 5}})
    t.echo(ROOT, {"type": "root/configChanged", "config": {"limit": True}}, rejected="a number")
    t.envelope(ROOT, {"type": "root/configChanged", "config": {"mode": 7}})


# -- directories --------------------------------------------------------------------------------------


@life.bad("AHP-WD-101", versions=ROOTS)
def a_directory_under_its_old_name(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(workingDirectory=ONE))


@life.bad("AHP-WD-102", versions=ROOTS)
def two_directories_for_an_agent_of_one(t: Trace) -> None:
    with_capabilities(t)
    t.call("createSession", channel=SESSION, provider="p", workingDirectories=[ONE, TWO])
    t.subscribe(SESSION, calm_session(workingDirectories=[ONE, TWO]))


@life.bad("AHP-WD-103", versions=ROOTS)
def a_chat_goes_elsewhere(t: Trace) -> None:
    t.follow(session=calm_session(workingDirectories=[ONE]), chat=idle_chat())
    t.echo(CHAT, {"type": "chat/workingDirectorySet", "directory": TWO})


@life.bad("AHP-WD-110", versions=REPLACED)
def the_first_directory_is_replaced(t: Trace) -> None:
    with_capabilities(t, multipleWorkingDirectories={"immutablePrimary": True})
    t.subscribe(SESSION, calm_session(workingDirectories=[ONE, TWO]))
    t.echo(SESSION, {"type": "session/workingDirectoryReplaced", "directory": ONE, "replacement": THREE})


@life.bad("AHP-WD-111", versions=ROOTS)
def a_chat_is_listed_elsewhere(t: Trace) -> None:
    chats = [{**calm_session()["chats"][0], "workingDirectories": [TWO]}]
    t.follow(chat=None, session=calm_session(workingDirectories=[ONE], chats=chats))


@life.good("AHP-WD-101", "AHP-WD-102", "AHP-WD-103", "AHP-WD-111", versions=ROOTS)
def directories_within_the_session(t: Trace) -> None:
    with_capabilities(t)
    t.call("createSession", channel=SESSION, provider="p", workingDirectories=[ONE, TWO])
    chats = [{**calm_session()["chats"][0], "workingDirectories": [ONE]}]
    t.subscribe(SESSION, calm_session(workingDirectories=[ONE], chats=chats))
    t.subscribe(CHAT, idle_chat())
    t.echo(CHAT, {"type": "chat/workingDirectorySet", "directory": ONE})
    t.echo(CHAT, {"type": "chat/workingDirectorySet", "directory": TWO}, rejected="not one of the session")


@life.good("AHP-WD-110", versions=REPLACED)
def other_directories_are_replaced(t: Trace) -> None:
    with_capabilities(t, multipleWorkingDirectories={"immutablePrimary": True})
    t.subscribe(SESSION, calm_session(workingDirectories=[ONE, TWO]))
    t.echo(SESSION, {"type": "session/workingDirectoryReplaced", "directory": TWO, "replacement": THREE})


@life.good(versions=("0.6.0",))
def a_directory_under_the_name_of_the_version(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(workingDirectory=ONE))


@life.good(versions=ROOTS)
def a_chat_whose_session_nobody_follows(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat())
    t.echo(CHAT, {"type": "chat/workingDirectorySet", "directory": TWO})


# -- what is not seen ---------------------------------------------------------------------------------


def reads(t: Trace) -> None:
    """A flag that the host refuses."""
    t.echo(SESSION, {"type": "session/isReadChanged", "isRead": True}, rejected="gone")


@life.good("AHP-DISP-009")
def another_client_disposes_at_the_same_time(t: Trace) -> None:
    t.follow(chat=None)
    reads(t)
    t.tell("root/sessionRemoved", session=SESSION)


@life.good("AHP-DISP-009")
def a_disposal_is_under_way(t: Trace) -> None:
    t.follow(chat=None)
    disposal = t.ask("disposeSession", channel=SESSION)
    reads(t)
    t.result(disposal)


@life.good("AHP-DISP-009")
def nobody_would_be_told_of_a_disposal(t: Trace) -> None:
    t.follow(chat=None)
    t.notify("unsubscribe", channel=ROOT)
    reads(t)


@life.good()
def the_creator_leaves_before_anybody_looks(t: Trace) -> None:
    t.handshake()
    t.call("createSession", channel=SESSION, provider="p", activeClient={"clientId": "client-A", "tools": []})
    t.dispatch(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-A"})
    t.subscribe(SESSION, calm_session())


@life.good("AHP-ROOT-010")
def a_value_is_taken_back(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(config=config(name={"type": "string"})))])
    t.echo(ROOT, {"type": "root/configChanged", "config": {"name": None}})


@found(life)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(life)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
