"""Running the command as a person would: a process of its own, its output, its exit code, its record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What the command left behind; ``record`` is its run.json, or None."""

    code: int
    out: str
    err: str
    record: dict[str, Any] | None

    def outcomes(self) -> dict[str, str]:
        """The outcome of each scenario by id."""
        assert self.record is not None, self.err
        return {s["id"]: s["outcome"] for s in self.record["scenarios"]}


def ahp(*arguments: str, cwd: Path, out: Path | None = None, **environment: str) -> Outcome:
    """Run ``ahp-conformance`` with these arguments in ``cwd``."""
    words = [sys.executable, "-m", "conformance", *arguments]
    if out is not None:
        words += ["--out", str(out)]
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **environment}
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env=env, check=False, timeout=300)
    record = None
    if out is not None and (out / "run.json").exists():
        record = json.loads((out / "run.json").read_text("utf-8"))
    return Outcome(done.returncode, done.stdout, done.stderr, record)
