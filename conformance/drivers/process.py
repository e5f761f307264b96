"""A host as a process of its own: started without a shell, its output kept as evidence, its whole tree ended."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import psutil

from conformance.wire.tokens import without_tokens

from .base import DriverError
from .leaving import before_leaving, undone

# What a host starts inherits it, so that a helper that left the session, and whose parent is gone, is found again.
_MARK: Final = "AHP_CONFORMANCE_PROCESS"
_GLANCE: Final = 0.05  # seconds between two looks at a tree that is about to end
_KILLED_WITHIN: Final = 5.0  # seconds; only a process that the kernel holds takes longer
_TAIL_BYTES: Final = 16384
_TERMINAL_CODES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class HostProcess:
    """A running program with everything that it starts. The constructor starts it.

    ``argv`` is the program and its arguments; ``env`` is added to the suite's own environment. What it writes is
    appended to the file ``log``: with ``wire`` only its standard error, as :meth:`pipes` has the rest; else
    it has an empty standard input. It gets a session (and a process group) of its own, so the keys that
    interrupt the suite do not reach it. It is ended with :meth:`end`, at the latest when the suite exits or is
    asked to terminate.

    Raises DriverError with what to do when the program cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        wire: bool = False,
    ) -> None:
        if not argv:
            raise DriverError("the command that starts the host is empty")
        self.name = Path(argv[0]).name
        self.log = log
        self._mark = secrets.token_hex(16)
        self._done = False
        pipe = subprocess.PIPE
        with log.open("ab") as output:
            self._log_begins = output.tell()
            try:
                self._process = subprocess.Popen(
                    list(argv),
                    stdin=pipe if wire else subprocess.DEVNULL,
                    stdout=pipe if wire else output,
                    stderr=output,
                    bufsize=0,
                    cwd=cwd,
                    env={**os.environ, **(env or {}), _MARK: self._mark},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise DriverError(_why_not(argv, cwd, error)) from error
        self.pid = self._process.pid
        with contextlib.suppress(psutil.Error):
            self._root = psutil.Process(self.pid)
        before_leaving(self.end)

    def pipes(self) -> tuple[int, int]:
        """With ``wire``: descriptors of its output and of its input, once; they belong to the caller from then on."""
        output, input_ = self._process.stdout, self._process.stdin
        if output is None or input_ is None:
            raise ValueError("the process was started without pipes")
        descriptors = os.dup(output.fileno()), os.dup(input_.fileno())
        output.close()
        input_.close()
        return descriptors

    @property
    def ended(self) -> int | None:
        """None while it runs; then its exit code, or minus the number of the signal that ended it."""
        return self._process.poll()

    def wait(self, timeout: float) -> int | None:
        """Like :attr:`ended`, after at most ``timeout`` seconds; at once when it has ended."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    # -- evidence -------------------------------------------------------------------------------------

    def output(self, start: int = 0, limit: int = -1) -> bytes:
        """What it has written from the byte ``start`` of its output on, at most ``limit`` bytes unless that is -1."""
        with self.log.open("rb") as log:
            log.seek(self._log_begins + start)
            return log.read(limit)

    def tail(self, lines: int = 10) -> str:
        """The last lines that it wrote, fit for a terminal and without tokens; empty when it wrote none."""
        try:
            with self.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_begins, size - _TAIL_BYTES))
                text = log.read(_TAIL_BYTES).decode(errors="replace")
        except OSError:
            return ""
        shown = [printable(line) for line in without_tokens(text).splitlines()]
        return "\n".join([line for line in shown if line.strip()][-lines:])

    def last_words(self, lines: int = 10) -> str:
        """The last lines as the end of a message, indented below it."""
        tail = self.tail(lines)
        if not tail:
            return "; it wrote nothing"
        return "; its last lines:\n" + "\n".join(f"    {line}" for line in tail.splitlines())

    def how_it_ended(self) -> str:
        """``exit code 3`` or ``signal SIGSEGV``; ``still running`` while it is."""
        code = self.ended
        if code is None:
            return "still running"
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"

    # -- the end --------------------------------------------------------------------------------------

    def end(self, grace: float = 5.0) -> None:
        """End the whole tree: SIGTERM, and SIGKILL for what is left after ``grace`` seconds. May be called twice."""
        if self._done:
            return
        for kill, seconds in ((False, grace), (True, _KILLED_WITHIN)):
            deadline = time.monotonic() + seconds
            told: set[psutil.Process] = set()
            while members := self._members():
                # Each round looks anew, as what is told to end may start something first.
                for member in members:
                    if member not in told:
                        told.add(member)
                        with contextlib.suppress(psutil.Error):
                            member.kill() if kill else member.terminate()
                if time.monotonic() >= deadline:
                    break
                self._await_any(members)
        self.wait(_GLANCE)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._done = True
        undone(self.end)

    def _await_any(self, members: Sequence[psutil.Process]) -> None:
        if self.ended is None:
            self.wait(_GLANCE)  # waited for by hand, as psutil would take the exit code away
        else:
            psutil.wait_procs([member for member in members if member.pid != self.pid], timeout=_GLANCE)

    def _members(self) -> list[psutil.Process]:
        """The process and all that it started and that still runs, wherever it went."""
        found: dict[int, psutil.Process] = {}
        if self.ended is None:
            found[self.pid] = self._root
            with contextlib.suppress(psutil.Error):
                found.update((child.pid, child) for child in self._root.children(recursive=True))
        # While anything of our session lives, the system gives its number to no new process.
        ours = self.ended is None or not psutil.pid_exists(self.pid)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if (ours and os.getsid(process.pid) == self.pid) or process.environ().get(_MARK) == self._mark:
                    found.setdefault(process.pid, process)
        return [process for process in found.values() if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    """Whether there is something to end: a process that only waits to be collected by its parent is not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def printable(line: str) -> str:
    """A line of a log as a terminal may show it: no colours, no codes that move the cursor."""
    plain = _TERMINAL_CODES.sub("", line.replace("\t", "    "))
    return "".join(character if character.isprintable() else "·" for character in plain.rstrip())


def _why_not(argv: Sequence[str], cwd: Path | str | None, error: OSError | ValueError) -> str:
    program = argv[0]
    if isinstance(error, ValueError):
        return f"the command {shlex.join(argv)!r} cannot be started: {error}"
    if cwd is not None and not Path(cwd).is_dir():
        return f"the working folder {cwd} of the host is not there; create it or name another one as cwd"
    if isinstance(error, FileNotFoundError):
        if os.sep in program and (Path(cwd or ".") / program).exists():
            return f"{program} cannot be started: the interpreter that its first line names is not there"
        where = "is not there" if os.sep in program else "is not on the PATH"
        return f"the program {program} {where}; install it or give its path"
    if isinstance(error, PermissionError):
        return f"{program} is not executable; make it so (chmod +x) or name the program that runs it"
    if isinstance(error, OSError) and error.strerror == "Exec format error":
        return f"{program} is no program that this system can run; name the interpreter that runs it"
    return f"the program {program} cannot be started: {error.strerror or error}"
