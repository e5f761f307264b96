"""One obligation with all that this edition knows about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.text import Text

from conformance.catalogue import TIERS, Obligation, demanded
from conformance.catalogue.disputes import Dispute
from conformance.protocol.versions import BASELINE, compare

from .events import JSONObject
from .failure import Row
from .listing import window
from .printing import indented, print_rows

_FORCES = {
    "keyword": "with that word in the text",
    "declarative": "which the text states as a fact",
    "derived": "which follows from the text: advisory, it never decides a verdict",
}


@dataclass(frozen=True, slots=True)
class Carrier:
    """A scenario that judges the obligation. ``place`` is the feature file, with the line of the scenario."""

    id: str
    title: str
    place: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault of the reference host that breaks the obligation."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """``asked`` is the id that led here, which may have been merged into the obligation's; ``see`` are statements
    of its neighbours by id; ``rules`` are names of rules of the oracle."""

    asked: str
    obligation: Obligation
    scenarios: tuple[Carrier, ...]
    rules: tuple[str, ...]
    faults: tuple[Mutation, ...]
    disputes: tuple[Dispute, ...]
    see: tuple[tuple[str, str], ...]

    @property
    def tiers(self) -> list[str]:
        """The tiers whose certificate requires it."""
        return [name for name in TIERS if demanded(name, self.obligation)]

    @property
    def rerun(self) -> str | None:
        """The command line that judges just this; None where only the passing traffic can show it."""
        return f"ahp-conformance run TARGET --only {self.obligation.id}" if self.scenarios else None


def mutated_run(fault: Mutation, explanation: Explanation) -> str:
    """The command line that shows the reference host with the fault being caught."""
    only = f" --only {explanation.obligation.id}" if explanation.scenarios else ""
    return f"ahp-conformance run reference --fault {fault.name}{only}"


def as_json(explanation: Explanation) -> JSONObject:
    """All of it for programs; absent members have no value."""
    obligation = explanation.obligation
    entry = {name: value for name, value in asdict(obligation).items() if value not in (None, ())}
    entry |= {name: list(value) for name, value in entry.items() if isinstance(value, tuple)}
    return {
        **entry,
        "asked": explanation.asked,
        "source": [str(citation) for citation in obligation.citations],
        "tiers": explanation.tiers,
        "scenarios": [asdict(scenario) for scenario in explanation.scenarios],
        "rules": list(explanation.rules),
        "faults": [
            {"name": fault.name, "does": fault.doc, "run": mutated_run(fault, explanation)}
            for fault in explanation.faults
        ],
        "disputes": [asdict(dispute) for dispute in explanation.disputes],
        **({"rerun": explanation.rerun} if explanation.rerun else {}),
    }


def print_explanation(explanation: Explanation, console: Console) -> None:
    obligation = explanation.obligation
    if explanation.asked != obligation.id:
        console.print(Text(f"{explanation.asked} was merged into {obligation.id}", "dim"), soft_wrap=True)
    head = Text.assemble((obligation.id, "bold cyan"), "  ", (obligation.level, "bold"), f"  {obligation.theme}")
    console.print(head)
    console.print()
    console.print(indented(Text(obligation.statement), 3))
    for rows in (_meaning(obligation, explanation), _judgement(explanation)):
        console.print()
        print_rows(console, rows)


def _meaning(obligation: Obligation, explanation: Explanation) -> Iterator[Row]:
    tiers = f"; required in the tiers {', '.join(explanation.tiers)}" if explanation.tiers else ""
    yield Row("weight", f"{obligation.level}, {_FORCES[obligation.force]}{tiers}")
    yield Row("binds", {"reducer": "the fold that host and clients share"}.get(obligation.subject, obligation.subject))
    yield Row("versions", _versions(obligation))
    for number, citation in enumerate(obligation.citations):
        yield Row("" if number else "rule in", str(citation), "verbatim")
    if obligation.gate:
        yield Row("owed if", obligation.gate)
    yield Row("provoked", _provocation(obligation.provocation))
    yield Row("observed", obligation.observe)
    if obligation.fault:
        yield Row("broken if", obligation.fault)
    for dispute in explanation.disputes:
        yield Row("disputed", f"{dispute.id} · {dispute.title}\n{_unmarked(dispute.text)}")
    for number, (other, statement) in enumerate(explanation.see):
        yield Row("" if number else "see also", f"{other}  {statement}")
    if obligation.merged:
        yield Row("replaces", ", ".join(obligation.merged))


def _judgement(explanation: Explanation) -> Iterator[Row]:
    for number, scenario in enumerate(explanation.scenarios):
        yield Row("" if number else "scenarios", scenario.title)
        yield Row("", scenario.place, "verbatim")
    for number, rule in enumerate(explanation.rules):
        yield Row("" if number else "oracle", f"rule {rule}, over the traffic of every run and of recorded logs")
    for number, fault in enumerate(explanation.faults):
        yield Row("" if number else "faults", f"{fault.name}: {fault.doc}")
        yield Row("", mutated_run(fault, explanation), "verbatim")
    if explanation.rerun:
        yield Row("run it", explanation.rerun, "verbatim")
    elif not explanation.rules:
        yield Row("judged", "by nothing in this edition")


def _versions(obligation: Obligation) -> str:
    if obligation.since == "dev":
        return "in no release yet, so it is never judged"
    if obligation.until:
        return f"{window(obligation)}: up to, and not in, {obligation.until}"
    older = compare(obligation.since, BASELINE) < 0
    return f"since {obligation.since}" + (f", judged from {BASELINE} on" if older else "")


def _provocation(name: str) -> str:
    if name == "wire":
        return "wire: messages of a client alone"
    if name == "unobservable":
        return "unobservable: no client can make it show"
    return name


def _unmarked(text: str) -> str:
    """Markdown of a dispute as plain text, without the list of all the obligations that it is about."""
    paragraphs = [p for p in text.split("\n\n") if not p.startswith("**Obligations.**")]
    return "\n".join(paragraphs).replace("**", "").replace("`", "")
