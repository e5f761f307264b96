"""The schemas: what they take, what they refuse, how they say it, and what they know."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.protocol import (
    ACTIONS,
    ERROR_CODES,
    METHODS,
    TOOL_CALL_STATUSES,
    VERSIONS,
    Violation,
    action_violations,
    actions_of,
    error_data_violations,
    params_violations,
    result_violations,
    state_violations,
    type_names,
    violations,
)
from conformance.protocol.validation import MOST_VIOLATIONS

from . import examples
from .reference import TRANSCRIPTS, fixture_names, fixtures, round_trips


def texts(found: list[Violation]) -> list[str]:
    return [str(violation) for violation in found]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_action_and_method_has_its_types(version: str) -> None:
    names = type_names(version)
    assert {name for name in names if "/" in name} == actions_of(version)
    for method in METHODS.values():
        if method.window.contains(version):
            assert method.params_type in names, method.name
            assert method.result_type is None or method.result_type in names, method.name
    for code in ERROR_CODES.values():
        assert code.data_type is None or code.data_type in names


def test_a_type_that_the_version_lacks_is_an_error_of_the_caller() -> None:
    with pytest.raises(LookupError, match=r"AHP 0\.6\.0 has no type 'ErrorResponsePart'"):
        violations("0.6.0", "ErrorResponsePart", {})
    with pytest.raises(ValueError, match="not a protocol version"):
        violations("six", "Turn", {})


def test_a_patch_release_has_the_schema_of_its_line() -> None:
    assert type_names("0.9.4") == type_names("0.9.0")
    assert type_names("1.4.0") == type_names("1.0.0")


# Real values


@pytest.mark.parametrize("name", fixture_names())
def test_fixture_states_and_actions_are_legal(name: str) -> None:
    fixture = fixtures()[name]
    for state in (fixture["initial"], fixture["expected"]):
        assert texts(state_violations("0.6.0", fixture["reducer"], state)) == []
    for action in fixture["actions"]:
        found = action_violations("0.6.0", action)
        if action["type"] in ACTIONS:
            assert texts(found) == []
        else:
            assert [violation.path for violation in found] == ["$.type"]


# The kinds of the fixtures' types that are unions without a name here.
JSON_RPC = ("JsonRpcRequest", "JsonRpcNotification", "JsonRpcSuccessResponse", "JsonRpcErrorResponse")
ROUND_TRIPS = {"JsonRpcMessage": JSON_RPC, "PartialSessionSummary": ("SessionSummaryChanges",)}
# What a codec must bring back and a host must not send.
NOT_LEGAL = {
    "002-state-action-unknown-variant-preserved": "an action that no version has",
    "017-unknown-wire-keys-ignored": "a status without an activity",
}


@pytest.mark.parametrize("name", sorted(round_trips()))
def test_values_of_the_codecs_are_legal(name: str) -> None:
    entry = round_trips()[name]
    types = ROUND_TRIPS.get(entry["type"], (entry["type"],))
    for value in (entry["input"], *entry["acceptableOutputs"]):
        taken = [type_name for type_name in types if not violations("0.6.0", type_name, value)]
        assert len(taken) == (0 if name in NOT_LEGAL else 1), value


# Where a real host departs, and nowhere else: it sends the path of a directory where the type has a URI.
DEPARTURES = {("terminal/cwdChanged", "$.action.cwd"), ("subscribe", "$.snapshot.state.cwd")}


@pytest.mark.skipif(TRANSCRIPTS is None, reason="no transcripts beside the checkout")
@pytest.mark.parametrize(("folder", "version"), [("vscode-4.133.0", "0.8.0"), ("vscode-4.139.1", "0.9.0")])
def test_what_a_real_host_sends_is_legal(folder: str, version: str) -> None:
    assert TRANSCRIPTS is not None
    asked: dict[tuple[str, str], str] = {}
    departures = set()
    for path in sorted((TRANSCRIPTS / folder).glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            entry = json.loads(line)
            message = entry["msg"]
            if not isinstance(message, dict) or entry["dir"] == "note":
                continue
            if entry["dir"] == "c2s":
                if "id" in message and "method" in message:
                    asked[path.name + entry["conn"], str(message["id"])] = message["method"]
                continue
            method = message.get("method") or asked.get((path.name + entry["conn"], str(message["id"])), "")
            if "params" in message:
                found = params_violations(version, method, message["params"])
                method = message["params"].get("action", {}).get("type", method)
            elif "result" in message:
                found = result_violations(version, method, message["result"])
            else:
                error = message["error"]
                found = error_data_violations(version, error["code"], error.get("data"))
            departures |= {(method, violation.path) for violation in found}
    assert departures == DEPARTURES


# Statuses of a call, requests of a session


@pytest.mark.parametrize("contributor", ["mcp", "client", None])
@pytest.mark.parametrize("status", TOOL_CALL_STATUSES)
def test_every_status_of_a_call(status: str, contributor: str | None) -> None:
    found = violations("0.6.0", "ToolCallState", examples.call(status, contributor))
    if status != "auth-required" or contributor == "mcp":
        assert texts(found) == []
    else:
        assert found
        assert all(violation.path.startswith("$") for violation in found)


def test_a_blocked_call_must_say_what_it_waits_for() -> None:
    call = examples.call("auth-required")
    del call["auth"]
    assert texts(violations("0.6.0", "ToolCallState", call)) == ["$: member 'auth' is missing"]


@pytest.mark.parametrize("kind", ["chatInput", "toolConfirmation", "toolClientExecution", "toolAuthentication"])
@pytest.mark.parametrize("version", VERSIONS)
def test_every_kind_of_request(version: str, kind: str) -> None:
    assert texts(violations(version, "SessionInputRequest", examples.request("x", kind))) == []


def test_a_request_holds_a_call_in_the_status_of_its_kind() -> None:
    request = examples.request("x", "toolAuthentication") | {"toolCall": examples.call("running")}
    assert texts(violations("0.6.0", "SessionInputRequest", request)) == [
        '$.toolCall.status: expected "auth-required", found "running"'
    ]


def test_a_client_execution_is_a_running_call_since_0_9_0() -> None:
    request = examples.request("x", "toolClientExecution") | {"toolCall": examples.call("streaming", "client")}
    assert not violations("0.8.0", "SessionInputRequest", request)
    assert violations("0.9.0", "SessionInputRequest", request)


def test_an_unknown_kind_of_request_is_refused() -> None:
    assert violations("0.6.0", "SessionInputRequest", {"id": "x", "chat": examples.CHAT, "kind": "mindReading"})


def test_input_needed_is_absent_empty_or_a_list_of_requests() -> None:
    assert not state_violations("0.6.0", "session", examples.session(inputNeeded=[]))
    assert state_violations("0.6.0", "session", examples.session(inputNeeded=["x"]))
    waiting = examples.session(inputNeeded=[examples.request("x", "toolAuthentication")], status=24)
    assert not state_violations("0.6.0", "session", waiting)


def test_a_session_is_legal_and_misses_nothing() -> None:
    state = examples.session()
    assert texts(state_violations("0.6.0", "session", state)) == []
    for member in ("provider", "title", "status", "lifecycle", "activeClients", "chats"):
        short = {name: value for name, value in state.items() if name != member}
        assert texts(state_violations("0.6.0", "session", short)) == [f"$: member '{member}' is missing"]


@pytest.mark.parametrize("status", [33, 40, 56, 65, 97, 1 + 128])
def test_combined_status_bits_are_legal(status: int) -> None:
    assert not state_violations("0.6.0", "session", examples.session(status=status))


@pytest.mark.parametrize("status", [0, 3, 26, 64])
def test_a_status_without_exactly_one_activity_is_not(status: int) -> None:
    (found,) = state_violations("0.6.0", "session", examples.session(status=status))
    assert found.path == "$.status"
    assert "which is none of Idle (1), Error (2), InProgress (8), InputNeeded (24)" in found.message


@pytest.mark.parametrize("status", [True, "1", 1.5, None, -1])
def test_a_status_is_a_number_of_bits(status: Any) -> None:
    assert state_violations("0.6.0", "session", examples.session(status=status))


def test_unknown_members_and_kinds_are_tolerated() -> None:
    state = examples.chat({"kind": "hologram", "depth": 3}) | {"weather": "fine"}
    assert not state_violations("0.6.0", "chat", state)
    odd = examples.session(customizations=[{"type": "telepathy", "strength": 9}])
    assert not state_violations("0.6.0", "session", odd)


def test_null_is_not_absence() -> None:
    assert texts(state_violations("0.6.0", "session", examples.session(activity=None))) == [
        "$.activity: expected string, found null"
    ]


@pytest.mark.parametrize(
    "action",
    [
        {"type": "session/activityChanged"},
        {"type": "session/metaChanged"},
        {"type": "session/changesetsChanged"},
        {"type": "changeset/operationsChanged"},
        {"type": "chat/truncated"},
        {"type": "chat/draftChanged"},
    ],
)
def test_absence_that_means_clearing_is_legal(action: dict[str, Any]) -> None:
    assert not action_violations("0.6.0", action)


def test_an_unknown_action_is_a_violation() -> None:
    assert texts(action_violations("0.8.0", {"type": "chat/turnResume", "turnId": "t"})) == [
        '$.type: AHP 0.8.0 has no action "chat/turnResume"'
    ]
    envelope = {"channel": examples.CHAT, "serverSeq": 1, "action": {"type": "chat/unheardOf"}}
    assert [violation.path for violation in params_violations("0.8.0", "action", envelope)] == ["$.action.type"]


@pytest.mark.parametrize("action", [None, [], "x", {}, {"type": 3}])
def test_what_is_no_action_is_a_violation(action: Any) -> None:
    assert action_violations("0.6.0", action)


def test_an_envelope_needs_no_origin_but_no_null_either() -> None:
    envelope: dict[str, Any] = {
        "channel": examples.CHAT,
        "serverSeq": 1,
        "action": {"type": "chat/turnComplete", "turnId": "t", "duration": 1},
    }
    assert not params_violations("0.6.0", "action", envelope)
    assert texts(params_violations("0.6.0", "action", envelope | {"origin": None})) == [
        "$.origin: expected object, found null"
    ]


# From version to version

SAME_MEMBER_OTHER_VERSION: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    # method or action, the version of the change, what is legal before, what is legal since
    (
        "auth/required",
        "0.8.0",
        {"channel": "ahp-root://", "resource": "https://r"},
        {"channel": "ahp-root://", "resource": {"resource": "https://r"}},
    ),
    (
        "session/customizationToggled",
        "0.8.0",
        {"id": "x", "enabled": True},
        {"id": "x", "enablement": [{"kind": "global", "enabled": True}]},
    ),
    (
        "chat/error",
        "0.9.0",
        {"turnId": "t", "duration": 1, "error": {"errorType": "e", "message": "m"}},
        {
            "turnId": "t",
            "duration": 1,
            "part": {"kind": "error", "error": {"errorType": "e", "message": "m"}},
        },
    ),
    (
        "createChat",
        "0.7.0",
        {
            "channel": "ahp-session:/s",
            "chat": "ahp-chat:/c",
            "source": {"chat": "ahp-chat:/d", "turnId": "t"},
        },
        {
            "channel": "ahp-session:/s",
            "chat": "ahp-chat:/c",
            "source": {"kind": "fork", "chat": "ahp-chat:/d", "turnId": "t"},
        },
    ),
]


@pytest.mark.parametrize(("name", "change", "before", "since"), SAME_MEMBER_OTHER_VERSION)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_member_changes_its_shape(
    version: str, name: str, change: str, before: dict[str, Any], since: dict[str, Any]
) -> None:
    def found(payload: dict[str, Any]) -> list[Violation]:
        if name in METHODS:
            return params_violations(version, name, payload)
        return action_violations(version, {"type": name} | payload)

    assert not found(since if version >= change else before)
    # A new member is unknown and so tolerated in an old version; a missing one is not.
    if version >= change and name != "createChat":
        assert found(before)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_name_of_the_failed_lifecycle(version: str) -> None:
    for name, is_legal in (("creationFailed", version < "0.9.0"), ("failed", version >= "0.9.0")):
        assert (not state_violations(version, "session", examples.session(lifecycle=name))) is is_legal


def test_tool_input_may_be_a_reference_since_0_7_0() -> None:
    call = examples.call("running") | {"toolInput": {"uri": "ahp-content:/1"}}
    assert texts(violations("0.6.0", "ToolCallState", call)) == [
        "$.toolInput: expected string, found an object with 'uri'"
    ]
    assert not violations("0.7.0", "ToolCallState", call)
    assert texts(violations("0.7.0", "ToolCallState", call | {"toolInput": 3})) == [
        "$.toolInput: expected string or ContentRef, found 3"
    ]


def test_a_token_lifetime_is_a_positive_integer_since_1_0_0() -> None:
    params = {"channel": "ahp-root://", "resource": "https://r", "token": "t", "expiresIn": 0}
    assert not params_violations("0.9.0", "authenticate", params)
    assert texts(params_violations("1.0.0", "authenticate", params)) == ["$.expiresIn: expected 1 or more, found 0"]


# Snapshots, results, errors


def snapshot(uri: str, state: Any) -> dict[str, Any]:
    return {"snapshot": {"resource": uri, "state": state, "fromSeq": 0}}


@pytest.mark.parametrize("uri", ["ahp-chat:/c1", "own-scheme:/c1"])
def test_a_snapshot_has_the_state_of_its_channel(uri: str) -> None:
    assert not result_violations("0.6.0", "subscribe", snapshot(uri, examples.chat()))
    broken = examples.chat()
    del broken["title"]
    assert texts(result_violations("0.6.0", "subscribe", snapshot(uri, broken))) == [
        "$.snapshot.state: member 'title' is missing"
    ]


def test_a_uri_says_more_than_the_members() -> None:
    assert result_violations("0.6.0", "subscribe", snapshot("ahp-session:/s", examples.chat()))
    assert not result_violations("0.6.0", "subscribe", snapshot("ahp-session:/s/annotations", {"annotations": []}))
    assert not result_violations("0.6.0", "subscribe", snapshot("ahp-session:/s", examples.session()))


def test_results_that_are_null_or_empty() -> None:
    assert not result_violations("0.6.0", "ping", None)
    assert texts(result_violations("0.6.0", "ping", {})) == ["$: expected null, found an object with no members"]
    assert not result_violations("0.6.0", "authenticate", {})
    assert texts(result_violations("0.6.0", "authenticate", None)) == ["$: expected object, found null"]


def test_unknown_methods_are_free() -> None:
    assert not result_violations("0.6.0", "x-own", 3)
    assert not params_violations("0.6.0", "x-own", 3)


def test_both_outcomes_of_a_reconnect() -> None:
    assert not result_violations("0.6.0", "reconnect", {"type": "replay", "actions": [], "missing": []})
    assert not result_violations("0.6.0", "reconnect", {"type": "snapshot", "snapshots": []})
    assert texts(result_violations("0.6.0", "reconnect", {"type": "replay", "actions": []})) == [
        "$: member 'missing' is missing"
    ]


def test_a_refusal_for_lack_of_a_token_names_the_resources() -> None:
    assert texts(error_data_violations("0.6.0", -32007)) == [
        "$: AuthRequired (-32007) must carry data of type AuthRequiredErrorData"
    ]
    assert error_data_violations("0.6.0", -32007, {})
    assert not error_data_violations("0.6.0", -32007, {"resources": [{"resource": "https://r"}]})


def test_supported_versions_are_required_since_1_0_0() -> None:
    assert not error_data_violations("0.9.0", -32005)
    assert error_data_violations("1.0.0", -32005)
    assert not error_data_violations("1.0.0", -32005, {"supportedVersions": ["^1.0.0", "0.9.0"]})
    assert not error_data_violations("1.0.0", -32601, "anything")


def test_envelopes_of_json_rpc() -> None:
    good: list[tuple[str, dict[str, Any]]] = [
        ("JsonRpcRequest", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}),
        ("JsonRpcNotification", {"jsonrpc": "2.0", "method": "action"}),
        ("JsonRpcSuccessResponse", {"jsonrpc": "2.0", "id": 1, "result": None}),
        ("JsonRpcErrorResponse", {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}}),
    ]
    for name, message in good:
        assert not violations("0.6.0", name, message)
        assert violations("0.6.0", name, message | {"jsonrpc": "1.0"})
        assert violations("0.6.0", name, {key: value for key, value in message.items() if key != "jsonrpc"})
    assert violations("0.6.0", "JsonRpcSuccessResponse", {"jsonrpc": "2.0", "id": 1})
    assert violations("0.6.0", "JsonRpcSuccessResponse", good[2][1] | {"error": {"code": 1, "message": "m"}})


# Explanations


def test_paths_lead_to_the_place() -> None:
    state = examples.chat()
    state["activeTurn"]["responseParts"][0]["content"] = 3
    (found,) = state_violations("0.6.0", "chat", state)
    assert found == Violation("$.activeTurn.responseParts[0].content", "expected string, found 3")
    answers = {"id": "q", "answers": {"odd key": {"state": "draft"}}}
    (found,) = violations("0.6.0", "ChatInputRequest", answers)
    assert found.path == '$.answers["odd key"]'


def test_explanations_are_short_and_few() -> None:
    many = [{"id": "x" * 1000, "state": "y" * 1_000_000} for _ in range(500)]
    found = action_violations("0.6.0", {"type": "chat/turnsLoaded", "turns": many})
    assert 0 < len(found) <= MOST_VIOLATIONS
    assert all(len(violation.message) < 200 for violation in found)


def test_a_large_value_is_explained_too() -> None:
    state = examples.chat()
    state["turns"] = [{**state["turns"][0], "id": f"turn-{number}"} for number in range(5000)]
    assert not state_violations("0.6.0", "chat", state)
    state["turns"][4000]["state"] = "paused"
    (found,) = state_violations("0.6.0", "chat", state)
    assert found.path == "$.turns[4000].state"


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"type": "array", "title": "t", "items": value} if value else {"type": "array", "title": "t"}
    return value


@pytest.mark.parametrize("odd", ["\ud800", {"\ud800": 1}, 10**400, float("nan"), deep(3000)])
def test_odd_values_never_raise(odd: Any) -> None:
    found = violations("0.6.0", "ErrorInfo", {"errorType": odd, "message": "m", "_meta": {"odd": odd}})
    assert (not found) is isinstance(odd, str)
    for violation in found:
        str(violation).encode("utf-8")
    violations("0.6.0", "ConfigPropertySchema", deep(3000))
