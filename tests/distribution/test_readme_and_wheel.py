"""A new user: the README's first command in a fresh clone, and the wheel in an empty environment elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.registry
ROOT = Path(__file__).parents[2]


def _run(*words: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "VIRTUAL_ENV", "PYTHONPATH"))}
    done = subprocess.run(
        words, cwd=cwd, env={**env, "HOME": str(home)}, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def test_the_wheel_carries_the_suite_and_runs_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    dist = tmp_path / "dist"
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(dist), cwd=ROOT, home=home)
    (wheel,) = dist.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    features = {p.relative_to(ROOT).as_posix() for p in (ROOT / "features").rglob("*.feature")}
    assert {f"conformance/suite/{name}" for name in features} <= set(names)
    assert "conformance/reporting/run-record.schema.json" in names
    assert {"conformance/catalogue/themes.json", "conformance/catalogue/disputes.md"} <= set(names)
    assert not [n for n in names if n.startswith(("tests/", "docs/"))]

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _run(sys.executable, "-m", "venv", "env", cwd=elsewhere, home=home)
    _run("env/bin/pip", "install", "--quiet", str(wheel), cwd=elsewhere, home=home)
    done = _run("env/bin/ahp-conformance", "run", "--out", "result", cwd=elsewhere, home=home)
    record = json.loads((elsewhere / "result" / "run.json").read_text("utf-8"))
    assert record["verdict"] == "conformant", done.stdout
    assert record["counts"]["scenarios"]["passed"] >= 90
    loads = "import sys; from conformance.catalogue import load; load(); print('yaml' in sys.modules)"
    assert _run("env/bin/python", "-c", loads, cwd=elsewhere, home=home).stdout.strip() == "False"
    assert "disputed" in _run("env/bin/ahp-conformance", "explain", "AHP-INPUT-011", cwd=elsewhere, home=home).stdout
    assert not [p for p in home.rglob("*") if "ahp" in p.name.lower() or "conformance" in p.name.lower()]


def test_the_readme_certifies_with_one_command_line(tmp_path: Path) -> None:
    home, clone = tmp_path / "home", tmp_path / "clone"
    home.mkdir()
    _run("git", "clone", "--quiet", str(ROOT), str(clone), cwd=tmp_path, home=home)
    readme = (clone / "README.md").read_text("utf-8")
    match = re.search(r"<!-- certify -->\n```sh\n(.+?)\n```", readme)
    assert match is not None
    done = _run("sh", "-euc", match[1], cwd=clone, home=home)
    assert "conformant" in done.stdout.strip().splitlines()[-1] or "conformant:" in done.stdout
