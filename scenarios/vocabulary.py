"""The whole vocabulary: importing the step modules is what makes their steps known; and the world of each scenario."""

from __future__ import annotations

import pytest

from conformance.running.stage import Stage
from scenarios import (  # noqa: F401
    active_clients,
    aftermath,
    auth_needs,
    auth_notices,
    authenticating,
    blocked_calls,
    challenges,
    chat_catalogue,
    client_actions,
    client_tools,
    connections,
    deliveries,
    dispatches,
    edited_input,
    effects,
    entries,
    handshakes,
    mcp,
    messages,
    needs_announced,
    needs_answered,
    needs_forged,
    needs_kept,
    needs_listed,
    needs_provoked,
    needs_shown,
    onlookers,
    orders,
    requests,
    server_entries,
    server_requests,
    server_states,
    server_waits,
    servers,
    session_creation,
    session_states,
    session_status,
    sessions,
    several_calls,
    subscriptions,
    supported_versions,
    tokens,
    turns,
    upstream,
)
from scenarios.world import World


@pytest.fixture
def world(stage: Stage) -> World:
    return World(stage)
