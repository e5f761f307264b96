"""The entries of inputNeeded, one by one."""

from __future__ import annotations

from tests.protocol.examples import CHAT

from .traces import (
    DONE,
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
    entry,
    found,
    lists,
    ready,
    unlists,
    working_chat,
)

entries = Cases("input-entries")

CONFIRMED = about("Confirmed", approved=True, confirmed="user-action")


def confirmation(identity: str = "need-1", call: str = "call-1", **members: JSON) -> JSON:
    return entry("toolConfirmation", identity, toolCall=a_call("pending-confirmation", call), **members)


def execution(identity: str = "need-1", **members: JSON) -> JSON:
    return entry("toolClientExecution", identity, **members)


# -- ids ----------------------------------------------------------------------------------------------


@entries.bad("AHP-INPUT-014")
def an_id_is_taken_while_it_is_listed(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation("n", "one")))
    t.envelope(SESSION, lists(confirmation("n", "two")))


@entries.bad("AHP-INPUT-014", "AHP-TOOLAUTH-037")
def an_id_made_from_the_resource(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(auth_entry("vault", "one")))
    t.envelope(SESSION, lists(auth_entry("vault", "two")))


@entries.bad("AHP-INPUT-014")
def two_entries_of_a_snapshot_share_an_id(t: Trace) -> None:
    t.follow(
        chat=None, session=calm_session(inputNeeded=[confirmation("n", "one"), entry("chatInput", "n")], status=24)
    )


@entries.bad("AHP-INPUT-014", "AHP-TOOLAUTH-037")
def two_blocked_calls_of_a_snapshot_share_an_id(t: Trace) -> None:
    listed = [auth_entry("n", "one"), auth_entry("n", "two")]
    t.follow(chat=None, session=calm_session(inputNeeded=listed, status=24))


@entries.bad("AHP-INNEED-010", "AHP-INNEED-017")
def a_request_is_listed_again_under_another_id(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation("one")))
    t.envelope(SESSION, lists(confirmation("two")))


@entries.bad("AHP-INNEED-010", "AHP-INNEED-017", "AHP-TOOLAUTH-065")
def a_blocked_call_is_listed_again_under_another_id(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(auth_entry("one")))
    t.envelope(SESSION, lists(auth_entry("two")))


@entries.bad("AHP-INNEED-010")
def a_removal_by_position(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation("one")))
    t.envelope(SESSION, unlists("0"))


@entries.bad("AHP-INNEED-010", "AHP-TOOLAUTH-065")
def a_removal_by_the_id_of_the_call(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(auth_entry("one")))
    t.envelope(SESSION, unlists("call-1"))


# -- what they are about ------------------------------------------------------------------------------


@entries.bad("AHP-INNEED-011")
def the_chat_of_an_entry_is_the_session(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation(chat=SESSION)))


@entries.bad("AHP-INNEED-011")
def the_chat_of_a_listed_entry_is_none_of_the_session(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(inputNeeded=[confirmation(chat="ahp-chat:/nobody")], status=24))


@entries.bad("AHP-INPUT-017")
def an_execution_for_another_client(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(execution(clientId="laptop")))


@entries.bad("AHP-INPUT-017", versions=("0.6.0",))
def an_execution_of_a_call_that_still_waits(t: Trace) -> None:
    """From 0.9.0 on the type of the entry forbids it too."""
    t.follow(chat=None)
    t.envelope(SESSION, lists(execution(toolCall=a_call("pending-confirmation", contributor="client"))))


@entries.bad("AHP-TOOLAUTH-024")
def a_blocked_call_is_offered_for_confirmation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.envelope(SESSION, lists(confirmation("two")))


@entries.bad("AHP-TOOLAUTH-024")
def a_confirmation_outlasts_the_whole_block(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(SESSION, lists(confirmation("ask")))
    t.echo(CHAT, CONFIRMED)
    t.envelope(CHAT, about("AuthRequired", auth=a_call("auth-required")["auth"]))
    t.envelope(SESSION, lists(auth_entry("need-1")))
    t.unblocked()
    t.envelope(SESSION, unlists("ask"))


# -- right hosts --------------------------------------------------------------------------------------


@entries.good("AHP-INPUT-014", "AHP-INNEED-010", "AHP-INNEED-011", "AHP-INNEED-017", "AHP-INPUT-017")
def several_entries_come_and_go(t: Trace) -> None:
    t.follow("AB", chat=None)
    for one in (entry("chatInput", "q"), confirmation("c", "one"), execution("e")):
        t.envelope(SESSION, lists(one), "AB")
    for identity in ("c", "q", "e"):
        t.envelope(SESSION, unlists(identity), "AB")


@entries.good("AHP-TOOLAUTH-024", "AHP-TOOLAUTH-037", "AHP-TOOLAUTH-065")
def two_blocked_calls(t: Trace) -> None:
    t.follow(chat=working_chat())
    for call in ("one", "two"):
        t.blocked(call=call, entry=f"need-{call}")
    for call in ("one", "two"):
        t.unblocked(call=call, entry=f"need-{call}")


@entries.good()
def an_entry_is_updated_in_place(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation("n")))
    t.envelope(SESSION, lists({**confirmation("n"), "toolCall": a_call("pending-result-confirmation")} | {"id": "n"}))


