"""The stage of one scenario: its connections, its clients, the oracle that watches, and the second witness.

A scenario opens its own connections and its own sessions, so scenarios need not know of each other. When it is
over, an observer that took no part fetches fresh snapshots of every channel that was followed, and the oracle
compares them with the folds of the clients.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from conformance.client import HostClosed, Participant, Refused, Silent, Unreached
from conformance.drivers import Driver, DriverError, HostFacts
from conformance.drivers.scripted import Scripted
from conformance.oracle import Oracle
from conformance.protocol import ROOT_URI
from conformance.running.agents import Agent, HostPlays
from conformance.running.controlled import ModelPlays
from conformance.wire.connection import Connection
from conformance.wire.errors import ConnectError
from conformance.wire.frames import Frame
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder
from conformance.wire.tokens import new_token

OBSERVER = "observer"

# A host that stays mute costs a patience each time it is asked. After this many scenarios in a row that heard
# nothing at all nobody asks again.
MUTE_AFTER = 2


@dataclass(slots=True)
class Theatre:
    """What all stages of a run share: the driver, what the probe found, and the patience in seconds."""

    driver: Driver
    facts: HostFacts
    patience: float
    offers: tuple[str, ...]
    mute: int = 0
    played: bool = False
    """The agent has been seen to play a call or a question of a playbook, so it does not ignore them."""

    @property
    def version(self) -> str:
        """The version that obligations are judged by; before any handshake the newest that is offered."""
        return self.facts.version or self.offers[0]


@dataclass(frozen=True, slots=True)
class Token:
    """A secret that the suite pushes. ``name`` is what transcripts show in its place."""

    name: str
    value: str = field(repr=False)


class Stage:
    """The connections, clients and findings of one scenario."""

    def __init__(self, theatre: Theatre) -> None:
        self.theatre = theatre
        self.recorder = Recorder()
        self.oracle = Oracle()
        self.recorder.listen(self.oracle.feed)
        self.pump = Pump()
        self.clients: dict[str, Participant] = {}
        self.sessions: list[str] = []
        self.closed = False
        scripted = getattr(theatre.driver, "scripted", None)
        self.agent: Agent = ModelPlays(self, scripted) if isinstance(scripted, Scripted) else HostPlays(self)

    # -- clients --------------------------------------------------------------------------------------

    def enter(self, name: str = "A", *, client_id: str | None = None) -> Participant:
        """A client with an open connection that has said nothing yet."""
        if self.theatre.mute >= MUTE_AFTER:
            raise Unreached("timeout", "the host said nothing at all to the clients before, so it is not asked again")
        client = Participant(
            name,
            client_id or f"conformance-{name}-{uuid4()}",
            pump=self.pump,
            tracker=self.oracle.tracker,
            connect=self._connect,
            patience=self.theatre.patience,
        )
        self.clients[name] = client
        return client

    def join(self, name: str = "A", subscriptions: Sequence[str] = (), **more: Any) -> Participant:
        """A client that has shaken hands at the version of the run."""
        client = self.enter(name)
        offers = [self.theatre.facts.version] if self.theatre.facts.version else list(self.theatre.offers)
        client.initialize(offers, subscriptions, **more)
        return client

    def _connect(self, name: str) -> Connection:
        began = time.monotonic()
        try:
            transport = self.theatre.driver.connect()
        except (ConnectError, DriverError) as error:
            raise Unreached("unreachable", str(error)) from error
        # What an upgrade takes is for the host to take.
        self.pump.waited += time.monotonic() - began
        connection = Connection(name, transport, self.recorder)
        self.pump.add(connection)
        return connection

    # -- what scenarios bring along -------------------------------------------------------------------

    def token(self, name: str) -> Token:
        """A fresh secret. Transcripts show its name instead; the oracle watches for every token once it is pushed."""
        token = Token(name, new_token(name))
        self.recorder.conceal(name, token.value)
        return token

    def new_session_uri(self) -> str:
        factory = getattr(self.theatre.driver, "session_uri", None)
        uri = str(factory()) if callable(factory) else f"ahp-session:/{uuid4()}"
        self.sessions.append(uri)
        return uri

    def new_chat_uri(self, session: str) -> str:
        factory = getattr(self.theatre.driver, "chat_uri", None)
        return str(factory(session)) if callable(factory) else f"ahp-chat:/{uuid4()}"

    @property
    def heard(self) -> bool:
        """Whether the host has said anything that could be read."""
        return any(f.dir == "in" and f.kind == "json" and isinstance(f.msg, dict) for f in self.recorder.frames)

    def remember_silence(self) -> None:
        """Let the stages after this one know whether the host speaks."""
        if self.heard:
            self.theatre.mute = 0
        elif any(f.dir == "out" and f.kind == "json" for f in self.recorder.frames):
            self.theatre.mute += 1

    @property
    def frames(self) -> Sequence[Frame]:
        return self.recorder.frames

    # -- the end --------------------------------------------------------------------------------------

    def conclude(self, *, witness: bool) -> None:
        """Bring in the second witness, end the oracle's watch, and close every connection.

        ``witness`` is false for a scenario whose host no longer answers: asking it again would only wait.
        """
        if self.closed:
            return
        self.closed = True
        settled = False
        try:
            if witness:
                with suppress(Silent, HostClosed, Refused, Unreached):
                    self._observe()
                    settled = True
            self.oracle.end(settled=settled)
            self.recorder.end(settled=settled)
        finally:
            self.agent.leave()
            self._dispose()
            self.pump.close()
            self.agent.close()

    def _observe(self) -> None:
        tracker = self.oracle.tracker
        touched = [
            channel
            for channel in dict.fromkeys(uri for view in tracker.connections.values() for uri in view.channels)
            if tracker.kinds.get(channel) is not None
        ]
        present = [c for c in self.clients.values() if c.connection.closed is None and c.version is not None]
        if not touched or not present:
            return
        observer = self.join(OBSERVER)
        asked = [observer.ask("subscribe", channel=uri) for uri in sorted(touched, key=lambda uri: uri != ROOT_URI)]
        for request in asked:
            observer.answer(request)
        self._catch_up(present)
        observer.leave()

    def _catch_up(self, clients: Sequence[Participant]) -> None:
        """Have every client see what came before the observer's snapshots.

        Each asks for its channels once more. The snapshot that comes back has everything up to its position in it,
        and everything up to there was delivered before; no other answer orders the envelopes of a channel that
        surely, as a host may look a channel up before it takes in what concerns it.
        """
        asked = []
        for client in clients:
            followed = [uri for uri, view in client.view.channels.items() if view.live]
            with suppress(HostClosed):
                asked += [(client, client.ask("subscribe", channel=uri)) for uri in followed]
                asked += [(client, client.ask("ping"))] if not followed else []
        for client, request in asked:
            with suppress(HostClosed):
                client.answer(request)

    def _dispose(self) -> None:
        """Take our sessions off the host again. It is courtesy, so nothing of it is awaited or judged."""
        for client in self.clients.values():
            if client.connection.closed is None and client.version is not None:
                with suppress(HostClosed):
                    for session in self.sessions:
                        client.ask("disposeSession", channel=session)
                    client.leave()
                    self.sessions.clear()
