"""How a scenario has the agent of a host do something.

Either the host plays playbooks itself, and the message is all that it needs (:class:`HostPlays`); or a real agent works
behind it, and the suite plays the model service that the agent asks and the MCP servers that it calls
(:class:`conformance.running.controlled.ModelPlays`). Scenarios do not know which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from conformance.backend.playbook import Move, compose
from conformance.client import Participant, Unreached

if TYPE_CHECKING:
    from conformance.running.stage import Stage

JSON = Any


@dataclass(frozen=True, slots=True)
class ServedCall:
    """A tools/call that has reached an MCP server. digest: SHA-256 of its bearer token; passed: it was not refused."""

    tool: str
    digest: str | None
    passed: bool


class Agent(Protocol):
    """The agent, as the steps of one scenario see it."""

    def resource(self, server: str, beside: str | None = None) -> str:
        """The protected resource of the MCP server of that name; the one of ``beside``, if that is given."""

    def members(self, session: str) -> dict[str, JSON]:
        """What createSession of a session to come has to say, beside what the scenario wants of it."""

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        """Prepare what the moves need and give the text of the message that makes the agent play them.

        Raises Unreached for moves that this agent cannot be made to play.
        """

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        """Let the agent go on from a pause of its playbook."""

    def requests(self, server: str) -> Sequence[ServedCall]:
        """The calls that have reached the MCP server. Raises Unreached where nobody can tell."""

    def contacted(self, server: str) -> bool | None:
        """Whether the host has sent the MCP server anything; None where nobody can tell."""

    def await_token(self, server: str, digest: str) -> bool:
        """Whether a call with this token has reached the server, now or within the patience."""

    def excuse(self) -> Unreached | None:
        """Why nothing came, where that is not the host's doing: it never asked for the playbook."""

    def leave(self) -> None:
        """Take off the host what this scenario has put there; its clients are still connected."""

    def close(self) -> None:
        """Let go of everything that this scenario has held."""


class HostPlays:
    """The host reads the playbook off the message and simulates the MCP servers."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._resources: dict[str, str] = {}
        self._told: list[str] = []

    def resource(self, server: str, beside: str | None = None) -> str:
        new = f"https://{server}-{uuid4().hex[:12]}.example/mcp" if beside is None else self.resource(beside)
        return self._resources.setdefault(server, new)

    def members(self, session: str) -> dict[str, JSON]:
        return {}

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        told = compose(text, moves)
        if any("call" in move or "ask" in move for move in moves[:1]):
            self._told.append(told)
        return told

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        action = {
            "type": "chat/pendingMessageSet",
            "kind": "steering",
            "id": f"steer-{uuid4()}",
            "message": {"text": f"continue {pause}", "origin": {"kind": "user"}},
        }
        client.dispatch(chat, action)

    def requests(self, server: str) -> Sequence[ServedCall]:
        witness = getattr(self._stage.theatre.driver, "upstream", None)
        if witness is None:
            raise Unreached("backend-missing", "nobody tells what has reached the MCP server")
        return [ServedCall(call.tool, call.digest, call.passed) for call in witness(self.resource(server))]

    def contacted(self, server: str) -> bool | None:
        return None

    def await_token(self, server: str, digest: str) -> bool:
        def served() -> bool | None:
            return any(call.digest == digest for call in self.requests(server)) or None

        return self._stage.pump.wait(served, self._stage.theatre.patience) is True

    def excuse(self) -> Unreached | None:
        # Who plays playbooks has read this one too; what it then left out is its own affair.
        if self._stage.theatre.played or self._has_played():
            return None
        for client in self._stage.clients.values():
            for view in client.view.channels.values():
                turns = view.state.get("turns") if isinstance(view.state, dict) else None
                if isinstance(turns, list) and any(self._ignored(turn) for turn in turns):
                    return Unreached("backend-ignored", "the agent has ended its turn without playing the playbook")
        return None

    def _has_played(self) -> bool:
        return any(
            envelope.accepted and envelope.type in ("chat/toolCallStart", "chat/inputRequested")
            for client in self._stage.clients.values()
            for envelope in client.mailbox.envelopes
        )

    def _ignored(self, turn: JSON) -> bool:
        """Whether a turn that began with a call or a question has completed without either."""
        if not isinstance(turn, dict) or turn.get("state") != "complete":
            return False
        message, parts = turn.get("message"), turn.get("responseParts")
        if not isinstance(message, dict) or message.get("text") not in self._told or not isinstance(parts, list):
            return False
        return all(isinstance(p, dict) and p.get("kind") not in ("toolCall", "inputRequest") for p in parts)

    def leave(self) -> None:
        """Nothing is left on the host."""

    def close(self) -> None:
        theatre = self._stage.theatre
        theatre.played = theatre.played or self._has_played()
