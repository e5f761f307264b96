"""Values of a later version, where lists are open: no finding rests on nothing but not knowing them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.oracle.unknown import has_unknown_kind, has_unknown_status, less_unknown
from tests.protocol.examples import CALL, CHAT, TURN, auth, server

from .channels import CHANGESET, TROUBLE, changeset, file, operation
from .traces import (
    DONE,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    calm_session,
    clean,
    ends,
    entry,
    finished,
    found,
    idle_chat,
    lists,
    part_of,
    starts,
    turn,
    unlists,
    working_chat,
)

NEW = ("0.9.0", "1.0.0")
# All of them have the shape of their types, and every rule is to be silent.
unknown = Cases("shapes")
convergence = Cases("convergence")
chat_folds = Cases("chat-folds")


def a_wait(identity: str = "need-1", **members: JSON) -> JSON:
    """An entry of a kind that no version has."""
    return {"id": identity, "chat": CHAT, "kind": "spending", "turnId": TURN, **members}


def paused(identity: str = CALL, **members: JSON) -> JSON:
    """A call in a status that no version has."""
    return {**a_call("running", identity), "status": "paused", **members}


def hologram(**members: JSON) -> JSON:
    return {"kind": "hologram", "id": "h", **members}


def shows(t: Trace, state: JSON, channel: str = CHAT) -> None:
    """A later snapshot."""
    t.subscribe(channel, state)


# -- what a session waits for -------------------------------------------------------------------------


@unknown.good("AHP-INPUT-029", "AHP-SEQ-009", versions=NEW)
def an_entry_that_raises_the_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, lists(a_wait()))
    shows(t, calm_session(inputNeeded=[a_wait()], status=24), SESSION)
    t.envelope(SESSION, unlists("need-1"))


@unknown.good("AHP-INPUT-029", "AHP-SEQ-009", versions=NEW)
def an_entry_that_does_not_raise_the_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, lists(a_wait()))
    shows(t, calm_session(inputNeeded=[a_wait()], status=8), SESSION)


@unknown.good("AHP-INPUT-029", versions=NEW)
def two_entries_about_one_thing_and_one_that_changes_its_subject(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, lists(a_wait()))
    t.envelope(SESSION, lists(a_wait("need-2")))
    t.envelope(SESSION, lists(a_wait("need-2", turnId="another")))
    shows(t, calm_session(inputNeeded=[a_wait(), a_wait("need-2", turnId="another")], status=24), SESSION)


@unknown.good("AHP-INPUT-029", versions=NEW)
def an_entry_that_outlives_its_turn(t: Trace) -> None:
    works = [{**chat, "status": 8} for chat in calm_session()["chats"]]
    t.follow(session=calm_session(chats=works, status=8), chat=working_chat())
    t.envelope(SESSION, lists(a_wait()))
    t.envelope(CHAT, ends())
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": 1}})
    shows(t, calm_session(inputNeeded=[a_wait()], status=1), SESSION)


@unknown.good("AHP-INPUT-029", "AHP-INPUT-011", versions=NEW)
def an_entry_beside_one_that_everybody_knows(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("pending-confirmation")), status=24))
    t.envelope(SESSION, lists(a_wait()))
    t.envelope(SESSION, lists(entry("toolConfirmation", "need-2", toolCall=a_call("pending-confirmation"))))
    listed = [a_wait(), entry("toolConfirmation", "need-2", toolCall=a_call("pending-confirmation"))]
    shows(t, calm_session(inputNeeded=listed, status=24), SESSION)


@unknown.good("AHP-INPUT-019", versions=NEW)
def a_confirmation_of_another_sort(t: Trace) -> None:
    t.follow()
    t.envelope(CHAT, starts())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": part_of(paused())})
    t.envelope(SESSION, lists(entry("toolConfirmation", toolCall=paused())))
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(CHAT, ends())


@unknown.good("AHP-INPUT-002", "AHP-INPUT-007", versions=NEW)
def a_call_that_was_approved_and_waits_in_another_way(t: Trace) -> None:
    asked = a_call("pending-confirmation")
    waits, works = ([{**chat, "status": status} for chat in calm_session()["chats"]] for status in (24, 8))
    t.follow(session=calm_session(chats=waits), chat=working_chat(part_of(asked), status=24))
    t.envelope(SESSION, lists(entry("toolConfirmation", toolCall=asked)))
    t.echo(CHAT, about("Confirmed", approved=True, confirmed="user-action"))
    t.envelope(SESSION, lists(entry("toolConfirmation", toolCall=paused())))
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": 8}})
    listed = [entry("toolConfirmation", toolCall=paused())]
    shows(t, calm_session(chats=works, inputNeeded=listed, status=24), SESSION)


# -- calls and parts ----------------------------------------------------------------------------------


@unknown.good("AHP-SEQ-009", versions=NEW)
def a_call_goes_on_from_a_status_of_its_own(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), status=24))
    t.envelope(CHAT, about("Complete", result=DONE))
    shows(t, working_chat(part_of(a_call("completed") | DONE), status=8))


@unknown.good("AHP-SEQ-009", versions=NEW)
def a_turn_ends_with_a_call_in_a_status_of_its_own(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), part_of(a_call("completed", "other") | DONE)))
    t.envelope(CHAT, ends("Cancelled"))
    parts = (part_of(paused(status="abandoned")), part_of(a_call("completed", "other") | DONE))
    shows(t, idle_chat(turns=[finished(*parts, state="cancelled")], modifiedAt="2026-01-01T00:01:00.005Z"))


@unknown.good("AHP-SEQ-009", versions=NEW)
def another_call_moves_beside_one_in_a_status_of_its_own(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), part_of(a_call("running", "other"))))
    t.envelope(CHAT, about("Complete", "other", result=DONE))
    done = part_of({**a_call("running", "other"), "status": "completed", **DONE})
    del done["toolCall"]["content"]
    shows(t, working_chat(part_of(paused()), done, status=24))


@unknown.good("AHP-SEQ-009", versions=NEW)
def a_client_ends_a_review_of_another_sort(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused())))
    t.echo(CHAT, about("ResultConfirmed", approved=True))
    shows(t, working_chat(part_of(a_call("completed") | DONE)))


@unknown.good("AHP-TOOLAUTH-008", versions=NEW)
def a_blocked_call_goes_on_beside_one_in_a_status_of_its_own(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), part_of(a_call("auth-required", "other")), status=24))
    t.call("authenticate", {}, resource=auth()["resource"]["resource"], token="a-token-of-ours")
    t.envelope(CHAT, about("AuthResolved", "other"))
    shows(t, working_chat(part_of(paused()), part_of(a_call("running", "other")), status=24))


@unknown.good(versions=NEW)
def a_client_ends_the_call_of_a_contributor_of_another_sort(t: Trace) -> None:
    call = {**a_call("running"), "contributor": {"kind": "peer", "peer": "phone"}}
    t.follow(session=None, chat=working_chat(part_of(call)))
    t.echo(CHAT, about("Complete", result=DONE))


@unknown.good("AHP-SEQ-009", versions=("0.6.0", *NEW))
def a_part_that_waits_for_somebody(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": hologram()})
    shows(t, working_chat(hologram(), status=24))


# -- servers, sessions, changesets --------------------------------------------------------------------


@unknown.good("AHP-MCP-031", versions=NEW)
def a_server_moves_to_another_channel(t: Trace) -> None:
    t.follow()
    for kind, channel in (("ready", "mcp://vault"), ("updating", "mcp://vault"), ("ready", "mcp://two")):
        state = {"type": "session/mcpServerStateChanged", "id": "vault", "state": {"kind": kind}, "channel": channel}
        t.envelope(SESSION, state)
    vault = {**server(), "channel": "mcp://two"}
    shows(t, calm_session(customizations=[vault, *calm_session()["customizations"][1:]]), SESSION)


@unknown.good("AHP-SEQ-009", "AHP-SESS-008", versions=NEW)
def a_session_is_ready_after_a_lifecycle_of_its_own(t: Trace) -> None:
    t.follow(session=calm_session(lifecycle="migrating"))
    t.echo(SESSION, {"type": "session/isReadChanged", "isRead": True}, rejected="not now")
    t.envelope(SESSION, {"type": "session/ready"})
    shows(t, calm_session(), SESSION)


@unknown.good("AHP-SEQ-009", versions=NEW)
def a_changeset_and_an_operation_explain_a_status_of_their_own(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHANGESET, changeset(file(), operations=[operation()]))
    t.envelope(CHANGESET, {"type": "changeset/statusChanged", "status": "stale", "error": TROUBLE})
    goes = {"type": "changeset/operationStatusChanged", "operationId": "revert", "status": "halted", "error": TROUBLE}
    t.envelope(CHANGESET, goes)
    halted = operation(status="halted", error=TROUBLE)
    shows(t, changeset(file(), status="stale", error=TROUBLE, operations=[halted]), CHANGESET)


@unknown.good(versions=NEW)
def an_operation_of_a_scope_of_its_own_is_run_without_a_target(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHANGESET, changeset(operations=[operation(scopes=["repository"])]))
    number = t.ask("invokeChangesetOperation", channel=CHANGESET, operationId="revert")
    for status in ("running", "idle"):
        t.envelope(CHANGESET, {"type": "changeset/operationStatusChanged", "operationId": "revert", "status": status})
    t.result(number, {})


# -- what is known is judged all the same -------------------------------------------------------------


@convergence.bad("AHP-SEQ-009", "AHP-SUB-006", versions=NEW)
def another_part_of_the_turn_is_lost(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), {"kind": "markdown", "id": "p", "content": "Hi"}))
    shows(t, working_chat(part_of(paused()), status=24))


@convergence.bad("AHP-SEQ-009", "AHP-SUB-006", versions=NEW)
def the_activity_where_only_an_earlier_turn_has_such_a_call(t: Trace) -> None:
    earlier = finished(part_of(paused()), identity="turn-0")
    t.follow(session=None, chat=working_chat(turns=[earlier]))
    shows(t, working_chat(turns=[earlier], status=24))


@chat_folds.bad("AHP-TOOL-006", "AHP-TOOL-008", "AHP-TURN-036", versions=NEW)
def another_call_is_not_completed(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(paused()), part_of(a_call("running", "other"))))
    t.envelope(CHAT, about("Complete", "other", result=DONE))
    shows(t, working_chat(part_of(paused()), part_of(a_call("cancelled", "other"))))


@clean(unknown)
def test_is_clean(case: Case, version: str) -> None:
    case.is_clean(version)


@found(convergence, chat_folds)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


# -- two states less what nobody knows ----------------------------------------------------------------


@pytest.mark.parametrize("state", [None, [], "x", {}, idle_chat(), working_chat(part_of(a_call("running")))])
def test_states_without_anything_unknown_come_back_as_they_are(state: Any) -> None:
    left, right = less_unknown(state, state)
    assert left is state
    assert right is state


def test_a_call_is_left_out_of_both_states_by_turn_and_id() -> None:
    same_id_elsewhere = finished(part_of(a_call("completed")), identity="turn-0")
    left = working_chat(part_of(paused()), turns=[same_id_elsewhere])
    right = idle_chat(turns=[same_id_elsewhere, finished(part_of(a_call("completed")))])
    shown = less_unknown(left, right)
    assert shown[0] == idle_chat(turns=[same_id_elsewhere], activeTurn=turn())
    assert shown[1] == idle_chat(turns=[same_id_elsewhere, finished()])
    assert left == working_chat(part_of(paused()), turns=[same_id_elsewhere])


@pytest.mark.parametrize("value", [None, 3, [], {}, {"status": 3, "kind": []}, {"status": None, "kind": None}])
def test_what_is_malformed_is_not_unknown(value: Any) -> None:
    assert not has_unknown_status(value)
    assert not has_unknown_kind(value)
    parts = [{"kind": "toolCall", "toolCall": value}, {"kind": 3}, value]
    chat = working_chat(*parts)
    assert less_unknown(chat, chat)[0] is chat
