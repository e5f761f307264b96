"""The host's own state of turns, waiting messages and drafts follows its actions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.protocol.examples import CHAT, TURN, message

from . import chat_rows
from .chat_rows import (
    APPROVED,
    BEFORE_09,
    DELTA,
    DRAFTED,
    DRAFTY,
    FROM_09,
    HISTORY,
    OPEN,
    REASONING,
    REORDERED,
    RESUMED,
    TEXT,
    TRUNCATED,
    WAITING,
    call,
    changed,
    pending,
    played,
    put,
    the_call,
)
from .traces import (
    JSON,
    Case,
    Cases,
    Trace,
    clean,
    ends,
    fails,
    finished,
    found,
    idle_chat,
    parts,
    starts,
    unwaits,
    waits,
    working_chat,
)

folds = Cases("chat-folds")
row = partial(chat_rows.row, folds)

# -- turns --------------------------------------------------------------------------------------------

row(
    "an_old_part_in_a_new_turn",
    "AHP-TURN-002",
    start=idle_chat(turns=[finished(TEXT)]),
    does=[starts("next")],
    spoil=put("activeTurn", "responseParts", to=[TEXT]),
)
row(
    "a_start_brings_a_chat_back_from_the_archive",
    "AHP-TURN-003",
    start=idle_chat(status=65),
    does=[starts("next")],
    spoil=put("status", to=8),
)
row(
    "a_chat_stays_read",
    "AHP-TURN-003",
    start=idle_chat(status=33),
    does=[starts("next")],
    spoil=put("status", to=40),
    versions=("1.0.0",),
)
row(
    "a_turn_that_runs_is_not_there",
    "AHP-TURN-002",
    "AHP-TURN-029",
    start=idle_chat(),
    does=[starts()],
    spoil=put("activeTurn"),
)
row(
    "the_message_is_trimmed",
    "AHP-TURN-029",
    start=idle_chat(),
    does=[starts(message=message(" a "))],
    spoil=put("activeTurn", "message", "text", to="a"),
)
row(
    "a_draft_goes_with_the_start",
    "AHP-DRAFT-006",
    start=idle_chat(draft=message()),
    does=[starts()],
    spoil=put("draft"),
)
row(
    "a_turn_loses_its_end",
    "AHP-TURN-006",
    start=working_chat(TEXT),
    does=[ends()],
    spoil=put("turns", 0, "state", to="cancelled"),
)
row(
    "a_duration_of_the_hosts_own",
    "AHP-TURN-007",
    start=working_chat(),
    does=[ends()],
    spoil=put("turns", 0, "duration", to=6),
)
row(
    "any_cancellation_ends_the_turn",
    "AHP-TURN-008",
    "AHP-TURN-036",
    start=working_chat(TEXT),
    does=[{"type": "chat/turnCancelled", "turnId": "other", "duration": 1, "_by": "nobody"}],
    spoil=put("activeTurn"),
)
row(
    "a_call_waits_on_in_a_cancelled_turn",
    "AHP-TURN-009",
    start=pending(),
    does=[ends("Cancelled")],
    spoil=changed(status="pending-confirmation", reason=None),
    beside=("tool-results",),
)
row(
    "an_open_question_is_closed_with_the_turn",
    "AHP-TURN-010",
    start=OPEN,
    does=[ends("Cancelled")],
    spoil=put("turns", 0, "responseParts", 0, "response", to="cancel"),
)
row(
    "a_cancelled_turn_leaves_the_chat_busy",
    "AHP-TURN-015",
    start=working_chat(),
    does=[ends("Cancelled")],
    spoil=put("status", to=8),
)
row(
    "a_failed_turn_leaves_the_chat_idle",
    "AHP-TURN-016",
    start=working_chat(),
    does=[fails("0.6.0")],
    spoil=put("status", to=1),
    versions=BEFORE_09,
)
row(
    "the_error_is_lost",
    "AHP-TURN-041",
    start=working_chat(),
    does=[fails("0.6.0")],
    spoil=put("turns", 0, "error"),
    versions=BEFORE_09,
)
row(
    "the_error_stays_a_member",
    "AHP-CHAT-144",
    "AHP-TURN-006",
    start=working_chat(),
    does=[fails("0.9.0")],
    spoil=lambda state: state["turns"][0].update(responseParts=[], error={"errorType": "model", "message": "gone"}),
    versions=FROM_09,
)
row(
    "a_resumed_turn_loses_its_parts",
    "AHP-CHAT-105",
    "AHP-TURN-036",
    start=working_chat(TEXT),
    does=[fails("0.9.0", resumable=True), RESUMED],
    spoil=put("activeTurn", "responseParts", to=[]),
    versions=FROM_09,
)
row(
    "a_clock_of_the_hosts_own",
    "AHP-CHAT-107",
    start=working_chat(),
    does=[ends()],
    spoil=put("modifiedAt", to="2026-01-01T00:09:00Z"),
    versions=FROM_09,
)
row(
    "text_is_replaced",
    "AHP-TURN-019",
    "AHP-TURN-036",
    start=working_chat(),
    does=[parts(), DELTA],
    spoil=put("activeTurn", "responseParts", 0, "content", to="i"),
)
row(
    "reasoning_is_replaced",
    "AHP-TURN-020",
    "AHP-TURN-036",
    start=working_chat(),
    does=[parts("reasoning"), REASONING],
    spoil=put("activeTurn", "responseParts", 0, "content", to="i"),
)
row(
    "parts_are_sorted",
    "AHP-TURN-021",
    "AHP-TURN-006",
    start=working_chat(),
    does=[parts("reasoning", "b"), parts(identity="a"), ends()],
    spoil=lambda state: state["turns"][0]["responseParts"].reverse(),
)
row(
    "usage_adds_up",
    "AHP-TURN-022",
    start=working_chat(),
    does=[{"type": "chat/usage", "turnId": TURN, "usage": {"outputTokens": n}} for n in (1, 2)],
    spoil=put("activeTurn", "usage", "outputTokens", to=3),
)
row(
    "what_was_streamed_is_late",
    "AHP-TURN-036",
    start=working_chat(TEXT),
    does=[DELTA],
    spoil=put("activeTurn", "responseParts", 0, "content", to="H"),
)

row(
    "a_consumed_message_waits_on",
    "AHP-TURN-004",
    "AHP-PEND-004",
    start={**{k: v for k, v in WAITING.items() if k != "activeTurn"}, "status": 1},
    does=[{**unwaits("one"), "_by": "host"}, {**starts(queuedMessageId="one"), "_by": "host"}],
    spoil=put("queuedMessages", to=WAITING["queuedMessages"]),
)

WORK = {"id": "w", "kind": "shell", "label": "Build", "command": "make"}
CHANGESET = {"label": "Turn", "uriTemplate": "ahp-changeset:/1", "changeKind": "turn"}
row(
    "background_work_ends_with_its_turn",
    "AHP-CHAT-121",
    start=working_chat(),
    does=[{"type": "chat/backgroundWorkSet", "work": WORK}, ends()],
    spoil=put("backgroundWork"),
    versions=("1.0.0",),
)
row(
    "background_work_ends_with_a_truncation",
    "AHP-CHAT-121",
    start=working_chat(backgroundWork=[WORK]),
    does=[TRUNCATED],
    spoil=put("backgroundWork"),
    versions=("1.0.0",),
)
row(
    "finished_work_is_still_there",
    "AHP-CHAT-121",
    start=working_chat(backgroundWork=[WORK]),
    does=[{"type": "chat/backgroundWorkRemoved", "id": "w"}],
    spoil=put("backgroundWork", to=[WORK]),
    versions=("1.0.0",),
)
row(
    "changesets_pile_up",
    "AHP-CHAT-122",
    start=idle_chat(changesets=[CHANGESET]),
    does=[{"type": "chat/changesetsChanged"}],
    spoil=put("changesets", to=[CHANGESET]),
    versions=("1.0.0",),
)

# -- truncation ---------------------------------------------------------------------------------------

row(
    "one_turn_too_many_goes",
    "AHP-TRUNC-001",
    start=HISTORY,
    does=[{**TRUNCATED, "turnId": "t2"}],
    spoil=put("turns", 1),
)
row(
    "turns_outlive_the_truncation",
    "AHP-TRUNC-002",
    start=HISTORY,
    does=[TRUNCATED],
    spoil=put("turns", to=[finished(identity="t1")]),
)
row(
    "an_unknown_turn_empties_the_chat",
    "AHP-TRUNC-003",
    start=HISTORY,
    does=[{**TRUNCATED, "turnId": "nobody"}],
    spoil=put("turns", to=[]),
)
row(
    "a_dropped_turn_is_listed_as_active",
    "AHP-TRUNC-004",
    start=working_chat(),
    does=[TRUNCATED],
    spoil=lambda state: state.update(status=8, activeTurn=working_chat()["activeTurn"]),
)
row(
    "an_open_question_outlives_its_turn",
    "AHP-TRUNC-004",
    "AHP-INPUTREQ-022",
    start=OPEN,
    does=[TRUNCATED],
    spoil=put("status", to=24),
)
row(
    "a_truncation_empties_the_queue",
    "AHP-TRUNC-010",
    start={**DRAFTY, "turns": [finished(identity="t1")]},
    does=[{**TRUNCATED, "turnId": "t1"}],
    spoil=put("queuedMessages"),
)
row(
    "overlapping_pages_are_doubled",
    "AHP-PAGE-008",
    start=idle_chat(turns=[finished(identity="t2")]),
    does=[{"type": "chat/turnsLoaded", "turns": [finished(identity="t2")]}],
    spoil=put("turns", to=[finished(identity="t2"), finished(identity="t2")]),
)

# -- waiting messages and drafts ------------------------------------------------------------------------

row(
    "a_draft_is_emptied",
    "AHP-DRAFT-001",
    start=DRAFTY,
    does=[{"type": "chat/draftChanged"}],
    spoil=put("draft", to=message("")),
)
row(
    "a_draft_marks_the_chat_busy",
    "AHP-DRAFT-005",
    start=idle_chat(),
    does=[DRAFTED],
    spoil=put("status", to=8),
)
row(
    "steering_messages_pile_up",
    "AHP-PEND-001",
    "AHP-PEND-014",
    start=WAITING,
    does=[waits("s2", "right", "steering")],
    spoil=put("steeringMessage", "id", to="s"),
)
row(
    "an_edited_message_moves_to_the_end",
    "AHP-PEND-002",
    start=WAITING,
    does=[waits("one", "again")],
    spoil=lambda state: state["queuedMessages"].reverse(),
)
row(
    "a_removed_message_steers_on",
    "AHP-PEND-003",
    start=WAITING,
    does=[unwaits("s", "steering")],
    spoil=put("steeringMessage", to=WAITING["steeringMessage"]),
)
row(
    "a_steering_message_is_consumed_without_a_word",
    "AHP-PEND-014",
    start=WAITING,
    does=[{"type": "chat/activityChanged", "activity": "turning"}],
    spoil=put("steeringMessage"),
)
row(
    "the_wrong_message_is_removed",
    "AHP-PEND-004",
    start=WAITING,
    does=[unwaits("two")],
    spoil=put("queuedMessages", 0, "id", to="two"),
)
row(
    "a_partial_order_drops_the_rest",
    "AHP-PEND-005",
    start=WAITING,
    does=[REORDERED],
    spoil=put("queuedMessages", 1),
)
row(
    "a_cancellation_empties_the_queue",
    "AHP-PEND-020",
    start=WAITING,
    does=[ends("Cancelled")],
    spoil=put("queuedMessages"),
)
row(
    "an_empty_queue_stays",
    "AHP-PEND-022",
    start=working_chat(queuedMessages=[{"id": "one", "message": message()}]),
    does=[unwaits("one")],
    spoil=put("queuedMessages", to=[]),
)

# -- other clients ------------------------------------------------------------------------------------


def second(t: Trace, spoil: Callable[[Any], object] | None, *does: JSON, leave: bool = False) -> None:
    """B comes when A has done something, and perhaps has gone."""
    state = copy.deepcopy(played(t, WAITING, list(does), "AC"))
    if leave:
        t.close("A")
    if spoil is not None:
        spoil(state)
    t.handshake("B")
    t.subscribe(CHAT, state, "B")


@folds.bad("AHP-DRAFT-001", "AHP-DRAFT-002")
def a_draft_of_ones_own(t: Trace) -> None:
    second(t, put("draft"), DRAFTED)


@folds.good("AHP-DRAFT-001", "AHP-DRAFT-002")
def a_draft_for_everybody(t: Trace) -> None:
    second(t, None, DRAFTED)


@folds.bad("AHP-PEND-002", "AHP-PEND-017")
def a_queue_goes_with_its_client(t: Trace) -> None:
    second(t, put("queuedMessages"), waits("three"), leave=True)


@folds.good("AHP-PEND-002", "AHP-PEND-017")
def a_queue_outlives_its_client(t: Trace) -> None:
    second(t, None, waits("three"), leave=True)


@folds.bad("AHP-TOOL-011", "AHP-TURN-036")
def a_refused_decision_has_its_effect(t: Trace) -> None:
    start = call("cancelled")
    t.follow(session=None, chat=start)
    t.echo(CHAT, APPROVED, rejected="it is over")
    state = copy.deepcopy(start)
    the_call(state).update(status="running", confirmed="user-action")
    t.subscribe(CHAT, state)


@folds.good("AHP-TOOL-011")
def a_refused_decision_has_none(t: Trace) -> None:
    start = call("cancelled")
    t.follow(session=None, chat=start)
    t.echo(CHAT, APPROVED, rejected="it is over")
    t.subscribe(CHAT, start)


@folds.bad("AHP-PAGE-003")
def a_cursor_and_nothing_behind_it(t: Trace) -> None:
    t.follow("A", session=None, chat=HISTORY)
    t.handshake("B")
    t.window(HISTORY["turns"], "B")


@folds.bad("AHP-PAGE-003")
def a_window_without_cursor(t: Trace) -> None:
    t.follow("A", session=None, chat=HISTORY)
    t.handshake("B")
    t.window(HISTORY["turns"][1:], "B", None)


@folds.bad("AHP-PAGE-016")
def the_oldest_turns_instead_of_the_newest(t: Trace) -> None:
    t.follow("A", session=None, chat=HISTORY)
    t.handshake("B")
    t.window(HISTORY["turns"][:2], "B")


@folds.good()
def the_read_flag_may_come_back(t: Trace) -> None:
    """AMB-49: somebody looks at it, and before 1.0.0 no action of the chat says so."""
    t.follow(session=None, chat=idle_chat(status=33))
    t.echo(CHAT, starts())
    if t.version < "1.0.0":
        t.subscribe(CHAT, working_chat(status=40))


@folds.good("AHP-PAGE-003", "AHP-PAGE-016")
def a_window_of_the_history(t: Trace) -> None:
    t.follow("A", session=None, chat=HISTORY)
    t.echo(CHAT, {**TRUNCATED, "turnId": "t2"})
    t.handshake("B")
    t.window([finished(identity="t2")], "B")


@folds.good()
def a_moment_written_in_another_way(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, ends())
    t.subscribe(CHAT, idle_chat(turns=[finished()], modifiedAt="2026-01-01T01:01:00.005+01:00"))


@folds.good()
def a_snapshot_from_before(t: Trace) -> None:
    """It was taken before the action that A has seen already."""
    t.follow("AB", session=None, chat=working_chat(TEXT))
    t.envelope(CHAT, DELTA, "A")
    t.subscribe(CHAT, working_chat(TEXT), "B", at=0)


@found(folds)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(folds)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
