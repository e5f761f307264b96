"""One scenario's worth of wire for each test: a recorder and a pump."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from conformance.wire.connection import Connection
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder
from conformance.wire.websocket import connect_websocket

from .peers import PATIENCE


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def pump() -> Iterator[Pump]:
    with Pump() as pump:
        yield pump


@pytest.fixture
def connect(recorder: Recorder, pump: Pump) -> Callable[[str], Connection]:
    """Connect to an address; the connection is named A."""

    def connect(url: str) -> Connection:
        connection = Connection("A", connect_websocket(url, timeout=PATIENCE), recorder)
        pump.add(connection)
        return connection

    return connect
