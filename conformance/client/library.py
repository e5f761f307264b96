"""Files that a client has for its host: what answers the host's resource requests to the client.

A host fetches the plugins of its active clients this way. Sources: docs/specification/root-channel.md > resourceRead,
resourceList, resourceResolve; docs/guide/customizations.md.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from conformance.protocol.errors import INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND

JSON = Any
Answer = dict[str, JSON]
"""``{"result": …}`` or ``{"error": {"code", "message"}}``, as it stands in a response."""

_TYPE: Final = "application/json"


class Library:
    """Text files by URI. Folders are what their names imply."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def put(self, uri: str, text: str) -> None:
        """Publish a file, or replace it."""
        self._files[uri] = text.encode()

    def answer(self, method: str, params: JSON) -> Answer:
        """What a client with these files answers to a request of its host."""
        known = {"resourceRead": self._read, "resourceList": self._list, "resourceResolve": self._resolve}
        if method not in known:
            return _error(METHOD_NOT_FOUND, f"this client does not know {method}")
        uri = params.get("uri") if isinstance(params, dict) else None
        if not isinstance(uri, str):
            return _error(INVALID_PARAMS, "params.uri: a string is expected")
        result = known[method](uri.rstrip("/"))
        return {"result": result} if result is not None else _error(NOT_FOUND, f"there is nothing at {uri}")

    def _read(self, uri: str) -> JSON:
        data = self._files.get(uri)
        if data is None:
            return None
        return {"data": base64.b64encode(data).decode(), "encoding": "base64", "contentType": _TYPE}

    def _list(self, uri: str) -> JSON:
        below = [name.removeprefix(f"{uri}/").partition("/") for name in self._files if name.startswith(f"{uri}/")]
        entries = {name: "directory" if rest else "file" for name, _, rest in below}
        return {"entries": [{"name": n, "type": t} for n, t in entries.items()]} if entries else None

    def _resolve(self, uri: str) -> JSON:
        data = self._files.get(uri)
        if data is not None:
            return {"uri": uri, "type": "file", "size": len(data), "contentType": _TYPE}
        return {"uri": uri, "type": "directory"} if self._list(uri) is not None else None


def _error(code: int, message: str) -> Answer:
    return {"error": {"code": code, "message": message}}
