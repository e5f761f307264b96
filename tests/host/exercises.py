"""Short plays that together touch every decision of the host, for telling wrong hosts from the right one.

Each takes a fresh stage and must not fail on a wrong host: what differs is found in the frames.
"""

from __future__ import annotations

from typing import Any, Final

from .agent_exercises import EXERCISES as AGENT_EXERCISES
from .driving import (
    DONE,
    FAILED,
    ROOT,
    STARTED,
    Act,
    Driven,
    Stage,
    blocked,
    call,
    challenge,
    normalised,
)
from .wire_exercises import EXERCISES as WIRE_EXERCISES

JSON = Any


def _entry(stage: Stage) -> JSON:
    entries = stage.needed()
    return entries[0] if entries else {"toolCall": {"toolCallId": "?"}, "request": {"id": "?"}}


def _first(stage: Stage) -> JSON:
    calls = stage.calls()
    return calls[0] if calls else {"toolCallId": "?"}


def _act(stage: Stage, kind: str, by: Driven | None = None, **members: JSON) -> None:
    active = stage.state(stage.chat).get("activeTurn", {"id": "?"})
    call_id = _first(stage)["toolCallId"]
    (by or stage.a).dispatch(stage.chat, {"type": kind, "turnId": active["id"], "toolCallId": call_id, **members})


def _look(stage: Stage) -> None:
    """Take fresh snapshots through the first client, so that they are among the frames compared."""
    stage.a.request("subscribe", stage.session)
    stage.a.request("subscribe", stage.chat)
    stage.a.request("listSessions")


def resolve(stage: Stage) -> None:
    demand = challenge(scopes=["a"], scopes_supported=["b"], error_description="why", oauth_client={"clientId": "me"})
    stage.play(blocked(partial="so far", challenges=[demand]), {"pause": "x"})
    _look(stage)
    stage.authenticate("bad")
    stage.authenticate(scopes=["b"])
    stage.authenticate(scopes=["a"])
    stage.authenticate()
    _look(stage)


def resolve_without_scopes(stage: Stage) -> None:
    stage.play(blocked(challenges=[challenge(scopes=["a"])]))
    stage.authenticate()


def unknown_resource(stage: Stage) -> None:
    stage.authenticate(resource="https://nobody.example")


def several(stage: Stage) -> None:
    other = {**challenge("other"), "resource": "https://other.example"}
    one = {"tool": "two", "server": "vault", "challenges": [challenge()]}
    far = {"tool": "far", "server": "far", "challenges": [other]}
    stage.play(blocked(beside=[one, far]), {"pause": "x"})
    _look(stage)
    stage.authenticate()
    _look(stage)


def one_after_the_other(stage: Stage) -> None:
    stage.play(blocked())
    stage.authenticate()
    stage.play(blocked("far", "far", challenges=[{**challenge("other"), "resource": "https://other.example"}]))


def again(stage: Stage) -> None:
    second = challenge("better", scopes=["x"])
    third = challenge("best", status=403, scopes=["y"])
    stage.play(blocked(challenges=[challenge(), second, third]))
    for token in ("good", "better", "best"):
        stage.authenticate(token)


def cancel(stage: Stage) -> None:
    stage.play(blocked(), {"pause": "x"})
    _act(stage, "chat/toolCallComplete", result=DONE)
    _act(stage, "chat/toolCallConfirmed", approved=True, confirmed="user-action")
    _act(stage, "chat/toolCallContentChanged", content=[])
    _act(stage, "chat/toolCallComplete", result=FAILED)
    _look(stage)
    stage.authenticate()


def forge(stage: Stage) -> None:
    stage.play(blocked(), {"pause": "x"})
    _act(stage, "chat/toolCallAuthResolved")
    stage.a.dispatch(stage.session, {"type": "session/inputNeededRemoved", "id": _entry(stage).get("id", "?")})
    stage.a.dispatch(stage.chat, {"type": "chat/responsePart", "turnId": "t1", "part": {"kind": "x"}})
    _look(stage)


def cancel_by_another(stage: Stage) -> None:
    b = stage.client("B", stage.session)
    stage.play(blocked(), {"say": "on"})
    entry = _entry(stage)
    b.dispatch(
        str(entry.get("chat")),
        {
            "type": "chat/toolCallComplete",
            "turnId": str(entry.get("turnId")),
            "toolCallId": entry["toolCall"]["toolCallId"],
            "result": FAILED,
        },
    )
    _look(stage)


