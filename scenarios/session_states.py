"""Sessions: how they come and go, and what their state and their entry in the list say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.protocol import ROOT_URI
from conformance.protocol.status import is_status
from scenarios.expect import expect, expect_equal
from scenarios.places import channel_of
from scenarios.requests import answer
from scenarios.world import World

FLAGS = {"read": ("session/isReadChanged", "isRead", 32), "archived": ("session/isArchivedChanged", "isArchived", 64)}


@given("the session is listed")
def is_listed(world: World) -> None:
    """A host may list a session only once its first turn has begun."""
    world.noted["listed session"] = world.summary()
    if world.noted["listed session"] is None:
        raise Unreached("precondition-failed", "the host does not list the session yet")


@given("the session is ready")
def is_ready(world: World) -> None:
    """Readiness is not waited for: a host may reach it only with the first turn."""
    if world.a.state(world.session).get("lifecycle") != "ready":
        raise Unreached("precondition-failed", "the session is not ready before its first turn")


@given(parsers.parse("the session is marked {flag}"))
def is_marked(world: World, flag: str) -> None:
    kind, member, bit = FLAGS[flag]
    world.a.act(world.session, {"type": kind, member: True})
    status = world.fresh(world.session).get("status")
    if not isinstance(status, int) or not status & bit:
        raise Unreached("precondition-failed", f"the session does not become {flag}: status {status!r}")


@when(parsers.parse('client "{name}" creates a session and subscribes to it in the same breath'))
def creates_and_subscribes(world: World, name: str) -> None:
    client = world.client(name)
    world.session = world.stage.new_session_uri()
    created = client.ask("createSession", channel=world.session, provider=world.provider)
    asked = client.ask("subscribe", channel=world.session)
    world.noted["created"], world.noted["asked"] = (client, created), (name, asked, "subscribe")


@then("both requests succeed")
def both_succeed(world: World) -> None:
    client, created = world.noted["created"]
    for reply in (client.answer(created), answer(world)):
        expect(not reply.failed, "one of the requests is refused", expected="two results",
               seen=reply.error, frame=reply.frame.n)  # fmt: skip


@given("a session whose creator became active with it")
def with_active_creator(world: World) -> None:
    client = world.a
    entry = {"clientId": client.client_id, "tools": [{"name": "first_tool", "inputSchema": {"type": "object"}}]}
    world.session = world.create_session(client, activeClient=entry)
    world.noted["entry of A"] = entry


@when(parsers.parse('client "{name}" subscribes to it'))
def subscribes_to_it(world: World, name: str) -> None:
    world.client(name).subscribe(world.session)


@given(parsers.parse('client "{name}" has disposed of the session'))
def has_disposed(world: World, name: str) -> None:
    """Over once the answer is there and, for who follows the root, the announcement too."""
    client = world.client(name)
    client.succeed("disposeSession", channel=world.session)
    if ROOT_URI in client.view.subscribed:
        client.await_notification("root/sessionRemoved", lambda params: params.get("session") == world.session)
    for other in world.stage.clients.values():
        if other.connection.closed is None:
            other.fence()
            world.noted[f"mark of {other.name}"] = other.mark


@then(parsers.parse('client "{name}" can subscribe to {what}'))
def can_subscribe(world: World, name: str, what: str) -> None:
    uri = world.noted["asked session"] if what == "the new session" else channel_of(world, what)
    snapshot = world.client(name).subscribe(uri)
    expect_equal(snapshot.frame.msg["result"]["snapshot"]["resource"], uri, "the URI", frame=snapshot.frame.n)


@then(parsers.parse('client "{name}" cannot subscribe to {what}'))
def cannot_subscribe(world: World, name: str, what: str) -> None:
    uri = world.noted["asked session"] if what == "the new session" else channel_of(world, what)
    reply = world.client(name).call("subscribe", channel=uri)
    code = reply.error.get("code") if isinstance(reply.error, dict) else None
    expect(code == -32001, f"{what} can be subscribed to, or the error is another one",
           expected="an error with code -32001", seen=reply.frame.msg, frame=reply.frame.n)  # fmt: skip


@given("the session has a title of its own")
def own_title(world: World) -> None:
    world.noted["title"] = "A title of its own"
    world.a.act(world.session, {"type": "session/titleChanged", "title": world.noted["title"]})


@then("the session keeps its title")
def keeps_title(world: World) -> None:
    answer(world)
    state = world.fresh(world.session)
    expect_equal(state.get("title"), world.noted["title"], "the title", frame=world.stage.frames[-1].n)


@when(parsers.parse('clients "{one}" and "{other}" create a session at one URI at once'))
def create_at_once(world: World, one: str, other: str) -> None:
    uri = world.stage.new_session_uri()
    clients = [world.client(one), world.client(other)]
    world.noted["rivals"] = [
        (client, client.ask("createSession", channel=uri, provider=world.provider)) for client in clients
    ]


@then("one of them succeeds, and the other is refused with the code -32003")
def one_succeeds(world: World) -> None:
    replies = [client.answer(asked) for client, asked in world.noted["rivals"]]
    codes = [r.error.get("code") if isinstance(r.error, dict) else None for r in replies if r.failed]
    expect_equal(codes, [-32003], "the refusals", frame=max(r.frame.n for r in replies))


@then("a fresh snapshot has every member that a session must have")
def required_members(world: World) -> None:
    state = world.fresh(world.session)
    texts = all(isinstance(state.get(m), str) for m in ("provider", "title", "lifecycle"))
    lists = all(isinstance(state.get(m), list) for m in ("activeClients", "chats"))
    expect(texts and lists and is_status(state.get("status")), "the session state is incomplete",
           expected="provider, title, status, lifecycle, activeClients, chats", seen=state,
           frame=world.stage.frames[-1].n)  # fmt: skip


@then(parsers.parse("the provider is that of the request in {where}"))
def provider_kept(world: World, where: str) -> None:
    shown = world.fresh(world.session) if where == "a fresh snapshot" else world.noted["listed session"]
    expect_equal(shown.get("provider"), world.provider, "the provider", frame=world.stage.frames[-1].n)


@then("the list names the session by the URI that the client chose")
def listed_by_uri(world: World) -> None:
    expect(world.summary() is not None, "the session is not in the list", expected=world.session, seen=None,
           frame=world.stage.frames[-1].n)  # fmt: skip


@then("its times in the list are ISO 8601 texts")
def times_are_iso(world: World) -> None:
    summary = world.summary() or {}
    for member in ("createdAt", "modifiedAt"):
        expect(_is_iso(summary.get(member)), f"{member} is no ISO 8601 text", expected="YYYY-MM-DDThh:mm:ss…Z",
               seen=summary.get(member), frame=world.stage.frames[-1].n)  # fmt: skip


def _is_iso(value: Any) -> bool:
    try:
        return isinstance(value, str) and "T" in value and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


@when(parsers.parse('client "{name}" {verb} the flag {flag}'))
def switches(world: World, name: str, verb: str, flag: str) -> None:
    kind, member, _ = FLAGS[flag]
    client = world.client(name)
    number = client.dispatch(world.session, {"type": kind, member: {"sets": True, "clears": False}[verb]})
    world.noted["switch"] = (client, number)


@then(parsers.re(r"(?P<where>a fresh snapshot|the list) shows it idle and (?P<flags>.+)"))
def shows_flags(world: World, where: str, flags: str) -> None:
    """The whole status is compared below bit 128; what higher bits mean is not known."""
    client, number = world.noted["switch"]
    client.echo(number)
    wanted = 1 + sum(bit for flag, (_, _, bit) in FLAGS.items() if f"not {flag}" not in flags)
    shown = world.fresh(world.session) if where == "a fresh snapshot" else world.summary()
    status = (shown or {}).get("status")
    seen = status & 127 if isinstance(status, int) else status
    expect_equal(seen, wanted, "the status", frame=world.stage.frames[-1].n)
