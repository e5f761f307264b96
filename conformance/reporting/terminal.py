"""The report that a person reads when a run is over.

Failures first, each with its evidence; then what the oracle saw on the side, warnings, what could not be
judged and what to do about it; then the numbers; and the verdict last, where the eye rests.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.text import Text

from .advice import advice
from .events import OUTCOMES, Event, JSONObject
from .excerpt import visible
from .failure import Row, blocks, by_id, finding_rows, heading, own_findings, place_rows, rerun
from .live import STYLES, LiveReporter, console_for
from .printing import indented, print_rows, print_section, table
from .summary import count

_EXAMPLES = 3
_IN_FULL = 25  # a host that fails everything gets one line for each failure after so many
_VERDICT_STYLES = {
    "conformant": "bold green",
    "broken": "bold red",
    "incomplete": "bold yellow",
    "error": "bold magenta",
}
_COLUMNS = (
    ("met", "green"),
    ("broken", "bold red"),
    ("waived", "yellow"),
    ("undecided", "yellow"),
    ("not-applicable", "dim"),
)


class TerminalReporter:
    """Shows a run while it is on, and its record when it is over. ``quiet`` leaves the verdict alone."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False, console: Console | None = None) -> None:
        self.console = console or console_for(stream or sys.stdout)
        self._quiet = quiet
        self._live = None if quiet else LiveReporter(self.console)

    def on(self, event: Event) -> None:
        if self._live is not None:
            self._live.on(event)

    def finish(self, record: JSONObject, *, place: str = "") -> None:
        """Print the report. ``place`` is the output directory as the reader should see it."""
        if self._live is not None:
            self._live.stop()
        print_report(record, self.console, place=place, quiet=self._quiet)


def print_report(record: JSONObject, console: Console, *, place: str = "", quiet: bool = False) -> None:
    """Print the report of a run record; ``quiet`` prints the verdict alone."""
    if not quiet:
        obligations = by_id(record)
        grave: list[JSONObject] = []
        light: list[JSONObject] = []
        for scenario in record["scenarios"]:
            if scenario["outcome"] == "failed":
                (grave if _grave(scenario, obligations) else light).append(scenario)
        _failures(console, "Failures", grave, record, place, first=1)
        _errors(console, record)
        _side_findings(console, record, obligations, place)
        _failures(console, "Warnings", light, record, place, first=len(grave) + 1)
        _inconclusive(console, record, place)
        _numbers(console, record, place)
    console.print(
        Text(visible(record["summary"]), _VERDICT_STYLES[record["verdict"]]),
        soft_wrap=not console.is_terminal,
    )


def _grave(scenario: JSONObject, obligations: dict[str, JSONObject]) -> bool:
    """Whether a failed scenario shows something that breaks the run, not only a warning."""
    named = {name for finding in own_findings(scenario) for name in finding["obligations"]}
    entries = [obligations[name] for name in named & set(scenario["obligations"]) if name in obligations]
    return not entries or any(entry["decides"] and entry["verdict"] != "waived" for entry in entries)


def _failures(
    console: Console, title: str, scenarios: list[JSONObject], record: JSONObject, place: str, *, first: int
) -> None:
    if not scenarios:
        return
    print_section(console, f"{title} ({len(scenarios)})")
    for number, scenario in enumerate(scenarios, start=first):
        style = "bold red" if title == "Failures" else "bold yellow"
        if number - first >= _IN_FULL:
            break
        console.print()
        console.print(Text.assemble((f"{number}  ", style), (visible(scenario["title"]), "bold")))
        console.print(indented(Text(visible(scenario["feature"]), "dim"), 3))
        for block in blocks(record, scenario, place):
            console.print()
            print_rows(console, block)
    if len(scenarios) > _IN_FULL:
        console.print()
        console.print(Text(f"and {len(scenarios) - _IN_FULL} more, with their evidence in run.json:"))
    for scenario in scenarios[_IN_FULL:]:
        console.print(Text.assemble("   ", (visible(scenario["id"]), "cyan")), soft_wrap=True)


def _errors(console: Console, record: JSONObject) -> None:
    errors = [scenario for scenario in record["scenarios"] if scenario["outcome"] == "error"]
    if not errors:
        return
    print_section(console, f"Errors of the suite ({len(errors)})")
    console.print(Text("These scenarios judge nothing. The host is not to blame; please report them."))
    for scenario in errors:
        console.print()
        console.print(Text.assemble(("!  ", "bold magenta"), (visible(scenario["title"]), "bold")))
        rows = [Row("error", visible(scenario.get("detail") or scenario.get("reason") or "unknown"))]
        print_rows(console, [*rows, Row("rerun", rerun(record, scenario["id"]), "verbatim")])


