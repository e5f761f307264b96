"""The chats of a session."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT, message

from .traces import (
    DONE,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    calm_session,
    clean,
    found,
    idle_chat,
    part_of,
    starts,
    working_chat,
)

catalogue = Cases("chat-catalogue")

OTHER = "ahp-chat:/c2"
SECOND = "ahp-session:/s2"
NEW = ("1.0.0",)


def entry(uri: str = CHAT, **members: Any) -> Any:
    return {**calm_session()["chats"][0], "resource": uri, **members}


def two(**members: Any) -> Any:
    return calm_session(chats=[entry(), entry(OTHER)], **members)


def delegates(t: Trace, chat: str) -> None:
    """A call that says that it handed work on to another chat."""
    block = {"type": "subagent", "resource": chat, "title": "Worker"}
    t.envelope(CHAT, about("Complete", result={**DONE, "content": [block]}))


# -- the catalogue ------------------------------------------------------------------------------------


@catalogue.bad("AHP-CHAT-002")
def a_chat_under_another_scheme(t: Trace) -> None:
    own = "vscode-chat:/c7"
    t.follow(chat=None, session=calm_session(chats=[entry(own)], defaultChat=own))


@catalogue.bad("AHP-CHAT-002")
def a_chat_is_added_under_another_scheme(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry("vscode-chat:/c7")})


@catalogue.bad("AHP-CHAT-002")
def a_listed_chat_is_refused(t: Trace) -> None:
    t.follow(chat=None)
    t.error(t.ask("subscribe", channel=CHAT))


@catalogue.bad("AHP-CHAT-003")
def a_ready_session_without_chats(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(chats=[]))


@catalogue.bad("AHP-CHAT-003")
def a_session_becomes_ready_without_chats(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(lifecycle="creating", chats=[]))
    t.envelope(SESSION, {"type": "session/ready"})


@catalogue.bad("AHP-CHAT-050")
def the_default_chat_is_none_of_the_session(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(defaultChat=OTHER))


@catalogue.bad("AHP-CHAT-051", versions=("0.6.0", "0.9.0"))
def a_chat_in_two_sessions(t: Trace) -> None:
    t.follow(chat=None)
    t.subscribe(SECOND, calm_session())


@catalogue.bad("AHP-CHAT-006")
def a_chat_is_renamed_in_its_identity(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"resource": CHAT, "title": "X"}})


@catalogue.bad("AHP-CHAT-004")
def an_entry_with_another_title(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat(title="Mine"))
    t.subscribe(SESSION, calm_session())


@catalogue.bad("AHP-CHAT-004")
def an_entry_with_another_status(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat())
    t.subscribe(SESSION, calm_session(chats=[entry(status=8)]))


@catalogue.good("AHP-CHAT-002", "AHP-CHAT-003", "AHP-CHAT-004", "AHP-CHAT-006", "AHP-CHAT-050", "AHP-CHAT-051")
def a_session_with_two_chats(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat(interactivity="full", status=33))
    t.subscribe(SESSION, two())
    t.subscribe(OTHER, idle_chat(resource=OTHER))
    t.subscribe(SECOND, calm_session(chats=[entry("ahp-chat:/c3")], defaultChat="ahp-chat:/c3"))
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"title": "X"}})


@catalogue.good()
def an_entry_that_is_brought_in_line(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat(title="Mine"))
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"title": "Mine"}})


@catalogue.good()
def an_entry_from_before_or_during_a_turn(t: Trace) -> None:
    t.follow(session=calm_session(), chat=working_chat(title="Later"))
    t.subscribe(SESSION, calm_session())


@catalogue.good()
def a_session_that_is_not_ready(t: Trace) -> None:
    t.handshake()
    state = calm_session(lifecycle="creating", chats=[])
    t.subscribe(SESSION, {k: v for k, v in state.items() if k != "defaultChat"})
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry()})
    t.envelope(SESSION, {"type": "session/ready"})


# -- chats come and go --------------------------------------------------------------------------------


@catalogue.bad("AHP-CHAT-018")
def a_chat_goes_in_silence(t: Trace) -> None:
    t.follow(chat=None, session=two())
    t.call("disposeChat", channel=OTHER)


@catalogue.bad("AHP-CHAT-019", beside=("convergence", "session-folds", "channel-folds"))
def a_chat_that_went_is_listed(t: Trace) -> None:
    t.follow(chat=None, session=two())
    t.call("disposeChat", channel=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    t.handshake("B")
    t.subscribe(SESSION, two(), "B")
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER}, "AB")


@catalogue.good("AHP-CHAT-018", "AHP-CHAT-019")
def a_chat_goes_and_comes_back(t: Trace) -> None:
    t.follow(chat=None, session=two())
    identity = t.ask("disposeChat", channel=OTHER)
    t.result(identity)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    t.subscribe(SESSION, calm_session())
    identity = t.ask("createChat", channel=SESSION, chat=OTHER)
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(OTHER)})
    t.result(identity)


@catalogue.good()
def the_default_chat_stays(t: Trace) -> None:
    """AMB-02."""
    t.follow(chat=None)
    t.call("disposeChat", channel=CHAT)
    t.subscribe(SESSION, calm_session())


# -- workers ------------------------------------------------------------------------------------------


@catalogue.bad("AHP-CHAT-017")
def work_is_handed_on_to_a_session(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("running"))))
    delegates(t, SECOND)


@catalogue.bad("AHP-CHAT-042")
def work_is_handed_on_to_a_chat_that_is_not_listed(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("running"))))
    delegates(t, OTHER)


@catalogue.good("AHP-CHAT-017", "AHP-CHAT-042")
def work_is_handed_on(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("running"))))
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(OTHER)})
    delegates(t, OTHER)


# -- messages -----------------------------------------------------------------------------------------


def to_be_read(t: Trace) -> None:
    listed = [{**entry, "interactivity": "read-only"} for entry in calm_session()["chats"]]
    t.follow(session=calm_session(chats=listed), chat=idle_chat(interactivity="read-only"))


@catalogue.bad("AHP-CHAT-034")
def a_chat_to_be_read_takes_a_message(t: Trace) -> None:
    to_be_read(t)
    t.echo(CHAT, starts())


@catalogue.good("AHP-CHAT-034")
def a_chat_to_be_read_refuses_a_message(t: Trace) -> None:
    to_be_read(t)
    t.echo(CHAT, starts(), rejected="read only")
    t.envelope(CHAT, starts())


@catalogue.good()
def other_chats_take_messages(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(interactivity="full"))
    t.echo(CHAT, {"type": "chat/pendingMessageSet", "kind": "queued", "id": "m", "message": message()})
    t.call("ping", channel=ROOT)


# -- what 1.0.0 brought -------------------------------------------------------------------------------


@catalogue.bad("AHP-CHAT-119", versions=NEW)
def the_default_chat_can_be_moved(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(chats=[entry(movable=True)]))


@catalogue.bad("AHP-CHAT-119", versions=NEW)
def a_chat_that_can_be_moved_becomes_the_default(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(chats=[entry(), entry(OTHER, movable=True)]))
    t.envelope(SESSION, {"type": "session/defaultChatChanged", "defaultChat": OTHER})


@catalogue.bad("AHP-CHAT-142", versions=NEW)
def an_order_of_some_of_the_chats(t: Trace) -> None:
    t.follow(chat=None, session=two())
    t.envelope(SESSION, {"type": "session/chatsReordered", "chats": [OTHER]})


@catalogue.bad("AHP-CHAT-140", versions=NEW)
def a_chat_moves_to_where_it_is_not(t: Trace) -> None:
    t.follow(chat=None, session=two())
    destination = {"kind": "session", "session": SESSION}
    t.call("moveChat", {"session": SESSION}, channel="ahp-chat:/c3", destination=destination)


@catalogue.good("AHP-CHAT-119", "AHP-CHAT-140", "AHP-CHAT-142", versions=NEW)
def chats_are_moved(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(chats=[entry(), entry(OTHER, movable=True)]))
    t.subscribe(SECOND, calm_session(chats=[entry("ahp-chat:/c3")], defaultChat="ahp-chat:/c3"))
    t.envelope(SESSION, {"type": "session/chatsReordered", "chats": [OTHER, CHAT]})
    identity = t.ask("moveChat", channel=OTHER, destination={"kind": "session", "session": SECOND})
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    t.envelope(SECOND, {"type": "session/chatAdded", "summary": entry(OTHER, movable=True)})
    t.result(identity, {"session": SECOND})


@catalogue.good()
def a_recording_from_the_middle(t: Trace) -> None:
    t.call("subscribe", {"snapshot": t.snapshot(CHAT, idle_chat())}, channel=CHAT)
    t.echo(CHAT, starts())


# -- what is not seen ---------------------------------------------------------------------------------


@catalogue.good()
def a_chat_is_opened_for_messages(t: Trace) -> None:
    to_be_read(t)
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"interactivity": "full"}})
    t.echo(CHAT, starts())


@catalogue.good()
def a_chat_may_have_been_opened_for_messages(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(interactivity="read-only"))
    t.echo(CHAT, starts())


@catalogue.good()
def a_worker_is_taken_away_when_it_is_done(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("running"))))
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(OTHER)})
    delegates(t, OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})


@catalogue.good()
def a_worker_was_there_before_the_client_looked(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(a_call("running"))))
    delegates(t, OTHER)
    t.subscribe(SESSION, calm_session())


@catalogue.good("AHP-CHAT-002")
def a_subscription_is_refused_for_its_params(t: Trace) -> None:
    t.follow(chat=None)
    t.error(t.ask("subscribe", channel=CHAT, view="all"), -32602)


@catalogue.good("AHP-CHAT-002")
def a_chat_may_be_gone_when_its_session_is_left(t: Trace) -> None:
    t.follow(chat=None, session=two())
    t.error(t.ask("subscribe", channel=OTHER), -32001)
    t.notify("unsubscribe", channel=SESSION)


@catalogue.good()
def a_chat_is_made_anew_at_once(t: Trace) -> None:
    t.follow(session=two())
    disposal = t.ask("disposeChat", channel=OTHER)
    creation = t.ask("createChat", channel=SESSION, chat=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    t.result(disposal)
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(OTHER)})
    t.result(creation)


@catalogue.good(versions=NEW)
def a_moved_chat_goes_on(t: Trace) -> None:
    t.follow()
    t.call("moveChat", {"session": SESSION}, channel=OTHER, targetSession=SESSION)
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry(OTHER)})
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})


@found(catalogue)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(catalogue)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
