"""The scripted agent: a turn as a resumable sequence of moves.

A turn is a generator. It dispatches what it has to say and yields a condition when it has to wait; the
host tries the condition again whenever something happened in the chat or its session. What the turn
knows it reads off the folded state, so a call that somebody else ended is ended for the agent too.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from conformance.backend.playbook import PlaybookError, find

from . import moves
from .channels import Chat, Session

if TYPE_CHECKING:
    from .core import ReferenceHost

JSON = Any
Condition = Callable[[], bool]
Steps = Generator[Condition, None, None]


class Turn:
    """A running turn. starter: clientId of whoever started it, None when the host did."""

    def __init__(self, host: ReferenceHost, chat: Chat, turn_id: str, text: str, starter: str | None) -> None:
        self.host = host
        self.chat = chat
        self.id = turn_id
        self.starter = starter
        self._began = host.clock()
        self._waiting: Condition | None = None
        self._steps: Steps | None = self._perform(text)
        self._running = False

    @property
    def over(self) -> bool:
        return self._steps is None

    def act(self, kind: str, **members: JSON) -> None:
        """Dispatch a chat action of this turn."""
        self.host.act(self.chat, {"type": kind, "turnId": self.id, **members})

    def advance(self) -> None:
        """Go on as far as possible. Does nothing while the turn waits, or from within itself."""
        if self._steps is None or self._running:
            return
        self._running = True
        try:
            while self._steps is not None and (self._waiting is None or self._waiting()):
                self._waiting = next(self._steps, None)
                if self._waiting is None:
                    self._finish()
        finally:
            self._running = False

    def stop(self) -> None:
        """The turn is over for a reason outside of it; nothing of it follows."""
        steps, self._steps = self._steps, None
        if steps is not None and not self._running:
            steps.close()
        if self.chat.turn is self:
            self.chat.turn = None

    def end(self, kind: str, **members: JSON) -> None:
        """Dispatch the last action of the turn."""
        duration = max(0, round((self.host.clock() - self._began) * 1000))
        self.act(kind, duration=duration, **members)
        self.stop()

    def _finish(self) -> None:
        self.stop()
        if self.chat.active is None:
            next_queued(self.host, self.chat)

    def _perform(self, text: str) -> Steps:
        try:
            playbook = find(text)
        except PlaybookError as error:
            self.end("chat/error", error={"errorType": "playbook", "message": str(error)})
            return
        if playbook is None:
            playbook = [{"say": "There is nothing for me to do in this message."}]
        for move in playbook:
            moves.take_up_steering(self)
            yield from moves.play(self, move)
            if self.over:
                return
        moves.take_up_steering(self)
        self.end("chat/turnComplete")


def start(host: ReferenceHost, chat: Chat, message: JSON, *, starter: str | None = None, **members: JSON) -> None:
    """Start a turn of the host's own accord, with a message it was given before."""
    host.act(
        chat,
        {
            "type": "chat/turnStarted",
            "turnId": host.mint("turn"),
            "startedAt": host.now(),
            "message": message,
            **members,
        },
    )
    take_up(host, chat, starter=starter)


def take_up(host: ReferenceHost, chat: Chat, *, starter: str | None) -> None:
    """Put the turn that has just begun to the agent."""
    active = chat.active
    if active is None:
        return
    chat.used_turns.add(active["id"])
    chat.turn = host.performer(host, chat, active["id"], active["message"]["text"], starter)
    host.touch(chat.turn)


def next_queued(host: ReferenceHost, chat: Chat) -> None:
    """Take the head of the queue, if there is one, and run it as the next turn."""
    queue = chat.state.get("queuedMessages")
    if not queue or chat.uri not in chat.session.chats:
        return
    head = queue[0]
    host.act(chat, {"type": "chat/pendingMessageRemoved", "kind": "queued", "id": head["id"]})
    start(host, chat, head["message"], queuedMessageId=head["id"])


def client_left(host: ReferenceHost, session: Session, client_id: str) -> None:
    """End, as failed, the calls that a client was executing when it stopped being active."""
    if not host.policy.ends_client_calls():
        return
    for chat in list(session.chats.values()):
        for call in list(chat.calls()):
            contributor = call.get("contributor") or {}
            active = chat.active
            if call["status"] == "running" and contributor.get("clientId") == client_id and active is not None:
                host.act(
                    chat,
                    {
                        "type": "chat/toolCallComplete",
                        "turnId": active["id"],
                        "toolCallId": call["toolCallId"],
                        "result": moves.failure(call["toolName"], "the client that runs this tool has left"),
                    },
                )
