"""The form of single messages: WebSocket text, one JSON-RPC 2.0 message each, answers to what was asked."""

from __future__ import annotations

from collections import deque
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import member, text, whole
from conformance.oracle.rule import Rule
from conformance.protocol import METHODS
from conformance.wire.frames import Frame, encode


class MessageForm(Rule):
    """Every frame of the host is one JSON-RPC 2.0 message in a text frame."""

    name = "message-form"
    obligations = ("AHP-RPC-003", "AHP-RPC-004", "AHP-RPC-005", "AHP-RPC-006", "AHP-RPC-011")

    def frame(self, frame: Frame) -> None:
        if frame.dir != "in" or frame.kind == "close":
            return
        self.watch("AHP-RPC-005", "AHP-RPC-006")
        if frame.kind == "binary":
            self.find("AHP-RPC-005", "a binary frame", expected="a text frame", seen=frame.raw or "", frame=frame.n)
        elif frame.kind == "not-utf8":
            self.find(
                "AHP-RPC-005",
                "a text frame that is not UTF-8",
                expected="UTF-8",
                seen=frame.raw or "",
                frame=frame.n,
            )
        elif frame.kind == "text":
            self.find(
                "AHP-RPC-006",
                "a frame that is not one JSON value",
                expected="one JSON-RPC message",
                seen=frame.raw or "",
                frame=frame.n,
            )
        elif not isinstance(frame.msg, dict):
            self.find(
                "AHP-RPC-006",
                "a frame that is no JSON-RPC message",
                expected="one JSON object",
                seen=frame.msg,
                frame=frame.n,
            )
        else:
            self._message(frame, frame.msg)

    def _message(self, frame: Frame, message: dict[str, Any]) -> None:
        self.watch("AHP-RPC-004")
        if message.get("jsonrpc") != "2.0":
            self.find(
                "AHP-RPC-004",
                "a message without jsonrpc 2.0",
                expected='jsonrpc "2.0"',
                seen=message.get("jsonrpc"),
                frame=frame.n,
            )
        method = message.get("method")
        if method == "action" and "id" not in message:
            # By far the most there is.
            params = message.get("params")
            if isinstance(params, dict) and isinstance(params.get("channel"), str):
                self.watch("AHP-RPC-011")
                return
        if "method" not in message:
            self._response(frame, message)
        elif not isinstance(method, str):
            self.find(
                "AHP-RPC-006",
                "a message whose method is no string",
                expected="a request, a response or a notification",
                seen=message,
                frame=frame.n,
            )
        elif "id" not in message and not is_forwarded(message):
            self.watch("AHP-RPC-011")
            if text(member(message.get("params"), "channel")) is None:
                self.find(
                    "AHP-RPC-011",
                    "a notification without channel",
                    expected="params.channel, a string",
                    seen=message,
                    frame=frame.n,
                )

    def _response(self, frame: Frame, message: dict[str, Any]) -> None:
        self.watch("AHP-RPC-003")
        error = message.get("error")
        if ("result" in message) == ("error" in message):
            self.find(
                "AHP-RPC-003",
                "a response with both or neither of result and error",
                expected="exactly one of result and error",
                seen=message,
                frame=frame.n,
            )
        elif "error" in message and not (
            isinstance(error, dict) and whole(error.get("code")) is not None and isinstance(error.get("message"), str)
        ):
            self.find(
                "AHP-RPC-003",
                "an error without code and message",
                expected="an integer code and a string message",
                seen=error,
                frame=frame.n,
            )


def is_forwarded(message: dict[str, Any]) -> bool:
    """Whether a notification is one of an MCP server's, passed on; its channel may stand beside params (AMB-42)."""
    channel = text(member(message.get("params"), "channel")) or text(message.get("channel")) or ""
    return channel.startswith("mcp:") and message.get("method") not in METHODS


