"""The catalogue of sessions."""

from __future__ import annotations

from typing import Any

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

catalogue = Cases("session-catalogue")

OTHER = "ahp-session:/s2"
THIRD = "ahp-session:/s3"
EARLY, LATE = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00Z"


def summary(uri: str = SESSION, **members: Any) -> Any:
    return {
        "resource": uri,
        "provider": "p",
        "title": "Session",
        "status": 1,
        "createdAt": EARLY,
        "modifiedAt": EARLY,
        **members,
    }


def adds(t: Trace, uri: str = SESSION, to: str = "A", **members: Any) -> None:
    for conn in to:
        t.tell("root/sessionAdded", conn, summary=summary(uri, **members))


def removes(t: Trace, uri: str = SESSION, to: str = "A") -> None:
    for conn in to:
        t.tell("root/sessionRemoved", conn, session=uri)


def changes(t: Trace, uri: str = SESSION, **members: Any) -> None:
    t.tell("root/sessionSummaryChanged", session=uri, changes=members)


def lists(t: Trace, *items: Any, conn: str = "A", following: str | None = None, **params: Any) -> None:
    """listSessions; ``items`` are URIs or whole entries."""
    entries = [summary(item) if isinstance(item, str) else item for item in items]
    t.call("listSessions", {"items": entries, **({"nextCursor": following} if following else {})}, conn, **params)


def creates(t: Trace, uri: str = SESSION, *, code: int | None = None) -> None:
    identity = t.ask("createSession", channel=uri, provider="p")
    if code is None:
        t.result(identity)
    else:
        t.error(identity, code)


# -- the list -----------------------------------------------------------------------------------------


@catalogue.bad("AHP-LIST-002")
def an_announced_session_is_not_listed(t: Trace) -> None:
    t.handshake()
    creates(t)
    adds(t)
    lists(t)


@catalogue.bad("AHP-LIST-002")
def a_removed_session_is_listed(t: Trace) -> None:
    t.handshake()
    adds(t)
    removes(t)
    lists(t, SESSION)


@catalogue.bad("AHP-LIST-002")
def a_session_is_listed_twice(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, SESSION)


@catalogue.bad("AHP-LIST-003")
def a_page_that_is_too_long(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, OTHER, following="c", limit=1)


@catalogue.bad("AHP-LIST-004")
def a_page_after_the_last(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, following="c", limit=1)
    lists(t, cursor="c")


@catalogue.bad("AHP-LIST-002", "AHP-LIST-004", "AHP-LIST-005")
def a_walk_that_misses_a_session(t: Trace) -> None:
    t.handshake()
    for uri in (SESSION, OTHER, THIRD):
        creates(t, uri)
        adds(t, uri)
    lists(t, SESSION, following="c", limit=1)
    lists(t, THIRD, cursor="c", limit=1)


@catalogue.bad("AHP-LIST-005")
def a_walk_that_meets_a_session_twice(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, following="c", limit=1)
    lists(t, SESSION, cursor="c", limit=1)


@catalogue.bad("AHP-LIST-002", "AHP-LIST-004", "AHP-LIST-011")
def a_limit_without_a_cursor(t: Trace) -> None:
    t.handshake()
    creates(t)
    adds(t)
    creates(t, OTHER)
    adds(t, OTHER)
    lists(t, SESSION, limit=1)


@catalogue.bad("AHP-LIST-006")
def a_foreign_cursor_begins_anew(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, following="c", limit=1)
    lists(t, SESSION, cursor="not-a-cursor")


@catalogue.bad("AHP-LIST-007")
def the_oldest_first(t: Trace) -> None:
    t.handshake()
    lists(t, summary(), summary(OTHER, modifiedAt=LATE))


@catalogue.bad("AHP-LIST-009")
def a_list_with_another_provider(t: Trace) -> None:
    t.follow(chat=None)
    lists(t, summary(provider="q"))


