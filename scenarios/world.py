"""What the steps of one scenario share: clients, the session, its chat, the MCP servers, and what was seen last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from conformance.backend.playbook import Move, token_hash
from conformance.client import Participant, Silent, Unreached
from conformance.oracle.tracker import Envelope, Reply
from conformance.protocol import ROOT_URI, compare
from conformance.running.stage import Stage, Token

JSON = Any

HELD = "rest"
"""The name of the pause that holds the rest of a turn back until a step lets the agent go on."""


@dataclass(slots=True)
class Server:
    """An MCP server of the scenario. ``challenges`` by tool, in the order in which a call meets them."""

    name: str
    resource: str
    good: Token
    challenges: dict[str, list[dict[str, JSON]]] = field(default_factory=dict)

    def challenge(self, tool: str, *, status: int = 401, token: Token | None = None, **more: JSON) -> None:
        """Let ``tool`` be challenged; ``token`` (default: the good one) is what the server then takes."""
        accept = [token_hash((token or self.good).value)]
        self.challenges.setdefault(tool, []).append(
            {"status": status, "resource": self.resource, "accept": accept, **more}
        )


class World:
    """One scenario's memory. Steps write what they saw last into the plain attributes and read it from there."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.session = ""
        self.chat = ""
        self.turn = ""
        self.servers: dict[str, Server] = {}
        self.tokens: dict[str, Token] = {}
        self.calls: dict[str, str] = {}
        self.tool = ""
        self.began = -1
        self.reply: Reply | None = None
        self.echoes: list[Envelope] = []
        self.before: JSON = None
        self.noted: dict[str, JSON] = {}

    # -- clients --------------------------------------------------------------------------------------

    def client(self, name: str = "A") -> Participant:
        try:
            return self.stage.clients[name]
        except KeyError:
            raise LookupError(f"no step has brought in a client {name!r}") from None

    @property
    def a(self) -> Participant:
        return self.client("A")

    @property
    def version(self) -> str:
        return self.a.version or self.stage.theatre.version

    def at_least(self, version: str) -> bool:
        """Whether the version of the run is ``version`` or newer."""
        return compare(self.version, version) >= 0

    def fresh(self, channel: str) -> JSON:
        """The state of ``channel`` as a client that was not there before gets it."""
        name = f"fresh{sum(n.startswith('fresh') for n in self.stage.clients) + 1}"
        client = self.stage.join(name)
        state = client.subscribe(channel).state
        client.leave()
        return state

    # -- sessions -------------------------------------------------------------------------------------

    @property
    def provider(self) -> str:
        provider = self.stage.theatre.facts.provider
        if provider is None:
            raise Unreached("precondition-failed", "the root state names no agent, so no session can be created")
        return provider

    def create_session(self, client: Participant, **more: JSON) -> str:
        """Create a session at a fresh URI and return that URI."""
        session = self.stage.new_session_uri()
        config = getattr(self.stage.theatre.driver, "session_config", None)
        if config:
            more.setdefault("config", dict(config))
        more = self.stage.agent.members(session) | more
        client.succeed("createSession", channel=session, provider=self.provider, **more)
        return session

    def open_session(self, client: Participant, **more: JSON) -> None:
        """Create a session, subscribe to it and to its default chat, and make them the current ones."""
        self.session = self.create_session(client, **more)
        client.subscribe(self.session)
        self.chat = client.await_state(self.session, "default chat in the session state", default_chat)
        client.subscribe(self.chat)

    # -- turns ----------------------------------------------------------------------------------------

    def say(
        self,
        moves: Sequence[Move],
        *,
        client: str = "A",
        chat: str | None = None,
        text: str = "Please do as the playbook says.",
        more: dict[str, JSON] | None = None,
    ) -> str:
        """Start a turn in which the agent plays ``moves``; return the turn id without awaiting its end."""
        told = self.stage.agent.tell(self.session, chat or self.chat, moves, text)
        self.start_turn(told, client=client, chat=chat, **(more or {}))
        return self.turn

    def start_turn(self, text: str, *, client: str = "A", chat: str | None = None, **more: JSON) -> int:
        """Dispatch a message of the user as a new turn; return the clientSeq without awaiting anything.

        A host may refuse turns of a session that is still being created, and another one may create it only with its
        first turn, so nobody can await the one before the other: a refused turn is started again later (AMB-10).
        """
        self.turn = f"turn-{uuid4()}"
        speaker, where = self.client(client), chat or self.chat
        self.began = speaker.mark
        action = {
            "type": "chat/turnStarted",
            "turnId": self.turn,
            "message": {"text": text, "origin": {"kind": "user"}},
            "startedAt": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **more,
        }
        followed = speaker.view.channels
        early = where in followed and self.session in followed and is_creating(followed[self.session].state)
        seq = speaker.dispatch(where, action)
        if early and self._refused_early(speaker, seq):
            seq = speaker.dispatch(where, action)
        return seq

    def _refused_early(self, speaker: Participant, seq: int) -> bool:
        """Whether the host refused a turn as its session was still being created, and has created it by now."""
        with suppress(Silent):
            if not speaker.echo(seq).accepted:
                speaker.await_state(self.session, "a session that is created", lambda state: not is_creating(state))
                return True
        return False

    def go_on(self, *, client: str = "A", chat: str | None = None, pause: str = HELD) -> None:
        """Let the agent go on from a pause of its playbook."""
        self.stage.agent.go_on(self.client(client), chat or self.chat, pause)

    def end_of_turn(self, *, client: str = "A", chat: str | None = None, turn: str | None = None) -> Envelope:
        """Await the end of the turn, whichever way it ends."""
        who, where, which = self.client(client), chat or self.chat, turn or self.turn
        kinds = ("chat/turnComplete", "chat/turnCancelled", "chat/error")
        return who.wait(
            "the end of the turn",
            lambda: next((e for e in who.envelopes(where) if e.type in kinds and e.get("turnId") == which), None),
        )

    # -- tool calls -----------------------------------------------------------------------------------

    def call_move(self, tool: str, server: str | None = None, **more: JSON) -> Move:
        """The move for a call of ``tool``, with the challenges that its server holds for it."""
        body: dict[str, JSON] = {"tool": tool, **more}
        if server is not None:
            body["server"] = server
            challenges = self.servers[server].challenges.get(tool)
            if challenges:
                body["challenges"] = challenges
        return {"call": body}

    def tool_call(
        self, tool: str | None = None, *, client: str = "A", chat: str | None = None, state: JSON = None
    ) -> JSON:
        """The call of ``tool`` (default: the last one named) in the fold of the chat, or None.

        Agents prefix the names of MCP tools, so the name is matched by its end.
        """
        wanted = tool or self.tool
        state = state if state is not None else self.client(client).state(chat or self.chat)
        for call in calls_in(state):
            if call.get("toolName", "").endswith(wanted):
                return call
        return None

    def await_call(
        self, status: str | Iterable[str], tool: str | None = None, *, client: str = "A", chat: str | None = None
    ) -> JSON:
        """Await the call in one of these statuses; remember its id."""
        statuses = {status} if isinstance(status, str) else set(status)
        wanted = tool or self.tool

        def reached(state: JSON) -> JSON:
            call = self.tool_call(wanted, state=state)
            return call if call is not None and call.get("status") in statuses else None

        who = self.client(client)
        call = who.await_state(chat or self.chat, f"the call of {wanted} {' or '.join(sorted(statuses))}", reached)
        self.calls[wanted] = call["toolCallId"]
        return call

    # -- inputNeeded ----------------------------------------------------------------------------------

    def entries(self, kind: str | None = None, *, client: str = "A", state: JSON = None) -> list[JSON]:
        """The entries of the session's inputNeeded in the fold of a client, or in ``state``."""
        state = state if state is not None else self.client(client).state(self.session)
        return [e for e in (state.get("inputNeeded") or []) if kind is None or e.get("kind") == kind]

    def await_entry(self, kind: str, matches: Callable[[JSON], bool] = lambda _: True, *, client: str = "A") -> JSON:
        return self.client(client).await_state(
            self.session,
            f"{kind} entry in inputNeeded",
            lambda state: next((e for e in self.entries(kind, state=state) if matches(e)), None),
        )

    def summary(self, client: str = "A", session: str | None = None) -> JSON:
        """The session as listSessions shows it, or None."""
        wanted = session or self.session
        cursor: dict[str, JSON] = {}
        while True:
            result = self.client(client).succeed("listSessions", channel=ROOT_URI, **cursor)
            for item in result.get("items", []):
                if item.get("resource") == wanted:
                    return item
            if not result.get("nextCursor"):
                return None
            cursor = {"cursor": result["nextCursor"]}


def default_chat(state: JSON) -> str | None:
    """The chat that a session state names as its default, or its first one."""
    chosen = state.get("defaultChat")
    chats = state.get("chats") or []
    return chosen or (chats[0].get("resource") if chats else None)


def is_creating(session: JSON) -> bool:
    """Whether a session state says that the session is still being created."""
    return isinstance(session, dict) and session.get("lifecycle") == "creating"


def calls_in(state: JSON) -> Iterable[JSON]:
    """The tool calls of a chat state, those of the active turn first, then from the newest turn back."""
    turns = [state.get("activeTurn"), *reversed(state.get("turns") or [])]
    for turn in turns:
        for part in (turn or {}).get("responseParts", []):
            if part.get("kind") == "toolCall":
                yield part.get("toolCall", {})
