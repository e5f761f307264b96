"""The fold of what was delivered equals what the host hands out."""

from __future__ import annotations

from typing import Any

from conformance.protocol import fold
from tests.protocol.examples import CHAT, auth

from .traces import (
    JSON,
    ROOT,
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
    root,
    starts,
    turn,
    unlists,
    working_chat,
)

convergence = Cases("convergence")

TITLE = {"type": "session/titleChanged", "title": "New"}
HEARD = ("AHP-SEQ-009", "AHP-SUB-006")


def part(text: str) -> JSON:
    return {"type": "chat/responsePart", "turnId": "turn-1", "part": {"kind": "markdown", "id": "p", "content": text}}


def delta(text: str) -> JSON:
    return {"type": "chat/delta", "turnId": "turn-1", "partId": "p", "content": text}


def text_of(text: str) -> JSON:
    return {"kind": "markdown", "id": "p", "content": text}


def folded(t: Trace, state: JSON, *actions: JSON, kind: str = "session") -> Any:
    return fold(kind, state, actions, t.version)


# -- one connection -----------------------------------------------------------------------------------


@convergence.bad(*HEARD)
def the_store_changes_without_an_action(t: Trace) -> None:
    t.follow(chat=None)
    t.subscribe(SESSION, calm_session(title="New"))


@convergence.bad(*HEARD)
def an_action_that_the_host_does_not_apply(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, TITLE)
    t.subscribe(SESSION, calm_session())


@convergence.bad(*HEARD)
def a_known_member_appears(t: Trace) -> None:
    t.follow(chat=None)
    t.subscribe(SESSION, calm_session(activity="thinking"))


@convergence.bad(*HEARD)
def config_values_change_silently(t: Trace) -> None:
    """Names of config properties are free, so none of them is unknown."""
    config: JSON = {"schema": {"type": "object", "properties": {}}, "values": {"colour": "red"}}
    t.follow(chat=None)
    t.subscribe(SESSION, calm_session(config=config))


@convergence.bad(*HEARD)
def the_archived_flag_is_lost(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, {"type": "session/isArchivedChanged", "isArchived": True})
    t.subscribe(SESSION, calm_session(status=1))


@convergence.bad(*HEARD)
def the_root_changes_silently(t: Trace) -> None:
    t.handshake()
    t.subscribe(ROOT, root(activeSessions=1))


@convergence.bad(*HEARD)
def a_snapshot_holds_more_than_its_number_says(t: Trace) -> None:
    """Number and state are read at different moments, so that a client applies an action twice."""
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, part("Hi"))
    t.subscribe(CHAT, working_chat(text_of("Hi there")), at=1)
    t.envelope(CHAT, delta(" there"))
    t.subscribe(CHAT, working_chat(text_of("Hi there")))


# -- several connections ------------------------------------------------------------------------------


@convergence.bad(*HEARD, beside=("everyone",))
def one_subscriber_misses_something(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.bad(*HEARD)
def the_witness_finds_something_else(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, part("Hi"))
    t.handshake("B")
    t.subscribe(CHAT, working_chat(text_of("Ho")), "B")


@convergence.bad(*HEARD)
def a_replay_leaves_something_out(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, part("Hi"))
    t.close()
    t.seq = 2
    later = [t.params(CHAT, delta("!"))]
    t.reconnect("B", "client-A", 1, [CHAT], {"type": "replay", "actions": later, "missing": []})
    t.handshake("C")
    t.subscribe(CHAT, working_chat(text_of("Hi there!")), "C")


@convergence.bad(*HEARD)
def a_closed_connection_still_testifies_to_what_it_saw(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.envelope(SESSION, TITLE, "AB")
    t.close()
    t.subscribe(SESSION, calm_session(), "B")


# -- the fold of single actions -----------------------------------------------------------------------


@convergence.bad(*HEARD, "AHP-INNEED-001")
def an_entry_is_appended_instead_of_replaced(t: Trace) -> None:
    one, other = entry("chatInput", "n"), entry("chatInput", "m", request={"id": "r"})
    t.follow(chat=None)
    t.envelope(SESSION, lists(one))
    t.envelope(SESSION, lists(other))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[other, one]))


@convergence.bad(*HEARD, "AHP-INNEED-002")
def a_removed_entry_is_still_there(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(entry("chatInput", "n")))
    t.envelope(SESSION, unlists("n"))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("chatInput", "n")]))


