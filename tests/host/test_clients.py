"""Subscriptions, active clients, and clients that come back."""

from __future__ import annotations

from .driving import ROOT, Driven, Stage, assert_fold_equals_snapshot, call

SET = {"type": "session/activeClientSet", "activeClient": {"clientId": "A", "tools": []}}


def active(stage: Stage) -> list[str]:
    return [entry["clientId"] for entry in stage.state()["activeClients"]]


def test_a_client_is_active_from_the_start_or_by_action_and_only_itself() -> None:
    stage = Stage()
    stage.a.dispatch(stage.session, SET)
    assert active(stage) == ["A"]
    foreign = {**SET, "activeClient": {"clientId": "B", "tools": []}}
    echo = stage.a.dispatch(stage.session, foreign)
    assert echo is not None and echo["rejectionReason"]
    stage.a.result("createSession", "ahp-session:/two", activeClient=SET["activeClient"])
    assert stage.state("ahp-session:/two")["activeClients"] == [SET["activeClient"]]


def test_unsubscribing_takes_a_client_off_and_fails_its_calls() -> None:
    stage = Stage()
    b = stage.client("B", stage.session, stage.chat)
    b.dispatch(stage.session, {**SET, "activeClient": {"clientId": "B", "tools": []}})
    stage.play(call(client="B"), {"pause": "x"})
    assert stage.calls()[0]["status"] == "running"
    b.notify("unsubscribe", stage.session)
    assert active(stage) == []
    assert (stage.calls()[0]["status"], stage.calls()[0]["success"]) == ("completed", False)
    assert stage.needed() == []


def test_a_lost_client_is_taken_off_after_its_grace() -> None:
    stage = Stage()
    stage.a.dispatch(stage.session, SET)
    stage.a.drop()
    assert stage.host.next_deadline() == 105.0
    stage.host.tick()
    assert active(stage) == ["A"]
    stage.time = 105.0
    stage.host.tick()
    assert active(stage) == [] and stage.host.next_deadline() is None


def test_a_client_that_comes_back_in_time_stays_unless_it_left_the_session_out() -> None:
    stage = Stage()
    stage.a.dispatch(stage.session, SET)
    for listed, expected in (([stage.session], ["A"]), ([ROOT], [])):
        stage.a.drop()
        stage.a = Driven(stage.host, "A")
        stage.a.result("reconnect", clientId="A", lastSeenServerSeq=stage.host.seq, subscriptions=listed)
        assert active(stage) == expected
    stage.time = 200.0
    stage.host.tick()
    assert active(stage) == []


def test_what_was_missed_is_replayed() -> None:
    stage = Stage()
    seen = stage.host.seq
    stage.a.drop()
    b = stage.client("B", stage.session, stage.chat)
    stage.play({"say": "meanwhile"}, by=b)
    back = Driven(stage.host, "A")
    result = back.result(
        "reconnect",
        clientId="A",
        lastSeenServerSeq=seen,
        subscriptions=[stage.session, stage.chat, stage.chat, "ahp-session:/gone"],
    )
    assert result["type"] == "replay" and result["missing"] == ["ahp-session:/gone"]
    wanted = [e for e in b.envelopes() if e["channel"] in (stage.session, stage.chat)]
    assert result["actions"] == wanted
    back.folds = {uri: stage.a.folds[uri] for uri in (stage.session, stage.chat)}
    back.frames = [{"method": "action", "params": envelope} for envelope in result["actions"]] + back.frames
    stage.a = back
    stage.play({"say": "live again"})
    assert_fold_equals_snapshot(stage, back)


def test_a_gap_that_cannot_be_replayed_gives_snapshots() -> None:
    stage = Stage()
    stage.a.drop()
    for seen in (10_000, 0, -1):
        back = Driven(stage.host, "A")
        result = back.result(
            "reconnect", clientId="A", lastSeenServerSeq=seen, subscriptions=[stage.session, "ahp-chat:/none"]
        )
        assert result["type"] == "snapshot"
        assert [snapshot["resource"] for snapshot in result["snapshots"]] == [stage.session]
        assert result["snapshots"][0]["fromSeq"] == stage.host.seq
        back.drop()


def test_a_stranger_cannot_reconnect_but_initialize() -> None:
    stage = Stage()
    stranger = Driven(stage.host, "S")
    assert stranger.error("reconnect", clientId="S", lastSeenServerSeq=0, subscriptions=[])["code"] == -32602
    assert stranger.error("listSessions")["code"] == -32600
    stranger.initialize()


def test_a_reconnect_takes_the_place_of_a_half_open_connection() -> None:
    stage = Stage()
    stage.a.dispatch(stage.session, SET)
    back = Driven(stage.host, "A")
    back.result("reconnect", clientId="A", lastSeenServerSeq=stage.host.seq, subscriptions=[stage.session])
    assert stage.a.closed == 1000 and active(stage) == ["A"]


def test_envelopes_go_to_subscribers_once() -> None:
    stage = Stage()
    b = stage.client("B", ROOT)
    stage.a.subscribe(stage.session)
    stage.a.dispatch(stage.session, {"type": "session/titleChanged", "title": "x"})
    assert len(stage.a.envelopes("session/titleChanged")) == 1
    assert b.envelopes("session/titleChanged") == []
    stage.a.notify("unsubscribe", stage.session)
    b.dispatch(stage.session, {"type": "session/titleChanged", "title": "y"})
    assert len(stage.a.envelopes("session/titleChanged")) == 1
    assert stage.state()["title"] == "y"
    seqs = [e["serverSeq"] for e in stage.a.envelopes()]
    assert seqs == sorted(set(seqs))


def test_the_session_of_each_version_is_in_its_words() -> None:
    stage = Stage()
    b = stage.client("B", version="0.9.0")
    b.result("createSession", "ahp-session:/two", workingDirectories=["file:///a", "file:///b"])
    assert b.subscribe("ahp-session:/two")["workingDirectories"] == ["file:///a"]
    assert stage.a.subscribe("ahp-session:/two")["workingDirectory"] == "file:///a"
