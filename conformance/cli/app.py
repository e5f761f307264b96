"""The command itself, and how a command ends when it cannot go on."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from conformance import __version__

USAGE, ERROR = 2, 4

app = typer.Typer(
    name="ahp-conformance",
    help="Judges hosts of the Agent Host Protocol from the outside.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def stop(message: str, code: int) -> NoReturn:
    """End with one clear line on standard error."""
    typer.echo(f"ahp-conformance: {message}", err=True)
    raise typer.Exit(code)


def refuse_unjudged(version: str) -> None:
    """End unless the suite knows the rules of a protocol version."""
    from conformance.protocol.versions import BASELINE, NEWEST, is_version, parse_version

    if is_version(version) and parse_version(BASELINE) <= parse_version(version) < (parse_version(NEWEST)[0] + 1, 0, 0):
        return
    stop(
        f"--protocol {version} is not a version that can be judged; the rules of {BASELINE} to {NEWEST} are known",
        USAGE,
    )


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ahp-conformance {__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Judges hosts of the Agent Host Protocol from the outside."""


def main() -> None:
    """The entry point of the command ``ahp-conformance``."""
    app()
