"""The status of a session while its chats are at work."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.protocol.status import is_status
from scenarios.expect import expect, expect_equal
from scenarios.world import HELD, World

_PLAYS: dict[str, list[dict[str, Any]]] = {
    "a turn that is held open": [{"say": "Working."}, {"pause": HELD}, {"say": "Done."}],
    "a turn that fails": [{"fail": {"errorType": "broken", "message": "It broke."}}],
    "a turn that waits for a confirmation": [{"call": {"tool": "shell", "confirm": True}}],
    "a turn that ends": [{"say": "Done."}],
}


@when(parsers.parse("{turn} runs in the {place} chat"))
@given(parsers.parse("{turn} has been started in the {place} chat"))
def runs(world: World, turn: str, place: str) -> None:
    """Start a turn and await that it is where its name says."""
    chat = world.chat if place == "default" else world.noted["second chat"]
    started = world.say(_PLAYS[turn], chat=chat)
    if turn in ("a turn that fails", "a turn that ends"):
        world.end_of_turn(chat=chat)
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


@then(parsers.parse("the session comes to be listed as not {flag}"))
def listed_without(world: World, flag: str) -> None:
    """By listSessions, or by the notification that follows: hosts may delay and merge those."""
    bit = {"read": 32, "archived": 64}[flag]
    if not (world.summary() or {}).get("status", bit) & bit:
        return
    world.a.await_notification(
        "root/sessionSummaryChanged",
        lambda p: (
            p.get("session") == world.session
            and isinstance(p.get("changes", {}).get("status"), int)
            and not p["changes"]["status"] & bit
        ),
        since=world.a.mark,
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
    summary = world.summary() or {}
    frame = world.stage.frames[-1].n
    times = [c.get("modifiedAt") for c in world.fresh(world.session).get("chats") or []]
    expect_equal(summary.get("modifiedAt"), max(times, default=None), "modifiedAt", frame=frame)
