"""What an action set, a later snapshot has."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import CHAT

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, idle_chat, root

folds = Cases("member-folds")

OTHER = "ahp-chat:/c2"
ROOTS = ("0.7.0", "0.9.0")
AGENT: dict[str, Any] = {"provider": "p", "displayName": "P", "description": "an agent", "models": []}
NEEDY = {**AGENT, "protectedResources": [{"resource": "https://api.example"}]}
SCHEMA = {"type": "object", "properties": {"mode": {"type": "string", "title": "Mode", "sessionMutable": True}}}
FAILURE = {"type": "session/creationFailed", "error": {"errorType": "x", "message": "no"}}


def session_after(t: Trace, action: Any, before: Any = None, **after: Any) -> None:
    """An action in a session, and a snapshot for somebody who comes late."""
    t.follow(chat=None, session=calm_session(**(before or {})))
    t.envelope(SESSION, action)
    t.follow("B", chat=None, session=calm_session(**{**(before or {}), **after}))


def chat_after(t: Trace, action: Any, **after: Any) -> None:
    t.follow(session=None, chat=idle_chat())
    t.envelope(CHAT, action)
    t.follow("B", session=None, chat=idle_chat(**after))


def root_after(t: Trace, action: Any, before: Any = None, **after: Any) -> None:
    t.handshake(snapshots=[t.snapshot(ROOT, root(**(before or {})))])
    if action is not None:
        t.envelope(ROOT, action)
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(**{**(before or {}), **after}))])


def client(name: str, *tools: str) -> Any:
    return {"clientId": name, "tools": [{"name": tool} for tool in tools]}


# -- the root -----------------------------------------------------------------------------------------


@folds.bad("AHP-ROOT-006")
def agents_are_not_replaced(t: Trace) -> None:
    root_after(t, {"type": "root/agentsChanged", "agents": [AGENT]})


@folds.bad("AHP-ROOT-005", "AHP-ROOT-006")
def a_number_of_sessions_that_was_told_wrong(t: Trace) -> None:
    root_after(t, {"type": "root/activeSessionsChanged", "activeSessions": 2}, activeSessions=3)


@folds.bad("AHP-ROOT-005")
def a_number_of_sessions_that_was_not_told(t: Trace) -> None:
    root_after(t, None, before={"activeSessions": 2}, activeSessions=3)


@folds.bad("AHP-ROOT-008")
def a_config_replaces_where_it_should_merge(t: Trace) -> None:
    before = {"config": {"schema": SCHEMA, "values": {"mode": "a", "other": 1}}}
    action = {"type": "root/configChanged", "config": {"mode": "b"}}
    root_after(t, action, before=before, config={"schema": SCHEMA, "values": {"mode": "b"}})


@folds.bad("AHP-ROOT-009")
def a_config_out_of_nowhere(t: Trace) -> None:
    action = {"type": "root/configChanged", "config": {"mode": "b"}}
    root_after(t, action, config={"schema": SCHEMA, "values": {"mode": "b"}})


@folds.bad("AHP-AUTH-023")
def a_demand_that_was_not_told(t: Trace) -> None:
    root_after(t, None, before={"agents": [AGENT]}, agents=[NEEDY])


@folds.good("AHP-AUTH-023", "AHP-ROOT-005", "AHP-ROOT-006", "AHP-ROOT-008")
def a_root_that_changes(t: Trace) -> None:
    config = {"schema": SCHEMA, "values": {"mode": "a", "other": 1}}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[AGENT], activeSessions=1, config=config))])
    t.envelope(ROOT, {"type": "root/agentsChanged", "agents": [NEEDY]})
    t.envelope(ROOT, {"type": "root/activeSessionsChanged", "activeSessions": 2})
    t.envelope(ROOT, {"type": "root/configChanged", "config": {"mode": "b"}})
    config = {"schema": SCHEMA, "values": {"mode": "b", "other": 1}}
    t.handshake("B", snapshots=[t.snapshot(ROOT, root(agents=[NEEDY], activeSessions=2, config=config))])


@folds.good("AHP-ROOT-009")
def a_config_that_is_not_there_stays_away(t: Trace) -> None:
    root_after(t, {"type": "root/configChanged", "config": {"mode": "b"}})


# -- sessions -----------------------------------------------------------------------------------------


@folds.bad("AHP-SESS-030")
def a_title_is_not_kept(t: Trace) -> None:
    session_after(t, {"type": "session/titleChanged", "title": "New"})


@folds.bad("AHP-SESS-031")
def a_session_stays_read(t: Trace) -> None:
    session_after(t, {"type": "session/isReadChanged", "isRead": False}, before={"status": 33})


@folds.bad("AHP-SESS-032")
def a_session_is_not_archived(t: Trace) -> None:
    session_after(t, {"type": "session/isArchivedChanged", "isArchived": True})


@folds.bad("AHP-SESS-033")
def an_activity_is_not_cleared(t: Trace) -> None:
    session_after(t, {"type": "session/activityChanged"}, before={"activity": "Reading"})


@folds.bad("AHP-SESS-034")
def a_value_is_not_kept(t: Trace) -> None:
    before = {"config": {"schema": SCHEMA, "values": {"mode": "a"}}}
    session_after(t, {"type": "session/configChanged", "config": {"mode": "b"}}, before=before)


@folds.bad("AHP-SESS-035")
def tools_are_merged(t: Trace) -> None:
    action = {"type": "session/serverToolsChanged", "tools": [{"name": "b"}]}
    session_after(t, action, before={"serverTools": [{"name": "a"}]}, serverTools=[{"name": "a"}, {"name": "b"}])


@folds.bad("AHP-CHAT-024")
def a_default_chat_is_not_kept(t: Trace) -> None:
    chats = [*calm_session()["chats"], {**calm_session()["chats"][0], "resource": OTHER}]
    session_after(t, {"type": "session/defaultChatChanged", "defaultChat": OTHER}, before={"chats": chats})


@folds.bad("AHP-CHAT-040")
def an_added_chat_is_not_there(t: Trace) -> None:
    summary = {**calm_session()["chats"][0], "resource": OTHER}
    session_after(t, {"type": "session/chatAdded", "summary": summary})


@folds.bad("AHP-SESS-006", versions=("0.6.0",))
@folds.bad("AHP-SESS-101", versions=("0.9.0",))
def a_failure_is_not_kept(t: Trace) -> None:
    session_after(t, FAILURE, before={"lifecycle": "creating"})


@folds.bad("AHP-WD-104", versions=ROOTS)
def a_directory_is_there_twice(t: Trace) -> None:
    action = {"type": "session/workingDirectorySet", "directory": "file:///a"}
    names = ["file:///a", "file:///a"]
    session_after(t, action, before={"workingDirectories": ["file:///a"]}, workingDirectories=names)


@folds.bad("AHP-WD-106", versions=("0.8.0", "0.9.0"))
def a_directory_is_replaced_at_the_end(t: Trace) -> None:
    action = {"type": "session/workingDirectoryReplaced", "directory": "file:///a", "replacement": "file:///c"}
    names = ["file:///b", "file:///c"]
    session_after(t, action, before={"workingDirectories": ["file:///a", "file:///b"]}, workingDirectories=names)


@folds.bad("AHP-ACTC-001")
def tools_of_a_client_are_not_replaced(t: Trace) -> None:
    action = {"type": "session/activeClientSet", "activeClient": client("x", "new")}
    session_after(t, action, before={"activeClients": [client("x", "old")]})


@folds.bad("AHP-ACTC-003")
def a_client_does_not_go(t: Trace) -> None:
    action = {"type": "session/activeClientRemoved", "clientId": "x"}
    session_after(t, action, before={"activeClients": [client("x"), client("y")]})


@folds.bad("AHP-ACTC-011")
def another_client_goes_along(t: Trace) -> None:
    action = {"type": "session/activeClientRemoved", "clientId": "x"}
    session_after(t, action, before={"activeClients": [client("x"), client("y")]}, activeClients=[])


@folds.good(
    "AHP-ACTC-001",
    "AHP-ACTC-003",
    "AHP-ACTC-011",
    "AHP-CHAT-024",
    "AHP-CHAT-040",
    "AHP-SESS-030",
    "AHP-SESS-031",
    "AHP-SESS-032",
    "AHP-SESS-033",
    "AHP-SESS-034",
    "AHP-SESS-035",
)
def a_session_that_changes(t: Trace) -> None:
    summary = {**calm_session()["chats"][0], "resource": OTHER}
    config = {"schema": SCHEMA, "values": {"mode": "a", "other": 1}}
    t.follow(chat=None, session=calm_session(config=config, activeClients=[client("x"), client("y")]))
    for action in (
        {"type": "session/titleChanged", "title": "New"},
        {"type": "session/isReadChanged", "isRead": True},
        {"type": "session/isArchivedChanged", "isArchived": True},
        {"type": "session/activityChanged", "activity": "Reading"},
        {"type": "session/configChanged", "config": {"mode": "b"}},
        {"type": "session/serverToolsChanged", "tools": [{"name": "b"}]},
        {"type": "session/chatAdded", "summary": summary},
        {"type": "session/defaultChatChanged", "defaultChat": OTHER},
        {"type": "session/activeClientSet", "activeClient": client("z", "t")},
        {"type": "session/activeClientRemoved", "clientId": "x"},
    ):
        t.envelope(SESSION, action)
    after = {"title": "New", "status": 65, "activity": "Reading", "defaultChat": OTHER, "serverTools": [{"name": "b"}]}
    after["config"] = {"schema": SCHEMA, "values": {"mode": "b", "other": 1}}
    after["activeClients"] = [client("y"), client("z", "t")]
    after["chats"] = [*calm_session()["chats"], summary]
    # A turn that began meanwhile has made it unread.
    t.follow("B", chat=None, session=calm_session(**after))


@folds.good("AHP-SESS-006", versions=("0.6.0",))
def a_failure_before_0_9_0(t: Trace) -> None:
    after = {"lifecycle": "creationFailed", "creationError": FAILURE["error"]}
    session_after(t, FAILURE, before={"lifecycle": "creating"}, **after)


@folds.good("AHP-SESS-101", versions=("0.9.0",))
def a_failure_since_0_9_0(t: Trace) -> None:
    session_after(t, FAILURE, before={"lifecycle": "creating"}, lifecycle="failed", creationError=FAILURE["error"])


@folds.good("AHP-WD-104", versions=ROOTS)
def directories_come_and_go(t: Trace) -> None:
    t.follow(chat=None, session=calm_session(workingDirectories=["file:///a"]))
    t.envelope(SESSION, {"type": "session/workingDirectorySet", "directory": "file:///a"})
    t.envelope(SESSION, {"type": "session/workingDirectoryRemoved", "directory": "file:///x"})
    t.follow("B", chat=None, session=calm_session(workingDirectories=["file:///a"]))


@folds.good("AHP-WD-106", versions=("0.8.0", "0.9.0"))
def a_directory_is_replaced_at_its_place(t: Trace) -> None:
    action = {"type": "session/workingDirectoryReplaced", "directory": "file:///a", "replacement": "file:///c"}
    names = ["file:///c", "file:///b"]
    session_after(t, action, before={"workingDirectories": ["file:///a", "file:///b"]}, workingDirectories=names)


# -- chats --------------------------------------------------------------------------------------------


@folds.bad("AHP-CHAT-026")
def an_activity_of_a_chat_is_not_kept(t: Trace) -> None:
    chat_after(t, {"type": "chat/activityChanged", "activity": "Reading"})


@folds.bad("AHP-CHAT-138", versions=("1.0.0",))
def a_chat_is_not_archived(t: Trace) -> None:
    chat_after(t, {"type": "chat/isArchivedChanged", "isArchived": True})


@folds.good("AHP-CHAT-026")
def an_activity_of_a_chat(t: Trace) -> None:
    chat_after(t, {"type": "chat/activityChanged", "activity": "Reading"}, activity="Reading")


@folds.good("AHP-CHAT-138", versions=("1.0.0",))
def a_chat_is_archived(t: Trace) -> None:
    chat_after(t, {"type": "chat/isArchivedChanged", "isArchived": True}, status=65)


@found(folds)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(folds)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
