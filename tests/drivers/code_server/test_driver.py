"""The driver of code-server, with the reference host in the place of the editor's: an installation that is ours."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.drivers import DriverError
from conformance.drivers.code_server import CodeServerDriver, install
from conformance.drivers.code_server.launch import port_of
from conformance.running.runner import build_theatre
from conformance.running.settings import Settings
from tests.drivers.hosts import alive

# What is started in place of Node: it shows what it was given, has a child, and speaks AHP at the port it was told.
HOST = """
import json, os, subprocess, sys
from pathlib import Path
from conformance.drivers.reference import reference_host
from conformance.host import HostServer

home = Path(os.environ["HOME"])
child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
told = {"argv": sys.argv, "env": dict(os.environ), "pid": os.getpid(), "child": child.pid, "cwd": os.getcwd()}
with (home / "told.jsonl").open("a") as file:
    file.write(json.dumps(told) + "\\n")
print("warming up", flush=True)
server = HostServer(reference_host(), int(os.environ["VSCODE_AGENT_HOST_PORT"]))
server.run_forever(lambda url: print("Agent host server listening on " + url.removeprefix("ws://"), flush=True))
"""
DIES = "import sys; print('Error: cannot find module X', file=sys.stderr); sys.exit(3)"

Make = Callable[..., CodeServerDriver]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make a driver whose Node is the given Python text; each is stopped with the test."""
    made: list[CodeServerDriver] = []
    temp = tmp_path / "t"
    temp.mkdir()
    monkeypatch.setenv("AHP_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(temp))

    def make(text: str = HOST, version: str = "4.139.1", **more: Any) -> CodeServerDriver:
        node = install._node_program(tmp_path / "cache")
        node.parent.mkdir(parents=True, exist_ok=True)
        node.write_text(f"#!{sys.executable}\n{text}")
        node.chmod(0o755)
        out = tmp_path / "cache" / "code-server" / version / "package" / "lib" / "vscode" / "out"
        out.mkdir(parents=True)
        (out / "bootstrap-fork.js").touch()
        driver = CodeServerDriver(version, **more)
        made.append(driver)
        return driver

    yield make
    for driver in made:
        driver.stop()


def _told(tmp_path: Path) -> list[dict[str, Any]]:
    (file,) = (tmp_path / "t").glob("*/home/told.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_it_is_started_and_answers_and_is_gone_without_a_trace(make: Make, tmp_path: Path) -> None:
    driver = make()
    driver.start()
    assert build_theatre(driver, Settings()).facts.version == "0.9.0"
    (told,) = _told(tmp_path)
    driver.stop()
    assert alive([told["pid"], told["child"]]) == []
    assert list((tmp_path / "t").iterdir()) == []


def test_the_host_learns_nothing_of_who_judges_it(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "HTTPS_PROXY", "VSCODE_IPC_HOOK", "NODE_OPTIONS", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "of the user")
    make().start()
    (told,) = _told(tmp_path)
    assert "of the user" not in told["env"].values()
    folder = tmp_path / "t"
    for name in ("HOME", "TMPDIR"):
        assert Path(told["env"][name]).is_relative_to(folder)
    assert Path(told["cwd"]).is_relative_to(folder)
    for option in ("--logsPath", "--user-data-dir"):
        assert Path(told["argv"][told["argv"].index(option) + 1]).is_relative_to(folder)
    assert told["env"]["VSCODE_AGENT_HOST_HOST"] == "127.0.0.1"


def test_the_model_service_stands_in_for_all_that_copilot_asks(make: Make, tmp_path: Path) -> None:
    driver = make()
    driver.start()
    (told,) = _told(tmp_path)
    named = {name for name, value in told["env"].items() if value == driver.scripted.models.url}
    assert named == {"VSCODE_AGENT_HOST_CAPI_URL_OVERRIDE", "COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"}


def test_the_model_service_ends_with_the_host(make: Make) -> None:
    driver = make()
    driver.start()
    url = driver.scripted.models.url
    assert httpx.get(f"{url}/models").status_code == 200
    driver.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models")


def test_a_restart_keeps_port_and_folders(make: Make, tmp_path: Path) -> None:
    driver = make()
    driver.start()
    before = driver.endpoint
    driver.restart()
    assert driver.endpoint == before
    driver.connect().close()
    first, second = _told(tmp_path)
    assert first["pid"] != second["pid"]
    assert alive([first["pid"]]) == []


def test_a_host_that_dies_at_its_start_has_the_last_word(make: Make, tmp_path: Path) -> None:
    driver = make(DIES)
    with pytest.raises(DriverError) as caught:
        driver.start()
    assert "exit code 3" in str(caught.value)
    assert "cannot find module X" in str(caught.value)
    driver.stop()
    assert list((tmp_path / "t").iterdir()) == []


def test_a_host_that_dies_in_the_middle_is_told_from_one_that_refuses(make: Make, tmp_path: Path) -> None:
    driver = make()
    driver.start()
    (told,) = _told(tmp_path)
    logs = Path(told["env"]["HOME"]).parent / "logs" / "agenthost.log"
    logs.write_text("[error] out of ideas\n")
    os.kill(told["pid"], signal.SIGKILL)
    os.waitid(os.P_PID, told["pid"], os.WEXITED | os.WNOWAIT)  # its exit code is left to the driver
    with pytest.raises(DriverError) as caught:
        driver.connect()
    for word in ("SIGKILL", "warming up", "out of ideas"):
        assert word in str(caught.value)


def test_what_it_writes_is_kept_where_it_is_wanted(make: Make, tmp_path: Path) -> None:
    driver = make()
    driver.evidence = tmp_path / "host.log"
    driver.start()
    driver.stop()
    assert "warming up" in driver.evidence.read_text()


def test_a_driver_that_was_not_started_says_so(make: Make) -> None:
    with pytest.raises(DriverError, match="not started"):
        make().connect()


@pytest.mark.parametrize(
    ("version", "scheme"), [("4.133.0", "copilotcli:/"), ("4.138.0", "copilotcli:/"), ("4.139.1", "ahp-session:/")]
)
def test_session_uris_have_the_form_that_the_version_takes(make: Make, version: str, scheme: str) -> None:
    driver = make(version=version)
    assert driver.session_uri().startswith(scheme)
    assert driver.session_uri() != driver.session_uri()


def test_chat_uris_name_their_session(make: Make) -> None:
    driver = make()
    uri = driver.chat_uri("copilotcli:/a?b")
    prefix, _, encoded = uri.rpartition("/")
    assert prefix.startswith("ahp-chat://")
    assert "=" not in encoded
    assert base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)) == b"copilotcli:/a?b"
    assert driver.chat_uri("copilotcli:/a?b") != uri


@pytest.mark.parametrize(
    ("output", "port"),
    [
        ("Agent host server listening on 127.0.0.1:48123\n", 48123),
        ("[info] x\nAgent host server listening on [::]:80", 80),
        ("Agent host server listening on", None),
        ("", None),
    ],
)
def test_where_it_listens_is_read_off_its_output(output: str, port: int | None) -> None:
    assert port_of(output) == port
