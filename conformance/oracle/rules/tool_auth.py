"""Challenges of tool calls: each has its entry and each entry its call; only an accepted token resolves one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.comparing import without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import (
    active_turn,
    call_in,
    calls_in,
    chats_in,
    contributor_of,
    dicts,
    entries_in,
    member,
    servers_in,
    text,
)
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, ConnectionView, Envelope, Reply, Request, Snapshot
from conformance.protocol import FINAL_STATUSES, needs_input

from .entries import Subject, subject_of
from .input_needed import still_listed
from .mcp import lacks_of
from .pushes import Pushes

# What a host says of a call; a call that was given up is heard of no more.
_ACTS = (
    "chat/toolCallAuthRequired",
    "chat/toolCallAuthResolved",
    "chat/toolCallComplete",
    "chat/toolCallContentChanged",
    "chat/toolCallReady",
)
_STOPS = (
    "session/mcpServerStopRequested",
    "session/mcpServerStateChanged",
    "session/customizationToggled",
    "session/customizationsChanged",
    "session/customizationUpdated",
    "session/customizationRemoved",
)


@dataclass(slots=True)
class Block:
    """What is known of one blocked call, by serverSeq: challenges, resolutions, listings and removals of its entry.

    ``set`` are the listings that an action told and no snapshot. ``shown`` is the position of a snapshot that
    showed the call blocked, ``over`` the position at which its turn had ended, ``cancelled`` that at which a client
    gave the call up; -1 means never. ``tempted`` says that a token for its resource came after it was given up.
    """

    challenged: dict[int, Envelope] = field(default_factory=dict)
    resolved: list[int] = field(default_factory=list)
    listed: dict[int, Any] = field(default_factory=dict)
    set: list[int] = field(default_factory=list)
    removed: dict[int, int] = field(default_factory=dict)
    shown: int = -1
    over: int = -1
    cancelled: int = -1
    tempted: bool = False


class ToolAuthentication(Rule):
    """Pairing of challenges with entries, in both directions, and what resolves a challenge."""

    name = "tool-authentication"
    obligations = (
        "AHP-TOOLAUTH-017",
        "AHP-TOOLAUTH-022",
        "AHP-TOOLAUTH-026",
        "AHP-TOOLAUTH-027",
        "AHP-TOOLAUTH-031",
        "AHP-TOOLAUTH-036",
        "AHP-TOOLAUTH-042",
        "AHP-TOOLAUTH-043",
        "AHP-TOOLAUTH-052",
        "AHP-TOOLAUTH-059",
        "AHP-TOOLAUTH-064",
        "AHP-TOOLAUTH-069",
        "AHP-TOOLAUTH-071",
        "AHP-TOOLAUTH-072",
    )
    hears = frozenset(
        {
            *_STOPS,
            *_ACTS,
            "chat/turnComplete",
            "chat/turnCancelled",
            "chat/error",
            "chat/truncated",
            "session/chatAdded",
            "session/chatRemoved",
            "session/chatUpdated",
            "session/inputNeededSet",
            "session/inputNeededRemoved",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._blocks: Bounded[Subject, Block] = Bounded()
        # Resources that a token was pushed for, with the frame of the last push.
        self._pushed: Bounded[str, int] = Bounded()
        self._pushes = Pushes()
        # Ids of the MCP servers that somebody stopped or switched off: that ends the wait of their calls too.
        self._stopped: Bounded[str, None] = Bounded()
        self._ids: Bounded[tuple[str, str], Subject] = Bounded()
        # Turns that a client cancelled while a call of them was blocked.
        self._dropped: Bounded[tuple[str, str], int] = Bounded()
        # Per chat: the serverSeq at which the catalogue of its session last stopped showing it in need of input.
        self._calmed: Bounded[str, int] = Bounded()
        self._last: Bounded[str, Snapshot] = Bounded(64)

    def gone(self, channel: str) -> None:
        # What was listed at the end of a session is listed no more.
        self._last.pop(channel, None)

    def request(self, request: Request) -> None:
        self._pushes.request(request)
        resource, token = text(request.params.get("resource")), request.params.get("token")
        # An empty token takes one back.
        if request.method == "authenticate" and resource is not None and token != "":
            self._pushed[resource] = request.frame.n

    def reply(self, reply: Reply) -> None:
        self._pushes.reply(reply)
        if reply.request is None or reply.request.method != "authenticate" or reply.failed:
            return
        resource, token = text(reply.request.params.get("resource")), reply.request.params.get("token")
        for block in self._blocks.values():
            given_up = block.cancelled >= 0 or block.over >= 0
            if (
                given_up
                and token != ""
                and any(_resource_of(c.get("auth")) == resource for c in block.challenged.values())
            ):
                block.tempted = True

    def envelope(self, envelope: Envelope) -> None:
        # What comes a second time, as in a replay, was counted when it came first.
        if not envelope.accepted or not isinstance(envelope.before, dict) or not isinstance(envelope.seq, int):
            return
        if envelope.kind == "chat":
            self._on_chat(envelope, envelope.seq)
        elif envelope.kind == "session":
            self._on_session(envelope, envelope.seq)

    # -- the chat -------------------------------------------------------------------------------------

    def _on_chat(self, envelope: Envelope, seq: int) -> None:
        turn = active_turn(envelope.before)
        if turn is not None and active_turn(envelope.after) is None:
            self._turn_end(envelope, seq, turn)
        if envelope.type not in _ACTS:
            return
        if envelope.origin is None:
            self._after_the_end(envelope, seq)
        call = call_in(turn, envelope.get("toolCallId"))
        if member(turn, "id") != envelope.get("turnId") or call is None:
            return
        before = call.get("status")
        if envelope.type == "chat/toolCallComplete":
            if before == "running" and self._block(envelope.channel, turn, call).resolved:
                self.watch("AHP-TOOLAUTH-071")
            if before == "auth-required" and envelope.origin is not None:
                self._given_up(envelope, seq, turn, call)
            return
        if envelope.type not in ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved"):
            return
        block = self._block(envelope.channel, turn, call)
        after = member(call_in(active_turn(envelope.after), envelope.get("toolCallId")), "status")
        if before != "auth-required" and after == "auth-required":
            block.challenged[seq] = envelope
            self._challenge(envelope)
        elif before == "auth-required" and after != "auth-required":
            block.resolved.append(seq)
            self._resolved(envelope, call, block)

    def _challenge(self, envelope: Envelope) -> None:
        self.watch("AHP-TOOLAUTH-017", "AHP-TOOLAUTH-059")
        for obligation, message, expected in lacks_of(envelope.get("auth"), "AHP-TOOLAUTH-059", "AHP-TOOLAUTH-017"):
            self.find(
                obligation,
                message,
                expected=expected,
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _given_up(self, envelope: Envelope, seq: int, turn: Any, call: Any) -> None:
        after = call_in(active_turn(envelope.after), envelope.get("toolCallId"))
        if member(after, "status") == "completed":
            self._block(envelope.channel, turn, call).cancelled = seq

    def _after_the_end(self, envelope: Envelope, seq: int) -> None:
        """What the host says of a call that a client has ended, by itself or with its turn.

        Another connection may hear of what was said before, after this one has heard of the end.
        """
        turn, call = text(envelope.get("turnId")) or "", text(envelope.get("toolCallId")) or ""
        block = self._blocks.get((envelope.channel, turn, call))
        broken = []
        if block is not None and 0 <= block.cancelled < seq and not self._stopped:
            broken = ["AHP-TOOLAUTH-042"]
        if self._dropped.get((envelope.channel, turn), seq) < seq and block is not None and block.challenged:
            broken.append("AHP-TOOLAUTH-043")
        if broken:
            self.find(
                tuple(broken),
                "a call that a client has ended goes on",
                expected="nothing more about it",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _block(self, chat: str, turn: Any, call: Any) -> Block:
        about = {"chat": chat, "turnId": member(turn, "id"), "toolCall": call}
        return self._blocks.setdefault(subject_of(about), Block())

    def _resolved(self, envelope: Envelope, call: dict[str, Any], block: Block) -> None:
        if _server_of(call) in self._stopped:
            return
        self.watch("AHP-TOOLAUTH-031")
        resource = _resource_of(call.get("auth"))
        since = max((challenge.frame.n for challenge in block.challenged.values()), default=envelope.frame.n)
        others = [pushed for pushed, frame in self._pushed.items() if pushed != resource and frame > since]
        self.watch(*(["AHP-TOOLAUTH-036"] if others else []))
        self.watch(*(["AHP-TOOLAUTH-072"] if self._pushes.refused(resource) else []))
        # In a log of one client another one may have pushed a token, or stopped the server where nobody looked.
        if not self.tracker.whole or not self._knows_session(envelope):
            return
        if self._pushes.only_refused(resource):
            self.find(
                "AHP-TOOLAUTH-072",
                "a call is resumed although every token for its resource was refused",
                expected="nothing, or the challenge again",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )
        if resource not in self._pushed and self.tracker.whole:
            self.find(
                ("AHP-TOOLAUTH-031", "AHP-TOOLAUTH-036") if others else "AHP-TOOLAUTH-031",
                "a call was resumed before anybody pushed a token for its resource",
                expected=f"authenticate for {resource} first",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _turn_end(self, envelope: Envelope, seq: int, turn: dict[str, Any]) -> None:
        calls = calls_in(turn)
        blocked = [call for call in calls if call.get("status") == "auth-required"]
        for call in calls:
            if contributor_of(call) == "mcp":
                self._block(envelope.channel, turn, call).over = seq
                if call.get("status") == "running" and envelope.type == "chat/turnComplete":
                    self._abandoned(envelope, turn, call)
        if blocked and envelope.type == "chat/turnCancelled":
            self._dropped[(envelope.channel, text(turn.get("id")) or "")] = seq
        if not blocked or envelope.origin is not None or envelope.type not in ("chat/turnComplete", "chat/error"):
            return
        if any(_server_of(call) in self._stopped for call in blocked) or not self._knows_session(envelope):
            return
        if envelope.type == "chat/error" and any(self._runs(call) for call in calls):
            # What runs beside the blocked call may fail for reasons of its own.
            return
        self.find(
            "AHP-TOOLAUTH-052",
            "the host ends a turn while a call of it is blocked",
            expected="the turn goes on waiting",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.seq),
        )

    def _abandoned(self, envelope: Envelope, turn: Any, call: dict[str, Any]) -> None:
        if self._block(envelope.channel, turn, call).resolved and envelope.origin is None:
            self.find(
                "AHP-TOOLAUTH-071",
                "a call that was resumed is not carried to its end",
                expected="chat/toolCallComplete before the end of the turn",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _runs(self, call: dict[str, Any]) -> bool:
        return call.get("status") not in (*FINAL_STATUSES, "auth-required")

    # -- the session ----------------------------------------------------------------------------------

    def _on_session(self, envelope: Envelope, seq: int) -> None:
        identity = text(envelope.get("id")) or ""
        for chat in _waiting_chats(envelope.before) - _waiting_chats(envelope.after):
            self._calmed[chat] = seq
        if envelope.type in _STOPS:
            self._stops(envelope, identity)
        elif envelope.type == "session/inputNeededSet":
            block = self._listed(envelope.channel, envelope.get("request"), seq)
            if block is not None:
                block.set.append(seq)
        elif envelope.type == "session/inputNeededRemoved":
            block = self._blocks.get(self._ids.get((envelope.channel, identity), ()))
            if block is not None:
                block.removed.setdefault(seq, envelope.frame.n)

    def _stops(self, envelope: Envelope, identity: str) -> None:
        """A server stops on request, with its container, or by itself; nothing waits for it then."""
        if envelope.type == "session/mcpServerStateChanged":
            if member(envelope.get("state"), "kind") in ("stopped", "error"):
                self._stopped[identity] = None
            return
        before, after = servers_in(envelope.before), {repr(server.get("id")) for server in servers_in(envelope.after)}
        gone = [server for server in before if repr(server.get("id")) not in after]
        for container in dicts(member(envelope.before, "customizations")):
            gone.extend(dicts(container.get("children")) if container.get("id") == identity else ())
        for stopped in (identity, *(text(server.get("id")) or "" for server in gone)):
            self._stopped[stopped] = None

    def _listed(self, session: str, entry: Any, seq: int) -> Block | None:
        if member(entry, "kind") != "toolAuthentication":
            return None
        subject = subject_of(entry)
        block = self._blocks.setdefault(subject, Block())
        block.listed.setdefault(seq, entry)
        self._ids[(session, text(member(entry, "id")) or "")] = subject
        return block

    def snapshot(self, snapshot: Snapshot) -> None:
        position = -1 if snapshot.from_seq is None else snapshot.from_seq
        if snapshot.kind == "session":
            self._last[snapshot.channel] = snapshot
            for entry in entries_in(snapshot.state):
                self._listed(snapshot.channel, entry, position)
        elif snapshot.kind == "chat":
            turn = active_turn(snapshot.state)
            for call in calls_in(turn):
                if call.get("status") == "auth-required":
                    self._block(snapshot.channel, turn, call).shown = position

    # -- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for subject, block in self._blocks.items():
            if block.challenged:
                self.watch("AHP-TOOLAUTH-052")
            if block.tempted:
                self.watch("AHP-TOOLAUTH-042" if block.cancelled >= 0 else "AHP-TOOLAUTH-043")
            self._has_entry(subject, block)
            self._has_call(subject, block)
            self._order(block)
            self._left_over(subject, block)

    def _has_entry(self, subject: Subject, block: Block) -> None:
        """Chat and session may tell of a block in any order (AMB-17), so only one that is over is judged.

        A session that is late is known by its catalogue: as long as the chat waits there, its entry may still come.
        """
        bare = self._bare(block)
        if block.challenged and block.listed:
            self.watch("AHP-TOOLAUTH-022")
        if (
            bare is not None
            and (block.resolved or block.over >= 0)
            and self._calmed.get(subject[0], -1) > (max(block.resolved) if block.resolved else block.over)
            and self._session_followed(subject[0], bare)
        ):
            self.find(
                "AHP-TOOLAUTH-022",
                "a blocked call had no entry in its session",
                expected=f"session/inputNeededSet, kind toolAuthentication, for call {subject[-1]} of {subject[1]}",
                seen="none",
                frame=block.challenged[bare].frame.n,
            )

    def _bare(self, block: Block) -> int | None:
        """The first challenge if the call was never listed; the last one if no entry came after its removal before."""
        if not block.challenged or not block.listed:
            return min(block.challenged, default=None)
        last = max(block.challenged)
        removed = max((seq for seq in block.removed if seq < last), default=None)
        return last if removed is not None and max(block.listed) < removed else None

    def _has_call(self, subject: Subject, block: Block) -> None:
        first = min(block.listed, default=None)
        if block.listed and block.challenged:
            self.watch("AHP-TOOLAUTH-064")
        if first is None or not self._chat_followed(subject[0], first):
            return
        if not block.challenged and block.shown < 0:
            if block.set and (block.removed or block.over >= 0):
                self._stray(subject, block, first, "no such call", "an entry names a call that was never blocked")
            return
        for seq, entry in block.listed.items():
            # An entry that is told late is about an earlier challenge; the last one is about the last challenge so
            # far, or about the next one.
            before = [s for s in sorted(block.challenged) if s <= seq]
            after = [s for s in sorted(block.challenged) if s > seq][:1]
            meant = before[-1:] if seq == max(block.listed) else before
            shown = without_nulls(member(member(entry, "toolCall"), "auth"))
            auths = [without_nulls(block.challenged[s].get("auth")) for s in meant + after]
            if auths and shown not in auths and block.shown < 0:
                self._stray(subject, block, seq, shown, "an entry has another auth than the challenge of its call")

    def _stray(self, subject: Subject, block: Block, seq: int, seen: Any, message: str) -> None:
        self.find(
            "AHP-TOOLAUTH-064",
            message,
            expected=f"the auth-required call {subject[-1]} in turn {subject[1]} of {subject[0]}",
            seen=seen,
            frame=block.removed[min(block.removed)] if block.removed else None,
            once=(subject, seq),
        )

    def _order(self, block: Block) -> None:
        """A removal that is followed by a resolution, with no new challenge and no new entry between them."""
        if block.resolved and block.removed:
            self.watch("AHP-TOOLAUTH-069")
        for number, frame in block.removed.items():
            later = min((seq for seq in block.resolved if seq > number), default=None)
            challenge = max((seq for seq in block.challenged if seq < number), default=-1)
            if later is None or any(challenge < seq < number for seq in block.resolved):
                continue
            if not any(number < seq < later for seq in (*block.challenged, *block.listed)):
                self.find(
                    "AHP-TOOLAUTH-069",
                    "the entry was removed ahead of the resolution",
                    expected=f"a serverSeq above {later}",
                    seen=number,
                    frame=frame,
                )

    def _left_over(self, subject: Subject, block: Block) -> None:
        """No entry is about a call that was resumed, or given up, and not challenged again.

        A session may be late with all that it repeats (AMB-17); that it is not is known by its catalogue, which has
        the chat no longer waiting.
        """
        last = max((*block.resolved, block.cancelled))
        if not block.listed or last <= max(block.challenged, default=-1):
            return
        broken = "AHP-TOOLAUTH-027" if last == block.cancelled else "AHP-TOOLAUTH-026"
        self.watch(broken)
        for snapshot in self._last.values() if self._calmed.get(subject[0], -1) > last else ():
            for entry in entries_in(snapshot.state):
                about_it = entry.get("kind") == "toolAuthentication" and subject_of(entry) == subject
                late = snapshot.from_seq is not None and snapshot.from_seq >= last
                if about_it and late and still_listed(self.tracker, snapshot, entry):
                    self.find(
                        broken,
                        "the entry of a call that was resumed or given up is still listed",
                        expected="session/inputNeededRemoved",
                        seen=entry,
                        frame=snapshot.frame.n,
                    )

    def _followed(self, connection: ConnectionView, view: ChannelView, since: int) -> bool:
        return view.live and connection.fed and view.since <= since

    def _session_followed(self, chat: str, since: int) -> bool:
        """Whether somebody has followed the session of a chat from a position to the end, so that nothing escaped."""
        return any(
            view.kind == "session" and chat in chats_in(view.state) and self._followed(connection, view, since)
            for connection in self.tracker.connections.values()
            for view in connection.channels.values()
        )

    def _knows_session(self, envelope: Envelope) -> bool:
        """Whether the connection follows the session of a chat, where it is told of servers that were stopped."""
        return any(
            view.kind == "session" and view.live and envelope.channel in chats_in(view.state)
            for view in self.tracker.connection(envelope.conn).channels.values()
        )

    def _chat_followed(self, chat: str, since: int) -> bool:
        return any(self._followed(connection, view, since) for connection, view in self.tracker.views(chat))


def _waiting_chats(session: Any) -> set[str]:
    """The chats that need input, as the catalogue of a session has it."""
    chats = dicts(member(session, "chats"))
    return {
        text(chat.get("resource")) or ""
        for chat in chats
        if isinstance(chat.get("status"), int) and needs_input(chat["status"])
    }


def _resource_of(auth: Any) -> str | None:
    """The resource that a challenge asks a token for."""
    return text(member(member(auth, "resource"), "resource"))


def _server_of(call: dict[str, Any]) -> str | None:
    """The MCP server entry that a call names."""
    return text(member(call.get("contributor"), "customizationId"))
