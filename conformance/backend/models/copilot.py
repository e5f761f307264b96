"""What GitHub and Copilot's service answer beside the models: who the user is, what there is to be had.

Not documented in public. The members are those that the Copilot runtime needs before it asks a model.
"""

from __future__ import annotations

import time
from typing import Any, Final

JSON = Any

_LOGIN: Final = "scripted-user"
_LIFETIME: Final = 36_000  # seconds; longer than any run

# Model, its surface, its vendor. Agents of these vendors look for a model by the names that theirs have.
_MODELS: Final = (
    ("scripted-model", "Scripted model", "/chat/completions", "scripted"),
    ("scripted-model-2", "Scripted model 2", "/chat/completions", "scripted"),
    ("claude-sonnet-4.5", "Scripted Claude", "/v1/messages", "Anthropic"),
    ("gpt-5-codex", "Scripted Codex", "/responses", "OpenAI"),
)


def document(method: str, path: str, base: str) -> JSON | None:
    """What is at a path, as JSON; None for nothing. ``base``: the URL of the service."""
    if method == "GET":
        return _read(path, base)
    if method == "POST":
        if path.endswith("/models/session"):
            return {
                "session_token": "scripted",
                "expires_at": int(time.time()) + _LIFETIME,
                "available_models": [name for name, *_ in _MODELS],
                "selected_model": _MODELS[0][0],
            }
        if path.endswith("/graphql"):
            return {"data": {}}
        if "telemetry" in path:
            return {}
    return None


def _read(path: str, base: str) -> JSON | None:
    if path.endswith("/copilot_internal/user"):
        return _user(base)
    if path.endswith("/copilot_internal/v2/token"):
        endpoints = {"api": base, "proxy": base, "telemetry": base}
        expires = int(time.time()) + _LIFETIME
        return {"token": "scripted", "expires_at": expires, "refresh_in": 1800, "endpoints": endpoints}
    if path == "/user" or path.endswith("/api/v3/user"):
        return {"login": _LOGIN, "id": 1, "name": "Scripted User", "type": "User"}
    if path.endswith("/models"):
        models = [_model(*entry) for entry in _MODELS]
        ends = {"has_more": False, "first_id": models[0]["id"], "last_id": models[-1]["id"]}
        return {"object": "list", "data": models, **ends}
    if "/models/" in path:
        wanted = path.rpartition("/")[2]
        return next((_model(*entry) for entry in _MODELS if entry[0] == wanted), None)
    if path.endswith("/_ping") or "telemetry" in path:
        return {}
    return None


def _user(base: str) -> JSON:
    return {
        "login": _LOGIN,
        "access_type_sku": "monthly_subscriber_quota",
        "copilot_plan": "individual",
        "chat_enabled": True,
        "assigned_date": "2026-01-01T00:00:00Z",
        "can_signup_for_limited": False,
        "organization_login_list": [],
        "organization_list": [],
        "analytics_tracking_id": "0",
        "restricted_telemetry": False,
        "is_mcp_enabled": True,
        "copilotignore_enabled": False,
        "endpoints": {"api": base, "proxy": base, "telemetry": base, "origin-tracker": base},
        "quota_snapshots": {},
    }


def _model(name: str, title: str, endpoint: str, vendor: str) -> JSON:
    """One entry that serves the lists of Copilot, OpenAI and Anthropic alike."""
    return {
        "id": name,
        "object": "model",
        "created": 1_767_225_600,
        "owned_by": vendor,
        "type": "model",
        "display_name": title,
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "name": title,
        "vendor": vendor,
        "version": name,
        "preview": False,
        "model_picker_enabled": True,
        "model_picker_category": "versatile",
        "is_chat_default": True,
        "is_chat_fallback": True,
        "policy": {"state": "enabled", "terms": ""},
        "supported_endpoints": [endpoint],
        "billing": {"is_premium": False, "multiplier": 0, "restricted_to": []},
        "capabilities": {
            "type": "chat",
            "family": name,
            "object": "model_capabilities",
            "tokenizer": "o200k_base",
            "limits": {
                "max_context_window_tokens": 128_000,
                "max_output_tokens": 4096,
                "max_prompt_tokens": 120_000,
            },
            "supports": {"streaming": True, "tool_calls": True, "parallel_tool_calls": True, "vision": False},
        },
    }


def empty_mcp(message: JSON) -> JSON | None:
    """The answer of an MCP server without tools, as the Copilot runtime has one built in; None for a notification."""
    if not isinstance(message, dict) or "id" not in message:
        return None
    params = message.get("params")
    version = params.get("protocolVersion") if isinstance(params, dict) else None
    results: JSON = {
        "initialize": {
            "protocolVersion": version if isinstance(version, str) else "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted-github", "version": "1"},
        },
        "tools/list": {"tools": []},
        "ping": {},
    }
    method = message.get("method")
    result = results.get(method) if isinstance(method, str) else None
    outcome = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
    return {"jsonrpc": "2.0", "id": message["id"], **outcome}
