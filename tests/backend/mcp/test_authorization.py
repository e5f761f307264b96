"""Challenges on the wire: who is challenged, how a client finds the way from there, and what lets it through."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed
from pydantic import AnyUrl

from conformance.backend import PlaybookError, token_hash
from conformance.backend.mcp_servers import ALL_TOOLS, McpServer, McpServers

from .clients import ACCEPT, HELLO, PATIENCE, Plain, connected, request, send, texts

GOOD, WIDER, BAD = "good-token", "wider-token", "bad-token"


def demand(*tokens: str, status: int = 401, **more: Any) -> dict[str, Any]:
    """A challenge that takes these tokens."""
    return {"status": status, "accept": [token_hash(token) for token in tokens], **more}


def field(reply: httpx.Response, name: str) -> str | None:
    """A field of WWW-Authenticate, read by the official client's parser."""
    return extract_field_from_www_auth(_for_parsers(reply), name)


def _for_parsers(reply: httpx.Response) -> httpx2.Response:
    return httpx2.Response(reply.status_code, headers=list(reply.headers.items()))


# -- the way from a challenge to the authorization server ---------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_the_official_client_finds_its_way(servers: McpServers, status: int) -> None:
    """From the challenge alone it comes to the point where a browser would open, with resource and scopes."""
    server = servers.open("vault")
    server.challenge([demand(GOOD, status=status, scopes=["secrets.read", "secrets.list"])])
    asked = urlsplit(asyncio.run(_where_it_would_sign_in(server)))
    parameters = parse_qs(asked.query)
    assert f"{asked.scheme}://{asked.netloc}{asked.path}" == f"{servers.issuer}/authorize"
    assert parameters["resource"] == [server.resource]
    assert set(parameters["scope"][0].split()) >= {"secrets.read", "secrets.list"}


class _Asked(Exception):
    """The client would open a browser now, at this URL."""


class _Registered:
    """A client that the authorization server knows already; it has an old token if one is given."""

    def __init__(self, token: str | None) -> None:
        self._tokens = None if token is None else OAuthToken(access_token=token)

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        raise AssertionError("nobody issues tokens here")

    async def get_client_info(self) -> OAuthClientInformationFull:
        return OAuthClientInformationFull(client_id="test", redirect_uris=[AnyUrl("http://127.0.0.1/back")])

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError("the client is registered")


async def _where_it_would_sign_in(server: McpServer) -> str:
    async def browse(url: str) -> None:
        raise _Asked(url)

    async def never() -> Any:
        raise AssertionError("it has not been sent anywhere")

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl("http://127.0.0.1/back")], client_name="test")
    provider = OAuthClientProvider(server.url, metadata, _Registered("old"), browse, never)
    async with httpx2.AsyncClient(auth=provider, timeout=PATIENCE) as web:
        with pytest.raises(_Asked) as asked:
            await web.post(server.url, json=request("initialize", HELLO), headers=ACCEPT)
        return str(asked.value)


def test_each_document_on_the_way_is_what_the_official_parsers_expect(servers: McpServers) -> None:
    server = servers.open("the vault")
    server.challenge([demand(GOOD, scopes=["a"], scopes_supported=["a", "b"])])
    with Plain(server) as client:
        reply = client.initialize()
        where = extract_resource_metadata_from_www_auth(_for_parsers(reply))
        # A client that does not read the header guesses the same place (RFC 9728, section 3.1).
        assert where == build_protected_resource_metadata_discovery_urls(None, server.url)[0]
        resource = ProtectedResourceMetadata.model_validate_json(client.web.get(where).content)
        assert str(resource.resource) == server.resource == server.url
        assert resource.resource_name == "the vault"
        assert resource.scopes_supported == ["a", "b"] and resource.bearer_methods_supported == ["header"]
        (issuer,) = map(str, resource.authorization_servers)
        ways = build_oauth_authorization_server_metadata_discovery_urls(issuer, server.url)
        documents = [client.web.get(way) for way in ways]
        assert [document.status_code for document in documents] == [200, 200, 200]
        for document in documents:
            found = OAuthMetadata.model_validate_json(document.content)
            assert str(found.issuer) == issuer
            assert found.code_challenge_methods_supported == ["S256"] and found.registration_endpoint is None
        assert client.web.get(documents[0].json()["jwks_uri"]).json() == {"keys": []}
        refused = client.web.post(documents[0].json()["token_endpoint"], data={"grant_type": "authorization_code"})
        assert (refused.status_code, refused.json()["error"]) == (403, "access_denied")


