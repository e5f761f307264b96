"""What a variant is made of, and how the suite is played against one.

A variant is a host as right as the reference host that decides otherwise where the specification leaves the choice.
It overrides methods of the host; several variants together are one host with all their ways.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.catalogue import Catalogue
from conformance.drivers.reference import ReferenceDriver
from conformance.host import HostServer, ReferenceHost
from conformance.host.peers import Peer
from conformance.reporting.events import EventStream
from conformance.reporting.record import RunRecorder
from conformance.running.runner import build_theatre, play
from conformance.running.settings import Settings

JSON = Any


class VariantHost(ReferenceHost):
    """The reference host, with a place for what it does only when nothing else is left to do."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self._idle: deque[Callable[[], None]] = deque()
        super().__init__(*args, **more)

    def when_idle(self, work: Callable[[], None]) -> None:
        """Do something once every turn waits and every response of the reference host is out."""
        self._idle.append(work)

    def settle(self) -> None:
        super().settle()
        while self._idle:
            self._idle.popleft()()
            super().settle()

    def method_of(self, peer: Peer, message: JSON) -> str | None:
        """The method of the request that a response answers."""
        method = self.asked.get((peer, message.get("id")), {}).get("method")
        return method if isinstance(method, str) else None

    def params_of(self, peer: Peer, message: JSON) -> JSON:
        params = self.asked.get((peer, message.get("id")), {}).get("params")
        return params if isinstance(params, dict) else {}

    @property
    def asked(self) -> dict[tuple[Peer, JSON], JSON]:
        """The requests by connection and id."""
        found: dict[tuple[Peer, JSON], JSON] = self.scratch.setdefault("asked", {})
        return found

    def received(self, peer: Peer, message: JSON) -> None:
        identifier = message.get("id")
        if isinstance(identifier, int | float | str):
            self.asked[(peer, identifier)] = dict(message)
        super().received(peer, message)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another way to be right.

    name: kebab case. doc: what the host does. allowed: the sentence or the ambiguity that lets it. ways: the host
    with that way. withholds: where ids of scenarios begin that ask for something optional which the host lacks.
    """

    name: str
    doc: str
    allowed: str
    ways: type[VariantHost]
    withholds: tuple[str, ...] = ()


def host_of(variants: Sequence[Variant], *, grace: float, clock: Callable[[], float]) -> ReferenceHost:
    """One host with the ways of all the variants."""
    made = type("Composed", tuple(variant.ways for variant in variants), {})
    host: ReferenceHost = made(grace=grace, clock=clock)
    return host


class VariantDriver(ReferenceDriver):
    """The driver of the reference host, for variants of it."""

    name = "variant"

    def __init__(self, variants: Sequence[Variant]) -> None:
        super().__init__()
        self._variants = variants

    def start(self) -> None:
        self._server = HostServer(host_of(self._variants, grace=self.grace, clock=self.clock))
        self._url = self._server.start()


def record_of(variants: Sequence[Variant], version: str, catalogue: Catalogue, *, only: Sequence[str] = ()) -> JSON:
    """Play the suite against a host with these ways and return the record of the run."""
    settings = Settings(offers=(version,), patience=PATIENCE, only=tuple(only))
    driver, recorder = VariantDriver(variants), RunRecorder()
    driver.start()
    try:
        theatre = build_theatre(driver, settings)
        play(driver, theatre, settings, EventStream([recorder]), tier="tool-auth", rerun_prefix="")
    finally:
        driver.stop()
    return recorder.record(catalogue, selection=settings.only)


PATIENCE = 2.0
"""Seconds; only spent where something does not come."""
