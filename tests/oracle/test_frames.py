"""Single messages: text frames, JSON-RPC 2.0, and one answer to each request."""

from __future__ import annotations

from .traces import SESSION, Case, Cases, Trace, clean, found

form = Cases("message-form")
answers = Cases("answers")


# -- the form of messages -----------------------------------------------------------------------------


@form.bad("AHP-RPC-005")
def a_binary_frame(t: Trace) -> None:
    t.add("A", "in", raw="base64:e30=", kind="binary")


@form.bad("AHP-RPC-005")
def text_that_is_not_utf8(t: Trace) -> None:
    t.add("A", "in", raw="base64:/w==", kind="not-utf8")


@form.bad("AHP-RPC-006")
def two_messages_in_one_frame(t: Trace) -> None:
    t.add("A", "in", raw='{"jsonrpc":"2.0"}\n{"jsonrpc":"2.0"}', kind="text")


@form.bad("AHP-RPC-006")
def an_array_of_messages(t: Trace) -> None:
    t.handshake()
    t.into([{"jsonrpc": "2.0", "method": "root/sessionRemoved", "params": {}}])


@form.bad("AHP-RPC-006")
def a_method_that_is_no_string(t: Trace) -> None:
    t.into({"jsonrpc": "2.0", "method": 5, "params": {}})


@form.bad("AHP-RPC-004")
def no_jsonrpc_member(t: Trace) -> None:
    t.handshake()
    t.into({"method": "root/sessionRemoved", "params": {"channel": "ahp-root://", "session": SESSION}})


@form.bad("AHP-RPC-003")
def result_null_beside_an_error(t: Trace) -> None:
    identity = t.ask("listSessions")
    t.into({"jsonrpc": "2.0", "id": identity, "result": None, "error": {"code": -32603, "message": "no"}})


@form.bad("AHP-RPC-003")
def an_error_that_is_a_string(t: Trace) -> None:
    t.into({"jsonrpc": "2.0", "id": t.ask("listSessions"), "error": "no"})


@form.bad("AHP-RPC-003")
def an_error_code_that_is_text(t: Trace) -> None:
    t.error(t.ask("listSessions"), "-32603")


@form.bad("AHP-RPC-011")
def a_notification_without_channel(t: Trace) -> None:
    t.handshake()
    t.into({"jsonrpc": "2.0", "method": "root/sessionRemoved", "params": {"session": SESSION}})


@form.good("AHP-RPC-003", "AHP-RPC-004", "AHP-RPC-005", "AHP-RPC-006", "AHP-RPC-011")
def ordinary_messages(t: Trace) -> None:
    t.handshake()
    t.tell("root/sessionRemoved", session=SESSION)
    t.error(t.ask("disposeSession", channel=SESSION), -32001)
    t.close()


@form.good()
def a_forwarded_notification_names_its_channel_at_the_top(t: Trace) -> None:
    """AMB-42: where the channel of the side channel stands is told in two ways."""
    t.handshake()
    t.into({"jsonrpc": "2.0", "method": "notifications/message", "channel": "mcp://vault", "params": {"level": "info"}})


@form.good()
def a_request_of_the_host(t: Trace) -> None:
    t.handshake()
    t.into({"jsonrpc": "2.0", "id": 1, "method": "resourceRead", "params": {"channel": "ahp-root://", "uri": "x:/"}})
    t.out({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}})


# -- answers ------------------------------------------------------------------------------------------


@answers.bad("AHP-RPC-001")
def one_request_is_answered_twice(t: Trace) -> None:
    t.handshake()
    identity = t.ask("ping")
    t.result(identity)
    t.result(identity)


@answers.bad("AHP-RPC-001")
def a_request_for_an_unknown_method_is_dropped(t: Trace) -> None:
    t.handshake()
    t.ask("x-nobody/knows")
    t.ping()


@answers.bad("AHP-RPC-022")
def an_id_becomes_a_string(t: Trace) -> None:
    t.result(str(t.ask("createSession", channel=SESSION)))


