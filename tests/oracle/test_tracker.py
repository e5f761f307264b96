"""What the tracker makes of frames: folds, subscriptions, and clients that come back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle import Oracle
from conformance.oracle.comparing import difference, found_at, vocabulary
from conformance.oracle.reading import whole
from conformance.oracle.tracker import Envelope, Listener
from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Trace, calm_session, idle_chat, starts

TITLE = {"type": "session/titleChanged", "title": "New"}


class Heard(Listener):
    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []

    def envelope(self, envelope: Envelope) -> None:
        self.envelopes.append(envelope)


def seen(t: Trace) -> tuple[Oracle, list[Envelope]]:
    oracle, heard = Oracle(), Heard()
    oracle.tracker.listen(heard)
    for frame in t.frames:
        oracle.feed(frame)
    return oracle, heard.envelopes


def title(oracle: Oracle, conn: str = "A") -> Any:
    return oracle.tracker.connections[conn].channels[SESSION].state["title"]


def test_envelopes_come_with_the_fold_before_and_after() -> None:
    t = Trace()
    t.follow()
    t.envelope(SESSION, TITLE)
    oracle, (envelope,) = seen(t)
    assert (envelope.before["title"], envelope.after["title"], title(oracle)) == ("Session", "New", "New")


def test_a_repetition_has_no_fold() -> None:
    t = Trace()
    t.follow()
    again = t.envelope(SESSION, TITLE)
    t.tell("action", **again)
    _, (_, second) = seen(t)
    assert second.before is None and second.after is None


def test_a_rejection_has_the_fold_that_it_leaves() -> None:
    t = Trace()
    t.follow()
    t.echo(SESSION, TITLE, rejected="no")
    oracle, (envelope,) = seen(t)
    assert envelope.before is envelope.after is oracle.tracker.connections["A"].channels[SESSION].state


def test_what_comes_between_a_snapshot_and_its_answer_is_folded() -> None:
    t = Trace()
    t.handshake()
    identity = t.ask("subscribe", channel=SESSION)
    taken = t.snapshot(SESSION, calm_session())
    t.envelope(SESSION, TITLE)
    t.result(identity, {"snapshot": taken})
    assert title(seen(t)[0]) == "New"


def test_after_unsubscribe_the_fold_stands_still() -> None:
    t = Trace()
    t.follow()
    t.notify("unsubscribe", channel=SESSION)
    t.envelope(SESSION, TITLE)
    oracle, (envelope,) = seen(t)
    assert title(oracle) == "Session" and envelope.before is None


@pytest.mark.parametrize("last_seen", [0, 1, 2])
def test_a_replay_is_folded_from_where_the_client_says_it_was(last_seen: int) -> None:
    t = Trace()
    t.follow()
    told = [t.envelope(SESSION, {**TITLE, "title": name}) for name in ("one", "two")]
    t.close()
    told.append(t.params(SESSION, {**TITLE, "title": "three"}))
    result = {"type": "replay", "actions": told[last_seen:], "missing": []}
    t.reconnect("B", "client-A", last_seen, [ROOT, SESSION], result)
    oracle, envelopes = seen(t)
    assert title(oracle, "B") == "three"
    assert oracle.tracker.connections["B"].version == "0.9.0"
    assert [e.replayed for e in envelopes] == [False] * 2 + [True] * (3 - last_seen)


def test_a_client_that_came_back_is_not_fed_where_it_was() -> None:
    t = Trace()
    t.follow()
    t.reconnect("B", "client-A", 0, [SESSION], {"type": "replay", "actions": [], "missing": []})
    connections = seen(t)[0].tracker.connections
    assert (connections["A"].fed, connections["B"].fed) == (False, True)


def test_a_refused_reconnect_replaces_nobody() -> None:
    t = Trace()
    t.follow()
    identity = t.ask("reconnect", "B", clientId="client-A", lastSeenServerSeq=0, subscriptions=[SESSION])
    t.error(identity, conn="B")
    assert seen(t)[0].tracker.connections["A"].fed


def test_missing_channels_and_promised_snapshots_that_never_came_are_not_followed() -> None:
    for result in (
        {"type": "replay", "actions": [], "missing": [SESSION]},
        {"type": "snapshot", "snapshots": []},
    ):
        t = Trace()
        t.follow()
        t.close()
        t.reconnect("B", "client-A", 0, [SESSION], result)
        assert SESSION not in seen(t)[0].tracker.connections["B"].channels


def test_a_second_snapshot_keeps_the_time_since_when_nothing_escaped() -> None:
    t = Trace()
    t.follow()
    t.envelope(SESSION, TITLE)
    t.subscribe(SESSION, calm_session(title="New"))
    view = seen(t)[0].tracker.connections["A"].channels[SESSION]
    assert (view.since, view.base) == (0, 1)


def test_kinds_follow_from_what_was_created_listed_or_shown() -> None:
    t = Trace()
    own = "host-chat:/7"
    t.handshake()
    t.call("createSession", None, channel="host:/1")
    t.subscribe(SESSION, calm_session(chats=[{"resource": own, "title": "C", "status": 1, "modifiedAt": "x"}]))
    t.subscribe("somewhere:/else", idle_chat())
    kinds = seen(t)[0].tracker.kinds
    assert kinds == {
        ROOT: "root",
        SESSION: "session",
        "host:/1": "session",
        own: "chat",
        "somewhere:/else": "chat",
    }


def test_what_is_fed_after_the_end_is_ignored() -> None:
    t = Trace()
    t.follow()
    oracle = t.judged()
    t.envelope(CHAT, starts(), seq="x")
    oracle.feed(t.frames[-1])
    oracle.end()
    assert not oracle.findings


@pytest.mark.parametrize(
    ("value", "number"),
    [(5, 5), (5.0, 5), (-1, -1), (5.5, None), (True, None), ("5", None), (None, None), (float("inf"), None)],
)
def test_whole_numbers(value: Any, number: int | None) -> None:
    assert whole(value) == number


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        ({"title": "a"}, {"title": "a"}, None),
        ({"title": "a"}, {"title": "b"}, "$.title"),
        ({"turns": [{"id": 1}]}, {"turns": [{"id": 2}]}, "$.turns[0].id"),
        ({"turns": []}, {"turns": [1]}, "$.turns"),
        ({"title": "a"}, {}, "$.title"),
        ({}, {"mood": 1}, None),
        ({"mood": 1}, {"mood": 2}, "$.mood"),
        ({"_meta": {}}, {"_meta": {"mood": 1}}, "$._meta.mood"),
        ({"title": 1}, {"title": True}, "$.title"),
        ({"title": 1}, {"title": 1.0}, None),
        ({"title": [1]}, {"title": {"0": 1}}, "$.title"),
    ],
)
def test_the_first_difference(left: Any, right: Any, path: str | None) -> None:
    found = difference(left, right, "0.9.0")
    assert (found.path if found else None) == path


def test_containment_permits_more() -> None:
    assert difference({"id": 1}, {"id": 1, "title": 2}, contained=True) is None
    found = difference({"id": 1, "title": 2}, {"id": 1}, contained=True)
    assert found is not None and (found.left, found.right) == (2, "absent")


def test_places() -> None:
    assert found_at({"a": [{"b": 1}]}, ("a", 0, "b")) == 1
    assert found_at({"a": []}, ("a", 0, "b")) is None


def test_the_vocabulary_of_a_version() -> None:
    assert {"turnId", "toolCall", "inputNeeded"} <= vocabulary("0.6.0")
    assert "workingDirectories" in vocabulary("0.9.0") - vocabulary("0.6.0")
