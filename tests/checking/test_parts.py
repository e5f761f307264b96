"""Parts of right traffic are right: a log may begin anywhere, end anywhere, and hold one connection out of many.

All scenarios are played against the reference host; each recording is then cut as logs of others are, and nothing may
be found in any part.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.checking.judging import judge_log

JSON = Any
CUTS = (3, 9, 20)


@pytest.fixture(scope="module", params=["0.6.0", "0.9.0"])
def recordings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path]]:
    out = tmp_path_factory.mktemp("parts")
    command = [sys.executable, "-m", "conformance", "run", "--quiet", "--protocol", request.param, "--out", str(out)]
    assert subprocess.run(command, check=False, capture_output=True, timeout=300).returncode == 0
    return request.param, sorted((out / "transcripts").glob("*.jsonl"))


def parts(recording: Path) -> Iterator[tuple[str, list[JSON]]]:
    """What a log may have of a recording, as a log that somebody else wrote."""
    lines = [orjson.loads(line) for line in recording.read_bytes().splitlines()]
    lines = [
        {"ts": line["t"], "dir": "c2s" if line["dir"] == "out" else "s2c", "conn": line["conn"], "msg": line["msg"]}
        for line in lines
        if "msg" in line
    ]
    names = dict.fromkeys(line["conn"] for line in lines)
    for name in names:
        yield f"only {name}", [line for line in lines if line["conn"] == name]
        yield f"all but {name}", [line for line in lines if line["conn"] != name]
    for cut in CUTS:
        yield f"from {cut}", lines[cut:]
        yield f"up to {cut}", lines[:cut]


@pytest.mark.parametrize("told", [True, False], ids=["version-told", "version-unknown"])
def test_nothing_is_found_in_parts_of_right_traffic(recordings: tuple[str, list[Path]], told: bool) -> None:
    version, paths = recordings
    found = []
    judged = 0
    for path in paths:
        for name, lines in parts(path):
            encoded = [orjson.dumps(line) + b"\n" for line in lines]
            result = judge_log(name, lambda encoded=encoded: encoded, version=version if told else None)  # type: ignore[misc]
            found += [(path.stem, name, f.rule, f.obligations, f.message) for f in result.findings]
            judged += 1
    assert judged > 4000
    assert found == []
