"""Hosts that a command starts: every way to be ready, every way to fail, and nothing left of them afterwards."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from conformance.drivers import DriverError, TargetError, resolve
from conformance.drivers.code_server import DEFAULT_VERSION, CodeServerDriver
from conformance.drivers.command import CommandDriver, Ready
from conformance.drivers.placeholders import Placeholders
from conformance.drivers.process import HostProcess
from conformance.wire.endpoints import TokenPlace
from tests.running.command import ahp

from .hosts import FAKE, PATIENCE, REFERENCE, Greeter, alive, ask, started

# -- being ready --------------------------------------------------------------------------------------


def test_a_host_is_ready_when_it_takes_connections() -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--name", "mine"])
    with started(driver):
        assert re.fullmatch(r"ws://127\.0\.0\.1:\d+", driver.endpoint)
        assert driver.process is not None
        assert ask(driver) == {"name": "mine", "pid": driver.process.pid, "echo": "hello"}


@pytest.mark.parametrize(
    ("say", "line"),
    [
        ("up: ws://127.0.0.1:%d/x", r"up: (?P<url>\S+)"),
        ("port %d taken", r"port (?P<port>\d+)"),
        ("\x1b[32mport\x1b[0m %d", r"^port (?P<port>\d+)$"),
    ],
)
def test_a_host_may_say_where_it_listens(say: str, line: str) -> None:
    driver = CommandDriver([*FAKE, "--port", "0", "--say", say, "--print", "about to start"], ready=Ready(line=line))
    with started(driver):
        assert ask(driver)["echo"] == "hello"


def test_a_line_without_a_place_leaves_the_endpoint_as_it_is() -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--say", "all set"], ready=Ready(line="all set"))
    with started(driver):
        assert ask(driver)["echo"] == "hello"


@pytest.mark.parametrize("content", ["ws://127.0.0.1:%d", "%d\n"])
def test_a_host_may_write_where_it_listens(content: str) -> None:
    driver = CommandDriver([*FAKE, "--port", "0", "--write", "{dir}/at", content], ready=Ready(file="{dir}/at"))
    with started(driver):
        assert ask(driver)["echo"] == "hello"


def test_a_file_that_was_there_before_is_not_believed(tmp_path: Path) -> None:
    at = tmp_path / "at"
    other = CommandDriver([*FAKE, "--port", "{port}", "--name", "other"])
    mine = CommandDriver(
        [*FAKE, "--port", "0", "--name", "mine", "--write", str(at), "ws://127.0.0.1:%d"], ready=Ready(file=str(at))
    )
    with started(other):
        at.write_text(other.endpoint, "utf-8")
        with started(mine):
            assert ask(mine)["name"] == "mine"


def test_a_unix_socket_lies_in_a_private_folder_that_goes() -> None:
    driver = CommandDriver([*FAKE, "--unix", "{socket}"], endpoint="unix:{socket}")
    with started(driver):
        place = Path(driver.endpoint.removeprefix("unix:"))
        assert place.parent.stat().st_mode & 0o077 == 0
        assert ask(driver)["echo"] == "hello"
        driver.restart()  # the socket of the first host is still there, and must not stand in the way
        assert ask(driver)["echo"] == "hello"
    assert not place.parent.exists()


def test_restarting_keeps_port_and_folder() -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--write", "{dir}/mark", "x"], env={"WHERE": "{dir}"})
    with started(driver):
        endpoint, first = driver.endpoint, ask(driver)["pid"]
        folder = Path(psutil.Process(first).environ()["WHERE"])
        (folder / "kept").touch()
        driver.restart()
        second = ask(driver)["pid"]
        assert second != first
        assert not alive([first])
        assert driver.endpoint == endpoint
        assert Path(psutil.Process(second).environ()["WHERE"]) == folder
        assert (folder / "kept").exists()
    assert not folder.exists()


# -- failing ------------------------------------------------------------------------------------------


def refused(driver: CommandDriver) -> str:
    with pytest.raises(DriverError) as error, started(driver):
        pass
    return str(error.value)


def test_a_host_that_dies_at_its_start_has_its_last_lines_shown() -> None:
    message = refused(CommandDriver([*FAKE, "--print", "no \x1b[31mconfig\x1b[0m\x07 file", "--die", "3"]))
    assert "ended before it was ready (exit code 3)" in message
    assert message.endswith("its last lines:\n    no config· file")


def test_a_host_that_never_listens_is_given_up() -> None:
    driver = CommandDriver(["sh", "-c", "echo thinking; exec sleep 600"], start_timeout=2)
    message = refused(driver)
    assert "was not ready after 2 s" in message
    assert "connection refused" in message.lower() or "nothing listens" in message.lower()
    assert "thinking" in message
    assert driver.process is not None
    assert driver.process.ended == -signal.SIGTERM


@pytest.mark.parametrize(
    ("ready", "awaited"),
    [(Ready(line="never said"), "the line 'never said'"), (Ready(file="/nowhere/at"), "the file /nowhere/at")],
)
def test_a_host_that_never_says_so_is_not_ready_though_it_listens(ready: Ready, awaited: str) -> None:
    assert awaited in refused(CommandDriver([*FAKE, "--port", "{port}"], ready=ready, start_timeout=2))


def test_a_line_that_is_no_address_is_refused_at_once() -> None:
    driver = CommandDriver([*FAKE, "--port", "0", "--say", "at http://x"], ready=Ready(line=r"at (?P<url>\S+)"))
    assert "'http://x', which is no ws://" in refused(driver)


def test_what_cannot_be_started_is_explained(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n", "utf-8")
    lost = tmp_path / "lost"
    lost.write_text("#!/no/such/interpreter\n", "utf-8")
    lost.chmod(0o755)
    data = tmp_path / "data"
    data.write_bytes(b"\0\1\2\3")
    data.chmod(0o755)
    assert "no-such-program is not on the PATH; install it or give its path" in refused(
        CommandDriver(["no-such-program"])
    )
    assert "/nowhere/host is not there; install it" in refused(CommandDriver(["/nowhere/host"]))
    assert "not executable; make it so (chmod +x)" in refused(CommandDriver([str(plain)]))
    assert "interpreter that its first line names" in refused(CommandDriver([str(lost)]))
    assert "no program that this system can run" in refused(CommandDriver([str(data)]))
    assert "the working folder /nowhere" in refused(CommandDriver(FAKE, cwd="/nowhere"))
    assert "null byte" in refused(CommandDriver(["a\0b"]))
    assert "is empty" in refused(CommandDriver([]))


def test_a_port_that_is_taken_is_noticed_before_the_wrong_host_is_judged(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        stranger.settimeout(PATIENCE)
        driver = CommandDriver(
            [sys.executable, "-c", f"open({str(mark)!r}, 'w')"], endpoint=f"ws://127.0.0.1:{port}", timeout=2
        )
        thread = threading.Thread(target=lambda: stranger.accept()[0].close())
        thread.start()
        message = refused(driver)
        thread.join()
    assert f"something listens at ws://127.0.0.1:{port} already" in message
    assert not mark.exists()


def test_a_host_that_dies_later_is_told_from_one_that_refuses() -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--print", "famous last words"])
    with started(driver):
        assert driver.process is not None
        psutil.Process(driver.process.pid).kill()
        with pytest.raises(DriverError, match=r"ended in the middle of the run \(signal SIGKILL\)") as error:
            driver.connect()
        assert "famous last words" in str(error.value)


# -- secrets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["query", "header"])
def test_a_made_up_token_opens_the_host_and_is_not_shown(place: TokenPlace) -> None:
    driver = CommandDriver(
        [*FAKE, "--port", "{port}", "--token", "{token}", "--print", "my token is {token}."], token_in=place
    )
    with started(driver):
        assert ask(driver)["echo"] == "hello"
        assert driver.process is not None
        token = psutil.Process(driver.process.pid).cmdline()[-3]
        assert token.encode() in driver.process.output()
        assert driver.process.tail() == "my token is «token:connection»."
        assert token not in driver.endpoint


def test_a_token_in_the_endpoint_goes_there_alone() -> None:
    driver = CommandDriver(
        [*FAKE, "--port", "{port}", "--token", "{token}"], endpoint="ws://127.0.0.1:{port}/?tkn={token}"
    )
    with started(driver):
        assert ask(driver)["echo"] == "hello"
        assert "tkn" not in driver.endpoint


def test_a_wrong_token_is_no_reason_to_wait() -> None:
    message = refused(CommandDriver([*FAKE, "--port", "{port}", "--token", "right"], token="s3cret-wrong"))
    assert "401" in message
    assert "s3cret" not in message


# -- placeholders -------------------------------------------------------------------------------------


def test_placeholders_stay_the_same_and_differ_from_each_other(tmp_path: Path) -> None:
    values = Placeholders(tmp_path, {"model_url": "http://x"})
    assert values.fill("{port}") == values.fill("{port}") != values.fill("{port2}")
    assert values.fill("{model_url}/{port}", port="7") == "http://x/7"
    assert values.fill('{"a": {"b": 1}} {{port}} {} ${Other}') == '{"a": {"b": 1}} {port} {} ${Other}'
    assert Path(values.fill("{dir}")).is_dir()
    assert values.token is None
    assert values.fill("{token}") == values.token
    with pytest.raises(TargetError, match=r"\{modle_url\}.*there are .*\{model_url\}.*write \{\{modle_url\}\}"):
        values.fill("{modle_url}")


def test_a_driver_takes_further_names_before_its_start() -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--name", "{model_url}"])
    driver.names = {"model_url": "http://model"}
    with started(driver):
        assert ask(driver)["name"] == "http://model"


# -- the end ------------------------------------------------------------------------------------------


def test_the_whole_tree_is_ended_wherever_it_went(greeter: Greeter) -> None:
    driver = CommandDriver([*FAKE, "--greet", greeter.port, "--family", "--port", "{port}"])
    with started(driver):
        pids = greeter.pids()
        assert len(pids) == 6
        assert alive(pids) == pids
    assert alive(pids) == []
    driver.stop()


def test_strangers_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as stranger:
        process = HostProcess([*FAKE], log=tmp_path / "log")
        process.end()
        assert stranger.poll() is None
        stranger.kill()


def test_a_host_that_will_not_go_is_killed(tmp_path: Path, greeter: Greeter) -> None:
    process = HostProcess([*FAKE, "--stubborn", "--greet", greeter.port], log=tmp_path / "log")
    greeter.pids()
    process.end(grace=0.2)
    assert process.ended == -signal.SIGKILL
    assert process.how_it_ended() == "signal SIGKILL"


def test_an_exit_code_is_kept(tmp_path: Path) -> None:
    process = HostProcess([*FAKE, "--die", "7"], log=tmp_path / "log")
    assert process.wait(PATIENCE) == 7
    process.end()
    assert process.ended == 7


def test_evidence_is_kept_and_each_life_has_its_own_last_lines(tmp_path: Path) -> None:
    driver = CommandDriver([*FAKE, "--port", "{port}", "--print", "one life"])
    driver.evidence = tmp_path / "host.log"
    with started(driver):
        driver.restart()
        assert driver.process is not None
        assert driver.process.tail() == "one life"
    assert driver.evidence.read_text("utf-8") == "one life\none life\n"


def test_long_output_is_not_held(tmp_path: Path) -> None:
    script = "for n in range(200000): print('line', n)"
    process = HostProcess([sys.executable, "-c", script], log=tmp_path / "log")
    assert process.wait(PATIENCE) == 0
    assert process.tail(2) == "line 199998\nline 199999"
    process.end()


def test_a_suite_that_exits_takes_its_host_along(tmp_path: Path, greeter: Greeter) -> None:
    script = f"""