@convergence.bad(*HEARD, "AHP-INNEED-002")
def an_empty_list_is_left_behind(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(entry("chatInput", "n")))
    t.envelope(SESSION, unlists("n"))
    t.subscribe(SESSION, calm_session(status=8, inputNeeded=[]))


@convergence.bad(*HEARD, "AHP-INNEED-001", "AHP-INNEED-002")
def a_removal_takes_the_whole_list(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(entry("chatInput", "n")))
    t.envelope(SESSION, lists(entry("chatInput", "m", request={"id": "r"})))
    t.envelope(SESSION, unlists("n"))
    t.subscribe(SESSION, calm_session(status=8))


@convergence.bad(*HEARD, "AHP-TOOLAUTH-001")
def partial_content_is_lost_when_the_call_pauses(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running()
    t.envelope(CHAT, about("ContentChanged", content=[{"type": "text", "text": "so far"}]))
    t.envelope(CHAT, about("AuthRequired", auth=auth()))
    bare = {**_shown("auth-required"), "auth": auth()}
    t.subscribe(CHAT, working_chat(part_of(bare), status=24))


@convergence.bad(*HEARD, "AHP-TOOLAUTH-006")
def the_challenge_stays_on_the_resumed_call(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.unblocked(entry=None)
    t.subscribe(CHAT, working_chat(part_of({**_shown("running"), "auth": auth()})))


@convergence.bad(*HEARD, "AHP-MCPS-004")
def a_stale_channel_is_kept(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/mcpServerStateChanged", "id": "inner", "state": {"kind": "stopped"}})
    state = calm_session()
    state["customizations"][1]["children"][0]["state"] = {"kind": "stopped"}
    t.subscribe(SESSION, state)


@convergence.bad(*HEARD)
def a_server_that_no_action_told_of(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, {"type": "session/mcpServerStateChanged", "id": "inner", "state": {"kind": "stopped"}})
    state = calm_session()
    state["customizations"][0]["state"] = {"kind": "stopped"}
    del state["customizations"][1]["children"][0]["channel"]
    state["customizations"][1]["children"][0]["state"] = {"kind": "stopped"}
    t.subscribe(SESSION, state)


# -- right hosts --------------------------------------------------------------------------------------


@convergence.good(*HEARD, "AHP-INNEED-001", "AHP-INNEED-002", "AHP-MCPS-004")
def a_session_changes_and_everybody_agrees(t: Trace) -> None:
    actions = (
        TITLE,
        lists(entry("chatInput", "n")),
        lists(entry("chatInput", "m", request={"id": "r"})),
        unlists("n"),
        {"type": "session/mcpServerStateChanged", "id": "inner", "state": {"kind": "stopped"}},
    )
    t.follow("AB", chat=None)
    for action in actions:
        t.envelope(SESSION, action, "AB")
    t.subscribe(SESSION, folded(t, calm_session(), *actions))


@convergence.good("AHP-TOOLAUTH-001")
def a_blocked_call_as_everybody_folds_it(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.handshake("B")
    t.subscribe(CHAT, working_chat(part_of({**_shown("auth-required"), "auth": auth()}), status=24), "B")


@convergence.good("AHP-TOOLAUTH-006")
def a_resumed_call_as_everybody_folds_it(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.unblocked(entry=None)
    t.subscribe(CHAT, working_chat(part_of(_shown("running"))))


@convergence.good(*HEARD)
def what_no_action_carries_may_change(t: Trace) -> None:
    """A-13, A-50, AMB-12: the activity of a session, times, titles of chats, directories."""
    t.follow()
    directories = {"workingDirectory": "file:///w"} if t.version < "0.7.0" else {"workingDirectories": ["file:///w"]}
    project = {"uri": "file:///p", "displayName": "P"}
    chats = [{**calm_session()["chats"][0], "modifiedAt": "2026-02-02T00:00:00Z"}]
    t.subscribe(SESSION, calm_session(status=8, project=project, chats=chats, **directories))
    t.subscribe(CHAT, idle_chat(title="Named", modifiedAt="2026-02-02T00:00:00Z", interactivity="read-only"))
    t.subscribe(ROOT, root(_meta={"load": 3}))


@convergence.good()
def a_new_turn_makes_a_session_unread(t: Trace) -> None:
    """A-14, AMB-49: no action of the session says so."""
    t.follow(session=calm_session(status=33), chat=idle_chat(status=33))
    t.envelope(CHAT, starts())
    t.subscribe(SESSION, calm_session(status=8))


@convergence.good(*HEARD)
def null_clears_like_absence(t: Trace) -> None:
    """A-11: absence is right, null means the same."""
    t.follow(chat=None, session=calm_session(activity="thinking"))
    t.envelope(SESSION, {"type": "session/activityChanged", "activity": None})
    t.subscribe(SESSION, calm_session())


@convergence.good()
def members_that_the_version_does_not_know(t: Trace) -> None:
    t.follow()
    t.envelope(CHAT, {**starts(), "mood": "good"})
    t.subscribe(SESSION, calm_session(mood="good"))
    t.subscribe(CHAT, idle_chat(status=8, activeTurn={**turn(), "shade": 3}, mood="good"))


@convergence.good()
def a_rejected_action_leaves_no_trace(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, TITLE, rejected="no")
    t.subscribe(SESSION, calm_session())


@convergence.good()
def a_snapshot_is_overtaken_by_what_came_later(t: Trace) -> None:
    t.follow(chat=None)
    identity = t.ask("subscribe", channel=SESSION)
    taken = t.snapshot(SESSION, calm_session())
    t.envelope(SESSION, TITLE)
    t.result(identity, {"snapshot": taken})
    t.subscribe(SESSION, calm_session(title="New"))


@convergence.good()
def who_left_is_not_up_to_date(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.notify("unsubscribe", channel=SESSION)
    t.ping()
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def who_left_while_the_answer_was_on_its_way(t: Trace) -> None:
    t.follow("B", chat=None)
    t.handshake()
    identity = t.ask("subscribe", channel=SESSION)
    t.notify("unsubscribe", channel=SESSION)
    t.result(identity, {"snapshot": t.snapshot(SESSION, calm_session())})
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def who_was_cut_off_is_not_up_to_date(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def who_has_come_back_elsewhere_is_not_up_to_date(t: Trace) -> None:
    """A recording may lack the close of the first connection."""
    t.follow("AB", chat=None)
    t.envelope(SESSION, TITLE, "B")
    t.reconnect("C", "client-A", 0, [SESSION], {"type": "replay", "actions": [_last(t)], "missing": []})
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def a_client_begins_anew_under_its_id(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.handshake("C", client="client-A")
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def a_reconnect_by_snapshots_loses_what_has_none(t: Trace) -> None:
    """A-36: a channel for which no snapshot comes is lost."""
    t.follow("AB", chat=None)
    t.close()
    t.envelope(SESSION, TITLE, "B")
    t.close("B")
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": [t.snapshot(ROOT, root())]})
    t.follow("D", session=calm_session(title="New"), chat=None)


@convergence.good()
def a_reconnect_that_claims_more_than_was_seen(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    t.envelope(SESSION, TITLE, "B")
    t.reconnect("C", "client-A", 100, [SESSION], {"type": "replay", "actions": [], "missing": []})
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def a_reconnect_that_asks_for_what_was_left(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.notify("unsubscribe", channel=SESSION)
    t.envelope(SESSION, TITLE, "B")
    t.envelope(ROOT, {"type": "root/activeSessionsChanged", "activeSessions": 1}, "AB")
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": []})
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def a_replay_that_begins_further_back(t: Trace) -> None:
    t.follow("AB", session=None, chat=working_chat())
    told = [t.envelope(CHAT, action, "AB") for action in (part("Hi"), delta(" there"))]
    t.close()
    told.append(t.envelope(CHAT, delta("!"), "B"))
    t.reconnect("C", "client-A", 1, [CHAT], {"type": "replay", "actions": told[1:], "missing": []})
    t.subscribe(CHAT, working_chat(text_of("Hi there!")), "B")


@convergence.good()
def a_session_is_disposed_of_and_made_again(t: Trace) -> None:
    t.follow("AB")
    t.call("disposeSession", None, "B", channel=SESSION)
    t.call("createSession", None, "B", channel=SESSION)
    t.subscribe(SESSION, calm_session(title="Second"), "B")
    t.subscribe(CHAT, idle_chat(turns=[finished()]), "B")


@convergence.good()
def a_session_is_removed_by_somebody(t: Trace) -> None:
    t.follow("A")
    t.tell("root/sessionRemoved", session=SESSION)
    t.follow("B", session=calm_session(title="Second"))


@convergence.good()
def one_client_hears_of_a_removal_when_another_is_further(t: Trace) -> None:
    t.follow("AB")
    t.call("disposeSession", None, "B", channel=SESSION)
    t.tell("root/sessionRemoved", "B", session=SESSION)
    t.call("createSession", None, "B", channel=SESSION)
    t.subscribe(SESSION, calm_session(title="Second"), "B")
    t.tell("root/sessionRemoved", session=SESSION)
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def a_chat_is_removed_and_its_uri_used_again(t: Trace) -> None:
    t.follow("A")
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT})
    t.handshake("B")
    t.subscribe(CHAT, idle_chat(turns=[finished()]), "B")


@convergence.good(*HEARD)
def a_window_of_turns_and_the_whole(t: Trace) -> None:
    """AMB-27: who asked for few turns has few."""
    turns = [finished(identity=name) for name in ("one", "two", "three")]
    t.handshake()
    t.subscribe(CHAT, idle_chat(turns=turns[2:], turnsNextCursor="c"), view={"turns": 1})
    t.handshake("B")
    t.subscribe(CHAT, idle_chat(turns=turns), "B")


@convergence.bad(*HEARD)
def a_window_shows_another_turn(t: Trace) -> None:
    turns = [finished(identity=name) for name in ("one", "two", "three")]
    t.handshake()
    t.subscribe(CHAT, idle_chat(turns=turns[1:2], turnsNextCursor="c"), view={"turns": 1})
    t.handshake("B")
    t.subscribe(CHAT, idle_chat(turns=turns), "B")


@convergence.good()
def who_permits_delays_gets_updates_merged(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, working_chat(text_of("")), delivery={"maxLatencyMs": 100})
    t.follow("B", session=None, chat=working_chat(text_of("")))
    t.envelope(CHAT, delta("Hi"), "B")
    t.handshake("C")
    t.subscribe(CHAT, working_chat(text_of("Hi")), "C")
    t.envelope(CHAT, delta(" there"), "BC")
    t.envelope(CHAT, delta("Hi there"), "A", seq=t.seq)
    t.handshake("D")
    t.subscribe(CHAT, working_chat(text_of("Hi there")), "D")


@convergence.good()
def versions_fold_by_their_own_rules(t: Trace) -> None:
    t.handshake("A", version="0.6.0")
    t.subscribe(SESSION, calm_session())
    t.handshake("B", version="0.9.0")
    t.subscribe(SESSION, calm_session(title="of another shape"), "B")


@convergence.good(settled=False)
def without_a_fence_nobody_is_surely_up_to_date(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.envelope(SESSION, TITLE, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")


@convergence.good()
def kinds_without_a_fold_are_left_alone(t: Trace) -> None:
    claim, life = {"kind": "client", "clientId": "A"}, {"status": "running"}
    terminal = {"title": "T", "content": [], "claim": claim, "lifecycle": life}
    t.handshake()
    t.subscribe("ahp-terminal:/t", terminal)
    t.envelope("ahp-terminal:/t", {"type": "terminal/data", "data": "x"})
    t.subscribe("ahp-terminal:/t", {**terminal, "content": [{"type": "unclassified", "value": "x"}]})


@convergence.good()
def a_turn_that_everybody_saw(t: Trace) -> None:
    t.follow("AB", session=None)
    for action in (starts(), part("Hi"), ends()):
        t.envelope(CHAT, action, "AB")
    t.subscribe(CHAT, idle_chat(turns=[finished(text_of("Hi"))], modifiedAt="2026-01-01T00:01:00.005Z"))


def _shown(status: str) -> JSON:
    """The call of ``Trace.running`` as a snapshot shows it."""
    whole = a_call(status)
    names = ("toolCallId", "contributor", "status")
    named = {"toolName": "read", "displayName": "Read", "invocationMessage": "Reading", "toolInput": "{}"}
    return {**{name: whole[name] for name in names}, **named, "confirmed": "not-needed"}


def _last(t: Trace) -> JSON:
    return next(f.msg["params"] for f in reversed(t.frames) if f.dir == "in" and f.msg.get("method") == "action")


# -- a host that was started anew -----------------------------------------------------------------------


@convergence.good("AHP-INIT-003")
def nobody_was_connected_while_the_host_may_have_been_started_anew(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(title="Before"))
    t.close()
    t.handshake("B")
    t.subscribe(SESSION, calm_session(title="After"), conn="B")


@convergence.bad(*HEARD)
def somebody_was_connected_all_the_time(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(title="Before"))
    t.handshake("C")
    t.close()
    t.handshake("B")
    t.subscribe(SESSION, calm_session(title="After"), conn="B")


@found(convergence)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(convergence)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
