"""What a model answers so that the agent which asks it plays a playbook.

An agent sends the whole conversation with each request, so nothing has to be kept: the playbook stands in a message of
the user, and the place in it follows from what was said and called since. Pure: no I/O, no clock.

The forms of the `fail` move that concern a model service:

- ``{"fail": {"message": TEXT}}``: the request is answered with status 500;
- ``errorType: "http-429"``: with that status, 400 to 599;
- ``errorType: "cut"``: the stream breaks off in the middle of a text.

Where something was said before in the same answer, the status is gone, and the error is sent in the stream. A retry
carries the same conversation, so it meets the same failure.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from .lexicon import Lexicon, Template, ask_call, offered_name, own_call, read_lexicon
from .playbook import Move, PlaybookError, find_within

__all__ = [
    "Answer",
    "Call",
    "Fail",
    "Lexicon",
    "Message",
    "Part",
    "Pause",
    "Say",
    "Template",
    "Think",
    "answer",
    "read_lexicon",
]

JSON = Any
Role = Literal["user", "assistant", "tool"]

HARMLESS: Final = "There is nothing to play here."
"""The answer to a request without a playbook: titles, summaries, warm-ups."""

FINISHED: Final = "Done."
"""The answer when nothing is left to be said; agents take an empty one for a fault."""

_ID: Final = re.compile(r"ahpc_(\d{1,6})_\d{1,6}_[0-9a-f]")
_TAGGED: Final = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_STATUS: Final = re.compile(r"http-([45]\d\d)")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation, whatever the surface.

    calls: the ids of the tool calls that an assistant's message makes, or of the one that a tool's message answers.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Say:
    """Text for the user. ``move`` is "" where no move of the playbook asked for it."""

    text: str
    move: str = "say"


@dataclass(frozen=True, slots=True)
class Think:
    text: str
    move: str = "think"


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing comes until the suite releases the name."""

    name: str

    @property
    def move(self) -> str:
        return f"pause {self.name}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool under the name that the agent offers it by. ``arguments`` is JSON text."""

    id: str
    tool: str
    arguments: str

    @property
    def move(self) -> str:
        return f"call {self.tool}"


@dataclass(frozen=True, slots=True)
class Fail:
    """The request fails: with an HTTP status, or, ``cut``, in the middle of its stream."""

    message: str
    status: int = 500
    cut: bool = False
    move: str = "fail"


