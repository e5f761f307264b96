"""``doctor``: is a host reachable, what does it speak, what can be judged, and what would make it more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import ERROR, USAGE, app, stop
from .judging import FramingName, TokenPlace
from .starting import TakesCommand, command_of, interruptible, name_of, rerun_prefix

if TYPE_CHECKING:
    from conformance.drivers import Driver
    from conformance.running.diagnosis import Diagnosis
    from conformance.running.settings import Settings
    from conformance.wire.errors import ConnectError

JSON = Any


@app.command(cls=TakesCommand)
def doctor(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            help="What run takes: reference (the embedded host), ws://HOST:PORT, wss://HOST:PORT, unix:PATH,"
            " code-server[@VERSION], a profile (TOML file), the name of an installed driver, or module:Class of one;"
            " or, after --, a command that starts the host."
        ),
    ] = "reference",
    patience: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Seconds that anything which must come may take. Default: as the profile says, else 10."
        ),
    ] = None,
    token_env: Annotated[str | None, typer.Option(help="Environment variable that holds the connection token.")] = None,
    token_in: Annotated[TokenPlace, typer.Option(help="Where the token goes.")] = TokenPlace.query,
    endpoint: Annotated[str | None, typer.Option(help="Where a host that a command starts listens; see run.")] = None,
    ready_line: Annotated[
        str | None, typer.Option(metavar="REGEX", help="A line that such a host prints when it is ready; see run.")
    ] = None,
    framing: Annotated[
        FramingName, typer.Option(help="Other than websocket: the host speaks over its standard input and output.")
    ] = FramingName.websocket,
    command: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The same as what may stand after --, as one quoted text.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look at a host before judging it. Exit code 0: it can be judged, 2: wrong usage, 4: it cannot."""
    from conformance.running.settings import Settings

    words = command_of(ctx, command)
    if not words and (endpoint is not None or ready_line is not None or framing is not FramingName.websocket):
        stop("--endpoint, --ready-line and --framing are about a host that a command after -- starts", USAGE)
    settings = Settings(
        target=name_of(words) if words else target,
        token_env=token_env,
        token_in=token_in.value,
        command=words,
        endpoint=endpoint,
        ready_line=ready_line,
        framing=framing.value,
    )
    with interruptible():
        place, found, problem = _examined(settings, patience)
    following = _following(settings, patience, found)
    if json:
        _print_json(settings, place, found, problem, following)
    else:
        from .examination import print_examination

        print_examination(place, found, problem, following, sys.stdout)
    if found is None or not found.usable:
        raise typer.Exit(ERROR)


def _examined(settings: Settings, patience: float | None) -> tuple[str, Diagnosis | None, dict[str, str] | None]:
    """Where the host listens, and what was found, or what kept the suite from reaching it."""
    from dataclasses import replace

    from conformance.drivers import TargetError
    from conformance.running.diagnosis import diagnose

    try:
        driver = settings.driver(timeout=patience)
    except TargetError as error:
        stop(str(error), USAGE)
    try:
        problem = _start(driver)
        if problem is not None:
            return driver.endpoint, None, problem
        patient = patience or getattr(driver, "patience", None) or settings.patience
        return driver.endpoint, diagnose(driver, replace(settings, patience=patient)), None
    finally:
        driver.stop()


def _start(driver: Driver) -> dict[str, str] | None:
    """Start the driver; what kept it from that, as kind and message. What is wrong usage ends the command."""
    from conformance.drivers import DriverError, TargetError
    from conformance.wire.errors import BadUrl, ConnectError

    try:
        driver.start()
    except (BadUrl, TargetError) as error:
        stop(str(error), USAGE)
    except ConnectError as error:
        return {"kind": _kind(error), "message": str(error)}
    except (DriverError, OSError) as error:
        return {"kind": "start", "message": str(error)}
    return None


def _kind(error: ConnectError) -> str:
    from conformance.wire import errors

    if isinstance(error, errors.UpgradeRefused):
        return "token" if error.status in (401, 403) else "http-status"
    kinds: dict[type[ConnectError], str] = {
        errors.Refused: "refused",
        errors.ConnectTimeout: "timeout",
        errors.TlsFailed: "tls",
        errors.NotWebSocket: "no-websocket",
    }
    return kinds.get(type(error), "unreachable")


def _following(settings: Settings, patience: float | None, found: Diagnosis | None) -> str:
    """What to do next, with a command that can be copied."""
    run = rerun_prefix(settings) + ("" if patience is None else f" --patience {patience:g}")
    again = run.replace("ahp-conformance run", "ahp-conformance doctor", 1)
    if found is None:
        return f"do what the message says, then look again: {again}"
    if not found.usable:
        if any(answer.outcome == "refused" for answer in found.versions):
            return f"let the host speak one of the versions above, then look again: {again}"
        return f"make sure that an AHP host listens there, look into its log, then look again: {again}"
    if len(found.accepted) > 1:
        # Without this it would be judged by one of them alone.
        run += "".join(f" --protocol {version}" for version in found.accepted)
    return run


def _print_json(
    settings: Settings, endpoint: str, found: Diagnosis | None, problem: dict[str, str] | None, following: str
) -> None:
    from dataclasses import asdict
    from json import dumps

    from conformance.wire.endpoints import without_secrets

    facts: dict[str, JSON] = {
        "target": without_secrets(settings.target),
        "endpoint": endpoint,
        "reachable": found is not None,
        "usable": found is not None and found.usable,
        "problem": problem,
    }
    if found is not None:
        facts |= asdict(found)
        if found.problem is not None:
            facts["problem"] = {"kind": "handshake", "message": found.problem}
    typer.echo(dumps({**facts, "next": following}, indent=2))
