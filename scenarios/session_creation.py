"""How sessions come and go."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.protocol import ROOT_URI
from scenarios.expect import expect, expect_equal, expect_error, expect_success
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
    expect_success(client.answer(created), "createSession")
    expect_success(answer(world), "the subscribe right behind it")


@given(parsers.re(r'a session that (?:nobody|client "(?P<name>[^"]+)") follows'))
def follows(world: World, name: str | None) -> None:
    """Whether it has a chat is left open; if so it is the current one of who follows."""
    client = world.client(name or "A")
    world.session = world.create_session(client)
    if name is None:
        return
    world.chat = default_chat(client.subscribe(world.session).state) or ""
    if world.chat:
        client.subscribe(world.chat)


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


@then(parsers.re(r'client "(?P<name>[^"]+)" (?P<can>can|cannot) subscribe to (?P<what>.+)'))
def can_subscribe(world: World, name: str, can: str, what: str) -> None:
    """Whatever the error is: the code for a missing session is a recommendation (AHP-SUB-025)."""
    uri = world.noted["asked session"] if what == "the new session" else channel_of(world, what)
    reply = world.client(name).call("subscribe", channel=uri)
    if can == "cannot":
        expect_error(reply, what=f"the subscription to {what}")
        return
    result = expect_success(reply, f"the subscription to {what}")
    snapshot = result.get("snapshot") if isinstance(result, dict) else None
    seen = snapshot.get("resource") if isinstance(snapshot, dict) else snapshot
    expect_equal(seen, uri, "the URI of the snapshot", frame=reply.frame.n)


@then("the session keeps its title")
def keeps_title(world: World) -> None:
    answer(world)
    state = world.fresh(world.session)
    expect_equal(state.get("title"), world.noted["echo"].get("title"), "the title", frame=world.stage.frames[-1].n)


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
    expect(
        codes == [-32003],
        "both clients have the session" if not codes else "the rival is not refused as it must be",
        expected="one result and one error with code -32003",
        seen=[r.frame.msg for r in replies],
        frame=max(r.frame.n for r in replies),
    )


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
