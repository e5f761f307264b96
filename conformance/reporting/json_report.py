"""``run.json``: writing the run record, and reading one back."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson

from .atomic import ReportError, write_whole
from .events import JSONObject
from .record import FORMAT

_SCHEMA_NAME = "run-record.schema.json"


def write_record(record: JSONObject, path: Path) -> None:
    """Write the record, whole or not at all. Raises ReportError when the place does not take it."""
    write_whole(path, orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_record(path: Path) -> JSONObject:
    """The run record in a file. Raises ReportError, naming the first fault, when it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReportError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    try:
        record = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ReportError(f"{path} is no run record: not JSON ({error})") from None
    if isinstance(record, dict) and record.get("format") != FORMAT:
        found = repr(record.get("format"))
        raise ReportError(f"{path} is no run record of format {FORMAT}: its format is {found:.80}")
    fault = first_fault(record)
    if fault is not None:
        raise ReportError(f"{path} is no run record of format {FORMAT}: {fault}")
    return dict(record)


def first_fault(record: Any) -> str | None:
    """Where and how a value departs from the schema of the run record; None when it does not."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema())
    fault = jsonschema.exceptions.best_match(validator.iter_errors(record))
    return None if fault is None else f"at {fault.json_path}: {fault.message:.300}"


@cache
def schema() -> JSONObject:
    """The JSON Schema of the run record. Raises ReportError when the installation lacks it."""
    here = Path(__file__).resolve().parent
    # A wheel carries the schema beside this module; a checkout shows it where people look for it.
    for place in (here / _SCHEMA_NAME, here.parents[1] / "reports" / _SCHEMA_NAME):
        if place.is_file():
            return dict(orjson.loads(place.read_bytes()))
    raise ReportError(f"{_SCHEMA_NAME} is missing from this installation; install ahp-conformance again")
