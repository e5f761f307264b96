"""The status of a session while its chats are at work."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Silent, Unreached
from conformance.protocol.status import is_status
from scenarios.expect import expect, expect_equal
from scenarios.session_states import instant
from scenarios.world import HELD, World

# What a turn does. While one is held open, the agent waits for a step to let it go on.
_PLAYS: dict[str, list[dict[str, Any]]] = {
    "a turn that is held open": [{"say": "Working."}, {"pause": HELD}, {"say": "Done."}],
    "a turn that fails": [{"fail": {"errorType": "broken", "message": "It broke."}}],
    "a turn that waits for a confirmation": [{"call": {"tool": "shell", "confirm": True}}],
}


@when(parsers.re(r"(?P<turn>a turn that .+) (?:runs|has been started) in the (?P<place>default|second) chat"))
@given(parsers.re(r"(?P<turn>a turn that .+) (?:runs|has been started) in the (?P<place>default|second) chat"))
def runs(world: World, turn: str, place: str) -> None:
    """Start a turn and await that it is where its name says.

    Without a default chat the one modified last decides for the session, so nothing is said of work in another one.
    """
    chat = world.chat if place == "default" else world.noted["second chat"]
    if chat != world.chat and "defaultChat" not in world.a.state(world.session):
        raise Unreached("precondition-failed", "the session names no default chat")
    started = world.say(_PLAYS[turn], chat=chat)
    if turn == "a turn that fails":
        end = world.end_of_turn(chat=chat)
        if end.type != "chat/error":
            raise Unreached("precondition-failed", f"the turn was to fail and ended with {end.type}")
        return
    world.a.await_state(chat, "the turn under way", lambda state: _under_way(state, started, turn))


def _under_way(state: Any, started: str, turn: str) -> bool | None:
    active = state.get("activeTurn") or {}
    if active.get("id") != started:
        return None
    needs = any(
        (p.get("toolCall") or {}).get("status") == "pending-confirmation" for p in active.get("responseParts") or []
    )
    return True if needs or "confirmation" not in turn else None


@then("a fresh snapshot of the session shows a legal status")
def legal_status(world: World) -> None:
    """Of the session, of each chat of its catalogue, and of the chat itself."""
    session, chat = world.fresh(world.session), world.fresh(world.chat)
    seen = [session.get("status"), chat.get("status"), *(c.get("status") for c in session.get("chats") or [])]
    expect(
        all(is_status(s) for s in seen),
        "a status is not one activity value with flags",
        expected="status & 31 is 1, 2, 8 or 24",
        seen=seen,
        frame=world.stage.frames[-1].n,
    )


@then("every status of the session still says that it is archived")
def stays_archived(world: World) -> None:
    told = [
        n.params["changes"]["status"]
        for n in world.a.mailbox.notifications
        if n.frame.n > world.began
        and n.method == "root/sessionSummaryChanged"
        and n.params.get("session") == world.session
        and "status" in n.params.get("changes", {})
    ]
    seen = [*told, (world.summary() or {}).get("status"), world.fresh(world.session).get("status")]
    expect(
        all(isinstance(s, int) and s & 64 for s in seen),
        "the archived flag is lost",
        expected="bit 64 set",
        seen=seen,
        frame=world.stage.frames[-1].n,
    )


@then("the session in the list is as old as its youngest chat")
def modified_with_chats(world: World) -> None:
    """Compared as points in time, because the text leaves open how they are written."""
    latest = instant(world.fresh(world.chat).get("modifiedAt"))
    with suppress(Silent):
        # A session may tell of its chats a moment after them.
        world.a.await_state(
            world.session,
            "catalogue as young as the chat",
            lambda state: any(instant(c.get("modifiedAt")) == latest for c in state.get("chats") or []) or None,
        )
    summary = world.summary() or {}
    frame = world.stage.frames[-1].n
    times = [instant(c.get("modifiedAt")) for c in world.fresh(world.session).get("chats") or []]
    if not times or None in times:
        raise Unreached("precondition-failed", "the chats of the session have no times of modification")
    expect_equal(instant(summary.get("modifiedAt")), max(t for t in times if t), "modifiedAt", frame=frame)
