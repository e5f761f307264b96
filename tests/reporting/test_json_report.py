"""run.json is there whole or not at all, and what is read back is a run record."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conformance.reporting.atomic import ReportError, make_directory, write_whole
from conformance.reporting.json_report import read_record, schema, write_record

from .samples import MUST, record, result, varied


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    made = record(varied())
    path = tmp_path / "deep" / "run.json"
    write_record(made, path)
    assert read_record(path) == made
    assert [entry.name for entry in path.parent.iterdir()] == ["run.json"]


def test_the_schema_is_a_schema_and_the_published_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    published = Path(__file__).parents[2] / "reports" / "run-record.schema.json"
    assert schema() == json.loads(published.read_text("utf-8"))


@pytest.mark.parametrize("place", ["file/out", "file"])
def test_a_place_that_takes_nothing_is_one_clear_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    refusal = r"^cannot write .*file.*; choose a writable place with --out$"
    with pytest.raises(ReportError, match=refusal):
        make_directory(tmp_path / place)
    with pytest.raises(ReportError, match=refusal):
        write_record(record([]), tmp_path / place / "run.json")


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write_whole(path, b"old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("conformance.reporting.atomic.os.fsync", full)
    with pytest.raises(ReportError, match="no space left on device"):
        write_whole(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.json"]
    assert path.read_bytes() == b"old"


def test_the_directory_is_made_and_left_empty(tmp_path: Path) -> None:
    make_directory(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not JSON"),
        ("[]", r"at \$: "),
        ("{}", "its format is None"),
        ('{"format": "ahp-conformance-run/2"}', "its format is 'ahp-conformance-run/2'"),
        ('{"format": "ahp-conformance-run/1"}', "is a required property"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(ReportError, match=words):
        read_record(path)


def test_a_record_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    made = record([result("good", MUST)])
    made["scenarios"][0]["outcome"] = "splendid"
    write_record(made, tmp_path / "run.json")
    with pytest.raises(ReportError, match=r"scenarios\[0\]\.outcome"):
        read_record(tmp_path / "run.json")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"cannot read .*nowhere\.json: no such file"):
        read_record(tmp_path / "nowhere.json")
