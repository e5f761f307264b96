"""The playbook: what an agent shall do, written at the end of the user's message.

A message that ends in a line ``ahp-playbook: [ … ]`` (a JSON array of moves) tells whoever plays the
agent what to do, move by move. Nothing else is needed to provoke an agent, so any number of scenarios
run side by side on one host. The player keeps no state beyond the conversation. The contract for
authors of hosts is docs/backend.md; the tables below are its machine-readable half.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import orjson

Move = dict[str, Any]
"""One move: a JSON object with exactly one main key (say, think, call, mcp, ask, fail, pause)."""

PLAYBOOK_KEY: Final = "ahp-conformance"
"""The key of `RootState._meta` under which a host says that it plays playbooks."""

PROVOCATIONS: Final = ("wire", "turn", "tool", "client-tool", "mcp", "mcp-auth", "disconnect")
"""What a host that plays every move of version 1 offers."""

_LINE: Final = re.compile(r"(?:^|\n)[ \t]*ahp-playbook:[ \t]*(\[.*\])\s*\Z", re.DOTALL)
# Where wrappers of an agent may enclose the text: behind the end of a tag as well as at the begin of a line.
_ANYWHERE: Final = re.compile(r"(?:^|[\n>])[ \t]*ahp-playbook:\s*(?=\[)")
_DECODER: Final = json.JSONDecoder()
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class PlaybookError(ValueError):
    """The message has a playbook line, but what it says is no playbook."""


_STRING = (str,)
_OBJECT = (dict,)
_FLAG = (bool,)
_LIST = (list,)

# Member name -> JSON types it may have. The main key of a move is looked up here first.
_CALL: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "tool": _STRING,
        "server": _STRING,
        "client": _STRING,
        "input": _OBJECT,
        "confirm": _FLAG,
        "editable": _FLAG,
        "confirm_result": _FLAG,
        "partial": _STRING,
        "result": _STRING,
        "fails": _STRING,
        "challenges": _LIST,
        "with": _LIST,
    }
)
_MCP: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "server": _STRING,
        "resource": _STRING,
        "challenge": _OBJECT,
        "fails": _STRING,
        "wait": _FLAG,
    }
)
_CHALLENGE: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType(
    {
        "status": (int,),
        "resource": _STRING,
        "scopes": _LIST,
        "scopes_supported": _LIST,
        "error_description": _STRING,
        "oauth_client": _OBJECT,
        "accept": _LIST,
    }
)
_FAIL: Final[Mapping[str, tuple[type, ...]]] = MappingProxyType({"errorType": _STRING, "message": _STRING})


def find(text: str) -> list[Move] | None:
    """The moves of the playbook at the end of a message text, or None when it has none.

    Raises PlaybookError, with the place of the fault, when the line is there but is no playbook.
    """
    match = _LINE.search(text)
    return None if match is None else _read(match[1])


def find_within(text: str) -> list[Move] | None:
    """The moves of the last playbook in a text, whatever stands around it, or None when it has none.

    For what reaches a model: agents put reminders and tags of their own before and behind the user's text. Raises
    PlaybookError when the last line is no playbook.
    """
    at, last = 0, None
    while mark := _ANYWHERE.search(text, at):
        # What is inside a playbook, such as a text to be said, is not searched for another one.
        at = _end_of_list(text, mark.end())
        last = text[mark.end() : at] if at > mark.end() else text[mark.end() :]
    return None if last is None else _read(last)


def _end_of_list(text: str, start: int) -> int:
    """Where the JSON value ends that begins at ``start``; ``start`` itself when it is none."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start


def _read(text: str) -> list[Move]:
    try:
        moves = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise PlaybookError(f"the playbook is not JSON: {error}") from None
    check(moves)
    return list(moves)


def compose(text: str, moves: Sequence[Move]) -> str:
    """The message text with a playbook line behind it. Raises PlaybookError for moves nobody can play."""
    check(moves)
    return f"{text}\n\nahp-playbook: {orjson.dumps(list(moves)).decode()}"


