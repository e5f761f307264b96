"""Whose action it was."""

from __future__ import annotations

from tests.protocol.examples import CALL, CHAT, TURN

from .channels import CHANGESET, TERMINAL, changeset, terminal
from .traces import (
    DONE,
    ROOT,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    found,
    idle_chat,
    lists,
    part_of,
    starts,
    working_chat,
)

origins = Cases("origins")

TITLE = {"type": "session/titleChanged", "title": "New"}
DELTA = {"type": "chat/delta", "turnId": TURN, "partId": "p", "content": "Hi"}
RESERVED = ("AHP-ORIGIN-003", "AHP-ORIGIN-004", "AHP-ORIGIN-005", "AHP-ORIGIN-006", "AHP-ORIGIN-017")
PART = {"kind": "markdown", "id": "p", "content": ""}


@origins.bad("AHP-SEQ-004")
def the_agent_speaks_in_the_name_of_who_asked(t: Trace) -> None:
    t.follow(chat=idle_chat())
    number = t.dispatch(CHAT, starts())
    t.envelope(CHAT, starts(), origin=("A", number))
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": PART}, origin=("A", number))


@origins.bad("AHP-SEQ-004")
def a_client_is_named_that_did_no_such_thing(t: Trace) -> None:
    t.follow()
    number = t.dispatch(SESSION, TITLE)
    t.envelope(SESSION, TITLE, origin=("A", number))
    t.envelope(SESSION, {"type": "session/isReadChanged", "isRead": True}, origin=("A", number))


@origins.bad("AHP-SEQ-005")
def a_client_seq_is_renumbered(t: Trace) -> None:
    t.follow()
    t.dispatch(SESSION, TITLE, client_seq=7)
    t.envelope(SESSION, TITLE, origin=("A", 1))


@origins.bad("AHP-SEQ-007")
def a_dispatch_is_answered_twice(t: Trace) -> None:
    t.follow()
    number = t.dispatch(SESSION, TITLE)
    t.envelope(SESSION, TITLE, origin=("A", number))
    t.envelope(SESSION, TITLE, origin=("A", number))


@origins.bad("AHP-SEQ-008")
def a_rejection_overtakes(t: Trace) -> None:
    t.follow()
    bad = {"type": "session/ready"}
    first, second = t.dispatch(SESSION, TITLE), t.dispatch(SESSION, bad)
    t.envelope(SESSION, bad, origin=("A", second), rejected="no")
    t.envelope(SESSION, TITLE, origin=("A", first))


@origins.bad("AHP-SEQ-012")
def a_rejection_without_words(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, TITLE, rejected="")


@origins.bad("AHP-SEQ-015")
def an_echo_with_another_value(t: Trace) -> None:
    t.follow()
    number = t.dispatch(SESSION, TITLE)
    t.envelope(SESSION, {**TITLE, "title": "Old"}, origin=("A", number))


@origins.bad("AHP-SEQ-015")
def an_echo_lacks_an_optional_member(t: Trace) -> None:
    t.follow(chat=idle_chat())
    number = t.dispatch(CHAT, starts(queuedMessageId="q"))
    t.envelope(CHAT, starts(), origin=("A", number))


@origins.bad("AHP-SEQ-017")
def origin_is_null(t: Trace) -> None:
    t.follow()
    t.tell("action", **{**t.params(SESSION, TITLE), "origin": None})


@origins.bad("AHP-SEQ-018", beside=("everyone",))
def others_get_a_rejected_action_as_accepted(t: Trace) -> None:
    t.follow("AB")
    number = t.dispatch(SESSION, TITLE)
    t.envelope(SESSION, TITLE, "A", origin=("A", number), rejected="no")
    t.envelope(SESSION, TITLE, "B", origin=("A", number))


@origins.bad("AHP-TOOLAUTH-082", "AHP-SEQ-004")
def the_resolution_is_laid_to_who_authenticated(t: Trace) -> None:
    t.follow(chat=working_chat(part_of(a_call("auth-required"))), session=None)
    number = t.dispatch(CHAT, {"type": "chat/draftChanged"})
    t.envelope(CHAT, {"type": "chat/draftChanged"}, origin=("A", number))
    t.call("authenticate", {}, resource="https://vault.example/mcp", token="a-token-of-ours")
    t.envelope(CHAT, about("AuthResolved"), origin=("A", number))


@origins.bad("AHP-INPUT-030", "AHP-SEQ-004")
def an_entry_is_laid_to_a_client(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(auth_entry()), origin=("A", 1))


