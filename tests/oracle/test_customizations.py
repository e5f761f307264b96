"""Lists of customizations, and the folds of the actions about them."""

from __future__ import annotations

from tests.protocol.examples import server

from .traces import JSON, ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

lists = Cases("customizations")

NEW = ("0.8.0", "0.9.0", "1.0.0")


def plugin(identity: str = "p", *children: JSON, **members: JSON) -> JSON:
    known = {
        "type": "plugin",
        "id": identity,
        "uri": f"https://plugins.example/{identity}",
        "name": "P",
        "enabled": True,
    }
    return known | ({"children": list(children)} if children else {}) | members


def child(identity: str, kind: str = "skill", **members: JSON) -> JSON:
    return {"type": kind, "id": identity, "uri": f"file:///{identity}", "name": identity, **members}


def directory(identity: str = "d", **members: JSON) -> JSON:
    return {**plugin(identity), "type": "directory", "contents": "skill", "writable": True, **members}


def shows(t: Trace, *entries: JSON, **members: JSON) -> None:
    t.follow(session=calm_session(customizations=list(entries), **members), chat=None)


def updates(t: Trace, entry: JSON) -> None:
    t.envelope(SESSION, {"type": "session/customizationUpdated", "customization": entry})


# -- the list by itself -------------------------------------------------------------------------------


@lists.bad("AHP-CUST-006")
def a_child_takes_the_id_of_its_container(t: Trace) -> None:
    shows(t, plugin("p", child("p")))


@lists.bad("AHP-CUST-006")
def an_update_brings_an_id_twice(t: Trace) -> None:
    shows(t, plugin("p", child("s")))
    updates(t, plugin("q", child("s")))


@lists.bad("AHP-CUST-007")
def loaded_and_no_children(t: Trace) -> None:
    shows(t, plugin(load={"kind": "loaded"}))


@lists.bad("AHP-CUST-017")
def no_restriction_as_an_empty_list(t: Trace) -> None:
    shows(t, plugin("p", child("a", "agent", tools=[])))


@lists.bad("AHP-CUST-022")
def a_skill_at_top_level(t: Trace) -> None:
    shows(t, child("s"))


@lists.bad("AHP-CUST-022")
def a_plugin_in_a_directory(t: Trace) -> None:
    shows(t, directory("d", children=[plugin("p")]))


@lists.bad("AHP-CUST-022")
def a_child_says_which_client_it_is_of(t: Trace) -> None:
    shows(t, plugin("p", child("s", clientId="phone")))


@lists.bad("AHP-CUST-022")
def an_agent_brings_a_rule_along(t: Trace) -> None:
    agent = {"provider": "p", "displayName": "P", "description": "An agent", "models": []}
    t.handshake(snapshots=[t.snapshot(ROOT, root(agents=[{**agent, "customizations": [child("r", "rule")]}]))])


@lists.bad("AHP-MCP-029")
def the_command_of_a_server(t: Trace) -> None:
    shows(t, {**server(), "command": "node"})


@lists.bad("AHP-MCP-051")
def one_channel_for_two_servers(t: Trace) -> None:
    shows(t, server("a"), plugin("p", {**server("b"), "channel": "mcp://a"}))


@lists.bad("AHP-MCP-051")
def a_channel_that_another_server_has(t: Trace) -> None:
    starting = {name: value for name, value in server("b", "starting").items() if name != "channel"}
    shows(t, server("a"), starting)
    state: JSON = {"kind": "ready"}
    t.envelope(SESSION, {"type": "session/mcpServerStateChanged", "id": "b", "state": state, "channel": "mcp://a"})


@lists.bad("AHP-MCPS-023")
def a_channel_for_nothing(t: Trace) -> None:
    shows(t, {name: value for name, value in server().items() if name != "mcpApp"})


@lists.good(
    "AHP-CUST-006", "AHP-CUST-007", "AHP-CUST-017", "AHP-CUST-022", "AHP-MCP-029", "AHP-MCP-051", "AHP-MCPS-023"
)
def lists_as_they_should_be(t: Trace) -> None:
    agent = child("a", "agent", tools=["read"])
    shows(
        t, server("one"), plugin("p", agent, server("two"), load={"kind": "loaded"}), {**directory("d"), "children": []}
    )
    updates(t, plugin("q", child("s"), load={"kind": "loading"}))
    updates(t, plugin("r", load={"kind": "error", "message": "no"}))