@answers.bad("AHP-RPC-022")
def a_result_without_an_id(t: Trace) -> None:
    t.ask("createSession", channel=SESSION)
    t.into({"jsonrpc": "2.0", "id": None, "result": None})


@answers.bad("AHP-RPC-022")
def an_error_without_an_id_though_all_was_readable(t: Trace) -> None:
    t.ask("createSession", channel=SESSION)
    t.error(None, -32700)


@answers.bad("AHP-RPC-002", "AHP-RPC-022")
def a_notification_is_answered(t: Trace) -> None:
    t.handshake()
    t.notify("unsubscribe", channel=SESSION)
    identity = t.ask("ping")
    t.into({"jsonrpc": "2.0", "id": None, "result": None})
    t.result(identity)


@answers.good("AHP-RPC-001", "AHP-RPC-002", "AHP-RPC-022")
def answers_in_another_order(t: Trace) -> None:
    """Work takes its time: what was asked later may be answered first."""
    t.handshake()
    slow, quick = t.ask("createSession", channel=SESSION), t.ask("ping")
    t.result(quick)
    t.result(slow)


@answers.good()
def a_slow_request_is_still_open_at_the_end(t: Trace) -> None:
    t.handshake()
    t.ask("authenticate", resource="https://vault.example", token="a-long-token")
    t.ping()


@answers.good()
def the_connection_closes_on_an_open_request(t: Trace) -> None:
    t.handshake()
    t.ask("x-nobody/knows")
    t.ping()
    t.close()


@answers.good(settled=False)
def nothing_is_concluded_from_silence_before_a_fence(t: Trace) -> None:
    t.ask("x-nobody/knows")
    t.ping()


@answers.good("AHP-RPC-022")
def a_number_is_a_number(t: Trace) -> None:
    t.result(float(t.ask("ping")))


@answers.good("AHP-RPC-001")
def an_id_is_used_again_for_another_request(t: Trace) -> None:
    t.handshake()
    for _ in range(2):
        t.out({"jsonrpc": "2.0", "id": "again", "method": "ping", "params": {"channel": "ahp-root://"}})
        t.result("again")


@answers.good()
def unreadable_text_is_answered_without_an_id(t: Trace) -> None:
    """A-30: what could not be read has no id to answer under."""
    t.handshake()
    t.add("A", "out", raw="{", kind="text")
    t.error(None, -32700)
    t.into({"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}})


@answers.good()
def a_host_reads_what_the_suite_cannot(t: Trace) -> None:
    t.add("A", "out", raw='{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', kind="text")
    t.result(7)


@answers.good()
def a_message_with_an_id_and_no_method_is_refused_under_it(t: Trace) -> None:
    t.handshake()
    t.out({"jsonrpc": "2.0", "id": 700})
    t.error(700, -32600)


@answers.good()
def a_batch_is_refused_or_answered_one_by_one(t: Trace) -> None:
    batch = [{"jsonrpc": "2.0", "id": n, "method": "ping", "params": {"channel": "ahp-root://"}} for n in (70, 71)]
    t.out(batch)
    t.error(None, -32600)
    t.out(batch)
    t.result(70)
    t.result(71)


@answers.good()
def an_id_of_an_odd_type_comes_back_as_it_is(t: Trace) -> None:
    for odd in (True, 1.5, {"a": 1}):
        t.out({"jsonrpc": "2.0", "id": odd, "method": "ping", "params": {"channel": "ahp-root://"}})
        t.into({"jsonrpc": "2.0", "id": odd, "error": {"code": -32600, "message": "no"}})


@answers.good()
def a_request_without_jsonrpc_is_refused_without_an_id(t: Trace) -> None:
    t.out({"id": 5, "method": "ping", "params": {"channel": "ahp-root://"}})
    t.error(None, -32600)


@found(form, answers)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(form, answers)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
