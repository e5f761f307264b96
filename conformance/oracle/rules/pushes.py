"""Tokens that clients push, and what the host answered to them."""

from __future__ import annotations

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import text
from conformance.oracle.tracker import Reply, Request


class Pushes:
    """Per resource: how many tokens were pushed, and how many of them the host took and refused.

    An empty token takes one back and is none.
    """

    def __init__(self) -> None:
        self._counts: Bounded[str, list[int]] = Bounded()

    def request(self, request: Request) -> None:
        resource = text(request.params.get("resource"))
        if request.method == "authenticate" and resource is not None and request.params.get("token") != "":
            self._counts.setdefault(resource, [0, 0, 0])[0] += 1

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None or request.method != "authenticate" or request.params.get("token") == "":
            return
        counts = self._counts.get(text(request.params.get("resource")) or "")
        if counts is not None:
            counts[2 if reply.failed else 1] += 1

    def refused(self, resource: str | None) -> bool:
        """Whether some token was refused."""
        return self._counts.get(resource or "", [0, 0, 0])[2] > 0

    def only_refused(self, resource: str | None) -> bool:
        """Whether tokens were pushed and every one of them was refused."""
        pushed, _, refused = self._counts.get(resource or "", [0, 0, 0])
        return pushed == refused > 0
