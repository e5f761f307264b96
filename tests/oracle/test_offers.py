"""What a session offers: changesets and annotations that can be subscribed to while it lives."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .channels import ANNOTATIONS, CHANGESET, changeset, entry, file, summary
from .traces import JSON, SESSION, STARTED, Case, Cases, Trace, calm_session, clean, finished, found, idle_chat

offers = Cases("offers")

OF_A_TURN = "ahp-changeset:/turns/{turnId}"
NOTES: JSON = {"annotations": []}


def follow(t: Trace, *templates: str, conns: str = "A") -> None:
    """Clients that follow a session with one finished turn, which offers these changesets, and annotations."""
    for conn in conns:
        t.handshake(conn)
        t.subscribe(SESSION, calm_session(annotations=summary(), changesets=list(map(entry, templates))), conn)
        t.subscribe(CHAT, idle_chat(turns=[finished(identity="turn 1")]), conn)


def in_a_list(session: str) -> JSON:
    item = {"resource": session, "provider": "p", "title": "Session", "status": 1}
    return {**item, "createdAt": STARTED, "modifiedAt": STARTED}


def fails(t: Trace, channel: str) -> None:
    t.error(t.ask("subscribe", channel=channel), -32001)


@offers.bad("AHP-ANN-001")
def annotations_that_cannot_be_subscribed_to(t: Trace) -> None:
    follow(t)
    fails(t, ANNOTATIONS)


@offers.bad("AHP-CHG-003")
def a_changeset_that_cannot_be_subscribed_to(t: Trace) -> None:
    follow(t, CHANGESET)
    fails(t, CHANGESET)


@offers.bad("AHP-CHG-004")
def a_turn_without_its_changeset(t: Trace) -> None:
    follow(t, OF_A_TURN)
    fails(t, "ahp-changeset:/turns/turn%201")


@offers.good("AHP-ANN-001", "AHP-CHG-003", "AHP-CHG-004")
def all_can_be_subscribed_to(t: Trace) -> None:
    follow(t, CHANGESET, OF_A_TURN)
    t.subscribe(ANNOTATIONS, NOTES)
    t.subscribe(CHANGESET, changeset())
    t.subscribe("ahp-changeset:/turns/turn%201", changeset())


@offers.good()
def what_nobody_offers(t: Trace) -> None:
    follow(t, OF_A_TURN)
    fails(t, CHANGESET)
    fails(t, "ahp-changeset:/turns/nobody")


@offers.good("AHP-CHG-003", "AHP-ANN-001")
def who_has_to_log_in_first(t: Trace) -> None:
    follow(t, CHANGESET)
    resources = [{"resource": "https://vault.example"}]
    t.error(t.ask("subscribe", channel=CHANGESET), -32007, data={"resources": resources})
    t.error(t.ask("subscribe", channel=ANNOTATIONS), -32009)


@offers.good("AHP-CHG-003")
def the_session_was_on_its_way_out(t: Trace) -> None:
    follow(t, CHANGESET)
    fails(t, CHANGESET)
    t.tell("root/sessionRemoved", session=SESSION)


@offers.good("AHP-CHG-003")
def the_offer_was_on_its_way_out(t: Trace) -> None:
    follow(t, CHANGESET)
    fails(t, CHANGESET)
    t.envelope(SESSION, {"type": "session/changesetsChanged", "changesets": []})


@offers.bad("AHP-CHG-031")
def a_changeset_outlives_its_session(t: Trace) -> None:
    follow(t, CHANGESET)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(CHANGESET, changeset())


@offers.bad("AHP-ANN-018")
def annotations_outlive_their_session(t: Trace) -> None:
    follow(t)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(ANNOTATIONS, NOTES)


@offers.bad("AHP-CHG-031")
def an_open_changeset_is_not_cleared(t: Trace) -> None:
    follow(t, CHANGESET)
    t.subscribe(CHANGESET, changeset(file("a")))
    t.call("disposeSession", channel=SESSION)


@offers.good("AHP-CHG-031", "AHP-ANN-018")
def all_is_closed_with_the_session(t: Trace) -> None:
    follow(t, CHANGESET, OF_A_TURN)
    t.subscribe(CHANGESET, changeset(file("a")))
    t.subscribe("ahp-changeset:/turns/turn%201", changeset())
    t.call("disposeSession", channel=SESSION)
    t.envelope(CHANGESET, {"type": "changeset/cleared"})
    for channel in (CHANGESET, ANNOTATIONS):
        fails(t, channel)


@offers.good()
def a_session_that_is_made_anew(t: Trace) -> None:
    follow(t, CHANGESET)
    t.call("disposeSession", channel=SESSION)
    t.call("createSession", channel=SESSION, provider="p")
    t.subscribe(CHANGESET, changeset())
    t.subscribe(ANNOTATIONS, NOTES)


@offers.good()
def a_session_that_somebody_else_makes_anew(t: Trace) -> None:
    follow(t, CHANGESET)
    t.call("disposeSession", channel=SESSION)
    t.tell("root/sessionAdded", summary=in_a_list(SESSION))
    t.subscribe(CHANGESET, changeset())
    t.subscribe(ANNOTATIONS, NOTES)


@offers.good()
def a_changeset_of_a_session_that_nobody_follows(t: Trace) -> None:
    follow(t, CHANGESET)
    t.call("listSessions", {"items": [in_a_list(SESSION), in_a_list("ahp-session:/s2")]})
    t.subscribe(CHANGESET, changeset(file("a")))
    t.call("disposeSession", channel=SESSION)
    t.subscribe(CHANGESET, changeset(file("a")))


@offers.good("AHP-CHG-003")
def a_changeset_of_two_sessions(t: Trace) -> None:
    follow(t, CHANGESET)
    chat = {"resource": "ahp-chat:/c2", "title": "Chat", "status": 1, "modifiedAt": STARTED}
    other = calm_session(chats=[chat], defaultChat=chat["resource"], changesets=[entry()])
    t.subscribe("ahp-session:/s2", other)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(CHANGESET, changeset())


@found(offers)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(offers)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_a_log_from_the_middle_is_not_accused_of_what_it_lacks() -> None:
    t = Trace("0.9.0")
    fails(t, CHANGESET)
    t.call("disposeSession", channel=SESSION)
    t.subscribe(ANNOTATIONS, NOTES)
    assert [f for f in t.judged().findings if f.rule == "offers"] == []
