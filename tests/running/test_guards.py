"""The guards of the runner bite: each known way to get a pass for nothing, or a tag for nothing, is refused.

Each test plays a miniature suite with one scenario against the reference host.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.running.command import Outcome, ahp

VOCABULARY = """
import pytest
from pytest_bdd import given, when, then

from conformance.client import Broken, HostClosed, NotClaimed, Refused, Silent, Unreached


@pytest.fixture
def client(stage):
    return stage.join("A")


@given("a client")
def a_client(client):
    assert client.version


@given("a breach")
@when("a breach")
@then("a breach")
def breach():
    raise Broken("it is broken", expected="this", seen="that", frame=1)


@given("silence")
@when("silence")
@then("silence")
def silence():
    raise Silent("an answer", 1.0)


@given("a closed connection")
@then("a closed connection")
def closed():
    raise HostClosed("an answer", 1006)


@given("a refusal of a feature")
def refused():
    raise Refused("fetchTurns", {"code": -32601, "message": "unknown"}, 1)


@given("a refusal of the core")
def refused_core():
    raise Refused("createSession", {"code": -32601, "message": "unknown"}, 1)


@then("nothing of the kind is claimed")
def not_claimed():
    raise NotClaimed("no such capability")


@then("nothing orders the two")
def unordered():
    raise Unreached("unordered", "nothing orders the two")


@then("the step itself is faulty")
def faulty():
    {}["no such key"]


@then("it holds")
def holds():
    pass
"""
TWICE = """

@then("it holds twice")
def once():
    pass


@then("it holds twice")
def again():
    pass
"""
ASYNC = """

@then("an async step")
async def never_awaited():
    raise AssertionError("never run")
