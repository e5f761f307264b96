"""The reference host over standard input and output: ``python stdio_host.py lines|headers``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from conformance.host import ReferenceHost


def messages(headers: bool) -> Iterator[str]:
    source = sys.stdin.buffer
    while line := source.readline():
        if headers:
            length = int(line.split(b":")[1])
            source.readline()
            line = source.read(length)
        yield line.decode()


def main() -> None:
    headers = sys.argv[1] == "headers"

    def send(text: str) -> None:
        data = text.encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data) if headers else data + b"\n")
        sys.stdout.buffer.flush()

    def close(code: int) -> None:
        os._exit(0)

    print("a host on pipes", file=sys.stderr, flush=True)
    host = ReferenceHost()
    peer = host.open(send, close)
    for message in messages(headers):
        host.receive(peer, message)


if __name__ == "__main__":
    main()
