"""``run``: judge a live host."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from .app import ERROR, USAGE, app, refuse_unjudged, stop
from .starting import TakesCommand, command_of, interruptible, name_of, rerun_prefix

if TYPE_CHECKING:
    from conformance.drivers import Driver
    from conformance.running.settings import Settings


# Of several runs the gravest one decides: broken, then no judgement, then incomplete.
_GRAVEST_FIRST: Final = (1, 4, 2, 3, 0)


class TokenPlace(StrEnum):
    """Where the connection token goes."""

    query = "query"
    header = "header"


class FramingName(StrEnum):
    """How messages travel."""

    websocket = "websocket"
    lines = "lines"
    headers = "headers"


class TierName(StrEnum):
    """How deep a host is judged."""

    core = "core"
    turns = "turns"
    tool_auth = "tool-auth"
    full = "full"


class LevelName(StrEnum):
    """The weakest level that is run."""

    must = "must"
    should = "should"
    may = "may"


@app.command(cls=TakesCommand)
def run(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            help="reference (the embedded host), ws://HOST:PORT, wss://HOST:PORT, unix:PATH, code-server[@VERSION],"
            " a profile (TOML file), the name of an installed driver, or module:Class of one. In its place, after --,"
            " a command that starts the host; {port} in it stands for a free port."
        ),
    ] = "reference",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for run.json, junit.xml and transcripts. Default: a new one in reports/local/."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="The AHP version to offer; repeated, the host is judged once by each. Default: all that are known are"
            " offered, newest first, and the host picks."
        ),
    ] = None,
    tier: Annotated[
        TierName | None, typer.Option(help="Default: the deepest one that the host can be provoked to.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Obligation id, tag, scenario id or text; may be repeated.")
    ] = None,
    level: Annotated[LevelName, typer.Option(help="The weakest level to run.")] = LevelName.may,
    patience: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Seconds that anything which must come may take. Default: as the profile says, else 10."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that share the scenarios.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="A broken SHOULD makes the verdict broken too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the verdict alone.")] = False,
    token_env: Annotated[str | None, typer.Option(help="Environment variable that holds the connection token.")] = None,
    token_in: Annotated[TokenPlace, typer.Option(help="Where the token goes.")] = TokenPlace.query,
    endpoint: Annotated[
        str | None,
        typer.Option(help="Where a host that a command starts listens. Default: ws://127.0.0.1:{port}."),
    ] = None,
    ready_line: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="A line that such a host prints when it is ready; a group url or port in it says where it listens.",
        ),
    ] = None,
    framing: Annotated[
        FramingName,
        typer.Option(help="Other than websocket: the host speaks over its standard input and output."),
    ] = FramingName.websocket,
    command: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The same as what may stand after --, as one quoted text.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Reference host only: a way in which it misbehaves; may be repeated.", hidden=True),
    ] = None,
) -> None:
    """Judge a host. Exit code 0: conformant, 1: broken, 2: wrong usage, 3: incomplete, 4: no judgement."""
    from dataclasses import replace

    from conformance.running.settings import Settings

    versions = tuple(dict.fromkeys(protocol or ()))
    for version in versions:
        refuse_unjudged(version)
    words = command_of(ctx, command)
    if not words and (endpoint is not None or ready_line is not None or framing is not FramingName.websocket):
        stop("--endpoint, --ready-line and --framing are about a host that a command after -- starts", USAGE)
    settings = Settings(
        target=name_of(words) if words else target,
        token_env=token_env,
        token_in=token_in.value,
        only=tuple(only or ()),
        level=level.value,
        faults=tuple(fault or ()),
        command=words,
        endpoint=endpoint,
        ready_line=ready_line,
        framing=framing.value,
    )
    how = _How(tier.value if tier else None, patience, workers, strict=strict, quiet=quiet)
    if len(versions) > 1:
        raise typer.Exit(_run_each(settings, versions, out, how))
    if versions:
        settings = replace(settings, offers=versions)
    raise typer.Exit(_run(settings, out, how))


@dataclass(frozen=True, slots=True)
class _How:
    """What a run is told beside its settings."""

    tier: str | None
    patience: float | None
    workers: int
    strict: bool
    quiet: bool


def _run_each(settings: Settings, versions: Sequence[str], out: Path | None, how: _How) -> int:
    """One run for each version, in folders of their own; the worst verdict is that of all."""
    from dataclasses import replace

    from conformance.running.runner import RunProblem, default_place

    base = out if out is not None else default_place(settings.target)
    lines: list[str] = []
    codes: list[int] = []
    for version in versions:
        if not how.quiet:
            typer.echo(f"Protocol {version}")
        try:
            code, line = _run_at(replace(settings, offers=(version,)), base / version, how)
        except RunProblem as problem:
            code, line = problem.code, str(problem)
            typer.echo(f"ahp-conformance: {line}", err=True)
        codes.append(code)
        lines.append(f"{version}  {line}")
    if not how.quiet:
        typer.echo("")
        for line in lines:
            typer.echo(line)
    return min(codes, key=_GRAVEST_FIRST.index)


def _run(settings: Settings, out: Path | None, how: _How) -> int:
    from conformance.running.runner import RunProblem, default_place

    try:
        return _run_at(settings, out if out is not None else default_place(settings.target), how)[0]
    except RunProblem as problem:
        stop(str(problem), problem.code)


def _run_at(settings: Settings, place: Path, how: _How) -> tuple[int, str]:
    """The exit code of a run and its closing line. Raises RunProblem, and leaves no empty folder then."""
    from dataclasses import replace

    from conformance.reporting.atomic import ReportError, make_directory

    with interruptible():
        driver = _made(settings, how.patience)
        new = not place.exists()
        try:
            make_directory(place)
        except ReportError as error:
            stop(str(error), USAGE)
        settings = replace(settings, out=str(place))
        settings.keep_evidence(driver)
        try:
            patience = _started(driver, how.patience, settings.patience)
            try:
                return _judged(driver, replace(settings, patience=patience), place, how)
            finally:
                driver.stop()
        finally:
            if new and not any(place.iterdir()):
                place.rmdir()


def _judged(
    driver: Driver,
    settings: Settings,
    place: Path,
    how: _How,
) -> tuple[int, str]:
    from conformance.catalogue import load
    from conformance.reporting.atomic import ReportError
    from conformance.reporting.events import EventStream
    from conformance.reporting.record import RunRecorder
    from conformance.reporting.terminal import TerminalReporter
    from conformance.reporting.verdict import EXIT_CODES
    from conformance.running.coverage import covered, occasional
    from conformance.running.runner import build_theatre, play, refuse_foreign_versions

    theatre = build_theatre(driver, settings)
    refuse_foreign_versions(theatre)
    recorder, terminal = RunRecorder(), TerminalReporter(sys.stdout, quiet=how.quiet)
    play(
        driver,
        theatre,
        settings,
        EventStream([recorder, terminal]),
        tier=how.tier,
        rerun_prefix=rerun_prefix(settings),
        workers=how.workers,
    )
    from conformance.reporting.json_report import write_record
    from conformance.reporting.junit import write_junit

    catalogue = load()
    selection = settings.only if settings.level == "may" else (*settings.only, f"level {settings.level}")
    record = recorder.record(
        catalogue,
        covered=covered(catalogue),
        occasional=occasional(),
        selection=selection,
        strict=how.strict,
        waivers=getattr(driver, "waivers", None),
    )
    try:
        write_record(record, place / "run.json")
        write_junit(record, place / "junit.xml")
    except ReportError as error:
        stop(str(error), ERROR)
    terminal.finish(record, place=str(place))
    return EXIT_CODES[record["verdict"]], str(record["summary"])


def _made(settings: Settings, patience: float | None) -> Driver:
    from conformance.drivers import TargetError

    try:
        return settings.driver(timeout=patience)
    except TargetError as error:
        stop(str(error), USAGE)


def _started(driver: Driver, asked: float | None, default: float) -> float:
    """Start the driver, with one clear line when that fails; the patience of the run in seconds.

    ``asked`` is what was asked for; without it the driver may know how patient one has to be with its host.
    """
    from conformance.drivers import DriverError, TargetError
    from conformance.wire.errors import BadUrl, ConnectError

    try:
        driver.start()
    except (BadUrl, TargetError) as error:
        driver.stop()
        stop(str(error), USAGE)
    except (DriverError, ConnectError, OSError) as error:
        driver.stop()
        stop(str(error), ERROR)
    except BaseException:
        driver.stop()
        raise
    return asked or getattr(driver, "patience", None) or default
