"""Who gets what, in which vocabulary."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, about, calm_session, clean, found, idle_chat, starts

delivery = Cases("delivery")
vocabulary = Cases("vocabulary")

TITLE = {"type": "session/titleChanged", "title": "New"}


# -- subscribers and nobody else ----------------------------------------------------------------------


@delivery.bad("AHP-SUB-009")
def everybody_gets_everything(t: Trace) -> None:
    t.follow("A")
    t.handshake("B")
    t.envelope(SESSION, TITLE, "AB")


@delivery.bad("AHP-SUB-009")
def a_refused_subscription_delivers(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel=SESSION), -32001)
    t.envelope(SESSION, TITLE)


@delivery.bad("AHP-SUB-009")
def a_channel_told_missing_delivers(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": [SESSION]})
    t.envelope(SESSION, TITLE, "B")


@delivery.bad("AHP-SUB-021")
def notifications_of_the_root_go_to_every_socket(t: Trace) -> None:
    t.handshake(snapshots=[])
    t.notify("unsubscribe", channel=ROOT)
    t.handshake("B", client="B")
    t.out({"jsonrpc": "2.0", "id": "c", "method": "initialize", "params": {"protocolVersions": [t.version]}}, "C")
    t.result("c", {"protocolVersion": t.version, "serverSeq": 0, "snapshots": []}, "C")
    t.tell("root/sessionSummaryChanged", "C", session=SESSION, changes={"title": "x"})


@delivery.bad("AHP-SUB-021")
def auth_required_goes_to_a_stranger(t: Trace) -> None:
    t.handshake()
    resource = "https://x.example" if t.version < "0.8.0" else {"resource": "https://x.example"}
    t.tell("auth/required", channel=SESSION, resource=resource)


@delivery.bad("AHP-SUB-007")
def the_listener_stays(t: Trace) -> None:
    t.follow()
    t.notify("unsubscribe", channel=SESSION)
    t.ping()
    t.envelope(SESSION, TITLE)


@delivery.bad("AHP-SEQ-019")
def the_channel_is_normalised(t: Trace) -> None:
    t.handshake()
    t.subscribe("ahp-session:/S1", calm_session(chats=[]))
    t.envelope("ahp-session:/s1/", TITLE)


@delivery.good("AHP-SUB-009", "AHP-SEQ-019")
def only_subscribers(t: Trace) -> None:
    t.follow("A")
    t.handshake("B")
    t.envelope(SESSION, TITLE, "A")


@delivery.good("AHP-SUB-021")
def notifications_to_the_root_alone(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    t.notify("unsubscribe", "B", channel=ROOT)
    t.ping("B")
    t.tell("root/sessionSummaryChanged", session=SESSION, changes={"title": "x"})


@delivery.good()
def every_socket_hears_of_new_and_removed_sessions(t: Trace) -> None:
    """One sentence of the text has them announced to all clients (ambiguity A-31)."""
    t.handshake("B", client="B")
    t.out({"jsonrpc": "2.0", "id": "c", "method": "initialize", "params": {"protocolVersions": [t.version]}}, "C")
    t.result("c", {"protocolVersion": t.version, "serverSeq": 0, "snapshots": []}, "C")
    t.tell("root/sessionRemoved", "C", session=SESSION)


@delivery.good("AHP-SUB-007")
def what_others_still_get_proves_that_a_leaver_gets_nothing(t: Trace) -> None:
    t.follow("AB")
    t.notify("unsubscribe", channel=SESSION)
    t.ping()
    t.envelope(SESSION, TITLE, "B")
    t.ping()


@delivery.good()
def what_was_on_its_way_still_arrives(t: Trace) -> None:
    t.follow()
    t.notify("unsubscribe", channel=SESSION)
    identity = t.ask("ping")
    t.envelope(SESSION, TITLE)
    t.result(identity)


@delivery.good()
def who_comes_back_is_served_again(t: Trace) -> None:
    t.follow()
    t.notify("unsubscribe", channel=SESSION)
    t.ping()
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, TITLE)


@delivery.good()
def delivery_may_begin_before_the_answer(t: Trace) -> None:
    t.handshake()
    identity = t.ask("subscribe", channel=SESSION)
    t.envelope(SESSION, TITLE)
    t.result(identity, {"snapshot": t.snapshot(SESSION, calm_session(title="New"))})


@delivery.good()
def an_echo_needs_no_subscription(t: Trace) -> None:
    """A-22: whether the dispatcher gets one without a subscription is open."""
    t.handshake()
    t.echo(CHAT, starts())


@delivery.good()
def progress_goes_to_whoever_gave_the_token(t: Trace) -> None:
    t.handshake()
    t.notify("unsubscribe", channel=ROOT)
    t.ping()
    t.tell("root/progress", progressToken="p", progress=1)


@delivery.good()
def a_reconnect_brings_the_subscriptions_along(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT, SESSION, CHAT], {"type": "replay", "actions": [], "missing": []})
    t.envelope(SESSION, TITLE, "B")
    t.tell("root/sessionRemoved", "B", session="ahp-session:/other")


# -- what a version knows -----------------------------------------------------------------------------


@vocabulary.bad("AHP-VER-001", versions=("0.6.0",))
def an_action_of_a_later_version(t: Trace) -> None:
    t.follow(chat=idle_chat())
    t.envelope(CHAT, {"type": "chat/turnResume", "turnId": "t"})


@vocabulary.bad("AHP-VER-001")
def an_action_that_nobody_knows(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {"type": "session/mood", "mood": "good"})


@vocabulary.bad("AHP-VER-004")
def a_notification_that_nobody_knows(t: Trace) -> None:
    t.handshake()
    t.tell("root/mood", mood="good")


@vocabulary.bad("AHP-SEQ-013")
def a_chat_action_on_the_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, starts())


@vocabulary.bad("AHP-SUB-020")
def an_action_names_its_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {**TITLE, "session": SESSION})


@vocabulary.good("AHP-VER-001", "AHP-VER-004", "AHP-SEQ-013", "AHP-SUB-020")
def what_the_version_knows(t: Trace) -> None:
    t.follow(chat=idle_chat())
    t.envelope(SESSION, TITLE)
    t.envelope(CHAT, starts())
    t.tell("root/sessionRemoved", session="ahp-session:/other")


@vocabulary.good()
def names_of_the_hosts_own(t: Trace) -> None:
    """Names that start with x- will never be AHP's."""
    t.follow()
    t.envelope(SESSION, {"type": "x-mood/changed", "mood": "good"})
    t.tell("x-mood/changed", mood="good")


