"""What is published: standard documents that stand alone, and say the same as the suite's own validation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator

from conformance.protocol import (
    ACTIONS,
    BASELINE,
    ERROR_CODES,
    METHODS,
    NEWEST,
    STATE_TYPES,
    VERSIONS,
    actions_of,
    is_status,
    schema_for,
    type_names,
    violations,
)
from conformance.protocol.forms import PUBLISHED, STATUS_KEYWORD
from conformance.protocol.notation import reachable, references
from conformance.protocol.publishing import INDEX, UNREAD, documents
from conformance.protocol.validation import _decider_for

from . import examples
from .generated import values
from .instances import instances, variants

Documents = dict[str, dict[str, Any]]

FILES = {
    "protocol.schema.json",
    "state.schema.json",
    "actions.schema.json",
    "commands.schema.json",
    "notifications.schema.json",
    "errors.schema.json",
    INDEX,
}
SCHEMAS = sorted(FILES - {INDEX})


@cache
def published(version: str) -> Documents:
    return documents(version)


@cache
def judge(version: str, file: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(published(version)[file])


@cache
def judge_of(version: str, name: str) -> jsonschema_rs.Draft202012Validator:
    types = published(version)["protocol.schema.json"]["$defs"]
    return jsonschema_rs.Draft202012Validator(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": f"#/$defs/{name}",
            "$defs": reachable(types, [name]),
        }
    )


def keywords(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(keywords, schema))
    return set(schema).union(*map(keywords, schema.values())) if isinstance(schema, dict) else set()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_one_set_of_files(version: str) -> None:
    assert published(version).keys() == FILES


@pytest.mark.parametrize("file", SCHEMAS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_document_is_standard_and_stands_alone(version: str, file: str) -> None:
    document = published(version)[file]
    jsonschema_rs.meta.validate(document)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"urn:ahp-conformance:schema:{version}:{file.partition('.')[0]}"
    assert set(references(document)) <= document["$defs"].keys()
    assert STATUS_KEYWORD not in keywords(document)
    # Expressions that are looked up from both ends are not read by every validator.
    assert "(?" not in json.dumps(document)
    assert jsonschema_rs.Draft202012Validator(document)


def test_another_validator_takes_the_documents_too() -> None:
    for document in published(NEWEST).values():
        Draft202012Validator.check_schema(document)
    refused = Draft202012Validator(published("0.6.0")["errors.schema.json"]).iter_errors(
        {"code": -32007, "message": "m"}
    )
    assert [error.message for error in refused] == ["'data' is a required property"]


def test_ids_are_unique() -> None:
    ids = [published(version)[file]["$id"] for version in VERSIONS for file in SCHEMAS]
    assert len(ids) == len(set(ids))


def test_the_types_have_the_names_of_the_specification() -> None:
    types = schema_for("0.6.0")["$defs"]
    assert "SessionInputNeededSetAction" in types
    assert not [name for name in types if "/" in name]
    assert types.keys() == {PUBLISHED.name(name) for name in type_names("0.6.0")}


def test_the_caller_may_change_a_schema() -> None:
    schema_for("0.6.0")["$defs"].clear()
    documents("0.6.0")["state.schema.json"]["$defs"].clear()
    assert schema_for("0.6.0")["$defs"]
    assert documents("0.6.0")["state.schema.json"]["$defs"]


def test_a_malformed_version_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="not a protocol version"):
        documents("six")


def test_a_status_of_known_bits_is_judged_exactly() -> None:
    takes = judge_of(NEWEST, "SessionStatus").is_valid
    assert [status for status in range(128) if takes(status)] == [status for status in range(128) if is_status(status)]


@pytest.mark.parametrize("bits", [1 << 7, 1 << 12, 5 << 9, 1 << 30])
def test_a_legal_status_with_unassigned_bits_is_taken(bits: int) -> None:
    takes = judge_of(NEWEST, "SessionStatus").is_valid
    taken = {low for low in range(128) if takes(low | bits)}
    legal = {low for low in range(128) if is_status(low | bits)}
    assert legal < taken
    # JSON Schema cannot mask bits: these are what divisibility does not tell from legal ones.
    assert {low % 32 for low in taken - legal} == {*range(3, 32, 2)} | {6, 10, 14, 18, 22, 26, 30}


@pytest.mark.parametrize("status", [1.0, 8.0])
def test_a_status_may_be_written_with_a_point(status: float) -> None:
    assert judge_of(NEWEST, "SessionStatus").is_valid(status)


@pytest.mark.parametrize("status", [True, "1", 1.5, None, -7, 129.5])
def test_a_status_is_a_whole_number(status: Any) -> None:
    assert not judge_of(NEWEST, "SessionStatus").is_valid(status)


# The published form and the one that validation uses say the same.


@pytest.mark.parametrize("version", VERSIONS)
def test_every_type_has_instances_that_both_forms_take(version: str) -> None:
    types = schema_for(version)["$defs"]
    for name in type_names(version):
        public = PUBLISHED.name(name)
        for value in instances(types[public], types):
            assert judge_of(version, public).is_valid(value), (name, value)
            assert not violations(version, name, value), (name, value)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_required_member_is_missed_by_both_forms(version: str) -> None:
    types = schema_for(version)["$defs"]
    missed = 0
    for name in type_names(version):
        public = PUBLISHED.name(name)
        for member in types[public].get("required", ()):
            for value in instances(types[public], types):
                short = {key: part for key, part in value.items() if key != member}
                assert not judge_of(version, public).is_valid(short), (name, member)
                assert not _decider_for(version, name).is_valid(short), (name, member)
                missed += 1
    assert missed > 1000


@pytest.mark.parametrize("version", ["0.6.0", NEWEST])
def test_both_forms_agree_on_values_that_are_nearly_right(version: str) -> None:
    types = schema_for(version)["$defs"]
    refused = 0
    for name in type_names(version):
        public = PUBLISHED.name(name)
        for value in instances(types[public], types):
            for broken in spoilt(value, 2):
                taken = _decider_for(version, name).is_valid(broken)
                assert judge_of(version, public).is_valid(broken) is taken, (name, broken)
                refused += not taken
    assert refused > 10_000


def spoilt(value: Any, depth: int) -> Iterator[Any]:
    """The value with one part changed or left out, for every part down to a depth."""
    yield from (None, 0.5, "odd", [], {})
    if depth > 0 and isinstance(value, dict):
        for key, part in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: changed} for changed in spoilt(part, depth - 1))
    elif depth > 0 and isinstance(value, list):
        for place, part in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in spoilt(part, depth - 1))


# What the baseline has is generated in test_parity.py.
@pytest.mark.parametrize("name", sorted(type_names(NEWEST) - type_names(BASELINE)))
def test_both_forms_take_what_is_generated(name: str) -> None:
    types = published(NEWEST)["protocol.schema.json"]["$defs"]
    public = PUBLISHED.name(name)

    @settings(
        max_examples=5,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(values(types[public], types))
    def taken(value: Any) -> None:
        assert judge_of(NEWEST, public).is_valid(value)
        assert not violations(NEWEST, name, value)

    taken()


# The documents by group


def test_a_state_an_action_and_an_error() -> None:
    assert judge("0.6.0", "state.schema.json").is_valid(examples.session())
    assert judge("0.6.0", "state.schema.json").is_valid(examples.chat())
    assert not judge("0.6.0", "state.schema.json").is_valid({})
    assert judge("0.6.0", "actions.schema.json").is_valid({"type": "session/ready"})
    assert not judge("0.6.0", "actions.schema.json").is_valid({"type": "chat/turnResume", "turnId": "t"})
    errors = judge("0.6.0", "errors.schema.json")
    assert errors.is_valid({"code": -32001, "message": "m"})
    assert not errors.is_valid({"code": -32007, "message": "m"})
    assert not errors.is_valid({"code": -32005, "message": "m", "data": {}})
    assert judge("0.9.0", "errors.schema.json").is_valid({"code": -32005, "message": "m"})
    assert not judge("1.0.0", "errors.schema.json").is_valid({"code": -32005, "message": "m"})


def test_a_message_has_the_params_of_its_method() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"channel": "ahp-root://"}}
    commands = judge("0.6.0", "commands.schema.json")
    assert commands.is_valid(ping)
    assert not commands.is_valid(ping | {"params": {"channel": "ahp-session:/s"}})
    assert not commands.is_valid(ping | {"method": "moveChat"})
    notice = {
        "jsonrpc": "2.0",
        "method": "root/sessionRemoved",
        "params": {"channel": "ahp-root://", "session": "ahp-session:/s"},
    }
    assert judge("0.6.0", "notifications.schema.json").is_valid(notice)
    assert not judge("0.6.0", "notifications.schema.json").is_valid(notice | {"id": 1})


@pytest.mark.parametrize("version", VERSIONS)
def test_the_index_leads_to_types_that_exist(version: str) -> None:
    index = published(version)[INDEX]
    types = published(version)["protocol.schema.json"]["$defs"]
    commands = published(version)["commands.schema.json"]["$defs"]
    assert index["protocol"] == version
    assert index["methods"].keys() == {method.name for method in METHODS.values() if method.window.contains(version)}
    for method in index["methods"].values():
        assert method["params"] in types
        assert ("result" in method) is (method["form"] == "request")
        assert "result" not in method or method["result"] in commands
    assert index["actions"].keys() == actions_of(version)
    for name, action in index["actions"].items():
        for shape in variants(types[action["type"]], types):
            assert shape["properties"]["type"] == {"const": name}
        assert action["channel"] == ACTIONS[name].channel
    for kind, channel in index["channels"].items():
        assert channel["state"] == STATE_TYPES.get(kind)
        assert channel["state"] is None or channel["state"] in types
    assert {entry["code"] for entry in index["errors"].values()} == {
        code for code, entry in ERROR_CODES.items() if entry.window.contains(version)
    }


def test_what_is_open_is_there_and_said_to_be_open() -> None:
    types = schema_for(NEWEST)["$defs"]
    for place in UNREAD:
        name, _, member = place.partition(".")
        assert member in types[name]["properties"], place
    assert published(NEWEST)[INDEX]["open"] == UNREAD
    assert not [place for place in published("0.6.0")[INDEX]["open"] if place.startswith("Automation")]
