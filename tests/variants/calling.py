"""Other ways in which an agent calls tools, and in which hosts tell of what waits for somebody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.host import auth, mirror
from conformance.host.channels import Channel, Chat, Session
from conformance.host.peers import Peer
from conformance.protocol import reduce

from .hosts import Variant, VariantHost

JSON = Any


class Telling(VariantHost):
    """A host that may say something else in place of a plain action of its own."""

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if origin is not None or callable(action):
            super().act(channel, action, origin)
            return
        for worded in self.instead(channel, action):
            super().act(channel, worded)

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        return [action]


class EntryFirst(VariantHost):
    """The session lists a request before its chat tells of it, and takes it off when all else is said."""

    _CAUSES: Final = frozenset(
        {"chat/toolCallAuthRequired", "chat/toolCallReady", "chat/toolCallComplete", "chat/inputRequested"}
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        self._going: dict[str, list[JSON]] = {}
        super().__init__(*args, **more)

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        kind = "" if callable(action) else action["type"]
        if isinstance(channel, Chat) and origin is None and kind in self._CAUSES:
            self._list_ahead(channel, action)
        elif kind == "session/inputNeededSet":
            self._take_off(channel)
        elif kind == "session/inputNeededRemoved":
            if channel.uri not in self._going:
                self.when_idle(lambda: self._take_off(channel))
            self._going.setdefault(channel.uri, []).append(action)
            return
        super().act(channel, action, origin)

    def _list_ahead(self, chat: Chat, action: JSON) -> None:
        now = dict(chat.folds)
        for version, state in now.items():
            chat.folds[version] = reduce("chat", state, action, version, lambda: state["modifiedAt"])
        before = dict(chat.session.entries)
        gone = [key for key in before if key not in dict(mirror._requests(self, chat)) and key[1] == chat.uri]
        if not gone:
            mirror.sync_entries(self, chat, action["type"])
        chat.folds.update(now)

    def _take_off(self, channel: Channel) -> None:
        for action in self._going.pop(channel.uri, []):
            super().act(channel, action)


class ResolvedAfterTheAnswer(VariantHost):
    _authenticating = False

    def received(self, peer: Peer, message: JSON) -> None:
        self._authenticating = message.get("method") == "authenticate"
        super().received(peer, message)

    def answer(self, peer: Peer, message: JSON) -> None:
        self._authenticating = False
        super().answer(peer, message)

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        if self._authenticating:
            self.later(lambda: super(ResolvedAfterTheAnswer, self).act(channel, action, origin))
        else:
            super().act(channel, action, origin)


class ResolvesInReverse(VariantHost):
    """The last call first, and each of the others when the one before has gone on as far as it can."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        setattr(self.policy, "released", self._one_by_one)  # noqa: B010

    def _one_by_one(self, host: Any, blocks: list[auth.Block]) -> list[auth.Block]:
        for block in blocks[-2::-1]:
            self.when_idle(lambda block=block: auth._resolve(self, block) if block.live else None)  # type: ignore[misc]
        return blocks[-1:]


class PrefixedTools(Telling):
    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "chat/toolCallStart" and action.get("contributor", {}).get("kind") == "mcp":
            assert isinstance(channel, Chat)
            server = channel.session.server_by_id(action["contributor"]["customizationId"])
            name = f"mcp_{server.name if server else ''}_{action['toolName']}"
            action = {**action, "toolName": name, "displayName": f"{action['toolName']} (MCP)"}
        return super().instead(channel, action)


class Markdown(Telling):
    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        changed = dict(action)
        if isinstance(changed.get("invocationMessage"), str):
            changed["invocationMessage"] = {"markdown": f"**{changed['invocationMessage']}**"}
        result = changed.get("result")
        if isinstance(result, dict) and isinstance(result.get("pastTenseMessage"), str):
            changed["result"] = {**result, "pastTenseMessage": {"markdown": result["pastTenseMessage"]}}
        return super().instead(channel, changed)


