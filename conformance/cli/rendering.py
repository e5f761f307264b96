"""``report``: what a stored run looks like."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .app import USAGE, app, stop


class ReportFormat(StrEnum):
    """What a stored run can be rendered as."""

    text = "text"
    junit = "junit"


@app.command()
def report(
    record: Annotated[Path, typer.Argument(metavar="RUN.json", help="The record that run has written.")],
    format: Annotated[ReportFormat, typer.Option("--format", help="What to make of it.")] = ReportFormat.text,
    out: Annotated[Path | None, typer.Option(help="The file to write; text goes to the terminal.")] = None,
) -> None:
    """Render a stored run."""
    from conformance.reporting.atomic import ReportError
    from conformance.reporting.json_report import read_record
    from conformance.reporting.junit import write_junit
    from conformance.reporting.live import console_for
    from conformance.reporting.terminal import print_report

    try:
        stored = read_record(record)
        if format is ReportFormat.junit:
            if out is None:
                stop("--format junit needs --out FILE", USAGE)
            write_junit(stored, out)
        elif out is None:
            print_report(stored, console_for(sys.stdout), place=str(record.parent))
        else:
            with out.open("w", encoding="utf-8") as stream:
                print_report(stored, console_for(stream), place=str(record.parent))
    except ReportError as error:
        stop(str(error), USAGE)
    except OSError as error:
        stop(f"{out}: {error.strerror or error}", USAGE)
