"""Resource watches: their channels, what they describe, and what they report."""

from __future__ import annotations

import pytest

from conformance.oracle.rules.watches import below

from .channels import WATCH, changes, watch, watched
from .traces import JSON, Case, Cases, Trace, clean, found

watches = Cases("watches")

LOGS = {"items": ["**/*.log"]}


def follow(t: Trace, conns: str = "A", **params: JSON) -> None:
    """A watch on file:///project that its clients follow."""
    for conn in conns:
        t.handshake(conn)
    watch(t, **params)
    for conn in conns:
        t.subscribe(WATCH, watched(**params), conn)


@watches.bad("AHP-RW-001")
def a_watch_on_the_channel_of_what_it_watches(t: Trace) -> None:
    t.handshake()
    watch(t, "file:///project")


@watches.bad("AHP-RW-002")
def two_watches_on_one_channel(t: Trace) -> None:
    t.handshake()
    watch(t)
    watch(t)


@watches.good("AHP-RW-001", "AHP-RW-002")
def two_equal_watches(t: Trace) -> None:
    t.handshake()
    watch(t)
    watch(t, "ahp-resource-watch:/w2")
    t.error(t.ask("createResourceWatch", uri="file:///nowhere"), -32008)


@watches.good("AHP-RW-001")
def a_host_that_is_started_anew(t: Trace) -> None:
    t.handshake()
    watch(t)
    t.close()
    t.handshake("B")
    t.call("createResourceWatch", {"channel": WATCH}, "B", uri="file:///project")


@watches.good("AHP-RW-005")
def a_watch_by_a_link(t: Trace) -> None:
    t.handshake()
    watch(t)
    t.subscribe(WATCH, watched("file:///private/project"))


@watches.bad("AHP-RW-005")
def a_watch_of_something_else(t: Trace) -> None:
    t.handshake()
    watch(t)
    t.subscribe(WATCH, watched("file:///other"))


@watches.bad("AHP-RW-005")
def a_watch_that_is_always_recursive(t: Trace) -> None:
    t.handshake()
    watch(t)
    t.subscribe(WATCH, watched(recursive=True))


@watches.bad("AHP-RW-005")
def a_watch_with_other_patterns(t: Trace) -> None:
    t.handshake()
    watch(t, excludes=LOGS)
    t.subscribe(WATCH, watched(excludes={"items": []}))


@watches.good("AHP-RW-005")
def a_watch_as_it_was_asked_for(t: Trace) -> None:
    """However the host writes the URI."""
    t.handshake()
    watch(t, root="file:///my work/", recursive=True, excludes=LOGS, includes=LOGS)
    t.subscribe(WATCH, watched("file:///my%20work", recursive=True, excludes=LOGS, includes=LOGS))
    watch(t, "ahp-resource-watch:/w2")
    t.subscribe("ahp-resource-watch:/w2", watched(excludes={"items": []}))


@watches.bad("AHP-RW-009")
def a_change_elsewhere(t: Trace) -> None:
    follow(t, "AB", recursive=True)
    t.envelope(WATCH, changes("file:///projects/a"), "AB")


@watches.bad("AHP-RW-011")
def a_change_deep_below(t: Trace) -> None:
    follow(t)
    t.envelope(WATCH, changes("file:///project/a/b"))


@watches.bad("AHP-RW-012")
def a_change_of_what_is_excluded(t: Trace) -> None:
    follow(t, recursive=True, excludes=LOGS)
    t.envelope(WATCH, changes("file:///project/a/x.log"))


@watches.bad("AHP-RW-012")
def a_change_in_a_folder_that_is_excluded(t: Trace) -> None:
    follow(t, recursive=True, excludes={"items": ["**/node_modules/**", "out"]})
    t.envelope(WATCH, changes("file:///project/a/node_modules/b/c"))


