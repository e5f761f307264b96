"""Judging the small host as a person would, by a profile, and seeing that nothing of it is left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import psutil

from tests.running.command import Outcome, ahp

_PROJECT: Final = Path(__file__).resolve().parents[2]
_MARK: Final = "SMALL_AGENT_RUN"
_PROFILE: Final = r"""
[host]
name = "small-agent"
command = [PYTHON, "-m", "tests.agents.host", "--port", "{port}", "--model", "{model_url}"FLAW]
cwd = PROJECT
ready = {line = '^ready (?P<url>ws://\S+)'}

[backend]
model = true
mcp = "plugin"
plays = ["fails", "with", "confirm", "oauth_client"]

[backend.tools]
plain = {name = "shell", input = {command = "echo {result}"}}
confirmed = {name = "shell", input = {command = "touch {tool}"}}
failing = {name = "shell", input = {command = "exit 1"}}
ask = {name = "ask_user", input = {question = "{message}", choices = "{choices}"}}

[waits]
grace = 5
"""


def write_profile(folder: Path, flaw: str | None = None) -> Path:
    """A profile of the small host, of a right one or of one with a flaw."""
    text = _PROFILE.replace("PYTHON", json.dumps(sys.executable)).replace("PROJECT", json.dumps(str(_PROJECT)))
    path = folder / "small-agent.toml"
    path.write_text(text.replace("FLAW", f', "--flaw", "{flaw}"' if flaw else ""), encoding="utf-8")
    return path


def judge(folder: Path, *only: str, flaw: str | None = None, patience: float = 10) -> Outcome:
    """A run of these scenarios. Its host must have ended with it, however it went."""
    mark = uuid4().hex
    chosen = [word for each in only for word in ("--only", each)]
    words = ["run", str(write_profile(folder, flaw)), "--patience", str(patience), *chosen]
    run = ahp(*words, cwd=folder, out=folder / "out", **{_MARK: mark})
    assert run.record is not None, run.err
    assert _left(mark) == [], "processes of the run are left"
    return run


def scenarios(run: Outcome, outcome: str) -> dict[str, dict[str, Any]]:
    """The scenarios that came to this outcome, by id."""
    assert run.record is not None
    return {s["id"]: s for s in run.record["scenarios"] if s["outcome"] == outcome}


def obligations(run: Outcome, verdict: str) -> set[str]:
    assert run.record is not None
    return {o["id"] for o in run.record["obligations"] if o["verdict"] == verdict}


def _left(mark: str) -> list[list[str]]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark:
                found.append(process.cmdline())
        except psutil.Error:
            continue  # ended meanwhile, or somebody else's
    return found
