"""What the host says by itself on channels other than sessions and chats."""

from __future__ import annotations

from .channels import (
    ANNOTATIONS,
    CHANGESET,
    TERMINAL,
    changeset,
    file,
    note,
    sets,
)
from .terminal_traces import RENAMED, follow
from .traces import (
    Case,
    Cases,
    Trace,
    clean,
    found,
)

unasked = Cases("unasked")


# -- what the host says by itself ---------------------------------------------------------------------


@unasked.bad("AHP-TERM-035", beside=("origins",))
def a_title_in_the_name_of_the_typist(t: Trace) -> None:
    follow(t, "AB")
    t.echo(TERMINAL, {"type": "terminal/input", "data": "x"}, to="AB")
    t.envelope(TERMINAL, RENAMED, "AB", origin=("A", 99))


@unasked.bad("AHP-CHG-039", beside=("origins",))
def a_review_in_the_name_of_a_client(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHANGESET, changeset(file("a")))
    t.envelope(CHANGESET, REVIEWS, origin=("A", 99))


@unasked.bad("AHP-ANN-019", beside=("origins",))
def an_annotation_in_the_name_of_a_client(t: Trace) -> None:
    t.handshake()
    t.subscribe(ANNOTATIONS, {"annotations": []})
    t.envelope(ANNOTATIONS, sets(note(t)), origin=("A", 99))


REVIEWS = {"type": "changeset/filesReviewChanged", "files": ["a"], "reviewed": True}


@unasked.good("AHP-TERM-035", "AHP-CHG-039", "AHP-ANN-019")
def what_the_host_says_by_itself(t: Trace) -> None:
    follow(t)
    t.subscribe(CHANGESET, changeset(file("a")))
    t.subscribe(ANNOTATIONS, {"annotations": []})
    t.envelope(TERMINAL, RENAMED)
    t.envelope(CHANGESET, REVIEWS)
    t.envelope(ANNOTATIONS, sets(note(t)))
    t.echo(TERMINAL, RENAMED)
    t.envelope(TERMINAL, RENAMED, origin=("Z", 1))


@found(unasked)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(unasked)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
