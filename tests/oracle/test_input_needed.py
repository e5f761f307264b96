"""InputNeeded if and only if something waits for the user, and nothing left over."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN, auth, server

from .traces import (
    JSON,
    SESSION,
    STARTED,
    Case,
    Cases,
    Trace,
    a_call,
    auth_entry,
    calm_session,
    clean,
    ends,
    entry,
    fails,
    found,
    idle_chat,
    lists,
    part_of,
    turn,
    unlists,
    working_chat,
)

bit = Cases("input-needed-bit")
left = Cases("input-leftovers")


def state_of(t: Trace, status: int, *listed: JSON, **members: JSON) -> None:
    """A client that finds this in a session."""
    t.handshake()
    needed = {"inputNeeded": list(listed)} if listed else {}
    t.subscribe(SESSION, calm_session(status=status, **needed, **members))


def chat_entry(status: int) -> JSON:
    return {"resource": CHAT, "title": "Chat", "status": status, "modifiedAt": STARTED}


# -- the bit ------------------------------------------------------------------------------------------


@bit.bad("AHP-INPUT-011")
def a_question_without_the_bit(t: Trace) -> None:
    state_of(t, 8, entry("chatInput"))


@bit.bad("AHP-INPUT-011")
def a_client_execution_switches_the_promotion_off(t: Trace) -> None:
    state_of(t, 8, entry("toolConfirmation", "a"), entry("toolClientExecution", "b", turnId="t"))


@bit.bad("AHP-TOOLAUTH-025")
def only_the_chat_is_marked(t: Trace) -> None:
    state_of(t, 8, auth_entry())


@bit.bad("AHP-INPUT-027", versions=("0.6.0",))
def work_for_a_client_does_not_show(t: Trace) -> None:
    state_of(t, 8, entry("toolClientExecution"))


@bit.bad("AHP-INPUT-101", versions=("0.9.0",))
def work_for_a_client_still_raises_the_bit(t: Trace) -> None:
    state_of(t, 24, entry("toolClientExecution"))


@bit.bad("AHP-INPUT-026")
def the_bit_stays_after_the_answer(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(status=24, inputNeeded=[entry("chatInput")]))
    t.envelope(SESSION, unlists("need-1"))
    t.subscribe(SESSION, calm_session(status=24))


@bit.bad("AHP-INPUT-026", "AHP-TOOLAUTH-070")
def the_bit_stays_after_the_block(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.unblocked()
    t.subscribe(SESSION, calm_session(status=24))


@bit.good("AHP-INPUT-011", "AHP-TOOLAUTH-025", "AHP-INPUT-026", "AHP-TOOLAUTH-070")
def the_bit_comes_and_goes(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(SESSION, lists(entry("chatInput", "q")))
    t.blocked()
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("chatInput", "q"), auth_entry()]))
    t.unblocked()
    t.envelope(SESSION, unlists("q"))
    t.subscribe(SESSION, calm_session(status=8))


@bit.good("AHP-INPUT-027", versions=("0.6.0",))
def work_for_a_client_once_raised_the_bit(t: Trace) -> None:
    state_of(t, 24, entry("toolClientExecution"))


@bit.good("AHP-INPUT-101", versions=("0.9.0",))
def work_for_a_client_is_work(t: Trace) -> None:
    state_of(t, 8, entry("toolClientExecution"))


@bit.good()
def a_chat_raises_its_session_on_its_own_account(t: Trace) -> None:
    state_of(t, 24, chats=[chat_entry(24)])


@bit.good()
def a_chat_known_to_need_input_raises_its_session(t: Trace) -> None:
    """The catalogue may follow a moment later."""
    t.handshake()
    t.subscribe(CHAT, working_chat(part_of(a_call("pending-confirmation")), status=24))
    t.subscribe(SESSION, calm_session(status=24))


@bit.good()
def a_server_that_waits_may_raise_the_session(t: Trace) -> None:
    """A-16: by an entry or by the status alone."""
    waiting = {**server(), "state": {"kind": "authRequired", **auth()}}
    state_of(t, 24, customizations=[waiting])


@bit.good()
def a_status_with_flags(t: Trace) -> None:
    state_of(t, 24 + 32 + 64 + 128, entry("chatInput"))


@bit.good()
def a_session_without_a_status_is_not_ours_to_judge(t: Trace) -> None:
    """Nor is what is no state at all; the shape is another rule's."""
    t.out({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {"channel": SESSION}})
    t.result(1, {"snapshot": {"resource": SESSION, "state": 5, "fromSeq": 0}})


# -- leftovers ----------------------------------------------------------------------------------------


# The session repeats that its chat is at rest.
RESTS = {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": 1}}


@left.bad("AHP-INPUT-010")
def a_confirmation_survives_its_turn(t: Trace) -> None:
    t.follow(chat=working_chat(), session=calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, RESTS)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))


@left.bad("AHP-INPUT-010")
def a_question_survives_its_turn(t: Trace) -> None:
    question = entry("chatInput")
    asked = {"kind": "inputRequest", "request": question["request"]}
    t.follow(chat=working_chat(asked, status=24), session=calm_session(status=24, inputNeeded=[question]))
    t.envelope(CHAT, fails(t.version))
    t.envelope(SESSION, RESTS)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[question]))


