"""Answers to input requests: when they are refused.

Sources: `docs/specification/chat-channel.md` > Server Validation of Client Actions;
`docs/guide/elicitation.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .channels import Chat

JSON = Any

# Kind of a question -> kind of the value that answers it, and the JSON types of that value.
_VALUES: Final[Mapping[str, tuple[str, tuple[type, ...]]]] = {
    "text": ("text", (str,)),
    "number": ("number", (int, float)),
    "integer": ("number", (int, float)),
    "boolean": ("boolean", (bool,)),
    "single-select": ("selected", (str,)),
    "multi-select": ("selected-many", (list,)),
}


def refusal(chat: Chat, action: JSON, *, once: bool) -> str | None:
    """Why an answer, or the completion of a request, is refused; None when it is accepted."""
    request = next((r for r in chat.questions() if r["id"] == action["requestId"]), None)
    if request is None:
        return "no such question is open" if once else None
    questions = {question["id"]: question for question in request.get("questions", ())}
    if action["type"] == "chat/inputAnswerChanged":
        question = questions.get(action["questionId"])
        if question is None:
            return "the request has no such question"
        return _answer_fault(question, action["answer"]) if "answer" in action else None
    given = action.get("answers", {})
    for identifier, answer in given.items():
        if identifier not in questions:
            return "the request has no such question"
        fault = _answer_fault(questions[identifier], answer)
        if fault is not None:
            return fault
    if action["response"] == "accept":
        final = {**request.get("answers", {}), **given}
        for identifier, question in questions.items():
            if question.get("required") and final.get(identifier, {}).get("state") != "submitted":
                return f"the required question {identifier!r} has no submitted answer"
    return None


def _answer_fault(question: JSON, answer: JSON) -> str | None:
    if not isinstance(answer, dict) or answer.get("state") not in ("draft", "submitted", "skipped"):
        return "an answer is a draft, submitted or skipped"
    if answer["state"] == "skipped":
        return None
    value = answer.get("value")
    if not isinstance(value, dict) or "value" not in value:
        return "the answer has no value"
    expected = _VALUES.get(question.get("kind", ""))
    if expected is None:
        return None
    kind, types = expected
    if value.get("kind") != kind:
        return f"a question of kind {question['kind']} takes a value of kind {kind}"
    fits = isinstance(value["value"], types) and (bool in types or not isinstance(value["value"], bool))
    return None if fits else "the value does not fit its kind"
