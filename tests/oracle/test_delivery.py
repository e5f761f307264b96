"""Who gets what, in which vocabulary."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, about, calm_session, clean, found, idle_chat, starts

delivery = Cases("delivery")
vocabulary = Cases("vocabulary")

TITLE = {"type": "session/titleChanged", "title": "New"}
AGENTS = {"type": "root/agentsChanged", "agents": []}


def bare(t: Trace, conn: str) -> None:
    """A handshake that asks for no channel."""
    identity = t.ask("initialize", conn, protocolVersions=[t.version], clientId=f"client-{conn}")
    t.result(identity, {"protocolVersion": t.version, "serverSeq": t.seq, "snapshots": []}, conn)


# -- subscribers and nobody else ----------------------------------------------------------------------


@delivery.bad("AHP-SUB-009")
def everybody_gets_everything(t: Trace) -> None:
    t.follow("A")
    t.handshake("B")
    t.envelope(SESSION, TITLE, "AB")


@delivery.bad("AHP-SUB-028")
def a_refused_subscription_delivers(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("subscribe", channel=SESSION), -32001)
    t.envelope(SESSION, TITLE)


@delivery.bad("AHP-RECON-013")
def a_channel_that_was_not_listed_delivers(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT], {"type": "replay", "actions": [], "missing": []})
    t.envelope(SESSION, TITLE, "B")


@delivery.bad("AHP-RECON-005")
def a_replay_of_a_channel_that_was_not_listed(t: Trace) -> None:
    t.follow("AB")
    t.close()
    missed = t.envelope(SESSION, TITLE, "B")
    t.reconnect("C", "client-A", 0, [ROOT], {"type": "replay", "actions": [missed], "missing": []})


@delivery.bad("AHP-RECON-027")
def a_replay_of_a_channel_told_missing(t: Trace) -> None:
    t.follow("AB", chat=None)
    t.close()
    missed = t.envelope(SESSION, TITLE, "B")
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": [missed], "missing": [SESSION]})


@delivery.good("AHP-RECON-005", "AHP-RECON-013", "AHP-RECON-027", "AHP-SUB-028")
def who_has_no_subscription_gets_nothing(t: Trace) -> None:
    t.follow("AB")
    t.handshake("D")
    t.error(t.ask("subscribe", "D", channel=SESSION), -32603, "D")
    t.close()
    t.close("B")
    t.handshake("E")
    t.subscribe(SESSION, calm_session(), "E")
    missed = t.envelope(ROOT, AGENTS, "DE")
    gone = {"type": "replay", "actions": [missed], "missing": [SESSION]}
    t.reconnect("C", "client-A", 0, [ROOT, SESSION], gone)
    t.reconnect("F", "client-B", 0, [ROOT], {**gone, "missing": []})
    t.envelope(SESSION, TITLE, "E")


@delivery.bad("AHP-SESS-022", "AHP-SESS-043")
def a_turn_goes_on_in_a_session_that_is_gone(t: Trace) -> None:
    t.follow()
    t.call("disposeSession", channel=SESSION)
    t.tell("root/sessionRemoved", session=SESSION)
    t.envelope(CHAT, starts())


@delivery.bad("AHP-SESS-043")
def a_session_that_is_gone_speaks(t: Trace) -> None:
    t.follow("AB")
    t.call("disposeSession", channel=SESSION)
    for conn in "AB":
        t.tell("root/sessionRemoved", conn, session=SESSION)
    t.envelope(SESSION, TITLE, "B")


@delivery.good("AHP-SESS-022", "AHP-SESS-043")
def what_is_on_its_way_when_a_session_ends(t: Trace) -> None:
    t.follow("AB")
    identity = t.ask("disposeSession", channel=SESSION)
    t.tell("root/sessionRemoved", "B", session=SESSION)
    t.envelope(CHAT, starts(), "A")
    t.result(identity)
    t.tell("root/sessionRemoved", session=SESSION)
    t.call("createSession", channel=SESSION, provider="p")
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, TITLE)


@delivery.bad("AHP-CHAT-054")
def a_removed_chat_speaks(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT})
    t.envelope(CHAT, starts())


@delivery.good("AHP-CHAT-054")
def a_removed_chat_is_silent_until_it_is_back(t: Trace) -> None:
    t.follow()
    entry = calm_session()["chats"][0]
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT})
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": entry})
    t.envelope(CHAT, starts())


@delivery.good(versions=("1.0.0",))
def a_chat_that_moves_is_removed_from_one_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT})
    t.envelope(CHAT, starts())


@delivery.bad("AHP-RECON-027")
def a_channel_told_missing_delivers(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": [SESSION]})
    t.envelope(SESSION, TITLE, "B")


@delivery.bad("AHP-INIT-012")
def notifications_of_the_root_go_to_every_socket(t: Trace) -> None:
    t.handshake()
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
    t.subscribe("ahp-session:/S1", calm_session())
    t.envelope("ahp-session:/s1/", TITLE)


@delivery.good("AHP-SUB-009", "AHP-SEQ-019")
def only_subscribers(t: Trace) -> None:
    t.follow("A")
    t.handshake("B")
    t.envelope(SESSION, TITLE, "A")


@delivery.good("AHP-INIT-012", "AHP-SUB-021")
def notifications_to_the_root_alone(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    t.notify("unsubscribe", "B", channel=ROOT)
    t.ping("B")
    bare(t, "C")
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
    t.call("createSession", channel=SESSION, provider="p", progressToken="p")
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


@vocabulary.bad("AHP-DISP-004", "AHP-VER-001")
def an_unknown_action_of_a_client_is_carried_out(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {"type": "session/mood", "mood": "good"})


@vocabulary.bad("AHP-RECON-021", "AHP-VER-001", versions=("0.6.0",))
def an_action_of_a_later_version_after_a_reconnect(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [ROOT, CHAT], {"type": "replay", "actions": [], "missing": []})
    t.envelope(CHAT, {"type": "chat/turnResume", "turnId": "t"}, "B")


@vocabulary.bad("AHP-VER-111", versions=("0.8.0", "0.9.0"))
def a_name_of_the_hosts_own(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, {"type": "x-mood/changed", "mood": "good"})


@vocabulary.bad("AHP-VER-111", versions=("0.8.0", "0.9.0"))
def a_notification_of_the_hosts_own(t: Trace) -> None:
    t.handshake()
    t.tell("x-mood/changed", mood="good")


@vocabulary.bad("AHP-SUB-026")
def an_action_on_a_stateless_channel(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {}, channel="ahp-otlp:/logs")
    t.envelope("ahp-otlp:/logs", TITLE)


@vocabulary.bad("AHP-ROOT-003", "AHP-SEQ-013")
def a_root_action_on_a_session(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, AGENTS)


@vocabulary.bad("AHP-DISP-005", "AHP-SEQ-013")
def a_misdirected_action_of_a_client_is_carried_out(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, starts())


@vocabulary.good("AHP-DISP-004", "AHP-DISP-005", "AHP-RECON-021", "AHP-ROOT-003", "AHP-SUB-026")
def what_clients_and_hosts_do_right(t: Trace) -> None:
    t.follow()
    t.call("subscribe", {}, channel="ahp-otlp:/logs")
    t.tell("otlp/exportLogs", channel="ahp-otlp:/logs", payload={})
    t.echo(SESSION, {"type": "session/mood"}, rejected="unknown")
    t.dispatch(SESSION, starts())
    t.envelope(ROOT, AGENTS)
    t.close()
    t.reconnect("B", "client-A", t.seq, [ROOT, SESSION], {"type": "replay", "actions": [], "missing": []})
    t.envelope(SESSION, TITLE, "B")


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


@vocabulary.good("AHP-VER-111", versions=("0.8.0", "0.9.0"))
def names_that_the_client_agreed_to(t: Trace) -> None:
    """Names that start with x- will never be AHP's."""
    offer: dict[str, Any] = {"protocolVersions": [t.version], "clientId": "client-A", "capabilities": {"x-mood": {}}}
    identity = t.ask("initialize", **offer, initialSubscriptions=[ROOT])
    t.result(identity, {"protocolVersion": t.version, "serverSeq": 0, "snapshots": [t.snapshot(ROOT, {"agents": []})]})
    t.subscribe(SESSION, calm_session())
    t.envelope(SESSION, {"type": "x-mood/changed", "mood": "good"})
    t.tell("x-mood/changed", mood="good")


