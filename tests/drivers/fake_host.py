"""A little WebSocket server in place of a host, which comes up in the way that a test wants: an echo with a name.

What it is told on the command line it does in this order: greet the test at a socket, print, die, listen, print and
write that it listens.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve, unix_serve


def family() -> list[int]:
    """Processes that are hard to find again: each way to get away from whoever started it."""
    left = [subprocess.Popen(["sleep", "600"]).pid, subprocess.Popen(["sleep", "600"], start_new_session=True).pid]
    orphan = "sleep 600 >/dev/null 2>&1 & echo $!"
    for script, apart in ((orphan, False), (orphan, True), (f"env -i {orphan}", False)):
        done = subprocess.run(["sh", "-c", script], start_new_session=apart, stdout=subprocess.PIPE, check=True)
        left.append(int(done.stdout))
    return left


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--greet", type=int, help="port of the test, which is told the ids of all processes")
    options.add_argument("--family", action="store_true")
    options.add_argument("--stubborn", action="store_true", help="SIGTERM is ignored")
    options.add_argument("--print", default="")
    options.add_argument("--die", type=int)
    options.add_argument("--port", type=int)
    options.add_argument("--unix")
    options.add_argument("--token")
    options.add_argument("--say", default="", help="printed when it listens; %%d is the port")
    options.add_argument("--write", nargs=2, help="a file and what to write there when it listens; %%d is the port")
    options.add_argument("--name", default="")
    told = options.parse_args()
    if told.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if told.greet:
        with socket.create_connection(("127.0.0.1", told.greet)) as test:
            pids = [os.getpid(), *(family() if told.family else [])]
            test.sendall(json.dumps(pids).encode())
    if told.print:
        print(told.print, flush=True)
    if told.die is not None:
        sys.exit(told.die)

    def check(connection: ServerConnection, request: Request) -> Response | None:
        given = parse_qs(urlsplit(request.path).query).get("tkn", [request.headers.get("Authorization", "")])
        if told.token and given[0].removeprefix("Bearer ") != told.token:
            return connection.respond(HTTPStatus.UNAUTHORIZED, "")
        return None

    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(json.dumps({"name": told.name, "pid": os.getpid(), "echo": message}))

    if told.unix:
        server = unix_serve(echo, told.unix, process_request=check)
    elif told.port is not None:
        server = serve(echo, "127.0.0.1", told.port, process_request=check)
    else:
        threading.Event().wait()
        return
    port = 0 if told.unix else server.socket.getsockname()[1]
    if told.say:
        print(told.say.replace("%d", str(port)), flush=True)
    if told.write:
        Path(told.write[0]).write_text(told.write[1].replace("%d", str(port)), "utf-8")
    server.serve_forever()


if __name__ == "__main__":
    main()
