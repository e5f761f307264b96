"""What a server remembers of the requests that reached it, and what it never keeps."""

from __future__ import annotations

import gc
import threading

import pytest

from conformance.backend import token_hash
from conformance.backend.mcp_servers import ALL_TOOLS, Held, McpServers, Seen

from .clients import ACCEPT, HELLO, PATIENCE, Plain, request, send
from .test_authorization import demand


def test_requests_are_recorded_in_order(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it")
    server.challenge([demand("good")], tool="it")
    with Plain(server) as client:
        client.initialize()
        client.call("it")
        client.token = "good"
        client.call("it")
        client.web.delete(server.url, headers=client.headers)
    good = token_hash("good")
    assert server.seen == (
        Seen(0, "POST", "initialize", None, None, 200),
        Seen(1, "POST", "notifications/initialized", None, None, 202),
        Seen(2, "POST", "tools/call", "it", None, 401),
        Seen(3, "POST", "tools/call", "it", good, 200),
        Seen(4, "DELETE", None, None, good, 200),
    )


def test_the_pushed_token_and_no_other_and_none_before(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it")
    server.challenge([demand("pushed")], tool=ALL_TOOLS)
    with Plain(server) as client:
        client.initialize()
        client.call("it")
        before = len(server.seen)
        assert server.tokens_seen() == ()
        client.token = "pushed"
        client.call("it")
        client.token = "another"
        client.call("it")
        client.token = "pushed"
        client.call("it")
    assert {seen.token for seen in server.seen[:before]} == {None}
    assert server.tokens_seen() == (token_hash("pushed"), token_hash("another"))


def test_a_token_is_kept_nowhere(servers: McpServers) -> None:
    token = "a-token-that-nothing-else-looks-like"
    server = servers.open("s")
    server.challenge([demand(token), demand("other", status=403)])
    with Plain(server, token) as client:
        assert client.initialize().status_code == 403
        assert client.web.get(servers.base + servers.metadata_path(server), headers=client.headers).is_success
    assert server.tokens_seen() == (token_hash(token),)
    assert token not in repr(server.seen) + repr(vars(server)) + repr(vars(server.record))
    gc.collect()
    # The module of a class may be anything, a descriptor too.
    ours = [o for o in gc.get_objects() if str(type(o).__module__).startswith("conformance.backend")]
    assert server.record in ours
    assert not [o for o in ours if token in repr(gc.get_referents(o))]


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (b"Bearer abc", b"abc"),
        (b"bearer   abc", b"abc"),
        ("Bearer tök".encode(), "tök".encode()),
        (b"Basic abc", None),
        (b"Bearer", None),
        (b"abc", None),
    ],
)
def test_only_bearer_tokens_are_tokens(servers: McpServers, header: bytes, token: bytes | None) -> None:
    server = servers.open("s")
    send("POST", server.url, json=request("initialize", HELLO), headers={b"Authorization": header})
    assert server.tokens_seen() == (() if token is None else (token_hash(token.decode()),))


def test_who_only_reads_the_metadata_has_not_contacted_the_server(servers: McpServers) -> None:
    server = servers.open("s")
    other = servers.open("t")
    assert not server.contacted and not server.seen
    with Plain(server) as client:
        client.web.get(servers.base + servers.metadata_path(server))
        assert server.seen == (Seen(0, "GET", status=200, metadata=True),)
        assert not server.contacted
        client.initialize()
    assert server.contacted
    assert not other.seen and not other.contacted


def test_a_request_is_awaited_until_it_comes(servers: McpServers) -> None:
    server = servers.open("s")
    found: list[Seen | None] = []
    waiting = threading.Thread(
        target=lambda: found.append(server.await_seen(lambda seen: seen.rpc == "initialize", PATIENCE))
    )
    waiting.start()
    assert server.await_seen(lambda seen: True, 0) is None
    assert waiting.is_alive() and not found
    with Plain(server) as client:
        client.initialize()
    waiting.join(PATIENCE)
    assert found and found[0] is not None and found[0].place == 0


def test_only_what_comes_after_a_place_can_be_awaited(servers: McpServers) -> None:
    server = servers.open("s")
    with Plain(server) as client:
        client.initialize()
        mark = len(server.seen)
        assert server.await_seen(lambda seen: seen.rpc == "initialize", 0, start=mark) is None
        client.ask("initialize", HELLO)
        later = server.await_seen(lambda seen: seen.rpc == "initialize", 0, start=mark)
    assert later is not None and later.place >= mark


def test_a_held_call_is_seen_before_it_is_answered(servers: McpServers) -> None:
    server = servers.open("s", json_responses=True)
    server.tool("it", Held())
    with Plain(server) as client:
        client.initialize()
        calling = threading.Thread(target=lambda: client.call("it"))
        calling.start()
        come = server.await_seen(lambda seen: seen.tool == "it", PATIENCE)
        assert come is not None and come.status is None
        # Far more patience than the test has: the answer itself has to wake who waits for it.
        answered: list[Seen | None] = []
        waiting = threading.Thread(
            target=lambda: answered.append(server.await_seen(lambda s: s.place == come.place and s.status == 200, 600)),
            daemon=True,
        )
        waiting.start()
        server.release("it")
        waiting.join(PATIENCE)
        calling.join(PATIENCE)
    assert answered == [server.seen[come.place]]


def test_unreadable_requests_are_recorded_as_far_as_they_can_be_read(servers: McpServers) -> None:
    server = servers.open("s")
    for body in (b"{", b"[]", b'{"method": 3}', b'{"method": "tools/call", "params": {"name": ["x"]}}'):
        send("POST", server.url, content=body, headers=ACCEPT | {"Content-Type": "application/json"})
    assert [(seen.rpc, seen.tool) for seen in server.seen] == [(None, None)] * 3 + [("tools/call", None)]
