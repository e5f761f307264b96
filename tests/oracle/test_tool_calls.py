"""Tool calls move along the table of transitions."""

from __future__ import annotations

from tests.protocol.examples import CHAT, auth

from .traces import (
    DONE,
    FAILED,
    JSON,
    SESSION,
    STARTED,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    begins,
    calm_session,
    clean,
    ends,
    found,
    lists,
    part_of,
    ready,
    starts,
    working_chat,
)

calls = Cases("tool-call-transitions")

APPROVED = about("Confirmed", approved=True, confirmed="user-action")
DENIED = about("Confirmed", approved=False, reason="denied")
CHALLENGED = about("AuthRequired", auth=auth())
SUCCEEDED = about("Complete", result=DONE)
GAVE_UP = about("Complete", result=FAILED)
PRODUCED = about("ContentChanged", content=[{"type": "text", "text": "so far"}])


def a_chat(t: Trace, status: str, contributor: str | None = "mcp", conns: str = "A") -> None:
    """A client of a chat whose active turn has one call in this status."""
    call: JSON = a_call(status, contributor=contributor)
    t.follow(conns, session=None, chat=working_chat(part_of(call), status=24 if status == "auth-required" else 8))


# -- the host -----------------------------------------------------------------------------------------


@calls.bad("AHP-TOOL-002")
def an_id_is_used_twice_in_a_turn(t: Trace) -> None:
    a_chat(t, "completed")
    t.envelope(CHAT, begins())


@calls.bad("AHP-TOOL-003")
def a_result_straight_after_the_start(t: Trace) -> None:
    a_chat(t, "streaming")
    t.envelope(CHAT, SUCCEEDED)


@calls.bad("AHP-TOOL-003")
def progress_before_ready(t: Trace) -> None:
    a_chat(t, "streaming")
    t.envelope(CHAT, PRODUCED)


@calls.bad("AHP-TOOL-015")
def the_host_denies_by_itself(t: Trace) -> None:
    a_chat(t, "pending-confirmation")
    t.envelope(CHAT, DENIED)


@calls.bad("AHP-TOOL-015")
def the_host_refuses_a_result_by_itself(t: Trace) -> None:
    a_chat(t, "pending-result-confirmation")
    t.envelope(CHAT, about("ResultConfirmed", approved=False))


