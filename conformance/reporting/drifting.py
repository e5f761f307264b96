"""What has changed in the specification, for whoever maintains the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import get_args

from rich.console import Console
from rich.text import Text

from conformance.catalogue.drift import Difference, Drift, Kind

from .events import JSONObject

_HEADINGS: dict[Kind, str] = {
    "changed": "Changed: read these obligations again",
    "vanished": "Vanished: what these obligations cite is not there",
    "new": "New: binding, and cited by no obligation unless one is named",
}


def as_json(drift: Drift) -> JSONObject:
    """The whole comparison. ``elsewhere`` are citations of versions that this specification has not reached."""
    return {
        "specification": drift.specification,
        "version": drift.version,
        "kept": drift.kept,
        "unchanged": drift.unchanged,
        "known": drift.known,
        **{kind: [_difference(difference) for difference in drift.of(kind)] for kind in get_args(Kind)},
        "elsewhere": [
            asdict(elsewhere) | {"obligations": list(elsewhere.obligations)} for elsewhere in drift.elsewhere
        ],
    }


def _difference(difference: Difference) -> JSONObject:
    return {"file": difference.file, "place": difference.place, "obligations": list(difference.obligations)}


def print_drift(drift: Drift, console: Console) -> None:
    """Section by section, with the obligations that cite it; then what cannot be told here, and the sum."""
    declared = f" ({drift.version})" if drift.version else ""
    console.print(Text(f"{drift.specification}{declared}, compared with the text of {drift.kept}"), soft_wrap=True)
    for kind, heading in _HEADINGS.items():
        found = drift.of(kind)
        if found:
            console.print()
            console.print(Text(f"{heading} ({len(found)})", "bold"), soft_wrap=True)
            _print_files(found, console)
    if drift.elsewhere:
        console.print()
        console.print(Text("Not in this checkout by design", "bold"))
        places = Counter(elsewhere.since for elsewhere in drift.elsewhere)
        for since, count in sorted(places.items()):
            ids = {id_ for elsewhere in drift.elsewhere if elsewhere.since == since for id_ in elsewhere.obligations}
            what = "in no release yet" if since == "dev" else f"since {since}"
            console.print(Text(f"  {what}: {_count(count, 'place')} that {_count(len(ids), 'obligation')} cite"))
    console.print()
    console.print(Text(summary(drift), "bold" if drift.differences else "green"), soft_wrap=True)


def _print_files(found: Sequence[Difference], console: Console) -> None:
    for file, differences in groupby(found, key=lambda difference: difference.file):
        console.print(Text(f"  {file}", "cyan"), soft_wrap=True)
        for difference in differences:
            console.print(Text(f"    {difference.place}"), soft_wrap=True)
            if difference.obligations:
                console.print(Text(f"      {', '.join(difference.obligations)}", "dim"), soft_wrap=True)


def summary(drift: Drift) -> str:
    """One line: what differs, and what does not."""
    if not drift.differences:
        return f"no drift: {_count(drift.unchanged, 'cited section')} as kept"
    counts = ", ".join(f"{len(found)} {kind}" for kind in get_args(Kind) if (found := drift.of(kind)))
    concerned = {id_ for difference in drift.differences for id_ in difference.obligations}
    return (
        f"drift: {counts}, which concern {_count(len(concerned), 'obligation')};"
        f" {_count(drift.unchanged, 'cited section')} as kept"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
