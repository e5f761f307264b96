"""Parity with the published schemas of 0.6.0: both sides accept the same values, but for the named differences.

Every type is compared by itself, so the values made for it need not go deep into others.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from conformance.protocol import schema_for
from conformance.protocol.notation import reachable

from .differences import Difference, differences, instance_with, reconciled
from .generated import values
from .instances import instances
from .structure import structure
from .upstream import published

Defs = dict[str, Any]

# Published, and not a type of its own here.
ONLY_PUBLISHED = {
    "AhpErrorCode": "codes are data here (errors.py); the published list lacks -32011",
    "AhpErrorDetailsMap": "a table of the data of codes, not a value on the wire",
    "JsonRpcErrorCode": "codes are data here (errors.py)",
    "ChatAction": "the actions of one channel; which action has which channel is data here (actions.py)",
    "ProtocolNotification": "an empty union",
}
# Here, and without a name of their own in what is published.
ONLY_OURS = {
    # Members that several types share.
    *("TurnAction", "TurnEndAction", "TextAction", "RootParams", "ResourceUriParams"),
    # Published as anonymous objects.
    *("FileVersion", "FileDiff", "FileEdits", "StringItems", "ToolSchema", "ToolCallError", "ListChangedCapability"),
    *("SamplingCapability", "Markdown", "ResourceChanges", "ChatSummaryChanges", "SessionSummaryChanges"),
    # The specification's text has them, the published documents do not.
    *("JsonRpcVersion", "JsonRpcRequest", "JsonRpcNotification", "JsonRpcSuccessResponse", "JsonRpcErrorResponse"),
    *("JsonRpcError", "ReconnectResult", "Null", "Timestamp"),
    # An alias that later versions widen.
    "ToolInput",
}
COMMON = sorted(published().keys() & schema_for("0.6.0")["$defs"].keys())

pytestmark = pytest.mark.skipif(not published(), reason="no published schemas beside the checkout")


@cache
def ours() -> Defs:
    types: Defs = schema_for("0.6.0")["$defs"]
    return types


@cache
def judge(side: str, name: str) -> jsonschema_rs.Draft202012Validator:
    types = {"ours": ours, "published": published, "reconciled": reconciled}[side]()
    return jsonschema_rs.Draft202012Validator(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": f"#/$defs/{name}",
            "$defs": reachable(types, [name]),
        }
    )


def test_the_types_that_one_side_has_alone_are_known() -> None:
    assert published().keys() - ours().keys() == ONLY_PUBLISHED.keys()
    assert ours().keys() - published().keys() == ONLY_OURS


# The published documents leave out the frames; these are their members in types/common/messages.ts.
FRAMES = {
    "JsonRpcRequest": ({"jsonrpc", "id", "method"}, {"params"}),
    "JsonRpcNotification": ({"jsonrpc", "method"}, {"params"}),
    "JsonRpcSuccessResponse": ({"jsonrpc", "id", "result"}, set()),
    "JsonRpcErrorResponse": ({"jsonrpc", "id", "error"}, set()),
    "JsonRpcError": ({"code", "message"}, {"data"}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_have_the_members_of_json_rpc(name: str) -> None:
    required, optional = FRAMES[name]
    assert set(ours()[name]["required"]) == required
    assert set(ours()[name]["properties"]) == required | optional


@pytest.mark.parametrize("row", differences(), ids=lambda row: row.place)
def test_a_difference_is_one(row: Difference) -> None:
    value = instance_with(row)
    assert judge("ours", row.type).is_valid(value) is row.ours_takes_it
    assert judge("published", row.type).is_valid(value) is not row.ours_takes_it
    assert judge("reconciled", row.type).is_valid(value) is row.ours_takes_it


@pytest.mark.parametrize("name", COMMON)
def test_the_types_are_built_alike(name: str) -> None:
    mine, theirs = (structure(types[name], types, COMMON) for types in (ours(), reconciled()))
    assert mine == theirs


@pytest.mark.parametrize("name", COMMON)
def test_instances_of_each_side_are_legal_on_the_other(name: str) -> None:
    for types in (ours(), reconciled()):
        for value in instances(types[name], types):
            assert judge("ours", name).is_valid(value), value
            assert judge("reconciled", name).is_valid(value), value


@pytest.mark.parametrize("name", COMMON)
def test_generated_values_of_each_side_are_legal_on_the_other(name: str) -> None:
    @settings(
        max_examples=10,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values(ours()[name], ours()), values(reconciled()[name], reconciled()))
    def agree(mine: Any, theirs: Any) -> None:
        for value in (mine, theirs):
            assert judge("ours", name).is_valid(value), value
            assert judge("reconciled", name).is_valid(value), value

    agree()


@pytest.mark.parametrize("name", [name for name in COMMON if reconciled()[name].get("required")])
def test_what_the_published_type_requires_is_missed(name: str) -> None:
    types = ours()
    for value in instances(types[name], types):
        for member in reconciled()[name]["required"]:
            assert member in value
            short = {key: part for key, part in value.items() if key != member}
            assert not judge("ours", name).is_valid(short), member