@left.bad("AHP-INPUT-010", "AHP-TOOLAUTH-028")
def a_sign_in_prompt_survives_the_cancellation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, RESTS)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))


@left.bad("AHP-INPUT-010", "AHP-TOOLAUTH-028")
def a_sign_in_prompt_survives_a_truncation(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, {"type": "chat/truncated"})
    t.envelope(SESSION, RESTS)
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))


@left.bad("AHP-INPUT-010")
def an_entry_survives_its_chat(t: Trace) -> None:
    gone = {"resource": "ahp-chat:/gone", "title": "G", "status": 24, "modifiedAt": STARTED}
    ask = entry("toolConfirmation", chat="ahp-chat:/gone")
    t.follow(chat=None, session=calm_session(chats=[chat_entry(1), gone], status=24, inputNeeded=[ask]))
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": "ahp-chat:/gone"})
    t.subscribe(SESSION, calm_session(chats=[chat_entry(1)], status=24, inputNeeded=[ask]))


@left.good("AHP-INPUT-010", "AHP-TOOLAUTH-028")
def the_end_of_a_turn_cleans_up(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, ends("Cancelled"))
    t.envelope(SESSION, unlists("need-1"))
    t.subscribe(SESSION, calm_session(status=8))


@left.good()
def the_removal_comes_after_the_snapshot(t: Trace) -> None:
    """AMB-17: a moment may lie between the end of the turn and the removal."""
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    t.echo(CHAT, ends("Cancelled"), to="AB")
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]), "B")
    t.envelope(SESSION, unlists("need-1"), "AB")


@left.good()
def the_session_is_late(t: Trace) -> None:
    """AMB-17: its catalogue has not been told of the end either."""
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, ends("Cancelled"))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))


@left.good()
def the_next_turn_asks_again(t: Trace) -> None:
    asked = entry("toolConfirmation", "n2", turnId="t2")
    t.follow(chat=working_chat(), session=calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))
    t.envelope(CHAT, ends())
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(SESSION, lists(asked))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[asked]))


@left.good(versions=("0.9.0",))
def a_failed_turn_is_resumed_and_asks(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version, resumable=True))
    t.echo(CHAT, {"type": "chat/turnResume", "turnId": turn()["id"]})
    t.envelope(SESSION, lists(entry("toolConfirmation")))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))


@left.good()
def an_entry_of_another_chat_stays(t: Trace) -> None:
    other = entry("toolConfirmation", chat="ahp-chat:/two")
    two = {"resource": "ahp-chat:/two", "title": "T", "status": 24, "modifiedAt": STARTED}
    state = calm_session(status=24, inputNeeded=[other], chats=[chat_entry(8), two])
    t.follow(chat=working_chat(), session=state)
    t.envelope(CHAT, ends())
    t.subscribe(SESSION, {**state, "chats": [chat_entry(8), two]})


@left.good(settled=False)
def an_open_end_leaves_it_open(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.blocked()
    t.echo(CHAT, ends("Cancelled"))
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]))


@left.good()
def a_snapshot_from_before_the_end(t: Trace) -> None:
    t.follow("AB", chat=working_chat())
    t.blocked("AB")
    before = t.seq
    end = t.echo(CHAT, ends("Cancelled"), to="A")
    t.subscribe(SESSION, calm_session(status=24, inputNeeded=[auth_entry()]), "B", at=before)
    t.into({"jsonrpc": "2.0", "method": "action", "params": end}, "B")
    t.envelope(SESSION, unlists("need-1"), "AB")


@left.good()
def a_chat_that_nobody_follows(t: Trace) -> None:
    t.follow(chat=idle_chat(), session=calm_session(status=24, inputNeeded=[entry("toolConfirmation")]))


@left.good()
def a_turn_taken_up_again_while_nobody_looked(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version, resumable=True))
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": 2}})
    t.notify("unsubscribe", channel=CHAT)
    one = entry("toolConfirmation", turnId=TURN)
    t.envelope(SESSION, lists(one))
    held = calm_session(inputNeeded=[one], status=24)
    held["chats"][0]["status"] = 2
    t.subscribe(SESSION, held)


@left.good()
def a_chat_that_was_added_again(t: Trace) -> None:
    t.follow(chat=None)
    known = calm_session()["chats"][0]
    t.envelope(SESSION, {"type": "session/chatRemoved", "chat": CHAT})
    t.envelope(SESSION, {"type": "session/chatAdded", "summary": known})
    t.envelope(SESSION, {"type": "session/defaultChatChanged", "defaultChat": CHAT})
    one = entry("toolConfirmation", turnId=TURN)
    t.envelope(SESSION, lists(one))
    t.subscribe(SESSION, calm_session(inputNeeded=[one], status=24))


@bit.good()
def a_session_that_is_raised_a_moment_before_its_entry(t: Trace) -> None:
    """Its status follows from a chat that nobody else looks at."""
    t.follow(session=calm_session(status=24), chat=None)
    t.envelope(SESSION, lists(entry("toolConfirmation", turnId=TURN)))


@found(bit, left)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(bit, left)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