Part = Say | Think | Pause | Call | Fail


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer, in order. Calls come last, and all of them are one round; nothing follows a failure.

    message: the text of the user's message with the playbook, None when there is none to be played.
    place: index of the first move that is played; None without one. missing: tools that the playbook wants and the
    agent does not offer, as the playbook names them. error: why the playbook cannot be played.
    """

    parts: tuple[Part, ...]
    message: str | None = None
    place: int | None = None
    missing: tuple[str, ...] = ()
    error: str | None = None


def answer(
    conversation: Sequence[Message],
    offered: Sequence[str],
    lexicon: Lexicon | None = None,
    *,
    mint: Callable[[], str] = lambda: secrets.token_hex(6),
) -> Answer:
    """The next answer of the model. ``offered``: the names of the tools of this request; ``mint``: fresh hex digits."""
    for at in range(len(conversation) - 1, -1, -1):
        message = conversation[at]
        if message.role != "user":
            continue
        try:
            moves = find_within(message.text)
        except PlaybookError as error:
            broken = Say(f"The playbook cannot be played: {error}", "")
            return Answer((broken,), message.text, error=str(error))
        if moves is not None:
            stage = _Stage(moves, offered, lexicon or Lexicon(), mint)
            return stage.answer(message.text, conversation[at + 1 :])
    return Answer((Say(HARMLESS, ""),))


@dataclass(frozen=True, slots=True)
class _Stage:
    moves: Sequence[Move]
    offered: Sequence[str]
    lexicon: Lexicon
    mint: Callable[[], str]

    def answer(self, message: str, since: Sequence[Message]) -> Answer:
        rounds = _rounds(since)
        if any(not ids for ids in rounds):
            # The agent has had an answer without a call, which ended its turn. What it asks now is something else.
            return Answer((Say(HARMLESS, ""),))
        place = self._place(rounds)
        parts, missing, _ = self._play(place)
        # A turn that failed or was cancelled may leave no answer in the conversation; a message of the user behind it
        # is the next turn. Behind a call it may as well be one that steers this turn, unless this answer is to fail.
        spoken = any(other.role == "user" and _has_own_words(other.text) for other in since)
        if spoken and (not rounds or any(isinstance(part, Fail) for part in parts)):
            return Answer((Say(HARMLESS, ""),))
        parts[:0] = self._how_it_was_answered(place, since)
        if not any(isinstance(part, Call | Fail) or (isinstance(part, Say) and part.text) for part in parts):
            parts.append(Say(FINISHED, ""))
        return Answer(tuple(parts), message, place, tuple(missing))

    def _place(self, rounds: Sequence[tuple[str, ...]]) -> int:
        played = [int(found[1]) for ids in rounds for name in ids if (found := _ID.search(name))]
        if played:
            return max(played) + 1
        # The agent has given the calls ids of its own. What it offers is what it offered before, so playing up to here
        # once more leads to the same place.
        place = 0
        for _ in rounds:
            _, _, place = self._play(place)
        return place

    def _play(self, place: int) -> tuple[list[Part], list[str], int]:
        """The parts up to the next round of calls, a failure or the end; what is missing; the place behind them."""
        parts: list[Part] = []
        missing: list[str] = []
        for at in range(place, len(self.moves)):
            ((name, body),) = self.moves[at].items()
            if name == "say":
                parts.append(Say(body))
            elif name == "think":
                parts.append(Think(body))
            elif name == "pause":
                parts.append(Pause(body))
            elif name == "fail":
                return [*parts, _failure(body)], missing, len(self.moves)
            elif name in ("call", "ask"):
                calls = list(self._calls(at, name, body))
                unavailable = [(server, tool) for server, tool, call in calls if call is None]
                missing += [f"{server}/{tool}" if server else tool for server, tool in unavailable]
                parts += [Say(f"The tool {tool} is not available.", "") for _, tool in unavailable]
                made = [call for _, _, call in calls if call is not None]
                if made:
                    return [*parts, *made], missing, at + 1
            # An `mcp` move is for whoever plays the servers.
        return parts, missing, len(self.moves)

    def _calls(self, at: int, name: str, body: JSON) -> Iterator[tuple[str, str, Call | None]]:
        """Each call of a move: its server and tool as the playbook names them, and the call, None without its tool."""
        for sibling, spec in enumerate([body, *body.get("with", ())] if name == "call" else [body]):
            server, tool = (spec.get("server", ""), spec["tool"]) if name == "call" else ("", "ask")
            found = self._found(name, spec)
            if found is None:
                yield server, tool, None
            else:
                own_id = f"ahpc_{at}_{sibling}_{self.mint()}"
                yield server, tool, Call(own_id, found[0], orjson.dumps(found[1]).decode())

    def _found(self, name: str, spec: JSON) -> tuple[str, JSON] | None:
        """Tool name and arguments, as this agent wants them."""
        if name == "ask":
            return ask_call(spec, self.lexicon, self.offered)
        if "server" not in spec and "client" not in spec:
            return own_call(spec, self.lexicon, self.offered)
        tool = offered_name(spec["tool"], self.offered, spec.get("server"))
        return None if tool is None else (tool, spec.get("input", {}))

    def _how_it_was_answered(self, place: int, since: Sequence[Message]) -> list[Part]:
        """The contract has an agent say how its question was answered."""
        if not 0 < place <= len(self.moves) or "ask" not in self.moves[place - 1]:
            return []
        results = [message.text for message in since if message.role == "tool"]
        return [Say(f"The answer was: {results[-1]}", "")] if results else []


def _rounds(since: Sequence[Message]) -> list[tuple[str, ...]]:
    """The ids of the calls of each answer so far. Some agents write one answer as several messages."""
    rounds: list[tuple[str, ...]] = []
    before: Role | None = None
    for message in since:
        if message.role == "assistant":
            if before == "assistant":
                rounds[-1] += message.calls
            else:
                rounds.append(message.calls)
        before = message.role
    return rounds


def _has_own_words(text: str) -> bool:
    """Whether a message says more than what agents put in of their own, which stands in tags."""
    return bool(_TAGGED.sub("", text).strip())


def _failure(body: JSON) -> Fail:
    kind = body.get("errorType", "")
    status = _STATUS.fullmatch(kind)
    return Fail(body["message"], int(status[1]) if status else 500, cut=kind == "cut")
