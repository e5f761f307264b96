"""A real agent, driven by the scripted model service and by MCP servers of the suite."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from conformance.backend.playbook import Move, compose
from conformance.client import Participant, Unreached
from conformance.protocol import ROOT_URI
from conformance.running.agents import ServedCall
from conformance.running.supply import Supply, calls_of

if TYPE_CHECKING:
    from conformance.drivers.scripted import Scripted
    from conformance.running.stage import Stage

JSON = Any

USHER = "usher"
"""The client that configures the host and signs in, once, before the first turn."""

_PAUSE_KEY = "pause"
_GLANCE = 0.05  # seconds between two looks at what has come from the host


class ModelPlays:
    """The agent of one scenario (an :class:`conformance.running.agents.Agent`)."""

    def __init__(self, stage: Stage, scripted: Scripted) -> None:
        self._stage = stage
        self._scripted = scripted
        self._supply = Supply(stage, scripted)
        self._approvals: dict[str, str] = {}
        self._held: list[tuple[str, str, str]] = []
        self._told: list[tuple[str, list[str]]] = []

    def resource(self, server: str, beside: str | None = None) -> str:
        return self._supply.server(server, beside).resource

    def members(self, session: str) -> dict[str, JSON]:
        return self._supply.members(session)

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        self._refuse_unplayable(moves)
        for token in self._scripted.knowledge.tokens.values():
            self._stage.recorder.conceal("agent", token)
        self._scripted.sign_in(lambda: self._stage.join(USHER, [ROOT_URI]))
        # Which servers are at work is decided before a host can have contacted those that are new to it.
        requests = [self._supply.as_request(move) for move in moves]
        names = list(dict.fromkeys(self._supply.set_up(moves)))
        if names:
            self._supply.bring(session, names)
        self._settle_approvals(session, requests)
        mark = uuid4().hex[:12]
        self._told.append((mark, names))
        return compose(f"{text} (scene {mark})", [self._own_pause(chat, move) for move in requests])

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        for where, name, own in self._held:
            if where == chat and name == pause:
                self._scripted.models.release(own)

    def requests(self, server: str) -> Sequence[ServedCall]:
        return [
            ServedCall(seen.tool or "", seen.token, seen.status is not None and seen.status < 400)
            for seen in self._supply.server(server).seen
            if seen.rpc == "tools/call"
        ]

    def contacted(self, server: str) -> bool | None:
        return self._supply.server(server).contacted

    def await_token(self, server: str, digest: str) -> bool:
        def served() -> bool | None:
            return any(call.digest == digest for call in self.requests(server)) or None

        # Host and suite go on talking meanwhile: the host may fetch the plugin once more before it calls.
        deadline = time.monotonic() + self._stage.theatre.patience
        while served() is None and (left := deadline - time.monotonic()) > 0:
            self._stage.pump.wait(served, 0)
            self._supply.server(server).await_seen(
                lambda seen: seen.rpc == "tools/call" and seen.token == digest, min(_GLANCE, left)
            )
        return served() is True

    def excuse(self) -> Unreached | None:
        asked = {message for request in self._scripted.models.requests if (message := request.message)}
        for mark, names in self._told:
            if not any(mark in message for message in asked):
                return Unreached(
                    "backend-ignored",
                    "the agent did not bring the playbook to the model service of the suite, so it was never told"
                    + self._last_error(),
                )
            for name in names:
                if not self._supply.server(name).contacted:
                    return Unreached("backend-ignored", f"the MCP server {name!r} was never contacted by the host")
        return None

    def _last_error(self) -> str:
        """What the host itself says to it, if it does."""
        said = [
            envelope.action
            for client in self._stage.clients.values()
            for envelope in client.mailbox.envelopes
            if envelope.type in ("chat/error", "session/creationFailed")
        ]
        return f"; the host says: {said[-1]!r:.300}" if said else ""

    def leave(self) -> None:
        self._supply.leave()

    def close(self) -> None:
        for _, _, own in self._held:
            self._scripted.models.release(own)
        self._supply.close()
        if any(self._is_push(frame.msg) for frame in self._stage.frames if frame.dir == "out" and frame.conn != USHER):
            self._scripted.sign_in_again()

    def _is_push(self, message: JSON) -> bool:
        """Whether a step has pushed a token for what the agent itself demands; the host may have taken a bad one."""
        if not isinstance(message, dict) or message.get("method") != "authenticate":
            return False
        params = message.get("params")
        return isinstance(params, dict) and params.get("resource") in self._scripted.knowledge.tokens

    def _refuse_unplayable(self, moves: Sequence[Move]) -> None:
        missing = self._scripted.unplayable(moves)
        if missing:
            raise Unreached("backend-missing", f"the agent of this host cannot be made to do this: {missing}")

    def _own_pause(self, chat: str, move: Move) -> Move:
        if _PAUSE_KEY not in move:
            return move
        own = f"{move[_PAUSE_KEY]}-{uuid4().hex[:12]}"
        self._held.append((chat, move[_PAUSE_KEY], own))
        return {_PAUSE_KEY: own}

    def _settle_approvals(self, session: str, moves: Sequence[Move]) -> None:
        """Tell the session whether tools are asked for, where its configuration decides that."""
        calls = [call for move in moves for call in calls_of(move)]
        if not calls:
            return
        wanted = "asked" if any(call.get("confirm") for call in calls) else "unasked"
        config = self._scripted.knowledge.approvals.get(wanted)
        known = getattr(self._stage.theatre.driver, "session_config", None) or {}
        if config is None or self._approvals.get(session) == wanted:
            return
        if session not in self._approvals and config.items() <= known.items():
            return  # it was created like that
        self._supply.act(session, {"type": "session/configChanged", "config": dict(config)})
        self._approvals[session] = wanted
