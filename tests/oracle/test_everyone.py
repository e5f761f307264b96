"""Everybody is told the same."""

from __future__ import annotations

from tests.protocol.examples import CHAT, message

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, ends, found, idle_chat, root, starts

everyone = Cases("everyone")

READ = {"type": "session/isReadChanged", "isRead": True}
DELTA = {"type": "chat/delta", "turnId": "t", "partId": "p", "content": "Hi"}


def title(text: str = "New") -> dict[str, str]:
    return {"type": "session/titleChanged", "title": text}


@everyone.bad("AHP-SUB-010")
def one_subscriber_is_left_out(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title())
    t.echo(SESSION, READ, to="AB")


@everyone.bad("AHP-SUB-010")
def one_subscriber_is_left_out_up_to_the_end(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title(), "B")
    t.ping("A")


@everyone.good("AHP-SUB-010")
def what_others_are_told_last_may_still_be_on_its_way(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, READ, to="AB")
    t.ping("A")
    t.echo(SESSION, title(), "B")


@everyone.bad("AHP-SUB-010", settled=False)
def a_gap_shows_without_a_fence(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title())
    t.echo(SESSION, READ, to="AB")
    t.close("B")


@everyone.bad("AHP-SEQ-014", versions=("0.9.0",))
def two_clients_see_two_orders(t: Trace) -> None:
    t.follow("AB", chat=None)
    for conn, names in (("A", "XY"), ("B", "YX")):
        for seq, name in enumerate(names, 1):
            t.envelope(SESSION, title(name), conn, seq=seq)


@everyone.bad("AHP-SEQ-006")
def others_are_not_told_whose_action_it_was(t: Trace) -> None:
    t.follow("AB", chat=None)
    number = t.dispatch(SESSION, title())
    t.envelope(SESSION, title(), "A", seq=1, origin=("A", number))
    t.envelope(SESSION, title(), "B", seq=1)


@everyone.bad("AHP-INIT-011", "AHP-SUB-010")
def a_subscription_of_the_handshake_is_not_kept(t: Trace) -> None:
    t.follow("A", chat=None)
    at_once(t, "B", SESSION, calm_session())
    t.echo(SESSION, title())
    t.ping("B")


@everyone.bad("AHP-SUB-010", "AHP-SUB-027")
def a_chat_is_silent_without_its_session(t: Trace) -> None:
    t.follow("A", chat=idle_chat())
    t.follow("B", session=None, chat=idle_chat())
    t.echo(CHAT, starts())
    t.ping("B")


@everyone.bad("AHP-RECON-009", "AHP-SUB-010")
def who_came_back_is_left_out(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title("Old"), to="AB")
    t.close()
    t.reconnect("C", "client-A", t.seq, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": []})
    t.echo(SESSION, title(), "B")
    t.ping("C")


@everyone.good("AHP-INIT-011", "AHP-RECON-009", "AHP-SEQ-006", "AHP-SEQ-014", "AHP-SUB-010", "AHP-SUB-027")
def all_are_told_all(t: Trace) -> None:
    t.follow("A", chat=idle_chat())
    at_once(t, "B", SESSION, calm_session())
    t.follow("D", session=None, chat=idle_chat())
    t.echo(SESSION, title(), to="AB")
    t.echo(CHAT, starts(), to="AD")
    t.close("B")
    missed = t.echo(SESSION, title("Y"))
    back = {"type": "replay", "actions": [missed], "missing": []}
    t.reconnect("C", "client-B", 1, [ROOT, SESSION], back)
    t.echo(SESSION, title("Z"), to="AC")


@everyone.good()
def what_comes_often_may_be_merged(t: Trace) -> None:
    t.follow("AB", chat=idle_chat())
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, {**DELTA, "type": "chat/usage", "usage": {}}, "A")
    t.envelope(CHAT, ends(), "AB")
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message("H")}, to="A")
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message("Hi")}, to="AB")


@everyone.good()
def delays_that_the_client_asked_for(t: Trace) -> None:
    t.follow("A", session=None, chat=idle_chat())
    t.handshake("B")
    t.subscribe(CHAT, idle_chat(), "B", delivery={"maxLatencyMs": 500})
    t.envelope(CHAT, starts())


@everyone.good(settled=False)
def the_rest_may_still_be_on_its_way(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title())


@everyone.good()
def who_left_or_came_later_is_owed_nothing(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.notify("unsubscribe", "B", channel=SESSION)
    t.echo(SESSION, title())
    t.follow("C", session=calm_session(title="New"), chat=None)
    t.echo(SESSION, title("Y"), to="AC")


@everyone.good(versions=("0.9.0",))
def an_older_client_is_not_told_of_newer_actions(t: Trace) -> None:
    t.follow("A", session=None, chat=idle_chat())
    t.handshake("B", version="0.6.0")
    t.subscribe(CHAT, idle_chat(), "B")
    t.echo(CHAT, {"type": "chat/turnResume", "turnId": "t"}, rejected="no such turn")
    t.envelope(CHAT, {"type": "chat/turnResume", "turnId": "t"})


@everyone.good()
def a_host_that_was_started_anew_counts_anew(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.echo(SESSION, title(), to="AB")
    t.close("A")
    t.close("B")
    t.seq = 0
    t.follow("CD", session=calm_session(), chat=None)
    t.echo(SESSION, title("Y"), "C", to="CD")


@everyone.good()
def a_recording_from_the_middle(t: Trace) -> None:
    t.envelope(SESSION, title(), "AB")
    t.envelope(SESSION, title("Y"), "A")
    t.envelope(SESSION, title("Z"), "AB")


def at_once(t: Trace, conn: str, channel: str, state: object) -> None:
    """A handshake that subscribes to one more channel."""
    names = [ROOT, channel]
    identity = t.ask(
        "initialize", conn, protocolVersions=[t.version], clientId=f"client-{conn}", initialSubscriptions=names
    )
    states = [t.snapshot(ROOT, root()), t.snapshot(channel, state)]
    t.result(identity, {"protocolVersion": t.version, "serverSeq": t.seq, "snapshots": states}, conn)


@found(everyone)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(everyone)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
