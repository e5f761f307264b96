"""JSON-RPC 2.0 as pure functions over decoded values (https://www.jsonrpc.org/specification)."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from conformance.wire.frames import JSON

MessageKind: TypeAlias = Literal["request", "notification", "success", "error", "batch", "invalid"]


def classify(value: JSON) -> MessageKind:
    """What a decoded message is, judged by its members alone; `problems` tells what is wrong with it.

    "invalid" is what no reading makes one of the others: not an object or array, `method` that is not a
    string, `method` together with `result` or `error`, both of these, or none of the three.
    """
    if isinstance(value, list):
        return "batch"
    if not isinstance(value, dict):
        return "invalid"
    has_result, has_error = "result" in value, "error" in value
    if "method" in value:
        if has_result or has_error or not isinstance(value["method"], str):
            return "invalid"
        return "request" if "id" in value else "notification"
    if has_result and has_error:
        return "invalid"
    if has_result:
        return "success"
    return "error" if has_error else "invalid"


def problems(value: JSON) -> tuple[str, ...]:
    """Each departure from JSON-RPC 2.0 in one sentence; empty for a well-formed message."""
    kind = classify(value)
    if kind == "batch":
        if not value:
            return ("a batch must not be empty",)
        found = [f"member {i}: {text}" for i, member in enumerate(value) for text in problems(member)]
        return tuple(found)
    if not isinstance(value, dict):
        return ("a message must be an object",)
    found = []
    if value.get("jsonrpc") != "2.0":
        found.append('"jsonrpc" must be "2.0"')
    if kind == "invalid":
        found.append(_why_invalid(value))
        return tuple(found)
    if kind != "notification":
        found.extend(_id_problems(value, kind))
    if kind in ("request", "notification") and not isinstance(value.get("params", {}), dict | list):
        found.append('"params" must be an object or an array when present')
    if kind == "error":
        found.extend(_error_problems(value["error"]))
    return tuple(found)


def _why_invalid(value: dict[str, Any]) -> str:
    if "method" in value:
        if not isinstance(value["method"], str):
            return '"method" must be a string'
        return 'a message must not have "method" together with "result" or "error"'
    if "result" in value:
        return 'a response must not have both "result" and "error"'
    return 'a message must have "method", "result" or "error"'


def _id_problems(value: dict[str, Any], kind: MessageKind) -> list[str]:
    if "id" not in value:
        return ['a response must have an "id"']
    identity = value["id"]
    if identity is None:
        # Null answers a request whose id could not be read; it names no request of its own.
        return [] if kind == "error" else ['"id" must not be null']
    if isinstance(identity, bool) or not isinstance(identity, str | int | float):
        return ['"id" must be a string or a number']
    return []


def _error_problems(error: JSON) -> list[str]:
    if not isinstance(error, dict):
        return ['"error" must be an object']
    found = []
    if type(error.get("code")) is not int:
        found.append('"error.code" must be an integer')
    if not isinstance(error.get("message"), str):
        found.append('"error.message" must be a string')
    return found


def answers(value: JSON) -> int | None:
    """The integer id that a message answers, be it well-formed or not; None when it is no response."""
    if isinstance(value, dict) and "method" not in value:
        identity = value.get("id")
        if type(identity) is int:
            return identity
    return None


def request(identity: int | str, method: str, params: JSON = None) -> dict[str, Any]:
    """A request; None leaves `params` out."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": identity, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification(method: str, params: JSON = None) -> dict[str, Any]:
    """A notification; None leaves `params` out."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def success(identity: JSON, result: JSON) -> dict[str, Any]:
    """A response that carries a result (null included)."""
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def failure(identity: JSON, code: int, message: str, data: JSON = None) -> dict[str, Any]:
    """A response that carries an error; None leaves `data` out."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": identity, "error": error}
