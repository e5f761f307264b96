"""Annotations: what clients may do, what the host may not, and what a session says of them."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .channels import ANNOTATIONS, note, remark, says, sets, summary, unsays, updates
from .traces import JSON, SESSION, STARTED, Case, Cases, Trace, calm_session, clean, finished, found, idle_chat

book = Cases("annotations")

REMOVED = {"type": "annotations/removed", "annotationId": "n1"}
RESOLVED = updates(resolved=True)


def follow(t: Trace, *notes: JSON, conns: str = "A") -> None:
    """Clients that follow a session with one finished turn, and its annotations."""
    for conn in conns:
        t.handshake(conn)
        t.subscribe(SESSION, calm_session(annotations=summary()), conn)
        t.subscribe(CHAT, idle_chat(turns=[finished()]), conn)
        t.subscribe(ANNOTATIONS, {"annotations": list(notes)}, conn)


def refuse(t: Trace, action: JSON, conn: str = "A", to: str | None = None) -> None:
    t.echo(ANNOTATIONS, action, conn, to, rejected="no")


@book.good()
def an_annotation_that_the_host_puts_back(t: Trace) -> None:
    """It moves a resolved one, say."""
    follow(t, note(t, resolved=True))
    t.envelope(ANNOTATIONS, REMOVED)
    t.envelope(ANNOTATIONS, sets(note(t, resolved=True)))


# -- clients ------------------------------------------------------------------------------------------


@book.bad("AHP-ANN-003")
def a_client_may_not_annotate(t: Trace) -> None:
    follow(t, conns="AB")
    refuse(t, sets(note(t)), to="AB")


@book.bad("AHP-ANN-003")
def a_client_may_not_answer(t: Trace) -> None:
    follow(t, note(t))
    refuse(t, says(remark("e2")))


@book.bad("AHP-ANN-003")
def a_client_may_not_take_back_an_entry(t: Trace) -> None:
    follow(t, note(t, "n1", remark(), remark("e2")))
    refuse(t, unsays("e2"))


@book.bad("AHP-ANN-003")
def a_client_may_not_remove(t: Trace) -> None:
    follow(t, note(t))
    refuse(t, REMOVED)


@book.good("AHP-ANN-003")
def a_client_does_all_of_it(t: Trace) -> None:
    follow(t, conns="AB")
    for action in (sets(note(t)), RESOLVED, says(remark("e2")), unsays("e2"), REMOVED):
        t.echo(ANNOTATIONS, action, to="AB")


@book.good("AHP-ANN-024")
def what_may_be_refused(t: Trace) -> None:
    """What changes nothing, what is about an unknown turn, and what leaves nothing."""
    follow(t, note(t))
    for action in (
        updates("nobody", resolved=True),
        says(remark(), "nobody"),
        unsays("nobody"),
        sets(note(t, "n2", turn="nobody")),
        sets(note(t, "n2") | {"entries": []}),
        unsays(),
    ):
        refuse(t, action)


@book.bad("AHP-ANN-013")
def only_the_author_may_resolve(t: Trace) -> None:
    follow(t, conns="AB")
    t.echo(ANNOTATIONS, sets(note(t)), to="AB")
    refuse(t, RESOLVED, "B", "AB")


@book.good("AHP-ANN-013")
def anybody_may_resolve(t: Trace) -> None:
    follow(t, conns="AB")
    t.echo(ANNOTATIONS, sets(note(t)), to="AB")
    t.echo(ANNOTATIONS, RESOLVED, "B", "AB")


@book.bad("AHP-ANN-024")
def a_client_leaves_an_empty_annotation(t: Trace) -> None:
    follow(t, note(t))
    t.echo(ANNOTATIONS, unsays())


@book.bad("AHP-ANN-024")
def a_client_makes_an_empty_annotation(t: Trace) -> None:
    follow(t)
    t.echo(ANNOTATIONS, sets(note(t) | {"entries": []}))


# -- the host -----------------------------------------------------------------------------------------


@book.bad("AHP-ANN-010")
def the_host_resolves_what_nobody_has_seen(t: Trace) -> None:
    follow(t, conns="AB")
    t.envelope(ANNOTATIONS, sets(note(t, resolved=True)), "AB")


@book.bad("AHP-ANN-023")
def the_host_makes_an_empty_annotation(t: Trace) -> None:
    follow(t)
    t.envelope(ANNOTATIONS, sets(note(t) | {"entries": []}))


@book.bad("AHP-ANN-023")
def the_host_takes_the_last_entry(t: Trace) -> None:
    follow(t, note(t))
    t.envelope(ANNOTATIONS, unsays())


@book.good("AHP-ANN-010", "AHP-ANN-023")
def the_host_annotates(t: Trace) -> None:
    follow(t)
    t.envelope(ANNOTATIONS, sets(note(t)))
    t.envelope(ANNOTATIONS, sets(note(t, resolved=True)))
    t.envelope(ANNOTATIONS, says(remark("e2")))
    t.envelope(ANNOTATIONS, unsays("e1"))
    t.envelope(ANNOTATIONS, REMOVED)


# -- the session --------------------------------------------------------------------------------------


def lists_sessions(t: Trace, annotations: int, entries: int) -> JSON:
    counts = summary(annotations=annotations, entries=entries)
    item = {"resource": SESSION, "provider": "p", "title": "Session", "status": 1, "annotations": counts}
    return {"items": [{**item, "createdAt": STARTED, "modifiedAt": STARTED}]}


@book.bad("AHP-ANN-011")
def the_counts_stay_behind(t: Trace) -> None:
    follow(t)
    t.echo(ANNOTATIONS, sets(note(t)))
    for _ in range(2):
        t.call("listSessions", lists_sessions(t, 0, 0))


@book.bad("AHP-ANN-011")
def entries_are_not_counted(t: Trace) -> None:
    follow(t, note(t, "n1", remark(), remark("e2")))
    t.call("listSessions", lists_sessions(t, 1, 1))


@book.good("AHP-ANN-011")
def the_counts_follow(t: Trace) -> None:
    follow(t, note(t, "n1", remark(), remark("e2")))
    t.call("listSessions", lists_sessions(t, 1, 2))


@book.good("AHP-ANN-011")
def the_counts_follow_a_moment_later(t: Trace) -> None:
    follow(t)
    t.echo(ANNOTATIONS, sets(note(t)))
    t.call("listSessions", lists_sessions(t, 0, 0))


@book.good("AHP-ANN-011")
def the_counts_are_ahead_of_the_channel(t: Trace) -> None:
    follow(t)
    t.call("listSessions", lists_sessions(t, 1, 1))
    t.envelope(ANNOTATIONS, sets(note(t)))
    t.envelope(ANNOTATIONS, says(remark("e2")))


@book.good()
def a_list_that_was_made_meanwhile(t: Trace) -> None:
    follow(t)
    number = t.ask("listSessions")
    t.envelope(ANNOTATIONS, sets(note(t)))
    t.result(number, lists_sessions(t, 0, 0))


@book.bad("AHP-ANN-021")
def a_channel_somewhere_else(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(annotations=summary("ahp-notes:/1")))


@book.good("AHP-ANN-021")
def a_channel_under_its_session(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(annotations=summary()))


@found(book)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(book)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_a_log_from_the_middle_is_not_accused_of_what_it_lacks() -> None:
    t = Trace("0.9.0")
    t.envelope(ANNOTATIONS, unsays())
    t.envelope(ANNOTATIONS, sets(note(t)), origin=("A", 1), rejected="no")
    t.call("listSessions", lists_sessions(t, 3, 3))
    assert [f for f in t.judged().findings if f.rule in ("annotations", "channel-folds", "offers")] == []
