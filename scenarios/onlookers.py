"""What clients see that come later, or that watch from elsewhere."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.protocol import ROOT_URI, violations
from scenarios.blocked_calls import fresh_call
from scenarios.entries import for_call
from scenarios.expect import activity, expect, expect_equal, expect_no_origin
from scenarios.sessions import ACTIVITIES
from scenarios.world import HELD, World, calls_in


@when(parsers.parse("another client looks at the {what}"))
def looks(world: World, what: str) -> None:
    channels = {"root": ROOT_URI, "session": world.session, "chat": world.chat}
    world.noted["looked"] = world.fresh(channels[what])
    world.noted["looked at"] = world.stage.frames[-1].n


def _found_call(world: World, state: Any) -> Any:
    call_id = world.calls[world.tool]
    found = next((c for c in calls_in(state) if c.get("toolCallId") == call_id), None)
    expect(
        found is not None,
        "the call is not there",
        expected=f"a call {call_id}",
        seen=state,
        frame=world.noted["looked at"],
    )
    return found


@then("the turn is still active and contains the blocked call")
def still_active(world: World) -> None:
    turn = world.noted["looked"].get("activeTurn")
    expect_equal((turn or {}).get("id"), world.turn, "the active turn", frame=world.noted["looked at"])
    call = _found_call(world, {"activeTurn": turn})
    expect_equal(call.get("status"), "auth-required", "the status of the call", frame=world.noted["looked at"])


@then("it finds the call auth-required, with the server that contributes it and the challenge")
def finds_challenge(world: World) -> None:
    call = _found_call(world, world.noted["looked"])
    contributor = call.get("contributor")
    expect(
        call.get("status") == "auth-required"
        and isinstance(contributor, dict)
        and contributor.get("kind") == "mcp"
        and isinstance(contributor.get("customizationId"), str)
        and call.get("auth") == world.noted["auth"]
        and "invocationMessage" in call
        and "confirmed" in call,
        "the blocked call is not complete in the snapshot",
        expected={"status": "auth-required", "contributor": {"kind": "mcp"}, "auth": world.noted["auth"]},
        seen=call,
        frame=world.noted["looked at"],
    )


@then(parsers.parse('the blocked call still shows "{text}"'))
def still_shows(world: World, text: str) -> None:
    _shows(world, _found_call(world, world.noted["looked"]), text)


@then(parsers.parse('the ended call still shows "{text}"'))
def ended_shows(world: World, text: str) -> None:
    _shows(world, fresh_call(world), text)


def _shows(world: World, call: Any, text: str) -> None:
    content = "".join(block.get("text", "") for block in call.get("content") or [])
    expect(
        text in content,
        "what the call had put out is lost",
        expected=text,
        seen=call,
        frame=world.stage.frames[-1].n,
    )


@then("the server of the call is listed in one of its legal states")
def server_listed(world: World) -> None:
    call = world.noted["call"]
    wanted = (call.get("contributor") or {}).get("customizationId")
    server = next((c for c in customizations_in(world.noted["looked"]) if c.get("id") == wanted), None)
    kind = ((server or {}).get("state") or {}).get("kind")
    wrong = violations(world.version, "McpServerState", {"kind": kind})
    expect(
        all(violation.path != "$.kind" for violation in wrong),
        "the server of the blocked call is not listed with a state",
        expected="an mcpServer customization with a state",
        seen=server,
        frame=world.noted["looked at"],
    )


def customizations_in(state: Any) -> list[Any]:
    """The customizations of a session, containers and what they contain."""
    top = state.get("customizations") or []
    return [*top, *(child for c in top for child in c.get("children") or [])]


@then("neither the challenge nor its resolution names a client as origin")
def no_origin(world: World) -> None:
    for kind in ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved"):
        expect_no_origin(world.a.envelopes(world.chat, kind))


@then("it finds no toolConfirmation entry for the call")
def no_confirmation_entry(world: World) -> None:
    found = [e for e in world.entries("toolConfirmation", state=world.noted["looked"]) if for_call(world, e)]
    expect(
        not found,
        "the blocked call is offered for approval",
        expected="no such entry",
        seen=found,
        frame=world.noted["looked at"],
    )


@then("it finds the entry of the call")
def finds_entry(world: World) -> None:
    found = [e for e in world.entries("toolAuthentication", state=world.noted["looked"]) if for_call(world, e)]
    expect_equal(len(found), 1, "the number of entries for the call", frame=world.noted["looked at"])


@then(parsers.parse('client "{name}" comes to see the session listed with the status {value}'))
def sees_listed(world: World, name: str, value: str) -> None:
    client = world.client(name)
    summary = world.summary(name)
    if summary is not None and activity(summary) == ACTIVITIES[value]:
        return
    client.await_notification(
        "root/sessionSummaryChanged",
        lambda p: p.get("session") == world.session and activity(p.get("changes")) == ACTIVITIES[value],
    )


@given(parsers.parse('client "{name}" sees the entry of the call'))
def sees_entry(world: World, name: str) -> None:
    world.noted["entry"] = world.await_entry("toolAuthentication", lambda e: for_call(world, e), client=name)


@given(parsers.parse('client "{name}" has started a turn in which the call of "{tool}" of "{server}" is blocked'))
def started_by(world: World, name: str, tool: str, server: str) -> None:
    world.tool = tool
    world.say([world.call_move(tool, server), {"pause": HELD}, {"say": "Done."}], client=name)
    entry = world.await_entry("toolAuthentication", lambda e: e.get("turnId") == world.turn, client=name)
    world.calls[tool] = entry["toolCall"]["toolCallId"]
    world.noted["entry"] = entry
    if entry.get("chat") != world.chat:
        raise Unreached("precondition-failed", f"the entry names the chat {entry.get('chat')!r}")


@then(parsers.parse('client "{name}" sees the entry go'))
def sees_entry_go(world: World, name: str) -> None:
    world.client(name).await_state(
        world.session,
        "removal of the entry of the call",
        lambda state: not any(for_call(world, e) for e in world.entries(state=state)) or None,
    )
