"""Hosts that speak over their standard input and output: one process, one client."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.drivers import DriverError
from conformance.drivers.stdio import StdioDriver
from conformance.running.runner import build_theatre
from conformance.running.settings import Settings
from conformance.wire.stdio import Framing
from tests.running.command import ahp

from .hosts import FAKE, STDIO, alive, ask, started

PING = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}'


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_a_host_answers_in_its_framing(framing: Framing) -> None:
    driver = StdioDriver([*STDIO, framing], framing=framing)
    with started(driver):
        assert ask(driver, PING)["id"] == 1
        assert driver.endpoint.startswith("stdio: ")


def test_each_connection_has_a_process_of_its_own(tmp_path: Path) -> None:
    driver = StdioDriver([*STDIO, "lines"])
    driver.evidence = tmp_path / "host.log"
    pids = []
    with started(driver):
        for _ in range(2):
            ask(driver, PING)
            assert driver.process is not None
            pids.append(driver.process.pid)
    assert len(set(pids)) == 2
    assert alive(pids) == []
    # One line for the greeting, and one for each connection.
    assert driver.evidence.read_text("utf-8") == "a host on pipes\n" * 3


def test_there_is_no_second_client() -> None:
    driver = StdioDriver([*STDIO, "lines"])
    with started(driver):
        first = driver.connect()
        with pytest.raises(DriverError, match="one client at a time"):
            driver.connect()
        first.close()
        driver.connect().close()


def test_what_cannot_be_had_is_not_offered() -> None:
    driver = StdioDriver([*STDIO, "lines"])
    with started(driver):
        facts = build_theatre(driver, Settings()).facts
    assert facts.version is not None
    assert {"wire", "turn"} <= facts.provocations
    assert facts.provocations.isdisjoint({"second-client", "disconnect"})


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_a_program_that_ends_without_a_word_is_no_host(framing: Framing) -> None:
    driver = StdioDriver([sys.executable, "-c", "import sys; sys.exit('no config')"], framing=framing)
    with pytest.raises(DriverError, match=r"said nothing before its output ended \(exit code 1\)(?s:.)*no config"):
        driver.start()
    driver.stop()
    with pytest.raises(DriverError, match="not on the PATH"), started(StdioDriver(["no-such-program"])):
        pass


def test_a_host_that_does_not_leave_with_its_client_is_ended() -> None:
    # It reads nothing, so it does not see that its client has gone; it is mute as well, which the scenarios judge.
    driver = StdioDriver([*FAKE, "--stubborn", "--print", "{}"])
    with started(driver):
        driver.connect().close()
        assert driver.process is not None
        pid = driver.process.pid
        assert alive([pid])
    assert not alive([pid])


def test_a_host_on_pipes_is_judged(tmp_path: Path) -> None:
    arguments = ["--framing", "headers", "--only", "AHP-PING-001", "--", *STDIO, "headers"]
    run = ahp("run", *arguments, cwd=tmp_path)
    (folder,) = (tmp_path / "reports" / "local").iterdir()
    assert run.code == 0, run.out + run.err
    assert (folder / "junit.xml").exists()


def test_what_needs_a_second_client_stays_undecided_on_pipes(tmp_path: Path) -> None:
    command = ["--framing", "lines", "--command", f"{shlex.join(STDIO)} lines"]
    run = ahp("run", *command, "--only", "Others see the same origin", cwd=tmp_path, out=tmp_path / "out")
    assert set(run.outcomes().values()) == {"inconclusive"}
    assert run.record is not None
    assert run.record["counts"]["obligations"]["broken"] == 0
