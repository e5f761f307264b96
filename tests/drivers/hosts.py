"""How tests start fake hosts and talk to them."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from conformance.drivers import Driver
from conformance.wire.connection import Connection
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder

HERE = Path(__file__).parent
FAKE = (sys.executable, str(HERE / "fake_host.py"))
STDIO = (sys.executable, str(HERE / "stdio_host.py"))
REFERENCE = (sys.executable, "-m", "conformance", "host")
PATIENCE = 30.0  # seconds that nothing here should ever take


@contextmanager
def started(driver: Driver) -> Iterator[None]:
    """The driver, started, and stopped whatever happens."""
    try:
        driver.start()
        yield
    finally:
        driver.stop()


def ask(driver: Driver, text: str = "hello") -> Any:
    """What the host answers to one text on a connection of its own."""
    with Pump() as pump:
        connection = Connection("A", driver.connect(), Recorder())
        pump.add(connection)
        connection.send_text(text)
        answer = pump.wait(lambda: next((f for f in connection.frames if f.dir == "in"), None), PATIENCE)
        assert answer is not None
        return answer.msg


class Greeter:
    """Takes the greetings of fake hosts: the ids of their processes."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(PATIENCE)
        self.port = str(self._server.getsockname()[1])

    def pids(self) -> list[int]:
        connection, _ = self._server.accept()
        with connection, connection.makefile() as text:
            connection.settimeout(PATIENCE)
            pids: list[int] = json.loads(text.read())
            return pids

    def close(self) -> None:
        self._server.close()


def alive(pids: list[int]) -> list[int]:
    """Those that still run; one that only waits to be collected does not."""
    running = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                running.append(pid)
        except psutil.NoSuchProcess:
            continue
    return running
