"""Operations on changesets: what the host has to refuse, and what shows while one runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request


@dataclass(slots=True)
class _Invocation:
    """``offered``: the operation as the client knew it when it asked; None when the changeset had no such operation."""

    offered: dict[str, JSON] | None
    ran: bool = False


class ChangesetOperations(Rule):
    """Only what is offered is run, only on what it is for; a refusal is an error; while it runs it says so."""

    name = "changeset-operations"
    obligations = (
        "AHP-CHG-024",
        "AHP-CHG-025",
        "AHP-CHG-026",
        "AHP-CHG-028",
        "AHP-CHG-029",
        "AHP-CHG-030",
        "AHP-CHG-041",
    )
    hears = frozenset({"changeset/operationStatusChanged", "changeset/operationsChanged", "changeset/contentChanged"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # (connection, changeset, operation) -> the request for it that is not answered yet, by its id.
        self._open: Bounded[tuple[str, str, str], dict[int | str, _Invocation]] = Bounded()
        # Those that were accepted and have not shown to be running: a host may answer first, and run it then.
        self._quiet: Bounded[tuple[str, str, str], Reply] = Bounded()
        # Those that ran, failed, and have not left the status running yet.
        self._stuck: Bounded[tuple[str, str, str], Reply] = Bounded()

    def request(self, request: Request) -> None:
        channel, operation = text(request.params.get("channel")), text(request.params.get("operationId"))
        if request.method != "invokeChangesetOperation" or channel is None or operation is None:
            return
        state = self._state(request.conn, channel)
        if state is not None:
            offered = _operation(state, operation)
            invocation = _Invocation(offered, member(offered, "status") == "running")
            self._open.setdefault((request.conn, channel, operation), {})[request.id] = invocation

    def _state(self, conn: str, channel: str) -> JSON:
        """The changeset as the client follows it, None when it does not, or may hear of a change late."""
        view = self.tracker.connection(conn).channels.get(channel)
        return view.state if view is not None and view.live and view.kind == "changeset" and not view.late else None

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        changed = dicts(envelope.get("operations"))
        if envelope.type == "changeset/operationStatusChanged":
            changed = [{"id": envelope.get("operationId"), "status": envelope.get("status")}]
        for operation in changed:
            place = (envelope.conn, envelope.channel, text(operation.get("id")) or "")
            if operation.get("status") == "running":
                self._quiet.pop(place, None)
                for invocation in self._open.get(place, {}).values():
                    invocation.ran = True

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None or request.method != "invokeChangesetOperation":
            return
        self._no_failure_inside(reply)
        channel, operation = text(request.params.get("channel")) or "", text(request.params.get("operationId")) or ""
        place = (reply.conn, channel, operation)
        waiting = self._open.get(place, {})
        invocation = waiting.pop(request.id, None)
        if not waiting:
            self._open.pop(place, None)
        state = self._state(reply.conn, channel)
        if invocation is None or state is None:
            return
        reason = _reason_to_refuse(invocation.offered, _operation(state, operation), request.params.get("target"))
        if reason is not None:
            obligation, message = reason
            self.watch(obligation)
            if not reply.failed:
                self._find(obligation, message, "an error", reply)
        elif reply.failed:
            # What ran before belongs to somebody else, and is no doubt the reason for the refusal.
            if invocation.ran and not waiting and member(invocation.offered, "status") != "running":
                self._stuck[place] = reply
        elif invocation.offered is not None:
            self.watch("AHP-CHG-041")
            if not invocation.ran:
                self._quiet[place] = reply

    def end(self) -> None:
        for (conn, channel, operation), reply in self._stuck.items() if self.tracker.settled else ():
            now = _operation(self._state(conn, channel), operation)
            if now is None or not self.tracker.connection(conn).fed:
                continue
            self.watch("AHP-CHG-028")
            if now.get("status") == "running":
                message = "an operation has failed and shows running still"
                self._find("AHP-CHG-028", message, "the status error", reply)
        for (conn, _, _), reply in self._quiet.items() if self.tracker.settled else ():
            if self.tracker.connection(conn).fed:
                self._find("AHP-CHG-041", "an operation ran and did not say so", "the status running meanwhile", reply)

    def _no_failure_inside(self, reply: Reply) -> None:
        if reply.failed:
            self.watch("AHP-CHG-029")
        elif member(reply.result, "success") is False or member(reply.result, "error"):
            self._find("AHP-CHG-029", "the result of an operation says that it failed", "an error", reply)

    def _find(self, obligation: str, message: str, expected: str, reply: Reply) -> None:
        assert reply.request is not None
        self.find(
            obligation,
            message,
            expected=expected,
            seen={"params": reply.request.params, "result": reply.result},
            frame=reply.frame.n,
        )


def _operation(changeset: JSON, identity: str) -> dict[str, JSON] | None:
    return next((o for o in dicts(member(changeset, "operations")) if o.get("id") == identity), None)


def _reason_to_refuse(before: JSON, after: JSON, target: JSON) -> tuple[str, str] | None:
    """Which obligation asks to refuse an operation that was like ``before`` when asked for, ``after`` when answered."""
    if before is None and after is None:
        return "AHP-CHG-024", "an operation that the changeset does not offer is accepted"
    if before is None or after is None:
        return None
    if before.get("status") == after.get("status") == "disabled":
        return "AHP-CHG-030", "a disabled operation is accepted"
    scopes, kind = texts(after.get("scopes")), text(member(target, "kind"))
    if before.get("scopes") != after.get("scopes") or not scopes:
        return None
    if kind is not None and kind not in scopes:
        return "AHP-CHG-025", f"an operation for {' and '.join(scopes)} is run on a {kind}"
    # A scope of a later version may do without a target.
    if target is None and set(scopes) <= {"resource", "range"}:
        return "AHP-CHG-026", f"an operation for {' and '.join(scopes)} is run without a target"
    return None