@lists.good()
def types_of_the_future(t: Trace) -> None:
    """Unknown types anywhere, a capability set that this version does not know, members of the host's own."""
    future = {**server(), "tunnel": {"capabilities": {}}, "command_": 1}
    del future["mcpApp"]
    shows(t, child("x", "canvas"), plugin("p", child("y", "tool")), future)


# -- next to the clients ------------------------------------------------------------------------------


def published(uri: str = "virtual://phone/skills", **members: JSON) -> JSON:
    client: JSON = {"clientId": "phone", "tools": [], "customizations": [plugin("own", uri=uri)]}
    return {"activeClients": [client], **members}


@lists.bad("AHP-CUST-010")
def a_plugin_of_a_client_without_the_client(t: Trace) -> None:
    shows(t, plugin(uri="virtual://phone/skills"), **published())


@lists.bad("AHP-CUST-010")
def a_plugin_of_another_client(t: Trace) -> None:
    shows(t, plugin(uri="virtual://phone/skills", clientId="tablet"), **published())


@lists.good("AHP-CUST-010")
def a_plugin_whose_publisher_has_just_left(t: Trace) -> None:
    """The host takes back its entry when it comes to it; meanwhile it may speak of others."""
    entry = plugin(uri="virtual://skills", clientId="phone")
    shows(t, entry, plugin("q", uri="file:///q"), **published("virtual://skills"))
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "phone"})
    tablet: JSON = {"clientId": "tablet", "tools": [], "customizations": [plugin("own", uri="virtual://skills")]}
    t.envelope(SESSION, {"type": "session/activeClientSet", "activeClient": tablet})
    updates(t, plugin("q", uri="file:///q"))


@lists.bad("AHP-MCP-028")
def a_server_of_a_client_on_its_own(t: Trace) -> None:
    shows(t, {**server(), "uri": "virtual://phone/skills/mcp.json"}, **published())


@lists.good("AHP-CUST-010", "AHP-MCP-028")
def a_plugin_of_its_client(t: Trace) -> None:
    inner = {**server(), "uri": "virtual://phone/skills/mcp.json"}
    shows(t, plugin("p", inner, uri="virtual://phone/skills", clientId="phone"), **published())


@lists.good("AHP-CUST-010")
def what_both_may_have(t: Trace) -> None:
    shows(t, plugin(uri="https://plugins.example/x"), **published("https://plugins.example/x"))


# -- decisions ----------------------------------------------------------------------------------------


def decides(*kinds: str, uri: str = "file:///project") -> JSON:
    return [{"kind": kind, "enabled": True} | ({"uri": uri} if kind == "workspace" else {}) for kind in kinds]


WORK = {"workingDirectories": ["file:///project/", "file:///more"]}


@lists.bad("AHP-CUST-102", versions=NEW)
def from_global_to_session(t: Trace) -> None:
    shows(t, plugin(enablement=decides("global", "session")))


@lists.bad("AHP-CUST-103", versions=NEW)
def two_workspaces(t: Trace) -> None:
    shows(t, plugin(enablement=decides("workspace", "workspace")))


@lists.bad("AHP-CUST-103", versions=NEW)
def another_workspace(t: Trace) -> None:
    shows(t, plugin(enablement=decides("workspace", uri="file:///more")), **WORK)


@lists.good("AHP-CUST-102", "AHP-CUST-103", versions=NEW)
def decisions_in_order(t: Trace) -> None:
    shows(t, plugin(enablement=decides("session", "workspace", "global")), **WORK)
    updates(t, plugin("q", child("s", enablement=[]), enablement=decides("workspace", "global")))


@lists.good(versions=NEW)
def a_client_has_put_them_in_another_order(t: Trace) -> None:
    shows(t, plugin(), **WORK)
    decisions = decides("global", "workspace", uri="file:///more")
    t.echo(SESSION, {"type": "session/customizationToggled", "id": "p", "enablement": decisions})
    updates(t, plugin(enablement=decisions))
    t.envelope(SESSION, {"type": "session/customizationRemoved", "id": "nobody"})


@lists.good(versions=NEW)
def the_session_has_moved(t: Trace) -> None:
    shows(t, plugin(), **WORK)
    t.envelope(SESSION, {"type": "session/workingDirectoryRemoved", "directory": "file:///project/"})
    updates(t, plugin(enablement=decides("workspace")))


@lists.good(versions=("0.6.0",))
def decisions_before_there_were_any(t: Trace) -> None:
    shows(t, plugin(enablement=decides("global", "session")))


@found(lists)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(lists)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
