"""A host that claims to play playbooks and does not: it was never told what to do, so it is not judged by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.host import HostServer, ReferenceHost
from conformance.host.agent import Steps, Turn
from conformance.host.moves import say
from tests.running.command import Outcome, ahp


class Deaf(Turn):
    """An agent that says something and ends its turn, whatever it is told."""

    def _perform(self, text: str) -> Steps:
        say(self, "I would rather not.")
        self.end("chat/turnComplete")
        return
        yield


class Broken(Turn):
    """An agent that begins to call what it is told to, and whose host then falls silent about it."""

    def _perform(self, text: str) -> Steps:
        self.act("chat/toolCallStart", toolCallId="c", toolName="read_secret", displayName="Read")
        self.end("chat/turnComplete")
        return
        yield


@contextmanager
def serving(performer: type[Turn]) -> Iterator[str]:
    host = ReferenceHost()
    host.performer = performer
    server = HostServer(host)
    try:
        yield server.start()
    finally:
        server.stop()


def judged(performer: type[Turn], tmp_path: Path, scenario: str) -> Outcome:
    with serving(performer) as address:
        return ahp("run", address, "--only", scenario, "--patience", "0.4", cwd=tmp_path, out=tmp_path / "out")


@pytest.mark.parametrize(
    "scenario",
    [
        "tool-authentication/blocked-call/a-challenge-makes-the-call-auth-required",
        "tool-authentication/resuming/the-host-says-that-the-call-is-resumed",
        "input-needed/listing/an-open-question-is-listed",
    ],
)
def test_an_agent_that_ignores_its_playbook_is_not_judged(scenario: str, tmp_path: Path) -> None:
    run = judged(Deaf, tmp_path, scenario)
    assert run.outcomes() == {scenario: "inconclusive"}
    assert run.record is not None
    assert run.record["scenarios"][0]["reason"] == "backend-ignored"
    assert run.code == 3


class Secretive(Turn):
    """An agent that plays its playbook, and of a call that is refused tells in words only."""

    def _perform(self, text: str) -> Steps:
        if '"challenges"' not in text:
            yield from super()._perform(text)
            return
        say(self, "I could not use read_secret: its server refused the request.")
        self.end("chat/turnComplete")


def test_an_agent_that_has_played_before_is_judged_by_what_it_leaves_out(tmp_path: Path) -> None:
    """The first scenario by name plays a question, so that the host is known to read its playbooks."""
    question = "input-needed/listing/an-open-question-is-listed"
    challenge = "tool-authentication/blocked-call/a-challenge-makes-the-call-auth-required"
    with serving(Secretive) as address:
        only = ("--only", question, "--only", challenge)
        run = ahp("run", address, *only, "--patience", "0.4", cwd=tmp_path, out=tmp_path / "out")
    assert run.outcomes() == {question: "passed", challenge: "failed"}


def test_an_agent_that_does_what_it_is_told_is(tmp_path: Path) -> None:
    scenario = "tool-authentication/blocked-call/a-challenge-makes-the-call-auth-required"
    assert judged(Broken, tmp_path, scenario).outcomes() == {scenario: "failed"}
