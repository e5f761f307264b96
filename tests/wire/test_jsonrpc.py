"""What a decoded value is, by JSON-RPC 2.0."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.wire import jsonrpc

V: dict[str, Any] = {"jsonrpc": "2.0"}
ERROR: dict[str, Any] = {"code": -32601, "message": "no"}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (V | {"id": 1, "method": "ping"}, "request"),
        (V | {"id": "a", "method": "ping", "params": {}}, "request"),
        (V | {"method": "action", "params": {}}, "notification"),
        (V | {"id": 1, "result": None}, "success"),
        (V | {"id": 1, "error": ERROR}, "error"),
        (V | {"id": None, "error": ERROR}, "error"),
        ([V | {"id": 1, "result": None}], "batch"),
    ],
)
def test_well_formed(value: Any, kind: str) -> None:
    assert jsonrpc.classify(value) == kind
    assert jsonrpc.problems(value) == ()


@pytest.mark.parametrize(
    ("value", "kind", "problem"),
    [
        (None, "invalid", "must be an object"),
        (1, "invalid", "must be an object"),
        ("x", "invalid", "must be an object"),
        ({}, "invalid", '"jsonrpc"'),
        (V, "invalid", 'must have "method"'),
        (V | {"id": 1}, "invalid", 'must have "method"'),
        ({"id": 1, "method": "ping"}, "request", '"jsonrpc"'),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, "request", '"jsonrpc"'),
        (V | {"id": 1, "method": 7}, "invalid", '"method" must be a string'),
        (V | {"id": 1, "method": "x", "result": 1}, "invalid", "together"),
        (V | {"id": 1, "result": 1, "error": ERROR}, "invalid", "both"),
        (V | {"id": None, "method": "x"}, "request", "must not be null"),
        (V | {"id": True, "method": "x"}, "request", '"id" must be a string or a number'),
        (V | {"id": {}, "result": 1}, "success", '"id" must be a string or a number'),
        (V | {"result": 1}, "success", 'must have an "id"'),
        (V | {"id": None, "result": 1}, "success", "must not be null"),
        (V | {"error": ERROR}, "error", 'must have an "id"'),
        (V | {"method": "x", "params": "y"}, "notification", '"params"'),
        (V | {"method": "x", "params": None}, "notification", '"params"'),
        (V | {"id": 1, "error": None}, "error", '"error" must be an object'),
        (V | {"id": 1, "error": {"code": "1", "message": "x"}}, "error", '"error.code"'),
        (V | {"id": 1, "error": {"code": True, "message": "x"}}, "error", '"error.code"'),
        (V | {"id": 1, "error": {"code": 1}}, "error", '"error.message"'),
        ([], "batch", "not be empty"),
        ([1], "batch", "member 0"),
    ],
)
def test_departures(value: Any, kind: str, problem: str) -> None:
    assert jsonrpc.classify(value) == kind
    found = jsonrpc.problems(value)
    assert len(found) >= 1
    assert any(problem in text for text in found), found


@pytest.mark.parametrize(
    ("value", "identity"),
    [
        (V | {"id": 3, "result": None}, 3),
        (V | {"id": 3, "error": ERROR}, 3),
        ({"id": 3}, 3),
        (V | {"id": 3, "result": 1, "error": ERROR}, 3),
        (V | {"id": 3, "method": "x"}, None),
        (V | {"id": True, "result": 1}, None),
        (V | {"id": "3", "result": 1}, None),
        (V | {"id": None, "error": ERROR}, None),
        ([V | {"id": 3, "result": 1}], None),
        (None, None),
    ],
)
def test_answers(value: Any, identity: int | None) -> None:
    assert jsonrpc.answers(value) == identity


def test_builders() -> None:
    built = {
        "request": [jsonrpc.request(1, "x"), jsonrpc.request("a", "x", {"b": 1})],
        "notification": [jsonrpc.notification("x"), jsonrpc.notification("x", [1])],
        "success": [jsonrpc.success(1, None)],
        "error": [jsonrpc.failure(None, -32700, "x"), jsonrpc.failure(1, 1, "x", {"y": 1})],
    }
    for kind, messages in built.items():
        for message in messages:
            assert jsonrpc.classify(message) == kind
            assert jsonrpc.problems(message) == ()
    assert "params" not in jsonrpc.request(1, "x")
    assert "data" not in jsonrpc.failure(1, 1, "x")["error"]


_leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_member = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "code", "message"])
_any = st.recursive(_leaf, lambda inner: st.lists(inner) | st.dictionaries(_member, inner), max_leaves=12)


@given(_any)
def test_any_value_is_judged(value: Any) -> None:
    kind = jsonrpc.classify(value)
    found = jsonrpc.problems(value)
    assert kind != "invalid" or found
    jsonrpc.answers(value)
