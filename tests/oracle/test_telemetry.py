"""Telemetry: who is told of it, who gets it, and in what form."""

from __future__ import annotations

import pytest

from conformance.oracle import Oracle
from conformance.oracle.rules.telemetry import _matches

from .traces import JSON, Case, Cases, Trace, clean, found

telemetry = Cases("telemetry")

LOGS, TRACES = "ahp-otlp://logs", "ahp-otlp://traces"
OFFER = {"logs": "ahp-otlp://logs{?level}", "traces": TRACES}


def record(severity: JSON = 9, at: JSON = "1736870400000000000", **members: JSON) -> JSON:
    return {"timeUnixNano": at, "severityNumber": severity, "body": {"stringValue": "said"}, **members}


def batch(*records: JSON, name: str = "service.name") -> JSON:
    resource = {"attributes": [{"key": name, "value": {"stringValue": "host"}}]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": list(records or [record()])}]}]}


def spans(**members: JSON) -> JSON:
    span = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "kind": 1, **members}
    return {
        "resourceSpans": [{"resource": {"attributes": [{"key": "service.name"}]}, "scopeSpans": [{"spans": [span]}]}]
    }


def starts(t: Trace, offer: JSON = None, conns: str = "A") -> None:
    for conn in conns:
        t.handshake(conn, telemetry=OFFER if offer is None else offer)


def joins(t: Trace, channel: str = LOGS, conn: str = "A", result: JSON = None) -> None:
    t.call("subscribe", {} if result is None else result, conn, channel=channel)


def tells(t: Trace, payload: JSON = None, channel: str = LOGS, conn: str = "A", signal: str = "Logs") -> None:
    t.tell(f"otlp/export{signal}", conn, channel=channel, payload=batch() if payload is None else payload)


def test_who_was_there_before_the_recording_may_have_subscribed() -> None:
    t = Trace("0.9.0")
    tells(t)
    oracle = Oracle(assumed="0.9.0")
    for frame in t.frames:
        oracle.feed(frame)
    oracle.end()
    assert [f for f in oracle.findings if f.rule == "telemetry"] == []


@telemetry.good("AHP-OTLP-012")
def a_payload_with_a_note_of_the_host(t: Trace) -> None:
    starts(t)
    joins(t)
    tells(t, {**batch(), "_meta": {"from_host": True}})


@telemetry.good()
def who_may_not_see_telemetry(t: Trace) -> None:
    starts(t)
    t.error(t.ask("subscribe", channel=LOGS), -32009)


# -- what is advertised -------------------------------------------------------------------------------


@telemetry.bad("AHP-OTLP-001")
def no_signal_in_it(t: Trace) -> None:
    starts(t, {})


@telemetry.bad("AHP-OTLP-001", beside=("shapes",))
def a_signal_without_a_channel(t: Trace) -> None:
    starts(t, {"logs": ""})


@telemetry.bad("AHP-OTLP-002")
def a_channel_of_another_scheme(t: Trace) -> None:
    starts(t, {"logs": "https://collector.example/logs"})


@telemetry.bad("AHP-OTLP-002")
def traces_as_a_template(t: Trace) -> None:
    starts(t, {"traces": "ahp-otlp://traces{?level}"})


@telemetry.bad("AHP-OTLP-003")
def the_channel_cannot_be_had(t: Trace) -> None:
    starts(t)
    t.error(t.ask("subscribe", channel=f"{LOGS}?level=WARN"), -32602)


@telemetry.bad("AHP-OTLP-003", beside=("subscribing",))
def telemetry_with_a_snapshot(t: Trace) -> None:
    starts(t)
    joins(t, TRACES, result={"snapshot": t.snapshot(TRACES, {})})


@telemetry.good("AHP-OTLP-001", "AHP-OTLP-002", "AHP-OTLP-003")
def channels_as_they_should_be(t: Trace) -> None:
    starts(t, {"logs": "ahp-otlp://logs/{level}", "metrics": "ahp-otlp:metrics"})
    joins(t, f"{LOGS}/info")
    joins(t, "ahp-otlp:metrics")
    t.error(t.ask("subscribe", channel="ahp-otlp:metrics"), -32007, data={"resources": []})
    t.error(t.ask("subscribe", channel="ahp-otlp:other"), -32602)


@telemetry.good()
def no_telemetry_at_all(t: Trace) -> None:
    t.handshake()
    t.ping()


# -- who gets it --------------------------------------------------------------------------------------


@telemetry.bad("AHP-OTLP-004")
def spans_as_logs(t: Trace) -> None:
    starts(t)
    joins(t)
    tells(t, spans())


@telemetry.bad("AHP-OTLP-004")
def spans_on_the_channel_of_the_logs(t: Trace) -> None:
    starts(t)
    joins(t)
    tells(t, spans(), signal="Traces")


@telemetry.bad("AHP-OTLP-004")
def one_resource_in_place_of_many(t: Trace) -> None:
    starts(t)
    joins(t)
    tells(t, {"resourceLogs": {}})


