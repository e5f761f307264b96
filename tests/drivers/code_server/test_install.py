"""The installer of code-server, with an npm that is a script of ours."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from conformance.drivers import TargetError
from conformance.drivers.code_server import InstallError, install, installation

UPPER_BOUND = 30.0
FAKE = Path(__file__).with_name("fake_npm.py")


class Place(NamedTuple):
    """A machine for the installer: its cache, its home, the programs on its PATH, and what npm was told."""

    cache: Path
    home: Path
    programs: Path
    calls_file: Path

    def calls(self) -> list[dict[str, Any]]:
        if not self.calls_file.exists():
            return []
        return [json.loads(line) for line in self.calls_file.read_text().splitlines()]

    def commands(self) -> list[str]:
        """The npm commands in turn, each with its last word."""
        return [f"{call['arguments'][0]} {call['arguments'][-1]}" for call in self.calls()]

    def left_over(self) -> list[Path]:
        return list(self.cache.rglob(".unfinished-*"))


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    programs, home = tmp_path / "bin", tmp_path / "home"
    programs.mkdir()
    home.mkdir()
    _program(programs / "npm", f"#!{sys.executable}\n{FAKE.read_text()}")
    for tool in ("make", "g++"):
        _program(programs / tool, "#!/bin/sh\n")
    made = Place(tmp_path / "cache", home, programs, tmp_path / "calls.jsonl")
    for name in ("CXX", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "PATH": programs,
        "HOME": home,
        "AHP_CONFORMANCE_CACHE": made.cache,
        "FAKE_NPM_CALLS": made.calls_file,
    }.items():
        monkeypatch.setenv(name, str(value))
    return made


def test_it_is_installed_once_and_told_step_by_step(place: Place) -> None:
    lines: list[str] = []
    installed = installation("4.139.1", progress=lines.append)
    assert (installed.root / "out" / "bootstrap-fork.js").is_file()
    assert os.access(installed.node, os.X_OK)
    assert [line[:5] for line in lines[1:]] == [f"[{n}/5]" for n in range(1, 6)]
    assert place.commands() == [
        f"install {install._node_package()}@24",
        "pack code-server@4.139.1",
        "install --no-progress",
        "rebuild @vscode/spdlog",
    ]
    lines.clear()
    assert installation("4.139.1", progress=lines.append) == installed
    assert lines == []
    assert len(place.calls()) == 4


def test_no_package_runs_scripts_but_the_two_that_are_compiled_here(place: Place) -> None:
    installed = installation("4.139.1")
    calls = place.calls()
    assert all("--ignore-scripts" in c["arguments"] for c in calls if c["arguments"][0] == "install")
    rebuild = calls[-1]
    assert rebuild["arguments"][-2:] == ["@vscode/sqlite3", "@vscode/spdlog"]
    assert rebuild["settings"]["npm_config_nodedir"] == str(installed.node.parent.parent)


def test_nothing_changes_outside_the_cache(place: Place, tmp_path: Path) -> None:
    (place.home / ".npmrc").write_text("registry=https://registry.example/\n")
    before = sorted(tmp_path.rglob("*"))
    installation("4.139.1")
    changed = {path for path in set(tmp_path.rglob("*")) - set(before) if not path.is_relative_to(place.cache)}
    assert changed == {place.calls_file}
    assert (place.cache / "npm" / "touched").exists()


def test_versions_share_one_node(place: Place) -> None:
    assert installation("4.139.1").node == installation("4.133.0").node
    assert len([command for command in place.commands() if "@24" in command]) == 1


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("offline", ["registry", "ENOTFOUND", "proxy", "4.139.1.log"]),
        ("unknown", ["no code-server 4.139.1 on npm", "4.133.0"]),
        ("older", ["no agent host", "4.133.0"]),
        ("old", ["6.14.18", "9 or newer", "Node.js"]),
        ("full", ["disk is full", "AHP_CONFORMANCE_CACHE"]),
        ("gyp", ["compile", "not found: make", "4.139.1.log"]),
        ("evil", ["could not be installed", "outside"]),
    ],
)
def test_each_trouble_is_one_sentence_and_leaves_nothing_half_finished(
    place: Place, monkeypatch: pytest.MonkeyPatch, mode: str, words: list[str]
) -> None:
    monkeypatch.setenv("FAKE_NPM", mode)
    with pytest.raises(InstallError) as caught:
        installation("4.139.1")
    message = str(caught.value)
    assert "\n" not in message
    assert "complete log" not in message
    for word in words:
        assert word in message
    assert install.finished(place.cache, "4.139.1") is None
    assert place.left_over() == []
    assert not (place.cache / "outside").exists()
    monkeypatch.setenv("FAKE_NPM", "ok")
    assert installation("4.139.1").version == "4.139.1"


def test_a_module_that_does_not_load_is_no_installation(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NODE_EXIT", "1")
    with pytest.raises(InstallError, match="do not load"):
        installation("4.139.1")
    assert install.finished(place.cache, "4.139.1") is None


@pytest.mark.parametrize(
    ("tool", "words"),
    [("npm", ["npm", "not on the PATH", "Node.js"]), ("g++", ["C++ compiler", "apt-get"]), ("make", ["make"])],
)
def test_a_missing_tool_is_named_before_anything_is_fetched(place: Place, tool: str, words: list[str]) -> None:
    (place.programs / tool).unlink()
    with pytest.raises(InstallError) as caught:
        installation("4.139.1")
    for word in words:
        assert word in str(caught.value)
    assert place.calls() == []


def test_a_full_disk_is_noticed_before_anything_is_fetched(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(place.home)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InstallError, match=r"not enough space.*AHP_CONFORMANCE_CACHE"):
        installation("4.139.1")
    assert place.calls() == []


def test_a_cache_that_cannot_be_written_is_named(place: Place) -> None:
    place.cache.write_text("a file")
    with pytest.raises(InstallError, match="AHP_CONFORMANCE_CACHE"):
        installation("4.139.1")


@pytest.mark.parametrize("version", ["latest", "4.139", "../4.139.1", "4.139.1/..", ""])
def test_what_is_no_version_is_wrong_usage(place: Place, version: str) -> None:
    with pytest.raises(TargetError, match=r"4\.139\.1"):
        installation(version)
    assert place.calls() == []


def test_a_folder_that_lacks_the_host_is_replaced(place: Place) -> None:
    junk = place.cache / "code-server" / "4.139.1" / "package" / "junk"
    junk.mkdir(parents=True)
    installation("4.139.1")
    assert not junk.exists()


def test_where_the_cache_is(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert install.cache_folder() == place.cache
    monkeypatch.delenv("AHP_CONFORMANCE_CACHE")
    assert install.cache_folder() == place.home / ".cache" / "ahp-conformance"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert install.cache_folder() == Path("/elsewhere/ahp-conformance")


# -- installers that are processes of their own -------------------------------------------------------------

Installer = subprocess.Popen[str]
_SCRIPT = (
    "from conformance.drivers.code_server import installation\n"
    "print(installation('4.139.1', progress=lambda line: print(line, flush=True)).root)"
)


@pytest.fixture
def installer(place: Place) -> Iterator[Callable[..., Installer]]:
    """Start an installer; each is ended with the test."""
    started: list[Installer] = []

    def start(**environment: str) -> Installer:
        # Whoever runs the tests in the background may have them ignore the interrupt key, and so all that they start.
        process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=UPPER_BOUND)


@pytest.fixture
def gate() -> Iterator[socket.socket]:
    """Where an npm in the middle of its work reports and waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(UPPER_BOUND)
        yield server


