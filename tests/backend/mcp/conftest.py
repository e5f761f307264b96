from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.backend.mcp_servers import McpServers


@pytest.fixture(scope="session")
def servers() -> Iterator[McpServers]:
    """One for all tests, as one serves all scenarios of a run; each test opens servers of its own."""
    with McpServers() as running:
        yield running
