"""Coming back."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, idle_chat, root, starts

reconnecting = Cases("reconnecting")

LOGS = "ahp-otlp:/logs"
OTHER = "ahp-session:/s2"


def title(text: str = "New") -> dict[str, str]:
    return {"type": "session/titleChanged", "title": text}


def replay(*actions: Any, missing: tuple[str, ...] = ()) -> Any:
    return {"type": "replay", "actions": list(actions), "missing": list(missing)}


def away(t: Trace, conns: str = "AB") -> int:
    """Clients that follow the session; A loses its connection. The number that it had seen."""
    t.follow(conns, chat=None)
    t.echo(SESSION, title("Old"), to=conns)
    t.close()
    return t.seq


def summary(uri: str = OTHER) -> Any:
    moment = "2026-01-01T00:00:00.000Z"
    return {"resource": uri, "provider": "p", "title": "S", "status": 1, "createdAt": moment, "modifiedAt": moment}


# -- what a replay holds ------------------------------------------------------------------------------


@reconnecting.bad("AHP-RECON-003")
def nothing_is_replayed(t: Trace) -> None:
    last = away(t)
    t.echo(SESSION, title(), "B")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())
    t.close("C")


@reconnecting.bad("AHP-RECON-003")
def what_was_missed_trickles_in_afterwards(t: Trace) -> None:
    last = away(t)
    missed = t.echo(SESSION, title(), "B")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())
    t.tell("action", "C", **missed)


@reconnecting.bad("AHP-RECON-003", "AHP-RECON-008", beside=("everyone",))
def a_log_that_is_too_short(t: Trace) -> None:
    last = away(t)
    missed = [t.echo(SESSION, title(name), "B") for name in "XYZ"]
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay(*missed[1:]))
    t.close("C")


@reconnecting.bad("AHP-RECON-003", "AHP-RECON-014")
def an_action_of_ones_own_is_not_replayed(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title(), to="AB")
    t.close()
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], replay())
    t.close("C")


@reconnecting.bad("AHP-RECON-014", beside=("everyone",))
def an_action_of_ones_own_loses_its_origin(t: Trace) -> None:
    t.follow("AB", chat=None)
    mine = t.echo(SESSION, title(), to="AB")
    t.close()
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], replay({k: v for k, v in mine.items() if k != "origin"}))
    t.close("C")


@reconnecting.bad("AHP-RECON-004")
def what_was_seen_is_replayed_too(t: Trace) -> None:
    t.follow("AB", chat=None)
    one = t.echo(SESSION, title(), to="AB")
    t.close()
    two = t.echo(SESSION, title("Y"), "B")
    t.reconnect("C", "client-A", one["serverSeq"], [ROOT, SESSION], replay(one, two))


@reconnecting.bad("AHP-RECON-004", "AHP-RECON-015")
def something_is_replayed_although_nothing_was_missed(t: Trace) -> None:
    t.follow("AB", chat=None)
    one = t.echo(SESSION, title(), to="AB")
    t.close()
    t.reconnect("C", "client-A", one["serverSeq"], [ROOT, SESSION], replay(one))


@reconnecting.bad("AHP-RECON-010")
def a_replay_that_leads_elsewhere(t: Trace) -> None:
    last = away(t)
    t.envelope(SESSION, {"type": "session/activityChanged", "activity": "Reading"}, "B")
    missed = t.echo(SESSION, title(), "B")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay(missed))
    t.close("C")


@reconnecting.bad("AHP-RECON-012", beside=("delivery", "vocabulary"))
def logs_are_replayed(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.call("subscribe", {}, channel=LOGS)
    t.close()
    batch = {"channel": LOGS, "action": title(), "serverSeq": 1}
    t.reconnect("C", "client-A", 0, [ROOT, SESSION, LOGS], replay(batch))


@reconnecting.good(
    "AHP-RECON-001",
    "AHP-RECON-003",
    "AHP-RECON-004",
    "AHP-RECON-008",
    "AHP-RECON-009",
    "AHP-RECON-010",
    "AHP-RECON-012",
    "AHP-RECON-014",
    "AHP-RECON-016",
)
def everything_is_replayed(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.call("subscribe", {}, channel=LOGS)
    last = t.seq
    mine = t.echo(SESSION, title("Mine"), to="AB")
    t.close()
    missed = [t.envelope(SESSION, {"type": "session/activityChanged", "activity": "Reading"}, "B")]
    missed.append(t.echo(SESSION, title(), "B"))
    t.reconnect("C", "client-A", last, [ROOT, SESSION, SESSION, LOGS], replay(mine, *missed))
    t.echo(SESSION, title("Z"), "B", to="BC")


@reconnecting.good("AHP-RECON-015")
def nothing_was_missed(t: Trace) -> None:
    last = away(t)
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())


@reconnecting.good()
def rejections_are_not_replayed(t: Trace) -> None:
    last = away(t)
    t.echo(SESSION, {"type": "session/ready"}, "B", rejected="reserved to the host")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())


@reconnecting.good()
def nobody_was_there_all_the_time(t: Trace) -> None:
    """The host may have been started anew, and others cannot tell what was missed."""
    last = away(t)
    t.echo(SESSION, title(), "B")
    t.close("B")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())


@reconnecting.good()
def a_number_that_the_client_made_up(t: Trace) -> None:
    away(t)
    t.echo(SESSION, title(), "B")
    t.reconnect("C", "client-A", 900, [ROOT, SESSION], replay())


@reconnecting.good()
def what_the_client_did_not_list_is_not_replayed(t: Trace) -> None:
    last = away(t)
    t.echo(SESSION, title(), "B")
    t.reconnect("C", "client-A", last, [ROOT], replay())


# -- who may come back, and what is missing -----------------------------------------------------------


@reconnecting.bad("AHP-RECON-001")
def a_client_that_the_host_knows_is_refused(t: Trace) -> None:
    last = away(t)
    t.error(t.ask("reconnect", "C", clientId="client-A", lastSeenServerSeq=last, subscriptions=[ROOT]), conn="C")


@reconnecting.good()
def a_stranger_is_refused(t: Trace) -> None:
    """A-05."""
    last = away(t)
    t.error(t.ask("reconnect", "C", clientId="nobody", lastSeenServerSeq=last, subscriptions=[ROOT]), conn="C")


@reconnecting.good()
def a_reconnect_without_sense_is_refused(t: Trace) -> None:
    away(t)
    t.error(t.ask("reconnect", "C", clientId="client-A", lastSeenServerSeq="x", subscriptions=[ROOT]), conn="C")


@reconnecting.bad("AHP-RECON-006")
def what_was_disposed_of_is_not_missing(t: Trace) -> None:
    last = away(t)
    t.call("disposeSession", conn="B", channel=SESSION)
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())


@reconnecting.bad("AHP-RECON-007")
def something_else_is_missing(t: Trace) -> None:
    last = away(t)
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay(missing=(OTHER,)))


@reconnecting.good("AHP-RECON-006", "AHP-RECON-007")
def what_was_disposed_of_is_missing(t: Trace) -> None:
    t.follow("AB")
    t.close()
    t.call("disposeSession", conn="B", channel=SESSION)
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION, CHAT], replay(missing=(SESSION, CHAT)))


@reconnecting.good()
def a_session_that_was_made_again_need_not_be_missing(t: Trace) -> None:
    last = away(t)
    t.call("disposeSession", conn="B", channel=SESSION)
    t.call("createSession", conn="B", channel=SESSION, provider="p")
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())


# -- snapshots in place of a replay -------------------------------------------------------------------


@reconnecting.bad("AHP-RECON-017")
def a_snapshot_of_what_was_disposed_of(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    t.call("disposeSession", conn="B", channel=SESSION)
    states = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session())]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": states})


@reconnecting.bad("AHP-RECON-024")
def no_snapshot_of_the_root(t: Trace) -> None:
    t.follow(chat=None)
    t.close()
    states = [t.snapshot(SESSION, calm_session())]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": states})


@reconnecting.bad("AHP-RECON-024")
def no_snapshot_of_what_others_follow(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": [t.snapshot(ROOT, root())]})


@reconnecting.good("AHP-RECON-017", "AHP-RECON-024")
def snapshots_of_what_is_there(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.subscribe(OTHER, calm_session(chats=[], lifecycle="creating"))
    t.close()
    t.call("disposeSession", conn="B", channel=OTHER)
    states = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session())]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION, OTHER], {"type": "snapshot", "snapshots": states})


@reconnecting.good()
def a_session_ends_while_a_client_comes_back(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": [t.snapshot(ROOT, root())]})
    t.tell("root/sessionRemoved", "C", session=SESSION)
    t.tell("root/sessionRemoved", "B", session=SESSION)


# -- afterwards ---------------------------------------------------------------------------------------


@reconnecting.bad("AHP-RECON-009")
def what_was_seen_before_comes_once_more(t: Trace) -> None:
    t.follow("AB", chat=None)
    seen = t.echo(SESSION, title(), to="AB")
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], replay())
    t.tell("action", "C", **seen)


@reconnecting.bad("AHP-RECON-016")
def a_host_that_lost_its_numbers_resumes(t: Trace) -> None:
    t.follow(chat=None)
    for name in "XYZ":
        t.echo(SESSION, title(name))
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], replay())
    t.envelope(SESSION, title(), "C", seq=1)


@reconnecting.bad("AHP-ACTC-006")
def who_came_back_is_taken_out(t: Trace) -> None:
    t.follow("AB", chat=None, session=calm_session(activeClients=[{"clientId": "client-A", "tools": []}]))
    t.echo(SESSION, title("Old"), to="AB")
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], replay())
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-A"}, "BC")


@reconnecting.good("AHP-ACTC-006")
def who_came_back_stays_until_it_goes(t: Trace) -> None:
    names = ("client-A", "client-B")
    t.follow("AB", chat=None, session=calm_session(activeClients=[{"clientId": n, "tools": []} for n in names]))
    t.echo(SESSION, title("Old"), to="AB")
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], replay())
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-B"}, "BC")
    number = t.dispatch(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-A"}, "C")
    origin = {"clientId": "client-A", "clientSeq": number}
    left = {**t.params(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-A"}), "origin": origin}
    for conn in "BC":
        t.tell("action", conn, **left)


@reconnecting.bad("AHP-RECON-011")
def an_announcement_is_made_up_for(t: Trace) -> None:
    last = away(t)
    t.tell("root/sessionAdded", "B", summary=summary())
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())
    t.tell("root/sessionAdded", "C", summary=summary())


@reconnecting.bad("AHP-RECON-011")
def a_removal_is_made_up_for(t: Trace) -> None:
    last = away(t)
    t.tell("root/sessionRemoved", "B", session=OTHER)
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())
    t.tell("root/sessionRemoved", "C", session=OTHER)


@reconnecting.good("AHP-RECON-011")
def announcements_of_what_happens_later(t: Trace) -> None:
    last = away(t)
    t.tell("root/sessionAdded", "B", summary=summary())
    t.tell("root/sessionRemoved", "B", session=OTHER)
    t.reconnect("C", "client-A", last, [ROOT, SESSION], replay())
    t.call("createSession", None, "C", channel=OTHER, provider="p")
    for conn in "CB":
        t.tell("root/sessionAdded", conn, summary=summary())
    for conn in "CB":
        t.tell("root/sessionRemoved", conn, session=OTHER)


@reconnecting.good()
def a_recording_from_the_middle(t: Trace) -> None:
    missed = t.envelope(SESSION, title(), "B")
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], replay(missed))
    t.reconnect("D", "client-E", 0, [ROOT, SESSION, CHAT], replay())
    t.envelope(CHAT, starts(), "D")


@reconnecting.good(versions=("0.9.0",))
def two_versions_on_one_host(t: Trace) -> None:
    t.handshake("A", version="0.6.0")
    t.subscribe(CHAT, idle_chat())
    t.handshake("B")
    t.subscribe(CHAT, idle_chat(), "B")
    t.close()
    t.envelope(CHAT, {"type": "chat/turnResume", "turnId": "t"}, "B")
    t.reconnect("C", "client-A", 0, [ROOT, CHAT], replay())


@reconnecting.good()
def a_host_that_lost_its_numbers_hands_out_snapshots(t: Trace) -> None:
    t.follow(chat=None)
    for name in "XYZ":
        t.echo(SESSION, title(name))
    t.close()
    last, t.seq = t.seq, 0
    given = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session())]
    t.reconnect("C", "client-A", last, [ROOT, SESSION], {"type": "snapshot", "snapshots": given})
    t.envelope(SESSION, title(), "C")


@reconnecting.good("AHP-RECON-001")
def a_token_is_asked_for_before_the_return(t: Trace) -> None:
    last = away(t)
    back = t.ask("reconnect", "C", clientId="client-A", lastSeenServerSeq=last, subscriptions=[ROOT])
    t.error(back, -32007, "C", data={"resources": []})


@reconnecting.good("AHP-RECON-024")
def a_session_may_be_gone_when_nobody_would_be_told(t: Trace) -> None:
    last = away(t)
    t.notify("unsubscribe", "B", channel=ROOT)
    given = {"type": "snapshot", "snapshots": [t.snapshot(ROOT, root())]}
    t.reconnect("C", "client-A", last, [ROOT, SESSION], given)


@found(reconnecting)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(reconnecting)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
