"""``doctor``, as a person calls it: each way in which a host can be unreachable or unusable, in words and as JSON."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.drivers.reference import reference_host
from conformance.host import HostServer
from tests.running.command import Outcome, ahp
from tests.running.impostors import IMPOSTORS, serving

RESOURCE = "https://service.example/"


def _doctor(*arguments: str, cwd: Path) -> Outcome:
    done = ahp("doctor", *arguments, cwd=cwd, A_TOKEN="s3cret")
    assert "Traceback" not in done.err
    return done


def _as_json(*arguments: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    done = _doctor("--json", *arguments, cwd=cwd)
    assert done.code == code, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def _words(text: str) -> str:
    """The text without the folds of its columns."""
    return " ".join(text.split())


@contextmanager
def _host(*versions: str) -> Iterator[tuple[str, HostServer]]:
    server = HostServer(reference_host(versions=versions))
    try:
        yield server.start(), server
    finally:
        server.stop()


@contextmanager
def _talking(answer: bytes) -> Iterator[int]:
    """A TCP server that gives every connection the same bytes and closes it."""
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

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


# -- hosts that can be judged -------------------------------------------------------------------------------


def test_the_reference_host_in_plain_words(tmp_path: Path) -> None:
    done = _doctor(cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err == ""
    assert "\x1b" not in done.out
    text = _words(done.out)
    for words in (
        "reachable yes",
        "of all versions it picks 0.9.0",
        "a session yes with the agent scripted, and disposed of again",
        "up to the tier tool-auth",
        "0.6.0 accepted",
        "0.8.0 refused it says that it speaks 0.6.0, 0.9.0",
        "guarded Guarded agent, 1 model; needs a token for https://guarded-agent.example/, which is at hand",
        "playbooks yes",
        "mcp-auth yes",
        "clock no needs a driver with a method skip(seconds)",
    ):
        assert words in text
    assert done.out.splitlines()[-1] == (
        "What to do next: ahp-conformance run reference --protocol 0.6.0 --protocol 0.9.0"
    )


def test_the_same_for_machines(tmp_path: Path) -> None:
    with _host("0.9.0") as (url, _):
        found = _as_json(url, cwd=tmp_path)
    assert (found["reachable"], found["usable"], found["problem"]) == (True, True, None)
    assert {v["version"]: v["outcome"] for v in found["versions"]} == {
        "0.6.0": "refused",
        "0.7.0": "refused",
        "0.8.0": "refused",
        "0.9.0": "accepted",
        "1.0.0": "refused",
    }
    assert found["versions"][0]["supported"] == ["0.9.0"]
    assert [agent["provider"] for agent in found["agents"]] == ["scripted", "guarded"]
    assert found["plays_playbooks"] is True
    assert {"turn", "mcp-auth"} <= set(found["provocations"])
    assert "clock" in {each["provocation"] for each in found["missing"]}
    assert found["next"] == f"ahp-conformance run {url}"


def test_the_session_that_it_tries_is_disposed_of(tmp_path: Path) -> None:
    with _host() as (url, server):
        found = _as_json(url, cwd=tmp_path)
        assert found["session"]["outcome"] == "created"
        assert not [uri for uri in server.host.channels if uri.startswith("ahp-session:")]


def test_a_unix_socket_and_a_driver_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from conformance.drivers.reference import ReferenceDriver\n"
        "class Mine(ReferenceDriver):\n    name, provider = 'mine', 'guarded'\n"
    )
    found = _as_json("mine:Mine", cwd=tmp_path)
    assert found["session"] == {"outcome": "created", "detail": "with the agent guarded, and disposed of again"}
    missing = _as_json(f"unix:{tmp_path / 'none'}", cwd=tmp_path, code=4)
    assert missing["problem"]["kind"] == "unreachable"
    assert "no such socket" in missing["problem"]["message"]


def test_the_command_that_comes_next_has_what_this_one_had(tmp_path: Path) -> None:
    with _host("0.9.0") as (url, _):
        done = _doctor(url, "--token-env", "A_TOKEN", "--patience", "7", cwd=tmp_path)
    last = f"What to do next: ahp-conformance run {url} --token-env A_TOKEN --token-in query --patience 7"
    assert done.out.splitlines()[-1] == last
    assert "s3cret" not in done.out


def test_a_command_that_starts_the_host_and_a_profile(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "conformance", "host", "--protocol", "0.9.0", "--port", "{port}"]
    found = _as_json("--", *words, cwd=tmp_path, code=0)
    assert found["session"]["outcome"] == "created"
    assert found["next"].startswith("ahp-conformance run --command ")
    profile = tmp_path / "host.toml"
    profile.write_text(f"[host]\nname = 'mine'\ncommand = {words!r}\n[agent]\nprovider = 'nobody'\n")
    found = _as_json(str(profile), cwd=tmp_path)
    assert found["session"]["outcome"] == "not-tried"
    assert "no agent nobody" in found["session"]["detail"]
    assert found["next"] == f"ahp-conformance run {profile}"


def test_a_command_that_dies_has_the_last_word(tmp_path: Path) -> None:
    found = _as_json("--", sys.executable, "-c", "raise SystemExit('out of ideas')", cwd=tmp_path, code=4)
    assert found["problem"]["kind"] == "start"
    assert "out of ideas" in found["problem"]["message"]


# -- hosts that cannot be reached ---------------------------------------------------------------------------


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"ws://127.0.0.1:{server.getsockname()[1]}"
    done = _doctor(url, cwd=tmp_path)
    assert done.code == 4
    assert "reachable no" in _words(done.out)
    assert "nothing listens there" in _words(done.out)
    assert done.out.splitlines()[-1].endswith(f"ahp-conformance doctor {url}")
    assert _as_json(url, cwd=tmp_path, code=4)["problem"]["kind"] == "refused"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "http-status", "ordinary web server"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "http-status", "path"),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "token", "--token-env"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "token", "--token-env"),
        (b"220 mail.example ready\r\n", "no-websocket", "does not speak HTTP"),
        (b"", "no-websocket", "closed"),
    ],
)
def test_what_listens_is_no_host(answer: bytes, kind: str, words: str, tmp_path: Path) -> None:
    with _talking(answer) as port:
        found = _as_json(f"ws://127.0.0.1:{port}", cwd=tmp_path, code=4)
    assert found["reachable"] is False
    assert found["problem"]["kind"] == kind
    assert words in found["problem"]["message"]


def test_what_listens_speaks_no_tls_or_does_not_answer(tmp_path: Path) -> None:
    with _talking(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert _as_json(f"wss://127.0.0.1:{port}", cwd=tmp_path, code=4)["problem"]["kind"] == "tls"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"ws://127.0.0.1:{silent.getsockname()[1]}"
        assert _as_json(url, "--patience", "0.3", cwd=tmp_path, code=4)["problem"]["kind"] == "timeout"


# -- hosts that are reached and cannot be used --------------------------------------------------------------


def test_a_mute_host_is_asked_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def hear(request: dict[str, Any]) -> None:
        asked.append(request["method"])

    with serving(hear) as url:
        found = _as_json(url, "--patience", "0.3", cwd=tmp_path, code=4)
    assert (found["reachable"], found["usable"]) == (True, False)
    assert found["problem"]["kind"] == "handshake"
    assert "within 0.3 s" in found["problem"]["message"]
    assert {version["outcome"] for version in found["versions"]} == {"not-asked"}
    assert asked == ["initialize"]


@pytest.mark.parametrize("kind", sorted(set(IMPOSTORS) - {"never answers"}))
def test_a_host_that_will_not_shake_hands(kind: str, tmp_path: Path) -> None:
    with serving(IMPOSTORS[kind]) as url:
        done = _doctor(url, cwd=tmp_path)
    assert done.code == 4
    assert "handshake no" in _words(done.out)
    assert done.out.splitlines()[-1].endswith(f"ahp-conformance doctor {url}")


def test_a_host_of_another_version_is_told_from_one_that_fails(tmp_path: Path) -> None:
    def refuse(request: dict[str, Any]) -> dict[str, Any]:
        error = {"code": -32005, "message": "no", "data": {"supportedVersions": ["^3.0.0"]}}
        return {"jsonrpc": "2.0", "id": request["id"], "error": error}

    with serving(refuse) as url:
        done = _doctor(url, cwd=tmp_path)
    assert done.code == 4
    text = _words(done.out)
    assert text.count("refused it says that it speaks ^3.0.0") == 5
    assert "let the host speak one of the versions above" in text


def _demanding(request: dict[str, Any]) -> dict[str, Any]:
    """A host whose only agent wants a token that nobody has; it plays no playbooks."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] != "initialize":
        return {**answer, "error": {"code": -32007, "message": "no token", "data": {"resources": []}}}
    agent = {
        "provider": "closed",
        "displayName": "Closed \x1b[2J agent",
        "models": [],
        "protectedResources": [{"resource": RESOURCE}, {"resource": "https://more.example/", "required": False}],
    }
    snapshot = {"resource": "ahp-root://", "state": {"agents": [agent], "terminals": []}, "fromSeq": 0}
    version = request["params"]["protocolVersions"][0]
    return {**answer, "result": {"protocolVersion": version, "serverSeq": 0, "snapshots": [snapshot]}}


def test_an_agent_that_wants_a_token_is_no_reason_not_to_judge(tmp_path: Path) -> None:
    with serving(_demanding) as url:
        done = _doctor(url, cwd=tmp_path)
    assert done.code == 0, done.err
    text = _words(done.out)
    assert f"a session no createSession wants a token for {RESOURCE}; name one in agent_tokens" in text
    assert f"needs a token for {RESOURCE}, which is not at hand: name one in agent_tokens" in text
    assert "can use a token for https://more.example/, which is not at hand and need not be" in text
    assert "turn no needs an agent that plays playbooks (docs/backend.md), or a profile with [backend]" in text
    assert "up to the tier core" in text
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["http://127.0.0.1:1/"], "no target"),
        (["no.such.module:Class"], "cannot be imported"),
        (["ws://"], "ws://"),
        (["--token-env", "AHP_NO_SUCH_VARIABLE", "ws://127.0.0.1:1"], "AHP_NO_SUCH_VARIABLE"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], word: str, tmp_path: Path) -> None:
    done = _doctor(*arguments, cwd=tmp_path)
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1
    assert word in done.err
