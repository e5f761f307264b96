"""The report of a check that a person reads: what is broken, how the logs were read, what was not judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from .events import JSONObject
from .excerpt import visible
from .failure import Row, by_id, finding_rows
from .printing import indented, print_rows, print_section
from .summary import count

_STYLES = {
    "nothing broken": "bold green",
    "broken": "bold red",
    "nothing judged": "bold yellow",
    "error": "bold magenta",
}
_SHOWN = 50
_NAMED = 3
# How a connection began, whether its version is unknown, and what to say of it.
_HANDSHAKES = (
    ("missing", False, "the beginning is not in the log"),
    (
        "missing",
        True,
        "no handshake in the log, so only what holds at every version is judged (see --protocol)",
    ),
    ("failed", True, "the handshake came to nothing"),
)


def print_check(record: JSONObject, console: Console, *, quiet: bool = False) -> None:
    """Print the record of a check; ``quiet`` prints the verdict alone."""
    if not quiet:
        _findings(console, record, "Broken", decides=True)
        _findings(console, record, "Warnings", decides=False)
        _logs(console, record)
        _coverage(console, record)
    console.print(Text(visible(record["summary"]), _STYLES[record["verdict"]]), soft_wrap=not console.is_terminal)


def _findings(console: Console, record: JSONObject, title: str, *, decides: bool) -> None:
    """One block an obligation: the first finding in full, and how many more there are."""
    obligations = {
        id_: entry
        for id_, entry in by_id(record).items()
        if entry["verdict"] == "broken" and entry["decides"] is decides
    }
    firsts: dict[str, tuple[JSONObject, JSONObject]] = {}
    places: defaultdict[str, list[str]] = defaultdict(list)
    for log in record["logs"]:
        for finding in log["findings"]:
            for id_ in finding["obligations"]:
                if id_ in obligations:
                    firsts.setdefault(id_, (log, finding))
                    if log["log"] not in places[id_]:
                        places[id_].append(log["log"])
    if not firsts:
        return
    print_section(console, f"{title} ({count(len(firsts), 'obligation')})")
    order = sorted(firsts)
    for id_ in order[:_SHOWN]:
        log, finding = firsts[id_]
        entry = obligations[id_]
        weight = " (advisory)" if entry["advisory"] else ""
        times = "once" if entry["findings"] == 1 else f"{entry['findings']} times"
        where = f"{times}, in {visible(places[id_][0])}" + (
            f" and {count(len(places[id_]) - 1, 'log')} more" if len(places[id_]) > 1 else ""
        )
        console.print()
        print_rows(
            console,
            [
                Row("", f"{id_}  {entry['level']}{weight}\n{entry['statement']}", "rule"),
                Row("found", where),
                *finding_rows({"frames": log["evidence"]}, finding),
                Row("rule in", entry["source"]),
                Row("read", f"ahp-conformance explain {id_}", "verbatim"),
            ],
        )
    if len(order) > _SHOWN:
        console.print()
        console.print(Text(f"and {len(order) - _SHOWN} obligations more (--json shows all)"))


def _logs(console: Console, record: JSONObject) -> None:
    """A line for each log, and below it only what is out of the ordinary."""
    print_section(console, "Logs")
    console.print()
    for log in record["logs"]:
        form = {"transcript": "transcript", "log": "log", None: "empty"}[log["form"]]
        versions = sorted({c["protocol"] for c in log["connections"] if c["protocol"] is not None})
        facts = [form, count(log["frames"], "frame"), f"protocol {', '.join(versions)}" if versions else "no protocol"]
        console.print(Text.assemble((visible(log["log"]), "bold"), f"  {', '.join(facts)}"))
        for line in _remarks(log):
            console.print(indented(Text(line, "yellow"), 3))
        if "problem" in log:
            text = f"line {log['problem']['line']}: {visible(log['problem']['text'])}; nothing after it was judged"
            console.print(indented(Text(text, "bold magenta"), 3))


def _remarks(log: JSONObject) -> Iterator[str]:
    for handshake, version, remark in _HANDSHAKES:
        names = [
            visible(c["name"])
            for c in log["connections"]
            if c["handshake"] == handshake and (c["protocol"] is None) is version
        ]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{', '.join(names[:_NAMED])}{more}: {remark}"
    for unread in log["unread"]:
        yield f"not understood: {count(unread['lines'], 'line')} from line {unread['first']} on, as {unread['why']}"
    side = log.get("keptBy")
    if side is not None and side["assumed"]:
        yield "nothing shows whose view directions such as in and out are of; taken for a client's"
    if "cut" in log:
        yield f"line {log['cut']} is cut off, and was left out"


def _coverage(console: Console, record: JSONObject) -> None:
    counts = record["counts"]
    print_section(console, "Judged")
    console.print()
    tested = count(counts["met"] + counts["broken"], "obligation")
    console.print(Text(f"{tested} put to the test: {counts['met']} met, {counts['broken']} broken."))
    rest = f"Not judged: {counts['noOccasion']} for which no occasion arose, and {counts['needScenarios']} that only "
    console.print(Text(rest + "scenarios can show (ahp-conformance run).", "dim"))
    vague = sum(log["ending"] != "settled" for log in record["logs"])
    if vague:
        text = (
            f"Of {count(vague, 'log')} it is not known whether all is in it, so what only its end shows is not judged."
        )
        console.print(Text(text, "dim"))
    console.print()
