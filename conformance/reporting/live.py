"""What a run shows while it is on: a progress display on a terminal, plain lines anywhere else."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .events import Event, Outcome, RunFinished, RunStarted, ScenarioFinished, ScenarioResult, ScenarioStarted
from .excerpt import visible

STYLES: dict[str, str] = {
    "passed": "green",
    "failed": "bold red",
    "not-applicable": "dim",
    "inconclusive": "yellow",
    "error": "bold magenta",
}
_PAST: dict[Outcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "not-applicable": "n/a",
    "inconclusive": "inconclusive",
    "error": "in error",
}


def console_for(stream: TextIO) -> Console:
    """A console that colours only a terminal, honours NO_COLOR, and never interprets what a host sent.

    Off a terminal nothing is folded to a width: COLUMNS decides, else 100 columns.
    """
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and not encoding.startswith("utf"):
        reconfigure(errors="backslashreplace")  # a report must not die of a letter that ASCII lacks
    on_terminal = stream.isatty()
    return Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=on_terminal,
        no_color=bool(os.environ.get("NO_COLOR")) or None,
        width=None if on_terminal or os.environ.get("COLUMNS") else 100,
    )


class LiveReporter:
    """Follows the run. Call :meth:`stop` when the run ends without ``RunFinished``."""

    def __init__(self, console: Console, *, animated: bool | None = None) -> None:
        self._console = console
        self._animated = console.is_terminal and not console.is_dumb_terminal if animated is None else animated
        self._live: Live | None = None
        self._total = 0
        self._counts: Counter[Outcome] = Counter()
        self._running: dict[str, str] = {}
        self._began = time.monotonic()

    def on(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._start(event)
        elif isinstance(event, ScenarioStarted):
            self._running[event.id] = event.title
        elif isinstance(event, ScenarioFinished):
            self._running.pop(event.result.id, None)
            self._counts[event.result.outcome] += 1
            if self._live is None:
                self._line(event.result)
        elif isinstance(event, RunFinished):
            self.stop()

    def stop(self) -> None:
        """Take the progress display away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _start(self, event: RunStarted) -> None:
        self._total = event.total
        self._began = time.monotonic()
        for line in _head(event):
            self._console.print(line, soft_wrap=True)
        self._console.print()
        if self._animated:
            self._live = Live(
                self,
                console=self._console,
                refresh_per_second=10,
                transient=True,
                redirect_stdout=False,  # pytest has its own hands on both
                redirect_stderr=False,
            )
            self._live.start()

    def _line(self, result: ScenarioResult) -> None:
        place = f"{self._counts.total():>{len(str(self._total))}}/{self._total}"
        text = Text(f"{place}  ")
        text.append(f"{result.outcome:<14}", STYLES[result.outcome])
        text.append(f"  {visible(result.title)}")
        if result.reason and result.outcome != "passed":
            text.append(f"  ({visible(result.reason)})", "dim")
        self._console.print(text, soft_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        done = self._counts.total()
        bar = Table.grid(padding=(0, 1))
        bar.add_column(no_wrap=True)
        bar.add_column()
        bar.add_column(no_wrap=True)
        bar.add_column(no_wrap=True, overflow="ellipsis")
        counts = Text(", ").join(
            Text(f"{self._counts[outcome]} {_PAST[outcome]}", STYLES[outcome])
            for outcome in ("passed", "failed", "inconclusive", "not-applicable", "error")
            if self._counts[outcome] or outcome == "passed"
        )
        bar.add_row(
            Text(f"{done}/{self._total}"),
            ProgressBar(
                total=max(self._total, 1),
                completed=done,
                width=10,
                complete_style="green",
                finished_style="green",
            ),
            Text(f"{time.monotonic() - self._began:.0f} s", "dim"),
            counts,
        )
        yield bar
        for title in list(self._running.values())[:1]:
            more = f"  (and {len(self._running) - 1} more)" if len(self._running) > 1 else ""
            line = Text(f"{visible(title)}{more}", "dim", no_wrap=True, overflow="ellipsis")
            yield line


def _head(event: RunStarted) -> Iterator[Text]:
    host = event.host
    name = " ".join(filter(None, (host.name, host.version)))
    yield _pair("host", f"{visible(name)}  {visible(host.endpoint)}" if name else visible(host.endpoint))
    yield _pair("judged as", f"protocol {event.protocol}, tier {event.tier}")
    yield _pair("provoked by", ", ".join(map(visible, host.provocations)) or "client messages alone")
    yield _pair("scenarios", str(event.total))


def _pair(label: str, text: str) -> Text:
    return Text.assemble((f"{label:<12}", "dim"), text)