@catalogue.bad("AHP-LIST-009", "AHP-DISP-010", "AHP-SESS-030")
def a_rename_does_not_reach_the_list(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/titleChanged", "title": "New"})
    lists(t, SESSION)


@catalogue.bad("AHP-STAT-011")
def the_archive_is_forgotten(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/isArchivedChanged", "isArchived": True})
    lists(t, SESSION)


@catalogue.good(
    "AHP-DISP-010",
    "AHP-LIST-002",
    "AHP-LIST-004",
    "AHP-LIST-007",
    "AHP-LIST-009",
    "AHP-LIST-011",
    "AHP-SESS-030",
    "AHP-STAT-011",
)
def lists_of_what_is_there(t: Trace) -> None:
    t.follow(chat=None)
    for uri in (SESSION, OTHER, THIRD):
        creates(t, uri)
        adds(t, uri)
    removes(t, THIRD)
    t.echo(SESSION, {"type": "session/titleChanged", "title": "New"})
    t.echo(SESSION, {"type": "session/isArchivedChanged", "isArchived": True})
    lists(t, summary(OTHER, modifiedAt=LATE), summary(title="New", status=65))
    lists(t, summary(OTHER, modifiedAt=LATE), summary(title="New", status=65), limit=1)


@catalogue.good("AHP-LIST-003", "AHP-LIST-004", "AHP-LIST-005", "AHP-LIST-006")
def a_walk_over_two_pages(t: Trace) -> None:
    t.handshake()
    for uri in (SESSION, OTHER):
        adds(t, uri)
    lists(t, SESSION, following="c", limit=1)
    lists(t, OTHER, cursor="c", limit=1)
    t.error(t.ask("listSessions", cursor="not-a-cursor"), -32602)


@catalogue.good()
def a_walk_during_which_something_happens(t: Trace) -> None:
    t.handshake()
    for uri in (SESSION, OTHER):
        adds(t, uri)
    lists(t, SESSION, following="c", limit=1)
    changes(t, OTHER, modifiedAt=LATE)
    lists(t, SESSION, cursor="c", limit=1)


@catalogue.good()
def news_that_are_on_their_way(t: Trace) -> None:
    t.follow(chat=None)
    adds(t, OTHER)
    lists(t, summary(title="New"))
    removes(t, OTHER)
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "New"})


@catalogue.good()
def a_session_under_disposal(t: Trace) -> None:
    t.handshake()
    adds(t)
    identity = t.ask("disposeSession", channel=SESSION)
    lists(t)
    t.result(identity)
    removes(t)


@catalogue.good()
def sessions_of_others_may_end_at_any_time(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(activeSessions=0))])
    adds(t)
    lists(t)
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(activeSessions=0))])


@catalogue.good()
def an_announcement_that_is_late(t: Trace) -> None:
    t.handshake()
    creates(t)
    t.call("disposeSession", channel=SESSION)
    adds(t)
    lists(t)


@catalogue.good()
def a_cursor_of_a_host_that_does_not_paginate(t: Trace) -> None:
    t.handshake()
    lists(t, SESSION, cursor="any")


# -- what root subscribers are told -------------------------------------------------------------------