@origins.good("AHP-SEQ-004", "AHP-SEQ-005", "AHP-SEQ-007", "AHP-SEQ-008", "AHP-SEQ-015", "AHP-SEQ-017", "AHP-SEQ-018")
def echoes_to_everybody(t: Trace) -> None:
    t.follow("AB", chat=idle_chat())
    t.echo(CHAT, starts(), to="AB")
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": PART}, "AB")
    t.envelope(CHAT, DELTA, "AB")
    t.echo(SESSION, TITLE, "B", to="AB")


@origins.good("AHP-SEQ-012", "AHP-SEQ-018")
def a_rejection_for_everybody(t: Trace) -> None:
    t.follow("AB")
    t.echo(SESSION, {"type": "session/ready"}, to="AB", rejected="reserved to the host")


@origins.good("AHP-SEQ-012")
def a_rejection_for_the_sender_alone(t: Trace) -> None:
    """A-21: who else gets it is open."""
    t.follow("AB")
    t.echo(SESSION, {"type": "session/ready"}, rejected="reserved to the host")


@origins.good("AHP-TOOLAUTH-082", "AHP-INPUT-030")
def host_only_actions_without_origin(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()


@origins.good()
def a_client_seq_used_twice(t: Trace) -> None:
    """A-46: both dispatches count."""
    t.follow()
    for title in ("A", "B"):
        t.dispatch(SESSION, {**TITLE, "title": title}, client_seq=3)
        t.envelope(SESSION, {**TITLE, "title": title}, origin=("A", 3))


@origins.good()
def an_echo_with_members_more_and_unknown_ones_less(t: Trace) -> None:
    """A host may add optional members, and drop what its version does not know."""
    t.follow(chat=idle_chat())
    sent = starts(mood="good")
    number = t.dispatch(CHAT, {**sent, "message": {**sent["message"], "shade": 3}})
    t.envelope(CHAT, {**starts(), "_meta": {"via": "host"}}, origin=("A", number))


@origins.good()
def an_edited_input_becomes_a_reference(t: Trace) -> None:
    """From 0.7.0 the host rewrites an edited input into the content of a reference."""
    t.follow(chat=working_chat(part_of(a_call("pending-confirmation"))))
    sent = about("Confirmed", approved=True, confirmed="user-action")
    number = t.dispatch(CHAT, {**sent, "editedToolInput": "{}"})
    t.envelope(CHAT, sent, origin=("A", number))


@origins.good("AHP-SEQ-015")
def null_is_absent_and_numbers_are_numbers(t: Trace) -> None:
    t.follow(chat=working_chat())
    sent = {"type": "chat/turnCancelled", "turnId": TURN, "duration": 5, "_meta": None}
    number = t.dispatch(CHAT, sent)
    t.envelope(CHAT, {"type": "chat/turnCancelled", "turnId": TURN, "duration": 5.0}, origin=("A", number))


@origins.bad("AHP-ORIGIN-004")
def a_forged_session_action_is_carried_out(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {"type": "session/activityChanged", "activity": "forged"})


@origins.bad("AHP-ORIGIN-003")
def a_forged_chat_action_is_carried_out(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, {"type": "chat/activityChanged", "activity": "forged"})


@origins.bad("AHP-ORIGIN-017")
def a_forged_root_action_is_carried_out(t: Trace) -> None:
    t.follow()
    t.echo(ROOT, {"type": "root/agentsChanged", "agents": []})


@origins.bad("AHP-ORIGIN-005")
def a_forged_terminal_action_is_carried_out(t: Trace) -> None:
    t.follow()
    t.subscribe(TERMINAL, terminal(t))
    t.echo(TERMINAL, {"type": "terminal/exited", "exitCode": 1})


@origins.bad("AHP-ORIGIN-006")
def a_forged_changeset_action_is_carried_out(t: Trace) -> None:
    t.follow()
    t.subscribe(CHANGESET, changeset())
    t.echo(CHANGESET, {"type": "changeset/cleared"})


@origins.good("AHP-DISP-003", *RESERVED)
def what_is_reserved_is_refused(t: Trace) -> None:
    t.follow()
    t.subscribe(TERMINAL, terminal(t))
    t.subscribe(CHANGESET, changeset())
    for channel, action in (
        (SESSION, {"type": "session/activityChanged", "activity": "forged"}),
        (CHAT, {"type": "chat/activityChanged", "activity": "forged"}),
        (ROOT, {"type": "root/agentsChanged", "agents": []}),
        (TERMINAL, {"type": "terminal/exited", "exitCode": 1}),
        (CHANGESET, {"type": "changeset/cleared"}),
    ):
        t.echo(channel, action, rejected="reserved to the host")


@origins.good()
def who_moves_the_default_chat_is_open(t: Trace) -> None:
    """AMB-03."""
    t.follow()
    t.echo(SESSION, {"type": "session/defaultChatChanged", "defaultChat": CHAT})


@origins.bad("AHP-INIT-028")
def a_client_id_is_cut(t: Trace) -> None:
    t.handshake(client="the phone of Ada")
    t.subscribe(SESSION, calm_session())
    number = t.dispatch(SESSION, TITLE)
    params = t.params(SESSION, TITLE)
    t.tell("action", **{**params, "origin": {"clientId": "the", "clientSeq": number}})


@origins.good("AHP-INIT-028")
def a_client_id_is_kept(t: Trace) -> None:
    t.handshake(client="the phone of Ada")
    t.subscribe(SESSION, calm_session())
    number = t.dispatch(SESSION, TITLE)
    params = t.params(SESSION, TITLE)
    t.tell("action", **{**params, "origin": {"clientId": "the phone of Ada", "clientSeq": number}})


@origins.good()
def who_was_away_may_have_missed_the_answer(t: Trace) -> None:
    t.follow()
    t.dispatch(SESSION, {"type": "session/isReadChanged", "isRead": True})
    t.notify("unsubscribe", channel=SESSION)
    t.subscribe(SESSION, calm_session(status=33))
    t.echo(SESSION, TITLE)


@origins.bad("AHP-DISP-003")
def what_is_reserved_is_met_with_silence(t: Trace) -> None:
    t.follow()
    t.dispatch(SESSION, {"type": "session/activityChanged", "activity": "forged"})
    t.echo(SESSION, TITLE)


@origins.bad("AHP-SEQ-007")
def a_dispatch_is_met_with_silence(t: Trace) -> None:
    t.follow()
    t.dispatch(SESSION, {"type": "session/isReadChanged", "isRead": True})
    t.echo(SESSION, TITLE)


@origins.good(settled=False)
def the_answer_may_still_be_on_its_way(t: Trace) -> None:
    t.follow()
    t.dispatch(SESSION, {"type": "session/isReadChanged", "isRead": True})
    t.echo(SESSION, TITLE)


@origins.good()
def the_last_dispatch_may_be_unanswered(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, TITLE)
    t.dispatch(SESSION, {"type": "session/isReadChanged", "isRead": True})
    t.dispatch(SESSION, {"type": "session/mood"})


@origins.bad("AHP-DISP-002")
def an_action_for_nothing_is_answered(t: Trace) -> None:
    t.follow()
    t.call("disposeSession", channel=SESSION)
    t.echo(SESSION, TITLE, rejected="there is no such session")


@origins.good("AHP-DISP-002")
def an_action_for_nothing_is_ignored(t: Trace) -> None:
    t.follow()
    t.call("disposeSession", channel=SESSION)
    t.dispatch(SESSION, TITLE)
    t.dispatch(CHAT, starts())
    t.ping()
    t.call("createSession", channel=SESSION, provider="p")
    t.subscribe(SESSION, calm_session())
    t.echo(SESSION, TITLE)


@origins.good()
def a_replay_repeats_an_echo(t: Trace) -> None:
    t.follow()
    one = t.echo(SESSION, TITLE)
    t.close()
    t.reconnect("B", "client-A", 0, [SESSION], {"type": "replay", "actions": [one], "missing": []})
    t.reconnect("C", "client-A", 0, [SESSION], {"type": "replay", "actions": [one], "missing": []})


@origins.good()
def echoes_of_different_channels_may_cross(t: Trace) -> None:
    t.follow(chat=idle_chat())
    first, second = t.dispatch(SESSION, TITLE), t.dispatch(CHAT, starts())
    t.envelope(CHAT, starts(), origin=("A", second))
    t.envelope(SESSION, TITLE, origin=("A", first))


@origins.good()
def malformed_dispatches_of_the_suite(t: Trace) -> None:
    t.follow()
    for action in ({}, {"type": 5}, {"type": "session/titleChanged"}):
        t.echo(SESSION, action, rejected="malformed")
    t.notify("dispatchAction", channel=SESSION, clientSeq="x", action=TITLE)
    t.notify("dispatchAction", clientSeq=99, action=TITLE)


@origins.good()
def clients_of_others(t: Trace) -> None:
    t.follow()
    t.envelope(SESSION, TITLE, origin=("stranger", 4))
    t.envelope(CHAT, about("Complete", CALL, result=DONE), origin=("stranger", 5))


@origins.good()
def a_client_whose_earlier_connection_was_not_recorded(t: Trace) -> None:
    t.out({"jsonrpc": "2.0", "id": "r", "method": "reconnect", "params": {"clientId": "client-A", "subscriptions": []}})
    t.result("r", {"type": "replay", "actions": [], "missing": []})
    t.subscribe(SESSION, {})
    t.envelope(SESSION, TITLE, origin=("A", 4))


@found(origins)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(origins)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
