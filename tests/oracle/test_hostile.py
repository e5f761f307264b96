"""A host may send whatever it likes: the oracle finds fault with it and never breaks."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.oracle import Oracle
from conformance.protocol import ACTIONS, METHODS
from conformance.wire.frames import Frame, decode, encode
from tests.protocol.examples import CALL, CHAT, TURN

from .traces import (
    DONE,
    ROOT,
    SESSION,
    Trace,
    about,
    auth_entry,
    calm_session,
    ends,
    entry,
    idle_chat,
    lists,
    ready,
    starts,
    unlists,
)

JSON = Any

RARE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Values that look like parts of AHP, so that they get past the first checks.
WORDS = st.sampled_from(
    [ROOT, SESSION, CHAT, TURN, CALL, "vault", "client-A", "0.9.0", "running", "auth-required", "mcp", "toolCall"]
)
ATOMS = st.none() | st.booleans() | st.integers(-2, 40) | st.floats(allow_nan=False) | st.text(max_size=4) | WORDS
NAMES = st.sampled_from(
    [
        *("id", "method", "params", "result", "error", "code", "data", "channel", "action", "type", "serverSeq"),
        *("origin", "clientId", "clientSeq", "rejectionReason", "snapshot", "snapshots", "resource", "state"),
        *("fromSeq", "turns", "activeTurn", "responseParts", "toolCall", "toolCallId", "turnId", "status", "chats"),
        *("inputNeeded", "request", "kind", "customizations", "children", "contributor", "auth", "missing", "actions"),
    ]
)
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
MESSAGES = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(sorted(METHODS)) | VALUES, "params": VALUES},
        optional={"id": st.integers(0, 5) | VALUES},
    ),
    st.fixed_dictionaries({"id": st.integers(0, 5) | VALUES}, optional={"result": VALUES, "error": VALUES}),
    st.fixed_dictionaries(
        {
            "method": st.just("action"),
            "params": st.fixed_dictionaries(
                {
                    "channel": st.sampled_from([ROOT, SESSION, CHAT]) | VALUES,
                    "action": st.dictionaries(NAMES, VALUES, max_size=5).flatmap(
                        lambda more: st.sampled_from(sorted(ACTIONS)).map(lambda name: {**more, "type": name})
                    ),
                    "serverSeq": st.integers(0, 60) | VALUES,
                },
                optional={"origin": VALUES, "rejectionReason": VALUES},
            ),
        }
    ),
)
FRAMES = st.tuples(st.sampled_from("AB"), st.sampled_from(["in", "out"]), MESSAGES)


def ordinary() -> Trace:
    """Traffic in which most of what rules look at happens."""
    t = Trace()
    t.follow("AB", chat=idle_chat())
    t.echo(CHAT, starts(), to="AB")
    t.envelope(
        CHAT,
        {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "markdown", "id": "p", "content": ""}},
        "AB",
    )
    t.envelope(CHAT, {"type": "chat/delta", "turnId": TURN, "partId": "p", "content": "Hi"}, "AB")
    t.blocked("AB")
    t.envelope(SESSION, lists(entry("chatInput", "q")), "AB")
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry(), entry("chatInput", "q")]))
    t.unblocked("AB")
    t.envelope(SESSION, unlists("q"), "AB")
    t.envelope(CHAT, ready(confirmed=False, confirmationTitle="Still?"), "AB")
    t.echo(CHAT, about("Confirmed", approved=True, confirmed="user-action"), "B", to="AB")
    t.envelope(CHAT, about("Complete", result=DONE), "AB")
    t.envelope(SESSION, {"type": "session/mcpServerStateChanged", "id": "vault", "state": {"kind": "stopped"}}, "AB")
    t.envelope(CHAT, ends(), "AB")
    t.notify("unsubscribe", "B", channel=CHAT)
    t.ping("B")
    t.close("B")
    t.reconnect("C", "client-B", t.seq, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": []})
    t.call("listSessions", {"items": []}, "C")
    t.tell("root/sessionRemoved", session="ahp-session:/other")
    return t


def watched(frames: list[Frame], settled: bool = True) -> Oracle:
    oracle = Oracle()
    for frame in frames:
        oracle.feed(frame)
    oracle.end(settled=settled)
    return oracle


def test_the_ordinary_traffic_is_in_order() -> None:
    oracle = watched(ordinary().frames)
    assert [(f.rule, f.message, f.expected, f.seen) for f in oracle.findings] == []


@RARE
@given(st.lists(FRAMES, max_size=12), st.booleans())
def test_any_messages_after_ordinary_ones(more: list[tuple[str, Any, JSON]], settled: bool) -> None:
    t = ordinary()
    for conn, direction, message in more:
        t.add(conn, direction, msg=message)
    for finding in watched(t.frames, settled).findings:
        assert encode(finding.to_json())


@RARE
@given(st.lists(FRAMES, max_size=12))
def test_any_messages_from_the_start(more: list[tuple[str, Any, JSON]]) -> None:
    t = Trace()
    for conn, direction, message in more:
        t.add(conn, direction, msg=message)
    watched(t.frames)


@RARE
@given(st.randoms(use_true_random=False), st.data())
def test_ordinary_traffic_with_parts_replaced(chance: random.Random, data: st.DataObject) -> None:
    frames = ordinary().frames
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(frames) - 1))
        message = copy.deepcopy(frames[place].msg)
        spots = list(_spots(message))
        if spots:
            holder, key = chance.choice(spots)
            holder[key] = data.draw(VALUES)
        if data.draw(st.booleans()):
            frames[place] = _like(frames[place], message)
        else:
            frames.insert(data.draw(st.integers(0, len(frames))), _like(frames[place], message))
    watched([_like(frame, frame.msg, n) for n, frame in enumerate(frames)])


def test_every_part_of_ordinary_traffic_replaced_by_junk() -> None:
    """Each member of each kind of message once, by one sort of junk or another."""
    frames = ordinary().frames
    junk: Iterator[JSON] = itertools.cycle([None, "x", [{}], {"id": []}, 5])
    done: set[tuple[str, ...]] = set()
    for place, frame in enumerate(frames):
        for path in _paths(frame.msg):
            kind = frame.msg.get("method") or "reply"
            action = str((frame.msg.get("params") or {}).get("action", {}).get("type"))
            key = (frame.dir, kind, action, *(str(step) for step in path if isinstance(step, str)))
            if key in done:
                continue
            done.add(key)
            message = copy.deepcopy(frame.msg)
            holder = message
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = next(junk)
            watched([*frames[:place], _like(frame, message), *frames[place + 1 :]])


@pytest.mark.parametrize(
    "text",
    [
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"' + "9" * 5000 + '.0.0"}}',
        '{"jsonrpc":"2.0","id":1,"result":' + "[" * 200 + "]" * 200 + "}",
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"0.9.0","serverSeq":1e400,"snapshots":[]}}',
        '{"jsonrpc":"2.0","id":1,"error":{"code":[],"message":{}}}',
        '{"method":"action","params":{"channel":"ahp-root://","action":{"type":"\\ud800"},"serverSeq":1e300}}',
    ],
    ids=["version", "depth", "infinity", "code", "surrogate"],
)
def test_values_at_the_edge(text: str) -> None:
    t = Trace()
    t.ask("initialize", protocolVersions=["0.9.0"], clientId="client-A")
    try:
        t.into(decode(text))
    except ValueError:
        t.add("A", "in", raw=text, kind="text")
    t.ping()
    assert watched(t.frames).findings


def test_frames_without_json() -> None:
    t = ordinary()
    kinds: list[Any] = ["text", "binary", "not-utf8", "close"]
    for kind in kinds:
        for direction in ("in", "out"):
            t.add("A", direction, kind=kind, raw=None)
            t.add("new", direction, kind=kind, raw="x")
    watched(t.frames)


def _like(frame: Frame, message: JSON, n: int | None = None) -> Frame:
    return Frame(
        frame.n if n is None else n, frame.t, frame.conn, frame.dir, message, frame.raw, frame.kind, frame.code
    )


def _spots(value: JSON) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield value, key
            yield from _spots(part)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield value, place
            yield from _spots(part)


def _paths(value: JSON, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _paths(part, (*path, key))
