"""Drivers: the worked example of the docs runs, targets resolve, and the reference host comes and goes cleanly."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path

import pytest

from conformance.drivers import Driver, EndpointDriver, TargetError, resolve
from conformance.drivers.reference import ReferenceDriver, reference_host
from conformance.wire.errors import ConnectError
from tests.running.command import ahp

DOCS = Path(__file__).parents[2] / "docs" / "drivers.md"

# What the example starts: a program that prints the port it took, here the reference host in disguise.
PROGRAM = f"""#!{sys.executable}
import re, signal, subprocess, sys
host = subprocess.Popen([sys.executable, "-m", "conformance", "host"], stdout=subprocess.PIPE, text=True)
signal.signal(signal.SIGTERM, lambda *_: host.terminate())
print(re.search(r":(\\d+)$", host.stdout.readline().strip())[1], flush=True)
host.wait()
"""


def example() -> str:
    match = re.search(r"```python\n(.+?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert match is not None
    return match[1]


def test_the_worked_example_is_short_and_judges_a_host(tmp_path: Path) -> None:
    assert len(example().splitlines()) < 40
    (tmp_path / "mine.py").write_text(example(), "utf-8")
    program = tmp_path / "bin" / "my-agent-host"
    program.parent.mkdir()
    program.write_text(PROGRAM, "utf-8")
    program.chmod(0o755)
    path = f"{program.parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    run = ahp("run", "mine:MyHostDriver", "--only", "AHP-PING-001", cwd=tmp_path, out=tmp_path / "out", PATH=path)
    assert run.record is not None, run.err
    assert run.record["verdict"] == "conformant"
    assert run.record["host"]["driver"] == "my-agent-host"


def test_the_worked_example_says_what_to_do_without_its_host(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(example(), "utf-8")
    run = ahp("run", "mine:MyHostDriver", cwd=tmp_path, PATH="/nonexistent")
    assert run.code == 4
    assert run.err == "ahp-conformance: my-agent-host is not on the PATH; install it first\n"


def test_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(resolve("ws://127.0.0.1:1"), EndpointDriver)
    assert isinstance(resolve("unix:somewhere"), EndpointDriver)
    assert isinstance(resolve("reference"), ReferenceDriver)
    assert isinstance(resolve("conformance.drivers.reference:ReferenceDriver"), Driver)
    monkeypatch.setenv("AHP_TEST_TOKEN", "s3cret")
    driver = resolve("ws://127.0.0.1:1/path?query=1", token_env="AHP_TEST_TOKEN")
    assert driver.endpoint == "ws://127.0.0.1:1/path"
    for wrong in ("nothing", "no.module:Class", "pathlib:Path", "pathlib:nothing"):
        with pytest.raises(TargetError):
            resolve(wrong)


def test_a_token_never_shows_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AHP_TEST_TOKEN", "s3cret")
    driver = resolve("ws://127.0.0.1:1", token_env="AHP_TEST_TOKEN", timeout=1)
    with pytest.raises(ConnectError) as refused:
        driver.start()
    assert "s3cret" not in str(refused.value)


def test_the_reference_host_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())
    driver = ReferenceDriver(protocol="0.7.0", faults=())
    driver.start()
    threads = set(threading.enumerate()) - before
    assert threads
    transport = driver.connect()
    transport.close()
    driver.stop()
    driver.stop()
    assert not any(thread.is_alive() for thread in threads)


def test_a_wrong_fault_or_version_is_named() -> None:
    with pytest.raises(TargetError, match="no-such-fault"):
        ReferenceDriver(faults=("no-such-fault",)).start()
    with pytest.raises(TargetError, match=r"5\.0\.0"):
        reference_host(versions=("5.0.0",))


def test_an_installed_driver_is_a_target_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another distribution registers under the entry point group is found as if it were our own."""
    metadata = tmp_path / "elsewhere-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n", "utf-8")
    (metadata / "entry_points.txt").write_text(
        "[ahp_conformance.drivers]\nelsewhere = elsewhere_driver:Elsewhere\nhalf-done = elsewhere_driver:Half\n",
        "utf-8",
    )
    (tmp_path / "elsewhere_driver.py").write_text(
        "from conformance.drivers.reference import ReferenceDriver\n"
        "class Elsewhere(ReferenceDriver):\n    name = 'elsewhere'\n"
        "class Half:\n    name = 'half-done'\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    driver = resolve("elsewhere")
    assert driver.name == "elsewhere"
    driver.start()
    try:
        driver.connect().close()
    finally:
        driver.stop()
    with pytest.raises(TargetError, match=r"lacks a member of the driver contract.*docs/drivers\.md"):
        resolve("half-done")