class Terse(Telling):
    """No streamed arguments, no input shown where nobody may edit it, no options, no titles."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "chat/toolCallDelta":
            return []
        if action["type"] == "chat/toolCallReady":
            dropped = {"options", "confirmationTitle"}
            if not action.get("editable"):
                dropped |= {"toolInput", "editable"}
            action = {name: value for name, value in action.items() if name not in dropped}
        return super().instead(channel, action)


class Chatty(Telling):
    """Usage, activities, _meta and a title at moments of its own choice."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        turn = action.get("turnId")
        if action["type"] == "chat/toolCallReady":
            usage = {"inputTokens": 7, "outputTokens": 3}
            told = [{"type": "chat/usage", "turnId": turn, "usage": usage}, *told]
            told.append({"type": "chat/activityChanged", "activity": "Running a tool"})
        elif action["type"] == "chat/toolCallAuthRequired":
            told = [{"type": "chat/activityChanged", "activity": "Waiting for you"}, *told]
            told.append({"type": "chat/usage", "turnId": turn, "usage": {"inputTokens": 8, "outputTokens": 3}})
        elif action["type"] == "chat/turnComplete":
            told.append({"type": "chat/activityChanged"})
        return told

    def accepted(self, peer: Peer, channel: Channel, action: JSON) -> None:
        super().accepted(peer, channel, action)
        if isinstance(channel, Chat) and action["type"] == "chat/turnStarted":
            session = channel.session
            self.act(session, {"type": "session/activityChanged", "activity": "Thinking"})
            self.act(session, {"type": "session/metaChanged", "_meta": {"turns": action["turnId"]}})
            self.act(self.root, {"type": "root/agentsChanged", "agents": self.root.state["agents"]})
            if session.state["title"] == "New session":
                self.act(session, {"type": "session/titleChanged", "title": action["message"]["text"][:40]})
            self.when_idle(lambda: self._calm_down(session))

    def _calm_down(self, session: Session) -> None:
        if not session.disposed:
            self.act(session, {"type": "session/activityChanged"})
            self.act(session, {"type": "session/metaChanged", "_meta": {"x": 1}})


class AsksForClientTools(Telling):
    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "chat/toolCallReady" and isinstance(channel, Chat):
            call = channel.call(action["turnId"], action["toolCallId"]) or {}
            if call.get("contributor", {}).get("kind") == "client":
                action = {name: value for name, value in action.items() if name != "confirmed"}
        return super().instead(channel, action)


class SetsEntriesTwice(Telling):
    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        return [*told, *told] if action["type"] == "session/inputNeededSet" else told


class SaysThingsTwice(Telling):
    """That a call is ready, and what state a server is in, is said twice."""

    _TWICE: Final = frozenset({"chat/toolCallReady", "session/mcpServerStateChanged"})

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        return [*told, *told[-1:]] if action["type"] in self._TWICE else told


class WholeLists(Telling):
    """Customizations are told as the whole list each time."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "session/customizationUpdated":
            entry = action["customization"]
            others = [c for c in channel.state.get("customizations", ()) if c["id"] != entry["id"]]
            action = {"type": "session/customizationsChanged", "customizations": [*others, entry]}
        return super().instead(channel, action)


class SetsEntriesOnce(Telling):
    """An entry shows its request as it was when it was listed."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        if action["type"] != "session/inputNeededSet":
            return told
        listed = [entry["id"] for entry in channel.state.get("inputNeeded") or []]
        return [] if action["request"]["id"] in listed else told


class StartsAgain(Telling):
    """A server that gets its token is started anew."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        if action["type"] == "session/mcpServerStateChanged" and action["state"]["kind"] == "ready":
            assert isinstance(channel, Session)
            server = channel.server_by_id(action["id"])
            if server is not None and channel.server_state(server) == "authRequired":
                told = [{**action, "state": {"kind": "starting"}}, *told]
        return told


class ServersHaveChannels(Telling):
    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "session/mcpServerStateChanged" and action["state"]["kind"] == "ready":
            action = {**action, "channel": f"mcp://{action['id']}"}
        elif action["type"] == "session/customizationUpdated" and action["customization"]["type"] == "mcpServer":
            # Only a capability set gives reason for a channel.
            app: JSON = {"capabilities": {"serverTools": {}}}
            action = {**action, "customization": {**action["customization"], "mcpApp": app}}
        return super().instead(channel, action)


class ResolvesBeforeItFails(Telling):
    """A blocked call that its host gives up is told as resolved first."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        told = super().instead(channel, action)
        if action["type"] == "chat/toolCallComplete" and isinstance(channel, Chat):
            call = channel.call(action["turnId"], action["toolCallId"]) or {}
            if call.get("status") == "auth-required":
                names = {name: action[name] for name in ("turnId", "toolCallId")}
                told = [{"type": "chat/toolCallAuthResolved", **names}, *told]
        return told


