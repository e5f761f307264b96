"""What stands after ``--``: the command that starts the host which is judged."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NoReturn

from typer.core import TyperCommand

from .app import USAGE, stop

if TYPE_CHECKING:
    from conformance.running.settings import Settings

_KEY: Final = "conformance.command"


class TakesCommand(TyperCommand):
    """A subcommand with which ``-- PROGRAM ARGUMENT…`` may be given; its words are no arguments of the suite."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND...]"]


def command_of(ctx: Any, option: str | None) -> tuple[str, ...]:
    """The words after ``--``, or those of the option ``--command``; none when a target is meant."""
    words: tuple[str, ...] | None = ctx.meta.get(_KEY)
    if words is not None and option is not None:
        stop("give the command that starts the host after -- or as --command, not twice", USAGE)
    if option is not None:
        try:
            words = tuple(shlex.split(option))
        except ValueError as error:
            stop(f"--command {option!r} cannot be read: {error}; quote it as for a shell", USAGE)
    if words is None:
        return ()
    if not words:
        stop("no command stands after --; give the program that starts the host, and its arguments", USAGE)
    source = ctx.get_parameter_source("target")
    if source is not None and source.name == "COMMANDLINE":
        stop(f"give the target {ctx.params['target']} or the command after --, not both", USAGE)
    return words


def name_of(command: tuple[str, ...]) -> str:
    """What stands for the target in reports and folders."""
    return PurePath(command[0]).name or "command"


def rerun_prefix(settings: Settings) -> str:
    """The command line of a run less ``--only``, so that more can be put behind it."""
    words = ["ahp-conformance", "run"]
    if settings.command:
        words += ["--command", shlex.join(settings.command)]
        words += ["--endpoint", settings.endpoint] if settings.endpoint else []
        words += ["--ready-line", settings.ready_line] if settings.ready_line else []
        words += ["--framing", settings.framing] if settings.framing != "websocket" else []
    else:
        words += [settings.target]
    if settings.protocol is not None:
        words += ["--protocol", settings.protocol]
    if settings.token_env:
        words += ["--token-env", settings.token_env, "--token-in", settings.token_in]
    for fault in settings.faults:
        words += ["--fault", fault]
    return shlex.join(words)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let a request to terminate do what the interrupt key does, so that the host is ended on the way out."""

    def interrupt(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
