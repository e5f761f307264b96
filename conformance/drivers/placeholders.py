"""What stands for values that only a start knows: ``{port}``, ``{socket}``, ``{dir}``, ``{token}`` in a command.

A name in braces is replaced; doubled braces, ``{{port}}``, stand for the text ``{port}``. Braces around anything
but a name, as in JSON, stay as they are.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from conformance.wire.tokens import new_token

from .base import TargetError

LOOPBACK: Final = "127.0.0.1"
_NAME: Final = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}|\{([a-z][a-z0-9_]*)\}")
_PORT: Final = re.compile(r"port[0-9]*")


class Placeholders:
    """The values of one host, each made when it is first asked for and kept over restarts.

    ``room`` is a private folder that exists. ``given`` are further names with their values, such as ``model_url``.
    """

    def __init__(self, room: Path, given: Mapping[str, str]) -> None:
        self._room = room
        self._given = dict(given)
        self._made: dict[str, str] = {}

    @property
    def token(self) -> str | None:
        """The secret that ``{token}`` stands for, None when nothing asked for it."""
        return self._made.get("token")

    @property
    def socket(self) -> Path:
        """Where the unix socket of ``{socket}`` is."""
        return self._room / "host.sock"

    def fill(self, template: str, **known: str) -> str:
        """The text with every placeholder replaced; ``known`` comes before all else. TargetError for another name."""

        def value(match: re.Match[str]) -> str:
            if match[1] is not None:
                return f"{{{match[1]}}}"
            return known[match[2]] if match[2] in known else self._value(match[2], template)

        return _NAME.sub(value, template)

    def _value(self, name: str, template: str) -> str:
        if name in self._given:
            return self._given[name]
        if name not in self._made:
            self._made[name] = self._make(name, template)
        return self._made[name]

    def _make(self, name: str, template: str) -> str:
        if _PORT.fullmatch(name):
            return self._free_port()
        if name == "socket":
            return str(self.socket)
        if name == "dir":
            folder = self._room / "dir"
            folder.mkdir()
            return str(folder)
        if name == "token":
            return new_token("connection")
        known = ", ".join(f"{{{n}}}" for n in ("port", "port2", "socket", "dir", "token", *self._given))
        raise TargetError(
            f"nothing is known for {{{name}}} in {template!r}; there are {known};"
            f" write {{{{{name}}}}} for the text itself"
        )

    def _free_port(self) -> str:
        while True:
            with socket.create_server((LOOPBACK, 0)) as server:
                port = str(server.getsockname()[1])
            if port not in self._made.values():
                return port
