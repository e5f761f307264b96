"""From an address to an open WebSocket: TCP or unix socket, TLS, HTTP upgrade, each within one deadline.

The socket's own timeout is used here, which for TLS bounds the whole handshake and not only each read.
Every outcome but success is a `ConnectError` with one line.
"""

from __future__ import annotations

import logging
import re
import socket
import ssl
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHeader, NegotiationError
from websockets.frames import Frame

from conformance.wire.endpoints import Endpoint
from conformance.wire.errors import (
    ConnectError,
    ConnectTimeout,
    NotWebSocket,
    Refused,
    TlsFailed,
    Unreachable,
    UpgradeRefused,
)

MAX_MESSAGE = 64 * 2**20
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})\b")
_TLS_RECORD = re.compile(rb"[\x15\x16]\x03[\x00-\x04]")

# OpenSSL's words, by release, for an answer that is plain text.
_NOT_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE")

# Own logger, detached: the library's debug log would show tokens, its error log would disturb the report.
_silent = logging.Logger("conformance.wire", level=logging.CRITICAL + 1)


@dataclass(frozen=True, slots=True)
class Upgraded:
    """An open WebSocket, and the frames that have already come."""

    sock: socket.socket
    protocol: ClientProtocol
    early: list[Frame]


class _Deadline:
    def __init__(self, endpoint: Endpoint, seconds: float) -> None:
        self.endpoint = endpoint
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, stage: str) -> float:
        """Seconds left, above zero; ConnectTimeout when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.over(stage)
        return left

    def over(self, stage: str) -> ConnectTimeout:
        return ConnectTimeout(
            self.endpoint.shown,
            f"{stage} within {self.seconds:g} s; is a host listening there? --patience allows more seconds",
        )


def open_and_upgrade(endpoint: Endpoint, timeout: float, context: ssl.SSLContext | None) -> Upgraded:
    """Connect and upgrade; the socket is closed again when that fails."""
    deadline = _Deadline(endpoint, timeout)
    path = endpoint.unix_path
    sock = _open_unix(endpoint, path, deadline) if path is not None else _open_tcp(endpoint, deadline)
    try:
        if endpoint.uri.secure:
            sock = _start_tls(sock, endpoint, deadline, context)
        return _upgrade(sock, endpoint, deadline)
    except BaseException:
        sock.close()
        raise


def _open_tcp(endpoint: Endpoint, deadline: _Deadline) -> socket.socket:
    uri = endpoint.uri
    try:
        found = socket.getaddrinfo(uri.host, uri.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable(endpoint.shown, f'the name "{uri.host}" does not resolve; check the host name') from None
    trouble: OSError | None = None
    for place, (family, kind, proto, _, address) in enumerate(found):
        sock = socket.socket(family, kind, proto)
        try:
            # A fair share each: an address that swallows packets must not use up the time of the next one.
            sock.settimeout(deadline.left("no connection") / (len(found) - place))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as exc:
            sock.close()
            trouble = exc
        except BaseException:
            sock.close()
            raise
    if isinstance(trouble, TimeoutError):
        raise deadline.over("no connection")
    if isinstance(trouble, ConnectionRefusedError):
        raise Refused(endpoint.shown, "connection refused: nothing listens there; start the host or correct the port")
    why = trouble.strerror if trouble is not None and trouble.strerror else "no address"
    raise Unreachable(endpoint.shown, f"cannot be reached ({why}); check host name and network")


def _open_unix(endpoint: Endpoint, path: str, deadline: _Deadline) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A unix socket whose queue is full refuses a non-blocking connect at once; this option makes it wait.
        seconds = deadline.left("no connection")
        limit = struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        sock.connect(path)
        return sock
    except OSError as exc:
        sock.close()
        raise _unix_trouble(endpoint, path, exc, deadline) from None
    except BaseException:
        sock.close()
        raise


def _unix_trouble(endpoint: Endpoint, path: str, exc: OSError, deadline: _Deadline) -> ConnectError:
    if isinstance(exc, FileNotFoundError):
        return Unreachable(endpoint.shown, "no such socket; start the host or correct the path")
    if isinstance(exc, PermissionError):
        return Refused(endpoint.shown, "no permission to use this socket; check its owner and mode")
    if isinstance(exc, BlockingIOError):
        return deadline.over("no connection")
    if isinstance(exc, ConnectionRefusedError):
        if Path(path).is_socket():
            return Refused(endpoint.shown, "nothing listens at this socket any more; start the host again")
        return Refused(endpoint.shown, "this file is not a socket; correct the path")
    return Unreachable(endpoint.shown, f"cannot be used as a socket ({exc.strerror or exc}); check the path")


def _start_tls(
    sock: socket.socket, endpoint: Endpoint, deadline: _Deadline, context: ssl.SSLContext | None
) -> socket.socket:
    shown = endpoint.shown
    context = context or ssl.create_default_context()
    try:
        sock.settimeout(deadline.left("no TLS session"))
        return context.wrap_socket(sock, server_hostname=endpoint.uri.host)
    except TimeoutError:
        raise deadline.over("no TLS session") from None
    except ssl.SSLCertVerificationError as exc:
        hint = "set SSL_CERT_FILE to the certificate of its authority, or correct the host name"
        raise TlsFailed(shown, f"its certificate is not trusted ({exc.verify_message}); {hint}") from None
    except ssl.SSLError as exc:
        if exc.reason in _NOT_TLS:
            raise TlsFailed(shown, "the port does not speak TLS; try ws:// in place of wss://") from None
        why = (exc.reason or "the connection ended").replace("_", " ").lower()
        raise TlsFailed(shown, f"no TLS session ({why}); check that the port speaks TLS") from None
    except OSError:
        raise TlsFailed(
            shown, "the connection ended during the TLS handshake; check that the port speaks TLS"
        ) from None
    except ValueError:  # a name that cannot stand in a certificate
        raise TlsFailed(shown, "the host name cannot be checked against a certificate; correct it") from None


def _upgrade(sock: socket.socket, endpoint: Endpoint, deadline: _Deadline) -> Upgraded:
    protocol = ClientProtocol(endpoint.uri, max_size=MAX_MESSAGE, logger=_silent)
    request = protocol.connect()
    if endpoint.authorization is not None:
        if "Authorization" in request.headers:
            del request.headers["Authorization"]
        request.headers["Authorization"] = endpoint.authorization
    protocol.send_request(request)
    stage = "no answer to the WebSocket upgrade"
    answer = bytearray()
    try:
        sock.settimeout(deadline.left(stage))
        sock.sendall(b"".join(protocol.data_to_send()))
        while True:
            sock.settimeout(deadline.left(stage))
            data = sock.recv(65536)
            answer += data
            _refuse_what_is_no_upgrade(endpoint, bytes(answer), ended=not data)
            protocol.receive_data(data)
            if protocol.handshake_exc is not None:
                raise _broken_upgrade(endpoint, protocol.handshake_exc)
            events = protocol.events_received()
            if events:
                return Upgraded(sock, protocol, [event for event in events if isinstance(event, Frame)])
    except TimeoutError:
        raise deadline.over(stage) from None
    except OSError as exc:
        why = exc.strerror or type(exc).__name__
        raise NotWebSocket(
            endpoint.shown,
            f"the connection broke during the upgrade ({why}); is an AHP host listening there?",
        ) from None


def _refuse_what_is_no_upgrade(endpoint: Endpoint, answer: bytes, ended: bool) -> None:
    """Judge the answer as early as its bytes allow, as some peers neither finish it nor hang up."""
    shown = endpoint.shown
    if not answer.startswith(b"HTTP/"[: len(answer)]):
        if _TLS_RECORD.match(answer):
            raise NotWebSocket(shown, "the port speaks TLS; try wss:// in place of ws://")
        raise NotWebSocket(shown, f"the port does not speak HTTP (it says {_start(answer)}); correct the port")
    status = _STATUS_LINE.match(answer)
    if status is not None and status[1] != b"101" and (ended or b"\n" in answer):
        raise _refusal(endpoint, int(status[1]))
    if ended:
        said = f"after {_start(answer)}" if answer else "with no answer"
        raise NotWebSocket(
            shown,
            f"the connection was closed {said} to the WebSocket upgrade; is an AHP host listening there?",
        )


def _start(answer: bytes) -> str:
    # Only the first word: an echo would give the whole request back, token included.
    word = re.split(rb"[\s?]", answer[:40], maxsplit=1)[0][:20]
    return repr(word.decode("ascii", "replace")) if word else "nothing readable"


def _refusal(endpoint: Endpoint, status: int) -> UpgradeRefused:
    if status in (401, 403):
        what = "the host wants a token, or another one; name the variable that holds it with --token-env NAME"
    elif status == 404:
        what = "no WebSocket at this path; correct the path of the address"
    elif status in (301, 302, 307, 308):
        what = "it points to another address; use that one"
    elif status == 200:
        what = "an ordinary web server, not a WebSocket; correct port and path"
    elif status >= 500:
        what = "the server, or a proxy before it, fails; look at its log"
    else:
        what = "it does not take the WebSocket upgrade; correct port and path"
    return UpgradeRefused(endpoint.shown, status, f"HTTP {status} in answer to the WebSocket upgrade: {what}")


def _broken_upgrade(endpoint: Endpoint, exc: Exception) -> NotWebSocket:
    if isinstance(exc, NegotiationError):
        why = "it selects an extension or subprotocol that was not offered"
    elif isinstance(exc, InvalidHeader):
        why = f"header {exc.name} is missing or wrong"
    else:
        why = "it is not well-formed HTTP"
    return NotWebSocket(endpoint.shown, f"the answer to the WebSocket upgrade is broken: {why}; is it an AHP host?")
