"""The evidence for one failure, as labelled rows that every text report shows in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from .events import JSONObject
from .excerpt import compact, middle, visible, words_of

FRAME_LIMIT = 330  # characters: about five lines of a report that is 80 columns wide
_NEARBY = 2
_FINDINGS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """``look`` says how to show the text: ``prose`` may be wrapped, ``verbatim`` is there to be copied,
    ``code`` is JSON in which ``marks`` are the words that the finding is about, ``rule`` an obligation."""

    label: str
    text: str
    look: Literal["prose", "code", "verbatim", "rule"] = "prose"
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Block:
    """One finding with its evidence."""

    rows: tuple[Row, ...]


def by_id(record: JSONObject) -> dict[str, JSONObject]:
    """The obligation entries of a record by id."""
    return {entry["id"]: entry for entry in record["obligations"]}


def own_findings(scenario: JSONObject) -> list[JSONObject]:
    """The findings on what the scenario carries: those that explain why it failed."""
    own = set(scenario["obligations"])
    return [finding for finding in scenario["findings"] if not own.isdisjoint(finding["obligations"])]


def heading(obligation: JSONObject, record: JSONObject) -> str:
    """Id and level, and what else there is to know about its weight."""
    text = f"{obligation['id']}  {obligation['level']}"
    if obligation["advisory"]:
        return f"{text} (advisory)"
    if obligation["verdict"] == "waived":
        return f"{text} (waived: {visible(obligation['waiver']['reason'])})"
    if obligation["demanded"] and not obligation["level"].startswith("MUST"):
        return f"{text} (demanded by the tier {record['tier']})"
    return text


def blocks(record: JSONObject, scenario: JSONObject, base: str = "") -> Iterator[Block]:
    """The evidence of a failed scenario, one block a finding.

    ``base`` is the directory that the transcript's path is relative to, as the reader should see it.
    """
    obligations = by_id(record)
    findings = own_findings(scenario)
    for finding in findings[:_FINDINGS_SHOWN]:
        names = [name for name in finding["obligations"] if name in scenario["obligations"]]
        rows = [
            Row("", f"{heading(entry, record)}\n{entry['statement']}", "rule")
            for entry in (obligations[name] for name in names if name in obligations)
        ]
        if scenario.get("step") and finding["rule"] == "step":
            rows.append(Row("step", visible(scenario["step"])))
        rows += finding_rows(scenario, finding)
        rows += [Row("rule in", entry["source"]) for entry in sources(obligations, names)]
        rows += place_rows(record, scenario, base)
        yield Block(tuple(rows))
    rest = len(findings) - _FINDINGS_SHOWN
    if rest > 0:
        yield Block((Row("", f"and {rest} more of this scenario in run.json"),))


def sources(obligations: Mapping[str, JSONObject], names: list[str]) -> list[JSONObject]:
    """The entries of ``names``, each source once."""
    found = {obligations[name]["source"]: obligations[name] for name in names if name in obligations}
    return list(found.values())


def finding_rows(scenario: JSONObject, finding: JSONObject) -> list[Row]:
    """What is wrong, expected and seen, and the frame that shows it."""
    rows = []
    if finding["message"] not in (finding["seen"], finding["expected"]):
        rows.append(Row("what", visible(finding["message"])))
    rows.append(Row("expected", visible(finding["expected"])))
    rows.append(Row("seen", visible(finding["seen"])))
    if finding["rule"] != "step":
        rows.append(Row("oracle", f"rule {finding['rule']}"))
    return rows + _frame_rows(scenario, finding)


def place_rows(record: JSONObject, scenario: JSONObject, base: str = "") -> list[Row]:
    """Where the recording is, and how to run just this again."""
    rows = []
    if scenario.get("transcript"):
        path = PurePosixPath(base) / scenario["transcript"] if base else scenario["transcript"]
        rows.append(Row("recorded", str(path), "verbatim"))
    rows.append(Row("rerun", rerun(record, scenario["id"]), "verbatim"))
    return rows


def rerun(record: JSONObject, scenario_id: str) -> str:
    """The command line that runs just one scenario of this run again."""
    plain = scenario_id.replace("-", "").replace("_", "").replace("/", "").replace(".", "").isalnum()
    quoted = scenario_id if plain else "'" + scenario_id.replace("'", "'\\''") + "'"
    return f"{record['rerun']} --only {visible(quoted)}"


def failure_text(record: JSONObject, scenario: JSONObject) -> str:
    """The whole evidence of a failed scenario as plain text."""
    parts = [f"{scenario['title']}\n{scenario['feature']}"]
    for block in blocks(record, scenario):
        lines = []
        for row in block.rows:
            text = row.text.replace("\n", "\n" + " " * (10 if row.label else 2))
            lines.append(f"{row.label:<10}{text}" if row.label else text)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _frame_rows(scenario: JSONObject, finding: JSONObject) -> list[Row]:
    frames = scenario["frames"]
    if finding["frame"] is not None:
        shown = [frame for frame in frames if frame["n"] == finding["frame"]]
        if not shown:
            return [Row("frame", f"#{finding['frame']} of the recording")]
    else:
        shown = frames[-_NEARBY:]
    words = words_of(finding["message"], finding["expected"], finding["seen"], scenario.get("step"))
    rows = []
    for frame in shown:
        # In a log of others the client is not the suite, and the line stands for the number of the frame.
        client, number = ("client", f"line {frame['line']}") if "line" in frame else ("suite", f"#{frame['n']}")
        way = f"host to {client}" if frame["dir"] == "in" else f"{client} to host"
        rows.append(Row("frame", f"{number}  {visible(frame['conn'])}  {way}  {frame['t']:.3f} s"))
        rows.append(Row("", _payload(frame, words), "code", words))
    return rows


def _payload(frame: Mapping[str, Any], words: frozenset[str]) -> str:
    if "msg" in frame:
        return compact(frame["msg"], words=words, limit=FRAME_LIMIT)
    if "close" in frame:
        return "closed: " + compact(frame["close"], limit=FRAME_LIMIT)
    kind = frame.get("kind", "text")
    return f"{'not JSON' if kind == 'text' else kind}: {middle(visible(frame['raw']), FRAME_LIMIT)}"
