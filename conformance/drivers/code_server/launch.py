"""What starts VS Code's agent host out of an installation: a command, an environment, and folders of its own.

The editor forks this process itself. Run by hand it needs the name of its entry module, the file of its messages,
without which it dies, and where to listen; the channel to a parent process it can do without.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .install import Installation

LISTENING: Final = re.compile(r"^Agent host server listening on (?:\[::\]|[^\s:]+):(?P<port>[0-9]+)", re.MULTILINE)
"""The line on standard output that says that connections are taken, and at which port."""

# The host is to know nothing of the person who judges it: no tokens, no settings, no proxy before loopback.
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL", "LD_LIBRARY_PATH")
_MODEL_VARIABLES: Final = (
    "VSCODE_AGENT_HOST_CAPI_URL_OVERRIDE",  # the host's own calls of the Copilot API; loopback only
    "COPILOT_API_URL",  # the model calls of the agent's runtime
    "COPILOT_DEBUG_GITHUB_API_URL",  # the GitHub API, as far as that runtime asks it who the user is
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A command, what its environment gets, and its working folder. The command itself drops all else from it."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    folder: Path


def launch(installed: Installation, folder: Path, *, port: int = 0, model_url: str | None = None) -> Launch:
    """How to start the host on loopback with ``folder`` for all that it writes; port 0 lets it choose.

    ``model_url`` is the base of a service that plays Copilot's model and GitHub APIs; without it no turn works.
    """
    places = {name: folder / name for name in ("home", "user-data", "logs", "tmp", "work")}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    messages = {
        "userLocale": "en",
        "osLocale": "en",
        "resolvedLanguage": "en",
        "locale": "en",
        "availableLanguages": {},
        "defaultMessagesFile": str(installed.root / "out" / "nls.messages.json"),
    }
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {
        "HOME": str(places["home"]),
        "TMPDIR": str(places["tmp"]),
        "VSCODE_ESM_ENTRYPOINT": "vs/platform/agentHost/node/agentHostMain",
        "VSCODE_NLS_CONFIG": json.dumps(messages),
        "VSCODE_AGENT_HOST_HOST": "127.0.0.1",
        "VSCODE_AGENT_HOST_PORT": str(port),
        # It looks for this process every few seconds, and ends when it is gone, however that came about.
        "VSCODE_PARENT_PID": str(os.getpid()),
    }
    if model_url is not None:
        environment |= dict.fromkeys(_MODEL_VARIABLES, model_url)
    dropped = sorted(name for name in os.environ if name not in _PASSED_ON and name not in environment)
    argv = (
        "env",
        *(word for name in dropped for word in ("-u", name)),
        str(installed.node),
        str(installed.root / "out" / "bootstrap-fork.js"),
        "--type=agentHost",
        *("--logsPath", str(places["logs"])),
        *("--user-data-dir", str(places["user-data"])),
        "--disable-telemetry",
    )
    return Launch(argv, environment, places["work"])


def port_of(output: str) -> int | None:
    """The port that the host says it listens at, None as long as it has not said so."""
    found = LISTENING.search(output)
    return int(found["port"]) if found else None
