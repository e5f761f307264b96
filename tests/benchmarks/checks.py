"""Speed of ``check``: frames a second, the ratio to plain ``jsonschema``, the price of history, and memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from conformance.oracle import Oracle
from conformance.protocol import METHODS, schema_for
from conformance.protocol.actions import action_type_name
from conformance.wire.frames import Frame
from conformance.wire.transcript import write_transcript

from .traffic import long_chat, ordinary

RUNS = 3


def check_speed() -> None:
    """The whole command on a file, and what of it grows with the file."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.jsonl"), Path(folder, "large.jsonl")
        counts = [_write(small, ordinary(400)), _write(large, ordinary(4000))]
        (quick, little), (slow, much) = (_command(path) for path in (small, large))
        rate = (counts[1] - counts[0]) / (slow - quick)
        print(f"check, schemas and folds: {rate:,.0f} frames a second ({counts[1]:,} frames in {slow:.1f} s)")
        print(f"check, memory: {little} MB for {counts[0]:,} frames, {much} MB for {counts[1]:,}")


def against_plain_jsonschema() -> None:
    """The same frames: judged in full, and merely validated by the explaining validator."""
    frames = list(ordinary(60))
    document = schema_for("0.9.0")
    validators: dict[str, Any] = {}
    began = time.perf_counter()
    for frame in frames:
        for name, value in _typed(frame):
            if name not in validators:
                pointer = name.replace("/", "~1")
                validators[name] = Draft202012Validator({**document, "$ref": f"#/$defs/{pointer}"})
            assert validators[name].is_valid(value)
    plain = time.perf_counter() - began
    oracle = min(_judge(frames) for _ in range(RUNS))
    print(
        f"the oracle with everything: {len(frames) / oracle:,.0f} frames a second; jsonschema, validating alone:"
        f" {len(frames) / plain:,.0f}; ratio {plain / oracle:.0f}"
    )


def _typed(frame: Frame) -> Iterable[tuple[str, Any]]:
    """What of a frame has a schema: params or action, and results with the snapshots in them."""
    message = frame.msg
    method = message.get("method")
    if method is None:
        snapshots = (message.get("result") or {}).get("snapshots") or []
        single = (message.get("result") or {}).get("snapshot")
        yield from (("Snapshot", value) for value in [*snapshots, *([single] if single else [])])
        return
    if method in ("action", "dispatchAction"):
        yield action_type_name(message["params"]["action"]["type"]), message["params"]["action"]
    yield METHODS[method].params_type, message["params"]


def history() -> None:
    """What a turn costs in a chat with a history: it may grow with what changes, not with what was."""
    for turns in (10, 1_000, 10_000):
        frames = list(long_chat(turns, 200))
        best = 1e9
        for _ in range(RUNS):
            oracle = Oracle()
            for frame in frames[:8]:
                oracle.feed(frame)
            began = time.perf_counter()
            for frame in frames[8:]:
                oracle.feed(frame)
            best = min(best, time.perf_counter() - began)
        print(f"a chat of {turns:,} turns: {best / (len(frames) - 8) * 1e6:.1f} µs a frame")


def _judge(frames: Iterable[Frame]) -> float:
    oracle = Oracle()
    began = time.perf_counter()
    for frame in frames:
        oracle.feed(frame)
    oracle.end()
    assert not oracle.findings
    return time.perf_counter() - began


def _write(path: Path, frames: Iterable[Frame]) -> int:
    write_transcript(path, frames)
    with path.open("rb") as stream:
        return sum(1 for _ in stream)


def _command(path: Path) -> tuple[float, int]:
    """Seconds of the whole command, the best of a few, and the memory of the process in MB."""
    best, peak = 1e9, 0
    for _ in range(RUNS):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", _CHILD, str(path)], check=True, capture_output=True, text=True)
        best = min(best, time.perf_counter() - began)
        peak = int(done.stderr.strip()) // 1024
    return best, peak


_CHILD = """
import resource, sys
sys.argv = ["ahp-conformance", "check", "--quiet", sys.argv[1]]
from conformance.cli import main
try:
    main()
except SystemExit:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def main() -> None:
    check_speed()
    against_plain_jsonschema()
    history()


if __name__ == "__main__":
    main()
