"""Challenges and their entries, paired in both directions, and what ends a block."""

from __future__ import annotations

from tests.protocol.examples import CHAT, auth

from .traces import (
    DONE,
    FAILED,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    ends,
    fails,
    found,
    lists,
    part_of,
    unlists,
    working_chat,
)

blocks = Cases("tool-authentication")

SUCCEEDED = about("Complete", result=DONE)
RESOLVED = about("AuthResolved")
BLOCKED = working_chat(part_of(a_call("auth-required")), status=24)


def push(
    t: Trace, resource: str = "https://vault.example/mcp", token: str = "a-token-of-ours", conn: str = "A"
) -> None:
    t.call("authenticate", {}, conn, resource=resource, token=token)


def challenge(**members: JSON) -> JSON:
    return about("AuthRequired", auth={**auth(), **members})


def shows(status: int) -> JSON:
    """The session repeats the status of its chat."""
    return {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": status}}


def still_listed(status: int = 8) -> JSON:
    """The session with the entry of the call, and a chat that is in need of input, or not any more."""
    chat = {**calm_session()["chats"][0], "status": status}
    return calm_session(status=24, chats=[chat], inputNeeded=[auth_entry()])


# -- pairing ------------------------------------------------------------------------------------------


@blocks.bad("AHP-TOOLAUTH-022")
def the_session_never_hears_of_it(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked(entry=None)
    t.envelope(SESSION, shows(24))
    t.unblocked(entry=None)
    t.envelope(SESSION, shows(8))


@blocks.bad("AHP-TOOLAUTH-022")
def the_turn_is_cancelled_and_the_session_never_heard(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked(entry=None)
    t.envelope(SESSION, shows(24))
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, shows(1))


@blocks.bad("AHP-TOOLAUTH-022")
def the_session_never_hears_of_the_second_challenge(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()
    t.envelope(CHAT, challenge(requiredScopes=["more"]))
    t.envelope(SESSION, shows(24))
    t.unblocked(entry=None)
    t.envelope(SESSION, shows(8))


@blocks.bad("AHP-TOOLAUTH-064")
def an_entry_for_a_call_that_was_never_blocked(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(SESSION, lists(auth_entry()))
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-064")
def an_entry_with_the_auth_of_an_earlier_challenge(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()
    t.envelope(CHAT, challenge(requiredScopes=["more"]))
    t.envelope(SESSION, lists(auth_entry()))
    t.unblocked()


@blocks.bad("AHP-TOOLAUTH-026")
def the_entry_stays_when_the_call_goes_on(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(SESSION, shows(24))
    push(t)
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, shows(8))
    t.subscribe(SESSION, still_listed())


@blocks.good()
def the_session_is_late_with_the_removal(t: Trace) -> None:
    """Its catalogue has the chat waiting still (ambiguity AMB-17)."""
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(SESSION, shows(24))
    push(t)
    t.envelope(CHAT, RESOLVED)
    t.subscribe(SESSION, still_listed(24))


# -- resolution ---------------------------------------------------------------------------------------


@blocks.bad("AHP-TOOLAUTH-031")
def resolved_before_anybody_pushed(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-031", "AHP-TOOLAUTH-036")
def resolved_by_a_token_for_something_else(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    push(t, "https://other.example")
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-031")
def resolved_by_the_withdrawal_of_a_token(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    push(t, token="")
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-031")
def a_stopped_server_frees_no_call_of_another(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "inner"})
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-052")
def the_challenge_ends_the_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(CHAT, ends())
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-052")
def the_challenge_fails_the_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(CHAT, fails(t.version))
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-069")
def the_entry_goes_when_the_token_arrives(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    push(t)
    t.envelope(SESSION, unlists("need-1"), "AB")
    t.envelope(CHAT, RESOLVED, "AB")


# -- right hosts --------------------------------------------------------------------------------------


@blocks.good(
    "AHP-TOOLAUTH-022",
    "AHP-TOOLAUTH-026",
    "AHP-TOOLAUTH-031",
    "AHP-TOOLAUTH-052",
    "AHP-TOOLAUTH-064",
    "AHP-TOOLAUTH-069",
)
def two_blocks_of_one_call(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    t.unblocked("AB")
    t.envelope(CHAT, challenge(requiredScopes=["more"]), "AB")
    more = {**a_call("auth-required"), "auth": {**auth(), "requiredScopes": ["more"]}}
    t.envelope(SESSION, lists(auth_entry("again", toolCall=more)), "AB")
    t.unblocked("AB", entry="again")
    t.envelope(CHAT, SUCCEEDED, "AB")
    t.envelope(CHAT, ends(), "AB")
    t.subscribe(SESSION, calm_session(status=8))


@blocks.good("AHP-TOOLAUTH-022", "AHP-TOOLAUTH-064")
def the_entry_comes_ahead_of_the_challenge(t: Trace) -> None:
    """AMB-17: chat and session may tell in any order."""
    t.follow(chat=working_chat())
    t.running()
    t.envelope(SESSION, lists(auth_entry()))
    t.envelope(CHAT, challenge())
    t.unblocked()


@blocks.good("AHP-TOOLAUTH-022", "AHP-TOOLAUTH-064")
def the_entries_of_two_challenges_come_after_both(t: Trace) -> None:
    """AMB-17: a session may be late with all that it repeats, as long as it ends up right."""
    t.follow(chat=working_chat())
    t.blocked(entry=None)
    push(t)
    t.envelope(CHAT, RESOLVED)
    t.envelope(CHAT, challenge(requiredScopes=["more"]))
    t.envelope(SESSION, lists(auth_entry()))
    t.envelope(SESSION, unlists("need-1"))
    more = {**a_call("auth-required"), "auth": {**auth(), "requiredScopes": ["more"]}}
    t.envelope(SESSION, lists(auth_entry("again", toolCall=more)))
    t.unblocked(entry="again")


@blocks.good()
def the_entry_has_not_come_yet(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked(entry=None)


@blocks.good()
def a_session_that_is_late_with_the_whole_block(t: Trace) -> None:
    """AMB-17: the block is over, but the session has not come to tell of it yet."""
    t.follow(chat=working_chat())
    t.blocked(entry=None)
    t.unblocked(entry=None)
    t.envelope(SESSION, shows(24))


@blocks.good()
def the_challenge_has_not_come_yet(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.envelope(SESSION, lists(auth_entry()))


@blocks.good(settled=False)
def an_open_end_leaves_pairs_open(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked(entry=None)
    t.unblocked(entry=None)


@blocks.good()
def who_follows_the_session_only_after_the_block(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.unblocked(entry=None)
    t.subscribe(SESSION, calm_session(status=8))


@blocks.good()
def who_follows_the_chat_only_after_the_block(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(auth_entry()))
    t.envelope(SESSION, unlists("need-1"))
    t.subscribe(CHAT, working_chat(part_of(a_call("completed"))))


@blocks.good("AHP-TOOLAUTH-031")
def who_comes_in_the_middle_of_a_block(t: Trace) -> None:
    t.follow(session=calm_session(status=24, inputNeeded=[auth_entry()]), chat=BLOCKED)
    t.unblocked()


@blocks.good()
def an_entry_that_is_being_removed_as_one_looks(t: Trace) -> None:
    """The chat is seen after the resolution, the session before the removal."""
    t.handshake()
    t.subscribe(CHAT, working_chat(part_of(a_call("running"))))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))
    t.envelope(SESSION, unlists("need-1"))


@blocks.good("AHP-TOOLAUTH-026")
def the_removal_comes_after_the_snapshot(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    push(t)
    t.envelope(CHAT, RESOLVED, "AB")
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]), "B")
    t.envelope(SESSION, unlists("need-1"), "AB")


@blocks.good()
def another_client_pushes(t: Trace) -> None:
    """AMB-20: whose connection it was does not matter for a shared block."""
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    push(t, conn="B")
    t.envelope(CHAT, RESOLVED, "AB")
    t.envelope(SESSION, unlists("need-1"), "AB")


@blocks.good()
def the_token_was_there_before(t: Trace) -> None:
    t.follow(chat=working_chat())
    push(t)
    t.blocked()
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.good()
def resolved_ahead_of_the_answer_to_authenticate(t: Trace) -> None:
    """AMB-22: the order of the two is open."""
    t.follow(chat=working_chat())
    t.blocked()
    identity = t.ask("authenticate", resource="https://vault.example/mcp", token="a-token-of-ours")
    t.envelope(CHAT, RESOLVED)
    t.result(identity, {})
    t.envelope(SESSION, unlists("need-1"))


@blocks.good()
def stopping_the_server_ends_the_wait(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(SESSION, {"type": "session/mcpServerStopRequested", "id": "vault"})
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(CHAT, about("Complete", result=FAILED))


@blocks.good()
def a_client_gives_the_call_up(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    t.echo(CHAT, about("Complete", result=FAILED), "B", to="AB")
    t.envelope(SESSION, unlists("need-1"), "AB")
    t.envelope(CHAT, ends(), "AB")


@blocks.good()
def a_client_cancels_the_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, unlists("need-1"))


@blocks.good()
def what_runs_beside_the_blocked_call_fails_the_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running(call="other", contributor=None)
    t.blocked()
    t.envelope(CHAT, fails(t.version))
    t.envelope(SESSION, unlists("need-1"))


@found(blocks)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(blocks)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
