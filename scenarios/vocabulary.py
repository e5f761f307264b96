"""The whole vocabulary as one pytest plugin, and the world of each scenario."""

from __future__ import annotations

import pytest

from conformance.running.stage import Stage
from scenarios.world import World

pytest_plugins = [
    "scenarios.active_clients",
    "scenarios.aftermath",
    "scenarios.auth_needs",
    "scenarios.authenticating",
    "scenarios.blocked_calls",
    "scenarios.challenges",
    "scenarios.chat_catalogue",
    "scenarios.client_actions",
    "scenarios.client_tools",
    "scenarios.connections",
    "scenarios.deliveries",
    "scenarios.dispatches",
    "scenarios.edited_input",
    "scenarios.effects",
    "scenarios.entries",
    "scenarios.handshakes",
    "scenarios.mcp",
    "scenarios.messages",
    "scenarios.needs_announced",
    "scenarios.needs_answered",
    "scenarios.needs_forged",
    "scenarios.needs_kept",
    "scenarios.needs_listed",
    "scenarios.needs_provoked",
    "scenarios.needs_shown",
    "scenarios.onlookers",
    "scenarios.orders",
    "scenarios.requests",
    "scenarios.server_entries",
    "scenarios.server_requests",
    "scenarios.server_states",
    "scenarios.server_waits",
    "scenarios.servers",
    "scenarios.session_creation",
    "scenarios.session_states",
    "scenarios.session_status",
    "scenarios.sessions",
    "scenarios.several_calls",
    "scenarios.subscriptions",
    "scenarios.supported_versions",
    "scenarios.tokens",
    "scenarios.turns",
]


@pytest.fixture
def world(stage: Stage) -> World:
    return World(stage)
