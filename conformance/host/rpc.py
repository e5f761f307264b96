"""JSON-RPC at the host: from one message to a handler, and from its outcome to one response.

Source: `docs/specification/transport.md`; JSON-RPC 2.0. A message without an id is never answered.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson

from conformance.protocol.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)

if TYPE_CHECKING:
    from .core import ReferenceHost
    from .peers import Peer

JSON = Any

_log = logging.getLogger(__name__)


class RequestError(Exception):
    """A request is answered with an error. close: end the connection behind it."""

    def __init__(self, code: int, message: str, data: JSON = None, *, close: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.close = close


def member(params: JSON, name: str, kind: type, *, required: bool = True) -> JSON:
    """A member of the params with its JSON type checked. Raises RequestError (-32602)."""
    value = params.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise RequestError(INVALID_PARAMS, f"params.{name}: expected {_NAMES[kind]}")
    return value


def strings(params: JSON, name: str, *, required: bool = True) -> list[str] | None:
    """A member that is an array of strings. Raises RequestError (-32602)."""
    value = member(params, name, list, required=required)
    if value is not None and any(not isinstance(item, str) for item in value):
        raise RequestError(INVALID_PARAMS, f"params.{name}: expected an array of strings")
    return value  # type: ignore[no-any-return]


_NAMES = {str: "a string", int: "a whole number", list: "an array", dict: "an object", bool: "a boolean"}


def receive(host: ReferenceHost, peer: Peer, data: str | bytes) -> None:
    """Handle one message of a client."""
    if isinstance(data, bytes):
        _fail(host, peer, None, RequestError(PARSE_ERROR, "messages travel as text"))
        return
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        _fail(host, peer, None, RequestError(PARSE_ERROR, f"not JSON: {error}"))
        return
    if not isinstance(message, dict):
        _fail(host, peer, None, RequestError(INVALID_REQUEST, "one message is one object; batches are not used"))
        return
    if "method" not in message and ("result" in message or "error" in message):
        return  # a response; this host asks clients for nothing
    host.received(peer, message)
    method = message.get("method")
    if not isinstance(method, str):
        if "id" in message:
            _fail(host, peer, _id(message), RequestError(INVALID_REQUEST, "method is missing or no string"))
        return
    if "id" in message:
        _request(host, peer, message, method)
    else:
        _notification(host, peer, method, message.get("params"))


def _request(host: ReferenceHost, peer: Peer, message: JSON, method: str) -> None:
    from .methods import BEFORE_HANDSHAKE, REQUESTS

    identifier = _id(message)
    try:
        if identifier is None or message.get("jsonrpc") != "2.0":
            raise RequestError(INVALID_REQUEST, "a request has jsonrpc 2.0 and a number or string as id")
        handler = REQUESTS.get(method)
        if not peer.ready and method not in BEFORE_HANDSHAKE:
            raise RequestError(INVALID_REQUEST, "initialize comes first")
        if handler is None:
            raise RequestError(METHOD_NOT_FOUND, f"no method {method!r} here")
        params = message.get("params")
        if not isinstance(params, dict):
            raise RequestError(INVALID_PARAMS, "params: expected an object")
        member(params, "channel", str)
        result = handler(host, peer, params)
    except RequestError as refusal:
        _fail(host, peer, identifier, refusal)
        if refusal.close and host.policy.closes_on_refusal():
            host.close(peer, 1002)
        return
    except Exception:
        # A defect of this host must not take other connections along, nor show its insides.
        _log.exception("the reference host failed at %s", method)
        _fail(host, peer, identifier, RequestError(INTERNAL_ERROR, "internal error"))
        return
    host.answer(peer, {"jsonrpc": "2.0", "id": identifier, "result": result})


def _notification(host: ReferenceHost, peer: Peer, method: str, params: JSON) -> None:
    from .methods import NOTIFICATIONS

    handler = NOTIFICATIONS.get(method)
    if handler is None or not peer.ready or not isinstance(params, dict):
        return
    if not isinstance(params.get("channel"), str):
        return
    try:
        handler(host, peer, params)
    except Exception:
        _log.exception("the reference host failed at %s", method)


def _id(message: JSON) -> JSON:
    identifier = message.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, int | float | str):
        return None
    return identifier


def _fail(host: ReferenceHost, peer: Peer, identifier: JSON, refusal: RequestError) -> None:
    error: JSON = {"code": refusal.code, "message": refusal.message}
    if refusal.data is not None:
        error["data"] = refusal.data
    host.answer(peer, {"jsonrpc": "2.0", "id": identifier, "error": error})