def cancel_turn(stage: Stage) -> None:
    turn = stage.play(blocked())
    stage.a.dispatch(stage.chat, {"type": "chat/turnCancelled", "turnId": turn, "duration": 1})
    _look(stage)
    stage.authenticate()


def resolve_by_another(stage: Stage) -> None:
    b = stage.client("B", stage.session)
    stage.play(blocked())
    stage.authenticate(by=b)
    _look(stage)


def lose_connection(stage: Stage) -> None:
    b = stage.client("B", stage.session)
    stage.play(blocked())
    stage.a.drop()
    stage.authenticate(by=b)
    b.request("subscribe", stage.chat)
    stage.a = b


def edited(stage: Stage) -> None:
    stage.play(blocked(input={"a": 1}, confirm=True, editable=True))
    _look(stage)
    _act(stage, "chat/toolCallConfirmed", approved=True, confirmed="user-action", editedToolInput='{"a":2}')
    stage.authenticate()


def stop_server(stage: Stage) -> None:
    stage.play(blocked(), {"pause": "x"})
    server = stage.state().get("customizations", [{"id": "?"}])[0]
    stage.a.dispatch(stage.session, {"type": "session/mcpServerStopRequested", "id": server["id"]})
    _look(stage)


def server_and_call(stage: Stage) -> None:
    stage.play({"mcp": {"server": "vault", "challenge": challenge(), "wait": False}}, blocked())
    stage.authenticate()
    _look(stage)


def question(stage: Stage) -> None:
    fields = [{"id": "q", "kind": "text", "message": "Name?"}]
    stage.play({"ask": {"message": "Who?", "questions": fields}}, {"pause": "x"})
    _look(stage)
    done = {"type": "chat/inputCompleted", "requestId": _entry(stage)["request"]["id"], "response": "decline"}
    value = {"state": "draft", "value": {"kind": "text", "value": "A"}}
    stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/inputAnswerChanged",
            "requestId": done["requestId"],
            "questionId": "q",
            "answer": value,
        },
    )
    b = stage.client("B", stage.session)
    b.dispatch(stage.chat, done)
    stage.a.dispatch(stage.chat, done)
    _look(stage)


def confirmations(stage: Stage) -> None:
    stage.play(call(confirm=True, beside=[{"tool": "two", "confirm": True}]), {"pause": "x"})
    _look(stage)
    _act(stage, "chat/toolCallConfirmed", approved=False, reason="denied")
    _look(stage)


def result_confirmation(stage: Stage) -> None:
    stage.play(call(confirm_result=True), {"pause": "x"})
    _look(stage)
    _act(stage, "chat/toolCallResultConfirmed", approved=True)


def cancelled_confirmation(stage: Stage) -> None:
    turn = stage.play(call(confirm=True))
    stage.a.dispatch(stage.chat, {"type": "chat/turnCancelled", "turnId": turn, "duration": 1})
    _look(stage)


def client_tool(stage: Stage) -> None:
    b = stage.client("B", stage.session, stage.chat)
    for client in (stage.a, b):
        entry = {"clientId": client.name, "tools": [{"name": "read"}]}
        client.dispatch(stage.session, {"type": "session/activeClientSet", "activeClient": entry})
    stage.play(call(client="B"), call(client="A"), {"pause": "x"})
    _look(stage)
    b.notify("unsubscribe", stage.session)
    _act(stage, "chat/toolCallComplete", result=DONE)
    _look(stage)


def executed(stage: Stage) -> None:
    entry = {"clientId": "A", "tools": [{"name": "read"}]}
    stage.a.dispatch(stage.session, {"type": "session/activeClientSet", "activeClient": entry})
    stage.play(call(client="A"), {"pause": "x"})
    _act(stage, "chat/toolCallComplete", result=DONE)
    _look(stage)


def clients_leave(stage: Stage) -> None:
    back = stage.client("B", stage.session)
    entry = {"clientId": "B", "tools": []}
    back.dispatch(stage.session, {"type": "session/activeClientSet", "activeClient": entry})
    back.drop()
    _look(stage)
    again = Driven(stage.host, "B", stage.version)
    again.request("reconnect", clientId="B", lastSeenServerSeq=stage.host.seq, subscriptions=[ROOT])
    _look(stage)
    again.request("subscribe", stage.session)
    again.dispatch(stage.session, {"type": "session/activeClientSet", "activeClient": entry})
    again.drop()
    stage.time += 60
    stage.host.tick()
    _look(stage)


