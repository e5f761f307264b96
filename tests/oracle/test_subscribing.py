"""Subscriptions and their snapshots."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, idle_chat, root

subscribing = Cases("subscribing")

LOGS = "ahp-otlp:/logs"
OTHER = "ahp-chat:/c2"
NOT_FOUND = -32001


def title(text: str = "New") -> dict[str, str]:
    return {"type": "session/titleChanged", "title": text}


def begins(t: Trace, *channels: str, snapshots: list[Any], conn: str = "A") -> None:
    """A handshake with initial subscriptions."""
    identity = t.ask(
        "initialize", conn, protocolVersions=[t.version], clientId=f"client-{conn}", initialSubscriptions=list(channels)
    )
    t.result(identity, {"protocolVersion": t.version, "serverSeq": t.seq, "snapshots": snapshots}, conn)


def two_chats(**members: Any) -> Any:
    state = calm_session()
    return {**state, "chats": [*state["chats"], {**state["chats"][0], "resource": OTHER}], **members}


def refused(t: Trace, channel: str, code: int = NOT_FOUND, conn: str = "A") -> None:
    t.error(t.ask("subscribe", conn, channel=channel), code, conn)


# -- what is handed out -------------------------------------------------------------------------------


@subscribing.bad("AHP-SUB-001")
def a_session_without_snapshot(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {}, channel=SESSION)


@subscribing.bad("AHP-SUB-002")
def a_snapshot_under_another_name(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {"snapshot": t.snapshot("ahp-session:/S1", calm_session())}, channel=SESSION)


@subscribing.bad("AHP-SUB-004")
def a_stateless_channel_with_a_snapshot(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {"snapshot": t.snapshot(LOGS, None)}, channel=LOGS)


@subscribing.bad("AHP-SUB-014")
def a_snapshot_out_of_a_cache(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, title())
    t.subscribe(SESSION, calm_session(), at=0)


@subscribing.bad("AHP-SUB-018")
def turns_are_left_out_unasked(t: Trace) -> None:
    t.handshake()
    result = {"snapshot": t.snapshot(CHAT, idle_chat(turnsNextCursor="older"))}
    t.call("subscribe", result, channel=CHAT)


@subscribing.bad("AHP-SUB-022")
def the_root_is_refused(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel=ROOT), -32603)


@subscribing.good(
    "AHP-SUB-001", "AHP-SUB-002", "AHP-SUB-004", "AHP-SUB-014", "AHP-SUB-018", "AHP-SUB-022", "AHP-SESS-004"
)
def snapshots_of_all_sorts(t: Trace) -> None:
    t.handshake()
    t.subscribe(ROOT, root())
    t.call("createSession", channel=SESSION, provider="p")
    t.subscribe(SESSION, calm_session())
    t.echo(SESSION, title())
    t.subscribe(SESSION, calm_session(title="New"))
    t.subscribe(CHAT, idle_chat())
    t.call("subscribe", {}, channel=LOGS)


@subscribing.good()
def a_window_of_turns_and_a_refusal_of_something_odd(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, idle_chat(turnsNextCursor="older"), view={"turns": 1})
    t.error(t.ask("subscribe", channel=ROOT, view=5), -32602)
    refused(t, "ahp-session:/never")
    t.call("subscribe", {}, channel="vscode:/something")


# -- what is no more ----------------------------------------------------------------------------------


@subscribing.bad("AHP-SESS-020", "AHP-SUB-011")
def a_disposed_session_is_still_there(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(SESSION, calm_session())


@subscribing.bad("AHP-CHAT-020", "AHP-SUB-012")
def a_chat_of_a_disposed_session_is_still_there(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(CHAT, idle_chat())


@subscribing.bad("AHP-CHAT-019", "AHP-SUB-012")
def a_disposed_chat_is_still_there(t: Trace) -> None:
    t.follow(session=two_chats(), chat=None)
    t.call("disposeChat", channel=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    t.subscribe(OTHER, idle_chat(resource=OTHER))


@subscribing.bad("AHP-SUB-025")
def a_session_that_is_no_more_has_another_code(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    refused(t, SESSION, -32603)


@subscribing.good("AHP-CHAT-019", "AHP-CHAT-020", "AHP-SESS-020", "AHP-SUB-011", "AHP-SUB-012", "AHP-SUB-025")
def what_is_no_more_is_refused(t: Trace) -> None:
    t.follow(session=two_chats(), chat=None)
    t.call("disposeChat", channel=OTHER)
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": OTHER})
    refused(t, OTHER, -32602)
    t.call("disposeSession", channel=SESSION)
    refused(t, SESSION)
    refused(t, CHAT, -32603)


@subscribing.good()
def a_session_at_the_same_uri(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    t.call("createSession", channel=SESSION, provider="p")
    t.subscribe(SESSION, calm_session())
    t.subscribe(CHAT, idle_chat())


@subscribing.good()
def the_default_chat_may_outlive_its_disposal(t: Trace) -> None:
    """AMB-02."""
    t.follow(chat=None)
    t.call("disposeChat", channel=CHAT)
    t.subscribe(CHAT, idle_chat())


@subscribing.good()
def a_refused_disposal_and_one_under_way(t: Trace) -> None:
    t.follow(chat=None)
    t.error(t.ask("disposeSession", channel=SESSION))
    t.subscribe(SESSION, calm_session())
    identity = t.ask("disposeSession", channel=SESSION)
    t.subscribe(SESSION, calm_session())
    t.result(identity)


# -- sessions that are new ----------------------------------------------------------------------------


@subscribing.bad("AHP-SESS-004")
def a_new_session_is_not_there(t: Trace) -> None:
    t.handshake()
    t.call("createSession", channel=SESSION, provider="p")
    refused(t, SESSION)


@subscribing.bad("AHP-SESS-004")
def a_new_session_is_not_there_yet(t: Trace) -> None:
    t.handshake()
    create, subscribe = t.ask("createSession", channel=SESSION, provider="p"), t.ask("subscribe", channel=SESSION)
    t.error(subscribe, NOT_FOUND)
    t.result(create)


@subscribing.good()
def a_session_that_came_to_nothing(t: Trace) -> None:
    t.handshake()
    create, subscribe = t.ask("createSession", channel=SESSION, provider="p"), t.ask("subscribe", channel=SESSION)
    t.error(subscribe, NOT_FOUND)
    t.error(create, -32002)
    t.call("createSession", channel=SESSION, provider="q")
    t.tell("root/sessionRemoved", session=SESSION)
    refused(t, SESSION)


# -- the handshake ------------------------------------------------------------------------------------


@subscribing.bad("AHP-INIT-010")
def a_handshake_without_the_root(t: Trace) -> None:
    begins(t, ROOT, snapshots=[])


@subscribing.bad("AHP-INIT-010")
def a_handshake_with_two_roots(t: Trace) -> None:
    begins(t, ROOT, snapshots=[t.snapshot(ROOT, root())] * 2)


@subscribing.bad("AHP-INIT-010")
def a_handshake_leaves_out_what_others_follow(t: Trace) -> None:
    t.follow("B", chat=None)
    begins(t, ROOT, SESSION, snapshots=[t.snapshot(ROOT, root())])


@subscribing.bad("AHP-INIT-012")
def a_snapshot_that_nobody_asked_for(t: Trace) -> None:
    begins(t, snapshots=[t.snapshot(ROOT, root())])


@subscribing.bad("AHP-INIT-013")
def a_handshake_with_a_stateless_snapshot(t: Trace) -> None:
    begins(t, ROOT, LOGS, snapshots=[t.snapshot(ROOT, root()), t.snapshot(LOGS, None)])


@subscribing.good("AHP-INIT-010", "AHP-INIT-012", "AHP-INIT-013")
def handshakes_of_all_sorts(t: Trace) -> None:
    t.follow("B", chat=None)
    states = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session())]
    begins(t, ROOT, SESSION, "ahp-session:/never", LOGS, snapshots=states)
    begins(t, snapshots=[], conn="C")


@subscribing.good()
def a_session_ends_during_the_handshake(t: Trace) -> None:
    t.follow("B", chat=None)
    begins(t, ROOT, SESSION, snapshots=[t.snapshot(ROOT, root())])
    t.tell("root/sessionRemoved", session=SESSION)
    t.tell("root/sessionRemoved", "B", session=SESSION)


# -- what is not seen ---------------------------------------------------------------------------------


def creates(t: Trace) -> None:
    t.handshake()
    t.call("createSession", channel=SESSION, provider="p")


@subscribing.good()
def others_dispose_of_a_new_session(t: Trace) -> None:
    creates(t)
    refused(t, SESSION)
    t.tell("root/sessionRemoved", session=SESSION)


@subscribing.good()
def nobody_would_be_told_of_a_disposal(t: Trace) -> None:
    creates(t)
    t.notify("unsubscribe", channel=ROOT)
    refused(t, SESSION)


@subscribing.good()
def a_subscription_is_refused_for_its_params(t: Trace) -> None:
    creates(t)
    t.error(t.ask("subscribe", channel=SESSION, view=5), -32602)


@subscribing.good("AHP-INIT-010")
def who_names_a_channel_twice_gets_it_twice(t: Trace) -> None:
    begins(t, ROOT, ROOT, snapshots=[t.snapshot(ROOT, root())] * 2)


@subscribing.good("AHP-INIT-010")
def a_session_may_be_gone_when_nobody_would_be_told(t: Trace) -> None:
    t.follow(chat=None)
    t.notify("unsubscribe", channel=ROOT)
    begins(t, ROOT, SESSION, snapshots=[t.snapshot(ROOT, root())], conn="B")


@subscribing.good("AHP-INIT-010", settled=False)
def a_removal_may_be_on_its_way(t: Trace) -> None:
    t.follow(chat=None)
    begins(t, ROOT, SESSION, snapshots=[t.snapshot(ROOT, root())], conn="B")


@subscribing.good("AHP-SUB-025")
def a_token_is_asked_for_what_does_not_exist(t: Trace) -> None:
    t.follow(chat=None)
    t.call("disposeSession", channel=SESSION)
    t.tell("root/sessionRemoved", session=SESSION)
    t.error(t.ask("subscribe", channel=SESSION), -32007, data={"resources": []})


@found(subscribing)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(subscribing)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
