"""From what a person types as TARGET to a driver."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from conformance.wire.endpoints import TokenPlace

from .base import Driver, TargetError
from .endpoint import EndpointDriver

GROUP = "ahp_conformance.drivers"


def resolve(
    target: str,
    *,
    token_env: str | None = None,
    token_in: TokenPlace = "query",
    faults: Sequence[str] = (),
    protocol: str | None = None,
    timeout: float = 10.0,
) -> Driver:
    """The driver for ``target``: ``reference``, an address, an installed driver's name, or ``module:Class``.

    ``faults`` and ``protocol``, the one version that is going to be offered, are for the reference host alone.
    Raises :class:`TargetError` for a target that is none of these, and for a token variable that is not set.
    """
    token = None
    if token_env is not None:
        token = os.environ.get(token_env)
        if not token:
            raise TargetError(
                f"the environment variable {token_env} is not set; put the connection token of the host there"
            )
    if target.startswith(("ws://", "wss://", "unix:")):
        return EndpointDriver(target, token=token, token_in=token_in, timeout=timeout)
    if target == "reference":
        from .reference import ReferenceDriver

        return ReferenceDriver(protocol=protocol, faults=faults, timeout=timeout)
    if target.endswith(".toml") or Path(target).is_file():
        raise TargetError(
            f"{target}: host profiles are not supported yet; give the address of the running host"
            " (ws://…, wss://… or unix:PATH) or a driver as module:Class"
        )
    for entry in entry_points(group=GROUP, name=target):
        return _made(entry.load(), target)
    if ":" in target and not target.startswith(("http:", "https:")):
        return _imported(target)
    raise TargetError(
        f"{target!r} is no target; give reference, ws://HOST:PORT, wss://HOST:PORT, unix:PATH or module:Class"
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
