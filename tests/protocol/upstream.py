"""The schemas that the specification's own project published for 0.6.0, with what is known to be wrong in them mended.

The patches are those of the README beside the schemas; each is applied here by code and must find what it mends.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from .reference import UPSTREAM

Defs = dict[str, Any]

# Required in the published schemas although their absence is legal on the wire.
WRONGLY_REQUIRED = {
    "ActionEnvelope": "origin",
    "Turn": "usage",
    "ActiveTurn": "usage",
    "SessionActivityChangedAction": "activity",
    "SessionMetaChangedAction": "_meta",
    "SessionChangesetsChangedAction": "changesets",
    "ChangesetOperationsChangedAction": "operations",
}


def _array_of(name: str) -> Defs:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


_STRINGS: Defs = {"type": "array", "items": {"type": "string"}}

# Members of anonymous objects, all of which are published as strings: the path of the member, and what it is.
ANONYMOUS: dict[tuple[str, ...], Defs] = {
    **{
        (name, side, "content"): {"$ref": "#/$defs/ContentRef"}
        for name in ("FileEdit", "ToolResultFileEditContent")
        for side in ("before", "after")
    },
    ("ToolCallPendingConfirmationState", "edits", "items"): _array_of("FileEdit"),
    ("ChatToolCallReadyAction", "edits", "items"): _array_of("FileEdit"),
    **{
        ("ToolDefinition", schema, member): mended
        for schema in ("inputSchema", "outputSchema")
        for member, mended in (("properties", {"type": "object"}), ("required", _STRINGS))
    },
    ("AhpMcpUiHostCapabilities", "sampling", "tools"): {"type": "object"},
    ("ResourceWatchState", "includes", "items"): _STRINGS,
    ("ResourceWatchState", "excludes", "items"): _STRINGS,
    ("CreateResourceWatchParams", "includes", "items"): _STRINGS,
    ("CreateResourceWatchParams", "excludes", "items"): _STRINGS,
    ("ResourceWatchChangedAction", "changes", "items"): _array_of("ResourceChange"),
}


@cache
def published() -> Defs:
    """The patched $defs of all five documents, merged; empty when there is no copy beside the checkout."""
    if UPSTREAM is None:
        return {}
    merged: Defs = {}
    for path in sorted((UPSTREAM / "schema").glob("*.json")):
        types = json.loads(path.read_text("utf-8"))["$defs"]
        if path.stem == "actions.schema":
            assert types["StateAction"]["oneOf"].pop(0) == {"$ref": "#/$defs/"}
        # The documents say the same, but for the words that describe it.
        for name, schema in _wordless(types).items():
            assert merged.setdefault(name, schema) == schema, f"{path.name} has another {name}"
    _patch(merged)
    return merged


def _wordless(types: Defs) -> Defs:
    def less(schema: Any) -> Any:
        if isinstance(schema, list):
            return [less(entry) for entry in schema]
        if not isinstance(schema, dict):
            return schema
        # In a list of members "description" is a member; as a keyword it is a string.
        return {key: less(part) for key, part in schema.items() if key != "description" or not isinstance(part, str)}

    return {name: less(schema) for name, schema in types.items()}


def _patch(types: Defs) -> None:
    for name, member in WRONGLY_REQUIRED.items():
        types[name]["required"].remove(member)
    assert types["SessionStatus"].pop("enum")
    types["SessionStatus"]["type"] = "integer"
    for (name, member, inner), mended in ANONYMOUS.items():
        place = types[name]["properties"][member]["properties"]
        assert place[inner]["type"] == "string", (name, member, inner)
        place[inner] = mended
    target = types["ChangesetOperationTarget"]["oneOf"]
    (ranged,) = [branch for branch in target if "range" in branch["properties"]]
    assert ranged["properties"]["range"]["type"] == "string"
    ranged["properties"]["range"] = {"$ref": "#/$defs/TextRange"}
    for name, kinds in {
        "ChatOrigin": ["user", "fork", "tool"],
        "ChangesetOperationTarget": ["resource", "range"],
    }.items():
        for branch, kind in zip(types[name]["oneOf"], kinds, strict=True):
            assert branch["properties"]["kind"] == {"type": "string"}
            branch["properties"]["kind"] = {"const": kind}
