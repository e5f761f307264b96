"""``check``: judge recorded traffic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from .app import USAGE, app, refuse_unjudged, stop

_STEP = 1 << 20  # bytes between two looks of the progress


@app.command()
def check(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...", help="Transcripts, logs with one message a line, or folders of them; - is standard input."
        ),
    ],
    protocol: Annotated[
        str | None, typer.Option(help="The version of connections whose handshake is not in the log.")
    ] = None,
    joined: Annotated[
        bool, typer.Option("--joined", help="The logs are parts of one recording, in this order.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="A broken SHOULD makes the verdict broken too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the verdict alone.")] = False,
) -> None:
    """Judge recorded traffic. Exit code 0: nothing broken, 1: broken, 2: usage, 3: nothing judged, 4: unreadable."""
    import gc

    import orjson

    from conformance.catalogue import load
    from conformance.checking.judging import judge_log
    from conformance.checking.record import EXIT_CODES, check_record
    from conformance.reporting.checks import print_check
    from conformance.reporting.live import console_for

    if protocol is not None:
        refuse_unjudged(protocol)
    if logs.count("-") > 1:
        stop("standard input can be read once; name - one time only", USAGE)
    # What is judged is freed by reference counts; looking for garbage again and again finds nothing.
    gc.freeze()
    gc.disable()
    try:
        with ExitStack() as stack:
            named = [("standard input" if name == "-" else str(p), p) for name in logs for p in _places(name, stack)]
            paths = [path for _, path in named]
            parts = [(" + ".join(name for name, _ in named), paths)] if joined else [(n, [p]) for n, p in named]
            advance = stack.enter_context(_progress(paths))
            results = [judge_log(name, partial(_lines, part, advance), version=protocol) for name, part in parts]
    finally:
        gc.enable()
    record = check_record(results, load(), protocol=protocol, strict=strict)
    if json:
        sys.stdout.write(orjson.dumps(record, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        print_check(record, console_for(sys.stdout), quiet=quiet)
    raise typer.Exit(EXIT_CODES[record["verdict"]])


def _places(name: str, stack: ExitStack) -> list[Path]:
    """The files of an argument: those of a folder, or itself; standard input goes into a file, as it is read twice."""
    if name == "-":
        copy = Path(stack.enter_context(TemporaryDirectory(prefix="ahp-conformance-")), "input.jsonl")
        with copy.open("wb") as stream:
            copyfileobj(sys.stdin.buffer, stream)
        return [copy]
    path = Path(name)
    if path.is_dir():
        found = sorted(path.rglob("*.jsonl"))
        if not found:
            stop(f"{name}: there is no log (*.jsonl) in this folder", USAGE)
        return found
    if not path.exists():
        stop(f"{name}: there is no such file", USAGE)
    return [path]


def _lines(paths: Sequence[Path], advance: Callable[[int], None]) -> Iterator[bytes]:
    """The lines of the files, one after the other."""
    for path in paths:
        read = 0
        try:
            with path.open("rb") as stream:
                for line in stream:
                    read += len(line)
                    if read >= _STEP:
                        advance(read)
                        read = 0
                    yield line
        except OSError as error:
            stop(f"{path}: {error.strerror or error}", USAGE)
        advance(read)


@contextmanager
def _progress(paths: Iterable[Path]) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, for logs that take a while; what is to be called with the bytes that were read."""
    if not sys.stderr.isatty():
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("judging"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=sum(path.stat().st_size for path in paths))
        yield lambda size: progress.advance(task, size)
