"""The notation in which the types are written: what it becomes, and which mistakes in it are found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.protocol import VERSIONS, Window
from conformance.protocol.forms import CHECKED, PUBLISHED
from conformance.protocol.notation import NotationError, definitions, reachable, references, source

BOTH = [CHECKED, PUBLISHED]
SHAPE: dict[str, Any] = {
    # What every version needs: the types that its actions and channels refer to are left out.
    "Part": {
        "$by": "kind",
        "$open": True,
        "$with": ["Base"],
        "text as TextPart": {"text": "string"},
        "number, integer as NumberPart": {"value": "number"},
        "late >=0.9.0": {"when?": "timestamp"},
    },
    "Base": {"id": "string"},
}


def built(types: dict[str, Any], version: str = "0.6.0", form: Any = CHECKED) -> dict[str, Any]:
    return definitions(types, version, form)


def takes(types: dict[str, Any], name: str, value: Any, version: str = "0.6.0") -> bool:
    """Whether both forms take a value; they must not differ."""
    verdicts = set()
    for form in BOTH:
        document = {"$ref": f"#/$defs/{name}", "$defs": reachable(built(types, version, form), [name])}
        verdicts.add(Draft202012Validator(document).is_valid(value))
    (verdict,) = verdicts
    return verdict


def test_a_member_is_required_or_not_and_has_a_window() -> None:
    types = {"T": {"a": "string", "b?": "number", "c >=0.7.0 <0.9.0": "boolean"}}
    assert built(types)["T"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
        "required": ["a"],
    }
    assert [version for version in VERSIONS if "c" in built(types, version)["T"]["properties"]] == ["0.7.0", "0.8.0"]
    assert built(types, "0.8.0")["T"]["required"] == ["a", "c"]


def test_expressions() -> None:
    types = {
        "T": {"a": "string[]", "b": "Other[1..]", "c": "map Other[]", "d": "string | null", "e": "Other | string"},
        "Other": {},
    }
    members = built(types)["T"]["properties"]
    other = {"$ref": "#/$defs/Other"}
    assert members == {
        "a": {"type": "array", "items": {"type": "string"}},
        "b": {"type": "array", "minItems": 1, "items": other},
        "c": {"type": "object", "additionalProperties": {"type": "array", "items": other}},
        "d": {"type": ["string", "null"]},
        "e": {"anyOf": [other, {"type": "string"}]},
    }


def test_literals_may_have_windows() -> None:
    types = {"State": ["old <0.9.0", "new >=0.9.0", "same"]}
    assert built(types, "0.8.0")["State"]["enum"] == ["old", "same"]
    assert built(types, "0.9.0")["State"]["enum"] == ["new", "same"]
    assert built({"Only": ["x"]}, form=PUBLISHED)["Only"] == {"const": "x"}


def test_a_list_may_be_open_from_a_version_on() -> None:
    types = {"State": ["old <0.9.0", "new >=0.9.0", "same", "later >=1.0.0", "... >=0.8.0"]}
    verdicts = {
        version: [value for value in ("old", "new", "same", "later", "x") if takes(types, "State", value, version)]
        for version in VERSIONS
    }
    assert verdicts == {
        "0.6.0": ["old", "same"],
        "0.7.0": ["old", "same"],
        "0.8.0": ["old", "new", "same", "later", "x"],
        "0.9.0": ["new", "same", "later", "x"],
        "1.0.0": ["new", "same", "later", "x"],
    }
    assert not takes(types, "State", 3, "0.9.0")
    assert "..." not in built(types, "0.8.0", PUBLISHED)["State"]["anyOf"][0]["enum"]


def test_a_union_may_be_open_from_a_version_on() -> None:
    types = {"Part": {"$by": "kind", "$open >=0.8.0": True, "text": {}, "late >=0.9.0": {"when": "timestamp"}}}
    assert [version for version in VERSIONS if takes(types, "Part", {"kind": "x"}, version)] == [
        "0.8.0",
        "0.9.0",
        "1.0.0",
    ]
    assert [version for version in VERSIONS if takes(types, "Part", {"kind": "late"}, version)] == ["0.8.0"]
    assert not takes({"Part": {"$by": "kind", "$open": False, "text": {}}}, "Part", {"kind": "x"})


def test_a_narrowed_union_may_be_open_to_what_the_whole_one_does_not_list() -> None:
    types = {**SHAPE, "Some": {"$narrow": "Part", "$to": ["text"], "$open >=0.9.0": True}}
    for version, is_open in (("0.8.0", False), ("0.9.0", True)):
        assert takes(types, "Some", {"kind": "unheard", "id": "i"}, version) is is_open
        assert not takes(types, "Some", {"kind": "integer", "id": "i", "value": 1}, version)
        assert not takes(types, "Some", {"kind": "unheard"}, version)


@pytest.mark.parametrize(
    ("value", "is_legal"),
    [
        ({"kind": "text", "id": "i", "text": "t"}, True),
        ({"kind": "text", "id": "i"}, False),
        ({"kind": "text", "text": "t"}, False),
        ({"kind": "integer", "id": "i", "value": 1}, True),
        ({"kind": "number", "id": "i", "value": "1"}, False),
        ({"kind": "unheard", "id": "i"}, True),
        ({"kind": "unheard"}, False),
        ({"id": "i"}, False),
        ("text", False),
    ],
)
def test_a_union_is_told_apart_by_its_member(value: Any, is_legal: bool) -> None:
    assert takes(SHAPE, "Part", value) is is_legal


def test_a_variant_is_a_type_of_its_own() -> None:
    assert takes(SHAPE, "NumberPart", {"kind": "integer", "id": "i", "value": 1})
    assert not takes(SHAPE, "NumberPart", {"kind": "text", "id": "i", "text": "t"})
    assert built(SHAPE, form=PUBLISHED)["TextPart"] == {
        "type": "object",
        "properties": {"kind": {"const": "text"}, "id": {"type": "string"}, "text": {"type": "string"}},
        "required": ["kind", "id", "text"],
    }


def test_a_variant_has_a_window() -> None:
    wrong = {"kind": "late", "id": "i", "when": 3}
    assert takes(SHAPE, "Part", wrong, "0.8.0")
    assert not takes(SHAPE, "Part", wrong, "0.9.0")


def test_a_union_may_be_narrowed_and_closed() -> None:
    types = {**SHAPE, "Some": {"$narrow": "Part", "$to": ["text"]}}
    assert takes(types, "Some", {"kind": "text", "id": "i", "text": "t"})
    assert not takes(types, "Some", {"kind": "unheard", "id": "i"})


def test_a_partial_type_and_forbidden_members() -> None:
    types = {"T": {"a": "string"}, "Changes": {"$partial": "T"}, "Bare": {"$extends": ["T"], "$not": ["b"]}}
    assert takes(types, "Changes", {})
    assert not takes(types, "Changes", {"a": 1})
    assert takes(types, "Bare", {"a": "x"})
    assert not takes(types, "Bare", {"a": "x", "b": 1})


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ({"T": {"a": "Missing"}}, r"T\.a: unknown type 'Missing' at 0\.6\.0"),
        ({"T": {"a b": "string"}}, "cannot read the key 'a b'"),
        ({"T": {"a": 3}}, r"T\.a: cannot read 3"),
        ({"T": {}, "T <0.9.0": {}}, r"T is defined twice at 0\.6\.0"),
        ({**SHAPE, "TextPart": {}}, "TextPart is defined twice"),
        ({"chat/unheardOf": {}}, "unknown action 'chat/unheardOf'"),
        ({"T": {"a? >=0.9.0 <0.7.0": "string"}}, "empty version window"),
    ],
)
def test_mistakes_are_found(types: dict[str, Any], message: str) -> None:
    with pytest.raises((NotationError, ValueError), match=message):
        built(types)


def test_a_type_that_only_another_version_has_is_not_missed() -> None:
    types = {"T": {"a >=0.9.0": "Later"}, "Later >=0.9.0": {}}
    assert "Later" not in built(types)
    assert built(types, "0.9.0")["T"]["required"] == ["a"]


def test_what_is_reachable() -> None:
    types: dict[str, Any] = {"A": {"$ref": "#/$defs/B~1c"}, "B/c": {"items": [{"$ref": "#/$defs/A"}]}, "D": {}}
    assert reachable(types, ["A"]).keys() == {"A", "B/c"}
    assert list(references(types["A"])) == ["B/c"]


NAMES = st.sampled_from(["a", "b", "c"])
WINDOWS = st.sampled_from(["", " >=0.7.0", " <0.9.0", " >=0.7.0 <1.0.0"])


@given(
    st.dictionaries(
        st.tuples(NAMES, st.booleans(), WINDOWS), st.sampled_from(["string", "number", "boolean"]), max_size=3
    )
)
def test_both_forms_of_any_object_are_the_same(members: dict[tuple[str, bool, str], str]) -> None:
    body = {f"{name}{'?' if optional else ''}{window}": kind for (name, optional, window), kind in members.items()}
    for version in VERSIONS:
        checked = built({"T": body}, version)["T"]
        assert checked == built({"T": body}, version, PUBLISHED)["T"]
        present = {name for (name, _, window) in members if Window(*_bounds(window)).contains(version)}
        assert set(checked.get("properties", ())) == present


def _bounds(window: str) -> tuple[str, str | None]:
    since = next((part[2:] for part in window.split() if part.startswith(">=")), "0.1.0")
    return since, next((part[1:] for part in window.split() if part.startswith("<")), None)


def test_no_type_is_without_use() -> None:
    """What the files define is reached from states, messages, errors or other definitions at some version."""
    from conformance.protocol import ERROR_CODES, METHODS, STATE_TYPES, actions_of

    used: set[str] = set()
    for version in VERSIONS:
        defs = built(dict(source()), version)
        roots = {*STATE_TYPES.values(), *actions_of(version), "StateAction"}
        roots |= {name for method in METHODS.values() for name in (method.params_type, method.result_type) if name}
        roots |= {entry.data_type for entry in ERROR_CODES.values() if entry.data_type}
        used |= reachable(defs, roots & defs.keys()).keys()
    bodies = [body for body in source().values() if isinstance(body, dict)]
    inherited = {name for body in bodies for name in (*body.get("$extends", ()), *body.get("$with", ()))}
    inherited |= {
        name
        for body in bodies
        for variant in body.values()
        if isinstance(variant, dict)
        for name in (*variant.get("$extends", ()), *variant.get("$with", ()))
    }
    named = {
        text.partition(" as ")[2].split()[0]
        for body in bodies
        if "$by" in body
        for text in map(str, body)
        if " as " in text
    }
    # Sources of others, names for what is built in, and the frames that carry messages.
    known = {"URI", "Timestamp", "SessionStatus"}
    known |= {"JsonRpcRequest", "JsonRpcNotification", "JsonRpcSuccessResponse", "JsonRpcErrorResponse", "JsonRpcError"}
    defined = {str(key).partition(" ")[0] for key in source()}
    assert defined - used - inherited - named - known - {"JsonRpcVersion"} == set()
