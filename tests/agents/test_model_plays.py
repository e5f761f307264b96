"""How scenarios drive a real agent: what they may rely on, one thing at a time, with a real host behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from conformance.backend.models import ModelServices
from conformance.backend.playbook import find, token_hash
from conformance.client import Unreached
from conformance.drivers import HostFacts
from conformance.drivers.profile import load
from conformance.drivers.profiled import ProfileDriver
from conformance.running.controlled import ModelPlays
from conformance.running.stage import Stage, Theatre
from conformance.running.supply import PROBE_TOOL
from scenarios.world import World

from .runs import write_profile

_PATIENCE = 20.0


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProfileDriver]:
    driver = ProfileDriver(load(write_profile(tmp_path_factory.mktemp("profile"))))
    try:
        driver.start()
        yield driver
    finally:
        driver.stop()


@pytest.fixture
def models(driver: ProfileDriver) -> ModelServices:
    """The model service that the agent asks."""
    assert driver.scripted is not None
    return driver.scripted.models


@pytest.fixture
def world(driver: ProfileDriver) -> Iterator[World]:
    """A session with one chat, at a host with a real agent."""
    stage = Stage(Theatre(driver, HostFacts("0.9.0", provider="scripted"), _PATIENCE, ("0.9.0",)))
    world = World(stage)
    world.open_session(stage.join("A"))
    try:
        yield world
    finally:
        stage.conclude(witness=False)
    assert stage.oracle.findings == [], "the host that the tests are made with is wrong itself"


def test_the_agent_of_a_driver_with_a_model_service_is_played_by_it(world: World) -> None:
    assert isinstance(world.stage.agent, ModelPlays)


def test_text_and_thoughts_of_the_model_stream_into_parts_of_their_own(world: World) -> None:
    world.say([{"think": "Let me see."}, {"say": "Two words."}])
    world.end_of_turn()
    (turn,) = world.a.state(world.chat)["turns"]
    assert [(p["kind"], p["content"]) for p in turn["responseParts"]] == [
        ("reasoning", "Let me see."),
        ("markdown", "Two words."),
    ]
    assert len(list(world.a.envelopes(world.chat, "chat/delta"))) == 2  # a word each
    assert world.stage.agent.excuse() is None


def test_a_failure_of_the_model_service_ends_the_turn_with_what_it_says(world: World) -> None:
    world.say([{"fail": {"message": "no capacity", "errorType": "http-503"}}])
    ended = world.end_of_turn()
    assert ended.type == "chat/error"
    assert ended.get("part")["error"] == {"errorType": "http-503", "message": "no capacity"}


def test_a_stream_that_is_cut_is_an_error_too(world: World) -> None:
    world.say([{"say": "So far"}, {"fail": {"message": "gone", "errorType": "cut"}}])
    assert world.end_of_turn().type == "chat/error"


def test_a_cancelled_turn_breaks_the_request_to_the_model_off(world: World, models: ModelServices) -> None:
    before = len(models.requests)
    world.say([{"pause": "for ever"}])
    held = models.await_request(lambda r: r.number >= before and r.held is not None, _PATIENCE)
    assert held is not None
    world.a.act(world.chat, {"type": "chat/turnCancelled", "turnId": world.turn, "duration": 1})
    gone = models.await_request(lambda r: r.number == held.number and r.ended == "abandoned", _PATIENCE)
    assert gone is not None


def test_a_pause_is_released_in_the_chat_that_is_meant_and_in_no_other(world: World) -> None:
    other = world.stage.new_chat_uri(world.session)
    world.a.succeed("createChat", channel=world.session, chat=other)
    world.a.subscribe(other)
    first = world.say([{"pause": "rest"}, {"say": "Done."}])
    second = world.say([{"pause": "rest"}, {"say": "Done."}], chat=other)
    world.go_on(pause="rest")
    assert world.end_of_turn(turn=first).type == "chat/turnComplete"
    assert world.a.state(other)["activeTurn"]["id"] == second
    world.stage.agent.close()  # whatever is held when a scenario ends is let go
    assert world.end_of_turn(chat=other, turn=second).type == "chat/turnComplete"


def test_what_an_agent_cannot_be_told_is_refused_before_anything_is_said(world: World) -> None:
    with pytest.raises(Unreached, match="calls with 'partial'") as refused:
        world.say([{"call": {"tool": "read_secret", "server": "vault", "partial": "half"}}])
    assert refused.value.code == "backend-missing"
    assert not list(world.a.envelopes(world.chat, "chat/turnStarted"))


def test_the_server_bears_witness_of_the_calls_and_their_tokens(world: World) -> None:
    agent = world.stage.agent
    token = world.stage.token("vault-good").value
    resource, accepts = agent.resource("vault"), [token_hash(token)]
    challenge = {"status": 401, "resource": resource, "accept": accepts}
    world.say([{"call": {"tool": "read_secret", "server": "vault", "result": "it", "challenges": [challenge]}}])
    world.await_call("auth-required", "read_secret")
    assert [(c.digest, c.passed) for c in agent.requests("vault")] == [(None, False)]
    world.a.succeed("authenticate", resource=resource, token=token)
    assert agent.await_token("vault", token_hash(token))
    world.end_of_turn()
    assert [(c.tool, c.digest, c.passed) for c in agent.requests("vault")] == [
        ("read_secret", None, False),
        ("read_secret", token_hash(token), True),
    ]


def test_only_a_server_that_was_at_work_before_gets_its_request_by_a_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host contacts a new server as soon as it is published, which may be before the message is composed."""
    agent = world.stage.agent
    assert isinstance(agent, ModelPlays)
    resource = agent.resource("vault")
    supply = agent._supply
    bring = supply.bring

    def bring_and_wait(session: str, names: Sequence[str]) -> None:
        bring(session, names)
        assert supply.server("vault").await_seen(lambda seen: not seen.metadata, _PATIENCE)

    monkeypatch.setattr(supply, "bring", bring_and_wait)
    moves = [{"mcp": {"server": "vault", "challenge": {"status": 401, "resource": resource, "accept": []}}}]
    first = find(agent.tell(world.session, world.chat, moves, "Need it."))
    second = find(agent.tell(world.session, world.chat, moves, "Need it again."))
    assert first == moves
    assert second == [{"call": {"tool": PROBE_TOOL, "server": "vault"}}]


def test_a_message_that_never_reached_the_model_is_an_excuse(world: World) -> None:
    world.stage.agent.tell(world.session, world.chat, [{"say": "Hello"}], "Nobody sends this.")
    excuse = world.stage.agent.excuse()
    assert excuse is not None
    assert excuse.code == "backend-ignored"
