"""Actions, methods, errors, status bits and channel kinds as data."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conformance.protocol import (
    ACTIONS,
    CHANNEL_KINDS,
    ERROR_CODES,
    ERRORS,
    METHODS,
    STATUS,
    VERSIONS,
    actions_of,
    activity,
    client_may_dispatch,
    error_name,
    is_assigned,
    is_known_action,
    is_known_method,
    is_misdated,
    is_status,
    kind_of,
    kind_of_state,
    needs_input,
)

from .examples import chat, session
from .reference import fixtures


def test_the_number_of_actions_of_each_version() -> None:
    assert {version: len(actions_of(version)) for version in VERSIONS} == {
        "0.6.0": 81,
        "0.7.0": 85,
        "0.8.0": 86,
        "0.9.0": 96,
        "1.0.0": 106,
    }


def test_clients_may_send_34_actions_of_the_baseline() -> None:
    allowed = [name for name in actions_of("0.6.0") if client_may_dispatch(name, "0.6.0")]
    by_channel = {kind: sum(ACTIONS[name].channel == kind for name in allowed) for kind in CHANNEL_KINDS}
    assert {kind: count for kind, count in by_channel.items() if count} == {
        "root": 1,
        "session": 9,
        "chat": 13,
        "terminal": 5,
        "changeset": 1,
        "annotations": 5,
    }


@pytest.mark.parametrize("name", ["chat/toolCallAuthRequired", "chat/toolCallAuthResolved", "session/ready"])
def test_host_actions_are_not_for_clients(name: str) -> None:
    assert is_known_action(name, "0.6.0")
    assert not client_may_dispatch(name, "0.6.0")


def test_an_unknown_action_is_for_nobody() -> None:
    assert not is_known_action("chat/unheardOf", "1.0.0")
    assert not client_may_dispatch("chat/unheardOf", "1.0.0")


def test_an_action_of_a_later_version_is_unknown() -> None:
    assert client_may_dispatch("chat/turnResume", "0.9.0")
    assert not client_may_dispatch("chat/turnResume", "0.8.0")


def test_actions_that_the_published_registry_dates_too_early() -> None:
    assert is_misdated("chat/isReadChanged", "0.9.0")
    assert not is_misdated("chat/isReadChanged", "1.0.0")
    assert not is_misdated("chat/isReadChanged", "0.8.0")
    assert not is_misdated("chat/canvasesChanged", "0.9.0")


def test_every_action_names_its_channel_kind() -> None:
    for action in ACTIONS.values():
        assert action.channel in CHANNEL_KINDS
        assert CHANNEL_KINDS[action.channel].contains(action.window.since) or action.window.since < "0.6.0"


def test_every_fixture_action_is_known_to_the_baseline() -> None:
    if not fixtures():
        pytest.skip("no reference data beside the checkout")
    used = {action["type"] for fixture in fixtures().values() for action in fixture["actions"]}
    unknown = {name for name in used if not is_known_action(name, "0.6.0")}
    assert all("onExistent" in name or "nknown" in name for name in unknown)
    assert used - unknown == actions_of("0.6.0")


def test_methods_have_types_and_directions() -> None:
    assert METHODS["initialize"].form == "request"
    assert METHODS["action"].direction == "host"
    assert METHODS["resourceRead"].direction == "both"
    for method in METHODS.values():
        assert (method.result_type is None) == (method.form == "notification")


def test_methods_have_windows() -> None:
    assert not is_known_method("moveChat", "0.9.0")
    assert is_known_method("moveChat", "1.0.0")
    assert not is_known_method("launchRockets", "1.0.0")


def test_error_codes_by_name_and_number() -> None:
    assert ERRORS["AuthRequired"] == -32007
    assert ERROR_CODES[-32007].name == "AuthRequired"
    assert error_name(-32001) == "SessionNotFound (-32001)"
    assert error_name(-1) == "-1"


def test_the_code_of_missing_content_is_gone_since_0_9_0() -> None:
    assert is_assigned(-32006, "0.8.0")
    assert not is_assigned(-32006, "0.9.0")


def test_a_status_is_a_bit_set() -> None:
    waiting_and_read = STATUS.INPUT_NEEDED | STATUS.IS_READ
    assert activity(waiting_and_read) == STATUS.INPUT_NEEDED
    assert needs_input(waiting_and_read)
    assert not needs_input(STATUS.IN_PROGRESS)
    assert STATUS.with_activity(97 | 1024, STATUS.ERROR) == 96 | 1024 | STATUS.ERROR
    assert STATUS.describe(56) == "56 (InputNeeded, IsRead)"


@pytest.mark.parametrize("value", [1, 2, 8, 24, 33, 40, 56, 65, 97, 1 + 128, 24 + 4096])
def test_legal_statuses(value: int) -> None:
    assert is_status(value)


@pytest.mark.parametrize("value", [0, 3, 10, 16, 26, 32, 64, 31, -1, True, 1.5, "1", None])
def test_illegal_statuses(value: object) -> None:
    assert not is_status(value)


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("ahp-root://", "root"),
        ("ahp-session:/x", "session"),
        ("ahp-session:/x/annotations", "annotations"),
        ("ahp-chat://default/x", "chat"),
        ("ahp-otlp://logs", "telemetry"),
        ("other:/x", None),
        ("nonsense", None),
    ],
)
def test_a_uri_may_tell_its_kind(uri: str, kind: str | None) -> None:
    assert kind_of(uri) == kind


def test_a_state_tells_its_kind() -> None:
    assert kind_of_state(chat()) == "chat"
    assert kind_of_state(session(annotations={"resource": "x:/", "annotationCount": 0, "entryCount": 0})) == ("session")
    assert kind_of_state({"title": "t", "content": [], "lifecycle": {"status": "running"}}) == "terminal"
    assert kind_of_state({}) is None
    assert kind_of_state(None) is None


def test_every_fixture_state_tells_its_kind() -> None:
    for name, fixture in fixtures().items():
        assert kind_of_state(fixture["initial"]) == fixture["reducer"], name


def test_importing_the_room_loads_no_validator_and_no_yaml() -> None:
    code = (
        "import sys, conformance.protocol as p; "
        "print(sorted({'yaml', 'jsonschema', 'jsonschema_rs'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
