"""Authentication of agents: what is advertised, who has to authenticate, and what auth/required says."""

from __future__ import annotations

import re
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import ROOT_URI

AUTH_REQUIRED = -32007
# RFC 9728 section 1.2 asks for https and forbids a fragment; on the loopback interface http is let pass.
_RESOURCE = re.compile(r"(?i)https://[^#]+|http://(localhost|127(\.\d+){3}|\[::1\])([:/?][^#]*)?")


class Authentication(Rule):
    """Only agents that say so need a token, and a resource that has one is not said to lack it."""

    name = "authentication"
    hears = frozenset({"root/agentsChanged"})
    obligations = ("AHP-AUTH-010", "AHP-AUTH-011", "AHP-AUTH-012", "AHP-AUTH-026", "AHP-AUTH-102")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per request: what the agent of a createSession said of authentication when it was sent.
        self._free: dict[tuple[str, int | str], str | None] = {}
        # Resources for which a connection has pushed a token that was taken.
        self._pushed: Bounded[tuple[str, str], None] = Bounded(1024)

    def request(self, request: Request) -> None:
        if request.method == "createSession":
            self._free[(request.conn, request.id)] = self._freedom(request)

    def _freedom(self, request: Request) -> str | None:
        """The obligation under which an agent needs no token, as its root state says; None when it may need one."""
        provider = text(request.params.get("provider"))
        for connection, view in self.tracker.views(ROOT_URI):
            if provider is None or not view.live or not connection.fed:
                continue
            for agent in dicts(member(view.state, "agents")):
                if agent.get("provider") == provider:
                    resources = agent.get("protectedResources") or []
                    if not resources:
                        return "AHP-AUTH-011"
                    optional = all(entry.get("required") is False for entry in dicts(resources))
                    return "AHP-AUTH-010" if optional else None
        return None

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None:
            return
        code = whole(member(reply.error, "code"))
        if code == AUTH_REQUIRED:
            self._advertised(dicts(member(member(reply.error, "data"), "resources")), reply.frame.n)
        if request.method == "createSession":
            before = self._free.pop((reply.conn, request.id), None)
            if before is not None and before == self._freedom(request):
                self.watch(before)
                if code == AUTH_REQUIRED:
                    message = "an agent that needs no token asks for one"
                    self._wrong(before, message, "a session", reply.error, reply.frame.n)
        elif request.method == "authenticate":
            self._authenticated(reply, request)

    def _authenticated(self, reply: Reply, request: Request) -> None:
        resource, token = text(request.params.get("resource")), request.params.get("token")
        version = self.tracker.connection(reply.conn).version
        if resource is None or version is None:
            return
        place = (reply.conn, resource)
        if token == "":
            if version >= "1.0.0" and place in self._pushed:
                self.watch("AHP-AUTH-102")
                if reply.failed:
                    message = "the withdrawal of a token was refused"
                    self._wrong("AHP-AUTH-102", message, "an empty result", reply.error, reply.frame.n)
            self._pushed.pop(place, None)
        elif not reply.failed:
            self._pushed[place] = None

    def notification(self, notification: Notification) -> None:
        if notification.method != "auth/required":
            return
        resource = notification.params.get("resource")
        if isinstance(resource, dict):
            self._advertised([resource], notification.frame.n)
            resource = resource.get("resource")
        if not isinstance(resource, str) or (notification.conn, resource) not in self._pushed:
            return
        self.watch("AHP-AUTH-026")
        if notification.params.get("reason") == "required":
            message = "a resource that has had a token is said never to have had one"
            self._wrong("AHP-AUTH-026", message, "expired", notification.params, notification.frame.n)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.channel == ROOT_URI:
            self._agents(member(snapshot.state, "agents"), snapshot.frame.n)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted:
            self._agents(envelope.get("agents"), envelope.frame.n)

    def _agents(self, agents: JSON, frame: int) -> None:
        for agent in dicts(agents):
            self._advertised(dicts(agent.get("protectedResources")), frame)

    def _advertised(self, resources: list[dict[str, JSON]], frame: int) -> None:
        for entry in resources:
            resource = text(entry.get("resource"))
            if resource is None:
                continue
            self.watch("AHP-AUTH-012")
            if _RESOURCE.fullmatch(resource) is None:
                message = "a protected resource is no https URL without fragment"
                self._wrong("AHP-AUTH-012", message, "https://…", resource, frame, once=resource)

    def _wrong(self, obligation: str, message: str, expected: Any, seen: Any, frame: int, once: Any = None) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=once)