class ServerAndCall(VariantHost):
    """Each challenge of a call is one of its server too, until no call of it waits."""

    def act(self, channel: Channel, action: Any, origin: JSON | None = None) -> None:
        kind = "" if callable(action) else action["type"]
        if isinstance(channel, Chat) and kind == "chat/toolCallAuthRequired":
            server = self._server(channel, action)
            state = {"kind": "authRequired", **action["auth"]}
            super().act(channel.session, {"type": "session/mcpServerStateChanged", "id": server, "state": state})
        super().act(channel, action, origin)
        if isinstance(channel, Chat) and kind.startswith(("chat/toolCall", "chat/turn", "chat/error", "chat/trunc")):
            self._calm(channel.session)

    def _server(self, chat: Chat, action: JSON) -> str:
        call = chat.call(action["turnId"], action["toolCallId"])
        return str((call or {})["contributor"]["customizationId"])

    def _calm(self, session: Session) -> None:
        waiting = {
            call["contributor"]["customizationId"]
            for chat in session.chats.values()
            for call in chat.calls()
            if call["status"] == "auth-required"
        }
        for server in session.servers.values():
            own = any(block.server is server for block in self.vault.all())
            if server.id not in waiting and not own and session.server_state(server) == "authRequired":
                ready = {"type": "session/mcpServerStateChanged", "id": server.id, "state": {"kind": "ready"}}
                super().act(session, ready)


class NestedServers(Telling):
    """Every MCP server is the child of a plugin."""

    def instead(self, channel: Channel, action: JSON) -> list[JSON]:
        if action["type"] == "session/customizationUpdated" and isinstance(channel, Session):
            entry = action["customization"]
            known = next((c for c in channel.state.get("customizations", ()) if c["type"] == "plugin"), None)
            if entry["type"] == "mcpServer":
                children = [*(known or {}).get("children", ()), entry]
                plugin = {
                    "type": "plugin",
                    "id": (known or {}).get("id") or self.mint("plugin"),
                    "uri": "plugin:/all-servers",
                    "name": "All servers",
                    "enabled": True,
                    "children": children,
                }
                action = {**action, "customization": plugin}
        return super().instead(channel, action)


