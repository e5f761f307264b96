"""What those who watch only the root are told of the needs of a session."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then

from conformance.oracle.tracker import Notification
from conformance.protocol import needs_input
from scenarios.world import World

JSON = Any


def _announced(world: World, name: str, needed: bool) -> None:
    def says(params: JSON) -> bool:
        summary = params.get("changes") or params.get("summary") or {}
        where = params.get("session") or summary.get("resource")
        status = summary.get("status")
        return where == world.session and isinstance(status, int) and needs_input(status) == needed

    client = world.client(name)
    methods = ("root/sessionSummaryChanged", "root/sessionAdded")
    since = world.noted.get("announced", world.began)

    def heard() -> Notification | None:
        late = (n for n in client.mailbox.notifications if n.frame.n > since and n.method in methods)
        return next((n for n in late if says(n.params)), None)

    found = client.wait(f"a root notification with the session {'in' if needed else 'out of'} need", heard)
    world.noted["announced"] = found.frame.n


@given(parsers.parse('client "{name}" has been told that the session needs input'))
@then(parsers.parse('client "{name}" is told that the session needs input'))
def told_of_need(world: World, name: str) -> None:
    _announced(world, name, needed=True)


@then(parsers.parse('client "{name}" is told that the session no longer needs input'))
def told_of_end(world: World, name: str) -> None:
    _announced(world, name, needed=False)