@vocabulary.good(versions=("0.9.0",))
def actions_that_the_published_registry_dates_too_early(t: Trace) -> None:
    t.follow()
    t.envelope(CHAT, {"type": "chat/isReadChanged", "isRead": True})


@vocabulary.good()
def notifications_of_mcp_servers(t: Trace) -> None:
    t.handshake()
    t.tell("notifications/tools/list_changed", channel="mcp://vault")
    t.into({"jsonrpc": "2.0", "method": "notifications/message", "channel": "mcp://vault", "params": {}})


@vocabulary.good()
def the_refusal_of_what_nobody_knows(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {"type": "session/mood", "session": SESSION}, rejected="unknown")
    t.echo(SESSION, starts(), rejected="not here")


@vocabulary.good()
def a_member_that_the_client_sent_itself(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {**TITLE, "session": SESSION, "terminal": 1})


@vocabulary.good()
def a_chat_under_a_uri_of_the_hosts_own(t: Trace) -> None:
    own = "vscode-chat:/c7"
    t.follow(
        session=calm_session(chats=[{"resource": own, "title": "C", "status": 1, "modifiedAt": "2026-01-01T00:00:00Z"}])
    )
    t.subscribe(own, idle_chat(resource=own))
    t.envelope(own, starts())
    t.envelope(own, about("Start", toolName="x", displayName="x"))


@found(delivery, vocabulary)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(delivery, vocabulary)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