@vocabulary.good(versions=("0.6.0",))
def names_of_the_hosts_own_before_there_was_a_rule(t: Trace) -> None:
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
    own = "ahp-chat://default/c7"
    chats = [{"resource": own, "title": "C", "status": 1, "modifiedAt": "2026-01-01T00:00:00Z"}]
    t.follow(session=calm_session(lifecycle="creating", chats=chats, defaultChat=own))
    t.subscribe(own, idle_chat(resource=own))
    t.envelope(own, starts())
    t.envelope(own, about("Start", toolName="x", displayName="x"))


@delivery.good("AHP-CHAT-054", versions=("0.6.0", "0.9.0"))
def what_may_be_late_comes_after_the_removal(t: Trace) -> None:
    t.follow(chat=None)
    t.subscribe(CHAT, idle_chat(), delivery={"maxLatencyMs": 500})
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT}, seq=6)
    t.envelope(CHAT, starts(), seq=5)


@delivery.good()
def one_of_two_subscriptions_is_refused(t: Trace) -> None:
    t.handshake()
    early, late = t.ask("subscribe", channel=SESSION), t.ask("subscribe", channel=SESSION)
    t.error(early, -32001)
    t.envelope(SESSION, TITLE)
    t.result(late, {"snapshot": t.snapshot(SESSION, calm_session(title="New"))})


@found(delivery, vocabulary)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(delivery, vocabulary)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
