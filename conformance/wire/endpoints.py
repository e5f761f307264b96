"""Addresses of hosts: what the user wrote, taken apart, and how it may be shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from websockets.exceptions import InvalidURI
from websockets.uri import WebSocketURI, parse_uri

from conformance.wire.errors import BadUrl

UNIX = "unix:"
TokenPlace = Literal["query", "header"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect and what to ask for. `shown` has no user information and no query, so no secret."""

    shown: str
    uri: WebSocketURI
    unix_path: str | None
    authorization: str | None  # value of the Authorization header


def parse_endpoint(url: str, token: str | None, token_in: TokenPlace, token_name: str) -> Endpoint:
    """Take an address apart and add the token. BadUrl says what is wrong with it."""
    shown = without_secrets(url)
    unix_path = None
    if url.startswith(UNIX):
        unix_path = url.removeprefix(UNIX)
        if not unix_path or "\0" in unix_path:
            raise BadUrl(shown, "no path of a socket; write unix:/path/to/socket")
        url = "ws://localhost/"
    uri = _parse(url, shown)
    authorization = None
    if token is not None and token_in == "query":
        parameter = f"{quote(token_name, safe='')}={quote(token, safe='')}"
        uri.query = f"{uri.query}&{parameter}" if uri.query else parameter
    elif token is not None:
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise BadUrl(shown, "the token holds characters that an HTTP header cannot carry; is there a line break?")
        authorization = f"Bearer {token}"
    return Endpoint(shown, uri, unix_path, authorization)


def _parse(url: str, shown: str) -> WebSocketURI:
    if not url.startswith(("ws://", "wss://")):
        hint = "; did you mean ws:// or wss://?" if url.startswith(("http://", "https://")) else ""
        raise BadUrl(shown, f"not an address of a host; write ws://HOST:PORT, wss://HOST:PORT or unix:PATH{hint}")
    if re.search(r"[\s\x00-\x1f\x7f]", url):
        raise BadUrl(shown, "the address holds blanks or control characters; percent-encode them")
    try:
        return parse_uri(url)
    except InvalidURI as exc:
        raise BadUrl(shown, f"not a WebSocket address: {exc.msg}") from None
    except ValueError:  # the port, the brackets of an IPv6 address, or a name that IDNA refuses
        raise BadUrl(shown, "not a WebSocket address: host name or port is malformed") from None


def without_secrets(url: str) -> str:
    """An address as messages may show it: no user information, no query, no fragment, one line."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    bare = re.sub(r"^(\w+:)?//[^/]*@", lambda match: f"{match[1] or ''}//", bare)
    return bare if bare.isprintable() else repr(bare)[1:-1]