def test_metadata_follow_the_challenges(servers: McpServers) -> None:
    server = servers.open("s")
    where = servers.base + servers.metadata_path(server)

    def supported() -> Any:
        return send("GET", where).json().get("scopes_supported")

    assert supported() is None
    server.challenge([demand(GOOD, scopes=["a", "b"]), demand(WIDER, status=403, scopes=["b", "c"])])
    assert supported() == ["a", "b", "c"]
    server.challenge([demand(GOOD, scopes=["x"], scopes_supported=["y"])], tool="it")
    assert supported() == ["a", "b", "c", "y"]
    server.challenge([])
    assert supported() == ["y"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_metadata_can_only_be_read(servers: McpServers, method: str) -> None:
    server = servers.open("s")
    reply = send(method, servers.base + servers.metadata_path(server))
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET, HEAD")


# -- who is challenged, and what passes ---------------------------------------------------------------------


def test_a_challenge_of_everything_meets_every_request(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it")
    with Plain(server) as client:
        assert client.initialize().status_code == 200
        server.challenge([demand(GOOD, scopes=["a"])])
        refused = [
            client.ask("initialize", HELLO),
            client.ask("tools/list"),
            client.call("it"),
            client.web.get(server.url, headers=client.headers),
            client.web.delete(server.url, headers=client.headers),
        ]
        for reply in refused:
            assert reply.status_code == 401
            assert field(reply, "error") is None and field(reply, "scope") == "a"
        client.token = GOOD
        assert client.call("it").status_code == 200


def test_a_refused_token_is_called_invalid(servers: McpServers) -> None:
    server = servers.open("s")
    server.challenge([demand(GOOD, scopes=["a", "b"], error_description="unknown token")])
    with Plain(server, BAD) as client:
        reply = client.initialize()
        assert reply.status_code == 401
        assert field(reply, "error") == "invalid_token"
        assert field(reply, "error_description") == "unknown token"
        assert extract_scope_from_www_auth(_for_parsers(reply)) == "a b"
        assert reply.json() == {"error": "invalid_token", "error_description": "unknown token"}
        client.token = GOOD
        assert client.initialize().status_code == 200


def test_the_explanation_reaches_those_without_a_token_too(servers: McpServers) -> None:
    server = servers.open("s")
    server.challenge([demand(GOOD, error_description="sign in, please")])
    with Plain(server) as client:
        assert field(client.initialize(), "error_description") == "sign in, please"


def test_challenges_come_one_after_the_other(servers: McpServers) -> None:
    server = servers.open("s")
    server.challenge([demand(GOOD, scopes=["a"]), demand(WIDER, status=403, scopes=["a", "b"])])
    with Plain(server) as client:
        first = client.initialize()
        client.token = GOOD
        second = client.initialize()
        client.token = BAD
        again = client.initialize()
        client.token = WIDER
        third = client.initialize()
    assert [r.status_code for r in (first, second, again, third)] == [401, 403, 401, 200]
    assert (field(second, "error"), field(second, "scope")) == ("insufficient_scope", "a b")
    assert field(second, "resource_metadata") == servers.base + servers.metadata_path(server)


@pytest.mark.parametrize("target", [ALL_TOOLS, "secret"])
def test_a_challenge_of_calls_leaves_the_rest_open(servers: McpServers, target: str) -> None:
    server = servers.open("s")
    server.tool("secret")
    server.tool("public")
    server.challenge([demand(GOOD)], tool=target)
    with Plain(server) as client:
        assert client.initialize().status_code == 200
        assert client.ask("tools/list").status_code == 200
        assert client.call("secret").status_code == 401
        assert client.call("public").status_code == (401 if target == ALL_TOOLS else 200)
        client.token = GOOD
        assert client.call("secret").status_code == client.call("public").status_code == 200


def test_each_tool_has_challenges_of_its_own(servers: McpServers) -> None:
    server = servers.open("s")
    for name in ("one", "two"):
        server.tool(name)
    server.challenge([demand(GOOD, WIDER, scopes=["first"])], tool=ALL_TOOLS)
    server.challenge([demand(WIDER, status=403, scopes=["second"])], tool="two")
    with Plain(server, GOOD) as client:
        client.initialize()
        assert client.call("one").status_code == 200
        assert field(client.call("two"), "scope") == "second"
        client.token = BAD
        assert field(client.call("two"), "scope") == "first"
        client.token = WIDER
        assert client.call("two").status_code == 200
        server.challenge([], tool="two")
        client.token = GOOD
        assert client.call("two").status_code == 200


def test_a_token_expires_between_two_calls(servers: McpServers) -> None:
    server = servers.open("s")
    server.tool("it")
    server.challenge([demand(GOOD)], tool=ALL_TOOLS)
    with Plain(server, GOOD) as client:
        client.initialize()
        assert client.call("it").status_code == 200
        server.challenge([demand("renewed")], tool=ALL_TOOLS)
        expired = client.call("it")
        assert (expired.status_code, field(expired, "error")) == (401, "invalid_token")
        # The session outlives the token: the next call goes on in it.
        client.token = "renewed"
        assert client.call("it").status_code == 200


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_works_with_a_good_token(servers: McpServers, mode: Any) -> None:
    server = servers.open("s")
    server.tool("it")
    server.challenge([demand(GOOD)])

    async def acting() -> list[str]:
        async with asyncio.timeout(PATIENCE), connected(server, mode, GOOD) as client:
            return texts(await client.call_tool("it", {"a": 1}))

    assert asyncio.run(acting()) == ['{"a": 1}']
    assert server.tokens_seen() == (token_hash(GOOD),)


def test_a_challenge_that_cannot_be_read_changes_nothing(servers: McpServers) -> None:
    server = servers.open("s")
    server.challenge([demand(GOOD)])
    with pytest.raises(PlaybookError, match="status"):
        server.challenge([demand(BAD, status=500)])
    with Plain(server, BAD) as client:
        assert client.initialize().status_code == 401


def test_a_broken_server_answers_500_until_it_is_mended(servers: McpServers) -> None:
    server = servers.open("s")
    server.challenge([demand(GOOD)])
    server.breaks("no such program")
    with Plain(server) as client:
        for reply in (client.initialize(), client.web.get(server.url), client.web.delete(server.url)):
            assert (reply.status_code, reply.json()["error"]["message"]) == (500, "no such program")
        server.breaks(None)
        assert client.initialize().status_code == 401


# -- resources ----------------------------------------------------------------------------------------------


def test_two_servers_on_one_resource(servers: McpServers) -> None:
    one = servers.open("one")
    two = servers.open("two", resource=one.resource)
    assert one.url != two.url and two.resource == one.resource
    # Strict clients take a resource only for URLs below it.
    assert check_resource_allowed(two.url, two.resource)
    one.challenge([demand(GOOD, scopes=["a"])])
    two.challenge([demand(GOOD, scopes=["b"])])
    found = []
    for server in (one, two):
        with Plain(server) as client:
            where = field(client.initialize(), "resource_metadata")
            assert where is not None
            own = build_protected_resource_metadata_discovery_urls(None, server.url)[0]
            found += [client.web.get(where).json(), client.web.get(own).json()]
            client.token = GOOD
            assert client.initialize().status_code == 200
    assert all(document == found[0] for document in found)
    assert (found[0]["resource"], found[0]["scopes_supported"]) == (one.resource, ["a", "b"])
    servers.close(one)
    where = servers.base + servers.metadata_path(two)
    assert send("GET", where).json()["scopes_supported"] == ["b"]


def test_a_resource_elsewhere_is_described_at_the_server(servers: McpServers) -> None:
    server = servers.open("s", resource="https://vault.example/api")
    server.challenge([demand(GOOD, resource="https://vault.example/api")])
    with Plain(server) as client:
        where = field(client.initialize(), "resource_metadata")
        assert where is not None and where.startswith(f"{servers.base}/.well-known/oauth-protected-resource/")
        assert client.web.get(where).json()["resource"] == "https://vault.example/api"


@pytest.mark.parametrize(
    "resource", ["vault", "ftp://a.example/", "https://", "https://a.example/#b", "https://ä.example/"]
)
def test_what_is_no_resource_is_refused(servers: McpServers, resource: str) -> None:
    with pytest.raises(ValueError, match="protected resource"):
        servers.open("s", resource=resource)
