"""Speed, measured: ``python -m tests.benchmarks``. Figures, no verdict; nothing here is part of a test.

Each figure is the best of a few runs, because the machine is shared and what disturbs it only slows it down.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import checks

RUNS = 3


def _run(*arguments: str) -> tuple[float, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "conformance", "run", "--quiet", "--out", folder, *arguments],
            check=False,
            capture_output=True,
        )
        wall = time.perf_counter() - began
        return wall, json.loads((Path(folder) / "run.json").read_text("utf-8"))


def _played(record: dict[str, Any]) -> float:
    return sum(float(s["duration"]) for s in record["scenarios"])


def _best(*arguments: str) -> tuple[float, dict[str, Any]]:
    return min((_run(*arguments) for _ in range(RUNS)), key=lambda run: _played(run[1]))


def scenarios_per_second() -> None:
    for version in ("0.6.0", "0.9.0"):
        wall, record = _best("--protocol", version)
        count = sum(v for k, v in record["counts"]["scenarios"].items() if k in ("passed", "failed"))
        played = _played(record)
        print(
            f"{version}: {count} scenarios in {played:.2f} s, observer included: {count / played:.0f} a second"
            f" (whole command {wall:.2f} s)"
        )


def patience() -> None:
    # Alternating, so that what disturbs the machine disturbs both.
    short, long = [], []
    for _ in range(RUNS):
        short.append(_played(_run("--patience", "2")[1]))
        long.append(_played(_run("--patience", "60")[1]))
    print(
        f"patience 60 s against 2 s: {min(long):.2f} s against {min(short):.2f} s, ratio {min(long) / min(short):.2f}"
    )


def start_up() -> None:
    for words, what in (
        (["--help"], "--help"),
        (["run", "--only", "AHP-PING-001", "--quiet"], "run of the ping scenarios, everything included"),
    ):
        best = min(_time(words) for _ in range(RUNS))
        print(f"ahp-conformance {what}: {best:.2f} s")


def first_scenario() -> None:
    """From the start of the process to the first scenario's first line, over a whole collection."""
    best = 1e9
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, "-m", "conformance", "run", "--out", folder]
            began = time.perf_counter()
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    if line.strip().startswith("1/"):
                        best = min(best, time.perf_counter() - began)
                        break
                process.stdout.read()
    print(f"run reaches the end of its first scenario after {best:.2f} s")


def _time(words: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        more = ["--out", folder] if words[0] == "run" else []
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "conformance", *words, *more], check=False, capture_output=True)
        return time.perf_counter() - began


def main() -> None:
    start_up()
    first_scenario()
    scenarios_per_second()
    patience()
    checks.main()


main()
