"""Plays npm for the tests of the installer: what FAKE_NPM says goes wrong, and a line in FAKE_NPM_CALLS for each call.

Its packages hold just what the installer looks for; the Node in them is a script that ends with FAKE_NODE_EXIT.
"""

from __future__ import annotations

import io
import json
import os
import socket
import sys
import tarfile
from pathlib import Path

MODE = os.environ.get("FAKE_NPM", "ok")
# What npm itself prints for these, word for word.
OFFLINE = (
    "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\nnpm error network request to"
    " https://registry.example/x failed, reason: getaddrinfo ENOTFOUND registry.example\n"
)
NO_SUCH_VERSION = "npm ERR! code ETARGET\nnpm ERR! notarget No matching version found for code-server@9.9.9.\n"
NO_COMPILER = (
    "npm error code 1\nnpm error path /x/node_modules/@vscode/spdlog\nnpm error command failed\n"
    "npm error gyp ERR! stack Error: not found: make\n"
)
FULL = "npm error code ENOSPC\nnpm error syscall write\nnpm error errno -28\nnpm error nospc ENOSPC: no space left\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print("6.14.18" if MODE == "old" else "10.8.2")
        return 0
    command = arguments[0]
    with Path(os.environ["FAKE_NPM_CALLS"]).open("a") as calls:
        settings = {name: value for name, value in os.environ.items() if name.startswith("npm_config_")}
        calls.write(json.dumps({"arguments": arguments, "settings": settings}) + "\n")
    # npm writes to its cache whatever it does, and to a home folder if nobody tells it where that is.
    cache = Path(settings.get("npm_config_cache") or Path.home() / ".npm")
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "touched").touch()
    if command == "install" and arguments[-1].startswith("node-"):
        return fail(OFFLINE) if MODE == "offline" else install_node(arguments[-1])
    if command == "pack":
        return fail(NO_SUCH_VERSION) if MODE == "unknown" else pack(arguments[-1])
    if command == "install":
        if MODE == "wait":
            wait()
        return fail(FULL) if MODE == "full" else 0
    return fail(NO_COMPILER) if MODE == "gyp" else 0


def fail(said: str) -> int:
    sys.stderr.write(said + "npm error A complete log of this run can be found in: /x/_logs/debug.log\n")
    return 1


def install_node(wanted: str) -> int:
    program = Path("node_modules") / wanted.rpartition("@")[0] / "bin" / "node"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexit {os.environ.get('FAKE_NODE_EXIT', '0')}\n")
    program.chmod(0o755)
    return 0


def pack(wanted: str) -> int:
    names = ["package/lib/vscode/out/bootstrap-fork.js", "package/lib/vscode/out/vs/platform/agentHost/main.js"]
    if MODE == "older":
        names.pop()
    if MODE == "evil":
        names.append("../../outside")
    with tarfile.open(wanted.replace("@", "-") + ".tgz", "w:gz") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    return 0


def wait() -> None:
    """Tell the test that the installation is under way, and go on when it says so or has gone."""
    with socket.create_connection(("127.0.0.1", int(os.environ["FAKE_NPM_GATE"])), 30) as gate:
        gate.recv(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
