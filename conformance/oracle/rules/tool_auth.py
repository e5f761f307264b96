"""Challenges of tool calls: each has its entry and each entry its call; only an accepted token resolves one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Request, Snapshot

from .input_needed import entries_in, subject_of

Subject = tuple[Any, ...]


@dataclass(slots=True)
class Block:
    """What is known of one blocked call: where it was challenged, resolved, listed and taken off the list."""

    challenged: list[Envelope] = field(default_factory=list)
    resolved: list[int] = field(default_factory=list)
    listed: bool = False
    removed: list[tuple[int, int]] = field(default_factory=list)
    shown_blocked: bool = False


class ToolAuthentication(Rule):
    """Pairing of challenges with entries, in both directions, and what resolves a challenge."""

    name = "tool-authentication"
    obligations = (
        "AHP-TOOLAUTH-022",
        "AHP-TOOLAUTH-026",
        "AHP-TOOLAUTH-031",
        "AHP-TOOLAUTH-052",
        "AHP-TOOLAUTH-064",
        "AHP-TOOLAUTH-069",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._blocks: dict[Subject, Block] = {}
        self._pushed: set[str] = set()
        self._stopped = False
        self._ids: dict[str, Subject] = {}
        self._last: dict[str, Snapshot] = {}

    def request(self, request: Request) -> None:
        if request.method == "authenticate" and isinstance(request.params.get("resource"), str):
            self._pushed.add(request.params["resource"])

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.kind == "chat":
            self._on_chat(envelope)
        elif envelope.kind == "session":
            self._on_session(envelope)

    def _on_chat(self, envelope: Envelope) -> None:
        turn = envelope.before.get("activeTurn") if isinstance(envelope.before, dict) else None
        if envelope.type in ("chat/turnComplete", "chat/error") and envelope.origin is None:
            self._turn_end(envelope, turn)
        if envelope.type not in ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved"):
            return
        subject = (envelope.channel, envelope.get("turnId"), envelope.get("toolCallId"))
        block = self._blocks.setdefault(subject, Block())
        if envelope.type == "chat/toolCallAuthRequired":
            block.challenged.append(envelope)
            return
        if isinstance(envelope.seq, int):
            block.resolved.append(envelope.seq)
        call = _call(turn, envelope.get("toolCallId"))
        if call is not None and call.get("status") == "auth-required":
            self._resolved(envelope, call)

    def _resolved(self, envelope: Envelope, call: dict[str, Any]) -> None:
        if self._stopped:
            # Stopping the server of a blocked call ends the wait too.
            return
        self.watch("AHP-TOOLAUTH-031")
        resource = _member(_member(call.get("auth"), "resource"), "resource")
        if resource not in self._pushed:
            self.find(
                "AHP-TOOLAUTH-031",
                "a call was resumed before anybody pushed a token for its resource",
                expected=f"authenticate for {resource} first",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _turn_end(self, envelope: Envelope, turn: Any) -> None:
        if _member(turn, "id") != envelope.get("turnId"):
            return
        for part in _member(turn, "responseParts") or ():
            call = _member(part, "toolCall")
            if _member(call, "status") == "auth-required":
                self.find(
                    "AHP-TOOLAUTH-052",
                    "the host ends a turn while a call of it is blocked",
                    expected="the turn goes on waiting",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, envelope.seq),
                )
            elif _member(_member(call, "contributor"), "kind") == "mcp":
                self.watch("AHP-TOOLAUTH-052")

    def _on_session(self, envelope: Envelope) -> None:
        if envelope.type == "session/mcpServerStopRequested":
            self._stopped = True
        elif envelope.type == "session/inputNeededSet":
            self._listed(envelope.get("request"))
        elif envelope.type == "session/inputNeededRemoved":
            subject = self._ids.get(envelope.get("id"))
            if subject is not None and isinstance(envelope.seq, int):
                self._blocks[subject].removed.append((envelope.seq, envelope.frame.n))

    def _listed(self, entry: Any) -> None:
        if not isinstance(entry, dict) or entry.get("kind") != "toolAuthentication":
            return
        subject = subject_of(entry)
        self._blocks.setdefault(subject, Block()).listed = True
        if isinstance(entry.get("id"), str):
            self._ids[entry["id"]] = subject

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session":
            self._last[snapshot.channel] = snapshot
            for entry in entries_in(snapshot.state):
                self._listed(entry)
        elif snapshot.kind == "chat" and isinstance(snapshot.state, dict):
            turn = snapshot.state.get("activeTurn")
            for part in _member(turn, "responseParts") or ():
                call = _member(part, "toolCall")
                if _member(call, "status") == "auth-required":
                    subject = (snapshot.channel, _member(turn, "id"), _member(call, "toolCallId"))
                    self._blocks.setdefault(subject, Block()).shown_blocked = True

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for subject, block in self._blocks.items():
            self._pair(subject, block)
            self._order(block)
        self._left_over()

    def _pair(self, subject: Subject, block: Block) -> None:
        chat, turn, call = subject
        if block.challenged and self._session_followed(chat):
            self.watch("AHP-TOOLAUTH-022")
            if not block.listed:
                first = block.challenged[0]
                self.find(
                    "AHP-TOOLAUTH-022",
                    "a blocked call has no entry in its session",
                    expected=f"session/inputNeededSet, kind toolAuthentication, for call {call} of {turn}",
                    seen="none up to the end",
                    frame=first.frame.n,
                )
        if block.listed and self._chat_followed(chat):
            self.watch("AHP-TOOLAUTH-064")
            if not block.challenged and not block.shown_blocked:
                self.find(
                    "AHP-TOOLAUTH-064",
                    "an entry names a call that was never blocked",
                    expected=f"an auth-required call {call} in turn {turn} of {chat}",
                    seen="no such call",
                    frame=None,
                )

    def _order(self, block: Block) -> None:
        for number, frame in block.removed:
            later = [seq for seq in block.resolved if seq > number]
            before = [seq for seq in block.resolved if seq < number]
            if block.resolved:
                self.watch("AHP-TOOLAUTH-069")
            if later and not before:
                self.find(
                    "AHP-TOOLAUTH-069",
                    "the entry was removed ahead of the resolution",
                    expected=f"a serverSeq above {later[0]}",
                    seen=number,
                    frame=frame,
                )

    def _left_over(self) -> None:
        """In the last snapshot no entry is about a call that was resumed and not challenged again."""
        for snapshot in self._last.values():
            for entry in entries_in(snapshot.state):
                if entry.get("kind") != "toolAuthentication":
                    continue
                block = self._blocks.get(subject_of(entry), Block())
                challenges = [e.seq for e in block.challenged if isinstance(e.seq, int)]
                if block.resolved and max(block.resolved) > max(challenges, default=-1):
                    self.find(
                        "AHP-TOOLAUTH-026",
                        "the entry of a resumed call is still listed",
                        expected="session/inputNeededRemoved",
                        seen=entry,
                        frame=snapshot.frame.n,
                    )
        if any(block.resolved for block in self._blocks.values()) and self._last:
            self.watch("AHP-TOOLAUTH-026")

    def _session_followed(self, chat: Any) -> bool:
        """Whether some live connection follows the session of this chat."""
        return any(
            view.kind == "session"
            and view.live
            and any(_member(c, "resource") == chat for c in _member(view.state, "chats") or ())
            for connection in self.tracker.connections.values()
            for view in connection.channels.values()
        )

    def _chat_followed(self, chat: Any) -> bool:
        return any(True for _, view in self.tracker.views(chat) if view.live)


def _call(turn: Any, call_id: Any) -> dict[str, Any] | None:
    for part in _member(turn, "responseParts") or ():
        call = _member(part, "toolCall")
        if isinstance(call, dict) and call.get("toolCallId") == call_id:
            return call
    return None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
