"""JUnit XML from a run record, for the test views of CI systems.

One testsuite per feature, one testcase per scenario. Inconclusive is `skipped` with its reason: JUnit has no
word for it, and a red test would claim a fault that nobody showed; the verdict of the run is a property of
every suite.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from .atomic import write_whole
from .events import JSONObject
from .failure import by_id, failure_text, own_findings, rerun

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(record: JSONObject, path: Path, *, plain_schema: bool = False) -> None:
    """Write the JUnit XML, whole or not at all. Raises ReportError when the place does not take it."""
    write_whole(path, junit_xml(record, plain_schema=plain_schema))


def junit_xml(record: JSONObject, *, plain_schema: bool = False) -> bytes:
    """The JUnit XML document of a run record, in UTF-8.

    Each testcase has the properties ``obligation`` (``ID LEVEL``, one for each), ``scenario`` and
    ``outcome``. Readers of JUnit understand properties of a testcase, but the schema of the Jenkins xUnit
    plugin (junit-10.xsd) forbids them; with ``plain_schema`` they go to its system-out, as
    ``[[PROPERTY|name=value]]``.
    """
    features: defaultdict[str, list[JSONObject]] = defaultdict(list)
    for scenario in record["scenarios"]:
        features[scenario["feature"]].append(scenario)
    root = ET.Element("testsuites", {"name": "ahp-conformance", **_totals(record["scenarios"], skipped=False)})
    levels = {name: entry["level"] for name, entry in by_id(record).items()}
    for number, (feature, scenarios) in enumerate(features.items()):
        attributes = {"name": _text(feature), "id": str(number), "timestamp": _text(record["started"])}
        suite = ET.SubElement(root, "testsuite", {**attributes, **_totals(scenarios, skipped=True)})
        _properties(suite, _run_properties(record))
        for scenario in scenarios:
            suite.append(_case(record, scenario, levels, plain_schema))
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _run_properties(record: JSONObject) -> list[tuple[str, str]]:
    host = record["host"]
    return [
        ("verdict", record["verdict"]),
        ("summary", record["summary"]),
        ("tier", record["tier"]),
        ("protocol", record["protocol"]),
        ("host", " ".join(filter(None, (host["name"], host["version"]))) or host["endpoint"]),
    ]


def _case(record: JSONObject, scenario: JSONObject, levels: Mapping[str, str], plain_schema: bool) -> ET.Element:
    case = ET.Element(
        "testcase",
        name=_text(scenario["title"]),
        classname=_text(scenario["feature"]),
        time=f"{scenario['duration']:.3f}",
    )
    properties = [
        *(("obligation", f"{name} {levels.get(name, '')}".strip()) for name in scenario["obligations"]),
        ("scenario", scenario["id"]),
        ("outcome", scenario["outcome"]),
    ]
    if not plain_schema:
        _properties(case, properties)
    _outcome(case, record, scenario)
    lines = [f"[[PROPERTY|{name}={value}]]" for name, value in properties] if plain_schema else []
    lines += _side_findings(scenario, levels)
    if lines:
        ET.SubElement(case, "system-out").text = _text("\n".join(lines))
    return case


def _side_findings(scenario: JSONObject, levels: Mapping[str, str]) -> list[str]:
    """What the oracle found against obligations of others: it breaks them, and not this case."""
    return [
        f"oracle: {name} {levels.get(name, '')}: {finding['message']} (frame {finding['frame']})"
        for finding in scenario["findings"]
        for name in finding["obligations"]
        if name not in scenario["obligations"]
    ]


def _outcome(case: ET.Element, record: JSONObject, scenario: JSONObject) -> None:
    outcome = scenario["outcome"]
    reason = scenario.get("reason", "")
    detail = scenario.get("detail", "")
    if outcome == "failed":
        own = own_findings(scenario)
        message = own[0]["message"] if own else detail
        element = ET.SubElement(case, "failure", type=_text(own[0]["rule"] if own else "step"))
        element.set("message", _text(message))
        element.text = _text(failure_text(record, scenario))
    elif outcome == "error":
        element = ET.SubElement(case, "error", type=_text(reason or "error"), message=_text(detail))
        element.text = _text(f"{detail}\n\nrerun     {rerun(record, scenario['id'])}")
    elif outcome != "passed":
        message = ": ".join(filter(None, (outcome, reason, detail)))
        ET.SubElement(case, "skipped", type=_text(outcome), message=_text(message))


def _totals(scenarios: Iterable[JSONObject], *, skipped: bool) -> dict[str, str]:
    scenarios = list(scenarios)
    outcomes = Counter(scenario["outcome"] for scenario in scenarios)
    totals = {
        "tests": str(len(scenarios)),
        "failures": str(outcomes["failed"]),
        "errors": str(outcomes["error"]),
        "time": f"{sum(scenario['duration'] for scenario in scenarios):.3f}",
    }
    return {**totals, "skipped": str(outcomes["not-applicable"] + outcomes["inconclusive"])} if skipped else totals


def _properties(parent: ET.Element, pairs: Iterable[tuple[str, str]]) -> None:
    group = ET.SubElement(parent, "properties")
    for name, value in pairs:
        ET.SubElement(group, "property", name=name, value=_text(value))


def _text(text: str) -> str:
    return _FORBIDDEN.sub("", text)
