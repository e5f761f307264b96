"""What can go wrong on the way to a host. All of it is the environment, none of it is a verdict.

Messages are one line, say what happened and what to do, and never contain a token.
"""

from __future__ import annotations


class WireError(Exception):
    """Base of every error that this room raises on purpose."""


class ConnectionLost(WireError):
    """Something was to be sent on a connection that is closed."""


class TranscriptError(WireError):
    """A transcript file is not JSON Lines of frames; the message names file and line."""


class ConnectError(WireError):
    """No usable WebSocket connection came about. `endpoint` is the address without secrets."""

    def __init__(self, endpoint: str, what: str) -> None:
        super().__init__(f"{endpoint}: {what}")
        self.endpoint = endpoint


class BadUrl(ConnectError):
    """The address or the token cannot be used as it is written."""


class Unreachable(ConnectError):
    """The name does not resolve, there is no route, or the socket file does not exist."""


class Refused(ConnectError):
    """Nothing listens at the address, or it is not permitted to use it."""


class TlsFailed(ConnectError):
    """No TLS session: certificate not trusted, or the peer does not speak TLS."""


class UpgradeRefused(ConnectError):
    """An HTTP server answered the upgrade with another status than 101; `status` is that status."""

    def __init__(self, endpoint: str, status: int, what: str) -> None:
        super().__init__(endpoint, what)
        self.status = status


class NotWebSocket(ConnectError):
    """Something listens, but what it says is no WebSocket upgrade."""


class ConnectTimeout(ConnectError):
    """The connection was not ready within the given seconds."""
