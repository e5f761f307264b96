"""The tools that the agent offers to its model: its own, those of clients, and those of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.host import moves
from conformance.host.agent import Condition
from conformance.host.moves import Call

from .errands import Errand
from .servers import RealServer, release, show
from .signing import Wait, requirement, stored
from .upstream import Answer, Challenge, UpstreamError

if TYPE_CHECKING:
    from .turns import AgentTurn

JSON = Any
Told = Generator[Condition, None, str]
"""Steps that end with what the model is told of the call."""

_EXIT = re.compile(r"\s*exit\s+(\d+)\s*")
_ANYTHING: JSON = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool. function: as Chat Completions wants it; run: performs a call with these arguments."""

    function: JSON
    run: Callable[[AgentTurn, JSON], Told]


def offered(turn: AgentTurn) -> dict[str, Offer]:
    """All tools that there are now, by the name that the model knows them by."""
    session = turn.chat.session
    found = {
        "shell": _offer("shell", "Runs a command.", _texts("command"), _shell),
        "ask_user": _offer("ask_user", "Asks the user.", _texts("question", choices={"type": "array"}), _ask_user),
    }
    for client in session.state["activeClients"]:
        for tool in client["tools"]:
            schema = tool.get("inputSchema") or _ANYTHING
            run = partial(_of_client, client["clientId"], tool["name"])
            found[tool["name"]] = _offer(tool["name"], tool.get("description", ""), schema, run)
    for server in session.servers.values():
        if isinstance(server, RealServer) and turn.host.policy.offers_tools(session.server_state(server)):
            for tool in server.connection.tools:
                name = f"{server.name}-{tool['name']}"
                run = partial(_of_server, server, tool["name"])
                found[name] = _offer(name, tool.get("description", ""), tool.get("inputSchema", _ANYTHING), run)
    return found


def _offer(name: str, description: str, schema: JSON, run: Callable[[AgentTurn, JSON], Told]) -> Offer:
    return Offer({"name": name, "description": description, "parameters": schema}, run)


def _texts(*names: str, **more: JSON) -> JSON:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names} | more}


def _told(call: Call) -> str:
    """What came of a call, as the model is told."""
    state = call.state
    if state["status"] != "completed":
        return "The call was not carried out."
    if not state.get("success"):
        return f"The call failed: {(state.get('error') or {}).get('message', '')}"
    return "\n".join(block.get("text", "") for block in state.get("content") or [])


# -- the agent's own ------------------------------------------------------------------------------------------


def _shell(turn: AgentTurn, arguments: JSON) -> Told:
    """Plays a shell. Only what does no harm goes without a question, and nothing of it reaches a real one."""
    command = str(arguments.get("command", ""))
    spec: JSON = {"tool": "shell", "input": arguments}
    if command.startswith("echo "):
        spec["result"] = command.removeprefix("echo ")
    elif ends := _EXIT.fullmatch(command):
        spec["fails"] = f"the command ended with exit code {ends[1]}"
    else:
        spec |= {"confirm": True, "result": f"ran {command}"}
    return _played(turn, spec)


def _of_client(client_id: str, tool: str, turn: AgentTurn, arguments: JSON) -> Told:
    """What happens at a client is asked for, as the agent cannot know what it does there."""
    return _played(turn, {"tool": tool, "client": client_id, "input": arguments, "confirm": True})


def _played(turn: AgentTurn, spec: JSON) -> Told:
    """A call whose way is that of the reference host's moves."""
    call = Call(turn, spec)
    yield from moves.call_tool(turn, spec, call)
    return _told(call)


def _ask_user(turn: AgentTurn, arguments: JSON) -> Told:
    text, choices = str(arguments.get("question", "")), arguments.get("choices") or []
    question: JSON = {"kind": "text", "id": turn.host.mint("question"), "message": text, "required": True}
    if choices:
        question |= {"kind": "single-select", "options": [{"id": choice, "label": choice} for choice in choices]}
    request = {"id": turn.host.mint("request"), "message": text, "questions": [question]}
    turn.act("chat/inputRequested", request=request)
    yield lambda: all(asked["id"] != request["id"] for asked in turn.chat.questions())
    for part in (turn.chat.active or {}).get("responseParts", ()):
        if part["kind"] == "inputRequest" and part["request"]["id"] == request["id"]:
            return f"{part.get('response')}: {part['request'].get('answers', {})}"
    return "There was no answer."


# -- those of MCP servers ---------------------------------------------------------------------------------------


def _of_server(server: RealServer, tool: str, turn: AgentTurn, arguments: JSON) -> Told:
    call = Call(turn, {"tool": f"{server.name}-{tool}", "input": arguments})
    contributor = {"kind": "mcp", "customizationId": server.id}
    call.act("chat/toolCallStart", toolName=call.tool, displayName=tool, contributor=contributor)
    call.act("chat/toolCallDelta", content=call.input)
    ready = {"invocationMessage": f"Calling {tool} of {server.name}", "toolInput": call.input}
    call.act("chat/toolCallReady", **ready, confirmed="not-needed")
    try:
        first = Errand(turn, lambda _: _first(turn, server, tool, arguments))
        yield from first.wait()
        reply = first.outcome()
        while isinstance(reply, Challenge) and call.status == "running":
            wait = _block(turn, call, server, reply, partial(server.connection.call, tool, arguments))
            try:
                yield partial(_is_over, call, wait)
            finally:
                release(turn.host, turn.chat.session, server)
            if not wait.released:
                break
            reply = wait.reply
        if isinstance(reply, Answer):
            answer = reply
            rest = Errand(turn, lambda _: answer.read())
            yield from rest.wait()
            if call.status == "running":
                _complete(call, tool, rest.outcome())
    except UpstreamError as error:
        if call.status == "running":
            call.fail(str(error))
    return _told(call)


async def _first(turn: AgentTurn, server: RealServer, tool: str, arguments: JSON) -> Answer | Challenge:
    """Make the call with the token that is there for the server, once that is known to be one for its resource."""
    token = turn.host.token_for(server)
    reply = await server.connection.call(tool, arguments, token)
    if isinstance(reply, Challenge):
        server.resource = reply.resource
        held = turn.host.token_for(server)
        if held is not None and held != token:
            return await server.connection.call(tool, arguments, held)
    return reply


def _block(turn: AgentTurn, call: Call, server: RealServer, told: Challenge, attempt: Callable[[str], Any]) -> Wait:
    """Have the call wait for a token."""
    wait = Wait(
        turn.chat.session,
        stored(told),
        chat=turn.chat,
        turn_id=turn.id,
        call_id=call.id,
        server_name=server.name,
        starter=turn.starter,
        told=told,
        attempt=attempt,
        behind=server,
    )
    turn.host.vault.wait(wait)
    auth = requirement(told, server.oauth_client)
    call.act("chat/toolCallAuthRequired", auth=auth)
    show(turn.host, turn.chat.session, server, {"kind": "authRequired", **auth})
    return wait


def _is_over(call: Call, wait: Wait) -> bool:
    return wait.released or call.status != "auth-required"


def _complete(call: Call, tool: str, result: JSON) -> None:
    blocks = [{"type": "text", "text": block.get("text", block["type"])} for block in result.get("content", ())]
    if result.get("isError"):
        call.fail("\n".join(block["text"] for block in blocks))
        return
    done = {"success": True, "pastTenseMessage": f"Called {tool}", "content": blocks}
    call.act("chat/toolCallComplete", result=done)
