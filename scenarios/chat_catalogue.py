"""The chats of a session, as its state lists them."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, then

from conformance.protocol.status import is_status
from scenarios.expect import expect, expect_equal
from scenarios.world import World, default_chat


@then("the chat is one flat object with its required members")
def flat_chat(world: World) -> None:
    state = world.noted["looked"]
    texts = all(isinstance(state.get(m), str) for m in ("title", "modifiedAt"))
    expect(
        state.get("resource") == world.chat
        and texts
        and isinstance(state.get("turns"), list)
        and is_status(state.get("status"))
        and "summary" not in state,
        "the chat state is not as it must be",
        expected="resource, title, status, modifiedAt, turns; no summary",
        seen=state,
        frame=world.noted["looked at"],
    )


def _catalogue(state: Any) -> list[str]:
    chats = state.get("chats")
    return [str(c.get("resource")) for c in chats if isinstance(c, dict)] if isinstance(chats, list) else []


@then("its catalogue has a chat that can be subscribed to")
def has_chat(world: World) -> None:
    chats = _catalogue(world.noted["looked"])
    expect(
        chats, "a ready session has no chat", expected="at least one chat", seen=chats, frame=world.noted["looked at"]
    )
    expect(
        world.fresh(chats[0]).get("resource") == chats[0],
        "the first chat cannot be followed",
        expected=chats[0],
        seen=None,
        frame=world.stage.frames[-1].n,
    )


@then("its default chat is one of the catalogue")
def default_in_catalogue(world: World) -> None:
    state = world.noted["looked"]
    expect(
        state.get("defaultChat") in _catalogue(state),
        "the default chat is missing, or is none of the chats",
        expected=_catalogue(state),
        seen=state.get("defaultChat"),
        frame=world.noted["looked at"],
    )


def _entry(world: World, state: Any) -> Any:
    return next((c for c in state.get("chats") or [] if c.get("resource") == world.chat), {})


@then("the entry of the chat comes to have the title and the status of the chat")
def entry_agrees(world: World) -> None:
    def agrees(state: Any) -> bool | None:
        entry = _entry(world, state)
        chat = world.a.state(world.chat)
        return all(entry.get(m) == chat.get(m) for m in ("title", "status")) or None

    world.a.await_state(world.session, "catalogue entry that agrees with the chat", agrees)
    seen, wanted = _compared(world)
    if seen != wanted:  # a title may have been found between the two snapshots
        seen, wanted = _compared(world)
    expect_equal(seen, wanted, "the entry of the chat", frame=world.stage.frames[-1].n)


def _compared(world: World) -> tuple[Any, Any]:
    """Title and status in the catalogue of a fresh snapshot, and in a fresh snapshot of the chat."""
    chat, session = world.fresh(world.chat), world.fresh(world.session)
    seen, wanted = ({m: s.get(m) for m in ("title", "status")} for s in (_entry(world, session), chat))
    return seen, wanted


@given("another session")
def another_session(world: World) -> None:
    """Subscribed to, and with a chat: a host may give it one only a little later."""
    other = world.noted["other session"] = world.create_session(world.a)
    world.a.subscribe(other)
    world.a.await_state(other, "a chat in the other session", default_chat)


@then("no chat is in both catalogues")
def disjoint(world: World) -> None:
    first = set(_catalogue(world.fresh(world.session)))
    second = set(_catalogue(world.fresh(world.noted["other session"])))
    expect(first and second, "a catalogue is empty", expected="a chat each", seen=[sorted(first), sorted(second)])
    expect_equal(sorted(first & second), [], "the chats in common", frame=world.stage.frames[-1].n)
