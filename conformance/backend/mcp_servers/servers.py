"""All MCP servers of a run, on one loopback port."""

from __future__ import annotations

import re
import secrets
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from conformance.backend.web import BackendMissing, LoopbackServer

from . import challenges as rules
from .server import McpServer

if TYPE_CHECKING:
    from .serving import Application

RESOURCE_METADATA = "/.well-known/oauth-protected-resource"


class McpServers:
    """Any number of MCP servers on one port, with the metadata of their resources and of an authorization server.

    `open` and `close` may be called from any thread. Raises BackendMissing at `start` where the packages of the
    extra `backend` are not installed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_path: dict[str, McpServer] = {}
        self._base: str | None = None
        self._web: LoopbackServer | None = None
        self._application: Application | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> str:
        """Listen, and return the base URL (without a slash at its end). A second call changes nothing."""
        try:
            from .serving import Application
        except ImportError as error:
            raise BackendMissing(
                f"playing MCP servers needs the extra packages of the suite ({error}): "
                "pip install 'ahp-conformance[backend]'"
            ) from None
        with self._lock:
            if self._base is None:
                self._application = Application(self)
                self._web = LoopbackServer(self._application)
                self._base = self._web.start()
            return self._base

    def stop(self) -> None:
        """Forget every server, end every connection, and free the port. May be called twice."""
        with self._lock:
            servers, web = list(self._by_path.values()), self._web
            self._base = self._web = None
        for server in servers:
            self.close(server)
        if web is not None:
            web.stop()

    def open(self, name: str, *, resource: str | None = None, json_responses: bool = False) -> McpServer:
        """A new server with a URL of its own, without tools and challenges.

        resource: the protected resource that it belongs to, for instance that of another server; by default it is one
        itself. json_responses: answer requests with JSON instead of a stream of events. Raises ValueError for a
        resource that is no absolute http(s) URI, RuntimeError when nothing is started.
        """
        if resource is not None:
            _check_resource(resource)
        with self._lock:
            base = self._base
            if base is None:
                raise RuntimeError("start the McpServers before opening one")
            # A server of a shared resource lies below it: clients want the resource to be a prefix of the server's URL.
            root = resource.rstrip("/") if resource is not None and resource.startswith(f"{base}/") else base
            plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name) or "server"
            url = f"{root}/{secrets.token_hex(6)}/{plain}/mcp"
            server = McpServer(name, url, resource or url, json_responses=json_responses)
            self._by_path[urlsplit(url).path] = server
            return server

    def close(self, server: McpServer) -> None:
        """Forget a server: what it holds is let go, later requests get 404. May be called twice."""
        with self._lock:
            self._by_path.pop(urlsplit(server.url).path, None)
            application = self._application
        server.end()
        if application is not None:
            application.forget(server)

    # -- for those who serve them -------------------------------------------------------------------------

    @property
    def base(self) -> str:
        return self._base or ""

    @property
    def issuer(self) -> str:
        """The identifier of the authorization server that all resources name."""
        return f"{self.base}/issuer"

    def at(self, path: str) -> McpServer | None:
        """The server whose endpoint has this path."""
        with self._lock:
            return self._by_path.get(path)

    def metadata_path(self, server: McpServer) -> str:
        """Where the metadata of its resource are: at the path of the resource, or its own if that is not of ours."""
        ours = server.resource.startswith(f"{self.base}/")
        return RESOURCE_METADATA + urlsplit(server.resource if ours else server.url).path

    def described_at(self, path: str) -> list[McpServer]:
        """The servers of the resource whose metadata have this path, in order of opening.

        The path of a server leads to the metadata of its resource too, for clients that do not read the challenge.
        """
        with self._lock:
            servers = list(self._by_path.values())
        found = next(
            (s for s in servers if path in (self.metadata_path(s), RESOURCE_METADATA + urlsplit(s.url).path)), None
        )
        return [s for s in servers if found is not None and s.resource == found.resource]

    def document(self, servers: list[McpServer]) -> rules.JSON:
        """The metadata of the resource of these servers."""
        scopes = [scope for server in servers for scope in server.scopes_supported]
        return rules.resource_document(servers[0].resource, servers[0].name, self.issuer, scopes)


def _check_resource(resource: str) -> None:
    parts = urlsplit(resource)
    if parts.scheme not in ("http", "https") or not parts.netloc or "#" in resource or not resource.isascii():
        raise ValueError(f"{resource!r} is no identifier of a protected resource: an absolute http(s) URI, no fragment")
