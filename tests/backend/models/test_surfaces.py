"""What lies beside the models, tokens that are refused, and requests that are none."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anthropic
import httpx
import openai
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.backend import compose
from conformance.backend.models.chat_completions import ChatCompletions
from conformance.backend.models.messages import Messages
from conformance.backend.models.responses import Responses
from conformance.backend.models.surface import Surface, asked_tokens
from conformance.backend.player import Call, Message, Say

from .conftest import NewAgent, Services

JSON = Any
MODEL_PATHS = ["/v1/chat/completions", "/chat/completions", "/responses", "/any/prefix/v1/messages"]


def _get(services: Services, path: str) -> JSON:
    response = httpx.get(services.url + path)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    return response.json()


def test_the_copilot_runtime_finds_its_user(services: Services) -> None:
    user = _get(services, "/copilot_internal/user")
    assert user["chat_enabled"] is True and user["is_mcp_enabled"] is True
    assert set(user["endpoints"].values()) == {services.url}
    token = _get(services, "/copilot_internal/v2/token")
    assert token["token"] and token["endpoints"]["api"] == services.url
    for path in ("/user", "/api/v3/user"):
        assert _get(services, path)["login"] == user["login"]
    assert _get(services, "/_ping") == {}
    assert httpx.head(f"{services.url}/anything").status_code == 200
    assert httpx.post(f"{services.url}/graphql", json={"query": ""}).json() == {"data": {}}
    assert httpx.post(f"{services.url}/telemetry/v1", content=b"not JSON").status_code == 200
    assert {record.surface for record in services.requests} == {"copilot"}


def test_the_models_serve_three_kinds_of_clients(services: Services) -> None:
    models = {entry["id"]: entry for entry in _get(services, "/models")["data"]}
    session = httpx.post(f"{services.url}/models/session", json={}).json()
    assert session["selected_model"] in session["available_models"] == list(models)
    endpoints = {endpoint for entry in models.values() for endpoint in entry["supported_endpoints"]}
    assert endpoints == {"/chat/completions", "/responses", "/v1/messages"}
    assert all(entry["capabilities"]["supports"]["tool_calls"] for entry in models.values())
    with openai.OpenAI(base_url=f"{services.url}/v1", api_key="any", max_retries=0) as client:
        assert [model.id for model in client.models.list()] == list(models)
        assert client.models.retrieve("gpt-5-codex").owned_by == "OpenAI"
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("unheard-of")
    with anthropic.Anthropic(base_url=services.url, api_key="any", max_retries=0) as other:
        assert [model.id for model in other.models.list()] == list(models)
        assert other.models.retrieve("claude-sonnet-4.5").display_name == "Scripted Claude"


def test_tokens_can_be_counted(services: Services) -> None:
    with anthropic.Anthropic(base_url=services.url, api_key="any", max_retries=0) as client:
        few, many = (
            client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "word " * count}])
            for count in (1, 1000)
        )
    assert 0 < few.input_tokens < many.input_tokens


def test_the_built_in_mcp_server_has_no_tools(services: Services) -> None:
    def call(method: str, **params: JSON) -> JSON:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return httpx.post(f"{services.url}/mcp/readonly", json=message).json()

    assert call("initialize", protocolVersion="2025-03-26")["result"]["protocolVersion"] == "2025-03-26"
    assert call("tools/list") == {"jsonrpc": "2.0", "id": 7, "result": {"tools": []}}
    assert call("ping")["result"] == {}
    assert call("prompts/list")["error"]["code"] == -32601
    told = httpx.post(f"{services.url}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (told.status_code, told.content) == (202, b"")
    assert httpx.get(f"{services.url}/mcp").status_code == 405
    assert {record.surface for record in services.requests} == {"mcp"}


def test_a_refused_token_opens_nothing(new_agent: NewAgent, services: Services) -> None:
    services.refuse({"bad"})
    agent = new_agent(key="bad")
    agent.say("hi")
    with pytest.raises((openai.AuthenticationError, anthropic.AuthenticationError), match="does not take this token"):
        agent.answer()
    for scheme in ("token", "Bearer"):
        refused = httpx.get(f"{services.url}/copilot_internal/user", headers={"Authorization": f"{scheme} bad"})
        assert refused.status_code == 401 and refused.json()["message"]
    assert {record.status for record in services.requests} == {401}
    good = new_agent(key="good")
    good.say("hi")
    assert good.answer().text
    services.refuse(())
    assert agent.answer().text


@pytest.mark.parametrize("path", MODEL_PATHS)
@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "not JSON"), (b"{oops", "not JSON"), (b"[1]", "not a JSON object"), (b"\xff", "not JSON")],
)
def test_a_body_that_is_none_is_refused(services: Services, path: str, content: bytes, why: str) -> None:
    response = httpx.post(services.url + path, content=content)
    assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
    assert why in response.json()["error"]["message"]
    (record,) = services.requests
    assert record.status == 400 and record.error is not None and why in record.error


def test_what_is_not_there_is_not_found(services: Services) -> None:
    for method, path in [("GET", "/nowhere"), ("POST", "/"), ("DELETE", "/models"), ("POST", "/v1/embeddings")]:
        response = httpx.request(method, services.url + path)
        assert response.status_code == 404
        assert f"{method} {path}" in response.json()["message"]
    assert {record.surface for record in services.requests} == {"unknown"}
    wrong = httpx.get(f"{services.url}/v1/messages")
    assert wrong.status_code == 405 and wrong.json()["error"]["type"] == "invalid_request_error"


def test_what_was_not_stored_cannot_be_continued(services: Services) -> None:
    with openai.OpenAI(base_url=f"{services.url}/v1", api_key="any", max_retries=0) as client:
        with pytest.raises(openai.BadRequestError, match="the whole conversation"):
            client.responses.create(
                model="m",
                previous_response_id="resp_1",
                input=[{"type": "function_call_output", "call_id": "ahpc_0_0_ab", "output": ""}],
            )
        told = compose("", [{"say": "hi"}])
        assert client.responses.create(model="m", previous_response_id="resp_1", input=told).output_text == "hi"


def test_tools_in_a_namespace_are_called_by_their_own_name(services: Services) -> None:
    moves: list[JSON] = [{"call": {"tool": "read", "server": "vault"}}, {"say": "end"}]
    space: JSON = {"type": "namespace", "name": "mcp__vault", "description": "A vault."}
    space["tools"] = [{"type": "function", "name": "read", "parameters": {"type": "object"}}]
    with openai.OpenAI(base_url=f"{services.url}/v1", api_key="any", max_retries=0) as client:
        (call,) = client.responses.create(model="m", input=compose("", moves), tools=[space]).output
    assert call.type == "function_call"
    assert (call.name, call.namespace) == ("read", "mcp__vault")


def test_usage_comes_in_a_chunk_of_its_own_only_when_asked_for(services: Services) -> None:
    with openai.OpenAI(base_url=services.url, api_key="any", max_retries=0) as client:
        for own_chunk, lengths in ((False, [1]), (True, [0])):
            chunks = list(
                client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": "hi"}],
                    stream=True,
                    stream_options={"include_usage": own_chunk},
                )
            )
            assert [len(chunk.choices) for chunk in chunks if chunk.usage] == lengths
            assert chunks[-1].usage is not None and chunks[-1].usage.total_tokens > 1


def test_answers_of_one_agent_may_be_several_messages(services: Services) -> None:
    """An agent that writes text and calls of one answer as two messages has not ended the turn by the first."""
    moves: list[JSON] = [{"say": "a"}, {"call": {"tool": "t", "server": "s"}}, {"say": "end"}]
    call: JSON = {"id": "call_renamed", "type": "function", "function": {"name": "s-t", "arguments": "{}"}}
    messages: list[JSON] = [
        {"role": "user", "content": [{"type": "text", "text": compose("", moves)}]},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_renamed", "content": [{"type": "text", "text": "x"}]},
    ]
    tools = [{"type": "function", "function": {"name": "s-t"}}]
    body = {"model": "m", "messages": messages, "tools": tools}
    reply = httpx.post(f"{services.url}/chat/completions", json=body).json()
    assert reply["choices"][0]["message"]["content"] == "end"


# Any JSON, with the words that surfaces look for among it.
_MEMBERS = ["role", "content", "type", "text", "id", "name", "tools"]
_MEMBERS += ["tool_calls", "function", "tool_use_id", "input", "output", "call_id"]
_WORDS = ["user", "assistant", "tool", "tool_use", "tool_result"]
_WORDS += ["namespace", "function", "function_call", "function_call_output"]
_ODD: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=3) | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=5),
    max_leaves=12,
)
_ASKED = ("messages", "input", "tools", "model", "stream_options", "include")


@pytest.mark.parametrize("surface", [ChatCompletions(), Messages(), Responses()], ids=lambda surface: surface.name)
@given(body=st.fixed_dictionaries({}, optional=dict.fromkeys(_ASKED, _ODD)))
def test_no_shape_breaks_a_surface(surface: Surface, body: JSON) -> None:
    conversation = surface.conversation(body)
    assert all(isinstance(m, Message) and isinstance(m.text, str) for m in conversation)
    assert all(isinstance(name, str) and name for name in surface.tools(body))
    assert all(isinstance(own, str) for message in conversation for own in message.calls)
    encoder = surface.encoder(body, asked_tokens(conversation))
    events = [*encoder.begin(), *encoder.part(Say("a b")), *encoder.part(Call("i", "t", "{}")), *encoder.end()]
    assert all(event.endswith(b"\n\n") for event in events)
    assert b"a b" in orjson.dumps(encoder.whole())


def test_the_package_is_loaded_without_what_it_is_served_with() -> None:
    """So that the command line starts fast, and a missing extra is told in words."""
    code = """
import sys
sys.modules["starlette"] = None
from conformance.backend.models import ModelServices
from conformance.backend.web import BackendMissing
try:
    ModelServices()
except BackendMissing as missing:
    print(missing)
print([name for name in ("uvicorn", "mcp", "openai") if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    message, loaded = ran.stdout.splitlines()
    assert "pip install 'ahp-conformance[backend]'" in message
    assert loaded == "[]"
