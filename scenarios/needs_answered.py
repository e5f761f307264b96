"""How clients resolve what a chat waits for: by what the chat shows, or by the entry of the session alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Broken, Unreached
from scenarios.expect import expect
from scenarios.needs_provoked import PENDING, QUESTION, REVIEW, Need, current, needs, obj, questions_in
from scenarios.world import World

JSON = Any

ANSWER = {"state": "submitted", "value": {"kind": "text", "value": "blue"}}
DRAFT = {"state": "draft", "value": {"kind": "text", "value": "bl"}}
RESULT = {
    "success": True,
    "pastTenseMessage": "Looked the colour up",
    "content": [{"type": "text", "text": "blue"}],
}
APPROVAL = {"approved": True, "confirmed": "user-action"}
DENIAL = {"approved": False, "reason": "denied"}

# What a phrase replies, by the status in which the call waits ("" for a question): an action and its members.
_REPLIES: dict[str, dict[str, tuple[str, dict[str, JSON]]]] = {
    "accept": {"": ("chat/inputCompleted", {"response": "accept"})},
    "decline": {"": ("chat/inputCompleted", {"response": "decline"})},
    "cancel": {"": ("chat/inputCompleted", {"response": "cancel"})},
    "an approval": {
        PENDING: ("chat/toolCallConfirmed", APPROVAL),
        REVIEW: ("chat/toolCallResultConfirmed", {"approved": True}),
    },
    "a denial": {
        PENDING: ("chat/toolCallConfirmed", DENIAL),
        REVIEW: ("chat/toolCallResultConfirmed", {"approved": False}),
    },
    "a result": {"running": ("chat/toolCallComplete", {"result": RESULT})},
    "a result to be approved": {
        "running": ("chat/toolCallComplete", {"result": RESULT, "requiresResultConfirmation": True})
    },
}


def action_for(need: Need, reply: str) -> dict[str, JSON]:
    """The action that answers the need in the way of the phrase."""
    try:
        kind, members = _REPLIES[reply][need.status]
    except KeyError:
        raise LookupError(f"{need.kind} in status {need.status!r} has no reply {reply!r}") from None
    if need.kind == "chatInput":
        answers = {"answers": _answers(need)} if reply == "accept" else {}
        return {"type": kind, "requestId": need.id, **members, **answers}
    return {"type": kind, "turnId": need.turn, "toolCallId": need.id, **members}


def _answers(need: Need) -> dict[str, JSON]:
    """An answer to each question as the chat shows it: the ids and kinds are the host's own."""
    return {q["id"]: _answer(q) for q in need.body.get("questions") or [] if isinstance(q.get("id"), str)}


def _answer(question: dict[str, JSON]) -> JSON:
    options = question.get("options")
    if isinstance(options, list) and options and isinstance(options[0], dict):
        many = question.get("kind") == "multi-select"
        choice = options[0].get("id")
        value = {"kind": "selected-many", "value": [choice]} if many else {"kind": "selected", "value": choice}
        return {"state": "submitted", "value": value}
    return ANSWER


def send(world: World, name: str, chat: str, action: dict[str, JSON]) -> None:
    """Dispatch; the echo is awaited where the sender follows the chat and so gets one."""
    client = world.client(name)
    number = client.dispatch(chat, action)
    if chat in client.view.subscribed:
        world.echoes = [client.echo(number)]
    else:
        client.fence()


@when(parsers.parse('client "{name}" answers with {reply}'))
def answers(world: World, name: str, reply: str) -> None:
    it = current(world)
    send(world, name, it.chat, action_for(it, reply))
    if reply == "a result to be approved":
        world.noted["it"] = replace(it, kind="toolConfirmation", status=REVIEW)


@given(parsers.parse('client "{name}" has answered with {reply}'))
def has_answered(world: World, name: str, reply: str) -> None:
    answers(world, name, reply)
    if world.echoes and not world.echoes[-1].accepted:
        raise Unreached("precondition-failed", f"the answer was rejected: {world.echoes[-1].rejection!r}")


@when(parsers.parse('client "{name}" answers the {which} with {reply}'))
def answers_one(world: World, name: str, which: str, reply: str) -> None:
    world.noted["it"] = needs(world)[{"first": 0, "second": 1}[which]]
    answers(world, name, reply)


def told_by_entry(world: World, name: str) -> Need:
    """The need as the one entry of its kind tells of it; what the chat itself shows is not looked at."""
    it = current(world)
    entry = world.await_entry(it.kind, client=name)
    if it.kind == "chatInput":
        ids: list[JSON] = [entry.get("chat"), it.turn, obj(entry, "request").get("id")]
    else:
        ids = [entry.get("chat"), entry.get("turnId"), obj(entry, "toolCall").get("toolCallId")]
    if not all(isinstance(value, str) for value in ids):
        raise Broken(
            "the entry does not say what it takes to answer it",
            expected="chat, and request.id or turnId with toolCall.toolCallId",
            seen=entry,
            frame=world.client(name).mark,
            obligation="AHP-INPUT-015",
        )
    return replace(it, chat=ids[0], turn=ids[1], id=ids[2])


@when(parsers.parse('client "{name}" answers by the entry with {reply}'))
def answers_by_entry(world: World, name: str, reply: str) -> None:
    told = told_by_entry(world, name)
    send(world, name, told.chat, action_for(told, reply))


@when(parsers.parse('client "{name}" drafts an answer by the entry'))
def drafts(world: World, name: str) -> None:
    told = told_by_entry(world, name)
    question = next(iter(_answers(told)), QUESTION["id"])
    draft = {"requestId": told.id, "questionId": question, "answer": DRAFT}
    send(world, name, told.chat, {"type": "chat/inputAnswerChanged", **draft})


@then("the chat shows the draft")
def shows_draft(world: World) -> None:
    def drafted(state: JSON) -> JSON:
        found = [obj(r, "answers") for r in questions_in(state) if r.get("id") == current(world).id]
        return next((answer for answers in found for answer in answers.values() if answer == DRAFT), None)

    world.a.await_state(current(world).chat, "the draft in the open question", drafted)


@then(parsers.parse('the answer that stands in the chat is "{response}"'))
def answer_stands(world: World, response: str) -> None:
    it = current(world)
    turn = world.fresh(it.chat).get("activeTurn") or {}
    parts = [p for p in turn.get("responseParts") or [] if obj(p, "request").get("id") == it.id]
    expect(
        [part.get("response") for part in parts] == [response],
        "the first answer does not stand",
        expected=f"one inputRequest part with the response {response}",
        seen=parts,
        frame=world.stage.frames[-1].n,
    )