class Answers(Rule):
    """Each request gets one answer, under its own id."""

    name = "answers"
    obligations = ("AHP-RPC-001", "AHP-RPC-002", "AHP-RPC-022")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection and id: requests sent less answers received. An id may be used again by a careless client.
        self._open: Bounded[tuple[str, str], int] = Bounded()
        self._sent: Bounded[tuple[str, str], tuple[str | None, int]] = Bounded()
        # Per connection: the last request that was answered, and what the suite sent that is no message at all.
        self._answered: dict[str, int] = {}
        self._unreadable: dict[str, deque[str]] = {}
        # Per connection: the last notification, which nobody answers.
        self._notified: dict[str, int] = {}

    def frame(self, frame: Frame) -> None:
        if frame.kind == "close":
            return
        if frame.dir == "out":
            self._out(frame)
        elif isinstance(frame.msg, dict) and "method" not in frame.msg:
            self._in(frame, frame.msg)

    def _out(self, frame: Frame) -> None:
        if frame.kind != "json":
            self._cannot_read(frame.conn, frame.raw or "")
            return
        if member(frame.msg, "method") is not None and "id" not in frame.msg:
            self._notified[frame.conn] = frame.n
        batch = frame.msg if isinstance(frame.msg, list) else [frame.msg]
        for message in batch:
            method = message.get("method") if isinstance(message, dict) else None
            if isinstance(message, dict) and message.get("id") is not None:
                if "result" not in message and "error" not in message:
                    key = (frame.conn, _written(message["id"]))
                    self._open[key] = self._open.get(key, 0) + 1
                    self._sent[key] = (method if isinstance(method, str) else None, frame.n)
                if not isinstance(method, str):
                    # A message with an id and nothing else may be answered under it, or under none.
                    self._cannot_read(frame.conn, "")
            elif isinstance(method, str) and isinstance(message, dict) and "id" not in message:
                continue
            else:
                self._cannot_read(frame.conn, "")
        if isinstance(frame.msg, list) or member(frame.msg, "jsonrpc") != "2.0":
            self._cannot_read(frame.conn, "")

    def _cannot_read(self, conn: str, raw: str) -> None:
        self._unreadable.setdefault(conn, deque(maxlen=64)).append(raw)

    def _in(self, frame: Frame, message: dict[str, Any]) -> None:
        identity = message.get("id")
        if identity is None:
            if message.get("error") is not None and (frame.conn in self._unreadable or not self.tracker.whole):
                # What could not be read has no id to answer under (JSON-RPC 2.0 section 5, ambiguity A-30).
                return
            if self._notified.get(frame.conn, -1) > self._answered.get(frame.conn, -1):
                self._find(frame, ("AHP-RPC-002", "AHP-RPC-022"), "a notification was answered")
            else:
                self._find(frame, "AHP-RPC-022", "an answer without an id")
            return
        key = (frame.conn, _written(identity))
        if self._open.get(key, 0) > 0:
            self._open[key] -= 1
            self._answered[frame.conn] = max(self._sent[key][1], self._answered.get(frame.conn, -1))
            self.watch("AHP-RPC-001", "AHP-RPC-002", "AHP-RPC-022")
        elif key in self._open:
            self._find(frame, "AHP-RPC-001", "a second answer to one request")
        elif self.tracker.begins(frame.conn) and not any(key[1] in raw for raw in self._unreadable.get(frame.conn, ())):
            # A host may read what this suite cannot, such as NaN, and find an id in it.
            self._find(frame, "AHP-RPC-022", "an answer to nothing that was asked")

    def end(self) -> None:
        """What needs no work is answered before what was asked later."""
        for (conn, identity), count in self._open.items():
            method, frame = self._sent[(conn, identity)]
            quick = method is not None and (method == "ping" or method not in METHODS)
            if not quick or count < 1 or not self.tracker.settled or not self.tracker.connection(conn).fed:
                continue
            if frame < self._answered.get(conn, -1):
                self.find(
                    "AHP-RPC-001",
                    f"{method} was never answered",
                    expected=f"a response with the id {identity}, ahead of those to later requests",
                    seen="none up to the end",
                    frame=frame,
                )

    def _find(self, frame: Frame, obligation: str | tuple[str, ...], message: str) -> None:
        self.find(
            obligation,
            message,
            expected="one response for each request, with its id",
            seen=frame.msg,
            frame=frame.n,
        )


def _written(identity: Any) -> str:
    """An id as JSON text, so that any value can be one; 1 and 1.0 are the same number."""
    number = whole(identity)
    return encode(identity if number is None else number)
