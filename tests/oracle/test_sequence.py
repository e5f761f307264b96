"""Numbers: they grow, they mean the same for everybody, and nothing comes twice."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, ends, found, idle_chat, root, starts

numbering = Cases("numbering")
one = Cases("one-numbering")


def title(text: str = "New") -> dict[str, str]:
    return {"type": "session/titleChanged", "title": text}


# -- one connection -----------------------------------------------------------------------------------


@numbering.bad("AHP-SEQ-001", "AHP-SEQ-016")
def a_number_goes_back_on_its_channel(t: Trace) -> None:
    t.follow()
    t.seq = 10
    t.envelope(SESSION, title("A"))
    t.envelope(SESSION, title("B"), seq=9)


@numbering.bad("AHP-SEQ-001")
def two_envelopes_of_a_channel_share_a_number(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title("A"))
    t.envelope(SESSION, title("B"), seq=1)


@numbering.bad("AHP-SEQ-016")
def each_channel_counts_for_itself(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title("A"), seq=5)
    t.envelope(CHAT, starts(), seq=1)


@numbering.bad("AHP-SUB-013")
def an_envelope_comes_twice(t: Trace) -> None:
    t.follow()
    again = t.envelope(SESSION, title())
    t.tell("action", **again)


@numbering.bad("AHP-SUB-005")
def a_snapshot_claims_what_comes_later(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(), at=5)
    t.envelope(SESSION, title(), seq=4)


@numbering.bad("AHP-SEQ-003")
def a_number_as_text(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title(), seq="1")


@numbering.bad("AHP-SEQ-003")
def an_envelope_without_an_action(t: Trace) -> None:
    t.follow()
    t.tell("action", channel=SESSION, serverSeq=1)


@numbering.bad("AHP-SEQ-003")
def an_action_without_a_type(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {"title": "New"})


@numbering.bad("AHP-INIT-034")
def a_snapshot_is_younger_than_its_handshake(t: Trace) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(), at=3)])


@numbering.bad("AHP-INIT-021")
def a_handshake_behind_what_others_were_told(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title())
    t.handshake("B", serverSeq=0, snapshots=[t.snapshot(ROOT, root(), at=0)])


@numbering.bad("AHP-INIT-021")
def a_handshake_ahead_of_what_comes(t: Trace) -> None:
    t.handshake(serverSeq=7)
    t.subscribe(SESSION, calm_session())
    t.echo(SESSION, title())


@numbering.good("AHP-INIT-021")
def a_handshake_in_between(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title())
    t.handshake("B")
    t.subscribe(SESSION, calm_session(title="New"), "B")
    t.echo(SESSION, title("B"), "B", to="AB")


@numbering.bad("AHP-RECON-004", "AHP-SEQ-001", "AHP-SEQ-016")
def a_replay_runs_backwards(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    missed = [t.envelope(SESSION, title(name), "B") for name in "XY"]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": missed[::-1], "missing": []})
    t.close("C")


@numbering.bad("AHP-RECON-004", "AHP-SUB-013")
def a_replay_repeats_itself(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    missed = t.envelope(SESSION, title(), "B")
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": [missed] * 2, "missing": []})


@numbering.bad("AHP-RECON-009", "AHP-SUB-013")
def what_was_replayed_comes_once_more(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    missed = t.envelope(SESSION, title(), "B")
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": [missed], "missing": []})
    t.tell("action", "C", **missed)


@numbering.bad("AHP-RECON-018", "AHP-SUB-005")
def a_snapshot_of_a_reconnect_claims_what_comes_later(t: Trace) -> None:
    t.follow(chat=None)
    t.close()
    states = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session(), at=5)]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": states})
    t.envelope(SESSION, title(), "C")


@numbering.good("AHP-RECON-004", "AHP-RECON-018")
def replays_and_snapshots_in_order(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    missed = [t.envelope(SESSION, title(name), "B") for name in "XY"]
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": missed, "missing": []})
    t.close("B")
    states = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session(title="Y"))]
    t.reconnect("D", "client-B", 0, [ROOT, SESSION], {"type": "snapshot", "snapshots": states})
    t.envelope(SESSION, title("Z"), "CD")


@numbering.good("AHP-SEQ-001", "AHP-SEQ-003", "AHP-SEQ-016", "AHP-SUB-005", "AHP-SUB-013", "AHP-INIT-034")
def numbers_grow_with_gaps_over_all_channels(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title())
    t.seq = 20
    t.envelope(CHAT, starts())
    t.envelope(SESSION, title("B"))


@numbering.good("AHP-SEQ-003")
def a_whole_number_may_be_written_with_a_point(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title(), seq=1.0)


@numbering.good()
def a_rejection_takes_a_number_or_none(t: Trace) -> None:
    """A-21: whether a rejection has a number of its own is open."""
    t.follow()
    t.envelope(SESSION, title())
    t.echo(SESSION, title(""), rejected="no", seq=1)
    t.echo(SESSION, title(""), rejected="no")
    t.envelope(SESSION, title("B"))


@numbering.good()
def a_second_subscription_changes_nothing(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, title())
    t.subscribe(SESSION, calm_session(title="New"))
    t.envelope(SESSION, title("B"))


@numbering.good()
def an_envelope_on_its_way_overtakes_the_snapshot_before_it(t: Trace) -> None:
    """Delivered between the snapshot and its answer: the number is above fromSeq, so it counts once."""
    t.handshake()
    identity = t.ask("subscribe", channel=SESSION)
    before = t.snapshot(SESSION, calm_session())
    t.envelope(SESSION, title())
    t.result(identity, {"snapshot": before})
    t.subscribe(SESSION, calm_session(title="New"))


@numbering.good("AHP-SUB-013")
def a_replay_repeats_what_the_client_claims_not_to_have_seen(t: Trace) -> None:
    t.follow()
    one = t.envelope(SESSION, title())
    t.close()
    t.reconnect("B", "client-A", 0, [SESSION], {"type": "replay", "actions": [one], "missing": []})
    t.envelope(SESSION, title("B"), "B")


@numbering.good()
def a_replay_on_the_same_connection(t: Trace) -> None:
    t.follow()
    one = t.envelope(SESSION, title())
    t.reconnect("A", "client-A", 0, [SESSION], {"type": "replay", "actions": [one], "missing": []})
    t.envelope(SESSION, title("B"))


# -- all connections ----------------------------------------------------------------------------------


@one.bad("AHP-SEQ-002", beside=("everyone",))
def each_client_has_its_own_numbers(t: Trace) -> None:
    t.follow("AB")
    number = t.dispatch(SESSION, title())
    t.envelope(SESSION, title(), "A", origin=("A", number), seq=1)
    t.envelope(SESSION, title(), "B", origin=("A", number), seq=2)


@one.bad("AHP-SEQ-002", beside=("everyone",))
def two_actions_share_a_number(t: Trace) -> None:
    t.follow("AB")
    first, second = t.dispatch(SESSION, title(), "A"), t.dispatch(CHAT, starts(), "B")
    t.envelope(SESSION, title(), "A", origin=("A", first), seq=1)
    t.envelope(CHAT, starts(), "B", origin=("B", second), seq=1)


@one.good("AHP-SEQ-002")
def one_number_for_everybody(t: Trace) -> None:
    t.follow("AB")
    t.echo(SESSION, title(), to="AB")


@one.good()
def a_client_seq_used_twice_is_two_dispatches(t: Trace) -> None:
    """A-46: there is no rule that the same clientSeq means the same dispatch."""
    t.follow("AB")
    for text in ("A", "B"):
        t.dispatch(SESSION, title(text), client_seq=7)
        t.envelope(SESSION, title(text), "AB", origin=("A", 7))


@one.good()
def a_new_host_counts_anew(t: Trace) -> None:
    t.follow("A")
    t.echo(SESSION, title())
    t.close("A")
    t.seq = 0
    t.follow("B")
    t.echo(SESSION, title(), "B")


@one.good()
def other_clients_of_the_host_are_none_of_ours(t: Trace) -> None:
    t.follow("AB")
    t.envelope(SESSION, title(), "AB", origin=("stranger", 1))
    t.envelope(SESSION, title(), "AB", origin=("stranger", 1))


@one.good()
def a_turn_of_two_clients(t: Trace) -> None:
    t.follow("AB", chat=idle_chat())
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, ends(), "AB")


# -- what waits, and what is new ----------------------------------------------------------------------


@numbering.good("AHP-SUB-013")
def a_channel_that_may_be_late_comes_later(t: Trace) -> None:
    t.follow(chat=None)
    t.subscribe(CHAT, idle_chat(), delivery={"maxLatencyMs": 500})
    t.envelope(SESSION, title(), seq=6)
    t.envelope(CHAT, starts(), seq=5)


@numbering.good()
def the_end_of_a_connection_may_not_be_recorded(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, title())
    t.seq = 0
    t.handshake("B", client="client-A")


@one.good()
def a_new_host_counts_anew_for_who_comes_back(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, title())
    t.close()
    t.seq = 0
    given = [t.snapshot(ROOT, root()), t.snapshot(SESSION, calm_session())]
    t.reconnect("B", "client-A", 1, [ROOT, SESSION], {"type": "snapshot", "snapshots": given})
    again = t.dispatch(SESSION, title("B"), "B")
    t.envelope(SESSION, title("B"), "B", origin=("A", again))


@found(numbering, one)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(numbering, one)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
