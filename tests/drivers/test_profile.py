"""Profiles: what they say is what the driver does, and what is wrong with one is said in one line."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conformance.backend.lexicon import read_lexicon
from conformance.drivers import PROVOCATIONS, DriverError, EndpointDriver, TargetError, resolve
from conformance.drivers.command import Ready
from conformance.drivers.profile import Agent, Backend, Profile, ProfileError, Reach, load, schema
from conformance.drivers.profiled import ProfileDriver
from tests.running.command import ahp

from .hosts import FAKE, REFERENCE, STDIO, ask, started

DOCS = Path(__file__).parents[2] / "docs" / "drivers.md"
COMMAND = json.dumps([*REFERENCE, "--port", "{port}"])


def written(folder: Path, text: str, name: str = "my-host.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


# -- what profiles say --------------------------------------------------------------------------------

FULL = """
[host]
name = "mine"
command = ["./bin/host", "--port", "{port}", "--model", "{model_url}"]
endpoint = "ws://127.0.0.1:{port}/ahp"
framing = "websocket"
cwd = "bin"
env = { TOKEN = "{token}" }
ready = { file = "run/ready" }
start_timeout = 5
token_env = "AHP_TEST_TOKEN"
token_in = "header"

[agent]
provider = "scribe"
provocations = ["turn", "tool"]
config = { model = { id = "m" }, depth = 2 }
tokens = { "https://api.example" = "any", "https://b.example" = "env:AHP_TEST_TOKEN" }
refused_tokens = { "https://api.example" = "any" }

[backend]
model = true
mcp = "root-config"
plays = ["confirm"]
root = { toolSearch = false }
approvals = { asked = { approve = "ask" }, unasked = { approve = "all" } }

[backend.tools]
plain = { name = "bash", input = { command = "echo {result}" } }
ask = { name = "ask_user" }

[waits]
patience = 20
grace = 30.5

