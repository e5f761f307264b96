"""Values of the wire survive reading and writing, and what is an action can be folded.

The reader here knows no types: it keeps every member, also those that nobody knows.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.protocol import (
    ACTIONS,
    STATUS,
    activity,
    is_known_action,
    kind_of,
    reduce,
)
from conformance.wire.frames import decode, encode

from . import examples
from .reference import round_trips


def of_type(*names: str) -> list[str]:
    return [name for name, case in round_trips().items() if case["type"] in names]


def exact(value: Any) -> str:
    """A text in which absence and null differ, and 1, 1.0 and true."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.skipif(not round_trips(), reason="no reference data beside the checkout")
def test_all_round_trips_are_there() -> None:
    assert len(round_trips()) == 26
    assert len(of_type("ActionEnvelope")) == 4
    assert len(of_type("StateAction")) == 2


@pytest.mark.parametrize("name", list(round_trips()))
def test_reading_and_writing_keeps_the_value(name: str) -> None:
    case = round_trips()[name]
    written = decode(encode(decode(json.dumps(case["input"]))))
    (typed,) = case["acceptableOutputs"]
    assert exact(written) == exact(case.get("preservedOutput", typed))


@pytest.mark.parametrize("name", of_type("ActionEnvelope"))
def test_the_action_of_an_envelope_folds_into_its_channel(name: str) -> None:
    envelope = decode(encode(round_trips()[name]["input"]))
    action = envelope["action"]
    kind = kind_of(envelope["channel"])
    assert kind == ACTIONS[action["type"]].channel
    before = examples.session()
    assert reduce("session", before, action) == before | {"title": action["title"]}


@pytest.mark.parametrize("name", of_type("StateAction"))
def test_an_action_folds_if_its_type_is_known(name: str) -> None:
    action = round_trips()[name]["input"]
    before = examples.session()
    after = reduce("session", before, action)
    if is_known_action(action["type"], "0.6.0"):
        assert after == before | {"changesets": action["changesets"]}
    else:
        assert after is before


@pytest.mark.parametrize("name", of_type("Customization"))
def test_a_customization_of_any_type_is_taken_into_the_state(name: str) -> None:
    entry = round_trips()[name]["input"]
    action = {"type": "session/customizationsChanged", "customizations": [entry]}
    assert reduce("session", examples.session(), action)["customizations"] == [entry]


@pytest.mark.parametrize("name", of_type("SessionStatus"))
def test_a_fold_keeps_bits_of_a_status_that_nobody_knows(name: str) -> None:
    status = round_trips()[name]["input"]
    request = examples.request("ask-1", "chatInput")
    after = reduce("session", examples.session(status=status), {"type": "session/inputNeededSet", "request": request})
    assert after["status"] & ~STATUS.ACTIVITY_MASK == status & ~STATUS.ACTIVITY_MASK
    assert activity(after["status"]) == STATUS.INPUT_NEEDED
