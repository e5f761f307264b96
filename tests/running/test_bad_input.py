"""What a person can get wrong ends in one clear line, with exit code 2 or 4, and nothing half-written."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.running.command import Outcome, ahp


def _one_line(run: Outcome, code: int, *words: str) -> None:
    assert run.code == code, run.err
    lines = run.err.strip().splitlines()
    assert len(lines) == 1, run.err
    for word in words:
        assert word in lines[0]
    assert "Traceback" not in run.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nonsense"], ["no target", "ws://"]),
        (["run", "http://127.0.0.1:1/"], ["no target"]),
        (["run", "no.such.module:Class"], ["cannot be imported"]),
        (["run", "pathlib:Path"], ["driver contract", "docs/drivers.md"]),
        (["run", "host.toml"], ["host.toml"]),
        (["run", "ws://"], ["ws://"]),
        (["run", "--token-env", "AHP_NO_SUCH_VARIABLE", "ws://127.0.0.1:1"], ["AHP_NO_SUCH_VARIABLE"]),
        (["run", "--protocol", "7.0.0"], ["7.0.0", "0.6.0"]),
        (["run", "--only", "AHP-NONSENSE-999"], ["AHP-NONSENSE-999", "no scenario matches"]),
        (["run", "--fault", "no-such-fault"], ["no-such-fault", "--list-faults"]),
        (["host", "--protocol", "0.1.0"], ["0.1.0"]),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    _one_line(ahp(*arguments, cwd=tmp_path), 2, *words)
    assert not any(tmp_path.rglob("run.json"))
    assert not any((tmp_path / "reports").rglob("*.jsonl"))


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    _one_line(ahp("run", f"ws://127.0.0.1:{port}", cwd=tmp_path), 4, str(port))


@contextmanager
def talking(answer: bytes) -> Iterator[int]:
    """A TCP server that gives every connection the same answer and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", ["401", "--token-env"]),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", ["403", "--token-env"]),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ["200"]),
        (b"220 mail.example ESMTP\r\n", ["127.0.0.1"]),
    ],
)
def test_something_else_answers(answer: bytes, words: list[str], tmp_path: Path) -> None:
    with talking(answer) as port:
        _one_line(ahp("run", f"ws://127.0.0.1:{port}", "--patience", "2", cwd=tmp_path), 4, *words)


def test_tls_to_a_plain_port(tmp_path: Path) -> None:
    with talking(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        _one_line(ahp("run", f"wss://127.0.0.1:{port}", "--patience", "2", cwd=tmp_path), 4, "TLS")


def test_a_unix_socket_that_is_not_there(tmp_path: Path) -> None:
    _one_line(ahp("run", f"unix:{tmp_path}/none.sock", cwd=tmp_path), 4, "none.sock")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    run = ahp("run", "--out", str(tmp_path / "file" / "out"), cwd=tmp_path)
    _one_line(run, 2, "out")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_host_of_another_version_is_no_verdict(tmp_path: Path) -> None:
    import re
    import subprocess
    import sys

    words = [sys.executable, "-m", "conformance", "host", "--protocol", "0.9.0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout is not None
            ready = re.match(r"ready (ws://\S+)", host.stdout.readline())
            assert ready is not None
            run = ahp("run", ready[1], "--protocol", "0.6.0", cwd=tmp_path)
            _one_line(run, 4, "0.6.0", "0.9.0", "--protocol")
        finally:
            host.terminate()
