"""Which token passes, and how a refusal is worded."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)

from conformance.backend import PlaybookError, token_hash
from conformance.backend.mcp_servers.challenges import Challenge, read, unmet

HERE = "http://127.0.0.1:1/.well-known/oauth-protected-resource/a/mcp"
RESOURCE = "http://127.0.0.1:1/a/mcp"
ONE, TWO, THREE = (token_hash(text) for text in ("one", "two", "three"))
LADDER = (
    Challenge(401, frozenset({ONE, TWO})),
    Challenge(403, frozenset({TWO})),
    Challenge(403, frozenset({THREE})),
)


@pytest.mark.parametrize(("token", "place"), [(None, 0), (token_hash("other"), 0), (ONE, 1), (TWO, 2), (THREE, None)])
def test_a_token_meets_all_challenges_up_to_the_last_that_takes_it(token: str | None, place: int | None) -> None:
    assert unmet(LADDER, token) == (None if place is None else LADDER[place])


def test_without_challenges_everything_passes() -> None:
    assert unmet((), None) is None and unmet((), ONE) is None


def test_a_first_401_carries_no_error_code() -> None:
    assert Challenge(401, frozenset(), ("a", "b")).header(HERE, False) == (
        f'Bearer scope="a b", resource_metadata="{HERE}"'
    )


def test_a_refused_token_is_invalid() -> None:
    assert Challenge(401, frozenset(), error_description="it has expired").header(HERE, True) == (
        f'Bearer error="invalid_token", resource_metadata="{HERE}", error_description="it has expired"'
    )


@pytest.mark.parametrize("presented", [True, False])
def test_a_403_says_that_the_scope_is_insufficient(presented: bool) -> None:
    header = Challenge(403, frozenset(), ("a", "b"), error_description="more, please").header(HERE, presented)
    reply = httpx2.Response(403, headers={"WWW-Authenticate": header})
    assert extract_field_from_www_auth(reply, "error") == "insufficient_scope"
    assert extract_scope_from_www_auth(reply) == "a b"
    assert extract_resource_metadata_from_www_auth(reply) == HERE
    assert extract_field_from_www_auth(reply, "error_description") == "more, please"


def test_what_is_supported_is_by_default_what_is_demanded() -> None:
    (short,) = read([{"status": 401, "accept": [ONE], "scopes": ["a"]}], RESOURCE)
    (long,) = read([{"status": 401, "accept": [ONE], "scopes": ["a"], "scopes_supported": ["b", "c"]}], RESOURCE)
    assert short.scopes_supported == ("a",)
    assert (long.scopes, long.scopes_supported) == (("a",), ("b", "c"))


@pytest.mark.parametrize(
    ("wrong", "about"),
    [
        ({"status": 400}, "status"),
        ({"accept": ["a token"]}, "accept"),
        ({"scopes": 'a" b'}, "scopes"),
        ({"scopes": ['a"']}, "scope"),
        ({"scopes": ["a b"]}, "scope"),
        ({"scopes_supported": ["a\\"]}, "scope"),
        ({"error_description": 'say "please"'}, "error_description"),
        ({"error_description": "a\r\nSet-Cookie: b"}, "error_description"),
        ({"error_description": "bitte schön"}, "error_description"),
        ({"resource": "https://elsewhere.example/"}, "elsewhere.example"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_no_header_can_say_is_refused(wrong: dict[str, Any], about: str) -> None:
    good = {"status": 401, "accept": [ONE], "scopes": ["a"], "error_description": "please"}
    assert len(read([good], RESOURCE)) == 1
    with pytest.raises(PlaybookError, match=about):
        read([good, good | wrong], RESOURCE)
