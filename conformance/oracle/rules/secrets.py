"""Tokens that clients push never come back, in any frame, to anybody."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Request
from conformance.wire.frames import Frame, encode


class Secrets(Rule):
    """No token of ours in anything that the host sends."""

    name = "secrets"
    obligations = ("AHP-AUTH-013", "AHP-TOOLAUTH-019", "AHP-MCP-023")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._pushed: set[str] = set()

    def request(self, request: Request) -> None:
        token = request.params.get("token")
        if request.method == "authenticate" and isinstance(token, str) and token:
            self._pushed.add(token)

    def frame(self, frame: Frame) -> None:
        if frame.dir != "in" or frame.kind == "close" or not self._pushed:
            return
        self.watch("AHP-AUTH-013")
        text = encode(frame.msg) if frame.kind == "json" else frame.raw or ""
        if "authRequired" in text or "auth-required" in text:
            self.watch("AHP-TOOLAUTH-019", "AHP-MCP-023")
        for token in self._pushed:
            if token in text:
                broken = ["AHP-AUTH-013"]
                if "auth-required" in text or "toolCallAuthRequired" in text or "toolAuthentication" in text:
                    broken.append("AHP-TOOLAUTH-019")
                if '"authRequired"' in text:
                    broken.append("AHP-MCP-023")
                self.find(
                    tuple(broken),
                    "a token that a client pushed came back",
                    expected="no token",
                    seen=text.replace(token, "«token»"),
                    frame=frame.n,
                )
