"""An answer of the model on its way: parts become pieces, pauses hold it, and a failure ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

from conformance.backend.player import Answer, Fail, Pause, Say

from .surface import Encoder, Surface

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from .ledger import Ledger

JSON = Any

_CUT: Final = Say("This answer breaks off before its end, and what the model wanted to say is not to be had.")

_JSON_HEADERS: Final = [(b"content-type", b"application/json")]
_STREAM_HEADERS: Final = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
# A playbook that fails once fails always; clients that heed this do not have to find it out in the course of seconds.
_FAILED_HEADERS: Final = [*_JSON_HEADERS, (b"x-should-retry", b"false")]


class Performance:
    """An ASGI response that plays one answer. The ledger is kept informed under ``number``.

    It ends early when the agent breaks off the request, also while nothing is to be sent.
    """

    def __init__(
        self, answer: Answer, surface: Surface, encoder: Encoder, *, streamed: bool, ledger: Ledger, number: int
    ) -> None:
        self._answer = answer
        self._surface = surface
        self._encoder = encoder
        self._streamed = streamed
        self._ledger = ledger
        self._number = number
        self._performed: list[str] = []
        self._started = False
        self._over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        playing = asyncio.ensure_future(self._play(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({playing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
        finally:
            for task in (playing, leaving):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task
            if not self._over:
                self._end("abandoned")

    async def _play(self, send: Send) -> None:
        parts = self._answer.parts
        first = next((part for part in parts if not isinstance(part, Pause)), None)
        # A failure in place of an answer has a status of its own, so nothing may be sent ahead of it.
        if self._streamed and (not isinstance(first, Fail) or first.cut):
            await self._begin(send)
        for part in parts:
            if isinstance(part, Pause):
                self._perform(part.move)
                await self._ledger.hold(self._number, part.name)
            elif isinstance(part, Fail):
                self._perform(part.move)
                await self._fail(part, send)
                return
            else:
                await self._send_pieces(self._encoder.part(part), send)
                self._perform(part.move)
        await self._send_pieces(self._encoder.end(), send)
        if not self._streamed:
            await self._open(200, _JSON_HEADERS, send)
        await self._close(b"" if self._streamed else orjson.dumps(self._encoder.whole()), send)

    async def _fail(self, failure: Fail, send: Send) -> None:
        if failure.cut:
            await self._cut(send)
        elif self._started:
            await self._send_pieces(self._encoder.fail(failure), send)
            await self._close(b"", send)
        else:
            await self._open(failure.status, _FAILED_HEADERS, send)
            await self._close(orjson.dumps(self._surface.error(failure.status, failure.message)), send)

    async def _cut(self, send: Send) -> None:
        """Stop in the middle of a text. The server closes the connection of a response that is left unfinished."""
        self._end("cut")
        broken = list(self._encoder.part(_CUT))
        if self._streamed:
            await self._send_pieces(iter(broken[: len(broken) // 2]), send)
        else:
            whole = orjson.dumps(self._encoder.whole())
            await self._open(200, _JSON_HEADERS, send)
            await _body(send, whole[: len(whole) // 2], more=True)

    async def _begin(self, send: Send) -> None:
        await self._open(200, _STREAM_HEADERS, send)
        await self._send_pieces(self._encoder.begin(), send)

    async def _open(self, status: int, headers: list[tuple[bytes, bytes]], send: Send) -> None:
        self._started = True
        self._ledger.amend(self._number, status=status)
        await send({"type": "http.response.start", "status": status, "headers": headers})

    async def _close(self, rest: bytes, send: Send) -> None:
        # Entered first: who has the whole answer may rely on finding it complete.
        self._end("complete")
        await _body(send, rest, more=False)

    async def _send_pieces(self, pieces: Iterator[bytes], send: Send) -> None:
        for piece in pieces:
            if self._streamed:
                await _body(send, piece, more=True)

    def _end(self, how: Literal["complete", "cut", "abandoned"]) -> None:
        self._over = True
        self._ledger.amend(self._number, ended=how)

    def _perform(self, move: str) -> None:
        if move:
            self._performed.append(move)
            self._ledger.amend(self._number, performed=tuple(self._performed))


async def _body(send: Send, data: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})


async def _left(receive: Receive) -> None:
    """Return when the agent has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
