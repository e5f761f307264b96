"""The events of a run, in the order in which they happen.

``RunStarted``, then for each scenario ``ScenarioStarted`` and ``ScenarioFinished``, then ``RunFinished``.
With several workers the scenarios interleave. Every event has ``to_json`` and ``from_json`` and survives the
round trip, so results can cross process borders.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:  # whoever listens to events should not have to load the oracle and the wire for two types
    from conformance.oracle.findings import Finding
    from conformance.wire.frames import Frame

JSONObject: TypeAlias = dict[str, Any]

Outcome: TypeAlias = Literal["passed", "failed", "not-applicable", "inconclusive", "error"]
OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "not-applicable", "inconclusive", "error")


@dataclass(frozen=True, slots=True)
class HostInfo:
    """The host under test.

    ``driver`` and ``endpoint`` say how it was reached; ``name`` and ``version`` are what it calls itself, and
    ``protocol_version`` is the negotiated one (each None when the host never said). ``provocations`` are what
    it can be made to do.
    """

    driver: str
    endpoint: str
    name: str | None = None
    version: str | None = None
    protocol_version: str | None = None
    provocations: tuple[str, ...] = ()

    def to_json(self) -> JSONObject:
        return {
            "driver": self.driver,
            "endpoint": self.endpoint,
            "name": self.name,
            "version": self.version,
            "protocolVersion": self.protocol_version,
            "provocations": list(self.provocations),
        }

    @classmethod
    def from_json(cls, value: JSONObject) -> HostInfo:
        return cls(
            value["driver"],
            value["endpoint"],
            value["name"],
            value["version"],
            value["protocolVersion"],
            tuple(value["provocations"]),
        )


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """How one scenario ended, with the evidence.

    ``id`` is stable and unique within a run. ``reason`` is a code (``timeout``, ``version-window``, …) and
    ``detail`` a sentence; outcomes other than passed and failed have both. ``duration`` is in seconds; in ``waited``
    of them the suite did nothing but wait for the host. ``findings`` holds the Then that did not hold (rule ``step``)
    and everything that the oracle saw during the scenario, also what breaks obligations of others. ``watched`` are
    the obligations that an oracle rule really exercised. ``transcript`` is a path relative to the output directory.
    ``frames`` are the few frames that show the failure; secrets in them are already replaced, since they go into
    reports as they are.
    """

    id: str
    title: str
    feature: str
    obligations: tuple[str, ...]
    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    duration: float = 0.0
    findings: tuple[Finding, ...] = ()
    watched: tuple[str, ...] = ()
    transcript: str | None = None
    step: str | None = None
    frames: tuple[Frame, ...] = ()
    waited: float = 0.0

    def own_findings(self) -> tuple[Finding, ...]:
        """The findings on obligations that this scenario carries."""
        return tuple(f for f in self.findings if not set(self.obligations).isdisjoint(f.obligations))

    def to_json(self) -> JSONObject:
        return {
            "id": self.id,
            "title": self.title,
            "feature": self.feature,
            "obligations": list(self.obligations),
            "outcome": self.outcome,
            "reason": self.reason,
            "detail": self.detail,
            "duration": self.duration,
            "waited": self.waited,
            "findings": [finding.to_json() for finding in self.findings],
            "watched": list(self.watched),
            "transcript": self.transcript,
            "step": self.step,
            "frames": [frame_to_json(frame) for frame in self.frames],
        }

    @classmethod
    def from_json(cls, value: JSONObject) -> ScenarioResult:
        from conformance.oracle.findings import Finding

        return cls(
            **{
                **value,
                "obligations": tuple(value["obligations"]),
                "findings": tuple(Finding.from_json(finding) for finding in value["findings"]),
                "watched": tuple(value["watched"]),
                "frames": tuple(frame_from_json(frame) for frame in value["frames"]),
            }
        )


def frame_to_json(frame: Frame) -> JSONObject:
    """A frame in the form of a transcript line."""
    place: JSONObject = {"n": frame.n, "t": frame.t, "conn": frame.conn, "dir": frame.dir}
    if frame.kind == "json":
        return {**place, "msg": frame.msg}
    if frame.kind == "close":
        return {**place, "close": {"code": frame.code, "reason": frame.raw or ""}}
    return {**place, "raw": frame.raw, "kind": frame.kind}


def frame_from_json(value: JSONObject) -> Frame:
    """The inverse of :func:`frame_to_json`."""
    from conformance.wire.frames import Frame

    place = (value["n"], value["t"], value["conn"], value["dir"])
    if "msg" in value:
        return Frame(*place, msg=value["msg"])
    if "close" in value:
        return Frame(*place, raw=value["close"]["reason"], kind="close", code=value["close"]["code"])
    return Frame(*place, raw=value["raw"], kind=value.get("kind", "text"))


@dataclass(frozen=True, slots=True)
class RunStarted:
    """``started`` is an ISO 8601 time with zone, ``protocol`` the version whose rules judge, ``total`` the
    number of scenarios that will finish, ``rerun_prefix`` the command line less ``--only``."""

    started: str
    host: HostInfo
    protocol: str
    tier: str
    total: int
    rerun_prefix: str

    def to_json(self) -> JSONObject:
        return {
            "event": "run-started",
            "started": self.started,
            "host": self.host.to_json(),
            "protocol": self.protocol,
            "tier": self.tier,
            "total": self.total,
            "rerunPrefix": self.rerun_prefix,
        }

    @classmethod
    def from_json(cls, value: JSONObject) -> RunStarted:
        return cls(
            value["started"],
            HostInfo.from_json(value["host"]),
            value["protocol"],
            value["tier"],
            value["total"],
            value["rerunPrefix"],
        )


@dataclass(frozen=True, slots=True)
class ScenarioStarted:
    id: str
    title: str

    def to_json(self) -> JSONObject:
        return {"event": "scenario-started", "id": self.id, "title": self.title}

    @classmethod
    def from_json(cls, value: JSONObject) -> ScenarioStarted:
        return cls(value["id"], value["title"])


@dataclass(frozen=True, slots=True)
class ScenarioFinished:
    result: ScenarioResult

    def to_json(self) -> JSONObject:
        return {"event": "scenario-finished", "result": self.result.to_json()}

    @classmethod
    def from_json(cls, value: JSONObject) -> ScenarioFinished:
        return cls(ScenarioResult.from_json(value["result"]))


@dataclass(frozen=True, slots=True)
class RunFinished:
    """``duration`` in seconds. ``problem`` is a sentence when the suite or the environment failed."""

    duration: float
    problem: str | None = None

    def to_json(self) -> JSONObject:
        return {"event": "run-finished", "duration": self.duration, "problem": self.problem}

    @classmethod
    def from_json(cls, value: JSONObject) -> RunFinished:
        return cls(value["duration"], value["problem"])


Event: TypeAlias = RunStarted | ScenarioStarted | ScenarioFinished | RunFinished

_EVENTS: dict[str, type[RunStarted] | type[ScenarioStarted] | type[ScenarioFinished] | type[RunFinished]] = {
    "run-started": RunStarted,
    "scenario-started": ScenarioStarted,
    "scenario-finished": ScenarioFinished,
    "run-finished": RunFinished,
}


def event_from_json(value: JSONObject) -> Event:
    """The event that ``to_json`` wrote. Raises ValueError for an event that does not exist."""
    kind = value.get("event")
    if kind not in _EVENTS:
        raise ValueError(f"no event is called {kind!r}; there are {', '.join(_EVENTS)}")
    return _EVENTS[kind].from_json(value)


class Reporter(Protocol):
    """Whoever listens to a run."""

    def on(self, event: Event) -> None: ...


class EventStream:
    """Hands each event to every reporter, in the order in which they were given."""

    def __init__(self, reporters: Iterable[Reporter]) -> None:
        self._reporters = tuple(reporters)

    def emit(self, event: Event) -> None:
        for reporter in self._reporters:
            reporter.on(event)