def _gated(gate: socket.socket) -> dict[str, str]:
    return {"FAKE_NPM": "wait", "FAKE_NPM_GATE": str(gate.getsockname()[1])}


def test_an_interrupted_installation_ends_npm_and_leaves_nothing(
    place: Place, installer: Callable[..., Installer], gate: socket.socket
) -> None:
    process = installer(**_gated(gate))
    connection, _ = gate.accept()
    with connection:
        connection.settimeout(UPPER_BOUND)
        process.send_signal(signal.SIGINT)
        assert process.wait(UPPER_BOUND) != 0
        assert connection.recv(1) == b"", "npm still runs"
    assert place.left_over() == []
    assert install.finished(place.cache, "4.139.1") is None


def test_what_a_killed_installation_left_is_cleared_by_the_next_one(
    place: Place, installer: Callable[..., Installer], gate: socket.socket
) -> None:
    process = installer(**_gated(gate))
    connection, _ = gate.accept()
    with connection:
        process.kill()
        process.wait(UPPER_BOUND)
        assert len(place.left_over()) == 1
        assert install.finished(place.cache, "4.139.1") is None
        installed = installation("4.139.1")
    assert place.left_over() == []
    assert (installed.root / "out" / "bootstrap-fork.js").is_file()


def test_two_at_once_install_once(place: Place, installer: Callable[..., Installer], gate: socket.socket) -> None:
    first = installer(**_gated(gate))
    connection, _ = gate.accept()
    with connection:
        second = installer()
        assert second.stdout is not None
        assert "waiting for it" in second.stdout.readline()
        connection.sendall(b"!")
        roots = [process.communicate(timeout=UPPER_BOUND)[0].splitlines()[-1] for process in (first, second)]
    assert roots == [str(place.cache / "code-server" / "4.139.1" / "package" / "lib" / "vscode")] * 2
    assert len([command for command in place.commands() if command.startswith("pack")]) == 1
    assert not [p for p in psutil.Process().children(recursive=True) if p.pid in (first.pid, second.pid)]
