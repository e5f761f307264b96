"""The handshakes that steps name: what is offered, and what is sent beside the required members."""

from __future__ import annotations

import re
from typing import Any

from conformance.client import Participant, Unreached
from conformance.protocol import ROOT_URI, VERSIONS
from scenarios.places import channel_of
from scenarios.world import World

UNKNOWN_VERSIONS = ("99.0.0", "0.0.1")
SPOKEN = "«spoken»"
"""Stands for the version of the run in the offers below."""

ALL_MEMBERS: dict[str, Any] = {
    "clientInfo": {"name": "ahp-conformance", "version": "1", "title": "Conformance"},
    "initialSubscriptions": [ROOT_URI],
    "locale": "en",
    "capabilities": {"mcpApps": {}},
}

_NAMING = "a handshake naming "
"""What follows are the channels of initialSubscriptions, in the words of places.py."""

# Phrase -> the offer, and what is sent beside the required members.
HANDSHAKES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a handshake with the required members alone": ([SPOKEN], {}),
    "a handshake with all members": ([SPOKEN], ALL_MEMBERS),
    "a handshake with an unknown member": ([SPOKEN], {"conformanceUnknown": {"x": 1}}),
    "a handshake with an unknown capability": ([SPOKEN], {"capabilities": {"conformanceUnknown": {"x": 1}}}),
    "a handshake with an unknown option of a capability": (
        [SPOKEN],
        {"capabilities": {"mcpApps": {"conformanceUnknown": True}}},
    ),
    "a handshake with the root": ([SPOKEN], {"initialSubscriptions": [ROOT_URI]}),
    "a handshake offering an unknown version": (list(UNKNOWN_VERSIONS[:1]), {}),
    "a handshake offering two unknown versions": (list(UNKNOWN_VERSIONS), {}),
    "a handshake offering nothing": ([], {}),
    "a handshake offering its version first": ([SPOKEN, *UNKNOWN_VERSIONS], {}),
    "a handshake offering its version last": ([*UNKNOWN_VERSIONS, SPOKEN], {}),
    "a handshake offering its version in the middle": (["99.0.0", SPOKEN, "0.0.1"], {}),
    "a handshake offering all that the suite speaks": ("«all»", {}),
    "a handshake offering another patch of its version": (["«patch»"], {}),
    "a handshake offering every version but its own": ("«others»", {}),
    "a handshake with a number as offer": (7, {}),
    "a handshake without params": (None, {}),
}


def version_of_run(world: World) -> str:
    """The version that the probe agreed on. Unreached when there was none."""
    version = world.stage.theatre.facts.version
    if version is None:
        raise Unreached("precondition-failed", "the host has agreed on no version")
    return version


def handshake(world: World, client: Participant, what: str) -> Any:
    """The params of the initialize that a step names."""
    offer: Any
    if what.startswith(_NAMING):
        channels = re.split(r", | and ", what.removeprefix(_NAMING))
        offer, more = [SPOKEN], {"initialSubscriptions": [channel_of(world, channel) for channel in channels]}
    else:
        offer, more = HANDSHAKES[what]
    if offer is None:
        return None
    if offer == "«all»":
        offer = list(world.stage.theatre.offers)
    elif offer == "«others»":
        offer = [version for version in VERSIONS if version != version_of_run(world)]
    elif isinstance(offer, list):
        spoken = version_of_run(world)
        patch = re.sub(r"\d+$", lambda found: str(int(found[0]) + 97), spoken)
        offer = [{SPOKEN: spoken, "«patch»": patch}.get(entry, entry) for entry in offer]
    return {"channel": ROOT_URI, "protocolVersions": offer, "clientId": client.client_id, **more}
