"""Telemetry: what is advertised, who gets it, and that it is OTLP/JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Notification, Reply, Request

SIGNALS = {
    "otlp/exportLogs": ("logs", "resourceLogs"),
    "otlp/exportTraces": ("traces", "resourceSpans"),
    "otlp/exportMetrics": ("metrics", "resourceMetrics"),
}
LEVELS = {"trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21}
# Attributes that relate telemetry to what AHP knows (docs/specification/telemetry-channel.md, Correlation).
_CORRELATION = (b'"service.name"', b'"ahp.session.id"', b'"ahp.turn.id"', b'"ahp.tool_call.id"')

_EXPRESSION = re.compile(r"\{([?&/;.+#]?)([^{}]*)\}")
_TIMED = re.compile(rb'imeUnixNano":"?[1-9]')
_ID_LENGTHS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
_HEX = re.compile(r"[0-9a-fA-F]*")
_ENUMS = frozenset({"severityNumber", "kind", "code", "aggregationTemporality"})
_DEEPEST = 40
_UNSUBSCRIBED = "nothing without a subscription"


class Telemetry(Rule):
    """Telemetry goes to those who subscribed, from then on, under the URI of their subscription."""

    name = "telemetry"
    obligations = (
        "AHP-OTLP-001",
        "AHP-OTLP-002",
        "AHP-OTLP-003",
        "AHP-OTLP-004",
        "AHP-OTLP-005",
        "AHP-OTLP-006",
        "AHP-OTLP-007",
        "AHP-OTLP-008",
        "AHP-OTLP-011",
        "AHP-OTLP-012",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection: what its host advertises, and the frames of its requests to subscribe.
        self._offered: Bounded[str, dict[str, str]] = Bounded()
        self._asked: Bounded[tuple[str, str], int] = Bounded()
        # Per connection: the last request that was answered.
        self._answered: Bounded[str, int] = Bounded()
        # Batches by their content, with the frame in which they came first.
        self._batches: Bounded[int, int] = Bounded()
        self._records: int | None = None
        self._correlated = False

    # -- what clients ask -----------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        if request.method == "subscribe":
            self._asks(request, [member(request.params, "channel")])
        elif request.method == "initialize":
            self._asks(request, member(request.params, "initialSubscriptions"))
        elif request.method == "reconnect":
            self._asks(request, member(request.params, "subscriptions"))

    def _asks(self, request: Request, channels: Any) -> None:
        for channel in texts(channels):
            if channel.startswith("ahp-otlp:"):
                self._asked[(request.conn, channel)] = request.frame.n

    def reply(self, reply: Reply) -> None:
        if reply.request is None:
            return
        self._answered[reply.conn] = max(self._answered.get(reply.conn, -1), reply.request.frame.n)
        if reply.request.method == "initialize" and not reply.failed:
            self._advertised(reply)
        elif reply.request.method == "subscribe":
            self._subscribed(reply, text(member(reply.request.params, "channel")))

    def _advertised(self, reply: Reply) -> None:
        offered = member(reply.result, "telemetry")
        if not isinstance(offered, dict) or self.version(reply.conn) is None:
            return
        self.watch("AHP-OTLP-001", "AHP-OTLP-002")
        signals = {name: offered[name] for name in ("logs", "traces", "metrics") if offered.get(name) is not None}
        uris = {name: uri for name, uri in signals.items() if isinstance(uri, str)}
        if not signals or "" in uris.values():
            self._find("AHP-OTLP-001", "telemetry is there, and no signal in it", "a URI, or no telemetry", reply)
        wrong = {name: uri for name, uri in uris.items() if uri and not _is_channel(name, uri)}
        if wrong:
            self._find("AHP-OTLP-002", "what is advertised is no telemetry channel", "ahp-otlp: URIs", reply)
        self._offered[reply.conn] = uris

    def _subscribed(self, reply: Reply, channel: str | None) -> None:
        offered = self._offered.get(reply.conn, {})
        if channel is None or not any(_matches(template, channel) for template in offered.values()):
            return
        # Whoever has to authenticate first, or may not see it, is told so.
        if reply.failed and whole(member(reply.error, "code")) in (-32007, -32009):
            return
        self.watch("AHP-OTLP-003")
        if reply.failed:
            self._find("AHP-OTLP-003", "an advertised channel cannot be subscribed to", "an empty result", reply)
        elif member(reply.result, "snapshot") is not None:
            self._find("AHP-OTLP-003", "a telemetry channel has a snapshot", "an empty result", reply)

    def _find(self, obligation: str, message: str, expected: str, reply: Reply) -> None:
        seen = reply.error if reply.failed else reply.result
        if isinstance(seen, dict) and "telemetry" in seen:
            seen = {"telemetry": seen["telemetry"]}
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)

    # -- what the host tells --------------------------------------------------------------------------

    def notification(self, notification: Notification) -> None:
        signal = SIGNALS.get(notification.method)
        if signal is None or self.version(notification.conn) is None:
            return
        payload = notification.params.get("payload")
        if self.tracker.connection(notification.conn).greeted:
            # Who was connected before the recording began may have subscribed then.
            self._addressed(notification, signal[0])
        if isinstance(payload, dict):
            self._payload(notification, payload, signal[1])

    def _addressed(self, notification: Notification, signal: str) -> None:
        conn, channel = notification.conn, text(notification.params.get("channel"))
        mine = self._channels(conn)
        for other in self.tracker.connections.values():
            if other.name != conn and other.fed and other.version is not None and not self._channels(other.name):
                self.watch("AHP-OTLP-006")
        if not mine:
            self._uncalled(notification, channel)
            return
        self.watch("AHP-OTLP-005")
        offered = self._offered.get(conn, {})
        if channel not in mine:
            if channel is not None and self._on_its_way(conn, channel):
                return
            self._say(
                "AHP-OTLP-005", "a batch under another URI than that of a subscription", sorted(mine), notification
            )
        elif offered and not _matches(offered.get(signal, ""), channel) and _is_offered(offered, channel):
            self._say("AHP-OTLP-004", f"{notification.method} on the channel of another signal", signal, notification)

    def _channels(self, conn: str) -> list[str]:
        """The telemetry channels that a connection has asked for and not left."""
        offered = self._offered.get(conn, {}).values()
        asked = self.tracker.connection(conn).asked
        return [channel for channel in asked if channel.startswith("ahp-otlp:") or channel in offered]

    def _uncalled(self, notification: Notification, channel: str | None) -> None:
        if channel is None or not self._on_its_way(notification.conn, channel):
            self._say("AHP-OTLP-006", "telemetry for a client that did not subscribe", _UNSUBSCRIBED, notification)

    def _on_its_way(self, conn: str, channel: str) -> bool:
        """Whether a batch may have been sent before the host took in that the client has left the channel."""
        left = self.tracker.connection(conn).left.get(channel)
        return left is not None and self._answered.get(conn, -1) < left

    def _payload(self, notification: Notification, payload: dict[str, Any], name: str) -> None:
        self.watch("AHP-OTLP-004", "AHP-OTLP-012")
        others = {array for _, array in SIGNALS.values()} - {name}
        if name in payload and not isinstance(payload[name], list):
            self._say("AHP-OTLP-004", f"{name} is no array", f"an array {name}", notification)
        elif name not in payload and others & payload.keys():
            self._say("AHP-OTLP-004", "the payload of another signal", f"an array {name}", notification)
        wrong = next(_not_otlp(payload), None)
        if wrong is not None:
            self._say("AHP-OTLP-012", f"the payload is not OTLP/JSON: {wrong}", "OTLP/JSON", notification)
        if dicts(payload.get(name)):
            self._again(notification, payload)
        if name == "resourceLogs":
            self._levels(notification, payload)

    def _again(self, notification: Notification, payload: dict[str, Any]) -> None:
        """A batch that somebody had before this subscription was asked for does not come to it."""
        try:
            content = orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            return
        if self._records is None:
            self._records = notification.frame.n
        self._correlated = self._correlated or any(name in content for name in _CORRELATION)
        asked = self._asked.get((notification.conn, text(notification.params.get("channel")) or ""))
        key = hash(content)
        first = self._batches.setdefault(key, notification.frame.n)
        if asked is None or not self._batches or next(iter(self._batches.values())) > asked:
            return
        self.watch("AHP-OTLP-007")
        # Only a batch with a time in it is one that cannot have come about twice.
        if first < asked and _TIMED.search(content):
            self._say("AHP-OTLP-007", "a batch of before the subscription is delivered", "none of before", notification)

    def _levels(self, notification: Notification, payload: dict[str, Any]) -> None:
        channel = text(notification.params.get("channel")) or ""
        template = self._offered.get(notification.conn, {}).get("logs", "")
        level = _matches(template, channel)
        if not isinstance(level, str):
            return
        least = LEVELS[level]
        numbers = [whole(record.get("severityNumber")) for record in _records(payload)]
        # 0 is a severity that was not told.
        told = [number for number in numbers if number]
        if told and least > 1:
            self.watch("AHP-OTLP-008")
        if any(number < least for number in told):
            self._say("AHP-OTLP-008", "records below the level of the subscription", f"{least} or more", notification)

    def _say(self, obligation: str, message: str, expected: Any, notification: Notification) -> None:
        self.find(obligation, message, expected=expected, seen=notification.params, frame=notification.frame.n)

    def end(self) -> None:
        if self._records is None:
            return
        self.watch("AHP-OTLP-011")
        if not self._correlated:
            self.find(
                "AHP-OTLP-011",
                "no record names a service, a session, a turn or a tool call",
                expected="standard attributes such as service.name or ahp.session.id",
                seen="none in any batch",
                frame=self._records,
            )


def _is_channel(signal: str, uri: str) -> bool:
    """Whether a URI, or in the case of logs a template, leads to a telemetry channel."""
    if signal == "logs":
        uri = _EXPRESSION.sub("", uri)
    return uri.startswith("ahp-otlp:") and "{" not in uri and "}" not in uri


def _is_offered(offered: dict[str, str], channel: str) -> bool:
    return any(_matches(template, channel) for template in offered.values())


def _matches(template: str, channel: str) -> str | bool:
    """Whether a channel is what a template expands to, and then the level, where there is one (RFC 6570)."""
    if "{" not in template:
        return bool(template) and template == channel
    pattern, end = "", 0
    for found in _EXPRESSION.finditer(template):
        pattern += re.escape(template[end : found.start()])
        end = found.end()
        operator, names = found[1], found[2].split(",")
        if "level" in names and "(?P<level>" not in pattern:
            before = {"?": r"\?level=", "&": "&level=", "/": "/", ";": ";level=", ".": r"\.", "#": "#"}.get(
                operator, ""
            )
            # Without a level the whole expression goes.
            pattern += f"(?:{before}(?P<level>[A-Za-z]+))?"
    found_whole = re.fullmatch(pattern + re.escape(template[end:]), channel)
    if found_whole is None:
        return False
    level = (found_whole.groupdict().get("level") or "").lower()
    return level if level in LEVELS else not level


def _records(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in dicts(payload.get("resourceLogs")):
        for scope in dicts(resource.get("scopeLogs")):
            yield from dicts(scope.get("logRecords"))


def _not_otlp(value: Any, depth: int = 0) -> Iterator[str]:
    """What departs from OTLP/JSON in a payload, in words. OTLP has no members of free names."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _not_otlp(part, depth + 1)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key.startswith("_"):
                # An addition such as _meta, and none of OTLP.
                continue
            if "_" in key:
                yield f"a member {key}"
            # The nanoseconds of today are beyond what a JSON number keeps.
            elif key.endswith("imeUnixNano") and whole(part):
                yield f"{key} is a number"
            elif key in _ENUMS and isinstance(part, str):
                yield f"{key} is the name {part}"
            elif key in _ID_LENGTHS and isinstance(part, str) and not _is_hex(part, _ID_LENGTHS[key]):
                yield f"{key} is not in hexadecimal"
            yield from _not_otlp(part, depth + 1)


def _is_hex(identity: str, length: int) -> bool:
    return not identity or (len(identity) == length and _HEX.fullmatch(identity) is not None)
