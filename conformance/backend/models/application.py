"""The web application of the model services: finds what a path asks for, reads the body, and records it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from conformance.backend.player import Lexicon, answer

from .chat_completions import ChatCompletions, openai_error
from .copilot import document, empty_mcp
from .ledger import Ledger
from .messages import Messages
from .performance import Performance
from .responses import Responses
from .surface import Surface, asked_tokens

JSON = Any

_MESSAGES: Final = Messages()
_SURFACES: Final[tuple[tuple[str, Surface], ...]] = (
    ("/chat/completions", ChatCompletions()),
    ("/responses", Responses()),
    ("/messages", _MESSAGES),
)
_COUNT: Final = "/messages/count_tokens"
_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


class _Refused(Exception):
    """The request is not one; the message says why."""


def application(ledger: Ledger, lexicon: Lexicon, refuses: Callable[[str], bool]) -> ASGIApp:
    """The application. ``refuses`` says of a token whether it is answered with 401."""
    desk = _Desk(ledger, lexicon, refuses)
    return Starlette(routes=[Route("/{path:path}", desk.respond, methods=_METHODS)])


class _Desk:
    def __init__(self, ledger: Ledger, lexicon: Lexicon, refuses: Callable[[str], bool]) -> None:
        self._ledger = ledger
        self._lexicon = lexicon
        self._refuses = refuses

    async def respond(self, request: Request) -> Any:
        path = request.url.path
        surface = next((found for ending, found in _SURFACES if path.endswith(ending)), None)
        name = surface.name if surface else _room(path)
        number = self._ledger.open(name, request.method, path)
        if request.method == "HEAD":
            return self._plain(number, 200, None)
        if any(self._refuses(token) for token in _tokens(request)):
            spoken = surface or (_MESSAGES if path.endswith(_COUNT) else None)
            message = "the service does not take this token"
            body = spoken.error(401, message) if spoken else {"message": message, **openai_error(401, message)}
            return self._plain(number, 401, body, error=message)
        if surface is None and not path.endswith(_COUNT):
            return await self._beside(number, request, name)
        return await self._model(number, request, surface or _MESSAGES)

    async def _model(self, number: int, request: Request, surface: Surface) -> Any:
        if request.method != "POST":
            return self._wrong(
                number, 405, surface, f"{request.method} is not allowed here; a model is asked with POST"
            )
        try:
            body = await _object(request)
        except _Refused as refused:
            return self._wrong(number, 400, surface, str(refused))
        conversation = surface.conversation(body)
        if request.url.path.endswith(_COUNT):
            return self._plain(number, 200, {"input_tokens": asked_tokens(conversation)})
        if body.get("previous_response_id") and not any(message.role == "user" for message in conversation):
            return self._wrong(number, 400, surface, "nothing is stored here: send the whole conversation as input")
        tools = surface.tools(body)
        found = answer(conversation, tools, self._lexicon)
        streamed = body.get("stream") is True
        self._ledger.amend(
            number,
            streamed=streamed,
            message=found.message,
            place=found.place,
            tools=tools,
            missing=found.missing,
            error=found.error,
        )
        encoder = surface.encoder(body, asked_tokens(conversation))
        return Performance(found, surface, encoder, streamed=streamed, ledger=self._ledger, number=number)

    async def _beside(self, number: int, request: Request, name: str) -> Response:
        """What is asked for beside the models."""
        path = request.url.path
        if name == "mcp":
            if request.method != "POST":
                return self._plain(number, 405, {"message": "this MCP server answers POST only"})
            try:
                reply = empty_mcp(await _object(request))
            except _Refused as refused:
                return self._plain(number, 400, {"message": str(refused)}, error=str(refused))
            return self._plain(number, 202 if reply is None else 200, reply)
        found = document(request.method, path, str(request.base_url).rstrip("/"))
        if found is None:
            message = f"there is nothing at {request.method} {path}"
            self._ledger.amend(number, surface="unknown")
            return self._plain(number, 404, {"message": message, **openai_error(404, message)}, error=message)
        return self._plain(number, 200, found)

    def _wrong(self, number: int, status: int, surface: Surface, message: str) -> Response:
        return self._plain(number, status, surface.error(status, message), error=message)

    def _plain(self, number: int, status: int, body: JSON, error: str | None = None) -> Response:
        self._ledger.amend(number, status=status, error=error, ended="complete")
        content = b"" if body is None else orjson.dumps(body)
        return Response(content, status, media_type=None if body is None else "application/json")


def _room(path: str) -> str:
    if path.endswith(_COUNT):
        return _MESSAGES.name
    if path == "/mcp" or path.startswith("/mcp/"):
        return "mcp"
    return "copilot"


def _tokens(request: Request) -> list[str]:
    """The tokens that a request carries: `Bearer X`, `token X`, or bare in the header of the Anthropic surface."""
    authorization = request.headers.get("authorization", "").split()
    return [authorization[-1] if authorization else "", request.headers.get("x-api-key", "")]


async def _object(request: Request) -> dict[str, JSON]:
    try:
        body = orjson.loads(await request.body())
    except ClientDisconnect:
        raise _Refused("the request was broken off") from None
    except orjson.JSONDecodeError as error:
        raise _Refused(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise _Refused("the body is not a JSON object")
    return body
