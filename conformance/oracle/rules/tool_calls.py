"""Tool calls: every action of the host fits the status that the call has."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope
from conformance.protocol import contributor_kind, event_of, next_status


class ToolCallTransitions(Rule):
    """What the host says of a call moves it along the table of transitions."""

    name = "tool-call-transitions"
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
        "AHP-MCP-026",
        "AHP-TOOL-012",
    )

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        if not envelope.type.startswith("chat/toolCall"):
            return
        turn = envelope.before.get("activeTurn")
        if not isinstance(turn, dict) or turn.get("id") != envelope.get("turnId"):
            return
        calls = [
            part["toolCall"]
            for part in turn.get("responseParts") or ()
            if isinstance(part, dict) and isinstance(part.get("toolCall"), dict)
        ]
        call = next((c for c in calls if c.get("toolCallId") == envelope.get("toolCallId")), None)
        if envelope.type == "chat/toolCallStart":
            self._start(envelope, call)
        else:
            self._event(envelope, call)
            self._contributor(envelope)

    def _start(self, envelope: Envelope, call: Any) -> None:
        self.watch("AHP-TOOL-002")
        if call is not None:
            self._find(envelope, "AHP-TOOL-002", "a toolCallId is used twice in a turn", "a new toolCallId")

    def _event(self, envelope: Envelope, call: Any) -> None:
        try:
            event = event_of(envelope.action)
        except (KeyError, TypeError):
            return
        if event is None:
            return
        if call is None:
            if envelope.origin is None:
                self._find(envelope, "AHP-TOOL-026", "an action for a call that is not there", "a known call")
            return
        status, kind = call.get("status"), contributor_kind(call)
        if not isinstance(status, str):
            return
        self.watch("AHP-TOOL-026")
        if event == "challenged":
            self.watch("AHP-TOOLAUTH-015")
        if event.startswith("succeeded") and kind == "mcp":
            self.watch("AHP-TOOLAUTH-053")
        if event == "denied" and envelope.origin is None and status == "pending-confirmation":
            self._find(
                envelope,
                "AHP-TOOL-015",
                "the host cancels a call on its own account",
                "a denial by a client, or the end of the turn",
            )
        if next_status(status, event, kind) is None:
            self._illegal(envelope, event, status)

    def _illegal(self, envelope: Envelope, event: str, status: str) -> None:
        what = f"{envelope.type} ({event}) for a call that is {status}"
        if envelope.origin is not None:
            if event in ("approved", "denied"):
                broken = ("AHP-CONF-001", "AHP-TOOLAUTH-044") if status == "auth-required" else ("AHP-CONF-001",)
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
        """A running call of an MCP server names an entry of its session's customizations."""
        after = envelope.after.get("activeTurn") if isinstance(envelope.after, dict) else None
        for part in (after or {}).get("responseParts") or ():
            call = part.get("toolCall") if isinstance(part, dict) else None
            if not isinstance(call, dict) or call.get("toolCallId") != envelope.get("toolCallId"):
                continue
            contributor = call.get("contributor")
            if contributor_kind(call) != "mcp" or call.get("status") != "running":
                continue
            ids = self._customizations(envelope)
            if ids is None:
                continue
            self.watch("AHP-MCP-026", "AHP-TOOL-012")
            if not isinstance(contributor, dict) or contributor.get("customizationId") not in ids:
                self._find(
                    envelope,
                    ("AHP-MCP-026", "AHP-TOOL-012"),
                    f"the contributor of a running call names no MCP server of the session: {contributor!r}",
                    f"one of {sorted(map(str, ids))}",
                )

    def _customizations(self, envelope: Envelope) -> set[Any] | None:
        """The ids of the MCP servers of the chat's session, as this connection knows them."""
        for view in self.tracker.connection(envelope.conn).channels.values():
            state = view.state
            if view.kind != "session" or not isinstance(state, dict) or not view.live:
                continue
            if any(isinstance(c, dict) and c.get("resource") == envelope.channel for c in state.get("chats") or ()):
                return {c.get("id") for c in servers_in(state)}
        return None

    def _find(self, envelope: Envelope, obligation: str | tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.seq),
        )


def servers_in(state: Any) -> list[dict[str, Any]]:
    """The MCP server entries of a session state, at top level and in containers."""
    top = [c for c in (state.get("customizations") or ()) if isinstance(c, dict)]
    every = [*top, *(child for c in top for child in c.get("children") or () if isinstance(child, dict))]
    return [c for c in every if c.get("type") == "mcpServer"]