def token_hash(token: str) -> str:
    """How a playbook names a token: the SHA-256 of its UTF-8 bytes as lower-case hex.

    Prompts are shown to every client, so a playbook never holds a token itself.
    """
    return hashlib.sha256(token.encode()).hexdigest()


def agent_token(resource: str) -> str:
    """The token that the agent of a playing host takes for a protected resource that it lists itself.

    It opens nothing, so it may be known to everybody; the suite needs no driver to know it.
    """
    return f"ahpc-agent-{hashlib.sha256(resource.encode()).hexdigest()[:24]}"


def check(moves: Any) -> None:
    """Raise PlaybookError unless the value is a list of moves as docs/backend.md describes them."""
    if not isinstance(moves, list | tuple):
        raise PlaybookError("a playbook is a JSON array of moves")
    for place, move in enumerate(moves):
        where = f"move {place}"
        if not isinstance(move, dict) or len(move) != 1:
            raise PlaybookError(f"{where}: a move is an object with exactly one key")
        ((name, body),) = move.items()
        checker = _MOVES.get(name)
        if checker is None:
            raise PlaybookError(f"{where}: unknown move {name!r} (known: {', '.join(_MOVES)})")
        checker(body, f"{where} ({name})")


def _text(body: Any, where: str) -> None:
    if not isinstance(body, str):
        raise PlaybookError(f"{where}: expected a string")


def _members(body: Any, where: str, known: Mapping[str, tuple[type, ...]], required: tuple[str, ...]) -> None:
    if not isinstance(body, dict):
        raise PlaybookError(f"{where}: expected an object")
    for name in required:
        if name not in body:
            raise PlaybookError(f"{where}: {name} is missing")
    for name, value in body.items():
        types = known.get(name)
        if types is None:
            raise PlaybookError(f"{where}: unknown member {name!r} (known: {', '.join(known)})")
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise PlaybookError(f"{where}: {name} has the wrong type")


def _call(body: Any, where: str) -> None:
    _members(body, where, _CALL, ("tool",))
    if "server" in body and "client" in body:
        raise PlaybookError(f"{where}: a tool belongs to a server or to a client, not to both")
    if "challenges" in body and "server" not in body:
        raise PlaybookError(f"{where}: only a tool of a server can be challenged")
    for place, challenge in enumerate(body.get("challenges", ())):
        _challenge(challenge, f"{where}, challenge {place}")
    for place, sibling in enumerate(body.get("with", ())):
        _call(sibling, f"{where}, with {place}")


def _mcp(body: Any, where: str) -> None:
    _members(body, where, _MCP, ("server",))
    if "challenge" in body:
        _challenge(body["challenge"], f"{where}, challenge")


def _challenge(body: Any, where: str) -> None:
    _members(body, where, _CHALLENGE, ("status", "resource", "accept"))
    if body["status"] not in (401, 403):
        raise PlaybookError(f"{where}: status is 401 or 403")
    for name in ("scopes", "scopes_supported", "accept"):
        if any(not isinstance(item, str) for item in body.get(name, ())):
            raise PlaybookError(f"{where}: {name} is a list of strings")
    if any(not _HASH.fullmatch(item) for item in body["accept"]):
        raise PlaybookError(f"{where}: accept holds SHA-256 hashes in lower-case hex, never tokens")


def _ask(body: Any, where: str) -> None:
    if not isinstance(body, dict):
        raise PlaybookError(f"{where}: expected an object")
    if not isinstance(body.get("questions", []), list):
        raise PlaybookError(f"{where}: questions is a list")


def _fail(body: Any, where: str) -> None:
    _members(body, where, _FAIL, ("message",))


_MOVES: Final = {
    "say": _text,
    "think": _text,
    "call": _call,
    "mcp": _mcp,
    "ask": _ask,
    "fail": _fail,
    "pause": _text,
}
