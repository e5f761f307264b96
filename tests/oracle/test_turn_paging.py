"""Paging of older turns."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .traces import JSON, SESSION, Case, Cases, Trace, calm_session, clean, finished, found, idle_chat

paging = Cases("turn-paging")

TURNS = {name: finished(identity=name) for name in ("t1", "t2", "t3", "t4")}


def some(*names: str) -> list[JSON]:
    return [TURNS[name] for name in names]


def loads(*names: str, cursor: str | None = None) -> JSON:
    more = {} if cursor is None else {"turnsNextCursor": cursor}
    return {"type": "chat/turnsLoaded", "turns": some(*names), **more}


def windowed(t: Trace, conn: str = "B") -> None:
    """A follows the chat with its four turns, and ``conn`` with the last one."""
    t.follow("A", session=None, chat=idle_chat(turns=some("t1", "t2", "t3", "t4")))
    t.handshake(conn)
    t.window(some("t4"), conn, "older")


def fetches(t: Trace, *brought: JSON, cursor: str | None = "older", conn: str = "B", result: JSON = ...) -> None:
    more = {} if cursor is None else {"cursor": cursor}
    identity = t.ask("fetchTurns", conn, channel=CHAT, **more)
    for action in brought:
        t.envelope(CHAT, action, conn)
    t.result(identity, {} if result is ... else result, conn)


@paging.bad("AHP-PAGE-001", beside=("subscribing",))
def a_window_that_nobody_asked_for(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(turns=some("t4"), turnsNextCursor="older"))


@paging.bad("AHP-PAGE-004")
def an_answer_ahead_of_its_turns(t: Trace) -> None:
    windowed(t)
    fetches(t)
    t.envelope(CHAT, loads("t1", "t2", "t3"), "B")


@paging.bad("AHP-PAGE-005")
def turns_in_the_result(t: Trace) -> None:
    windowed(t)
    fetches(t, loads("t1", "t2", "t3"), result={"turns": [], "hasMore": False})


@paging.bad("AHP-PAGE-006")
def any_cursor_will_do(t: Trace) -> None:
    windowed(t)
    fetches(t, cursor="bogus")


@paging.bad("AHP-PAGE-006")
def a_wrong_cursor_breaks_the_host(t: Trace) -> None:
    windowed(t)
    t.error(t.ask("fetchTurns", "B", channel=CHAT, cursor="bogus"), -32603, "B")


@paging.bad("AHP-PAGE-007")
def pages_with_the_newest_first(t: Trace) -> None:
    windowed(t)
    fetches(t, loads("t3", "t2", cursor="oldest"))


@paging.bad("AHP-PAGE-007")
def pages_with_a_gap(t: Trace) -> None:
    windowed(t)
    fetches(t, loads("t1", "t2"))


@paging.bad("AHP-PAGE-009")
def a_cursor_that_stays(t: Trace) -> None:
    windowed(t)
    fetches(t, loads("t3", cursor="older"))


@paging.bad("AHP-PAGE-010")
def a_request_without_cursor_is_refused(t: Trace) -> None:
    windowed(t)
    t.error(t.ask("fetchTurns", channel=CHAT), -32602)


@paging.bad("AHP-PAGE-012")
def turns_come_twice_under_other_ids(t: Trace) -> None:
    windowed(t)
    t.envelope(CHAT, {"type": "chat/turnsLoaded", "turns": [finished(identity="t3 again")]})


@paging.bad("AHP-PAGE-013")
def turns_of_no_chat(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel="ahp-chat:/none"), -32008)
    t.call("fetchTurns", {}, channel="ahp-chat:/none")


@paging.bad("AHP-PAGE-015")
def an_unknown_view_is_refused(t: Trace) -> None:
    t.follow()
    t.error(t.ask("subscribe", channel=SESSION, view={"x-suite": True}), -32602)


@paging.good("AHP-PAGE-004", "AHP-PAGE-005", "AHP-PAGE-006", "AHP-PAGE-007", "AHP-PAGE-009", "AHP-PAGE-012")
def two_pages_and_a_wrong_cursor(t: Trace) -> None:
    windowed(t)
    t.error(t.ask("fetchTurns", "B", channel=CHAT, cursor="bogus"), -32602, "B")
    fetches(t, loads("t3", cursor="oldest"))
    identity = t.ask("fetchTurns", "B", channel=CHAT, cursor="oldest")
    t.envelope(CHAT, loads("t1", "t2", "t3"), "AB")
    t.result(identity, {}, "B")


@paging.good("AHP-PAGE-010")
def there_is_nothing_left(t: Trace) -> None:
    """AMB-28: an empty page is told or not."""
    windowed(t)
    fetches(t, cursor=None, conn="A")
    fetches(t, loads(), cursor=None, conn="A")


@paging.good("AHP-PAGE-001", "AHP-PAGE-015")
def views_and_none(t: Trace) -> None:
    t.follow(chat=idle_chat(turns=some("t1", "t2")))
    t.subscribe(CHAT, idle_chat(turns=some("t1", "t2")), view={"x-suite": True})
    t.subscribe(SESSION, calm_session(), view={"x-suite": True})


@paging.good("AHP-PAGE-013")
def no_turns_of_no_chat(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel="ahp-chat:/none"), -32008)
    t.error(t.ask("fetchTurns", channel="ahp-chat:/none"), -32008)


@paging.good()
def a_host_without_paging(t: Trace) -> None:
    t.follow()
    t.error(t.ask("fetchTurns", channel=CHAT, cursor="bogus"), -32601)
    t.error(t.ask("fetchTurns", channel=CHAT), -32601)


@paging.good()
def two_requests_with_one_cursor(t: Trace) -> None:
    windowed(t)
    first, second = (t.ask("fetchTurns", "B", channel=CHAT, cursor="older") for _ in range(2))
    t.envelope(CHAT, loads("t1", "t2", "t3"), "B")
    t.result(first, {}, "B")
    t.result(second, {}, "B")


@paging.good()
def a_cursor_from_before_the_recording(t: Trace) -> None:
    t.reconnect("B", "client-B", 5, [CHAT], {"type": "replay", "actions": [], "missing": []})
    fetches(t, cursor="known of old")


@paging.good()
def the_chat_goes_while_its_turns_are_fetched(t: Trace) -> None:
    windowed(t)
    t.error(t.ask("fetchTurns", channel=CHAT, cursor="bogus"), -32008)


@paging.good()
def another_client_truncates_while_turns_are_fetched(t: Trace) -> None:
    windowed(t)
    identity = t.ask("fetchTurns", "B", channel=CHAT, cursor="older")
    t.envelope(CHAT, {"type": "chat/truncated"}, "AB", origin=("Z", 7))
    t.result(identity, {}, "B")


@paging.good()
def a_chat_that_is_made_after_all(t: Trace) -> None:
    t.follow()
    t.error(t.ask("subscribe", channel="ahp-chat:/none"), -32008)
    identity = t.ask("createChat", channel=SESSION, chat="ahp-chat:/none")
    added = {**calm_session()["chats"][0], "resource": "ahp-chat:/none"}
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": added})
    t.result(identity)
    t.call("fetchTurns", {}, channel="ahp-chat:/none")


@paging.good()
def a_chat_for_which_a_token_was_needed(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel="ahp-chat:/none"), -32007, data={"resources": []})
    t.call("fetchTurns", {}, channel="ahp-chat:/none")


@paging.good()
def a_view_with_a_count_that_is_none(t: Trace) -> None:
    t.follow(session=None)
    t.error(t.ask("subscribe", channel=CHAT, view={"x-suite": True, "turns": -1}), -32602)


@found(paging)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(paging)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
