"""From what a person types as TARGET to a driver."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from conformance.wire.endpoints import TokenPlace

from .base import Driver, TargetError
from .endpoint import EndpointDriver

GROUP = "ahp_conformance.drivers"
CODE_SERVER = "code-server"
_TIMEOUT = 10.0

Framing = Literal["websocket", "lines", "headers"]
"""How messages travel to a host that a command starts: over a WebSocket, or over its standard input and output."""


def resolve(
    target: str,
    *,
    token_env: str | None = None,
    token_in: TokenPlace = "query",
    faults: Sequence[str] = (),
    protocol: str | None = None,
    timeout: float | None = None,
    command: Sequence[str] = (),
    endpoint: str | None = None,
    ready_line: str | None = None,
    framing: Framing = "websocket",
) -> Driver:
    """The driver for ``target``: ``reference``, an address, ``code-server``, a profile, an installed driver's name,
    or ``module:Class``; or the driver that starts ``command``, and then the target is only a name.

    ``faults`` and ``protocol``, the one version that is going to be offered, are for the reference host alone;
    ``endpoint``, ``ready_line`` and ``framing`` for a command. ``timeout`` is seconds for one connection; by default
    what a profile says, else ten. Raises :class:`TargetError` for a target that is none of these, and for a
    token variable that is not set.
    """
    token = None
    if token_env is not None:
        token = os.environ.get(token_env)
        if not token:
            raise TargetError(
                f"the environment variable {token_env} is not set; put the connection token of the host there"
            )
    if command:
        return _started(command, endpoint, ready_line, framing, token, token_in, timeout or _TIMEOUT)
    if target.startswith(("ws://", "wss://", "unix:")):
        return EndpointDriver(target, token=token, token_in=token_in, timeout=timeout or _TIMEOUT)
    if target == "reference":
        from .reference import ReferenceDriver

        return ReferenceDriver(protocol=protocol, faults=faults, timeout=timeout or _TIMEOUT)
    if target == CODE_SERVER or target.startswith(f"{CODE_SERVER}@"):
        from .code_server import CodeServerDriver

        version = target.removeprefix(CODE_SERVER).removeprefix("@")
        return CodeServerDriver(version or None, timeout=timeout or _TIMEOUT)
    if target.endswith(".toml") or Path(target).is_file():
        from .profile import load
        from .profiled import ProfileDriver

        if token is not None:
            raise TargetError(f"a profile names its token itself: token_env in [host] of {target}")
        return ProfileDriver(load(Path(target)), timeout=timeout)
    for entry in entry_points(group=GROUP, name=target):
        return _made(entry.load(), target)
    if ":" in target and not target.startswith(("http:", "https:")):
        return _imported(target)
    raise TargetError(
        f"{target!r} is no target; give reference, ws://HOST:PORT, wss://HOST:PORT, unix:PATH, code-server, a profile"
        " (a .toml file), module:Class, or -- and the command that starts the host"
    )


def _started(
    command: Sequence[str],
    endpoint: str | None,
    ready_line: str | None,
    framing: Framing,
    token: str | None,
    token_in: TokenPlace,
    timeout: float,
) -> Driver:
    if framing != "websocket":
        if endpoint is not None or ready_line is not None or token is not None:
            raise TargetError(
                f"a host with the framing {framing} is reached by its standard input and output,"
                " so an endpoint, a ready line or a connection token has no meaning for it"
            )
        from .stdio import StdioDriver

        return StdioDriver(command, framing=framing)
    from .command import DEFAULT_ENDPOINT, CommandDriver, Ready

    return CommandDriver(
        command,
        endpoint=endpoint or DEFAULT_ENDPOINT,
        ready=Ready(line=ready_line),
        token=token,
        token_in=token_in,
        timeout=timeout,
    )


def _imported(target: str) -> Driver:
    module, _, attribute = target.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        # A driver beside the host's own sources needs no installation.
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise TargetError(f"the driver {target} cannot be imported: {error}") from error
    return _made(found, target)


def _made(factory: object, target: str) -> Driver:
    if not callable(factory):
        raise TargetError(f"the driver {target} is no class")
    driver = factory()
    if not isinstance(driver, Driver):
        raise TargetError(
            f"the driver {target} lacks a member of the driver contract"
            " (name, start, connect, stop, endpoint, provocations); see docs/drivers.md"
        )
    return driver
