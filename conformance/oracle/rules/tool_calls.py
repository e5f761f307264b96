"""Tool calls: every action of the host fits the status that the call has."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import (
    active_turn,
    call_in,
    calls_in,
    chats_in,
    contributor_of,
    member,
    servers_in,
    text,
)
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope
from conformance.oracle.unknown import has_unknown_status
from conformance.protocol import event_of, next_status

# Statuses in which only a client, or the end of the turn, may cancel a call.
_WITH_THE_USER = ("pending-confirmation", "pending-result-confirmation")


class ToolCallTransitions(Rule):
    """What the host says of a call moves it along the table of transitions."""

    name = "tool-call-transitions"
    hears = frozenset(
        {
            "chat/toolCallStart",
            "chat/toolCallDelta",
            "chat/toolCallReady",
            "chat/toolCallConfirmed",
            "chat/toolCallComplete",
            "chat/toolCallResultConfirmed",
            "chat/toolCallContentChanged",
            "chat/toolCallAuthRequired",
            "chat/toolCallAuthResolved",
        }
    )
    obligations = (
        "AHP-TOOLAUTH-015",
        "AHP-TOOLAUTH-044",
        "AHP-TOOLAUTH-053",
        "AHP-TOOLAUTH-078",
        "AHP-TOOL-002",
        "AHP-TOOL-003",
        "AHP-TOOL-015",
        "AHP-TOOL-026",
        "AHP-CONF-001",
        "AHP-CONF-002",
        "AHP-MCP-026",
        "AHP-TOOL-012",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Chat, turn and id of calls that were once challenged, and of calls that a client decided about.
        self._challenged: Bounded[_Key, None] = Bounded()
        self._decided: Bounded[_Key, None] = Bounded()

    def gone(self, channel: str) -> None:
        for kept in (self._challenged, self._decided):
            for key in [key for key in kept if key[0] == channel]:
                del kept[key]

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.type.startswith("chat/toolCall"):
            return
        turn = active_turn(envelope.before)
        if turn is None or turn.get("id") != envelope.get("turnId"):
            return
        calls = [call for call in calls_in(turn) if call.get("toolCallId") == envelope.get("toolCallId")]
        call = calls[0] if calls else None
        if not envelope.accepted:
            self._refused(envelope, call)
        elif envelope.type == "chat/toolCallStart":
            self._start(envelope, call)
        else:
            self._event(envelope, call)

    def _refused(self, envelope: Envelope, call: Any) -> None:
        """A rejection is what is due to a client whose action does not fit the status."""
        event, status = _event_of(envelope.action), text(member(call, "status"))
        if event is None or status is None or next_status(status, event, contributor_of(call)) is not None:
            return
        if event in ("approved", "denied"):
            self.watch("AHP-CONF-001", *(["AHP-TOOLAUTH-044"] if status == "auth-required" else []))
            self.watch(*(["AHP-CONF-002"] if _key(envelope) in self._decided else []))
        elif event.startswith("succeeded") and status == "auth-required":
            self.watch("AHP-TOOLAUTH-078")

    def _start(self, envelope: Envelope, call: Any) -> None:
        self.watch("AHP-TOOL-002")
        if call is not None:
            self._find(envelope, "AHP-TOOL-002", "a toolCallId is used twice in a turn", "a new toolCallId")

    def _event(self, envelope: Envelope, call: Any) -> None:
        event = _event_of(envelope.action)
        if event is None:
            return
        if call is None:
            if envelope.origin is None:
                self._find(envelope, "AHP-TOOL-026", "an action for a call that is not there", "a known call")
            return
        status, kind = text(call.get("status")), contributor_of(call)
        if status is None or has_unknown_status(call):
            return
        self._watch(envelope, event, status)
        if event in ("denied", "result denied") and envelope.origin is None and next_status(status, event, kind):
            self._find(
                envelope,
                "AHP-TOOL-015",
                "the host cancels a call on its own account",
                "a denial by a client, or the end of the turn",
            )
        if next_status(status, event, kind) is None:
            self._illegal(envelope, event, status)
        elif event in ("ready, confirmed", "approved") and status != "running":
            self._contributor(envelope)
        self._decides(envelope, event, status)

    def _decides(self, envelope: Envelope, event: str, status: str) -> None:
        if event == "ready":
            self._decided.pop(_key(envelope), None)
        elif event in ("approved", "denied") and envelope.origin is not None and status == "pending-confirmation":
            self._decided[_key(envelope)] = None

    def _watch(self, envelope: Envelope, event: str, status: str) -> None:
        key = _key(envelope)
        if status in _WITH_THE_USER:
            self.watch("AHP-TOOL-015")
        if event == "challenged":
            self.watch("AHP-TOOLAUTH-015")
            self._challenged[key] = None
        if event.startswith("succeeded") and key in self._challenged:
            self.watch("AHP-TOOLAUTH-053")
        if envelope.origin is None:
            self.watch("AHP-TOOL-026")
            if event.startswith(("content", "succeeded", "failed")):
                self.watch("AHP-TOOL-003")

    def _illegal(self, envelope: Envelope, event: str, status: str) -> None:
        what = f"{envelope.type} ({event}) for a call that is {status}"
        if envelope.origin is not None:
            if event in ("approved", "denied"):
                more = {
                    "AHP-TOOLAUTH-044": status == "auth-required",
                    "AHP-CONF-002": _key(envelope) in self._decided,
                }
                broken = ("AHP-CONF-001", *(obligation for obligation, holds in more.items() if holds))
                self._find(envelope, broken, f"accepted from a client: {what}", "a rejection")
            elif event.startswith("succeeded") and status == "auth-required":
                self._find(envelope, "AHP-TOOLAUTH-078", f"accepted from a client: {what}", "a rejection")
        elif event == "challenged":
            self._find(envelope, "AHP-TOOLAUTH-015", what, "a running call of an MCP server")
        elif event.startswith("succeeded") and status == "auth-required":
            self._find(envelope, "AHP-TOOLAUTH-053", what, "chat/toolCallAuthResolved first")
        elif status == "streaming" and event.startswith(("content", "succeeded", "failed")):
            self._find(envelope, "AHP-TOOL-003", what, "chat/toolCallReady first")
        else:
            self._find(envelope, "AHP-TOOL-026", what, "an action that the status knows")

    def _contributor(self, envelope: Envelope) -> None:
        """A call of an MCP server that starts to run names an entry of its session's customizations."""
        call = call_in(active_turn(envelope.after), envelope.get("toolCallId"))
        if contributor_of(call) != "mcp" or member(call, "status") != "running":
            return
        ids = self._customizations(envelope)
        if ids is None:
            return
        self.watch("AHP-MCP-026", "AHP-TOOL-012")
        contributor = member(call, "contributor")
        if member(contributor, "customizationId") not in ids:
            self._find(
                envelope,
                ("AHP-MCP-026", "AHP-TOOL-012"),
                f"the contributor of a running call names no MCP server of the session: {contributor!r}",
                f"one of {ids}",
            )

    def _customizations(self, envelope: Envelope) -> list[Any] | None:
        """The ids of the MCP servers of the chat's session, as this connection knows them."""
        for view in self.tracker.connection(envelope.conn).channels.values():
            # Who permits delays may hear later of a new server than of its call.
            known = view.kind == "session" and view.live and not view.late
            if known and envelope.channel in chats_in(view.state):
                return [server.get("id") for server in servers_in(view.state)]
        return None

    def _find(self, envelope: Envelope, obligation: str | tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )


_Key = tuple[str, str, str]


def _key(envelope: Envelope) -> _Key:
    """A call by its chat, turn and id."""
    return envelope.channel, repr(envelope.get("turnId")), repr(envelope.get("toolCallId"))


def _event_of(action: Any) -> str | None:
    """What an action means to its call; None when it is too malformed to mean anything."""
    try:
        return event_of(action)
    except (KeyError, TypeError, AttributeError):
        return None
