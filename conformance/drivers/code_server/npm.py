"""Running npm for an installation: in our own cache, into a log file, and with one sentence for what went wrong.

The registry and the proxies are those of the user's own npm configuration, which is read and never written.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from conformance.drivers.base import DriverError

OLDEST_NPM: Final = 9
"""The first major version whose node-gyp gets on with the Pythons that this suite runs on."""

_CODE: Final = re.compile(r"^npm (?:error|ERR!) code (\S+)", re.MULTILINE)
_SAID: Final = re.compile(r"^npm (?:error|ERR!) (?!code |errno |syscall |path |A complete log|\s|$)(.+)$", re.MULTILINE)
_GYP: Final = re.compile(r"^(?:npm (?:error|ERR!) )?gyp ERR! (?:stack )?(Error: .+|find .+|not ok.*)$", re.MULTILINE)
_NO_PACKAGE: Final = frozenset({"E404", "ETARGET", "ENOVERSIONS"})
_NO_REGISTRY: Final = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|EPROTO|FETCH_ERROR|ERR_SOCKET_TIMEOUT"
    r"|EIDLETIMEOUT|ERESPONSETIMEOUT|EINVALIDRESPONSE|E401|E403|E407|E429|E5\d\d"
    r"|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE"
)

GET_NODE: Final = (
    "install Node.js 20 or newer with its npm, or judge a host that already runs: ahp-conformance run ws://HOST:PORT"
)


class InstallError(DriverError):
    """The host could not be installed; the message is one sentence with the remedy."""


class NoSuchPackage(InstallError):
    """The registry knows no such package or no such version of it."""


@dataclass(frozen=True, slots=True)
class Npm:
    """One installation's way to run npm. ``cache`` is npm's own, ``log`` gets everything that it says."""

    program: str
    cache: Path
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def with_node(self, node: Path) -> Npm:
        """The same, run by another Node, against whose headers native modules are built."""
        home = node.parent.parent
        more = {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}", "npm_config_nodedir": str(home)}
        return Npm(self.program, self.cache, self.log, {**self.environment, **more})

    def run(self, what: str, *arguments: str, cwd: Path) -> None:
        """Run one npm command in ``cwd``. ``what`` names the step in messages.

        Raises InstallError with npm's last word and the place of its log, NoSuchPackage when the registry has not
        got what was asked for.
        """
        command = [self.program, *arguments]
        with self.log.open("ab") as log:
            log.write(f"$ npm {' '.join(arguments)}\n".encode())
            log.flush()
            start = log.tell()
            code = _finished(command, cwd, {**self._own_environment(), **self.environment}, log.fileno())
        if code != 0:
            with self.log.open("rb") as log:
                log.seek(start)
                said = log.read().decode("utf-8", "replace")
            raise npm_error(what, said, self.log, code)

    def _own_environment(self) -> dict[str, str]:
        # NODE_OPTIONS is meant for other programs than this one, and might break it.
        own = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}
        return own | {
            "npm_config_cache": str(self.cache),
            "npm_config_devdir": str(self.cache / "node-gyp"),
            "npm_config_update_notifier": "false",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_loglevel": "warn",
            "NODE_DISABLE_COMPILE_CACHE": "1",
            "PYTHON": sys.executable,  # native modules are configured by Python, and this one is there for sure
        }


def find_npm(cache: Path, log: Path) -> Npm:
    """The npm on the PATH. Raises InstallError where there is none, or one that is too old."""
    program = shutil.which("npm")
    if program is None:
        raise InstallError(f"code-server is installed with npm, which is not on the PATH; {GET_NODE}")
    npm = Npm(program, cache, log)
    try:
        asked = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
            env=npm._own_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"npm does not run ({error}); {GET_NODE}") from None
    version = re.match(r"\s*(\d+)\.\d+", asked.stdout)
    if asked.returncode != 0 or version is None:
        said = (asked.stderr.strip() or asked.stdout.strip()).splitlines()
        raise InstallError(f"npm does not run ({said[-1] if said else 'it says nothing'}); {GET_NODE}")
    if int(version[1]) < OLDEST_NPM:
        raise InstallError(f"npm {asked.stdout.strip()} is too old, {OLDEST_NPM} or newer is needed; {GET_NODE}")
    return npm


def npm_error(what: str, said: str, log: Path, code: int) -> InstallError:
    """One sentence for what npm printed (``said``) before it ended with exit code ``code``."""
    codes = _CODE.findall(said)
    sentences = _SAID.findall(said)
    last = sentences[0].strip() if sentences else f"it ended with exit code {code}"
    where = f"npm's own words are in {log}"
    if gyp := _GYP.findall(said):
        return InstallError(
            f"{what} failed, as a native module could not be compiled ({gyp[0]}); install or repair the"
            f" compiler tools of the system ({where})"
        )
    if "ENOSPC" in codes or "ENOSPC" in said:
        return InstallError(
            f"{what} failed, as the disk is full; free some space, or let AHP_CONFORMANCE_CACHE name a folder on"
            f" another disk ({where})"
        )
    if codes and codes[0] in _NO_PACKAGE:
        return NoSuchPackage(f"{what} failed: {last} ({where})")
    if codes and _NO_REGISTRY.fullmatch(codes[0]):
        return InstallError(
            f"{what} failed, as npm cannot reach its registry ({codes[0]}: {last}); check the network, the proxy and"
            f" the registry that npm is configured for ({where})"
        )
    return InstallError(f"{what} failed: {last} ({where})")


def _finished(command: Sequence[str], cwd: Path, environment: Mapping[str, str], output: int) -> int:
    """The exit code. Whatever ends this call before that ends npm with all that it has started."""
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    except OSError as error:
        raise InstallError(f"npm does not run ({error}); {GET_NODE}") from None
    try:
        return process.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
