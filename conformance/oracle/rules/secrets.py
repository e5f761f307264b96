"""Tokens that clients push never come back, in any frame, to anybody."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, member
from conformance.oracle.rule import Rule
from conformance.wire.frames import Frame, encode
from conformance.wire.tokens import FORM, MARK, SHOWN, SHOWN_MARK

# A shorter token may stand in any text by chance.
_SHORTEST = 8
# Each of them is looked for in every frame.
_MOST_TOKENS = 64


class Secrets(Rule):
    """No token of ours in anything that the host sends."""

    name = "secrets"
    obligations = ("AHP-AUTH-013", "AHP-TOOLAUTH-019", "AHP-MCP-023")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._pushed: Bounded[str, None] = Bounded(_MOST_TOKENS)
        self._aloud: Bounded[str, None] = Bounded()

    def frame(self, frame: Frame) -> None:
        if frame.kind == "close":
            return
        if frame.dir == "out":
            self._out(frame)
        else:
            self._in(frame)

    def _out(self, frame: Frame) -> None:
        if member(frame.msg, "method") == "authenticate":
            token = member(member(frame.msg, "params"), "token")
            if isinstance(token, str) and len(token) >= _SHORTEST:
                self._pushed[token] = None
        else:
            # What the suite itself says aloud, as in a prompt, may be repeated.
            text = _text_of(frame)
            for token in [token for token in self._pushed if _stands_in(token, text)]:
                del self._pushed[token]
            for token in _tokens_in(text):
                self._aloud[token] = None

    def _in(self, frame: Frame) -> None:
        text = frame.text
        if text is None or "\\u" in text:
            text = _text_of(frame)
        # A token of the suite's own form gives itself away, also one that was pushed in another recording.
        tokens = self._pushed.keys() | (_tokens_in(text) - self._aloud.keys())
        if not tokens:
            return
        self.watch("AHP-AUTH-013")
        if '"auth-required"' in text or "toolCallAuthRequired" in text:
            self.watch("AHP-TOOLAUTH-019")
        if '"authRequired"' in text:
            self.watch("AHP-MCP-023")
        for token in sorted(tokens):
            if _stands_in(token, text):
                text = _text_of(frame)
                self.find(
                    ("AHP-AUTH-013", *sorted(_places(frame.msg, token))),
                    "a token that a client pushed came back",
                    expected="no token",
                    seen=text.replace(token, "«token»").replace(encode(token)[1:-1], "«token»"),
                    frame=frame.n,
                )


def _text_of(frame: Frame) -> str:
    return encode(frame.msg) if frame.kind == "json" else frame.raw or ""


def _tokens_in(text: str) -> set[str]:
    made_up = {match[0] for match in FORM.finditer(text)} if MARK in text else set()
    # A transcript shows the name of a token in its place.
    return made_up | {match[0] for match in SHOWN.finditer(text)} if SHOWN_MARK in text else made_up


def _stands_in(token: str, text: str) -> bool:
    return token in text or encode(token)[1:-1] in text


def _places(value: JSON, token: str, inside: str | None = None) -> set[str]:
    """The obligations about the places where a token stands: a challenge of a call, or one of a server."""
    if isinstance(value, dict):
        if value.get("kind") == "authRequired":
            inside = "AHP-MCP-023"
        found = set()
        for name, part in value.items():
            found |= _places(part, token, "AHP-TOOLAUTH-019" if name == "auth" else inside)
        return found
    if isinstance(value, list):
        return set().union(*(_places(part, token, inside) for part in value))
    return {inside} if inside is not None and isinstance(value, str) and token in value else set()