from pathlib import Path
from conformance.drivers.process import HostProcess
HostProcess({[*FAKE, "--greet", greeter.port, "--family"]!r}, log=Path({str(tmp_path / "log")!r}))
input()
raise SystemExit("the suite is gone")
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as suite:
        pids = greeter.pids()
        assert alive(pids) == pids
        suite.communicate(b"\n", timeout=PATIENCE)
    assert alive(pids) == []


def heeds_interrupts() -> None:
    """Whoever runs the tests in the background may have them ignore the interrupt key, and so all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_suite_takes_its_host_along(number: int, tmp_path: Path, greeter: Greeter) -> None:
    words = [sys.executable, "-m", "conformance", "run", "--", *FAKE, "--greet", greeter.port, "--family"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=heeds_interrupts) as suite:
        pids = greeter.pids()
        suite.send_signal(number)
        _, err = suite.communicate(timeout=PATIENCE)
    assert alive(pids) == []
    assert b"Traceback" not in err


def test_workers_that_are_terminated_take_their_hosts_along(tmp_path: Path, greeter: Greeter) -> None:
    command = [*FAKE, "--greet", greeter.port, "--port", "{port}"]
    words = [sys.executable, "-m", "conformance", "run", "--workers", "2", "--patience", "0.5", "--", *command]
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    env = {**os.environ, "TMPDIR": str(rooms)}
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, start_new_session=True) as suite:
        pids = [pid for _ in range(3) for pid in greeter.pids()]
        assert alive(pids) == pids
        workers = psutil.Process(suite.pid).children()
        os.killpg(suite.pid, signal.SIGTERM)
        suite.wait(PATIENCE)
        psutil.wait_procs(workers, timeout=PATIENCE)
    assert alive(pids) == []
    assert list(rooms.glob("ahp-host-*")) == []


def test_code_server_is_a_target_with_or_without_a_version() -> None:
    for target in ("code-server", "code-server@4.138.0"):
        driver = resolve(target)
        assert isinstance(driver, CodeServerDriver)
        assert driver.version == (target.partition("@")[2] or DEFAULT_VERSION)


# -- the command line ---------------------------------------------------------------------------------


def test_a_command_is_judged_and_can_be_rerun(tmp_path: Path) -> None:
    words = [*REFERENCE, "--port", "{port}"]
    run = ahp("run", "--only", "AHP-PING-001", "--", *words, cwd=tmp_path)
    assert run.code == 0, run.err
    (folder,) = (tmp_path / "reports" / "local").iterdir()
    assert folder.name.startswith(Path(sys.executable).name)
    again = shlex.split(json.loads((folder / "run.json").read_text("utf-8"))["rerun"])
    assert again == ["ahp-conformance", "run", "--command", shlex.join(words)]


def test_a_command_as_one_text_is_the_same(tmp_path: Path) -> None:
    text = f"{sys.executable} -m conformance host --fault 'challenge-is-a-failure'"
    arguments = ["--command", text, "--ready-line", r"ready (?P<url>\S+)", "--only", "AHP-PING-001"]
    run = ahp("run", *arguments, cwd=tmp_path, out=tmp_path / "out")
    assert run.code == 0, run.err
    assert run.record is not None
    again = shlex.split(run.record["rerun"])
    assert again[2:] == ["--command", shlex.join(shlex.split(text)), *arguments[2:4]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ws://127.0.0.1:1", "--", "host"], ["ws://127.0.0.1:1", "not both"]),
        (["--"], ["no command stands after --"]),
        (["--command", ""], ["no command"]),
        (["--command", "'"], ["--command", "quote"]),
        (["--command", "a", "--", "b"], ["not twice"]),
        (["--endpoint", "ws://127.0.0.1:1"], ["--endpoint", "after --"]),
        (["--framing", "lines"], ["--framing", "after --"]),
        (["--framing", "lines", "--endpoint", "ws://x", "--", "host"], ["lines", "no meaning"]),
        (["--ready-line", "(", "--", "host"], ["no regular expression"]),
        (["--endpoint", "http://x", "--", "host"], ["http://x"]),
        (["--", "host", "{prot}"], ["{prot}", "{port}"]),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    run = ahp("run", *arguments, cwd=tmp_path)
    assert run.code == 2, run.err
    assert len(run.err.strip().splitlines()) == 1
    for word in words:
        assert word in run.err
