"""How sessions come and go."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.protocol import ROOT_URI
from scenarios.expect import expect, expect_equal
from scenarios.places import channel_of
from scenarios.requests import answer
from scenarios.world import World, default_chat


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
        expect(
            not reply.failed,
            "one of the requests is refused",
            expected="two results",
            seen=reply.error,
            frame=reply.frame.n,
        )


@given(parsers.parse('a session that client "{name}" follows'))
def follows(world: World, name: str) -> None:
    """Whether it has a chat is left open; if so it is the current one."""
    client = world.client(name)
    world.session = world.create_session(client)
    world.chat = default_chat(client.subscribe(world.session).state) or ""
    if world.chat:
        client.subscribe(world.chat)


@given("a session that nobody follows")
def nobody_follows(world: World) -> None:
    world.session = world.create_session(world.a)


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
    expect(
        code == -32001,
        f"{what} can be subscribed to, or the error is another one",
        expected="an error with code -32001",
        seen=reply.frame.msg,
        frame=reply.frame.n,
    )


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


@when(parsers.parse('client "{name}" dispatches to the disposed session and its chat'))
def dispatches_late(world: World, name: str) -> None:
    client = world.client(name)
    client.dispatch(world.session, {"type": "session/titleChanged", "title": "Too late"})
    client.dispatch(world.chat, {"type": "chat/draftChanged", "draft": {"text": "x", "origin": {"kind": "user"}}})
    # A host may look for the channel before it acts, and a ping would overtake that.
    for channel in (world.session, world.chat):
        client.call("subscribe", channel=channel)
    client.fence()


@when("the agent is told to go on in the disposed session")
def goes_on_late(world: World) -> None:
    world.go_on()
    world.a.fence()


@then("the session is ready, and that was said as often as it had to be")
def ready_once(world: World) -> None:
    """Once after a snapshot that said creating, never after one that said ready."""
    first = next(s for s in world.a.mailbox.snapshots if s.channel == world.session)
    owed = 1 if first.state.get("lifecycle") == "creating" else 0
    world.a.fence()
    outcomes = [e for e in world.a.envelopes(world.session) if e.type in ("session/ready", "session/creationFailed")]
    expect_equal(len(outcomes), owed, "the number of outcomes", frame=outcomes[-1].frame.n if outcomes else None)
    if outcomes and outcomes[0].type == "session/creationFailed":
        raise Unreached("precondition-failed", "the session could not be created")
    lifecycle = world.a.state(world.session).get("lifecycle")
    expect_equal(lifecycle, "ready", "the lifecycle", frame=world.a.mark)