def _side_findings(console: Console, record: JSONObject, obligations: dict[str, JSONObject], place: str) -> None:
    """Oracle findings on obligations other than those of the scenario in which they were made."""
    firsts: dict[str, tuple[JSONObject, JSONObject]] = {}
    numbers: Counter[str] = Counter()
    places: defaultdict[str, set[str]] = defaultdict(set)
    for scenario in record["scenarios"]:
        if scenario["outcome"] == "error":
            continue
        for finding in scenario["findings"]:
            for name in finding["obligations"]:
                if name in scenario["obligations"] or name not in obligations:
                    continue
                firsts.setdefault(name, (scenario, finding))
                numbers[name] += 1
                places[name].add(scenario["id"])
    if not firsts:
        return
    print_section(console, f"Seen by the oracle in passing ({count(len(firsts), 'obligation')})")
    order = sorted(firsts, key=lambda name: (not obligations[name]["decides"], -numbers[name], name))
    for name in order:
        scenario, finding = firsts[name]
        entry = obligations[name]
        console.print()
        times = "once" if numbers[name] == 1 else f"{numbers[name]} times"
        often = f"{times}, in {count(len(places[name]), 'scenario')}; the first:"
        print_rows(
            console,
            [
                Row("", f"{heading(entry, record)}\n{entry['statement']}", "rule"),
                Row("found", often),
                *finding_rows(scenario, finding),
                Row("rule in", entry["source"]),
                *place_rows(record, scenario, place),
            ],
        )


def _inconclusive(console: Console, record: JSONObject, place: str) -> None:
    groups: defaultdict[str, list[JSONObject]] = defaultdict(list)
    for scenario in record["scenarios"]:
        if scenario["outcome"] == "inconclusive":
            groups[scenario.get("reason", "no reason given")].append(scenario)
    if not groups:
        return
    print_section(console, f"Could not be judged ({sum(map(len, groups.values()))})")
    for reason, scenarios in sorted(groups.items(), key=lambda item: -len(item[1])):
        console.print()
        console.print(Text.assemble((visible(reason), "bold yellow"), f"  {count(len(scenarios), 'scenario')}"))
        console.print(indented(Text(advice(reason)), 3))
        for scenario in scenarios[:_EXAMPLES]:
            detail = scenario.get("detail", "")
            console.print(indented(Text(f"- {visible(scenario['title'])}"), 3))
            if detail:
                console.print(indented(Text(visible(detail, lines=True), "dim"), 5))
        if len(scenarios) > _EXAMPLES:
            console.print(indented(Text(f"- and {len(scenarios) - _EXAMPLES} more", "dim"), 3))
        print_rows(console, place_rows(record, scenarios[0], place))


def _numbers(console: Console, record: JSONObject, place: str) -> None:
    print_section(console, "Summary")
    console.print()
    levels = [(level, [verdicts[name] for name, _ in _COLUMNS]) for level, verdicts in _levels(record)]
    console.print(table("obligations", _COLUMNS, levels))
    console.print()
    outcomes = record["counts"]["scenarios"]
    row = (f"{len(record['scenarios'])} in {record['duration']:.1f} s", [outcomes[name] for name in OUTCOMES])
    console.print(table("scenarios", [(name, STYLES[name]) for name in OUTCOMES], [row]))
    spent = sum(scenario["duration"] for scenario in record["scenarios"])
    waited = sum(scenario.get("waited", 0.0) for scenario in record["scenarios"])
    if spent:
        console.print(Text(f"{waited / spent:.0%} of the time of the scenarios was spent waiting for the host.", "dim"))
    console.print()
    excused = Counter(
        scenario.get("reason", "no reason given")
        for scenario in record["scenarios"]
        if scenario["outcome"] == "not-applicable"
    )
    if excused:
        reasons = ", ".join(f"{visible(reason)} ({n})" for reason, n in excused.most_common())
        console.print(Text(f"Not applicable because of: {reasons}.", "dim"))
    catalogue = record["catalogue"]
    console.print(
        Text(
            f"This edition judges {catalogue['covered']} of the {catalogue['obligations']} obligations "
            "in its catalogue.",
            "dim",
        )
    )
    for name in record.get("staleWaivers", ()):
        console.print(Text(f"The waiver of {name} is no longer needed: it is not broken.", "yellow"))
    if place:
        console.print(Text.assemble(("Report in ", "dim"), (visible(place), "cyan")), soft_wrap=True)
    console.print()


def _levels(record: JSONObject) -> Iterator[tuple[str, Counter[str]]]:
    rows: dict[str, Counter[str]] = {name: Counter() for name in ("MUST", "SHOULD", "MAY", "advisory")}
    for entry in record["obligations"]:
        name = "advisory" if entry["advisory"] else entry["level"].split()[0]
        rows[name][entry["verdict"]] += 1
    yield from ((name, verdicts) for name, verdicts in rows.items() if verdicts)
