"""JUnit XML as CI systems read it."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conformance.reporting.junit import junit_xml, write_junit

from .samples import DEMANDED, MUST, finding, record, result, varied

# The common JUnit schema: which element may hold which, and the attributes that each must and may have.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name"},
    "property": {"name", "value"},
}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        "name",
        "tests",
        "failures",
        "errors",
        "skipped",
        "time",
        "timestamp",
        "hostname",
        "id",
        "package",
    },
    "testcase": {"name", "time", "classname"},
    "property": {"name", "value"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
}


def check(element: ET.Element, more: frozenset[str] = frozenset()) -> None:
    attributes = set(element.attrib)
    assert REQUIRED.get(element.tag, set()) <= attributes <= ALLOWED.get(element.tag, set()), element.tag
    for child in element:
        allowed = CHILDREN.get(element.tag, set()) | (more if element.tag == "testcase" else set())
        assert child.tag in allowed, f"{child.tag} in {element.tag}"
        check(child, more)


@pytest.mark.parametrize("plain", [True, False])
def test_the_document_fits_the_schema(plain: bool) -> None:
    root = ET.fromstring(junit_xml(record(varied(), tier="tool-auth"), plain_schema=plain))
    check(root, frozenset() if plain else frozenset({"properties"}))


def test_a_suite_for_each_feature_a_case_for_each_scenario() -> None:
    root = ET.fromstring(junit_xml(record(varied(), tier="tool-auth")))
    assert [(s.get("name"), s.get("tests")) for s in root] == [
        ("sample/rules", "6"),
        ("tool-auth/session-level", "1"),
    ]
    sample = root[0]
    assert (sample.get("failures"), sample.get("errors"), sample.get("skipped")) == ("1", "1", "3")
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("7", "2", "1")


def test_obligations_and_levels_are_properties_of_the_case() -> None:
    made = record(varied(), tier="tool-auth")
    case = ET.fromstring(junit_xml(made)).find("testsuite[2]/testcase")
    assert case is not None
    pairs = [(p.get("name"), p.get("value")) for p in case.iter("property")]
    assert ("obligation", f"{DEMANDED} SHOULD") in pairs
    assert ("scenario", "sample/rules/blocked") in pairs
    plain = ET.fromstring(junit_xml(made, plain_schema=True)).find("testsuite[2]/testcase/system-out")
    assert plain is not None
    assert f"[[PROPERTY|obligation={DEMANDED} SHOULD]]" in (plain.text or "")


def test_a_failure_carries_its_whole_evidence() -> None:
    failure = ET.fromstring(junit_xml(record(varied(), tier="tool-auth"))).find(".//testsuite[2]//failure")
    assert failure is not None
    assert failure.get("message") == "The session never listed call-1."
    text = failure.text or ""
    for piece in (
        "AHP-TOOLAUTH-022  SHOULD (demanded by the tier tool-auth)",
        "The host pairs each blocked call",
        "step      And the session's inputNeeded gains",
        "expected  an entry of kind toolAuthentication",
        "seen      one entry, of kind toolConfirmation",
        "frame     #41  A  host to suite",
        '"kind":"toolConfirmation"',
        "rule in   types/channels-chat/actions.ts > ChatToolCallAuthRequiredAction",
        "recorded  transcripts/tool-auth-session-level-blocked.jsonl",
        "rerun     ahp-conformance run ws://127.0.0.1:8123 --only sample/rules/blocked",
    ):
        assert piece in text


def test_what_the_oracle_saw_in_passing_is_output_of_the_case() -> None:
    out = ET.fromstring(junit_xml(record(varied(), tier="tool-auth"))).find("testsuite[2]/testcase/system-out")
    assert out is not None
    assert (out.text or "").startswith("oracle: AHP-SAMPLE-002 MUST NOT: An action of a channel")


def test_skipped_and_error_say_why() -> None:
    root = ET.fromstring(junit_xml(record(varied())))
    messages = {element.get("message") for element in root.iter("skipped")}
    assert "not-applicable: version-window: Exists since 0.9.0." in messages
    assert "inconclusive: timeout: No answer to ping within 10 s." in messages
    error = root.find(".//error")
    assert error is not None
    assert error.get("message") == "KeyError: 'channel' in step 3"


def test_what_xml_cannot_hold_is_left_out() -> None:
    odd = "a\x00b\x1bc\ufffe\ud800d"
    made = record(
        [result("odd", MUST, outcome="failed", title=odd, feature=odd, findings=(finding(MUST, message=odd),))]
    )
    root = ET.fromstring(junit_xml(made))
    case = root.find(".//testcase")
    assert case is not None
    assert case.get("name", "").startswith("abc")


def test_an_empty_run_is_an_empty_document(tmp_path: Path) -> None:
    write_junit(record([]), tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.tag, len(root), root.get("tests")) == ("testsuites", 0, "0")
