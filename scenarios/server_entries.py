"""What the entry of an MCP server says, and the calls that point to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_bdd import parsers, then

from conformance.client import NotClaimed
from conformance.protocol import violations
from scenarios.expect import expect, expect_equal
from scenarios.onlookers import customizations_in
from scenarios.server_requests import entry_before
from scenarios.server_states import Change, changes
from scenarios.servers import entry_in
from scenarios.world import World

# How a server is launched stays with the host (docs/guide/customizations.md > Children).
_LAUNCH = {"command", "args", "env", "headers"}


def shown(world: World, name: str) -> list[tuple[int, Any]]:
    """Each form in which the entry of the server was seen, with its frame: in actions and in a fresh snapshot."""
    found = []
    for envelope in world.a.envelopes(world.session):
        one, many = envelope.get("customization"), envelope.get("customizations")
        top = [one] if isinstance(one, dict) else many if isinstance(many, list) else []
        for entry in customizations_in({"customizations": top}):
            if entry.get("name") == name:
                found.append((envelope.frame.n, entry))
    fresh = [c for c in customizations_in(world.fresh(world.session)) if c.get("name") == name]
    found += [(world.stage.frames[-1].n, entry) for entry in fresh]
    expect(
        fresh,
        "the server is not listed",
        expected=f"an entry with the name {name}",
        seen="none",
        frame=world.stage.frames[-1].n,
    )
    return found


@then(parsers.parse('the entry of "{name}" has its type, an id, a URI, a name and a state'))
def is_complete(world: World, name: str) -> None:
    for frame, entry in shown(world, name):
        texts = all(isinstance(entry.get(m), str) and entry[m] for m in ("id", "uri", "name"))
        expect(
            entry.get("type") == "mcpServer" and texts and isinstance(entry.get("state"), dict),
            "the entry is incomplete",
            expected="type mcpServer, id, uri, name and state",
            seen=entry,
            frame=frame,
        )


@then(parsers.parse('the entry of "{name}" says whether it is enabled'))
def says_enabled(world: World, name: str) -> None:
    for frame, entry in shown(world, name):
        expect(
            isinstance(entry.get("enabled"), bool),
            "the entry has no flag",
            expected="a boolean enabled",
            seen=entry,
            frame=frame,
        )


@then(parsers.parse('the entry of "{name}" tells nothing of how it is launched'))
def tells_no_launch(world: World, name: str) -> None:
    for frame, entry in shown(world, name):
        told = sorted(_LAUNCH.intersection(_names(entry)))
        expect(
            not told, "the entry tells how the server is launched", expected="no launch details", seen=told, frame=frame
        )


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


@then(parsers.parse('the entry of "{name}" has the id that it had before'))
def same_id(world: World, name: str) -> None:
    world.a.fence()
    now = entry_in(world.fresh(world.session), name) or {}
    expect_equal(now.get("id"), entry_before(world, name)["id"], "the id of the server", frame=world.stage.frames[-1].n)


@then(parsers.parse('"{name}" is enabled as it was before'))
def same_enablement(world: World, name: str) -> None:
    world.a.fence()
    now, before = entry_in(world.fresh(world.session), name), entry_before(world, name)
    if now is None:
        raise NotClaimed("the host takes a stopped MCP server off the list")
    members = ("enabled", "enablement")
    expect_equal(
        {m: now.get(m) for m in members},
        {m: before.get(m) for m in members},
        "the enablement of the server",
        frame=world.stage.frames[-1].n,
    )


@then(parsers.parse('the call of "{tool}" is carried out'))
def carried_out(world: World, tool: str) -> None:
    call = world.await_call(("completed", "cancelled"), tool)
    expect(call.get("success") is True, "the call did not succeed", expected="success", seen=call, frame=world.a.mark)


@then(parsers.parse('the call of "{tool}" names the entry of "{name}" as its contributor'))
def names_contributor(world: World, tool: str, name: str) -> None:
    contributor = world.await_call(("completed", "cancelled"), tool).get("contributor")
    entry = entry_in(world.a.state(world.session), name) or {}
    expected = {"kind": "mcp", "customizationId": entry.get("id")}
    seen = {m: (contributor or {}).get(m) for m in expected}
    expect_equal(seen, expected, "the contributor of the call", frame=world.a.mark)


def _insist_stopped(world: World, name: str) -> None:
    """A host may grant a stop and have the server run again later, as long as it says so."""
    later = [c.kind for c in changes(world, name, world.noted["requested"]) if c.kind != "stopped"]
    if later:
        raise NotClaimed(f"the host did not leave the server stopped, it went on to {later[0]}")


def _calls_of(world: World, name: str) -> list[Any]:
    entry = entry_in(world.fresh(world.session), name) or entry_before(world, name)
    started = world.a.envelopes(world.chat, "chat/toolCallStart", since=world.noted["requested"])
    return [e for e in started if (e.get("contributor") or {}).get("customizationId") == entry["id"]]


@then(parsers.parse('no call of "{name}" was set going'))
def none_running(world: World, name: str) -> None:
    """Up to the end of the turn: a call of the server may have been begun, but it never came to run."""
    _insist_stopped(world, name)
    for call in _calls_of(world, name):
        ready = world.a.envelopes(world.chat, "chat/toolCallReady", toolCallId=call.get("toolCallId"))
        ran = next((e for e in ready if e.get("confirmed")), None)
        expect(
            ran is None,
            "a call runs at a server that is stopped",
            expected="no running call",
            seen=ran.message if ran else None,
            frame=ran.frame.n if ran else None,
        )


@then(parsers.parse('no call of "{name}" has succeeded'))
def none_succeeded(world: World, name: str) -> None:
    _insist_stopped(world, name)
    for done in world.a.envelopes(world.chat, "chat/toolCallComplete", since=world.noted["requested"]):
        expect(
            (done.get("result") or {}).get("success") is not True,
            "a stopped server has served the agent",
            expected="no successful call",
            seen=done.message,
            frame=done.frame.n,
        )


@then(parsers.parse('the error of "{name}" says what happened'))
def error_says(world: World, name: str) -> None:
    error = (entry_in(world.a.state(world.session), name) or {}).get("state", {}).get("error")
    said = isinstance(error, dict) and isinstance(error.get("errorType"), str)
    expect(
        said and isinstance(error.get("message"), str),
        "the error state explains nothing",
        expected="error with errorType and message",
        seen=error,
        frame=world.a.mark,
    )


@then(parsers.parse('every state of "{name}" has the members of its kind'))
def states_legal(world: World, name: str) -> None:
    entry = entry_in(world.fresh(world.session), name)
    snapshot = [Change(world.stage.frames[-1].n, "subscribe", (entry or {}).get("state"), None)]
    for change in changes(world, name) + snapshot:
        wrong = violations(world.version, "McpServerState", change.state)
        expect(
            not wrong,
            f"the state is not one of the five: {wrong[0].message if wrong else ''}",
            expected="McpServerState",
            seen=change.state,
            frame=change.frame,
        )