@telemetry.bad("AHP-OTLP-005")
def under_the_template(t: Trace) -> None:
    starts(t)
    joins(t, f"{LOGS}?level=info")
    tells(t, channel="ahp-otlp://logs{?level}")


@telemetry.bad("AHP-OTLP-006")
def nobody_subscribed(t: Trace) -> None:
    starts(t)
    tells(t)


@telemetry.bad("AHP-OTLP-006")
def after_the_client_has_left(t: Trace) -> None:
    starts(t)
    joins(t)
    t.notify("unsubscribe", channel=LOGS)
    t.ping()
    tells(t)


@telemetry.bad("AHP-OTLP-007")
def the_past_is_told_again(t: Trace) -> None:
    starts(t, conns="AB")
    joins(t)
    tells(t)
    joins(t, conn="B")
    tells(t, conn="B")


@telemetry.good("AHP-OTLP-004", "AHP-OTLP-005", "AHP-OTLP-006", "AHP-OTLP-007", "AHP-OTLP-011", "AHP-OTLP-012")
def everybody_gets_what_is_due(t: Trace) -> None:
    starts(t, conns="ABC")
    joins(t)
    tells(t)
    joins(t, conn="B")
    tells(t, batch(record(at="1736870400000000001")), conn="B")
    joins(t, TRACES)
    tells(t, spans(parentSpanId="", traceId="0AF7651916CD43DD8448EB211C80319C"), TRACES, signal="Traces")
    tells(t, {}, TRACES, signal="Traces")
    t.notify("unsubscribe", channel=TRACES)
    tells(t, spans(name="on its way"), TRACES, signal="Traces")


@telemetry.good()
def a_batch_without_a_time_may_come_about_twice(t: Trace) -> None:
    starts(t, conns="AB")
    joins(t)
    tells(t, batch({"severityNumber": 9}))
    joins(t, conn="B")
    tells(t, batch({"severityNumber": 9}), conn="B")


@telemetry.good()
def one_channel_for_all_signals(t: Trace) -> None:
    starts(t, {"logs": LOGS, "traces": LOGS})
    joins(t)
    tells(t, spans(), signal="Traces")


@telemetry.good()
def between_request_and_answer(t: Trace) -> None:
    starts(t)
    identity = t.ask("subscribe", channel=LOGS)
    tells(t)
    t.result(identity, {})


@telemetry.good()
def a_recording_without_its_beginning(t: Trace) -> None:
    tells(t)


# -- what is in it ------------------------------------------------------------------------------------


@telemetry.bad("AHP-OTLP-008")
def below_the_level(t: Trace) -> None:
    starts(t)
    joins(t, f"{LOGS}?level=ERROR")
    tells(t, batch(record(17), record(13)), f"{LOGS}?level=ERROR")


@telemetry.good("AHP-OTLP-008")
def at_the_level_and_above(t: Trace) -> None:
    starts(t)
    joins(t, f"{LOGS}?level=Warn")
    tells(t, batch(record(13), record(21), record(0), record(None)), f"{LOGS}?level=Warn")


@telemetry.bad("AHP-OTLP-011")
def records_of_nobody(t: Trace) -> None:
    starts(t)
    joins(t)
    tells(t, batch(name="host.name"))


def _form(name: str, payload: JSON, signal: str = "Logs") -> None:
    def bad(t: Trace) -> None:
        starts(t, {"logs": LOGS, "traces": TRACES})
        joins(t, LOGS if signal == "Logs" else TRACES)
        tells(t, payload, LOGS if signal == "Logs" else TRACES, signal=signal)

    bad.__name__ = name
    telemetry.bad("AHP-OTLP-012")(bad)


_form("names_of_protobuf", batch(record(severity_text="INFO")))
_form("a_time_as_a_number", batch(record(at=1736870400000000000)))
_form("a_severity_by_name", batch(record("SEVERITY_NUMBER_INFO")))
_form("an_id_in_base64", spans(traceId="CvdlGRbNQ92ESOshHIAxnA=="), "Traces")
_form("a_kind_by_name", spans(kind="SPAN_KIND_INTERNAL"), "Traces")


@pytest.mark.parametrize(
    ("template", "channel", "expected"),
    [
        ("ahp-otlp://logs", "ahp-otlp://logs", True),
        ("ahp-otlp://logs", "ahp-otlp://logs?level=info", False),
        ("ahp-otlp://logs{?level}", "ahp-otlp://logs?level=Info", "info"),
        ("ahp-otlp://logs{?level}", "ahp-otlp://logs", True),
        ("ahp-otlp://logs/{level}", "ahp-otlp://logs/fatal", "fatal"),
        ("ahp-otlp://logs/{level}", "ahp-otlp://logs/loud", False),
        ("ahp-otlp://logs{?scope,level}", "ahp-otlp://logs?level=debug", "debug"),
        ("ahp-otlp://{host}/logs", "ahp-otlp:///logs", True),
        ("", "", False),
    ],
)
def test_what_a_template_expands_to(template: str, channel: str, expected: str | bool) -> None:
    assert _matches(template, channel) == expected


@found(telemetry)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(telemetry)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
