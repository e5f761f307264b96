"""The command that writes the schemas: what it writes, and that it writes all of it or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from conformance.cli import app
from conformance.cli.schemas import write_all
from conformance.protocol import VERSIONS
from conformance.protocol.publishing import documents


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["schema", *arguments])


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_every_version_is_written_by_default(tmp_path: Path) -> None:
    done = run("--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert files_in(tmp_path) == {f"{version}/{name}" for version in VERSIONS for name in documents(version)}
    written = json.loads((tmp_path / "0.9.0" / "state.schema.json").read_text("utf-8"))
    assert written == documents("0.9.0")["state.schema.json"]


def test_versions_may_be_chosen(tmp_path: Path) -> None:
    done = run("--out", str(tmp_path / "deep" / "er"), "--protocol", "1.0.0", "--protocol", "0.6.0")
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "deep" / "er").iterdir()} == {"0.6.0", "1.0.0"}
    assert [line.rpartition("/")[2] for line in done.output.splitlines()] == ["0.6.0: 7 files", "1.0.0: 7 files"]


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    run("--out", str(tmp_path), "--protocol", "0.6.0")
    before = {path: path.read_bytes() for path in (tmp_path / "0.6.0").iterdir()}
    (tmp_path / "0.6.0" / "notes.txt").write_text("mine")
    assert run("--out", str(tmp_path), "--protocol", "0.6.0").exit_code == 0
    assert {path: path.read_bytes() for path in before} == before
    assert (tmp_path / "0.6.0" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("version", ["0.9.3", "0.5.2", "six", ""])
def test_an_unknown_version_is_refused(tmp_path: Path, version: str) -> None:
    done = run("--out", str(tmp_path / "new"), "--protocol", "0.6.0", "--protocol", version)
    assert done.exit_code == 2
    assert f"unknown protocol version {version!r}; known are 0.6.0, 0.7.0, 0.8.0, 0.9.0, 1.0.0" in done.output
    assert not (tmp_path / "new").exists()


def test_a_place_is_asked_for() -> None:
    done = run()
    assert done.exit_code == 2
    assert "--out" in done.output


def test_a_place_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    done = run("--out", str(tmp_path / "taken"))
    assert done.exit_code == 2
    assert "cannot write" in done.output
    assert "nothing was changed" in done.output
    assert (tmp_path / "taken").read_text() == "mine"


def test_nothing_is_left_of_a_set_that_could_not_be_finished(tmp_path: Path) -> None:
    # A folder stands where the last file of the last version should go.
    blocked = tmp_path / VERSIONS[-1] / "state.schema.json"
    blocked.mkdir(parents=True)
    (tmp_path / "0.6.0").mkdir()
    old = tmp_path / "0.6.0" / "index.json"
    old.write_text("old")
    done = run("--out", str(tmp_path))
    assert done.exit_code == 2
    assert str(blocked) in done.output.replace("\n", "")
    assert files_in(tmp_path) == {"0.6.0/index.json"}
    assert old.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"0.6.0", VERSIONS[-1]}


def test_a_folder_that_was_made_in_vain_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError):
        write_all({tmp_path / "a" / "c" / "file": b"1", tmp_path / "b": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
