"""Installs VS Code's agent host, out of npm packages alone, into the user's cache.

    CACHE/node/24/                  a Node.js 24, which all versions share
    CACHE/code-server/VERSION/      one version, complete as soon as the folder exists
    CACHE/code-server/VERSION.log   what npm said meanwhile
    CACHE/npm/                      npm's own cache

CACHE is what AHP_CONFORMANCE_CACHE names, else ``ahp-conformance`` below XDG_CACHE_HOME or ``~/.cache``. An ordinary
``npm install code-server`` would compile a whole editor; the agent host needs its files, its production dependencies
and two native modules.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.drivers.base import TargetError

from .npm import InstallError, NoSuchPackage, Npm, find_npm

DEFAULT_VERSION: Final = "4.139.1"
KNOWN_VERSIONS: Final = ("4.139.1", "4.138.0", "4.136.2", "4.134.0", "4.133.0")
"""Versions with an agent host that speaks a protocol version of this suite, newest first."""

CACHE_VARIABLE: Final = "AHP_CONFORMANCE_CACHE"
NODE_MAJOR: Final = "24"
_NATIVE: Final = ("@vscode/sqlite3", "@vscode/spdlog")  # session databases and log files: it does not start without
_NEEDED: Final = 1_500_000_000  # bytes: about 800 MB stay, the rest are packages on their way
_STEPS: Final = 5
_UNFINISHED: Final = ".unfinished-"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Installation:
    """A finished installation: ``root`` is the folder of VS Code in it (with ``out/``), ``node`` the program."""

    root: Path
    node: Path
    version: str


def cache_folder() -> Path:
    """Where installations live; need not exist. Raises InstallError when there is no home to put it below."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(base).is_absolute():
        try:
            base = str(Path.home() / ".cache")
        except RuntimeError:
            raise InstallError(
                f"there is no home folder to install below; let {CACHE_VARIABLE} name a folder"
            ) from None
    return Path(base) / "ahp-conformance"