@catalogue.bad("AHP-ROOT-011")
def one_of_two_is_told(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    creates(t)
    adds(t)


@catalogue.bad("AHP-ROOT-011")
def a_session_is_announced_twice(t: Trace) -> None:
    t.handshake()
    creates(t)
    adds(t)
    adds(t)


@catalogue.bad("AHP-ROOT-013")
def one_of_two_is_told_of_the_end(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    adds(t, to="AB")
    t.call("disposeSession", channel=SESSION)
    removes(t)


@catalogue.bad("AHP-ROOT-015")
def a_change_names_its_session_once_more(t: Trace) -> None:
    t.handshake()
    adds(t)
    changes(t, title="X", resource=SESSION)


@catalogue.bad("AHP-ROOT-018")
def a_failure_is_announced(t: Trace) -> None:
    t.handshake()
    creates(t, code=-32002)
    adds(t)


@catalogue.bad("AHP-ROOT-023")
def changes_after_the_end(t: Trace) -> None:
    t.handshake()
    adds(t)
    removes(t)
    changes(t, title="X")


@catalogue.bad("AHP-ROOT-023")
def a_second_end(t: Trace) -> None:
    t.handshake()
    adds(t)
    removes(t)
    removes(t)


@catalogue.bad("AHP-ROOT-025")
def an_announcement_on_the_session(t: Trace) -> None:
    t.follow(chat=None)
    t.tell("root/sessionSummaryChanged", channel=SESSION, session=SESSION, changes={"title": "X"})


@catalogue.bad("AHP-SESS-023", beside=("shapes",))
def a_time_in_words(t: Trace) -> None:
    t.handshake()
    changes(t, modifiedAt="yesterday")


@catalogue.bad("AHP-SESS-046")
def a_session_was_created_later_than_before(t: Trace) -> None:
    t.handshake()
    adds(t)
    lists(t, summary(createdAt=LATE))


@catalogue.good(
    "AHP-ROOT-011",
    "AHP-ROOT-013",
    "AHP-ROOT-015",
    "AHP-ROOT-018",
    "AHP-ROOT-023",
    "AHP-ROOT-025",
    "AHP-SESS-023",
    "AHP-SESS-046",
)
def sessions_come_and_go(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    creates(t, code=-32002)
    for _ in range(2):
        creates(t)
        adds(t, to="AB")
        changes(t, title="X", modifiedAt=LATE)
        lists(t, summary(title="X", modifiedAt=LATE, createdAt="2026-01-01T00:00:00+00:00"))
        t.call("disposeSession", channel=SESSION)
        removes(t, to="AB")


@catalogue.good()
def two_attempts_at_one_uri(t: Trace) -> None:
    t.handshake()
    first, second = (t.ask("createSession", channel=SESSION, provider="p") for _ in range(2))
    t.error(second, -32003)
    t.result(first)
    adds(t)


@catalogue.good()
def who_was_away_for_a_while(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    creates(t)
    t.notify("unsubscribe", "B", channel=ROOT)
    adds(t)
    t.subscribe(ROOT, root(), "B")
    t.handshake("C")


@catalogue.good(settled=False)
def the_other_may_be_told_later(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    creates(t)
    adds(t)


# -- the root state -----------------------------------------------------------------------------------


@catalogue.bad("AHP-ROOT-002", beside=("convergence",))
def the_root_lists_sessions(t: Trace) -> None:
    t.handshake()
    creates(t)
    adds(t)
    t.subscribe(ROOT, root(sessions=[{"resource": SESSION}]))


@catalogue.bad("AHP-ROOT-004")
def fewer_sessions_than_there_are(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(activeSessions=0))])
    creates(t)
    adds(t)
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(activeSessions=0))])


@catalogue.good("AHP-ROOT-002", "AHP-ROOT-004")
def a_root_that_counts_sessions(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(activeSessions=2))])
    creates(t)
    adds(t)
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(activeSessions=2, _meta={"last": SESSION}))])


@catalogue.good()
def a_session_less_than_a_moment_ago(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(activeSessions=0))])
    creates(t)
    adds(t)
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(activeSessions=0))])
    removes(t)


@catalogue.good()
def a_recording_from_the_middle(t: Trace) -> None:
    removes(t)
    changes(t, OTHER, title="X")
    lists(t, SESSION)
    t.call("subscribe", {"snapshot": t.snapshot(SESSION, calm_session(title="Y"))}, channel=SESSION)
    lists(t, SESSION)


# -- what is not seen ---------------------------------------------------------------------------------


def made(t: Trace) -> None:
    t.handshake()
    creates(t)
    adds(t)


@catalogue.good()
def others_dispose_while_nobody_looks(t: Trace) -> None:
    made(t)
    t.notify("unsubscribe", channel=ROOT)
    t.subscribe(ROOT, root(activeSessions=0))
    lists(t)


@catalogue.good()
def a_host_is_started_anew_without_its_sessions(t: Trace) -> None:
    made(t)
    t.close()
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(activeSessions=0))])
    lists(t, conn="B")


@catalogue.good("AHP-LIST-004")
def others_change_a_session_between_two_pages(t: Trace) -> None:
    t.handshake()
    lists(t, summary("ahp-session:/a", modifiedAt=LATE), OTHER, following="next", limit=2)
    lists(t, OTHER, THIRD, limit=2, cursor="next")
    changes(t, "ahp-session:/b", modifiedAt=LATE)


@catalogue.good("AHP-LIST-009")
def the_list_is_behind_the_channel(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "Newer"})
    lists(t, summary(title="Older", provider=calm_session()["provider"]))
    changes(t, title="Newer")


@catalogue.good("AHP-ROOT-011")
def what_was_there_already_is_announced_late(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("createSession", channel=SESSION, provider="p"), -32003)
    adds(t)


@found(catalogue)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(catalogue)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
