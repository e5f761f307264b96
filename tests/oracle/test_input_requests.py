"""What chats wait for and the entries of their sessions; and what clients may do about a blocked call."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN, session

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
    begins,
    calm_session,
    clean,
    ends,
    entry,
    found,
    idle_chat,
    lists,
    ready,
    starts,
    unlists,
    working_chat,
)

pairs = Cases("input-requests")
blocked = Cases("blocked-calls")

CONFIRMED = about("Confirmed", approved=True, confirmed="user-action")
QUESTION = {"id": "q-1", "message": "Sure?", "questions": []}
OWNED = {"kind": "client", "clientId": "client-A"}
BESIDE = ("convergence", "session-folds", "input-needed-bit", "input-leftovers", "input-entries", "client-tools")


def shows(t: Trace, status: int) -> None:
    """The catalogue of the session repeats the status of its chat."""
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": status}})


def confirmation(status: str = "pending-confirmation", identity: str = "need-1") -> JSON:
    return entry("toolConfirmation", identity, toolCall=a_call(status))


def execution() -> JSON:
    call = {**a_call("running", contributor="client"), "contributor": OWNED}
    return entry("toolClientExecution", toolCall=call, clientId="client-A")


def question() -> JSON:
    return entry("chatInput", request=QUESTION)


def waits(t: Trace, what: str, *, listed: JSON = None) -> None:
    """A chat that comes to wait for somebody, and is listed so in its session."""
    t.follow(session=working_session(), chat=working_chat())
    if what == "question":
        t.envelope(CHAT, {"type": "chat/inputRequested", "request": QUESTION})
    elif what == "execution":
        t.envelope(CHAT, begins(contributor=OWNED))
        t.envelope(CHAT, ready())
    else:
        t.envelope(CHAT, begins())
        t.envelope(CHAT, ready(confirmed=what == "result"))
    if what == "result":
        t.envelope(CHAT, about("Complete", result=DONE, requiresResultConfirmation=True))
    if listed is not None:
        t.envelope(SESSION, lists(listed))
    shows(t, 8 if what == "execution" else 24)


def answers(t: Trace, what: str) -> None:
    action = {
        "question": {"type": "chat/inputCompleted", "requestId": "q-1", "response": "accept"},
        "execution": about("Complete", result=DONE),
        "result": about("ResultConfirmed", approved=True),
    }.get(what, CONFIRMED)
    t.echo(CHAT, action)


def working_session(**members: JSON) -> JSON:
    chat = {**session()["chats"][0], "status": 8}
    tools = [{"name": "read", "description": "Reads"}]
    return calm_session(status=8, chats=[chat], activeClients=[{"clientId": "client-A", "tools": tools}], **members)


def _pair(obligation: str, removed: str, what: str, listed: JSON) -> None:
    def never_listed(t: Trace) -> None:
        waits(t, what)
        answers(t, what)
        shows(t, 1 if what == "execution" else 8)

    def left_listed(t: Trace) -> None:
        waits(t, what, listed=listed)
        answers(t, what)
        shows(t, 1 if what == "execution" else 8)
        t.subscribe(SESSION, working_session(inputNeeded=[listed]) | {"status": 8 if what == "execution" else 24})

    def listed_and_taken_off(t: Trace) -> None:
        waits(t, what, listed=listed)
        answers(t, what)
        t.envelope(SESSION, unlists("need-1"))
        shows(t, 8)

    for name, write in (("never_listed", never_listed), ("left", left_listed), ("fine", listed_and_taken_off)):
        write.__name__ = f"{what}_{name}"
    pairs.bad(obligation, beside=BESIDE)(never_listed)
    pairs.bad(removed, beside=(*BESIDE, "shapes"))(left_listed)
    pairs.good(obligation, removed)(listed_and_taken_off)


_pair("AHP-INPUT-001", "AHP-INPUT-006", "question", question())
_pair("AHP-INPUT-002", "AHP-INPUT-007", "confirmation", confirmation())
_pair("AHP-INPUT-003", "AHP-INPUT-007", "result", confirmation("pending-result-confirmation"))
_pair("AHP-INPUT-004", "AHP-INPUT-008", "execution", execution())


@pairs.bad("AHP-INPUT-020")
def an_entry_of_another_tool(t: Trace) -> None:
    wrong = {**a_call("pending-confirmation"), "toolName": "delete"}
    waits(t, "confirmation", listed=entry("toolConfirmation", toolCall=wrong))


@pairs.bad("AHP-INPUT-023", beside=BESIDE)
def a_call_that_nobody_was_asked_about(t: Trace) -> None:
    t.follow(session=working_session(), chat=idle_chat())
    t.envelope(CHAT, starts())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready())
    t.envelope(SESSION, lists(confirmation()))
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(CHAT, about("Complete", result=DONE))
    t.envelope(CHAT, ends())


@pairs.good("AHP-INPUT-020", "AHP-INPUT-023")
def a_whole_turn(t: Trace) -> None:
    t.follow(session=working_session(), chat=idle_chat())
    t.envelope(CHAT, starts())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(SESSION, lists(confirmation()))
    t.echo(CHAT, CONFIRMED)
    t.envelope(SESSION, unlists("need-1"))
    t.envelope(CHAT, about("Complete", result=DONE))
    t.envelope(CHAT, ends())


@pairs.good()
def the_session_is_late(t: Trace) -> None:
    """Its catalogue still shows the chat waiting, so that the entry may still come (ambiguity AMB-17)."""
    waits(t, "confirmation")
    answers(t, "confirmation")


@pairs.good()
def the_session_is_late_with_the_removal(t: Trace) -> None:
    waits(t, "confirmation", listed=confirmation())
    answers(t, "confirmation")
    waiting = [{**session()["chats"][0], "status": 24}]
    t.subscribe(SESSION, working_session(inputNeeded=[confirmation()]) | {"status": 24, "chats": waiting})


@pairs.good()
def the_host_decides_itself(t: Trace) -> None:
    waits(t, "confirmation")
    t.envelope(CHAT, CONFIRMED)
    shows(t, 8)


@pairs.good()
def nobody_follows_the_session(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, begins())
    t.envelope(CHAT, ready(confirmed=False))
    answers(t, "confirmation")


@pairs.good()
def a_second_question_about_the_same_call(t: Trace) -> None:
    """It asks for its input, then for its result, and one entry stands for both."""
    waits(t, "confirmation", listed=confirmation())
    answers(t, "confirmation")
    t.envelope(CHAT, about("Complete", result=DONE, requiresResultConfirmation=True))
    again = confirmation("pending-result-confirmation")
    t.envelope(SESSION, lists(again))
    waiting = [{**session()["chats"][0], "status": 24}]
    t.subscribe(SESSION, working_session(inputNeeded=[again]) | {"status": 24, "chats": waiting})


# -- what clients do about a blocked call ---------------------------------------------------------------


GIVEN_UP = about("Complete", result=FAILED)
OTHERS = ("chat-validation", "origins", "tool-call-transitions", "tool-authentication", "everyone", "outcomes")


def in_a_block(t: Trace, conns: str = "A") -> None:
    t.follow(conns, chat=idle_chat(), session=working_session())
    t.echo(CHAT, starts(), to=conns)
    t.blocked(conns)


@blocked.bad("AHP-TOOLAUTH-039", beside=OTHERS)
def a_client_may_not_give_up(t: Trace) -> None:
    in_a_block(t)
    t.echo(CHAT, GIVEN_UP, rejected="not yours")


@blocked.bad("AHP-TOOLAUTH-039", "AHP-TOOLAUTH-040", beside=OTHERS)
def only_who_started_the_turn_may_give_up(t: Trace) -> None:
    in_a_block(t, "AB")
    t.echo(CHAT, GIVEN_UP, "B", rejected="not yours")


@blocked.bad("AHP-TOOLAUTH-045", beside=OTHERS)
def a_client_says_that_it_is_resolved(t: Trace) -> None:
    in_a_block(t)
    t.echo(CHAT, about("AuthResolved"))


@blocked.bad("AHP-TOOLAUTH-046", beside=OTHERS)
def a_client_reviews_the_result_of_a_blocked_call(t: Trace) -> None:
    in_a_block(t)
    t.echo(CHAT, about("ResultConfirmed", approved=True))


@blocked.good("AHP-TOOLAUTH-039", "AHP-TOOLAUTH-040", "AHP-TOOLAUTH-045", "AHP-TOOLAUTH-046")
def what_clients_may_do(t: Trace) -> None:
    in_a_block(t, "AB")
    t.echo(CHAT, about("AuthResolved"), rejected="no")
    t.echo(CHAT, about("ContentChanged", content=[]), rejected="no")
    t.echo(CHAT, GIVEN_UP, "B", "AB")
    t.envelope(SESSION, unlists("need-1"), "AB")


@blocked.good()
def too_late_and_too_early(t: Trace) -> None:
    """Given up before the client could see the block, by a result that is none, and after somebody else did."""
    t.follow("AB", chat=working_chat(), session=working_session())
    t.running("AB")
    early = t.dispatch(CHAT, GIVEN_UP)
    t.envelope(CHAT, about("AuthRequired", auth=a_call("auth-required")["auth"]), "AB")
    t.envelope(CHAT, GIVEN_UP, "A", origin=("A", early), rejected="not yours")
    t.echo(CHAT, about("Complete", result={"success": False}), rejected="malformed")
    late = t.dispatch(CHAT, GIVEN_UP, "B")
    t.echo(CHAT, GIVEN_UP, "A", "AB")
    t.envelope(CHAT, GIVEN_UP, "B", origin=("B", late), rejected="too late")


def test_the_turn_of_the_traces() -> None:
    assert working_chat()["activeTurn"]["id"] == TURN


@pairs.good()
def a_wait_while_nobody_looked_at_the_chat(t: Trace) -> None:
    """Who comes back to the chat finds the call confirmed; its session told all along what it waited for."""
    t.follow(chat=idle_chat())
    t.envelope(CHAT, starts())
    t.notify("unsubscribe", channel=CHAT)
    t.envelope(SESSION, lists(confirmation()))
    t.envelope(SESSION, unlists("need-1"))
    t.subscribe(CHAT, working_chat())
    t.envelope(CHAT, ends())


def test_others_may_have_removed_the_chat_of_a_blocked_call() -> None:
    """Who follows the chat alone is not told of it."""
    t = Trace()
    t.follow(session=None, chat=working_chat())
    t.blocked(entry=None)
    t.echo(CHAT, GIVEN_UP, rejected="no such chat")
    assert t.judged().findings
    assert t.judged(whole=False).findings == []


@found(pairs, blocked)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(pairs, blocked)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
