"""Sessions and their chats: bringing them about, and what their state says."""

from __future__ import annotations

from pytest_bdd import given, parsers, then

from conformance.protocol import ROOT_URI, needs_input
from scenarios.expect import activity, expect
from scenarios.world import World

ACTIVITIES = {"Idle": 1, "Error": 2, "InProgress": 8, "InputNeeded": 24}


@given("a session with one chat")
def one_chat(world: World) -> None:
    if "A" not in world.stage.clients:
        world.stage.join("A")
    world.open_session(world.a)


@given(parsers.parse('client "{name}" watches the root'))
def watches_root(world: World, name: str) -> None:
    world.client(name).subscribe(ROOT_URI)


@then(parsers.parse("a fresh snapshot of the {what} shows the status {value}"))
def fresh_status(world: World, what: str, value: str) -> None:
    state = world.fresh(world.session if what == "session" else world.chat)
    expect(
        activity(state) == ACTIVITIES[value],
        f"the {what} does not show {value}",
        expected=f"status & 31 is {ACTIVITIES[value]}",
        seen=f"status {state.get('status')!r}",
        frame=world.stage.frames[-1].n,
    )


@then("the session's status carries InputNeeded")
def carries_input_needed(world: World) -> None:
    state = world.fresh(world.session)
    expect(
        needs_input(state.get("status", 0)),
        "the session does not carry InputNeeded",
        expected="status & 24 is 24",
        seen=f"status {state.get('status')!r}",
        frame=world.stage.frames[-1].n,
    )


@then("the session's status no longer carries InputNeeded")
def carries_no_input_needed(world: World) -> None:
    state = world.fresh(world.session)
    expect(
        not needs_input(state.get("status", 0)),
        "the session still carries InputNeeded",
        expected="status & 24 is not 24",
        seen=f"status {state.get('status')!r}",
        frame=world.stage.frames[-1].n,
    )


@then(parsers.parse("the session comes to be listed with the status {value}"))
def listed_with(world: World, value: str) -> None:
    """By notification or by listSessions: hosts may delay and merge the former."""
    client = world.a
    told = [
        n.params.get("changes", {}).get("status")
        for n in client.mailbox.notifications
        if n.method == "root/sessionSummaryChanged" and n.params.get("session") == world.session
    ]
    if any(isinstance(s, int) and s & 31 == ACTIVITIES[value] for s in told[-1:]):
        return
    summary = world.summary()
    if summary is not None and activity(summary) == ACTIVITIES[value]:
        return
    client.await_notification(
        "root/sessionSummaryChanged",
        lambda p: p.get("session") == world.session and activity(p.get("changes")) == ACTIVITIES[value],
        since=client.mark,
    )
