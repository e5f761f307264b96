"""Well-formed actions of every type, drawn from few identities so that they meet each other in a fold.

An action that changed from version to version carries the members of all versions; readers look at
those of their own. WELL_FORMED is the place to extend when a type is added: a test counts.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import examples

Draw = st.SearchStrategy[Any]

TURNS = st.sampled_from(["turn-0", "turn-1", "turn-2"])
PARTS = st.sampled_from(["part-1", "part-2", "thought", "call-1"])
CALLS = st.sampled_from(["call-1", "call-2"])
REQUESTS = st.sampled_from(["ask-1", "ask-2"])
MESSAGES = st.sampled_from(["message-1", "message-2"])
CHATS = st.sampled_from(["ahp-chat:/c1", "ahp-chat:/c2"])
SESSIONS = st.sampled_from(["ahp-session:/s1", "ahp-session:/s2", "ahp-session:/s3"])
CLIENTS = st.sampled_from(["phone", "laptop"])
CUSTOMIZATIONS = st.sampled_from(["vault", "plug", "inner", "skill"])
DIRECTORIES = st.sampled_from(["file:///a", "file:///b"])
COMMANDS = st.sampled_from(["ls", "make"])
FILES = st.sampled_from(["file:///a", "file:///b", "file:///c"])
NOTES = st.sampled_from(["note-1", "note-2"])
ENTRIES = st.sampled_from(["entry-1", "entry-2"])
AUTOMATIONS = st.sampled_from(["ahp-automation:/nightly", "ahp-automation:/weekly"])

text = st.sampled_from(["", "x", "two words"])
flags = st.booleans()
times = st.sampled_from(["2026-02-01T10:00:00.000Z", "2026-02-01T10:00:00+02:00"])
errors = st.just({"errorType": "overloaded", "message": "Try again"})


def lists(of: Draw, key: str | None = None) -> Draw:
    return st.lists(of, max_size=3, unique_by=(lambda entry: entry[key]) if key else (lambda entry: entry))


def shaped(required: dict[str, Draw] | None = None, **optional: Draw) -> Draw:
    return st.fixed_dictionaries(required or {}, optional=optional)


messages = st.builds(examples.message, text)
parts = st.one_of(
    st.builds(lambda part: {"kind": "markdown", "id": part, "content": "a"}, PARTS),
    st.builds(lambda part: {"kind": "reasoning", "id": part, "content": "b"}, PARTS),
    st.just({"kind": "systemNotification", "content": "compacted"}),
)
error_parts = st.builds(lambda error, again: {"kind": "error", "error": error, "resumable": again}, errors, flags)
turns = st.builds(
    lambda turn, made: {"id": turn, "message": made, "responseParts": [], "state": "complete", "duration": 1},
    TURNS,
    messages,
)
summaries = st.builds(
    lambda chat, title: {"resource": chat, "title": title, "status": 1, "modifiedAt": "2026-02-01T10:00:00.000Z"},
    CHATS,
    text,
)
contributors = st.sampled_from([each for each in examples.CONTRIBUTORS.values() if each])
blocks = st.just([{"type": "text", "text": "more"}])
results = st.sampled_from([examples.RESULT, examples.FAILURE])
requests = shaped({"id": REQUESTS}, message=text, answers=st.just({"q": {"state": "skipped"}}))
needs = st.builds(
    examples.request,
    REQUESTS,
    st.sampled_from(["chatInput", "toolConfirmation", "toolClientExecution", "toolAuthentication"]),
)
servers = st.builds(examples.server, CUSTOMIZATIONS, st.sampled_from(["ready", "stopped"]))
server_states = st.sampled_from(
    [{"kind": "ready"}, {"kind": "starting", "blocking": True}, {"kind": "authRequired", **examples.auth()}]
)
decisions = st.lists(st.builds(lambda on: {"kind": "session", "enabled": on}, flags), max_size=2)
files = st.builds(examples.file, FILES)
operations = st.builds(examples.operation, st.sampled_from(["commit", "revert"]), st.sampled_from(["idle", "running"]))
notes = st.builds(examples.annotation, NOTES)
catalogues = st.just([{"label": "Changes", "uriTemplate": "ahp-changeset:/1", "changeKind": "session"}])

IN_TURN = {"turnId": TURNS}
OF_CALL = {"turnId": TURNS, "toolCallId": CALLS}
TEXT = {"turnId": TURNS, "partId": PARTS, "content": text}
TURN_END = {"turnId": TURNS, "duration": st.integers(0, 5)}

_SHAPES: dict[str, Draw] = {
    "root/agentsChanged": shaped({"agents": st.just([])}),
    "root/activeSessionsChanged": shaped({"activeSessions": st.integers(0, 3)}),
    "root/terminalsChanged": shaped({"terminals": st.just([])}),
    "root/configChanged": shaped({"config": st.just({"b": 2})}, replace=flags),
    "session/ready": shaped(),
    "session/creationFailed": shaped({"error": errors}),
    "session/chatAdded": shaped({"summary": summaries}),
    "session/chatRemoved": shaped({"chat": CHATS}),
    "session/chatUpdated": shaped({"chat": CHATS, "changes": shaped(title=text)}),
    "session/chatsReordered": shaped({"chats": lists(CHATS)}),
    "session/defaultChatChanged": shaped(defaultChat=CHATS),
    "session/titleChanged": shaped({"title": text}),
    "session/isReadChanged": shaped({"isRead": flags}),
    "session/isArchivedChanged": shaped({"isArchived": flags}),
    "session/activityChanged": shaped(activity=text),
    "session/changesetsChanged": shaped(changesets=catalogues),
    "session/configChanged": shaped({"config": st.just({"b": 2})}, replace=flags),
    "session/metaChanged": shaped(_meta=st.just({"m": 1})),
    "session/serverToolsChanged": shaped({"tools": st.just([])}),
    "session/activeClientSet": shaped(
        {"activeClient": st.builds(lambda client: {"clientId": client, "tools": []}, CLIENTS)}
    ),
    "session/activeClientRemoved": shaped({"clientId": CLIENTS}),
    "session/workingDirectorySet": shaped({"directory": DIRECTORIES}),
    "session/workingDirectoryRemoved": shaped({"directory": DIRECTORIES}),
    "session/workingDirectoryReplaced": shaped({"directory": DIRECTORIES, "replacement": DIRECTORIES}),
    "session/inputNeededSet": shaped({"request": needs}),
    "session/inputNeededRemoved": shaped({"id": REQUESTS}),
    "session/customizationsChanged": shaped({"customizations": lists(servers, "id")}),
    "session/customizationToggled": shaped({"id": CUSTOMIZATIONS, "enabled": flags, "enablement": decisions}),
    "session/customizationUpdated": shaped({"customization": servers}),
    "session/customizationRemoved": shaped({"id": CUSTOMIZATIONS}),
    "session/mcpServerStateChanged": shaped(
        {"id": CUSTOMIZATIONS, "state": server_states}, channel=st.just("mcp://vault")
    ),
    "session/mcpServerStartRequested": shaped({"id": CUSTOMIZATIONS}),
    "session/mcpServerStopRequested": shaped({"id": CUSTOMIZATIONS}),
    "session/mcpServerBackgroundRequested": shaped({"id": CUSTOMIZATIONS}),
    "chat/turnStarted": shaped({**IN_TURN, "startedAt": times, "message": messages}, queuedMessageId=MESSAGES),
    "chat/delta": shaped(TEXT),
    "chat/reasoning": shaped(TEXT),
    "chat/responsePart": shaped({**IN_TURN, "part": parts}),
    "chat/usage": shaped({**IN_TURN, "usage": st.just({"inputTokens": 3})}),
    "chat/turnComplete": shaped(TURN_END),
    "chat/turnCancelled": shaped(TURN_END),
    "chat/error": shaped({**TURN_END, "error": errors, "part": error_parts}),
    "chat/turnResume": shaped(IN_TURN),
    "chat/activityChanged": shaped(activity=text),
    "chat/truncated": shaped(turnId=TURNS),
    "chat/turnsLoaded": shaped({"turns": lists(turns, "id")}, turnsNextCursor=text),
    "chat/toolCallStart": shaped(
        {**OF_CALL, "toolName": st.just("read"), "displayName": st.just("Read")}, contributor=contributors
    ),
    "chat/toolCallDelta": shaped({**OF_CALL, "content": text}, invocationMessage=text),
    "chat/toolCallReady": shaped(
        {**OF_CALL, "invocationMessage": text},
        toolInput=text,
        editable=flags,
        options=st.just([examples.OPTION]),
        confirmed=st.just("not-needed"),
    ),
    "chat/toolCallConfirmed": st.one_of(
        shaped({**OF_CALL, "approved": st.just(True), "confirmed": st.just("user-action")}, selectedOptionId=text),
        shaped({**OF_CALL, "approved": st.just(False), "reason": st.just("denied")}, reasonMessage=text),
    ),
    "chat/toolCallComplete": shaped({**OF_CALL, "result": results}, requiresResultConfirmation=flags),
    "chat/toolCallResultConfirmed": shaped({**OF_CALL, "approved": flags}),
    "chat/toolCallContentChanged": shaped({**OF_CALL, "content": blocks}),
    "chat/toolCallAuthRequired": shaped({**OF_CALL, "auth": st.just(examples.auth())}),
    "chat/toolCallAuthResolved": shaped(OF_CALL),
    "chat/pendingMessageSet": shaped(
        {"kind": st.sampled_from(["queued", "steering"]), "id": MESSAGES, "message": messages}
    ),
    "chat/pendingMessageRemoved": shaped({"kind": st.sampled_from(["queued", "steering"]), "id": MESSAGES}),
    "chat/queuedMessagesReordered": shaped({"order": lists(MESSAGES)}),
    "chat/draftChanged": shaped(draft=messages),
    "chat/inputRequested": shaped({"request": requests}),
    "chat/inputAnswerChanged": shaped(
        {"requestId": REQUESTS, "questionId": st.just("q")}, answer=st.just({"state": "skipped"})
    ),
    "chat/inputCompleted": shaped(
        {"requestId": REQUESTS, "response": st.sampled_from(["accept", "decline", "cancel"])},
        answers=st.just({"q": {"state": "skipped"}}),
    ),
    "chat/workingDirectorySet": shaped({"directory": DIRECTORIES}),
    "chat/workingDirectoryRemoved": shaped({"directory": DIRECTORIES}),
    "chat/backgroundWorkSet": shaped(
        {"work": shaped({"id": MESSAGES, "kind": st.just("shell"), "label": text, "command": text})}
    ),
    "chat/backgroundWorkRemoved": shaped({"id": MESSAGES}),
    "chat/movableChanged": shaped({"movable": flags}),
    "chat/changesetsChanged": shaped(changesets=catalogues),
    "chat/canvasesChanged": shaped(canvases=st.just([])),
    "chat/isReadChanged": shaped({"isRead": flags}),
    "chat/isArchivedChanged": shaped({"isArchived": flags}),
    "terminal/data": shaped({"data": text}),
    "terminal/input": shaped({"data": text}),
    "terminal/resized": shaped({"cols": st.integers(1, 99), "rows": st.integers(1, 99)}),
    "terminal/claimed": shaped({"claim": st.builds(lambda who: {"kind": "client", "clientId": who}, CLIENTS)}),
    "terminal/titleChanged": shaped({"title": text}),
    "terminal/cwdChanged": shaped({"cwd": DIRECTORIES}),
    "terminal/exited": shaped(exitCode=st.integers(0, 2)),
    "terminal/cleared": shaped(),
    "terminal/commandDetectionAvailable": shaped(),
    "terminal/commandExecuted": shaped({"commandId": COMMANDS, "commandLine": text, "timestamp": st.integers(0, 9)}),
    "terminal/commandFinished": shaped(
        {"commandId": COMMANDS}, exitCode=st.integers(0, 2), durationMs=st.integers(0, 9)
    ),
    "changeset/statusChanged": shaped({"status": st.sampled_from(["computing", "ready", "error"])}, error=errors),
    "changeset/fileSet": shaped({"file": files}),
    "changeset/fileRemoved": shaped({"fileId": FILES}),
    "changeset/filesReviewChanged": shaped({"files": lists(FILES), "reviewed": flags}),
    "changeset/contentChanged": shaped({"files": lists(files, "id")}, operations=lists(operations, "id"), error=errors),
    "changeset/operationsChanged": shaped(operations=lists(operations, "id")),
    "changeset/operationStatusChanged": shaped(
        {
            "operationId": st.sampled_from(["commit", "revert"]),
            "status": st.sampled_from(["idle", "running", "error", "disabled"]),
        },
        error=errors,
    ),
    "changeset/cleared": shaped(),
    "annotations/set": shaped({"annotation": notes}),
    "annotations/updated": shaped(
        {"annotationId": NOTES},
        turnId=TURNS,
        origin=st.just({"session": "ahp-session:/s1"}),
        resource=FILES,
        resolved=flags,
    ),
    "annotations/removed": shaped({"annotationId": NOTES}),
    "annotations/entrySet": shaped({"annotationId": NOTES, "entry": shaped({"id": ENTRIES, "text": text})}),
    "annotations/entryRemoved": shaped({"annotationId": NOTES, "entryId": ENTRIES}),
    "resourceWatch/changed": shaped({"changes": st.just({"items": [{"uri": "file:///a/b", "type": "added"}]})}),
    "automation/createRequested": shaped(
        {"resource": AUTOMATIONS, "definition": st.just(examples.automation()["definition"])}
    ),
    "automation/updateRequested": shaped({"resource": AUTOMATIONS, "changes": st.just({"enabled": False})}),
    "automation/set": shaped({"automation": st.builds(examples.automation, AUTOMATIONS)}),
    "automation/removed": shaped({"resource": AUTOMATIONS}),
    "automationRun/lifecycleChanged": shaped(
        {
            "lifecycle": st.builds(examples.lifecycle, st.sampled_from(["running", "completed", "cancelled"])),
            "operations": st.just([]),
        }
    ),
    "automationRun/sessionSet": shaped({"session": SESSIONS}),
    "automationRun/sessionRemoved": shaped({"session": SESSIONS}),
    "automationRun/primarySessionChanged": shaped(primarySession=SESSIONS),
    "automationRun/cancelRequested": shaped(),
    "canvas/stateChanged": shaped({"canvas": st.builds(lambda title: examples.canvas(title=title), text)}),
}


def _typed(name: str, shape: Draw) -> Draw:
    return shape.map(lambda action: {"type": name, **action})


WELL_FORMED: dict[str, Draw] = {name: _typed(name, shape) for name, shape in _SHAPES.items()}
"""A strategy for each action type."""
