"""From how a scenario ended to its outcome.

The kind of step in which it ended decides: what fails under a Given leaves the scenario inconclusive, because what
it wanted to judge never came about; what fails under a Then is the failure that it looked for. A When only acts, so
trouble there is like trouble under a Given unless the step says itself that a rule was broken.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.client import Broken, HostClosed, NotClaimed, Refused, Silent, Unreached
from conformance.oracle import Finding
from conformance.oracle.rule import shown
from conformance.reporting.events import Outcome

# What a step raises that takes data apart which have not the shape they should have.
_UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError)

METHOD_NOT_FOUND = -32601
AUTH_REQUIRED = -32007

# The methods that no AHP host can do without: -32601 on one of them is a breach, on any other "not claimed".
CORE_METHODS = frozenset(
    {"initialize", "ping", "reconnect", "subscribe", "listSessions", "createSession", "disposeSession"}
)


@dataclass(frozen=True, slots=True)
class Ending:
    """An outcome with its reason code and sentence, and the finding of the step that did not hold."""

    outcome: Outcome
    reason: str | None = None
    detail: str | None = None
    finding: Finding | None = None


def ending(
    trouble: BaseException | None, step_kind: str, obligations: Sequence[str], findings: Sequence[Finding]
) -> Ending:
    """``trouble`` is what ended the scenario (None: every step held), ``findings`` what the oracle saw."""
    of_steps = _of_steps(trouble, step_kind, obligations, findings)
    if of_steps.outcome in ("passed", "inconclusive"):
        own = [f for f in findings if not set(obligations).isdisjoint(f.obligations)]
        if own:
            return Ending("failed", "oracle", own[0].message)
    return of_steps


def _of_steps(
    trouble: BaseException | None, step_kind: str, obligations: Sequence[str], findings: Sequence[Finding]
) -> Ending:
    if trouble is None:
        return Ending("passed")
    if isinstance(trouble, NotClaimed):
        return Ending("not-applicable", "not-claimed", str(trouble))
    if isinstance(trouble, Unreached):
        return Ending("inconclusive", trouble.code, str(trouble))
    if isinstance(trouble, Refused) and step_kind != "then":
        return _of_refusal(trouble)
    if isinstance(trouble, Silent | HostClosed | Refused | Broken):
        if step_kind == "given" or (step_kind == "when" and not isinstance(trouble, Broken)):
            return Ending("inconclusive", _code(trouble) or "precondition-failed", str(trouble))
        return Ending("failed", _code(trouble), str(trouble), _finding(trouble, obligations))
    if isinstance(trouble, _UNREADABLE) and any(f.rule == "shapes" for f in findings):
        return _of_malformed(step_kind, obligations, findings)
    text = "".join(traceback.format_exception(trouble))
    return Ending("error", "suite-error", text)


def _of_malformed(step_kind: str, obligations: Sequence[str], findings: Sequence[Finding]) -> Ending:
    """A step tripped over data that have not the shape of their type: that is the host's doing, not the suite's."""
    seen = next(f for f in findings if f.rule == "shapes")
    detail = f"the host sent what a step could not read: {seen.message}"
    if step_kind != "then":
        return Ending("inconclusive", "malformed", detail)
    finding = Finding("step", tuple(obligations), detail, seen.expected, seen.seen, seen.frame)
    return Ending("failed", "malformed", detail, finding)


def _of_refusal(refused: Refused) -> Ending:
    if refused.code == METHOD_NOT_FOUND and refused.method not in CORE_METHODS:
        return Ending("not-applicable", "not-claimed", f"the host does not know {refused.method}")
    code = "auth-required" if refused.code == AUTH_REQUIRED else "precondition-failed"
    return Ending("inconclusive", code, str(refused))


def _code(trouble: BaseException) -> str | None:
    """The reason code of what came instead of an answer; a Then that simply did not hold needs none."""
    if isinstance(trouble, Silent):
        return "timeout"
    return "host-closed" if isinstance(trouble, HostClosed) else None


def _finding(trouble: BaseException, obligations: Sequence[str]) -> Finding:
    if isinstance(trouble, Broken):
        narrowed = trouble.obligation
        broken = (narrowed,) if narrowed is not None and narrowed in obligations else tuple(obligations)
        return Finding("step", broken, trouble.message, shown(trouble.expected), shown(trouble.seen), trouble.frame)
    if isinstance(trouble, Silent):
        return Finding("step", tuple(obligations), str(trouble), trouble.awaited, "nothing", trouble.last)
    if isinstance(trouble, HostClosed):
        return Finding("step", tuple(obligations), str(trouble), trouble.awaited, f"close code {trouble.code}", None)
    if isinstance(trouble, Refused):
        return Finding(
            "step",
            tuple(obligations),
            str(trouble),
            f"a result of {trouble.method}",
            shown(trouble.error),
            trouble.frame,
        )
    raise TypeError(f"no finding can be made of {trouble!r}")