def other_chat(stage: Stage) -> None:
    stage.a.request("createChat", stage.session, chat="ahp-chat:/second")
    stage.play(call(confirm=True), chat="ahp-chat:/second")
    _look(stage)


def servers(stage: Stage) -> None:
    demand = challenge(scopes=["a"], scopes_supported=["b"], error_description="why")
    stage.play({"mcp": {"server": "vault", "challenge": demand}}, {"mcp": {"server": "bad", "fails": "no"}})
    _look(stage)
    server = stage.state().get("customizations", [{"id": "?"}])[0]
    stage.authenticate("bad")
    _look(stage)
    for kind in ("Stop", "Start", "Stop"):
        stage.a.dispatch(stage.session, {"type": f"session/mcpServer{kind}Requested", "id": server["id"]})
        _look(stage)
        stage.authenticate()
    stage.a.dispatch(stage.session, {"type": "session/mcpServerStartRequested", "id": server["id"]})
    toggle: JSON = {"type": "session/customizationToggled", "id": server["id"]}
    off = {"enablement": [{"kind": "session", "enabled": False}]}
    stage.a.dispatch(stage.session, {**toggle, **(off if stage.version == "0.9.0" else {"enabled": False})})
    _look(stage)


def failing_start(stage: Stage) -> None:
    second = challenge("two")
    stage.play({"mcp": {"server": "vault", "challenge": challenge()}})
    stage.authenticate()
    stage.play({"mcp": {"server": "vault", "challenge": second}})
    _look(stage)


def session_flags(stage: Stage) -> None:
    b = stage.client("B", stage.session)
    stage.a.dispatch(stage.session, {"type": "session/titleChanged", "title": "Mine"})
    stage.a.dispatch(stage.session, {"type": "session/isReadChanged", "isRead": True})
    stage.a.dispatch(stage.session, {"type": "session/isArchivedChanged", "isArchived": True})
    _look(stage)
    stage.play({"fail": {"message": "boom"}})
    _look(stage)
    b.request("ping")
    stage.overheard += b.frames


def overhear(stage: Stage) -> None:
    b = stage.client("B")
    stage.play({"say": "x"})
    stage.overheard += b.frames


def turns(stage: Stage) -> None:
    stage.play({"pause": "x"})
    stage.play({"say": "second"})
    stage.a.dispatch(stage.chat, {"type": "chat/turnComplete", "turnId": "t1", "duration": 1})
    stage.a.dispatch(
        stage.chat,
        {
            "type": "chat/turnStarted",
            "turnId": "t9",
            "startedAt": STARTED,
            "message": {"text": "second", "origin": {"kind": "user"}},
        },
    )
    _look(stage)


def handshake(stage: Stage) -> None:
    stranger = Driven(stage.host, "X")
    stranger.request("initialize", protocolVersions=["9.9.9"], clientId="X")
    stranger.raw('{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}')
    plain = stage.client("Y")
    plain.request("ping")
    plain.request("subscribe", "ahp-session:/none")
    stage.overheard += [*stranger.frames, {"closed": stranger.closed}, *plain.frames]


EXERCISES: Final[tuple[Act, ...]] = (
    resolve,
    resolve_without_scopes,
    unknown_resource,
    several,
    again,
    cancel,
    forge,
    cancel_by_another,
    cancel_turn,
    resolve_by_another,
    lose_connection,
    edited,
    stop_server,
    one_after_the_other,
    server_and_call,
    question,
    confirmations,
    result_confirmation,
    cancelled_confirmation,
    client_tool,
    executed,
    clients_leave,
    other_chat,
    servers,
    failing_start,
    session_flags,
    overhear,
    turns,
    handshake,
    *AGENT_EXERCISES,
    *WIRE_EXERCISES,
)


def performed(exercise: Act, stage: Stage) -> list[str]:
    """The frames of the first client, what others overheard, and what reached the servers; minted ids comparable."""
    exercise(stage)
    served = [[call.resource, call.tool, call.digest or "", call.passed] for call in stage.host.upstream]
    return list(normalised([*stage.a.frames, *stage.overheard, *served]))
