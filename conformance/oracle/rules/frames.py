"""The form of single messages: WebSocket text, one JSON-RPC 2.0 message each, answers to what was asked."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Reply, Request
from conformance.wire.frames import Frame


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
        if "method" not in message:
            self._response(frame, message)
        elif "id" not in message:
            self.watch("AHP-RPC-011")
            params = message.get("params")
            if not isinstance(params, dict) or not isinstance(params.get("channel"), str):
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
            isinstance(error, dict)
            and isinstance(error.get("code"), int)
            and not isinstance(error.get("code"), bool)
            and isinstance(error.get("message"), str)
        ):
            self.find(
                "AHP-RPC-003",
                "an error without code and message",
                expected="an integer code and a string message",
                seen=error,
                frame=frame.n,
            )


class Answers(Rule):
    """Each request gets one answer, under its own id."""

    name = "answers"
    obligations = ("AHP-RPC-001", "AHP-RPC-022")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection and id: requests sent less answers received. An id may be used again by a careless client.
        self._open: dict[tuple[str, int | str], int] = {}

    def request(self, request: Request) -> None:
        key = (request.conn, request.id)
        self._open[key] = self._open.get(key, 0) + 1

    def reply(self, reply: Reply) -> None:
        identity = reply.frame.msg.get("id")
        if identity is None:
            # What could not be read has no id to answer under (JSON-RPC 2.0 section 5).
            return
        key = (reply.conn, identity) if isinstance(identity, int | str) else None
        if key is not None and self._open.get(key, 0) > 0:
            self._open[key] -= 1
            self.watch("AHP-RPC-001", "AHP-RPC-022")
            return
        known = key is not None and key in self._open
        self.find(
            "AHP-RPC-001" if known else "AHP-RPC-022",
            "a second answer to one request" if known else "an answer to nothing that was asked",
            expected="one response for each request, with its id",
            seen=reply.frame.msg,
            frame=reply.frame.n,
        )
