"""Profiles: what the suite has to know about a host, in a TOML file (docs/drivers.md, profile.schema.json).

The schema says which keys there are and what they hold; here is what it cannot say, and the words for a person who
got something wrong.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

from conformance.wire.endpoints import UNIX, TokenPlace

from .base import PROVOCATIONS, TargetError
from .command import DEFAULT_ENDPOINT, Ready

JSON = Any
SCHEMA: Final = Path(__file__).with_name("profile.schema.json")
_KINDS: Final = {
    "string": "a text",
    "array": "a list of texts",
    "object": "a table",
    "boolean": "true or false",
    "number": "a number",
}


class ProfileError(TargetError):
    """A profile that cannot be used: one line with the file, the place, and what to write there."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How to get the host ([host]). ``command`` is empty for a host that runs; paths are absolute, or begin with a
    placeholder. Times are seconds."""

    name: str
    command: tuple[str, ...] = ()
    endpoint: str = DEFAULT_ENDPOINT
    framing: Literal["websocket", "lines", "headers"] = "websocket"
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Ready = field(default_factory=Ready)
    start_timeout: float = 60.0
    token_env: str | None = None
    token_in: TokenPlace = "query"


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent and what it can be made to do ([agent]). ``provocations`` None: what the host says itself. Tokens are
    ``any`` or ``env:NAME`` by resource."""

    provider: str | None = None
    provocations: frozenset[str] | None = None
    config: Mapping[str, JSON] = field(default_factory=dict)
    tokens: Mapping[str, str] = field(default_factory=dict)
    refused_tokens: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backend:
    """What the suite plays for a real agent ([backend]). ``tools`` holds ``{name, input?}`` under plain, confirmed,
    failing and ask; ``approvals`` tables of session configuration under asked and unasked; ``plays`` None: not said."""

    model: bool = False
    mcp: Literal["plugin", "root-config", "workspace", "none"] = "none"
    plays: frozenset[str] | None = None
    root: Mapping[str, JSON] = field(default_factory=dict)
    approvals: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    tools: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile that was read. ``patience`` and ``grace`` are seconds; ``waivers`` gives a reason by obligation id."""

    path: Path
    host: Reach
    agent: Agent = field(default_factory=Agent)
    backend: Backend = field(default_factory=Backend)
    patience: float | None = None
    grace: float | None = None
    waivers: Mapping[str, str] = field(default_factory=dict)


def load(path: Path) -> Profile:
    """Read a profile. Raises :class:`ProfileError` for the first thing that is wrong with it."""
    document = _read(path)
    _check_shape(path, document)
    _check_values(path, document)
    folder = path.absolute().parent
    waits = document.get("waits", {})
    return Profile(
        path=path,
        host=_reach(path, folder, document["host"]),
        agent=_agent(path, document.get("agent", {})),
        backend=_backend(document.get("backend", {})),
        patience=waits.get("patience"),
        grace=waits.get("grace"),
        waivers=_waivers(path, document.get("waivers", ())),
    )


@cache
def schema() -> dict[str, JSON]:
    """The JSON Schema (2020-12) of profiles."""
    value: dict[str, JSON] = json.loads(SCHEMA.read_text("utf-8"))
    return value


# -- the tables ---------------------------------------------------------------------------------------


def _reach(path: Path, folder: Path, host: Mapping[str, JSON]) -> Reach:
    def wrong(key: str, what: str) -> NoReturn:
        raise ProfileError(f"{path}: [host] {key} {what}")

    command, framing = host.get("command"), host.get("framing", "websocket")
    values = dict(host, name=host.get("name", path.stem))
    if command is None:
        if "endpoint" not in host:
            raise ProfileError(f"{path}: [host] needs a command that starts the host, or the endpoint of one that runs")
        for key in ("framing", "cwd", "env", "ready", "start_timeout"):
            if key in host:
                wrong(key, "is about a host that is started; give its command too, or leave it out")
    if framing != "websocket":
        for key in ("endpoint", "ready", "token_env", "token_in"):
            if key in host:
                wrong(key, f"has no meaning with framing = {framing!r}: such a host is reached by its input and output")
    if command is not None:
        values["command"] = (_program(path, folder, command[0]), *command[1:])
        values["cwd"] = _below(folder, host["cwd"]) if "cwd" in host else str(folder)
        if not values["cwd"].startswith("{") and not Path(values["cwd"]).is_dir():
            wrong("cwd", f"is {host['cwd']!r}, but there is no such folder; it is looked for beside the profile")
    endpoint = host.get("endpoint", DEFAULT_ENDPOINT)
    if not endpoint.startswith(("ws://", "wss://", UNIX)):
        wrong("endpoint", f"is {endpoint!r}; write ws://HOST:PORT, wss://HOST:PORT or unix:PATH")
    if endpoint.startswith(UNIX):
        values["endpoint"] = UNIX + _below(folder, endpoint.removeprefix(UNIX))
    ready = dict(host.get("ready", {}))
    if "file" in ready:
        ready["file"] = _below(folder, ready["file"])
    try:
        values["ready"] = Ready(**ready)
    except TargetError as error:
        raise ProfileError(f"{path}: [host] ready: {error}") from error
    return Reach(**values)


def _agent(path: Path, agent: Mapping[str, JSON]) -> Agent:
    values = dict(agent)
    if "provocations" in agent:
        for name in agent["provocations"]:
            if name not in PROVOCATIONS:
                raise ProfileError(
                    f"{path}: [agent] provocations: {name!r} is none{_similar(name, PROVOCATIONS)};"
                    f" there are {', '.join(PROVOCATIONS)}"
                )
        values["provocations"] = frozenset(agent["provocations"])
    return Agent(**values)


def _backend(backend: Mapping[str, JSON]) -> Backend:
    values = dict(backend)
    if "plays" in backend:
        values["plays"] = frozenset(backend["plays"])
    return Backend(**values)


def _waivers(path: Path, entries: Sequence[Mapping[str, str]]) -> dict[str, str]:
    waivers: dict[str, str] = {}
    for entry in entries:
        if entry["obligation"] in waivers:
            raise ProfileError(f"{path}: [[waivers]] names {entry['obligation']} twice; keep one reason")
        waivers[entry["obligation"]] = entry["reason"]
    return waivers


def _below(folder: Path, place: str) -> str:
    """A path of the profile, which is relative to the profile's folder. What begins with a placeholder is absolute."""
    return place if place.startswith("{") else str(folder / place)


