"""A small catalogue and runs over it, for the tests of the reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.catalogue import Catalogue, Obligation
from conformance.oracle.findings import Finding
from conformance.reporting.events import (
    HostInfo,
    Outcome,
    RunFinished,
    RunStarted,
    ScenarioFinished,
    ScenarioResult,
    ScenarioStarted,
)
from conformance.reporting.record import RunRecorder
from conformance.wire.frames import Frame

MUST = "AHP-SAMPLE-001"
MUST_NOT = "AHP-SAMPLE-002"
SHOULD = "AHP-SAMPLE-003"
MAY = "AHP-SAMPLE-004"
DERIVED = "AHP-SAMPLE-005"
LATER = "AHP-SAMPLE-006"
DEMANDED = "AHP-TOOLAUTH-022"
MCP = "AHP-SAMPLE-007"
SECOND = "AHP-SAMPLE-008"
MERGED = "AHP-SAMPLE-099"


def obligation(name: str, level: Any = "MUST", **members: Any) -> Obligation:
    defaults = {
        "theme": "sample",
        "subject": "host",
        "since": "0.6.0",
        "basis": "text",
        "force": "keyword",
        "statement": f"The host keeps rule {name[-3:]}.",
        "source": f"docs/specification/sample.md > Rule {name[-3:]}",
        "provocation": "wire",
        "observe": "Look.",
    }
    return Obligation(id=name, level=level, **{**defaults, **members})


CATALOGUE = Catalogue(
    {
        rule.id: rule
        for rule in (
            obligation(MUST),
            obligation(MUST_NOT, "MUST NOT"),
            obligation(SHOULD, "SHOULD"),
            obligation(MAY, "MAY"),
            obligation(DERIVED, force="derived"),
            obligation(LATER, since="0.9.0"),
            obligation(
                DEMANDED,
                "SHOULD",
                provocation="mcp-auth",
                statement="The host pairs each blocked call with an entry in the session's inputNeeded.",
                source="types/channels-chat/actions.ts > ChatToolCallAuthRequiredAction",
            ),
            obligation(MCP, provocation="mcp-auth"),
            obligation(SECOND),
        )
    },
    version="1.0.0",
    digest="0123456789abcdef",
    _aliases={MERGED: MUST},
)

HOST = HostInfo("endpoint", "ws://127.0.0.1:8123", "sample host", "1.2", "0.6.0", ("wire", "turn", "tool"))


def finding(*names: str, rule: str = "step", frame: int | None = None, **members: str) -> Finding:
    texts = {"message": "The entry is missing.", "expected": "one entry", "seen": "no entry", **members}
    return Finding(rule, names, frame=frame, **texts)


def result(name: str, *obligations: str, outcome: Outcome = "passed", **members: Any) -> ScenarioResult:
    if outcome == "failed":
        members.setdefault("findings", (finding(*obligations),))
    members.setdefault("title", f"Scenario {name}")
    members.setdefault("feature", "sample/rules")
    return ScenarioResult(f"sample/rules/{name}", obligations=obligations, outcome=outcome, **members)


def recorder(
    results: Iterable[ScenarioResult],
    *,
    tier: str = "core",
    protocol: str = "0.6.0",
    total: int | None = None,
    problem: str | None = None,
    host: HostInfo = HOST,
) -> RunRecorder:
    """A recorder that has seen a whole run with these results."""
    results = list(results)
    listener = RunRecorder()
    count = len(results) if total is None else total
    prefix = "ahp-conformance run ws://127.0.0.1:8123"
    listener.on(RunStarted("2026-01-02T03:04:05+00:00", host, protocol, tier, count, prefix))
    for item in results:
        listener.on(ScenarioStarted(item.id, item.title))
        listener.on(ScenarioFinished(item))
    listener.on(RunFinished(1.5, problem))
    return listener


def record(results: Iterable[ScenarioResult], **options: Any) -> dict[str, Any]:
    """The run record of these results."""
    own = ("covered", "occasional", "selection", "strict", "waivers")
    kept = {name: options.pop(name) for name in own if name in options}
    return recorder(results, **options).record(CATALOGUE, **kept)


def action(number: int, action_type: str, **members: Any) -> Frame:
    """An action that the host sent."""
    params = {"channel": "ahp-session:/s1", "serverSeq": number, "action": {"type": action_type, **members}}
    message = {"jsonrpc": "2.0", "method": "action", "params": params}
    return Frame(number, number / 100, "A", "in", msg=message)


def varied() -> list[ScenarioResult]:
    """One result of every kind, with the evidence that a real run has."""
    blocked = action(
        41,
        "session/inputNeededSet",
        request={
            "id": "r1",
            "kind": "toolConfirmation",
            "chat": "ahp-session:/s1/chats/c1",
            "turnId": "t1",
            "toolCall": {
                "toolCallId": "call-1",
                "toolName": "read_secret",
                "displayName": "Read a secret",
                "status": "running",
                "contributor": {"kind": "mcp", "customizationId": "vault"},
                "toolInput": '{"path":"' + "secret/" * 60 + '"}',
            },
        },
    )
    return [
        result("plain", MUST, watched=(SECOND,)),
        result(
            "blocked",
            DEMANDED,
            outcome="failed",
            title="The session lists the blocked call",
            feature="tool-auth/session-level",
            step="And the session's inputNeeded gains one toolAuthentication entry for that call",
            findings=(
                finding(
                    DEMANDED,
                    frame=41,
                    message="The session never listed call-1.",
                    expected="an entry of kind toolAuthentication whose toolCall is call-1",
                    seen="one entry, of kind toolConfirmation",
                ),
                finding(
                    MUST_NOT,
                    rule="delivery",
                    frame=44,
                    message="An action of a channel that connection B never subscribed to.",
                    expected="actions of ahp-root: alone",
                    seen="an action of ahp-session:/s1",
                ),
            ),
            frames=(blocked, action(44, "session/titleChanged", title="x\x1b[31mred\u202e")),
            transcript="transcripts/tool-auth-session-level-blocked.jsonl",
            duration=0.034,
        ),
        result(
            "warned",
            SHOULD,
            outcome="failed",
            title="A nice host does this",
            transcript="transcripts/w.jsonl",
        ),
        result("old", LATER, outcome="not-applicable", reason="version-window", detail="Exists since 0.9.0."),
        result(
            "agent",
            MCP,
            outcome="inconclusive",
            reason="backend-missing",
            detail="The host offers no provocation mcp-auth.",
        ),
        result("late", MAY, outcome="inconclusive", reason="timeout", detail="No answer to ping within 10 s."),
        result("crash", DERIVED, outcome="error", reason="suite", detail="KeyError: 'channel' in step 3"),
    ]
