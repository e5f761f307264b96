"""Sessions and their chats: bringing them about, and what their state says."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then

from conformance.protocol import needs_input
from scenarios.expect import activity, expect
from scenarios.world import World

ACTIVITIES = {"Idle": 1, "Error": 2, "InProgress": 8, "InputNeeded": 24}


@given("a session with one chat")
def one_chat(world: World) -> None:
    if "A" not in world.stage.clients:
        world.stage.join("A")
    world.open_session(world.a)


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


@then(parsers.re(r"the session's status (?P<no>no longer )?carries InputNeeded"))
def carries_input_needed(world: World, no: str | None) -> None:
    state = world.fresh(world.session)
    expect(
        needs_input(state.get("status", 0)) is (no is None),
        "the session still carries InputNeeded" if no else "the session does not carry InputNeeded",
        expected=f"status & 24 is {'not ' if no else ''}24",
        seen=f"status {state.get('status')!r}",
        frame=world.stage.frames[-1].n,
    )


@then(parsers.re(r"the session comes to be listed (?:with the status (?P<value>\w+)|as not (?P<flag>read|archived))"))
def listed_with(world: World, value: str | None, flag: str | None) -> None:
    """By the last notification since the turn began, or by listSessions, or by a notification still to come.

    A host may delay and merge the notifications.
    """

    def shows(status: Any) -> bool:
        if not isinstance(status, int):
            return False
        return status & 31 == ACTIVITIES[value] if value else not status & {"read": 32, "archived": 64}[str(flag)]

    def told(params: Any) -> bool:
        return params.get("session") == world.session and "status" in (params.get("changes") or {})

    asked, method = world.a.mark, "root/sessionSummaryChanged"
    sent = [n for n in world.a.mailbox.notifications if n.method == method and n.frame.n > world.began]
    last = [n.params["changes"]["status"] for n in sent if told(n.params)][-1:]
    if any(map(shows, last)) or shows((world.summary() or {}).get("status")):
        return
    world.a.await_notification(method, lambda p: told(p) and shows(p["changes"]["status"]), since=asked)
