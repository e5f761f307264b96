"""What the state of a session and its entry in the list say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.protocol.status import is_status
from scenarios.expect import expect, expect_equal
from scenarios.world import World

# What a creation that failed is called: the old name up to 0.8.0, then the new one.
_FAILED = ("creationFailed", "failed")
FLAGS = {"read": ("session/isReadChanged", "isRead", 32), "archived": ("session/isArchivedChanged", "isArchived", 64)}


@given(parsers.re(r'client "(?P<name>[^"]+)" (?:puts|has put) a message to the agent'))
@when(parsers.re(r'client "(?P<name>[^"]+)" (?:puts|has put) a message to the agent'))
def message_played(world: World, name: str) -> None:
    """A message of the user as every host must take it, up to the end of its turn, whichever way it ends."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    seq = world.start_turn("Please answer with one word.", client=name, startedAt=now)
    echo = world.client(name).echo(seq)
    if not echo.accepted:
        raise Unreached("precondition-failed", f"the host takes no message: {echo.rejection!r}")
    world.end_of_turn(client=name)


@given("the session is listed")
def is_listed(world: World) -> None:
    """A host may list a session only once its first turn has begun, so it gets one when it does not."""
    if world.summary() is None:
        message_played(world, "A")
    world.noted["listed session"] = world.summary()
    if world.noted["listed session"] is None:
        raise Unreached("precondition-failed", "the host does not list the session, even after its first turn")


@given("the session is ready")
def is_ready(world: World) -> None:
    """A host may take until the first turn, so it gets one when it is not; without a chat it is waited for."""
    if world.a.state(world.session).get("lifecycle") != "ready" and world.chat:
        message_played(world, "A")
    world.a.await_state(
        world.session, "lifecycle ready", lambda state: state.get("lifecycle") in ("ready", *_FAILED) or None
    )
    if world.a.state(world.session).get("lifecycle") != "ready":
        raise Unreached("precondition-failed", "the session could not be created")


@given(parsers.parse("the session is marked {flag}"))
def is_marked(world: World, flag: str) -> None:
    kind, member, bit = FLAGS[flag]
    world.a.act(world.session, {"type": kind, member: True})
    world.noted["status"] = status = world.fresh(world.session).get("status")
    if not isinstance(status, int) or not status & bit:
        raise Unreached("precondition-failed", f"the session does not become {flag}: status {status!r}")


@then("a fresh snapshot has every member that a session must have")
def required_members(world: World) -> None:
    state = world.fresh(world.session)
    texts = all(isinstance(state.get(m), str) for m in ("provider", "title", "lifecycle"))
    lists = all(isinstance(state.get(m), list) for m in ("activeClients", "chats"))
    expect(
        texts and lists and is_status(state.get("status")),
        "the session state is incomplete",
        expected="provider, title, status, lifecycle, activeClients, chats",
        seen=state,
        frame=world.stage.frames[-1].n,
    )


@then(parsers.parse("the provider is that of the request in {where}"))
def provider_kept(world: World, where: str) -> None:
    shown = world.fresh(world.session) if where == "a fresh snapshot" else world.noted["listed session"]
    expect_equal(shown.get("provider"), world.provider, "the provider", frame=world.stage.frames[-1].n)


@then("the list names the session by the URI that the client chose")
def listed_by_uri(world: World) -> None:
    expect(
        world.summary() is not None,
        "the session is not in the list",
        expected=world.session,
        seen=None,
        frame=world.stage.frames[-1].n,
    )


@then("its times in the list are ISO 8601 texts")
def times_are_iso(world: World) -> None:
    summary = world.summary() or {}
    for member in ("createdAt", "modifiedAt"):
        expect(
            instant(summary.get(member)) is not None,
            f"{member} is no ISO 8601 text",
            expected="YYYY-MM-DDThh:mm:ss…Z",
            seen=summary.get(member),
            frame=world.stage.frames[-1].n,
        )


def instant(value: Any) -> datetime | None:
    """The point in time that an ISO 8601 text gives; None for anything else. Without an offset UTC is meant."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) and "T" in value else None
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC) if moment is not None else None


@then("its time of creation has always been the same")
def same_creation(world: World) -> None:
    """From the first announcement or list on; a session that is created anew counts as another one."""
    told = [
        n.params.get("summary", {}).get("createdAt")
        for n in world.a.mailbox.notifications
        if n.method == "root/sessionAdded" and n.params.get("summary", {}).get("resource") == world.session
    ]
    told += [shown.get("createdAt") for shown in (world.noted["listed session"], world.summary() or {})]
    same = len({instant(t) or repr(t) for t in told}) == 1
    expect(same, "the time of creation changes", expected=told[0], seen=told, frame=world.stage.frames[-1].n)


@when(parsers.parse('client "{name}" {verb} the flag {flag}'))
def switches(world: World, name: str, verb: str, flag: str) -> None:
    kind, member, _ = FLAGS[flag]
    client = world.client(name)
    number = client.dispatch(world.session, {"type": kind, member: {"sets": True, "clears": False}[verb]})
    world.noted["switch"] = (client, number)


@then(parsers.re(r"(?P<where>a fresh snapshot|the list) shows it (?P<flags>.+), and otherwise as before"))
def shows_flags(world: World, where: str, flags: str) -> None:
    """The whole status is compared below bit 128; what higher bits mean is not known."""
    client, number = world.noted["switch"]
    client.echo(number)
    set_ = sum(bit for flag, (_, _, bit) in FLAGS.items() if f"not {flag}" not in flags)
    wanted = (world.noted["status"] & 31) + set_
    shown = world.fresh(world.session) if where == "a fresh snapshot" else world.summary()
    status = (shown or {}).get("status")
    seen = status & 127 if isinstance(status, int) else status
    expect_equal(seen, wanted, "the status", frame=world.stage.frames[-1].n)
