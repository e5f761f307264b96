"""The moves of the playbook, as the reference host's agent plays them (docs/backend.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson

from . import auth, servers, upstream
from .auth import Block
from .channels import Server

if TYPE_CHECKING:
    from .agent import Condition, Steps, Turn

JSON = Any

_CONTINUE: Final = re.compile(r"continue (\S.*)")
_FINAL: Final = ("completed", "cancelled")
# Bounds what a wrong policy can do to a right loop; a right host comes around once per challenge.
_ROUNDS: Final = 8


def play(turn: Turn, move: JSON) -> Steps:
    """Play one move to its end."""
    ((name, body),) = move.items()
    if name == "say":
        say(turn, body)
    elif name == "think":
        part = turn.host.mint("part")
        turn.act("chat/responsePart", part={"kind": "reasoning", "id": part, "content": ""})
        turn.act("chat/reasoning", partId=part, content=body)
    elif name == "call":
        yield from together(turn, [call_tool(turn, spec) for spec in (body, *body.get("with", ()))])
    elif name == "mcp":
        yield from _start_server(turn, body)
    elif name == "ask":
        yield from _ask(turn, body)
    elif name == "fail":
        error = {"errorType": body.get("errorType", "agent-failed"), "message": body["message"]}
        turn.end("chat/error", error=error)
    elif name == "pause":
        yield lambda: _steering(turn) == body
        _remove_steering(turn)


def say(turn: Turn, text: str) -> None:
    """Stream a text as a markdown part."""
    part = turn.host.mint("part")
    turn.act("chat/responsePart", part={"kind": "markdown", "id": part, "content": ""})
    turn.act("chat/delta", partId=part, content=text)


def take_up_steering(turn: Turn) -> None:
    """Take a steering message into account between two moves, unless it is meant for a pause."""
    if turn.chat.state.get("steeringMessage") and _steering(turn) is None:
        _remove_steering(turn)


def failure(tool: str, message: str) -> JSON:
    """The result of a call that came to nothing."""
    return {"success": False, "pastTenseMessage": f"Could not finish {tool}", "error": {"message": message}}


def _steering(turn: Turn) -> str | None:
    """The name that a steering message `continue NAME` carries, None when there is no such message."""
    waiting = turn.chat.state.get("steeringMessage")
    found = _CONTINUE.fullmatch(waiting["message"]["text"].strip()) if waiting else None
    return found[1] if found else None


def _remove_steering(turn: Turn) -> None:
    waiting = turn.chat.state["steeringMessage"]
    turn.host.act(turn.chat, {"type": "chat/pendingMessageRemoved", "kind": "steering", "id": waiting["id"]})


def together(turn: Turn, calls: Iterable[Steps]) -> Steps:
    """Run several calls at once: each goes on when it can, and all have to end."""
    running: list[tuple[Steps, Condition | None]] = [(steps, None) for steps in calls]
    while running and not turn.over:
        waiting: list[tuple[Steps, Condition | None]] = []
        moved = False
        for steps, condition in running:
            if condition is not None and not condition():
                waiting.append((steps, condition))
                continue
            moved = True
            condition = next(steps, None)
            if condition is not None:
                waiting.append((steps, condition))
        running = waiting
        if running and not moved:
            conditions = [condition for _, condition in running if condition is not None]
            yield lambda conditions=conditions: any(condition() for condition in conditions)  # type: ignore[misc]


class Call:
    """One tool call of a turn, seen through the state."""

    def __init__(self, turn: Turn, spec: JSON) -> None:
        self.turn = turn
        self.id = turn.host.mint("call")
        self.tool: str = spec["tool"]
        self.input = orjson.dumps(spec.get("input", {})).decode()

    @property
    def state(self) -> JSON:
        return self.turn.chat.call(self.turn.id, self.id) or {"status": "cancelled"}

    @property
    def status(self) -> str:
        return str(self.state["status"])

    def act(self, kind: str, **members: JSON) -> None:
        self.turn.act(kind, toolCallId=self.id, **members)

    def fail(self, message: str) -> None:
        self.act("chat/toolCallComplete", result=failure(self.tool, message))


def call_tool(turn: Turn, spec: JSON, call: Call | None = None) -> Steps:
    """One tool call from its start to its end. call: what it is seen through, for whoever wants to look at its end."""
    host, session = turn.host, turn.chat.session
    server = None
    contributor: JSON = None
    if "server" in spec:
        server = servers.ready_for_calls(host, session, spec["server"])
        if server is None:
            say(turn, f"The tool {spec['tool']} of {spec['server']} is not available.")
            return
        contributor = {"kind": "mcp", "customizationId": server.id}
    elif "client" in spec:
        if not session.has_client(spec["client"]):
            say(turn, f"The client that provides the tool {spec['tool']} is not here.")
            return
        contributor = {"kind": "client", "clientId": spec["client"]}
    call = call or Call(turn, spec)
    owner = {} if contributor is None else {"contributor": contributor}
    call.act("chat/toolCallStart", toolName=call.tool, displayName=call.tool, **owner)
    call.act("chat/toolCallDelta", content=call.input)
    message = f"Calling {call.tool}"
    if spec.get("confirm"):
        call.act(
            "chat/toolCallReady",
            invocationMessage=message,
            toolInput=call.input,
            confirmationTitle=f"Run {call.tool}?",
            editable=spec.get("editable", False),
            options=[
                {"id": "once", "label": "Allow once", "kind": "approve"},
                {"id": "never", "label": "Do not run", "kind": "deny"},
            ],
        )
        yield lambda: call.status != "pending-confirmation"
    else:
        call.act("chat/toolCallReady", invocationMessage=message, toolInput=call.input, confirmed="not-needed")
    if "client" in spec:
        yield from _wait_for_client(turn, call, spec["client"])
        return
    if call.status != "running":
        return  # somebody decided against it
    if "partial" in spec:
        call.act("chat/toolCallContentChanged", content=[{"type": "text", "text": spec["partial"]}])
    if server is not None:
        yield from _meet_challenges(turn, call, server, spec.get("challenges", ()))
        if call.status != "running":
            return
        if not host.policy.serves(session.server_state(server)):
            call.fail(f"the MCP server {server.name} is stopped")
            return
        upstream.call(host, _resource(server, spec), call.tool, passed=True)
    if "fails" in spec:
        call.fail(spec["fails"])
        return
    ran_with = host.policy.executed_input(call.state, call.input)
    result = {
        "success": True,
        "pastTenseMessage": f"Called {call.tool}",
        "content": [{"type": "text", "text": spec.get("result", ran_with)}],
    }
    if spec.get("confirm_result"):
        call.act("chat/toolCallComplete", result=result, requiresResultConfirmation=True)
        yield lambda: call.status in _FINAL
    else:
        call.act("chat/toolCallComplete", result=result)


def _resource(server: Server, spec: JSON) -> str | None:
    challenges = spec.get("challenges") or ()
    return str(challenges[-1]["resource"]) if challenges else server.resource


def _wait_for_client(turn: Turn, call: Call, client_id: str) -> Steps:
    """The owner of the tool runs it; the host only sees to it that the call ends."""
    if call.status == "running" and not turn.chat.session.has_client(client_id):
        call.fail("the client that runs this tool has left")
    yield lambda: call.status in _FINAL


def _meet_challenges(turn: Turn, call: Call, server: Server, challenges: Iterable[JSON]) -> Steps:
    """Send the request upstream until no challenge is left; each unmet one blocks the call."""
    host = turn.host
    count = 0
    for challenge in challenges:
        for _ in range(_ROUNDS):
            reason = auth.refusal(host, challenge)
            if reason is None:
                break
            upstream.call(host, challenge["resource"], call.tool, passed=False)
            if not host.policy.surfaces_challenge(turn, count):
                call.fail("the MCP server refused the request: unauthorized")
                return
            count += 1
            block = Block(
                turn.chat.session,
                challenge,
                chat=turn.chat,
                turn_id=turn.id,
                call_id=call.id,
                server_name=server.name,
                starter=turn.starter,
            )
            host.vault.wait(block)
            call.act("chat/toolCallAuthRequired", auth=auth.requirement(challenge, reason, server.name))
            if not host.policy.waits_for_token(turn):
                turn.end("chat/error", error={"errorType": "unauthorized", "message": "authorization needed"})
                return
            yield partial(_is_over, turn, call, block)
            if call.status != "running":
                return


def _is_over(turn: Turn, call: Call, block: Block) -> bool:
    """Whether the wait for a token is over: one was accepted, or somebody ended the call."""
    ended = call.status not in ("running", "auth-required")
    return block.released or (ended and turn.host.policy.notices_end_of_call())


def _start_server(turn: Turn, body: JSON) -> Steps:
    host, session = turn.host, turn.chat.session
    server = servers.named(host, session, body["server"])
    servers.raised_by(turn, server)
    server.challenge = body.get("challenge")
    server.fails = body.get("fails")
    server.resource = body.get("resource") or (server.challenge or {}).get("resource") or server.resource
    servers.start(host, session, server)
    if body.get("wait", True):
        yield lambda: session.server_state(server) not in ("starting", "authRequired")


def _ask(turn: Turn, body: JSON) -> Steps:
    request = {"id": turn.host.mint("request"), **body}
    turn.act("chat/inputRequested", request=request)
    yield lambda: all(question["id"] != request["id"] for question in turn.chat.questions())
    active = turn.chat.active
    for part in active["responseParts"] if active else ():
        if part["kind"] == "inputRequest" and part["request"]["id"] == request["id"]:
            answers = orjson.dumps(part["request"].get("answers", {})).decode()
            say(turn, f"The answer was {part.get('response')}: {answers}")
            return