class NoStartAndStop(VariantHost):
    """Clients may not start or stop MCP servers."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        may: Callable[[str, str], bool] = self.policy.may_dispatch
        refused = ("session/mcpServerStartRequested", "session/mcpServerStopRequested")
        setattr(self.policy, "may_dispatch", lambda kind, version: kind not in refused and may(kind, version))  # noqa: B010


class StoppedServersLeave(VariantHost):
    """A server that a client stopped is taken off the list."""

    def accepted(self, peer: Peer, channel: Channel, action: JSON) -> None:
        super().accepted(peer, channel, action)
        if isinstance(channel, Session) and action["type"] == "session/mcpServerStopRequested":
            server = channel.server_by_id(action["id"])
            if server is not None:
                del channel.servers[server.name]
                self.act(channel, {"type": "session/customizationRemoved", "id": server.id})


class LooseScopes(VariantHost):
    """A token whose scopes do not reach is taken; its call goes on waiting."""

    def answer(self, peer: Peer, message: JSON) -> None:
        if self.method_of(peer, message) == "authenticate" and message.get("error", {}).get("code") == -32007:
            params = self.params_of(peer, message)
            if isinstance(params, dict) and params.get("scopes") is not None:
                message = {"jsonrpc": "2.0", "id": message["id"], "result": {}}
        super().answer(peer, message)


CALLING: Final = (
    Variant(
        "entry-first",
        "An entry is listed before its chat tells of the request, and taken off when all else is said.",
        "AMB-17: the order of a chat action and its entry is not said.",
        EntryFirst,
    ),
    Variant(
        "resolved-after-the-answer",
        "Calls and servers are resumed only after the answer to authenticate.",
        "AMB-22: the order of the answer and the resumption is not said.",
        ResolvedAfterTheAnswer,
    ),
    Variant(
        "resolves-in-reverse",
        "Of several calls that a token serves the last is resumed first, the next when that one is through.",
        "AMB-19: in any order.",
        ResolvesInReverse,
    ),
    Variant(
        "prefixed-tools",
        "Tools of MCP servers are named after their server.",
        "toolName is the agent's internal name; hosts tell equal names of servers apart.",
        PrefixedTools,
    ),
    Variant(
        "markdown",
        "Messages about calls are objects with markdown.",
        "StringOrMarkdown: either form.",
        Markdown,
    ),
    Variant(
        "terse",
        "Calls start without streamed arguments, and show no input, options or titles that they need not show.",
        "toolCallDelta is optional, as are those members of toolCallReady.",
        Terse,
    ),
    Variant(
        "chatty",
        "Usage, activities, _meta and a title come at odd moments.",
        "Each is an action that hosts may dispatch at any time.",
        Chatty,
    ),
    Variant(
        "asks-for-client-tools",
        "Calls of client tools wait for a confirmation before they run.",
        "The host decides which calls need one; VS Code asks for client tools.",
        AsksForClientTools,
    ),
    Variant(
        "sets-entries-twice",
        "Every entry is set a second time under the same id.",
        "session/inputNeededSet adds or replaces.",
        SetsEntriesTwice,
    ),
    Variant(
        "says-things-twice",
        "That a call is ready, and what state a server is in, is said twice.",
        "chat/toolCallReady updates a pending or running call; the same state again is no step of a server.",
        SaysThingsTwice,
    ),
    Variant(
        "whole-lists",
        "A new MCP server is told by the whole list of customizations.",
        "session/customizationsChanged replaces the list; which of the two actions a host takes is not said.",
        WholeLists,
    ),
    Variant(
        "sets-entries-once",
        "An entry is not set again when its request changes.",
        "AMB-18: it mirrors the chat at the time it is set; updates are not said.",
        SetsEntriesOnce,
    ),
    Variant(
        "starts-again",
        "A server that waited for a token goes through starting to ready.",
        "guide/mcp.md: the host retries the connection; a further starting on the way is no fault.",
        StartsAgain,
    ),
    Variant(
        "servers-have-channels",
        "A ready server offers a channel, for what its mcpApp advertises.",
        "McpServerCustomization.channel is optional.",
        ServersHaveChannels,
    ),
    Variant(
        "resolves-before-it-fails",
        "A blocked call whose server was stopped is told as resolved, and then as failed.",
        "The life of a call has auth-required to running to completed; stopping ends the wait.",
        ResolvesBeforeItFails,
    ),
    Variant(
        "server-and-call",
        "A challenged call makes its server authRequired too.",
        "AMB-23: the state of the server may change or not.",
        ServerAndCall,
    ),
    Variant(
        "nested-servers",
        "MCP servers are children of a plugin.",
        "guide/customizations.md: containers may hold MCP servers.",
        NestedServers,
    ),
    Variant(
        "no-start-and-stop",
        "Requests of clients to start or stop a server are rejected.",
        "The server MAY refuse; AMB-07 has an echo of either form.",
        NoStartAndStop,
        withholds=(
            "mcp-servers/start-and-stop/",
            "mcp-servers/stopping-a-wait/",
            "tool-authentication/server-of-the-call/",
        ),
    ),
    Variant(
        "stopped-servers-leave",
        "A server that a client stopped is taken off the list; when the agent needs it, it is a new one.",
        "session/customizationRemoved may follow at any time.",
        StoppedServersLeave,
        withholds=("mcp-servers/start-and-stop/", "mcp-servers/stopping-a-wait/"),
    ),
    Variant(
        "loose-scopes",
        "A token whose scopes do not cover the challenge is answered with success, and the call stays blocked.",
        "A-38, AMB-21: refused, or accepted with the block going on.",
        LooseScopes,
    ),
)