@entries.good()
def a_removal_told_once_more(t: Trace) -> None:
    """To take off what has gone changes nothing (AHP-INNEED-002)."""
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation("one", "one")))
    t.envelope(SESSION, lists(confirmation("two", "two")))
    t.envelope(SESSION, unlists("one"))
    t.envelope(SESSION, unlists("one"))


@entries.good()
def a_removal_when_nothing_is_listed(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, unlists("whatever"))


@entries.good()
def an_id_is_used_again_when_it_is_free(t: Trace) -> None:
    t.follow(chat=None)
    for call in ("one", "two"):
        t.envelope(SESSION, lists(confirmation("n", call)))
        t.envelope(SESSION, unlists("n"))


@entries.good("AHP-INNEED-011")
def a_chat_is_announced_a_moment_after_its_first_request(t: Trace) -> None:
    new = {"resource": "ahp-chat:/new", "title": "N", "status": 24, "modifiedAt": STARTED}
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation(chat=new["resource"])))
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": new})


@entries.good("AHP-TOOLAUTH-024", "AHP-TOOLAUTH-037")
def a_confirmation_is_told_when_the_block_has_begun(t: Trace) -> None:
    """AMB-17: a session may be late with all that it repeats, as long as it ends up right."""
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    t.echo(CHAT, CONFIRMED)
    t.envelope(CHAT, about("AuthRequired", auth=a_call("auth-required")["auth"]))
    t.envelope(SESSION, lists(confirmation("ask")))
    t.envelope(SESSION, unlists("ask"))
    t.envelope(SESSION, lists(auth_entry("need-1")))
    t.unblocked()


@entries.good("AHP-TOOLAUTH-024")
def a_confirmation_goes_a_moment_after_the_block_began(t: Trace) -> None:
    """AMB-17: chat and session may tell in any order."""
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(SESSION, lists(confirmation("ask")))
    t.echo(CHAT, CONFIRMED)
    t.envelope(CHAT, about("AuthRequired", auth=a_call("auth-required")["auth"]))
    t.envelope(SESSION, lists(auth_entry("need-1")))
    t.envelope(SESSION, unlists("ask"))
    t.unblocked()


@entries.good()
def a_resumed_call_asks_for_confirmation_before_its_entry_goes(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.call("authenticate", {}, resource="https://vault.example/mcp", token="a-token-of-ours")
    t.envelope(CHAT, about("AuthResolved"))
    t.envelope(CHAT, ready(confirmed=False, confirmationTitle="Still?"))
    t.envelope(SESSION, lists(confirmation("ask")))
    t.envelope(SESSION, unlists("need-1"))


@entries.good()
def the_same_call_ids_in_two_chats(t: Trace) -> None:
    t.follow(chat=None)
    second = {"resource": "ahp-chat:/two", "title": "N", "status": 24, "modifiedAt": STARTED}
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": second})
    t.envelope(SESSION, lists(confirmation("one")))
    t.envelope(SESSION, lists(confirmation("two", chat="ahp-chat:/two")))


@entries.good()
def a_review_follows_a_client_execution(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(execution("run")))
    t.envelope(SESSION, lists(confirmation("review")))
    t.envelope(SESSION, unlists("run"))


@entries.good(settled=False)
def an_open_end_proves_no_absence(t: Trace) -> None:
    t.follow(chat=None)
    t.envelope(SESSION, lists(confirmation(chat="ahp-chat:/new")))


@entries.good()
def refused_entries_of_clients(t: Trace) -> None:
    t.follow(chat=None)
    t.echo(SESSION, lists(confirmation(chat=SESSION)), rejected="reserved to the host")
    t.echo(SESSION, unlists("call-1"), rejected="reserved to the host")
    t.echo(CHAT, about("Complete", result=DONE), rejected="no such call")


@entries.good()
def a_second_wait_is_listed_before_the_first_goes(t: Trace) -> None:
    """A host may send what is new in its list before what is not there any more."""
    t.follow()
    t.envelope(SESSION, lists(entry("toolConfirmation", "need-1", toolCall=a_call("pending-confirmation"))))
    t.envelope(SESSION, lists(entry("toolConfirmation", "need-2", toolCall=a_call("pending-result-confirmation"))))
    t.envelope(SESSION, unlists("need-1"))


@found(entries)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(entries)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