[[waivers]]
obligation = "AHP-PING-001"
reason = "known"
"""


def test_everything_that_a_profile_can_say(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "host"
    program.parent.mkdir()
    program.touch()
    path = written(tmp_path, FULL)
    profile = load(path)
    assert profile == Profile(
        path=path,
        host=Reach(
            name="mine",
            command=(str(program), "--port", "{port}", "--model", "{model_url}"),
            endpoint="ws://127.0.0.1:{port}/ahp",
            cwd=str(program.parent),
            env={"TOKEN": "{token}"},
            ready=Ready(file=str(tmp_path / "run" / "ready")),
            start_timeout=5,
            token_env="AHP_TEST_TOKEN",
            token_in="header",
        ),
        agent=Agent(
            provider="scribe",
            provocations=frozenset({"turn", "tool"}),
            config={"model": {"id": "m"}, "depth": 2},
            tokens={"https://api.example": "any", "https://b.example": "env:AHP_TEST_TOKEN"},
            refused_tokens={"https://api.example": "any"},
        ),
        backend=Backend(
            model=True,
            mcp="root-config",
            plays=frozenset({"confirm"}),
            root={"toolSearch": False},
            approvals={"asked": {"approve": "ask"}, "unasked": {"approve": "all"}},
            tools={
                "plain": {"name": "bash", "input": {"command": "echo {result}"}},
                "ask": {"name": "ask_user"},
            },
        ),
        patience=20,
        grace=30.5,
        waivers={"AHP-PING-001": "known"},
    )
    assert read_lexicon(profile.backend.tools).plain is not None


def test_a_profile_says_only_what_it_must(tmp_path: Path) -> None:
    profile = load(written(tmp_path, '[host]\ncommand = ["my-host"]'))
    assert profile == Profile(tmp_path / "my-host.toml", Reach(name="my-host", command=("my-host",), cwd=str(tmp_path)))


def test_every_key_of_the_schema_is_in_the_full_example() -> None:
    """So that the test above sees whether the loader takes up what the schema lets pass."""
    document = tomllib.loads(FULL)
    for name, table in schema()["properties"].items():
        known = table["items"]["properties"] if table["type"] == "array" else table["properties"]
        used = document[name][0] if table["type"] == "array" else document[name]
        assert set(used) == set(known), name


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("number", range(3))
def test_the_examples_of_the_docs_are_profiles(number: int, tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(\[host\].+?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 3
    assert load(written(tmp_path, examples[number])).host.name


def test_the_docs_name_every_key_and_provocation() -> None:
    text = DOCS.read_text("utf-8")
    for table in schema()["properties"].values():
        for key in (table.get("items") or table)["properties"]:
            assert f"`{key}`" in text, key
    for name in PROVOCATIONS:
        assert f"`{name}`" in text, name


# -- what is wrong ------------------------------------------------------------------------------------

HOST = '[host]\nendpoint = "ws://127.0.0.1:1"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["lacks the table [host]"]),
        ("[host]", ["[host] needs a command", "endpoint"]),
        ("[host\n", ["not TOML", "line 1"]),
        ('[host]\ncommnd = ["x"]', ["[host] has no key 'commnd'", "did you mean 'command'", "there are name, command"]),
        ('[hots]\ncommand = ["x"]', ["no key 'hots'", "did you mean 'host'"]),
        ('[host]\ncommand = "x --port 1"', ["[host] command must be a list of texts, not 'x --port 1'"]),
        ("[host]\ncommand = []", ["[host] command must not be empty"]),
        ('[host]\ncommand = ["x", 1]', ["[host] command, entry 2 must be a text, not 1"]),
        ('[host]\ncommand = ["./no/such"]', ["[host] command", "'./no/such'", "beside the profile"]),
        ('[host]\ncommand = ["x"]\ncwd = "nowhere"', ["[host] cwd", "'nowhere'", "no such folder"]),
        ('[host]\ncommand = ["x"]\nendpoint = "http://x"', ["[host] endpoint", "'http://x'", "ws://HOST:PORT"]),
        ('[host]\ncommand = ["x"]\nframing = "lsp"', ["[host] framing is 'lsp'", '"headers"']),
        ('[host]\ncommand = ["x"]\nframing = "lines"\nendpoint = "ws://x"', ["[host] endpoint", "framing = 'lines'"]),
        ('[host]\ncommand = ["x"]\nready = {}', ["[host] ready", "exactly one of line, file"]),
        ('[host]\ncommand = ["x"]\nready = { line = "a", file = "b" }', ["[host] ready", "exactly one of line, file"]),
        ('[host]\ncommand = ["x"]\nready = { line = "(" }', ["[host] ready", "no regular expression"]),
        ('[host]\ncommand = ["x"]\nstart_timeout = 0', ["[host] start_timeout", "seconds above 0", "not 0"]),
        ('[host]\ncommand = ["x"]\nstart_timeout = nan', ["[host] start_timeout", "nan"]),
        ('[host]\ncommand = ["x"]\nstart_timeout = true', ["[host] start_timeout", "a number"]),
        ('[host]\ncommand = ["x"]\nenv = { A = 1 }', ["[host] env.A must be a text"]),
        ('[host]\ncommand = ["x", "{model_url}"]', ["{model_url}", "model = true in [backend]"]),
        (HOST + 'framing = "lines"', ["[host] framing", "command"]),
        (HOST + "start_timeout = 3", ["[host] start_timeout", "command"]),
        (HOST + '[agent]\nprovocations = ["turn", "tols"]', ["'tols'", "did you mean 'tool'", "mcp-auth"]),
        (HOST + "[agent]\nconfig = { since = 2020-01-01 }", ["[agent] config.since", "2020-01-01", "text"]),
        (HOST + '[agent]\ntokens = { "https://a" = "gh_secret" }', ["[agent] tokens.https://a", "env:NAME"]),
        (HOST + '[backend]\nmcp = "both"', ["[backend] mcp is 'both'", '"root-config"']),
        (HOST + "[backend.tools]\nplain = {}", ["[backend] tools.plain lacks name"]),
        (HOST + '[backend.tools]\nplane = { name = "x" }', ["[backend] tools has no key 'plane'", "plain"]),
        (HOST + "[waits]\npatience = -1", ["[waits] patience", "above 0"]),
        (HOST + '[[waivers]]\nobligation = "PING"\nreason = "x"', ["[[waivers]] 1, obligation", "AHP-PING-001"]),
        (HOST + '[[waivers]]\nobligation = "AHP-PING-001"', ["[[waivers]] 1 lacks reason"]),
        (HOST + '[[waivers]]\nobligation = "AHP-PING-001"\nreason = ""', ["[[waivers]] 1, reason", "empty"]),
        (HOST + 2 * '[[waivers]]\nobligation = "AHP-PING-001"\nreason = "x"\n', ["AHP-PING-001 twice"]),
        (HOST + 'waivers = "x"', ["[host] has no key 'waivers'"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, words: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ProfileError) as error:
        load(path)
    message = str(error.value)
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
    assert "gh_secret" not in message
    for word in words:
        assert word in message


def test_what_is_no_profile_at_all(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="no such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="UTF-8"):
        load(tmp_path / "binary.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ProfileError, match="cannot be read"):
        load(tmp_path / "folder.toml")
    with pytest.raises(ProfileError, match=r"nested too deeply|not TOML"):
        load(written(tmp_path, f"a = {'[' * 100_000}"))


def test_a_token_variable_that_is_not_set_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AHP_NO_SUCH", raising=False)
    for text in ('token_env = "AHP_NO_SUCH"', '[agent]\ntokens = { "https://a" = "env:AHP_NO_SUCH" }'):
        with pytest.raises(TargetError, match=r"my-host\.toml.*AHP_NO_SUCH, which is not set"):
            resolve(str(written(tmp_path, HOST + text)))


# -- what the driver makes of it ----------------------------------------------------------------------


def test_a_profile_is_a_target_with_all_that_it_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "host").touch()
    monkeypatch.setenv("AHP_TEST_TOKEN", "s3cret")
    driver = resolve(str(written(tmp_path, FULL)))
    assert isinstance(driver, ProfileDriver)
    assert (driver.name, driver.provider, driver.patience, driver.grace) == ("mine", "scribe", 20, 30.5)
    assert driver.provocations == frozenset({"turn", "tool"})
    assert driver.session_config == {"model": {"id": "m"}, "depth": 2}
    assert driver.agent_tokens["https://b.example"] == "s3cret"
    assert driver.agent_tokens["https://api.example"] != driver.refused_agent_tokens["https://api.example"]
    assert driver.waivers == {"AHP-PING-001": "known"}
    assert driver.endpoint == "ws://127.0.0.1:{port}/ahp"


def test_a_host_that_runs_is_reached_and_not_restarted(tmp_path: Path) -> None:
    other = ProfileDriver(load(written(tmp_path, f"[host]\ncommand = {json.dumps([*FAKE, '--port', '{port}'])}")))
    with started(other):
        driver = resolve(str(written(tmp_path, f'[host]\nendpoint = "{other.endpoint}"', "running.toml")))
        assert isinstance(driver, ProfileDriver)
        with started(driver):
            assert driver.name == "running"
            assert driver.evidence is None
            assert ask(driver)["echo"] == "hello"
            with pytest.raises(DriverError, match="no command"):
                driver.restart()


def test_names_and_evidence_are_handed_on(tmp_path: Path) -> None:
    command = json.dumps([*FAKE, "--port", "{port}", "--name", "{model_url}", "--print", "hi"])
    driver = ProfileDriver(load(written(tmp_path, f"[host]\ncommand = {command}\n[backend]\nmodel = true")))
    driver.evidence = tmp_path / "host.log"
    with started(driver):
        assert driver.scripted is not None
        assert ask(driver)["name"] == driver.scripted.models.url
        first = ask(driver)["pid"]
        driver.restart()
        assert ask(driver)["pid"] != first
    assert (tmp_path / "host.log").read_text("utf-8") == "hi\nhi\n"


def test_a_profile_of_a_host_on_pipes(tmp_path: Path) -> None:
    command = json.dumps([*STDIO, "headers"])
    driver = ProfileDriver(load(written(tmp_path, f'[host]\nframing = "headers"\ncommand = {command}')))
    with started(driver):
        assert driver.lacks == {"second-client", "disconnect"}
        assert ask(driver, '{"jsonrpc":"2.0","id":5,"method":"ping","params":{"channel":"ahp-root://"}}')["id"] == 5


def test_a_relative_program_and_folder_belong_to_the_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "profiles"
    (folder / "work").mkdir(parents=True)
    script = folder / "host"
    script.write_text(f"#!/bin/sh\npwd\nexec {shlex.join(FAKE)} --port $1\n", "utf-8")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    path = written(folder, '[host]\ncommand = ["./host", "{port}"]\ncwd = "work"')
    driver = ProfileDriver(load(path.relative_to(tmp_path)))
    driver.evidence = tmp_path / "log"
    with started(driver):
        assert (tmp_path / "log").read_text("utf-8").strip() == str(folder / "work")


# -- the command line ---------------------------------------------------------------------------------


def test_a_profile_is_judged_by_several_workers(tmp_path: Path) -> None:
    waiver = '[[waivers]]\nobligation = "AHP-PING-001"\nreason = "never needed"'
    agent = '[agent]\nprovider = "scripted"\nprovocations = ["turn"]\n[waits]\npatience = 25'
    written(tmp_path, f"[host]\ncommand = {COMMAND}\n{agent}\n{waiver}")
    run = ahp("run", "my-host.toml", "--only", "AHP-PING-001", "--workers", "2", cwd=tmp_path, out=tmp_path / "out")
    assert run.code == 0, run.out + run.err
    assert run.record is not None
    assert run.record["host"]["driver"] == "my-host"
    assert run.record["host"]["provocations"] == ["disconnect", "second-client", "turn", "wire"]
    assert run.record["rerun"] == "ahp-conformance run my-host.toml"
    assert "waiver of AHP-PING-001 is no longer needed" in run.out


def test_a_waived_breach_does_not_break_the_run(tmp_path: Path) -> None:
    command = json.dumps([*REFERENCE, "--port", "{port}", "--fault", "challenge-is-a-failure"])
    select = ["--only", "A challenge makes the call auth-required", "--only", "AHP-PING-001", "--patience", "3"]
    bare = f"[host]\ncommand = {command}\n"
    broken = ahp("run", str(written(tmp_path, bare)), *select, cwd=tmp_path, out=tmp_path / "broken")
    assert broken.code == 1, broken.out + broken.err
    assert broken.record is not None
    names = [o["id"] for o in broken.record["obligations"] if o["verdict"] == "broken"]
    waivers = "".join(f'[[waivers]]\nobligation = "{name}"\nreason = "we know"\n' for name in names)
    path = written(tmp_path, bare + waivers, "waived.toml")
    waived = ahp("run", str(path), *select, cwd=tmp_path, out=tmp_path / "waived")
    assert waived.code == 0, waived.out + waived.err
    assert waived.record is not None
    assert {o["id"]: o["waiver"]["reason"] for o in waived.record["obligations"] if o["verdict"] == "waived"} == (
        dict.fromkeys(names, "we know")
    )


def test_a_broken_profile_is_wrong_usage(tmp_path: Path) -> None:
    written(tmp_path, "[host]\nport = 1")
    run = ahp("run", "my-host.toml", cwd=tmp_path)
    assert run.code == 2
    assert run.err.startswith("ahp-conformance: my-host.toml: [host] has no key 'port'")
    assert len(run.err.splitlines()) == 1


def test_an_address_is_still_no_profile() -> None:
    assert isinstance(resolve("ws://127.0.0.1:1/x.toml"), EndpointDriver)