def installation(
    version: str | None = None, *, cache: Path | None = None, progress: Progress = lambda line: None
) -> Installation:
    """The installation of a code-server version, made first if need be; then it takes minutes and most of 1 GB.

    ``progress`` gets a line for each step. Processes that want one at the same time wait for each other. Raises
    TargetError for what is no version, InstallError for all else that goes wrong; nothing half-finished is left.
    """
    wanted = DEFAULT_VERSION if version is None else version
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", wanted):
        raise TargetError(
            f"code-server@{wanted} names no version; write one in full, such as code-server@{DEFAULT_VERSION}"
        )
    base = cache_folder() if cache is None else cache
    found = finished(base, wanted)
    if found is not None:
        return found
    try:
        (base / "code-server").mkdir(parents=True, exist_ok=True)
        with _alone(base, progress):
            _sweep(base)
            return finished(base, wanted) or _install(base, wanted, progress)
    except (OSError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise _no_space(base) from None
        raise InstallError(
            f"code-server {wanted} could not be installed in {base} ({error});"
            f" {CACHE_VARIABLE} may name another folder for it"
        ) from None


def finished(cache: Path, version: str) -> Installation | None:
    """The installation of that version, if it is complete."""
    root, node = _version_folder(cache, version) / "package" / "lib" / "vscode", _node_program(cache)
    if not (root / "out" / "bootstrap-fork.js").is_file() or not os.access(node, os.X_OK):
        return None
    return Installation(root, node, version)


def _install(base: Path, version: str, progress: Progress) -> Installation:
    def step(number: int, what: str) -> None:
        progress(f"[{number}/{_STEPS}] {what}")

    log = base / "code-server" / f"{version}.log"
    log.write_bytes(b"")
    npm = find_npm(base / "npm", log)
    _require_tools(base)
    progress(f"installing code-server {version} into {base} (once; some minutes, most of 1 GB)")
    node = _node_program(base)
    step(1, f"Node.js {NODE_MAJOR}")
    if not os.access(node, os.X_OK):
        _install_node(base, npm)
    npm = npm.with_node(node)
    place = _version_folder(base, version)
    with _staging(place) as staging:
        step(2, f"code-server {version}")
        root = _unpack(staging, npm, version)
        step(3, "its production dependencies, the largest part")
        # Of the packages' own install scripts none is run, but for the two modules below.
        npm.run(
            "installing the dependencies of code-server",
            *("install", "--omit=dev", "--ignore-scripts", "--no-progress"),
            cwd=root,
        )
        step(4, "its native modules, compiled here")
        npm.run("compiling native modules", "rebuild", "--ignore-scripts=false", *_NATIVE, cwd=root)
        step(5, "a look whether they load")
        _try_out(node, root, log)
        if place.exists():
            shutil.rmtree(place)
        staging.rename(place)
    found = finished(base, version)
    if found is None:
        raise InstallError(
            f"code-server {version} has no agent host; versions known to work: {', '.join(KNOWN_VERSIONS)}"
        )
    return found


def _install_node(base: Path, npm: Npm) -> None:
    # The package `node` itself is a script that installs the one for the machine at hand.
    place = base / "node" / NODE_MAJOR
    with _staging(place) as staging:
        npm.run(
            f"installing Node.js {NODE_MAJOR}",
            *("install", "--ignore-scripts", "--no-progress", f"{_node_package()}@{NODE_MAJOR}"),
            cwd=staging,
        )
        if place.exists():
            shutil.rmtree(place)
        staging.rename(place)
    if not os.access(_node_program(base), os.X_OK):
        raise InstallError(
            f"the npm package {_node_package()} holds no program; code-server cannot be run on this machine"
        )


def _unpack(staging: Path, npm: Npm, version: str) -> Path:
    try:
        npm.run(f"fetching code-server {version}", "pack", "--no-progress", f"code-server@{version}", cwd=staging)
    except NoSuchPackage:
        raise InstallError(
            f"there is no code-server {version} on npm; versions known to work: {', '.join(KNOWN_VERSIONS)}"
        ) from None
    archive = staging / f"code-server-{version}.tgz"
    if not archive.is_file():
        raise InstallError(f"npm pack left no {archive.name}; its words are in {npm.log}")
    with tarfile.open(archive) as tar:
        tar.extractall(staging, filter="data")
    archive.unlink()
    root = staging / "package" / "lib" / "vscode"
    if not (root / "out" / "vs" / "platform" / "agentHost").is_dir():
        raise InstallError(
            f"code-server {version} has no agent host in it; versions known to work: {', '.join(KNOWN_VERSIONS)}"
        )
    return root


def _try_out(node: Path, root: Path, log: Path) -> None:
    script = f"for (const name of {list(_NATIVE)!r}) require(name)"
    done = subprocess.run(
        [node, "-e", script], cwd=root, capture_output=True, text=True, errors="replace", check=False, timeout=120
    )
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ node -e …\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        raise InstallError(f"the native modules of code-server do not load on this machine; what Node said is in {log}")


def _require_tools(base: Path) -> None:
    compiler = os.environ.get("CXX", "").split() or ["g++", "c++", "clang++"]
    missing = [] if any(map(shutil.which, compiler)) else ["a C++ compiler"]
    missing += [] if shutil.which("make") else ["make"]
    if missing:
        raise InstallError(
            f"code-server has native modules that are compiled on installation, and {' and '.join(missing)} cannot be"
            " found; install the compiler tools of your system (Debian: apt-get install g++ make;"
            " macOS: xcode-select --install)"
        )
    if not hasattr(tarfile, "data_filter"):
        raise InstallError(
            f"Python {platform.python_version()} cannot unpack archives safely; use Python 3.11.4 or newer"
        )
    if shutil.disk_usage(base).free < _NEEDED:
        raise _no_space(base)


def _no_space(base: Path) -> InstallError:
    return InstallError(
        f"not enough space in {base}: an installation needs {_NEEDED / 1e9:.1f} GB, of which half stays;"
        f" let {CACHE_VARIABLE} name a folder on another disk"
    )


# -- places -------------------------------------------------------------------------------------------------


def _version_folder(cache: Path, version: str) -> Path:
    return cache / "code-server" / version


def _node_package() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    # One package is named otherwise than all the rest.
    prefix = "node-bin" if (sys.platform, machine) == ("darwin", "arm64") else "node"
    return f"{prefix}-{sys.platform}-{machine}"


def _node_program(cache: Path) -> Path:
    return cache / "node" / NODE_MAJOR / "node_modules" / _node_package() / "bin" / "node"


@contextmanager
def _staging(place: Path) -> Iterator[Path]:
    """A folder beside ``place`` to work in, which is renamed to it when it is complete and else removed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{place.name}-", dir=place.parent))
    # Without one, npm would look for a project in the folders above.
    (staging / "package.json").write_text('{"private": true}\n', "utf-8")
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _sweep(cache: Path) -> None:
    """Remove what an installation left behind that was killed; the lock is held, so nobody works there."""
    leftovers: Sequence[Path] = [*cache.glob(f"code-server/{_UNFINISHED}*"), *cache.glob(f"node/{_UNFINISHED}*")]
    for leftover in leftovers:
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _alone(cache: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock of the cache; the system takes it from a process that ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        raise InstallError("code-server is installed on Linux and macOS only; use WSL on Windows") from None
    with (cache / "install.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another process installs into {cache}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
