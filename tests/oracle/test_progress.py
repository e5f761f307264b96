"""root/progress."""

from __future__ import annotations

from typing import Any

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found

progress = Cases("progress")


def begins(t: Trace, conn: str = "A", *, ready: bool = False) -> None:
    t.handshake(conn)
    t.call("createSession", None, conn, channel=SESSION, provider="p", progressToken="token")
    t.subscribe(SESSION, calm_session(lifecycle="creating"), conn)
    if ready:
        t.envelope(SESSION, {"type": "session/ready"}, conn)


def at(t: Trace, value: Any, total: Any = None, token: str = "token") -> None:
    t.tell("root/progress", progressToken=token, progress=value, **({} if total is None else {"total": total}))


@progress.bad("AHP-PROG-001", beside=("delivery",))
def a_token_that_nobody_gave(t: Trace) -> None:
    t.handshake()
    t.notify("unsubscribe", channel=ROOT)
    t.ping()
    at(t, 1, token="TOKEN")


@progress.bad("AHP-PROG-002")
def backwards(t: Trace) -> None:
    begins(t)
    at(t, 5)
    at(t, 4)


@progress.bad("AHP-PROG-003")
def no_end(t: Trace) -> None:
    begins(t)
    at(t, 5)
    t.envelope(SESSION, {"type": "session/ready"})


@progress.bad("AHP-PROG-004")
def more_after_the_end(t: Trace) -> None:
    begins(t)
    at(t, 5, 5)
    at(t, 6, 6)


@progress.good("AHP-PROG-001", "AHP-PROG-002", "AHP-PROG-003", "AHP-PROG-004")
def up_to_the_end(t: Trace) -> None:
    begins(t)
    for value in (1, 1, 2.5):
        at(t, value)
    at(t, 5, 5)
    t.envelope(SESSION, {"type": "session/ready"})


@progress.good()
def of_what_others_wait_for(t: Trace) -> None:
    t.handshake()
    at(t, 1, token="of another client")


@progress.good()
def of_a_session_that_is_not_ready(t: Trace) -> None:
    begins(t)
    at(t, 1)
    t.envelope(SESSION, {"type": "session/creationFailed", "error": {"errorType": "x", "message": "no"}})


@progress.good(settled=False)
def the_end_may_be_on_its_way(t: Trace) -> None:
    begins(t)
    at(t, 1)
    t.envelope(SESSION, {"type": "session/ready"})


@progress.good()
def none_at_all(t: Trace) -> None:
    begins(t, ready=True)


@progress.good("AHP-PROG-001")
def a_client_tries_again_with_its_token(t: Trace) -> None:
    t.handshake()
    creation = t.ask("createSession", channel=SESSION, provider="p", progressToken="token")
    at(t, 5, 5)
    t.error(creation)
    t.ask("createSession", channel=SESSION, provider="p", progressToken="token")
    at(t, 1, 5)


@progress.good()
def others_try_again_with_their_token(t: Trace) -> None:
    t.handshake()
    at(t, 5, 5)
    at(t, 1, 5)


@progress.good("AHP-PROG-003")
def a_bystander_leaves_the_root(t: Trace) -> None:
    begins(t)
    t.handshake("B")
    at(t, 1)
    t.tell("root/progress", "B", progressToken="token", progress=1)
    t.notify("unsubscribe", "B", channel=ROOT)
    at(t, 5, 5)
    t.envelope(SESSION, {"type": "session/ready"})


@found(progress)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(progress)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
