"""What requests come to: which ones must fail and with which code, and what the host may ask of a client."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import METHODS, ROOT_URI, kind_of, params_violations

from .existence import CHANGES, Departed

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
SESSION_NOT_FOUND, PROVIDER_NOT_FOUND, SESSION_EXISTS = -32001, -32002, -32003
UNSUPPORTED, AUTH_REQUIRED, CONFLICT = -32005, -32007, -32011

# The member that names what a command is about.
_TARGETS = {
    **dict.fromkeys(
        (
            *("subscribe", "createSession", "disposeSession", "createChat", "disposeChat", "createTerminal"),
            *("disposeTerminal", "fetchTurns", "completions"),
        ),
        "channel",
    ),
    **dict.fromkeys(
        (
            *("resourceRead", "resourceWrite", "resourceList", "resourceDelete", "resourceResolve"),
            *("resourceMkdir", "createResourceWatch"),
        ),
        "uri",
    ),
}
# Commands for which a provider may be looked up although the client names none.
_OF_PROVIDERS = frozenset({"createSession", "resolveSessionConfig", "sessionConfigCompletions", "createChat"})


class Outcomes(Rule):
    """Commands are answered with the outcome that the text gives them."""

    name = "outcomes"
    hears = CHANGES | {"session/creationFailed"}
    obligations = (
        "AHP-CFG-005",
        "AHP-COMPL-001",
        "AHP-INIT-031",
        "AHP-PING-001",
        "AHP-PING-002",
        "AHP-PING-003",
        "AHP-RECON-019",
        "AHP-RPC-007",
        "AHP-RPC-010",
        "AHP-RPC-015",
        "AHP-RPC-017",
        "AHP-RPC-024",
        "AHP-RPC-025",
        "AHP-SESS-001",
        "AHP-SESS-002",
        "AHP-SESS-018",
        "AHP-SESS-019",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._departed = Departed(self.tracker)
        self._asked: Bounded[str, int] = Bounded(1024)
        # Sessions in use: who created them, with which provider, and the frame of the answer.
        self._made: Bounded[str, tuple[str, Any, int]] = Bounded()
        # URIs for which createSession failed, though they were free, and the frame of the error.
        self._failed: Bounded[str, int] = Bounded(1024)
        # Errors for such a URI that it is in use, unless there is a session of somebody else.
        self._used_up: Bounded[str, Reply] = Bounded(1024)
        # The providers that the root channel showed when a request was made.
        self._providers: dict[tuple[str, int | str], frozenset[str]] = {}
        self._triggers: Bounded[str, None] = Bounded(256)

    def request(self, request: Request) -> None:
        self._departed.asked(request)
        self._asked[request.conn] = self._asked.get(request.conn, 0) + 1
        channel = text(request.params.get("channel"))
        if request.method in ("createSession", "resolveSessionConfig"):
            self._providers[(request.conn, request.id)] = self._registered()
        elif request.method == "disposeSession" and channel is not None:
            self._made.pop(channel, None)

    def envelope(self, envelope: Envelope) -> None:
        self._departed.heard(envelope)
        if envelope.type == "session/creationFailed":
            self._made.pop(envelope.channel, None)

    def notification(self, notification: Notification) -> None:
        self._departed.told(notification)
        session = text(notification.params.get("session"))
        if notification.method == "root/sessionRemoved" and session is not None:
            self._made.pop(session, None)
        elif notification.method == "root/sessionAdded":
            self._exists(text(member(notification.params.get("summary"), "resource")))

    def _exists(self, session: str | None) -> None:
        self._failed.pop(session or "", None)
        self._used_up.pop(session or "", None)

    def snapshot(self, snapshot: Snapshot) -> None:
        self._exists(snapshot.channel)

    def end(self) -> None:
        for reply in self._used_up.values() if self.tracker.settled else ():
            message = "a createSession that failed has used up its URI"
            self._wrong(reply, "AHP-SESS-018", message, "a session, or the error of its own case")

    def _registered(self) -> frozenset[str]:
        """The providers of all agents that anybody's root state names; none when nobody follows the root."""
        return frozenset(
            provider
            for connection, view in self.tracker.views(ROOT_URI)
            if view.live and connection.fed
            for agent in dicts(member(view.state, "agents"))
            if (provider := text(agent.get("provider"))) is not None
        )

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None:
            return
        code = whole(member(reply.error, "code")) if reply.failed else None
        providers = self._providers.pop((reply.conn, request.id), frozenset())
        if request.method == "ping":
            self._ping(reply)
        elif self.version(reply.conn) is not None:
            self._command(reply, request, code, providers)
        self._departed.answered(reply)

    def _command(self, reply: Reply, request: Request, code: int | None, providers: frozenset[str]) -> None:
        if request.method not in METHODS:
            self._unknown(reply, request, code)
        elif not isinstance(request.params.get(_TARGETS.get(request.method, "")), str) and request.method in _TARGETS:
            self._without_target(reply, code)
        elif request.method == "initialize":
            if member(reply.result, "completionTriggerCharacters"):
                self._triggers[reply.conn] = None
        elif request.method == "completions":
            self._completions(reply, request, code)
        elif request.method == "listSessions":
            self._resumed(reply, request, code)
            for item in dicts(member(reply.result, "items")):
                self._exists(text(item.get("resource")))
        elif request.method == "createSession":
            self._create(reply, request, code, providers)
        elif request.method == "resolveSessionConfig":
            self._provider(reply, request, code, providers, "AHP-CFG-005")
        elif request.method == "disposeSession":
            self._dispose(reply, request, code)
        if code is not None:
            self._meaning(reply, request, code)

    # -- any command ----------------------------------------------------------------------------------

    def _ping(self, reply: Reply) -> None:
        view = self.tracker.connection(reply.conn)
        first = self._asked.get(reply.conn) == 1
        obligation = "AHP-PING-001"
        if view.version is None and first:
            obligation = "AHP-PING-002"
        elif view.version is not None and not view.subscribed and not view.asked:
            obligation = "AHP-PING-003"
        self.watch(obligation)
        if reply.failed:
            self._wrong(reply, obligation, "ping is refused", "a null result")

    def _unknown(self, reply: Reply, request: Request, code: int | None) -> None:
        channel = text(request.params.get("channel"))
        if channel is None or channel.startswith("mcp:") or request.method.startswith("x-"):
            return
        self.watch("AHP-RPC-007")
        if not reply.failed and not request.method.isalnum():
            # A name with a prefix may be one of the host's own that this client knows.
            return
        if code not in (METHOD_NOT_FOUND, AUTH_REQUIRED):
            self._wrong(reply, "AHP-RPC-007", f"{request.method} is no method", f"error {METHOD_NOT_FOUND}")

    def _without_target(self, reply: Reply, code: int | None) -> None:
        self.watch("AHP-RPC-010")
        if code is None and not reply.failed:
            self._wrong(reply, "AHP-RPC-010", "a request that names no target is carried out", "an error")
        elif code not in (METHOD_NOT_FOUND, AUTH_REQUIRED):
            self.watch("AHP-RPC-024")
            if code != INVALID_PARAMS:
                message = "the error for params without a member that they need has another code"
                self._wrong(reply, "AHP-RPC-024", message, f"error {INVALID_PARAMS}")

    def _meaning(self, reply: Reply, request: Request, code: int) -> None:
        """Codes that can only mean one thing, on commands that cannot have come to it."""
        self.watch("AHP-RPC-017")
        wrong = {
            UNSUPPORTED: request.method not in ("initialize", "reconnect"),
            SESSION_EXISTS: request.method != "createSession",
            PROVIDER_NOT_FOUND: request.method not in _OF_PROVIDERS
            and "provider" not in request.params
            # A session that was kept can only be served while its provider is there.
            and kind_of(text(request.params.get("channel")) or "") not in ("session", "chat"),
            CONFLICT: "ifMatch" not in request.params,
        }
        if wrong.get(code):
            self._wrong(reply, "AHP-RPC-017", f"{code} is not meant for {request.method}", "the code for its case")

    def _resumed(self, reply: Reply, request: Request, code: int | None) -> None:
        """On a connection that began with reconnect."""
        view = self.tracker.connection(reply.conn)
        if view.began or not view.greeted or code == AUTH_REQUIRED or "cursor" in request.params:
            return
        if self.malformed(reply.conn, "listSessions", request.params):
            return
        self.watch("AHP-RECON-019")
        if reply.failed:
            self._wrong(reply, "AHP-RECON-019", "after a reconnect a command is not served", "a result")

    def _completions(self, reply: Reply, request: Request, code: int | None) -> None:
        if reply.conn in self._triggers:
            self.watch("AHP-INIT-031")
            if code == METHOD_NOT_FOUND:
                message = "trigger characters were announced and completions are not served"
                self._wrong(reply, "AHP-INIT-031", message, "a result")
        words = text(request.params.get("text"))
        if words is None:
            return
        length = len(words.encode("utf-16-le", "surrogatepass")) // 2
        for item in dicts(member(reply.result, "items")):
            start, stop = whole(item.get("rangeStart")), whole(item.get("rangeEnd"))
            if start is None and stop is None:
                continue
            self.watch("AHP-COMPL-001")
            low, high = start if start is not None else 0, stop if stop is not None else length
            if not 0 <= low <= high <= length:
                self._wrong(reply, "AHP-COMPL-001", "a range outside of the text", f"within 0 and {length}")

    # -- sessions -------------------------------------------------------------------------------------

    def _create(self, reply: Reply, request: Request, code: int | None, providers: frozenset[str]) -> None:
        session, frame = request.params["channel"], reply.frame.n
        used = self._made.get(session)
        if used is not None and not self._is_still_used(used):
            used = None
        failed = self._failed.get(session)
        if used is not None:
            self._in_use(reply, request, code, used)
        elif not self._provider(reply, request, code, providers, "AHP-SESS-002") and failed is not None:
            self.watch("AHP-SESS-018")
            if code == SESSION_EXISTS and failed < request.frame.n:
                self._used_up[session] = reply
        if not reply.failed:
            self._failed.pop(session, None)
            if used is None:
                self._made[session] = (reply.conn, request.params.get("provider"), frame)
        elif used is None and code != SESSION_EXISTS:
            self._failed[session] = frame

    def _is_still_used(self, used: tuple[str, Any, int]) -> bool:
        """Whether somebody would know if a client that is not recorded had disposed of it, or the host were new."""
        roots = self.tracker.views(ROOT_URI)
        witnessed = any(v.live and c.fed and c.left.get(ROOT_URI, -1) < used[2] for c, v in roots)
        return witnessed and self.tracker.connection(used[0]).fed

    def _in_use(self, reply: Reply, request: Request, code: int | None, used: tuple[str, Any, int]) -> None:
        self.watch("AHP-SESS-001")
        if not reply.failed:
            self._wrong(reply, "AHP-SESS-001", "a session was created at a URI in use", f"error {SESSION_EXISTS}")
        elif (
            code not in (SESSION_EXISTS, AUTH_REQUIRED)
            and used[2] < request.frame.n
            and request.params.get("provider") == used[1]
        ):
            if self.malformed(reply.conn, "createSession", request.params):
                return
            message = "the error for a URI in use has another code"
            self._wrong(reply, "AHP-SESS-001", message, f"error {SESSION_EXISTS}")

    def _provider(
        self, reply: Reply, request: Request, code: int | None, before: frozenset[str], obligation: str
    ) -> bool:
        """Judge a request for a provider that no agent has; whether it was one."""
        provider, now = text(request.params.get("provider")), self._registered()
        if provider is None or not before or not now or provider in before | now:
            return False
        if code in (METHOD_NOT_FOUND, AUTH_REQUIRED):
            return True
        if self.malformed(reply.conn, request.method, request.params):
            return True
        self.watch(obligation)
        if code != PROVIDER_NOT_FOUND:
            message = f"{request.method} for a provider that is not registered has another outcome"
            self._wrong(reply, obligation, message, f"error {PROVIDER_NOT_FOUND}")
        return True

    def _dispose(self, reply: Reply, request: Request, code: int | None) -> None:
        if self._departed.since(request.params["channel"], request.frame.n) is None:
            return
        self.watch("AHP-SESS-019")
        if code not in (SESSION_NOT_FOUND, AUTH_REQUIRED):
            message = "disposing of a session that does not exist has another outcome"
            self._wrong(reply, "AHP-SESS-019", message, f"error {SESSION_NOT_FOUND}")

    # -- what the host asks ---------------------------------------------------------------------------

    def host_request(self, request: Request) -> None:
        version = self.version(request.conn)
        channel = text(member(request.params, "channel")) or ""
        if version is None or request.method.startswith("x-") or channel.startswith("mcp:"):
            return
        method = METHODS.get(request.method)
        self.watch("AHP-RPC-025")
        if (method is None or method.direction == "client") and request.method != "subscribe":
            self.find(
                "AHP-RPC-025",
                f"the host requests {request.method}",
                expected="one of the resource methods, createResourceWatch, or subscribe on a watch",
                seen=request.frame.msg,
                frame=request.frame.n,
            )
            return
        self.watch("AHP-RPC-015")
        found = params_violations(version, request.method, request.params)
        if found:
            self.find(
                "AHP-RPC-015",
                f"the params of {request.method} are not what its type demands",
                expected="the shape of the type in the negotiated version",
                seen="; ".join(str(violation) for violation in found),
                frame=request.frame.n,
            )

    def _wrong(self, reply: Reply, obligation: str, message: str, expected: Any) -> None:
        self.find(obligation, message, expected=expected, seen=reply.frame.msg, frame=reply.frame.n)