"""
TAGS = "@AHP-PING-001 @must"


def suite(folder: Path, steps: str, *, tags: str = TAGS, vocabulary: str = VOCABULARY, extra: str = "") -> Path:
    """A suite of one scenario with these steps."""
    (folder / "features" / "mini").mkdir(parents=True)
    (folder / "scenarios").mkdir()
    feature = f"Feature: Mini\n\n  {tags}\n  Scenario: One\n{indent(dedent(steps).strip(), '    ')}\n{extra}"
    (folder / "features" / "mini" / "one.feature").write_text(feature, "utf-8")
    (folder / "scenarios" / "__init__.py").write_text("")
    (folder / "scenarios" / "vocabulary.py").write_text(vocabulary)
    (folder / "scenarios" / "test_features.py").write_text(
        "from pytest_bdd import scenarios\n"
        "from conformance.running.suite import features_root\n"
        "scenarios(str(features_root()))\n"
    )
    return folder


def play(folder: Path, *more: str) -> Outcome:
    return ahp("run", *more, cwd=folder, out=folder / "out", AHP_CONFORMANCE_SUITE=str(folder))


@pytest.mark.parametrize(
    ("steps", "outcome", "reason"),
    [
        ("Given a client\nThen it holds", "passed", None),
        ("Given a client\nThen a breach", "failed", None),
        ("Given a client\nWhen a breach\nThen it holds", "failed", None),
        ("Given a client\nAnd a breach\nThen it holds", "inconclusive", "precondition-failed"),
        ("Given a client\nAnd silence\nThen it holds", "inconclusive", "timeout"),
        ("Given a client\nWhen silence\nThen it holds", "inconclusive", "timeout"),
        ("Given a client\nThen silence", "failed", "timeout"),
        ("Given a client\nAnd a closed connection\nThen it holds", "inconclusive", "host-closed"),
        ("Given a client\nThen a closed connection", "failed", "host-closed"),
        ("Given a client\nAnd a refusal of a feature\nThen it holds", "not-applicable", "not-claimed"),
        ("Given a client\nAnd a refusal of the core\nThen it holds", "inconclusive", "precondition-failed"),
        ("Given a client\nThen nothing of the kind is claimed", "not-applicable", "not-claimed"),
        ("Given a client\nThen nothing orders the two", "inconclusive", "unordered"),
        ("Given a client\nThen the step itself is faulty", "error", "suite-error"),
        ("Then it holds", "inconclusive", "nothing-seen"),
    ],
)
def test_how_a_scenario_ends_decides_its_outcome(steps: str, outcome: str, reason: str | None, tmp_path: Path) -> None:
    run = play(suite(tmp_path, steps))
    assert run.record is not None, run.err
    (scenario,) = run.record["scenarios"]
    assert (scenario["outcome"], scenario.get("reason")) == (outcome, reason)
    assert run.code == {"passed": 0, "failed": 1, "error": 4}.get(outcome, 3)


@pytest.mark.parametrize(
    ("tags", "complaint"),
    [
        ("@must", "no obligation"),
        ("@AHP-NONE-001 @must", "no obligation AHP-NONE-001"),
        ("@AHP-PING-001", "the catalogue says @must"),
        ("@AHP-PING-001 @should", "the catalogue says @must"),
        ("@AHP-PING-001 @must @since-0.6.0", "the catalogue says since 0.1.0"),
        ("@AHP-PING-001 @must @until-0.9.0", "the catalogue says until None"),
        ("@AHP-PING-001 @must @since-5.0.0", "is no version"),
        ("@AHP-PING-001 @must @needs-magic", "names no provocation"),
        ("@AHP-PING-001 @must @slow", "unknown tag @slow"),
    ],
)
def test_a_tag_that_contradicts_the_catalogue_is_refused(tags: str, complaint: str, tmp_path: Path) -> None:
    run = play(suite(tmp_path, "Given a client\nThen it holds", tags=tags))
    assert run.code == 2
    assert complaint in run.err
    assert run.record is None


def test_an_async_step_is_refused(tmp_path: Path) -> None:
    run = play(suite(tmp_path, "Given a client\nThen an async step", vocabulary=VOCABULARY + ASYNC))
    assert run.code == 2
    assert "async def" in run.err


@pytest.mark.parametrize(
    ("steps", "extra", "complaint"),
    [
        ("Given a client", "", "no Then"),
        ("Given a client\nThen nobody has written this step", "", "no step is defined"),
        ("Given a client\nThen it holds twice", "", "has 2 definitions"),
        (
            "Given a client\nThen it holds",
            f"\n  {TAGS}\n  Scenario: One\n    Given a client\n    Then it holds\n",
            "two scenarios are called 'One'",
        ),
        (
            "Given a client\nThen it holds",
            f"\n  {TAGS}\n  Scenario: one!\n    Given a client\n    Then it holds\n",
            "two scenarios have the id mini/one/one",
        ),
        (
            "Given a client\nThen it holds",
            f"\n  {TAGS}\n  Scenario Outline: Rows\n    Given <what>\n    Then it holds\n\n    @must\n"
            "    Examples:\n      | what |\n      | a client |\n",
            "tags on Examples",
        ),
    ],
)
def test_a_scenario_that_could_not_fail_or_be_told_apart_is_refused(
    steps: str, extra: str, complaint: str, tmp_path: Path
) -> None:
    run = play(suite(tmp_path, steps, extra=extra, vocabulary=VOCABULARY + TWICE))
    assert run.code == 2
    assert complaint in run.err


def test_a_scenario_outside_the_version_window_is_not_applicable(tmp_path: Path) -> None:
    run = play(
        suite(tmp_path, "Given a client\nThen a breach", tags="@AHP-AUTH-101 @must @since-0.8.0"),
        "--protocol",
        "0.6.0",
    )
    assert run.record is not None
    (scenario,) = run.record["scenarios"]
    assert (scenario["outcome"], scenario["reason"]) == ("not-applicable", "version-window")


def test_a_scenario_whose_provocation_is_missing_is_inconclusive(tmp_path: Path) -> None:
    run = play(suite(tmp_path, "Given a client\nThen a breach", tags=f"{TAGS} @needs-restart"))
    assert run.record is not None
    (scenario,) = run.record["scenarios"]
    assert (scenario["outcome"], scenario["reason"]) == ("inconclusive", "backend-missing")
    assert run.code == 3
