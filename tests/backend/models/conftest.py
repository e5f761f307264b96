from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from conformance.backend.models import ModelRequest, ModelServices

from .agents import AGENTS, Agent

NewAgent = Callable[..., Agent]


class Services:
    """A running service that many tests share; each of them sees its own requests."""

    def __init__(self, services: ModelServices) -> None:
        self._services = services
        self._before = len(services.requests)
        self.url = services.url
        self.release = services.release
        self.refuse = services.refuse

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        return self._services.requests[self._before :]

    def await_request(self, wanted: Callable[[ModelRequest], bool], timeout: float = 30) -> ModelRequest | None:
        return self._services.await_request(lambda r: r.number >= self._before and wanted(r), timeout)


@pytest.fixture(scope="session")
def running() -> Iterator[ModelServices]:
    services = ModelServices()
    services.start()
    yield services
    services.stop()


@pytest.fixture
def services(running: ModelServices) -> Iterator[Services]:
    yield Services(running)
    running.refuse(())


@pytest.fixture(params=list(AGENTS))
def surface(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def new_agent(surface: str, streamed: bool, services: Services) -> Iterator[NewAgent]:
    """Makes an agent of each surface that asks for streams, and one that does not."""
    made: list[Agent] = []

    def new(tools: Sequence[str] = (), urls: Sequence[str] = (), key: str = "any") -> Agent:
        made.append(AGENTS[surface](urls or [services.url], tools, streamed=streamed, key=key))
        return made[-1]

    yield new
    for agent in made:
        agent.close()
