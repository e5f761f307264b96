"""Values of the channels beside sessions and chats: terminals, changesets, annotations, resource watches."""

from __future__ import annotations

from typing import Any

from tests.protocol.examples import TURN

from .traces import ROOT, SESSION, Trace

JSON = Any

TERMINAL = "ahp-terminal:/t1"
OTHER = "ahp-terminal:/t2"
CHANGESET = "ahp-changeset:/c1"
ANNOTATIONS = f"{SESSION}/annotations"
WATCH = "ahp-resource-watch:/w1"
FILE = "file:///project/a.py"


# -- terminals ----------------------------------------------------------------------------------------


def held_by(conn: str) -> JSON:
    """The claim of the client of a connection."""
    return {"kind": "client", "clientId": f"client-{conn}"}


def held_by_session(version: str, **members: JSON) -> JSON:
    chat = {"chat": "ahp-chat:/c1"} if version >= "0.9.0" else {}
    return {"kind": "session", "session": SESSION, **chat, **members}


def life(version: str, code: int | None = None, *, ended: bool = False) -> JSON:
    """The members that say whether the process of a terminal has ended."""
    told = {} if code is None else {"exitCode": code}
    if version < "0.9.0":
        return told
    return {"lifecycle": {"status": "exited", **told} if ended or told else {"status": "running"}}


def terminal(t: Trace, *parts: JSON, **members: JSON) -> JSON:
    """The state of a terminal of client A."""
    return {"title": "sh", "content": list(parts), "claim": held_by("A"), **life(t.version), **members}


def listed(t: Trace, resource: str = TERMINAL, **members: JSON) -> JSON:
    """An entry of the catalogue."""
    return {"resource": resource, "title": "sh", "claim": held_by("A"), **life(t.version), **members}


def lists_terminals(*entries: JSON) -> JSON:
    return {"type": "root/terminalsChanged", "terminals": list(entries)}


def loose(value: str) -> JSON:
    return {"type": "unclassified", "value": value}


def command(output: str = "", identity: str = "cmd-1", *, complete: bool = False, **members: JSON) -> JSON:
    part = {"type": "command", "commandId": identity, "commandLine": "ls", "output": output, "timestamp": 1}
    return {**part, "isComplete": complete, **members}


def prints(data: str) -> JSON:
    return {"type": "terminal/data", "data": data}


def executes(identity: str = "cmd-1") -> JSON:
    return {"type": "terminal/commandExecuted", "commandId": identity, "commandLine": "ls", "timestamp": 1}


def finishes(identity: str = "cmd-1", **members: JSON) -> JSON:
    return {"type": "terminal/commandFinished", "commandId": identity, **members}


def claims(claim: JSON) -> JSON:
    return {"type": "terminal/claimed", "claim": claim}


def create(t: Trace, resource: str = TERMINAL, conn: str = "A", *, entries: tuple[str, ...] = (TERMINAL,)) -> None:
    """createTerminal, with a listing of ``entries`` before its answer; nothing is listed when there are none."""
    identity = t.ask("createTerminal", conn, channel=resource, claim=held_by("A"))
    if entries:
        t.envelope(ROOT, lists_terminals(*(listed(t, entry) for entry in entries)), conn)
    t.result(identity, None, conn)


# -- changesets ---------------------------------------------------------------------------------------


def entry(template: str = CHANGESET, **members: JSON) -> JSON:
    """An entry of the catalogue of changesets."""
    return {"label": "All", "uriTemplate": template, "changeKind": "session", **members}


REVIEWABLE: JSON = {"capabilities": {"review": {}}}


def edit(name: str = "a", nonce: str = "1") -> JSON:
    uri = f"file:///project/{name}.py"
    return {"after": {"uri": uri, "content": {"uri": uri, "nonce": nonce}}}


def file(identity: str = "a", nonce: str = "1", **members: JSON) -> JSON:
    return {"id": identity, "edit": edit(identity, nonce), **members}


def operation(identity: str = "revert", **members: JSON) -> JSON:
    return {"id": identity, "label": "Revert", "scopes": ["changeset"], "status": "idle", **members}


def changeset(*files: JSON, **members: JSON) -> JSON:
    return {"status": "ready", "files": list(files), **members}


TROUBLE = {"errorType": "git", "message": "gone"}


# -- annotations --------------------------------------------------------------------------------------


def note(t: Trace, identity: str = "n1", *entries: JSON, turn: str = TURN, **members: JSON) -> JSON:
    """An annotation with one entry, unless others are given."""
    anchor = {"origin": {"session": SESSION, "turnId": turn}} if t.version >= "0.9.0" else {"turnId": turn}
    said = list(entries) or [remark()]
    return {"id": identity, **anchor, "resource": FILE, "resolved": False, "entries": said, **members}


def remark(identity: str = "e1", text: str = "Why?") -> JSON:
    return {"id": identity, "text": text}


def sets(annotation: JSON) -> JSON:
    return {"type": "annotations/set", "annotation": annotation}


def says(entry: JSON, annotation: str = "n1") -> JSON:
    return {"type": "annotations/entrySet", "annotationId": annotation, "entry": entry}


def unsays(entry: str = "e1", annotation: str = "n1") -> JSON:
    return {"type": "annotations/entryRemoved", "annotationId": annotation, "entryId": entry}


def updates(identity: str = "n1", **members: JSON) -> JSON:
    return {"type": "annotations/updated", "annotationId": identity, **members}


def summary(resource: str = ANNOTATIONS, annotations: int = 0, entries: int = 0) -> JSON:
    return {"resource": resource, "annotationCount": annotations, "entryCount": entries}


# -- resource watches ---------------------------------------------------------------------------------


def watch(t: Trace, channel: str = WATCH, root: str = "file:///project", **params: JSON) -> None:
    """createResourceWatch and its answer."""
    t.call("createResourceWatch", {"channel": channel}, uri=root, **params)


def watched(root: str = "file:///project", **members: JSON) -> JSON:
    return {"root": root, "recursive": False, **members}


def changes(*uris: str) -> JSON:
    items = [{"uri": uri, "type": "updated"} for uri in uris]
    return {"type": "resourceWatch/changed", "changes": {"items": items}}
