"""A turn of the agent: it asks its model, runs the tools that the model wants, and goes on until the model ends."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from conformance.host import agent, moves, servers
from conformance.host.agent import Condition, Steps

from .errands import Errand
from .flaws import DIES, IGNORES_PLAYBOOK
from .model import ModelError, Piece, Reply, Wanted, ask
from .servers import RealServer, connect
from .tools import Offer, offered

if TYPE_CHECKING:
    from .host import AgentHost

JSON = Any

_SYSTEM = "You are a small agent. You do what the user asks, with the tools that you have."
_REMINDER = "Use several tools at once where they do not depend on each other."
# Servers that a turn looks after when it begins; what is stopped or has failed is up to the user.
_IN_USE = ("starting", "ready", "authRequired")


class AgentTurn(agent.Turn):
    """A turn that a model leads."""

    host: AgentHost

    def _perform(self, text: str) -> Steps:
        if self.host.flaw == IGNORES_PLAYBOOK:
            moves.say(self, "ok")
            self.end("chat/turnComplete")
            return
        yield from self._look_after_servers()
        messages = self._conversation(text)
        while True:
            moves.take_up_steering(self)
            tools = offered(self)
            try:
                reply = yield from self._ask(messages, tools)
            except ModelError as error:
                self.end("chat/error", error={"errorType": error.kind, "message": str(error)})
                return
            if self.host.flaw == DIES:
                os._exit(70)
            if not reply.calls:
                break
            results: dict[str, str] = {}
            yield from moves.together(self, [_call(self, tools, wanted, results) for wanted in reply.calls])
            messages.append(reply.message())
            messages += [{"role": "tool", "tool_call_id": id_, "content": told} for id_, told in results.items()]
        self.end("chat/turnComplete")

    def _look_after_servers(self) -> Steps:
        """See whether the servers still let the agent in; those that want a token first hold the turn up."""
        session = self.chat.session
        yield lambda: not self.host.plugins.loading(session)
        used = [
            server
            for server in session.servers.values()
            if isinstance(server, RealServer) and session.server_state(server) in _IN_USE
        ]
        for server in used:
            servers.raised_by(self, server)
        looks = Errand(self, lambda _: asyncio.gather(*(connect(self.host, session, server) for server in used)))
        yield from looks.wait()
        yield lambda: all(session.server_state(server) not in ("starting", "authRequired") for server in used)

    def _conversation(self, text: str) -> list[JSON]:
        """What was said in this chat, and the new message as agents wrap it."""
        messages: list[JSON] = [{"role": "system", "content": _SYSTEM}]
        for turn in self.chat.state["turns"]:
            said = [part["content"] for part in turn["responseParts"] if part["kind"] == "markdown"]
            messages.append({"role": "user", "content": turn["message"]["text"]})
            messages.append({"role": "assistant", "content": "\n\n".join(said)})
        wrapped = f"<request>\n{text}\n</request>\n<reminder>\n{_REMINDER}\n</reminder>"
        return [*messages, {"role": "user", "content": wrapped}]

    def _ask(self, messages: Sequence[JSON], tools: dict[str, Offer]) -> Generator[Condition, None, Reply]:
        """Ask the model, and stream its answer into parts of the chat. Raises ModelError."""
        functions = [offer.function for offer in tools.values()]
        url = self.host.model_url
        errand = Errand(self, lambda put: ask(self.host.web, url, messages, functions, put))
        kind, part = "", ""
        while True:
            yield from errand.wait()
            while errand.arrived:
                piece: Piece = errand.arrived.popleft()
                if piece.kind != kind:
                    kind, part = piece.kind, self.host.mint("part")
                    self.act("chat/responsePart", part={"kind": kind, "id": part, "content": ""})
                self.act("chat/delta" if kind == "markdown" else "chat/reasoning", partId=part, content=piece.text)
            reply = errand.outcome()
            if reply is not None:
                return reply


def _call(turn: AgentTurn, tools: dict[str, Offer], wanted: Wanted, results: dict[str, str]) -> Steps:
    """Carry out a call that the model wants, and note what the model is told of it."""
    results[wanted.id] = ""  # the order of the results is that of the calls
    offer = tools.get(wanted.name)
    if offer is None:
        results[wanted.id] = f"There is no tool {wanted.name}."
        return
    try:
        arguments = json.loads(wanted.arguments or "{}")
    except ValueError as error:
        results[wanted.id] = f"The arguments are not JSON: {error}"
        return
    results[wanted.id] = yield from offer.run(turn, arguments)
