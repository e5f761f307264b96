"""Small legal values of 0.6.0 to start tests from. Every call makes a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CHAT = "ahp-chat:/c1"
TURN = "turn-1"
CALL = "call-1"
CONTRIBUTORS: dict[str | None, dict[str, Any] | None] = {
    "mcp": {"kind": "mcp", "customizationId": "vault"},
    "client": {"kind": "client", "clientId": "phone"},
    None: None,
}
OPTION = {"id": "always", "label": "Always", "kind": "approve"}
RESULT = {"success": True, "pastTenseMessage": "Read it", "content": [{"type": "text", "text": "result"}]}
FAILURE = {"success": False, "pastTenseMessage": "Gave up", "error": {"message": "no token"}}


def auth() -> dict[str, Any]:
    return {
        "reason": "insufficientScope",
        "resource": {"resource": "https://vault.example/mcp", "authorization_servers": ["https://login.example"]},
        "requiredScopes": ["secrets.read"],
    }


def message(text: str = "hello") -> dict[str, Any]:
    return {"text": text, "origin": {"kind": "user"}}


def call(status: str, contributor: str | None = "mcp") -> dict[str, Any]:
    """A tool call in a status, with every member that the status may have."""
    base: dict[str, Any] = {
        "toolCallId": CALL,
        "toolName": "read_secret",
        "displayName": "Read secret",
        "intention": "to look",
        "_meta": {"origin": "start"},
        "status": status,
    }
    if CONTRIBUTORS[contributor] is not None:
        base["contributor"] = CONTRIBUTORS[contributor]
    if status == "streaming":
        return base | {"partialInput": '{"na', "invocationMessage": "Reading"}
    base |= {"invocationMessage": "Reading", "toolInput": '{"name": "x"}'}
    if status == "pending-confirmation":
        return base | {"confirmationTitle": "Read?", "editable": True, "options": [OPTION]}
    if status == "cancelled":
        return base | {"reason": "denied"}
    base |= {"confirmed": "user-action", "selectedOption": OPTION}
    partial = {"content": [{"type": "text", "text": "partial"}]}
    if status == "running":
        return base | partial
    if status == "auth-required":
        return base | partial | {"auth": auth()}
    return base | RESULT


def waits(part: dict[str, Any]) -> bool:
    """Whether a part of the active turn waits for somebody."""
    if part["kind"] == "toolCall":
        status = part["toolCall"]["status"]
        return status in ("pending-confirmation", "pending-result-confirmation", "auth-required")
    return part["kind"] == "inputRequest" and "response" not in part


def chat(*parts: dict[str, Any], status: int | None = None) -> dict[str, Any]:
    """A chat with one finished turn and an active one that holds these parts; its status follows from them."""
    follows = 24 if any(map(waits, parts)) else 8
    return {
        "resource": CHAT,
        "title": "Chat",
        "status": follows if status is None else status,
        "modifiedAt": "2026-01-01T00:00:00.000Z",
        "turns": [
            {
                "id": "turn-0",
                "startedAt": "2026-01-01T00:00:00.000Z",
                "duration": 5,
                "message": message(),
                "responseParts": [],
                "state": "complete",
            }
        ],
        "activeTurn": {
            "id": TURN,
            "startedAt": "2026-01-01T00:01:00.000Z",
            "message": message(),
            "responseParts": [{"kind": "markdown", "id": "part-1", "content": "Hi"}, *parts],
        },
    }


def chat_with_call(status: str, contributor: str | None = "mcp", *, chat_status: int | None = None) -> dict[str, Any]:
    return chat({"kind": "toolCall", "toolCall": call(status, contributor)}, status=chat_status)


def call_in(state: dict[str, Any]) -> dict[str, Any]:
    """The tool call of a chat made by `chat_with_call`, in the active turn or in the last one."""
    turn = state.get("activeTurn") or state["turns"][-1]
    calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
    found: dict[str, Any] = calls[0]
    return found


def server(identity: str = "vault", kind: str = "ready") -> dict[str, Any]:
    return {
        "type": "mcpServer",
        "id": identity,
        "uri": "file:///vault.json",
        "name": "vault",
        "enabled": True,
        "state": {"kind": kind},
        "channel": f"mcp://{identity}",
        "mcpApp": {"capabilities": {"serverTools": {}}},
    }


def session(**members: Any) -> dict[str, Any]:
    state = {
        "provider": "p",
        "title": "Session",
        "status": 1,
        "lifecycle": "ready",
        "activeClients": [{"clientId": "phone", "tools": []}],
        "chats": [
            {
                "resource": CHAT,
                "title": "Chat",
                "status": 1,
                "modifiedAt": "2026-01-01T00:00:00.000Z",
            }
        ],
        "defaultChat": CHAT,
        "config": {"schema": {"type": "object", "properties": {}}, "values": {"a": 1}},
        "customizations": [
            server(),
            {
                "type": "plugin",
                "id": "plug",
                "uri": "file:///plug",
                "name": "plug",
                "enabled": True,
                "children": [
                    server("inner"),
                    {"type": "skill", "id": "skill", "uri": "file:///skill", "name": "skill"},
                ],
            },
        ],
    }
    return state | members


def request(identity: str, kind: str) -> dict[str, Any]:
    """An entry of inputNeeded."""
    base = {"id": identity, "chat": CHAT, "kind": kind}
    match kind:
        case "chatInput":
            return base | {"request": {"id": "q", "message": "Which?"}}
        case "toolConfirmation":
            return base | {"turnId": TURN, "toolCall": call("pending-confirmation")}
        case "toolClientExecution":
            return base | {"turnId": TURN, "clientId": "phone", "toolCall": call("running", "client")}
    return base | {"turnId": TURN, "toolCall": call("auth-required")}


def terminal(**members: Any) -> dict[str, Any]:
    """A terminal that shows a prompt and the output of one finished command; legal in every version."""
    return {
        "title": "zsh",
        "claim": {"kind": "client", "clientId": "phone"},
        "lifecycle": {"status": "running"},
        "content": [
            {"type": "unclassified", "value": "$ "},
            {
                "type": "command",
                "commandId": "ls",
                "commandLine": "ls",
                "output": "notes\r\n",
                "timestamp": 1,
                "isComplete": True,
                "exitCode": 0,
            },
        ],
    } | members


def file(identity: str = "file:///a") -> dict[str, Any]:
    return {"id": identity, "edit": {"after": {"uri": identity, "content": {"uri": f"{identity}?after"}}}}


def operation(identity: str = "commit", status: str = "idle") -> dict[str, Any]:
    return {"id": identity, "label": identity.title(), "scopes": ["changeset"], "status": status}


def changeset(**members: Any) -> dict[str, Any]:
    return {"status": "ready", "files": [file(), file("file:///b")], "operations": [operation()]} | members


def annotation(identity: str = "note-1") -> dict[str, Any]:
    """An annotation that is legal in every version, because it says in both ways where it was made."""
    return {
        "id": identity,
        "turnId": "turn-0",
        "origin": {"session": "ahp-session:/s1", "turnId": "turn-0"},
        "resource": "file:///a",
        "resolved": False,
        "entries": [{"id": "entry-1", "text": "Why?"}],
    }


def annotated() -> dict[str, Any]:
    return {"annotations": [annotation()]}


def watch() -> dict[str, Any]:
    return {"root": "file:///a", "recursive": True}


def automation(identity: str = "ahp-automation:/nightly") -> dict[str, Any]:
    definition = {
        "title": "Nightly",
        "message": {"text": "Tidy up", "origin": {"kind": "automation"}},
        "session": {},
        "enabled": True,
        "triggers": [],
    }
    return {
        "resource": identity,
        "definition": definition,
        "operations": ["run"],
        "runs": [],
        "createdAt": "2026-01-01T00:00:00.000Z",
        "modifiedAt": "2026-01-01T00:00:00.000Z",
    }


def automations() -> dict[str, Any]:
    return {"entries": [automation()]}


def lifecycle(status: str) -> dict[str, Any]:
    moment = "2026-01-01T00:00:00.000Z"
    ended = {} if status == "running" else {"completedAt": moment}
    return {"status": status, "createdAt": moment, "startedAt": moment, **ended}


def automation_run(**members: Any) -> dict[str, Any]:
    return {
        "resource": "ahp-automation-run:/r1",
        "automation": "ahp-automation:/nightly",
        "origin": {"kind": "manual"},
        "lifecycle": lifecycle("running"),
        "operations": [],
        "sessions": ["ahp-session:/s1", "ahp-session:/s2"],
        "primarySession": "ahp-session:/s1",
    } | members


def canvas(**members: Any) -> dict[str, Any]:
    return {"instanceId": "preview", "extensionId": "project:preview", "canvasId": "preview"} | members


def root() -> dict[str, Any]:
    return {"agents": [], "config": {"schema": {"type": "object", "properties": {}}, "values": {"a": 1}}}


STATES: dict[str, Callable[[], dict[str, Any]]] = {
    "root": root,
    "session": session,
    "chat": chat,
    "terminal": terminal,
    "changeset": changeset,
    "annotations": annotated,
    "resourceWatch": watch,
    "automations": automations,
    "automationRun": automation_run,
    "canvas": canvas,
}
"""A state of each channel kind."""
