"""One MCP server: what it offers, how it challenges, what it has been asked. Its wire is in serving.py."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

from . import challenges as rules
from .challenges import ALL_TOOLS, Challenge
from .record import Record, Seen
from .tools import OPEN_SCHEMA, Echo, Held, Offer, Tool

_ECHO: Final = Echo()


class McpServer:
    """A server of `McpServers.open`. Everything here may be called from any thread.

    name: also the name of its protected resource; url: its Streamable HTTP endpoint; resource: the canonical URI of
    the protected resource that it is, or is a part of.
    """

    def __init__(self, name: str, url: str, resource: str, *, json_responses: bool = False) -> None:
        self.name = name
        self.url = url
        self.resource = resource
        self.json_responses = json_responses
        self.record = Record()
        self.broken: str | None = None
        self._lock = threading.Lock()
        self._tools: Mapping[str, Offer] = {}
        self._challenges: Mapping[str | None, tuple[Challenge, ...]] = {}
        self._holds: dict[str, Future[None]] = {}
        self._changed: Callable[[], None] | None = None

    # -- what it offers -----------------------------------------------------------------------------------

    @property
    def tools(self) -> Mapping[str, Offer]:
        """The tools by name, in the order in which they were added."""
        return self._tools

    def tool(
        self,
        name: str,
        behaviour: Tool = _ECHO,
        *,
        schema: Mapping[str, Any] = OPEN_SCHEMA,
        description: str = "A tool of the test.",
    ) -> None:
        """Add a tool, or replace the one of that name; connected clients are told when the list looks different then.

        schema: JSON Schema of the input. Calls that a replaced `Held` tool holds are let go.
        """
        offer = Offer(name, behaviour, schema, description)
        with self._lock:
            before = self._tools.get(name)
            self._tools = {**self._tools, name: offer}
            replaced = self._holds.pop(name, None)
            if isinstance(behaviour, Held):
                self._holds[name] = Future()
            # What a tool does is no part of the list.
            same = before is not None and (before.schema, before.description) == (schema, description)
            changed = None if same else self._changed
        _let_go(replaced)
        if changed is not None:
            changed()

    def release(self, name: str) -> None:
        """Let go the calls of a `Held` tool, those under way and those to come. Raises ValueError if it is none."""
        with self._lock:
            held = self._holds.get(name)
        if held is None:
            raise ValueError(f"the server {self.name} has no held tool {name!r}; add one with tool({name!r}, Held())")
        _let_go(held)

    def hold_on(self, name: str) -> Future[None] | None:
        """What a call of the tool waits for, None when nothing holds it."""
        with self._lock:
            return self._holds.get(name)

    # -- how it refuses -----------------------------------------------------------------------------------

    def challenge(self, challenges: Sequence[Mapping[str, Any]], *, tool: str | None = None) -> None:
        """Set the challenges that requests have to meet, one after the other; an empty list takes them away.

        tool: without one they are for every request, of any method; `ALL_TOOLS` is for every call of a tool, a name
        for the calls of that tool. Each of these has challenges of its own, and this replaces only those that it
        names; a request has to meet all that are for it, in this order. A challenge is JSON as in docs/backend.md,
        where `resource` may be left out. Raises PlaybookError for anything else.
        """
        wanted = rules.read(challenges, self.resource)
        with self._lock:
            self._challenges = {**self._challenges, tool: wanted}

    def unmet(self, rpc: str | None, tool: str | None, token: str | None) -> Challenge | None:
        """The challenge that answers such a request, or None when it goes through. token: its hash."""
        targets: list[str | None] = [None]
        if rpc == "tools/call":
            targets.append(ALL_TOOLS)
            if tool is not None and tool != ALL_TOOLS:
                targets.append(tool)
        table = self._challenges
        refusals = (rules.unmet(table.get(target, ()), token) for target in targets)
        return next((refusal for refusal in refusals if refusal is not None), None)

    @property
    def scopes_supported(self) -> tuple[str, ...]:
        """The scopes that its challenges list for the metadata of the resource, each once."""
        listed = [s for group in self._challenges.values() for c in group for s in c.scopes_supported]
        return tuple(dict.fromkeys(listed))

    def breaks(self, message: str | None) -> None:
        """Answer every request with 500 and this message, so that the server cannot be started; None mends it."""
        self.broken = message

    # -- what it has been asked ---------------------------------------------------------------------------

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Every HTTP request so far, in order of arrival."""
        return self.record.entries

    def await_seen(self, predicate: Callable[[Seen], bool], timeout: float, *, start: int = 0) -> Seen | None:
        """The first request, from the place `start` on, that the predicate holds for; None after `timeout` seconds.

        The predicate sees a request when it has come and once more when it is answered; it runs under a lock, so it
        must not ask the server anything.
        """
        return self.record.first(predicate, timeout, start)

    def tokens_seen(self) -> tuple[str, ...]:
        """The hashes of the tokens that were sent, each once, in order of first use."""
        return tuple(dict.fromkeys(seen.token for seen in self.seen if seen.token is not None))

    @property
    def contacted(self) -> bool:
        """Whether a request has reached the server itself; fetching its metadata is none."""
        return any(not seen.metadata for seen in self.seen)

    # -- for those who serve it ---------------------------------------------------------------------------

    def on_change(self, changed: Callable[[], None] | None) -> None:
        """Whom to tell, from any thread, that the list of tools has changed."""
        with self._lock:
            self._changed = changed

    def end(self) -> None:
        """Let everything go that is held, and tell nobody of changes any more."""
        with self._lock:
            held = list(self._holds.values())
            self._changed = None
        for each in held:
            _let_go(each)


def _let_go(held: Future[None] | None) -> None:
    if held is not None and not held.done():
        held.set_result(None)
