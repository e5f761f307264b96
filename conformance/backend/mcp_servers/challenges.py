"""Challenges: which token passes, and how a refusal is worded. No I/O.

Sources: docs/backend.md > CHALLENGE; RFC 6750, section 3 (the header); RFC 9728, sections 2 and 5 (metadata of the
resource); RFC 8414 (metadata of the authorization server); the authorization chapter of the MCP specification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.backend.playbook import PlaybookError, check

JSON = dict[str, Any]

ALL_TOOLS: Final = "*"
"""Stands for every tool of a server where a challenge names a tool."""

# RFC 6750, section 3, leaves neither quotes nor backslashes to either, so nothing ever has to be escaped.
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_DESCRIPTION: Final = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]*")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One refusal: its status (401 or 403), and `accept`, the SHA-256 hashes of the tokens that meet it."""

    status: int
    accept: frozenset[str]
    scopes: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] = ()
    error_description: str | None = None

    def error(self, presented: bool) -> str | None:
        """The error code of RFC 6750; a request that carried no token (presented) is told none by a 401."""
        if self.status == 403:
            return "insufficient_scope"
        return "invalid_token" if presented else None

    def header(self, metadata_url: str, presented: bool) -> str:
        """The value of WWW-Authenticate.

        The description is sent to those who carried no token as well: a challenge that has one is there to see
        whether it reaches the user, and that begins with the first request.
        """
        values = {
            "error": self.error(presented),
            "scope": " ".join(self.scopes) or None,
            "resource_metadata": metadata_url,
            "error_description": self.error_description,
        }
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in values.items() if value is not None)


def read(challenges: Iterable[Mapping[str, Any]], resource: str) -> tuple[Challenge, ...]:
    """Challenges from their JSON form; `resource` may be left out there, and must be that of the server if it is not.

    Raises PlaybookError, which says what is wrong with which.
    """
    return tuple(_read(dict(challenge), resource, place) for place, challenge in enumerate(challenges))


def _read(body: JSON, resource: str, place: int) -> Challenge:
    body.setdefault("resource", resource)
    check([{"mcp": {"server": f"challenge {place}", "challenge": body}}])
    if body["resource"] != resource:
        raise PlaybookError(
            f"challenge {place}: its resource {body['resource']!r} is not that of the server, {resource!r}"
        )
    for scope in (*body.get("scopes", ()), *body.get("scopes_supported", ())):
        if not _SCOPE.fullmatch(scope):
            raise PlaybookError(
                f"challenge {place}: {scope!r} is no scope (printable ASCII without blanks, quotes and \\)"
            )
    description = body.get("error_description")
    if description is not None and not _DESCRIPTION.fullmatch(description):
        raise PlaybookError(f"challenge {place}: error_description is printable ASCII without quotes and \\")
    scopes = tuple(body.get("scopes", ()))
    return Challenge(
        status=body["status"],
        accept=frozenset(body["accept"]),
        scopes=scopes,
        scopes_supported=tuple(body.get("scopes_supported", ())) or scopes,
        error_description=description,
    )


def unmet(challenges: Sequence[Challenge], token: str | None) -> Challenge | None:
    """The challenge that answers a request with this token (its hash, None for none), or None when it passes.

    A token that meets a challenge has met all before it, so the last one that takes it decides.
    """
    level = max((place for place, challenge in enumerate(challenges) if token in challenge.accept), default=-1)
    return None if level == len(challenges) - 1 else challenges[level + 1]


def resource_document(resource: str, name: str, issuer: str, scopes: Iterable[str]) -> JSON:
    """The metadata of a protected resource; without scopes the member is left out, as RFC 9728 wants it."""
    document: JSON = {
        "resource": resource,
        "resource_name": name,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
    }
    listed = list(dict.fromkeys(scopes))
    return document | {"scopes_supported": listed} if listed else document


def issuer_document(issuer: str) -> JSON:
    """The metadata of the authorization server, with what OpenID discovery demands beyond RFC 8414."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "jwks_uri": f"{issuer}/keys",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }
