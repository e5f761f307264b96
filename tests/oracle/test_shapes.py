"""Values of the wrong shape, and whose obligation each breaks."""

from __future__ import annotations

from tests.protocol.examples import CHAT, auth, server

from .channels import life
from .traces import (
    DONE,
    JSON,
    ROOT,
    SESSION,
    STARTED,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    ends,
    entry,
    fails,
    finished,
    found,
    idle_chat,
    lists,
    part_of,
    ready,
    root,
    starts,
    working_chat,
)

shapes = Cases("shapes")

SUMMARY = {
    "resource": SESSION,
    "provider": "p",
    "title": "S",
    "status": 1,
    "createdAt": STARTED,
    "modifiedAt": STARTED,
}
RESOURCE = {"resource": "https://vault.example/mcp"}


def less(value: JSON, *names: str) -> JSON:
    return {name: member for name, member in value.items() if name not in names}


def session_of(t: Trace, **members: JSON) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(**members))


def chat_of(t: Trace, state: JSON) -> None:
    t.handshake()
    t.subscribe(CHAT, state)


def tell_of(t: Trace, method: str, **params: JSON) -> None:
    t.handshake()
    t.tell(method, **params)


def says(t: Trace, channel: str, action: JSON) -> None:
    """The host says something in a session whose chat is working, to one who knows no fold of it."""
    t.follow()
    t.envelope(channel, action)


# -- snapshots ----------------------------------------------------------------------------------------


@shapes.bad("AHP-SESS-008", "AHP-SUB-003")
def a_session_without_active_clients(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, less(calm_session(), "activeClients"))


@shapes.bad("AHP-SESS-008", "AHP-SUB-003")
def a_session_without_chats(t: Trace) -> None:
    """Nothing but its URI tells that this is a session."""
    t.handshake()
    t.subscribe(SESSION, less(calm_session(), "chats"))


@shapes.bad("AHP-STAT-001", "AHP-SUB-003")
def idle_and_in_progress_at_once(t: Trace) -> None:
    session_of(t, status=9)


@shapes.bad("AHP-ACTC-012", "AHP-SUB-003")
def an_active_client_without_tools(t: Trace) -> None:
    session_of(t, activeClients=[{"clientId": "phone"}])


@shapes.bad("AHP-CHAT-049", "AHP-SUB-003")
def a_catalogue_of_bare_uris(t: Trace) -> None:
    session_of(t, chats=[{"resource": CHAT}])


@shapes.bad("AHP-MCP-001", "AHP-SUB-003")
def a_server_without_state(t: Trace) -> None:
    session_of(t, customizations=[less(server(), "state")])


@shapes.bad("AHP-MCPS-002", "AHP-SUB-003")
def a_server_state_that_is_a_string(t: Trace) -> None:
    session_of(t, customizations=[{**server(), "state": "ready"}])


@shapes.bad("AHP-MCPS-002", "AHP-SUB-003")
def a_server_in_a_plugin_waits_without_saying_for_what(t: Trace) -> None:
    state = calm_session()
    state["customizations"][1]["children"][0]["state"] = {"kind": "authRequired"}
    t.handshake()
    t.subscribe(SESSION, state)


@shapes.bad("AHP-INNEED-002", "AHP-SUB-003")
def a_list_of_needs_that_is_none(t: Trace) -> None:
    session_of(t, inputNeeded={})


@shapes.bad("AHP-INPUT-029", "AHP-SUB-003", versions=("0.6.0", "0.8.0"))
def an_entry_of_an_invented_kind(t: Trace) -> None:
    session_of(t, inputNeeded=[{"id": "n", "chat": CHAT, "kind": "mood"}], status=24)


@shapes.bad("AHP-TOOLAUTH-023", "AHP-SUB-003")
def an_entry_with_the_call_before_its_challenge(t: Trace) -> None:
    session_of(t, inputNeeded=[auth_entry(toolCall=a_call("running"))], status=24)


@shapes.bad("AHP-INPUT-019", "AHP-SUB-003")
def a_running_call_is_presented_for_confirmation(t: Trace) -> None:
    session_of(t, inputNeeded=[entry("toolConfirmation", toolCall=a_call("running"))], status=24)


@shapes.bad("AHP-INPUT-017", "AHP-SUB-003")
def a_client_execution_for_nobody(t: Trace) -> None:
    """input-entries has something to say of it only when the call does not run."""
    status = 24 if t.version < "0.8.0" else 8
    session_of(t, inputNeeded=[less(entry("toolClientExecution"), "turnId")], status=status)


@shapes.bad("AHP-CHAT-001", "AHP-SUB-003")
def a_chat_without_a_title(t: Trace) -> None:
    chat_of(t, less(idle_chat(), "title"))


@shapes.bad("AHP-CHAT-035", "AHP-SUB-003")
def a_chat_that_needs_input_as_16(t: Trace) -> None:
    chat_of(t, idle_chat(status=16))


@shapes.bad("AHP-TURN-040", "AHP-SUB-003")
def a_stored_turn_without_parts(t: Trace) -> None:
    chat_of(t, idle_chat(turns=[less(finished(), "responseParts")]))


@shapes.bad("AHP-TOOL-029", "AHP-SUB-003")
def a_running_call_without_confirmed(t: Trace) -> None:
    chat_of(t, working_chat(part_of(less(a_call("running"), "confirmed"))))


@shapes.bad("AHP-TOOLAUTH-062", "AHP-SUB-003")
def a_challenge_with_a_bare_url(t: Trace) -> None:
    call = {**a_call("auth-required"), "auth": {"reason": "required", "resource": "https://vault.example"}}
    chat_of(t, working_chat(part_of(call), status=24))


@shapes.bad("AHP-TOOLAUTH-063", "AHP-SUB-003")
def a_blocked_call_without_contributor(t: Trace) -> None:
    chat_of(t, working_chat(part_of(less(a_call("auth-required"), "contributor")), status=24))


@shapes.bad("AHP-ROOT-001", "AHP-SUB-003")
def an_agent_without_models(t: Trace) -> None:
    agent = {"provider": "p", "displayName": "P", "description": "An agent"}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])


@shapes.bad("AHP-TERM-037", "AHP-SUB-003")
def a_terminal_in_a_path(t: Trace) -> None:
    t.handshake()
    t.subscribe(
        "ahp-terminal:/t",
        {"title": "T", "content": [], "claim": {"kind": "client", "clientId": "A"}, "cwd": "/", **life(t.version)},
    )


# -- actions ------------------------------------------------------------------------------------------


@shapes.bad("AHP-TOOLAUTH-062")
def scopes_as_one_string(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running()
    t.envelope(CHAT, about("AuthRequired", auth={**auth(), "requiredScopes": "a b"}))


@shapes.bad("AHP-TOOL-014")
def a_result_without_words(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.running()
    t.envelope(CHAT, about("Complete", result={"success": False}))


@shapes.bad("AHP-TOOL-020")
def a_ready_call_without_words(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(part_of(a_call("streaming"))))
    t.envelope(CHAT, less(ready(), "invocationMessage"))


@shapes.bad("AHP-TURN-026")
def a_start_without_its_time(t: Trace) -> None:
    says(t, CHAT, less(starts(), "startedAt"))


@shapes.bad("AHP-TURN-026")
def a_duration_as_text(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, {**ends(), "duration": "5 s"})


@shapes.bad("AHP-TURN-038", versions=("0.6.0",))
def an_error_as_a_bare_string(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, {**fails(t.version), "error": "gone"})


@shapes.bad("AHP-CHAT-101", versions=("0.9.0",))
def an_error_in_the_old_shape(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, fails("0.6.0"))


@shapes.bad("AHP-CHAT-049")
def an_announced_chat_without_its_summary(t: Trace) -> None:
    says(t, SESSION, {"type": "session/chatAdded", "summary": {"resource": "ahp-chat:/new"}})


@shapes.bad("AHP-MCPS-002")
def a_server_goes_wrong_without_an_error(t: Trace) -> None:
    says(t, SESSION, {"type": "session/mcpServerStateChanged", "id": "vault", "state": {"kind": "error"}})


@shapes.bad("AHP-ACTC-012")
def a_client_is_set_without_tools(t: Trace) -> None:
    says(t, SESSION, {"type": "session/activeClientSet", "activeClient": {"clientId": "A"}})


@shapes.bad("AHP-INPUT-029")
def an_entry_is_set_without_its_request(t: Trace) -> None:
    says(t, SESSION, lists({"id": "n", "chat": CHAT, "kind": "chatInput"}))


@shapes.bad("AHP-TOOLAUTH-023")
def an_entry_is_set_without_its_challenge(t: Trace) -> None:
    says(t, SESSION, lists(auth_entry(toolCall=less(a_call("auth-required"), "auth"))))


@shapes.bad("AHP-SEQ-003")
def any_other_malformed_action(t: Trace) -> None:
    says(t, SESSION, {"type": "session/titleChanged", "title": 5})


@shapes.bad("AHP-DISP-001")
def a_malformed_action_of_a_client_is_relayed(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {"type": "session/titleChanged", "title": 5})


# -- results, errors, notifications -------------------------------------------------------------------


@shapes.bad("AHP-INIT-003")
def a_handshake_without_a_version(t: Trace) -> None:
    t.handshake(protocolVersion=...)


@shapes.bad("AHP-INIT-003")
def a_handshake_without_snapshots(t: Trace) -> None:
    t.handshake(snapshots=...)


@shapes.bad("AHP-INIT-003")
def a_handshake_answered_with_null(t: Trace) -> None:
    t.call("initialize", None, protocolVersions=[t.version], clientId="client-A")


@shapes.bad("AHP-INIT-016")
def a_host_named_by_a_string(t: Trace) -> None:
    t.handshake(serverInfo="host")


@shapes.bad("AHP-INIT-022")
def a_directory_as_a_path(t: Trace) -> None:
    t.handshake(defaultDirectory="/home/me")


@shapes.bad("AHP-INIT-024")
def triggers_in_one_string(t: Trace) -> None:
    t.handshake(completionTriggerCharacters="@/")


@shapes.bad("AHP-INIT-025")
def a_prefix_that_is_true(t: Trace) -> None:
    t.handshake(terminalCommandPrefix=True)


@shapes.bad("AHP-PING-001")
def a_ping_answered_with_an_object(t: Trace) -> None:
    t.handshake()
    t.call("ping", {})


@shapes.bad("AHP-RPC-018")
def a_snapshot_without_its_number(t: Trace) -> None:
    t.handshake()
    t.call("subscribe", {"snapshot": {"resource": CHAT, "state": idle_chat()}}, channel=CHAT)


@shapes.bad("AHP-RECON-002")
def a_replay_without_missing(t: Trace) -> None:
    t.follow()
    t.close()
    t.reconnect("B", "client-A", 0, [SESSION], {"type": "replay", "actions": []})


@shapes.bad("AHP-LIST-001")
def a_list_under_another_name(t: Trace) -> None:
    t.handshake()
    t.call("listSessions", {"sessions": []})


@shapes.bad("AHP-AUTH-008")
def a_demand_for_a_token_without_its_resource(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("createSession", channel="ahp-session:/x"), -32007)


@shapes.bad("AHP-INIT-005")
def versions_under_another_name(t: Trace) -> None:
    t.error(t.ask("initialize", protocolVersions=["9.9.9"], clientId="A"), -32005, data={"versions": ["0.9.0"]})


@shapes.bad("AHP-ROOT-012")
def a_summary_without_provider(t: Trace) -> None:
    tell_of(t, "root/sessionAdded", summary=less(SUMMARY, "provider"))


@shapes.bad("AHP-ROOT-016")
def a_change_to_a_wrong_type(t: Trace) -> None:
    tell_of(t, "root/sessionSummaryChanged", session=SESSION, changes={"title": 5})


@shapes.bad("AHP-PROG-007")
def progress_in_percent(t: Trace) -> None:
    tell_of(t, "root/progress", progressToken="p", progress="50 %")


@shapes.bad("AHP-AUTH-016", "AHP-AUTH-025", "AHP-VER-002", versions=("0.6.0",))
def a_resource_as_an_object_before_its_time(t: Trace) -> None:
    tell_of(t, "auth/required", resource=RESOURCE)


@shapes.bad("AHP-AUTH-016", "AHP-AUTH-101", versions=("0.9.0",))
def a_resource_still_as_a_string(t: Trace) -> None:
    tell_of(t, "auth/required", resource="https://vault.example/mcp")


# -- right hosts --------------------------------------------------------------------------------------


@shapes.good(
    "AHP-SESS-008", "AHP-STAT-001", "AHP-ACTC-012", "AHP-CHAT-049", "AHP-MCP-001", "AHP-MCPS-002", "AHP-SUB-003"
)
def a_session(t: Trace) -> None:
    session_of(t)


@shapes.good("AHP-INPUT-029", "AHP-INPUT-017", "AHP-INPUT-019", "AHP-TOOLAUTH-023")
def a_session_that_waits_for_everything(t: Trace) -> None:
    kinds = ("chatInput", "toolConfirmation", "toolClientExecution")
    entries = [entry(kind, f"n-{kind}", **({} if kind == "chatInput" else {"turnId": kind})) for kind in kinds]
    session_of(t, inputNeeded=[*entries, auth_entry()], status=24)


@shapes.good("AHP-CHAT-001", "AHP-CHAT-035", "AHP-TURN-040", "AHP-TOOL-029", "AHP-TOOLAUTH-062", "AHP-TOOLAUTH-063")
def a_chat_with_calls_in_every_status(t: Trace) -> None:
    statuses = ("streaming", "pending-confirmation", "running", "auth-required", "completed", "cancelled")
    parts = [part_of(a_call(status, f"call-{status}")) for status in statuses]
    chat_of(t, working_chat(*parts, status=24, turns=[finished(identity="earlier")]))


@shapes.good("AHP-ROOT-001")
def a_root_with_an_agent(t: Trace) -> None:
    model = {"id": "m", "provider": "p", "name": "M"}
    agent = {"provider": "p", "displayName": "P", "description": "An agent", "models": [model]}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[agent]))])


@shapes.good("AHP-INIT-003", "AHP-INIT-016", "AHP-INIT-022", "AHP-INIT-024", "AHP-INIT-025")
def a_handshake_that_tells_everything(t: Trace) -> None:
    t.handshake(
        serverInfo={"name": "host"},
        defaultDirectory="file:///home/me",
        completionTriggerCharacters=["@"],
        terminalCommandPrefix="!",
    )


@shapes.good("AHP-TOOL-014", "AHP-TOOL-020", "AHP-TURN-026", "AHP-SEQ-003", "AHP-TOOLAUTH-062")
def a_turn(t: Trace) -> None:
    t.follow(chat=idle_chat())
    t.envelope(CHAT, starts())
    t.blocked()
    t.unblocked()
    t.envelope(CHAT, about("Complete", result=DONE))
    t.envelope(CHAT, ends())
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "New"})


@shapes.good("AHP-TURN-038", versions=("0.6.0",))
def an_error_before_it_was_a_part(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, fails(t.version))


@shapes.good("AHP-CHAT-101", versions=("0.9.0",))
def an_error_as_a_part(t: Trace) -> None:
    t.follow(session=None, chat=working_chat())
    t.envelope(CHAT, fails(t.version))


@shapes.good("AHP-DISP-001")
def a_malformed_action_of_a_client_is_refused(t: Trace) -> None:
    t.follow()
    t.echo(SESSION, {"type": "session/titleChanged", "title": 5}, rejected="title must be text")


@shapes.good("AHP-AUTH-008", "AHP-INIT-005", "AHP-LIST-001", "AHP-PING-001", "AHP-RPC-018")
def answers_of_all_sorts(t: Trace) -> None:
    t.error(
        t.ask("initialize", protocolVersions=["9.9.9"], clientId="A"), -32005, data={"supportedVersions": ["^0.9.0"]}
    )
    t.handshake()
    t.call("listSessions", {"items": [SUMMARY]})
    t.error(t.ask("createSession", channel="ahp-session:/x"), -32007, data={"resources": [RESOURCE]})
    t.call("createSession", channel="ahp-session:/y")
    t.ping()


@shapes.good(versions=("0.6.0", "0.9.0"))
def a_refused_version_without_data(t: Trace) -> None:
    """A-02: until 1.0.0 the data are optional."""
    t.error(t.ask("initialize", protocolVersions=["9.9.9"], clientId="A"), -32005)


@shapes.good("AHP-ROOT-012", "AHP-ROOT-016", "AHP-PROG-007", "AHP-AUTH-016")
def notifications(t: Trace) -> None:
    t.handshake()
    t.tell("root/sessionAdded", summary=SUMMARY)
    t.tell("root/sessionSummaryChanged", session=SESSION, changes={"status": 97})
    t.tell("root/progress", progressToken="p", progress=0.5)
    t.tell("auth/required", resource="https://x" if t.version < "0.8.0" else RESOURCE, reason="expired")


@shapes.good("AHP-AUTH-025", versions=("0.6.0",))
def a_resource_as_a_string(t: Trace) -> None:
    tell_of(t, "auth/required", resource="https://vault.example/mcp")


@shapes.good("AHP-AUTH-101", versions=("0.9.0",))
def a_resource_as_an_object(t: Trace) -> None:
    tell_of(t, "auth/required", resource=RESOURCE)


@shapes.good()
def members_of_the_future_and_of_the_hosts_own(t: Trace) -> None:
    t.handshake(mood="good", _meta={"a": 1})
    t.subscribe(SESSION, calm_session(mood="good"))
    t.subscribe(CHAT, idle_chat(mood="good", turns=[finished({"kind": "hologram", "data": 1})]))
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "New", "mood": "good"})


@shapes.good()
def a_replay_is_judged_envelope_by_envelope(t: Trace) -> None:
    """An action of the host's own is none of the reconnect result's shape."""
    t.follow()
    t.close()
    own = [t.params(SESSION, {"type": "x-mood/changed"})]
    t.reconnect("B", "client-A", 0, [SESSION], {"type": "replay", "actions": own, "missing": []})


@shapes.good()
def states_of_kinds_that_nobody_knows(t: Trace) -> None:
    t.handshake()
    t.subscribe("x-mood:/m", {"mood": "good"})


@shapes.good()
def before_the_handshake_no_version_judges(t: Trace) -> None:
    t.ping()
    t.error(t.ask("listSessions"), -32600)


# -- what a later version says otherwise --------------------------------------------------------------


@shapes.bad("AHP-TURN-038", "AHP-VER-002", versions=("0.6.0",))
def an_error_in_the_form_of_0_9_0(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails("0.9.0"))


@shapes.good("AHP-VER-002", versions=("0.6.0",))
def forms_of_the_own_version(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.tell("auth/required", resource=RESOURCE["resource"])
    t.envelope(CHAT, fails("0.6.0"))


@found(shapes)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(shapes)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