@calls.bad("AHP-TOOL-026")
def a_completion_after_the_clients_own(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running(contributor={"kind": "client", "clientId": "client-A"})
    t.echo(CHAT, SUCCEEDED)
    t.envelope(CHAT, SUCCEEDED)


@calls.bad("AHP-TOOL-026")
def an_action_for_a_call_that_is_not_there(t: Trace) -> None:
    a_chat(t, "running")
    t.envelope(CHAT, about("Complete", "nobody", result=DONE))


@calls.bad("AHP-TOOL-026")
def a_resolution_of_what_was_not_blocked(t: Trace) -> None:
    a_chat(t, "running")
    t.envelope(CHAT, about("AuthResolved"))


@calls.bad("AHP-TOOLAUTH-015")
def a_challenge_before_the_call_runs(t: Trace) -> None:
    a_chat(t, "pending-confirmation")
    t.envelope(CHAT, CHALLENGED)


@calls.bad("AHP-TOOLAUTH-015")
def a_challenge_of_the_hosts_own_tool(t: Trace) -> None:
    a_chat(t, "running", None)
    t.envelope(CHAT, CHALLENGED)


@calls.bad("AHP-TOOLAUTH-015")
def a_challenge_of_a_clients_tool(t: Trace) -> None:
    a_chat(t, "running", "client")
    t.envelope(CHAT, CHALLENGED)


@calls.bad("AHP-TOOLAUTH-015")
def a_challenge_of_what_is_blocked_already(t: Trace) -> None:
    a_chat(t, "auth-required")
    t.envelope(CHAT, CHALLENGED)


@calls.bad("AHP-TOOLAUTH-053")
def success_without_resolution(t: Trace) -> None:
    a_chat(t, "auth-required")
    t.envelope(CHAT, SUCCEEDED)


@calls.bad("AHP-MCP-026", "AHP-TOOL-012")
def a_contributor_that_names_no_server(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running(contributor={"kind": "mcp", "customizationId": "The Vault"})


# -- what the host lets clients do --------------------------------------------------------------------


@calls.bad("AHP-CONF-001")
def a_late_denial_is_echoed_as_if_it_counted(t: Trace) -> None:
    a_chat(t, "completed")
    t.echo(CHAT, DENIED)


@calls.bad("AHP-CONF-001", "AHP-TOOLAUTH-044")
def an_approval_of_a_blocked_call_is_accepted(t: Trace) -> None:
    a_chat(t, "auth-required")
    t.echo(CHAT, APPROVED)


@calls.bad("AHP-TOOLAUTH-078")
def a_client_claims_success_of_a_blocked_call(t: Trace) -> None:
    a_chat(t, "auth-required")
    t.echo(CHAT, SUCCEEDED)


@calls.bad("AHP-CONF-001", "AHP-CONF-002")
def the_last_of_two_decisions_counts(t: Trace) -> None:
    a_chat(t, "pending-confirmation", conns="AB")
    t.echo(CHAT, APPROVED, to="AB")
    t.echo(CHAT, DENIED, "B", to="AB")


# -- right hosts --------------------------------------------------------------------------------------


@calls.good("AHP-CONF-001", "AHP-CONF-002")
def the_first_of_two_decisions_counts(t: Trace) -> None:
    a_chat(t, "pending-confirmation", conns="AB")
    t.echo(CHAT, APPROVED, to="AB")
    t.echo(CHAT, DENIED, "B", to="AB", rejected="it runs already")


@calls.good()
def a_call_is_decided_about_twice_as_it_was_asked_about_twice(t: Trace) -> None:
    a_chat(t, "pending-confirmation")
    t.echo(CHAT, APPROVED)
    t.envelope(CHAT, ready(confirmed=False, confirmationTitle="Still?"))
    t.echo(CHAT, DENIED)


@calls.good(
    "AHP-TOOL-002",
    "AHP-TOOL-003",
    "AHP-TOOL-026",
    "AHP-TOOLAUTH-015",
    "AHP-TOOLAUTH-053",
    "AHP-MCP-026",
    "AHP-TOOL-012",
)
def a_call_with_a_challenge(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.envelope(CHAT, begins(), "AB")
    t.envelope(CHAT, about("Delta", content='{"a":'), "AB")
    t.envelope(CHAT, ready(), "AB")
    t.envelope(CHAT, PRODUCED, "AB")
    for _ in range(2):
        t.envelope(CHAT, CHALLENGED, "AB")
        t.envelope(SESSION, lists(auth_entry()), "AB")
        t.unblocked("AB")
    t.envelope(CHAT, SUCCEEDED, "AB")


@calls.good("AHP-TOOL-015")
def confirmation_and_review(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(CHAT, ready(confirmed=False, confirmationTitle="Sure?"))
    t.echo(CHAT, APPROVED)
    t.envelope(CHAT, about("Complete", result=DONE, requiresResultConfirmation=True))
    t.echo(CHAT, about("ResultConfirmed", approved=False))


@calls.good("AHP-TOOL-015")
def a_denial(t: Trace) -> None:
    a_chat(t, "pending-confirmation")
    t.echo(CHAT, DENIED)


@calls.good()
def a_running_call_is_asked_about_again(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(CHAT, ready(confirmed=False, confirmationTitle="Still?"))
    t.envelope(CHAT, APPROVED)
    t.envelope(CHAT, SUCCEEDED)


@calls.good()
def an_unconfirmed_call_is_given_up(t: Trace) -> None:
    """AMB-33: a call that waits for confirmation may be completed."""
    a_chat(t, "pending-confirmation")
    t.envelope(CHAT, GAVE_UP)


@calls.good()
def a_blocked_call_is_cancelled_by_anybody(t: Trace) -> None:
    """AMB-05: a failure from auth-required is the cancellation, whoever sends it."""
    a_chat(t, "auth-required", conns="AB")
    t.echo(CHAT, GAVE_UP, "B", to="AB")


@calls.good("AHP-CONF-001", "AHP-TOOLAUTH-044", "AHP-TOOLAUTH-078")
def what_does_not_fit_is_refused(t: Trace) -> None:
    a_chat(t, "auth-required")
    for action in (APPROVED, DENIED, SUCCEEDED):
        t.echo(CHAT, action, rejected="it is blocked")


@calls.good()
def actions_of_clients_without_effect_may_be_echoed(t: Trace) -> None:
    """AMB-07: accepted or rejected, the state stays."""
    a_chat(t, "completed")
    t.echo(CHAT, SUCCEEDED)
    t.echo(CHAT, PRODUCED)
    t.echo(CHAT, about("ResultConfirmed", "nobody", approved=True))
    t.echo(CHAT, about("Complete", "nobody", result=DONE))


@calls.good()
def the_id_of_an_earlier_turn_may_come_again(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(CHAT, ends())
    t.envelope(CHAT, starts("t2"))
    t.envelope(CHAT, about("Start", turn="t2", toolName="x", displayName="x"))


@calls.good()
def a_server_goes_while_its_call_runs(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(SESSION, {"type": "session/customizationRemoved", "id": "vault"})
    t.envelope(CHAT, PRODUCED)
    t.envelope(CHAT, SUCCEEDED)


@calls.good("AHP-MCP-026")
def a_server_inside_a_plugin(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running(contributor={"kind": "mcp", "customizationId": "inner"})


@calls.good()
def who_knows_no_session_knows_no_servers(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running(contributor={"kind": "mcp", "customizationId": "elsewhere"})


@calls.good()
def other_sessions_do_not_count(t: Trace) -> None:
    t.handshake()
    other = {"resource": "ahp-chat:/other", "title": "Chat", "status": 1, "modifiedAt": STARTED}
    t.subscribe("ahp-session:/other", calm_session(chats=[other], defaultChat=other["resource"], customizations=[]))
    t.subscribe(CHAT, working_chat())
    t.running()


@calls.good()
def a_contributor_that_is_told_with_ready(t: Trace) -> None:
    """From 0.7.0 on, chat/toolCallReady may say who provides the tool."""
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready(contributor={"kind": "mcp", "customizationId": "vault"}))
    if t.version >= "0.7.0":
        t.envelope(CHAT, CHALLENGED)


@calls.good()
def a_repeated_envelope_is_no_second_event(t: Trace) -> None:
    a_chat(t, "running")
    one = t.envelope(CHAT, SUCCEEDED)
    t.close()
    t.reconnect("B", "client-A", 0, [CHAT], {"type": "replay", "actions": [one], "missing": []})


@calls.good()
def a_server_is_told_later_to_who_permits_it(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(customizations=[]), delivery={"maxLatencyMs": 500})
    t.subscribe(CHAT, working_chat())
    t.running()


@found(calls)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(calls)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