def _program(path: Path, folder: Path, program: str) -> str:
    """The program of a command: a name is looked up on the PATH, a path is relative to the profile."""
    if os.sep not in program or program.startswith("{"):
        return program
    if not (folder / program).exists():
        raise ProfileError(
            f"{path}: [host] command starts with {program!r}, but there is no such file;"
            " it is looked for beside the profile"
        )
    return str(folder / program)


# -- what is wrong, in words --------------------------------------------------------------------------


def _read(path: Path) -> dict[str, JSON]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProfileError(f"{path}: there is no such file; give the path of a profile (docs/drivers.md)") from None
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{path} is not TOML: {error}") from None
    except UnicodeDecodeError:
        raise ProfileError(f"{path} is not TOML: it is not even UTF-8 text") from None
    except RecursionError:
        raise ProfileError(f"{path} is not a profile: it is nested too deeply") from None
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror or error}") from None


def _check_shape(path: Path, document: JSON) -> None:
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(schema()).iter_errors(document))
    if errors:
        # A mistyped key explains a missing one, not the other way about.
        error = min(errors, key=lambda e: (e.validator != "additionalProperties", e.validator == "required"))
        raise ProfileError(f"{path}: {_said(error)}")


def _said(error: Any) -> str:
    where, value, rule = _place(list(error.absolute_path)), error.instance, error.validator
    if rule == "additionalProperties":
        known = list(error.schema["properties"])
        extra = next(key for key in value if key not in known)
        return f"{where or 'the profile'} has no key {extra!r}{_similar(extra, known)}; there are {', '.join(known)}"
    if rule == "required":
        missing = next(key for key in error.validator_value if key not in value)
        return f"{where or 'the profile'} lacks {'the table [host]' if missing == 'host' else missing}"
    if rule == "type":
        return f"{where} must be {_KINDS[error.validator_value]}, not {value!r:.60}"
    if rule == "enum":
        return f"{where} is {value!r:.60}; write {', '.join(map(json.dumps, error.validator_value))}"
    if rule == "pattern":
        # Not shown, as it may be a secret that has lost its way.
        return f"{where} must be {error.schema['description']}"
    if rule in ("minProperties", "maxProperties"):
        return f"{where} must have exactly one of {', '.join(error.schema['properties'])}"
    if rule in ("minItems", "minLength"):
        return f"{where} must not be empty"
    return f"{where} must be a number of seconds above 0, at most 86400, not {value!r:.60}"


def _place(steps: Sequence[str | int]) -> str:
    """``[host] ready.line``, ``[[waivers]] 2, reason``."""
    if not steps:
        return ""
    first, *rest = steps
    if rest and isinstance(rest[0], int):
        within = f"[[{first}]] {rest[0] + 1}" if first == "waivers" else f"[{first}]"
        return ", ".join([within, *map(str, rest[1:])])
    path = ".".join(str(step) for step in rest if isinstance(step, str))
    number = next((f", entry {step + 1}" for step in rest if isinstance(step, int)), "")
    return f"[{first}] {path}{number}".rstrip()


def _check_values(path: Path, document: Mapping[str, JSON]) -> None:
    """What no schema of JSON can refuse: values that JSON does not have, and names without what stands behind them."""
    for steps, value in _leaves(document, ()):
        number = isinstance(value, int | float)
        if not (number or isinstance(value, str)) or (isinstance(value, float) and not math.isfinite(value)):
            raise ProfileError(f"{path}: {_place(steps)} is {value}, which has no form in JSON; write it as a text")
    host, backend = document["host"], document.get("backend", {})
    if not backend.get("model"):
        words = [*host.get("command", ()), *host.get("env", {}).values()]
        if any(re.search(r"(?<!\{)\{model_url\}", word) for word in words):
            raise ProfileError(f"{path}: [host] uses {{model_url}}; that needs model = true in [backend]")


def _leaves(value: JSON, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], JSON]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _leaves(member, (*steps, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _leaves(member, (*steps, number))
    else:
        yield steps, value


def _similar(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
