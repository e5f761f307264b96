"""How moves of a playbook are said in the tools of one particular agent.

A playbook names tools as their owners do; agents offer them to the model under names of their own, and a host's own
tools have names that only its profile knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import orjson

JSON = Any
_NOTHING: Final[Mapping[str, JSON]] = MappingProxyType({})
_CHOICES: Final = "{choices}"
_KEYS: Final = ("plain", "confirmed", "failing", "ask")


@dataclass(frozen=True, slots=True)
class Template:
    """A call of one of the host's own tools.

    name: the tool, as the agent offers it. input: its arguments; in each string in it, at any depth, the placeholders
    {tool}, {result}, {message} and {choices} give way to what the move says. A string that is nothing but {choices}
    becomes the list of them, and a member with that value is left out when there are none.
    """

    name: str
    input: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The host's own tools that stand for moves which name neither a server nor a client; None: it has none.

    plain: for a call. confirmed: for one with `confirm`, so a tool that the host asks about. failing: for one with
    `fails` (and without `confirm`). ask: for the `ask` move.
    """

    plain: Template | None = None
    confirmed: Template | None = None
    failing: Template | None = None
    ask: Template | None = None


def read_lexicon(table: Mapping[str, JSON]) -> Lexicon:
    """A lexicon from a table ``{plain|confirmed|failing|ask: {name, input?}}``, as profiles write it.

    Raises ValueError, with the key, for anything else.
    """
    templates: dict[str, Template] = {}
    for key, entry in table.items():
        if key not in _KEYS:
            raise ValueError(f"unknown tool {key!r} (known: {', '.join(_KEYS)})")
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or set(entry) - {"name", "input"}:
            raise ValueError(f"{key}: expected a table with the string name and, if need be, the table input")
        arguments = entry.get("input", {})
        if not isinstance(arguments, Mapping):
            raise ValueError(f"{key}: input is a table of arguments")
        templates[key] = Template(entry["name"], dict(arguments))
    return Lexicon(**templates)


def offered_name(tool: str, offered: Sequence[str], server: str | None = None) -> str | None:
    """The name under which an agent offers a tool to the model; None when it does not.

    Agents put the name of the server in front: `server-tool`, `server_tool`, `mcp__server__tool`. With ``server`` such
    a name goes before the bare one, and that of another server's tool is never taken for it: a call at the wrong
    server would be worse than none. Without it the bare name goes before any that ends in it.
    """
    suffixed = [name for name in offered if _ends_in(name, tool)]
    if server is not None:
        # The shorter the name, the less there is in it beside server and tool.
        own = sorted((name for name in suffixed if _is_of(name[: -len(tool)], server)), key=len)
        return own[0] if own else tool if tool in offered else None
    if tool in offered:
        return tool
    return min(suffixed, key=len) if suffixed else None


def own_call(call: Mapping[str, JSON], lexicon: Lexicon, offered: Sequence[str]) -> tuple[str, JSON] | None:
    """Tool name and arguments for a call of the host's own tools; None when the agent has nothing for it."""
    if call.get("confirm"):
        template = lexicon.confirmed
    elif "fails" in call:
        template = lexicon.failing
    elif lexicon.plain is None:
        # Without being told which tool stands for it, the model can still call one of exactly that name.
        return (call["tool"], call.get("input", {})) if call["tool"] in offered else None
    else:
        template = lexicon.plain
    result = call.get("result", orjson.dumps(call.get("input", {})).decode())
    words = {"{tool}": call["tool"], "{result}": result, "{message}": call.get("fails", "")}
    return _from_template(template, offered, words, [])


def ask_call(ask: Mapping[str, JSON], lexicon: Lexicon, offered: Sequence[str]) -> tuple[str, JSON] | None:
    """Tool name and arguments for an `ask` move; None when the agent cannot ask its user."""
    first = next((question for question in ask.get("questions") or () if isinstance(question, dict)), {})
    message = next((text for text in (first.get("message"), ask.get("message")) if isinstance(text, str)), "")
    options = first.get("options")
    choices = [label for option in options if (label := _label(option))] if isinstance(options, list) else []
    words = {"{tool}": "ask", "{result}": "", "{message}": message}
    return _from_template(lexicon.ask, offered, words, choices)


def _from_template(
    template: Template | None, offered: Sequence[str], words: Mapping[str, str], choices: list[str]
) -> tuple[str, JSON] | None:
    name = None if template is None else offered_name(template.name, offered)
    if template is None or name is None:
        return None
    return name, _filled(template.input, words, choices)


def _filled(value: JSON, words: Mapping[str, str], choices: list[str]) -> JSON:
    if isinstance(value, str):
        if value == _CHOICES:
            return choices
        # One pass, so that what is put in is not taken for a placeholder itself.
        found = {**words, _CHOICES: ", ".join(choices)}
        return re.sub("|".join(map(re.escape, found)), lambda match: found[match[0]], value)
    if isinstance(value, Mapping):
        return {k: _filled(v, words, choices) for k, v in value.items() if choices or v != _CHOICES}
    if isinstance(value, list | tuple):
        return [_filled(item, words, choices) for item in value]
    return value


def _label(option: JSON) -> str | None:
    if isinstance(option, str):
        return option
    if not isinstance(option, dict):
        return None
    return next((text for key in ("label", "id") if isinstance(text := option.get(key), str)), None)


def _plain(name: str) -> str:
    """A name as agents may have to write it: services take few characters beside letters, and some change dashes."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def _ends_in(name: str, tool: str) -> bool:
    """Whether a name is the tool's with something in front that a separator ends."""
    front = name[: -len(tool)] if tool else ""
    return bool(front) and _plain(name).endswith(_plain(tool)) and not front[-1].isalnum()


def _is_of(front: str, server: str) -> bool:
    """Whether the front of a tool's name ends in the server's name, and that not within a longer word."""
    words, wanted = (_plain(name).strip("_") for name in (front, server))
    return words == wanted or (bool(wanted) and words.endswith(f"_{wanted}"))
