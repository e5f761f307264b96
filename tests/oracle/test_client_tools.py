"""Tools that clients run."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN

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
    turn,
    working_chat,
)

tools = Cases("client-tools")

OWNER = {"kind": "client", "clientId": "client-B"}
SUCCEEDED = about("Complete", result=DONE)
GAVE_UP = about("Complete", result=FAILED)
SECOND = "ahp-chat:/c2"


def client(name: str, *offered: str) -> JSON:
    return {"clientId": name, "tools": [{"name": tool, "title": tool} for tool in offered]}


def offering(t: Trace, *clients: JSON, conns: str = "A", **members: JSON) -> None:
    t.follow(conns, session=calm_session(activeClients=list(clients), **members), chat=working_chat())


def owned(t: Trace, conns: str = "A") -> None:
    """A call of a tool of client B that runs."""
    offering(t, client("client-B", "read"), conns=conns)
    t.running(conns, contributor=OWNER)


def leaves(t: Trace) -> None:
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-B"})


def handed_out(status: str = "running") -> JSON:
    call = {**a_call(status, contributor=None), "contributor": OWNER, "toolName": "read", "displayName": "Read"}
    return lists(entry("toolClientExecution", clientId="client-B", toolCall=call, turnId=TURN))


@tools.bad("AHP-CLTOOL-005")
def a_call_without_its_owner(t: Trace) -> None:
    offering(t, client("client-B", "read"), serverTools=[])
    t.envelope(CHAT, begins(contributor=None))


@tools.bad("AHP-CLTOOL-005")
def a_call_of_the_wrong_owner(t: Trace) -> None:
    offering(t, client("client-A"), client("client-B", "read"))
    t.envelope(CHAT, begins(contributor={"kind": "client", "clientId": "client-A"}))


@tools.bad("AHP-TOOL-013")
def a_tool_of_the_host_in_a_clients_name(t: Trace) -> None:
    offering(t, client("client-A"))
    t.envelope(CHAT, begins(contributor={"kind": "client", "clientId": "client-A"}))


@tools.bad("AHP-CLTOOL-006")
def the_host_answers_for_the_owner(t: Trace) -> None:
    owned(t)
    t.envelope(CHAT, SUCCEEDED)


@tools.bad("AHP-CLTOOL-011")
def the_host_gives_up_without_a_word(t: Trace) -> None:
    owned(t)
    t.envelope(CHAT, about("Complete", result={"success": False, "pastTenseMessage": "Gave up"}))


@tools.bad("AHP-CLTOOL-016")
def a_call_outlives_its_client(t: Trace) -> None:
    owned(t)
    leaves(t)
    t.envelope(CHAT, ends())


@tools.bad("AHP-CLTOOL-016")
def the_call_of_one_who_left_succeeds(t: Trace) -> None:
    owned(t)
    leaves(t)
    t.envelope(CHAT, SUCCEEDED)


@tools.bad("AHP-CLTOOL-016", "AHP-CLTOOL-017")
def only_the_first_chat_is_cleaned(t: Trace) -> None:
    two_chats(t)
    leaves(t)
    t.envelope(CHAT, GAVE_UP)
    t.envelope(SECOND, ends(turn="second"))


@tools.bad("AHP-CLTOOL-022")
def a_tool_of_one_who_left_is_called(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    leaves(t)
    t.envelope(CHAT, ends())
    t.echo(CHAT, starts("next"))
    t.envelope(CHAT, {**begins(contributor=OWNER), "turnId": "next"})


@tools.bad("AHP-CLTOOL-024")
def the_arguments_are_lost(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    t.envelope(CHAT, begins(contributor=OWNER))
    t.envelope(CHAT, about("Delta", content='{"a": 1}'))
    t.envelope(CHAT, {k: v for k, v in ready().items() if k != "toolInput"})


@tools.bad("AHP-CLTOOL-025")
def a_call_is_handed_out_before_it_is_denied(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    t.envelope(CHAT, begins(contributor=OWNER))
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(SESSION, handed_out())
    t.echo(CHAT, about("Confirmed", approved=False, reason="denied"))


def two_chats(t: Trace) -> None:
    """Client B has a running call in each of two chats."""
    names = (CHAT, SECOND)
    chats = [{"resource": name, "title": "Chat", "status": 8, "modifiedAt": STARTED} for name in names]
    t.handshake()
    t.subscribe(SESSION, calm_session(activeClients=[client("client-B", "read")], chats=chats, status=8))
    t.subscribe(CHAT, working_chat())
    t.subscribe(SECOND, idle_chat(resource=SECOND, status=8, activeTurn=turn(identity="second")))
    t.running(contributor=OWNER)
    t.envelope(SECOND, {**begins(contributor=OWNER), "turnId": "second"})
    t.envelope(SECOND, {**ready(), "turnId": "second"})


@tools.good("AHP-CLTOOL-005", "AHP-CLTOOL-006", "AHP-CLTOOL-024", "AHP-CLTOOL-025")
def a_call_of_a_client(t: Trace) -> None:
    offering(t, client("client-B", "read"), conns="AB")
    t.envelope(CHAT, begins(contributor=OWNER), "AB")
    t.envelope(CHAT, ready(confirmed=False), "AB")
    t.echo(CHAT, about("Confirmed", approved=True, confirmed="user-action"), to="AB")
    t.echo(CHAT, SUCCEEDED, "B", to="AB")


@tools.good("AHP-CLTOOL-011", "AHP-CLTOOL-016", "AHP-CLTOOL-017")
def the_calls_of_one_who_leaves(t: Trace) -> None:
    two_chats(t)
    leaves(t)
    t.envelope(CHAT, GAVE_UP)
    t.envelope(SECOND, {**GAVE_UP, "turnId": "second"})
    t.envelope(SECOND, ends(turn="second"))


@tools.good("AHP-CLTOOL-022")
def no_tool_of_one_who_left_is_called(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    leaves(t)
    # It was on its way.
    t.envelope(CHAT, begins(contributor=OWNER))
    t.envelope(CHAT, ends())
    t.echo(CHAT, starts("next"))
    t.envelope(CHAT, ends(turn="next"))


@tools.good("AHP-TOOL-013")
def a_tool_of_the_host(t: Trace) -> None:
    offering(t, client("client-B", "other"))
    t.envelope(CHAT, begins(contributor=None))


@tools.good()
def a_tool_of_the_host_with_a_clients_name(t: Trace) -> None:
    """It says so, or says nothing of its own tools."""
    own = {"name": "read", "title": "Read"}
    offering(t, client("client-B", "read"), serverTools=[own])
    t.envelope(CHAT, begins(contributor=None))


@tools.good()
def a_host_that_does_not_list_its_tools(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    t.envelope(CHAT, begins(contributor=None))


@tools.good()
def a_tool_under_another_name(t: Trace) -> None:
    offering(t, client("client-B", "other"))
    t.envelope(CHAT, begins(contributor=OWNER))


@tools.good()
def one_who_left_comes_back(t: Trace) -> None:
    owned(t, "AB")
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-B"}, "AB")
    t.envelope(SESSION, {"type": "session/activeClientSet", "activeClient": client("client-B", "read")}, "AB")
    t.echo(CHAT, SUCCEEDED, "B", to="AB")
    t.envelope(CHAT, ends(), "AB")


@tools.good()
def an_entry_ahead_of_the_approval(t: Trace) -> None:
    """AMB-17: the session may be told first."""
    offering(t, client("client-B", "read"))
    t.envelope(CHAT, begins(contributor=OWNER))
    t.envelope(CHAT, ready(confirmed=False))
    t.envelope(SESSION, handed_out())
    t.echo(CHAT, about("Confirmed", approved=True, confirmed="user-action"))


@tools.good()
def a_tool_that_a_client_offers_no_more(t: Trace) -> None:
    offering(t, client("client-B", "read"), serverTools=[])
    t.envelope(SESSION, {"type": "session/activeClientSet", "activeClient": client("client-B", "write")})
    t.envelope(CHAT, begins(contributor=None))


@tools.good()
def an_owner_who_left_during_the_turn_before_anybody_saw_it(t: Trace) -> None:
    offering(t)
    t.envelope(CHAT, begins(contributor=OWNER))


@tools.good()
def an_owner_who_came_and_went_while_nobody_looked(t: Trace) -> None:
    offering(t, client("client-B", "read"))
    leaves(t)
    t.notify("unsubscribe", channel=SESSION)
    t.envelope(CHAT, ends())
    t.seq += 1
    t.envelope(CHAT, starts("next"), origin=("Z", 1))
    t.seq += 1
    t.subscribe(SESSION, calm_session())
    t.envelope(CHAT, {**begins(contributor=OWNER), "turnId": "next"})


@found(tools)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(tools)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
