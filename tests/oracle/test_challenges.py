"""Challenges by themselves, and calls that were given up."""

from __future__ import annotations

from tests.protocol.examples import CHAT, auth, server

from .test_tool_auth import RESOLVED, SUCCEEDED, challenge, push, resolved_before_anybody_pushed, shows, still_listed
from .traces import (
    DONE,
    FAILED,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    about,
    auth_entry,
    calm_session,
    clean,
    ends,
    fails,
    found,
    idle_chat,
    lists,
    starts,
    unlists,
    working_chat,
)

blocks = Cases("tool-authentication")


# -- challenges by themselves, and calls that were given up -----------------------------------------------


def challenge_of(t: Trace, **resource: JSON) -> None:
    t.follow(chat=working_chat(), session=None)
    t.running()
    t.envelope(CHAT, about("AuthRequired", auth={**auth(), "resource": {**auth()["resource"], **resource}}))


@blocks.bad("AHP-TOOLAUTH-059")
def a_challenge_without_an_authorization_server(t: Trace) -> None:
    challenge_of(t, authorization_servers=[])


@blocks.bad("AHP-TOOLAUTH-017")
def a_challenge_for_a_page_of_a_document(t: Trace) -> None:
    challenge_of(t, resource="https://vault.example/mcp#tools")


def given_up(t: Trace, how: str = "call") -> None:
    """A blocked call that a client ends, by itself or with its turn; then a token comes."""
    t.follow(chat=working_chat())
    t.blocked()
    if how == "call":
        t.echo(CHAT, about("Complete", result=FAILED))
    else:
        t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, unlists("need-1"))
    push(t)


@blocks.bad("AHP-TOOLAUTH-042", beside=("tool-call-transitions",))
def a_cancelled_call_is_resumed(t: Trace) -> None:
    given_up(t)
    t.envelope(CHAT, RESOLVED)


@blocks.bad("AHP-TOOLAUTH-042", beside=("tool-call-transitions",))
def a_cancelled_call_completes_once_more(t: Trace) -> None:
    given_up(t)
    t.envelope(CHAT, about("Complete", result=DONE))


@blocks.bad("AHP-TOOLAUTH-043", beside=("turns",))
def a_call_of_a_cancelled_turn_is_resumed(t: Trace) -> None:
    given_up(t, "turn")
    t.envelope(CHAT, RESOLVED)


@blocks.bad("AHP-TOOLAUTH-027", beside=("convergence", "session-folds", "input-needed-bit"))
def the_entry_of_a_cancelled_call_stays(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(SESSION, shows(24))
    t.echo(CHAT, about("Complete", result=FAILED))
    t.envelope(SESSION, shows(8))
    t.subscribe(SESSION, still_listed())


@blocks.good("AHP-TOOLAUTH-017", "AHP-TOOLAUTH-027", "AHP-TOOLAUTH-042", "AHP-TOOLAUTH-059")
def a_cancelled_call_is_over(t: Trace) -> None:
    given_up(t)


@blocks.good("AHP-TOOLAUTH-043")
def a_cancelled_turn_is_over(t: Trace) -> None:
    given_up(t, "turn")


@blocks.good("AHP-TOOLAUTH-036")
def a_token_for_something_else_resolves_nothing(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    push(t, "https://other.example")
    t.unblocked()


def refused_push(t: Trace) -> None:
    t.error(t.ask("authenticate", resource="https://vault.example/mcp", token="no-token-of-ours"), -32602)


@blocks.bad("AHP-TOOLAUTH-072")
def resolved_by_a_token_that_was_refused(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    refused_push(t)
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.good("AHP-TOOLAUTH-072")
def a_good_token_after_a_bad_one(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    refused_push(t)
    t.unblocked()


@blocks.good()
def the_answer_is_on_its_way(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    refused_push(t)
    identity = t.ask("authenticate", resource="https://vault.example/mcp", token="a-token-of-ours")
    t.envelope(CHAT, RESOLVED)
    t.result(identity, {})
    t.envelope(SESSION, unlists("need-1"))


@blocks.bad("AHP-TOOLAUTH-071")
def a_resumed_call_is_forgotten(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()
    t.envelope(CHAT, ends())


@blocks.good("AHP-TOOLAUTH-071")
def a_resumed_call_completes(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()
    t.envelope(CHAT, SUCCEEDED)
    t.envelope(CHAT, ends())


@blocks.good()
def an_earlier_push_for_an_agent(t: Trace) -> None:
    t.follow(chat=working_chat())
    push(t, "https://agent.example")
    t.blocked()
    t.unblocked()


@blocks.good()
def the_host_ends_a_call_itself(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(CHAT, about("Complete", result=FAILED))
    t.envelope(SESSION, unlists("need-1"))


@blocks.good()
def two_sessions_with_the_same_entry_ids(t: Trace) -> None:
    """An id is unique within its list, and nowhere else."""
    other, chat = "ahp-session:/s2", "ahp-chat:/c2"
    t.follow(chat=working_chat())
    t.subscribe(other, calm_session(chats=[{**calm_session()["chats"][0], "resource": chat}], defaultChat=chat))
    t.subscribe(chat, idle_chat(resource=chat))
    t.envelope(chat, starts())
    t.blocked()
    t.envelope(other, lists(auth_entry(chat=chat)))
    t.unblocked()


@blocks.good()
def a_reconnect_in_the_middle_of_a_block(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.running()
    t.close()
    missed = [t.params(CHAT, challenge()), t.params(SESSION, lists(auth_entry()))]
    t.reconnect("B", "client-A", 2, [SESSION, CHAT], {"type": "replay", "actions": missed, "missing": []})
    push(t, conn="B")
    t.envelope(CHAT, RESOLVED, "B")
    t.envelope(SESSION, unlists("need-1"), "B")


@blocks.good("AHP-TOOLAUTH-069")
def an_entry_is_taken_off_and_set_again_within_a_block(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(SESSION, lists(auth_entry("need-1")))
    t.unblocked()


@blocks.good()
def a_server_may_be_stopped_where_nobody_looks(t: Trace) -> None:
    """Who follows the chat alone is not told of it."""
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.envelope(CHAT, RESOLVED)
    t.envelope(CHAT, about("AuthRequired", auth=auth()))
    t.envelope(CHAT, ends())


@blocks.good()
def a_server_stops_with_its_container(t: Trace) -> None:
    plugin = {
        "id": "plugin",
        "type": "plugin",
        "name": "P",
        "uri": "file:///p",
        "enabled": True,
        "children": [server("vault")],
    }
    t.follow(session=calm_session(customizations=[plugin]), chat=working_chat())
    t.blocked()
    off: JSON = {"enablement": [{"kind": "session", "enabled": False}]} if t.version >= "0.8.0" else {"enabled": False}
    t.echo(SESSION, {"type": "session/customizationToggled", "id": "plugin", **off})
    t.envelope(CHAT, RESOLVED)
    t.envelope(SESSION, unlists("need-1"))


@blocks.good()
def a_server_breaks_down(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    state = {"kind": "error", "error": {"errorType": "e", "message": "m"}}
    t.envelope(SESSION, {"type": "session/mcpServerStateChanged", "id": "vault", "state": state})
    t.envelope(CHAT, fails(t.version))
    t.envelope(SESSION, unlists("need-1"))


def test_others_may_have_pushed_a_token() -> None:
    for resolved in (resolved_before_anybody_pushed, resolved_by_a_token_that_was_refused):
        t = Trace()
        resolved(t)
        assert t.judged(whole=False).findings == []


@found(blocks)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(blocks)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