@watches.bad("AHP-RW-013")
def a_change_of_what_is_not_included(t: Trace) -> None:
    follow(t, recursive=True, includes={"items": ["**/*.txt", "src/main.c"]})
    t.envelope(WATCH, changes("file:///project/y.md"))


@watches.good("AHP-RW-009")
def changes_that_belong_there(t: Trace) -> None:
    """The root itself counts, and so does its real path, where it is reached by a link."""
    follow(t, excludes=LOGS, includes={"items": ["**/*.txt"]})
    t.envelope(WATCH, changes("file:///project", "file:///project/x.txt", "file:///private/project/X.txt"))


@watches.good("AHP-RW-011", "AHP-RW-012", "AHP-RW-013")
def a_watch_is_silent_about_the_rest(t: Trace) -> None:
    """The suite changes what it must not hear of, and then something else."""
    follow(t, excludes=LOGS, includes={"items": ["**/*.txt", "**/*.log"]})
    for name in ("deep/er.txt", "x.log", "y.md", "x.txt"):
        t.call("resourceWrite", {}, uri=f"file:///project/{name}", data="", encoding="utf-8")
    t.envelope(WATCH, changes("file:///project/x.txt"))


@watches.good()
def patterns_that_are_read_in_several_ways(t: Trace) -> None:
    """Negation, braces, bare names and dot files mean different things in different dialects."""
    hard = ["*.log", "out", "{a,b}/**", "!x", "**/*.tmp"]
    follow(t, recursive=True, excludes={"items": hard}, includes={"items": [*hard, "x/y.txt"]})
    t.envelope(
        WATCH,
        changes("file:///project/d/x.log", "file:///project/d/out", "file:///project/a/z", "file:///project/.d/q.tmp"),
    )
    t.envelope(WATCH, changes("file:///project/sub/x/y.txt"))


@watches.good("AHP-RW-009")
def a_watch_from_before_the_recording(t: Trace) -> None:
    t.handshake()
    t.subscribe(WATCH, watched())
    t.envelope(WATCH, changes("file:///project/a"))


@watches.bad("AHP-RW-017", beside=("dispatching",))
def a_client_speaks_for_a_watch(t: Trace) -> None:
    follow(t, "AB")
    t.echo(WATCH, changes("file:///project/a"), "B", "AB")


@watches.good("AHP-RW-017")
def a_client_that_speaks_for_a_watch_is_refused(t: Trace) -> None:
    follow(t, "AB")
    t.echo(WATCH, changes("file:///project/a"), "B", rejected="host only")


@watches.bad("AHP-RW-018", beside=("delivery",))
def a_watch_that_begins_with_its_creation(t: Trace) -> None:
    t.handshake()
    watch(t)
    t.envelope(WATCH, changes("file:///project/a"))


@watches.good("AHP-RW-018")
def a_watch_that_nobody_follows_is_silent(t: Trace) -> None:
    follow(t)
    watch(t, "ahp-resource-watch:/w2")
    t.envelope(WATCH, changes("file:///project/a"))


@found(watches)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(watches)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_a_log_from_the_middle_is_not_accused_of_what_it_lacks() -> None:
    t = Trace("0.9.0")
    t.envelope(WATCH, changes("file:///elsewhere/a"))
    assert [f for f in t.judged().findings if f.rule == "watches"] == []


@pytest.mark.parametrize(
    ("root", "uri", "path"),
    [
        ("file:///project", "file:///project", []),
        ("file:///project/", "file:///project/a/b", ["a", "b"]),
        ("file:///project", "file:///projects", None),
        ("file:///var/w", "file:///private/var/w/a", ["a"]),
        ("file:///c%3A/Project", "file:///C:/project/a", ["a"]),
        ("file:///", "file:///a", ["a"]),
        ("file:///project", "vscode-remote:///etc", None),
    ],
)
def test_what_is_below_a_root(root: str, uri: str, path: list[str] | None) -> None:
    assert below(root, uri) == path
