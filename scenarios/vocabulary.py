"""The whole vocabulary as one pytest plugin, and the world of each scenario."""

from __future__ import annotations

import pytest

from conformance.running.stage import Stage
from scenarios.world import World

pytest_plugins = [
    "scenarios.aftermath",
    "scenarios.blocked_calls",
    "scenarios.challenges",
    "scenarios.connections",
    "scenarios.dispatches",
    "scenarios.entries",
    "scenarios.mcp",
    "scenarios.onlookers",
    "scenarios.server_requests",
    "scenarios.sessions",
    "scenarios.tokens",
    "scenarios.turns",
]


@pytest.fixture
def world(stage: Stage) -> World:
    return World(stage)
