"""Values of chats in the wrong shape, and whose obligation each breaks."""

from __future__ import annotations

from tests.protocol.examples import CHAT, OPTION, TURN, message

from .traces import (
    DONE,
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    asks,
    begins,
    calm_session,
    clean,
    finished,
    found,
    idle_chat,
    part_of,
    question,
    ready,
    working_chat,
)

shapes = Cases("shapes")

OLD, NEW = ("0.6.0",), ("0.7.0", "1.0.0")
HALF = {"uri": "file:///a"}
SIDE = {"uri": "file:///a", "content": {"uri": "file:///snapshots/a"}}
JUDGED = {"kind": "judge", "status": "complete", "reason": "It writes", "safety": 0.5}


def shown(t: Trace, state: JSON) -> None:
    t.handshake()
    t.subscribe(CHAT, state)


def with_call(status: str = "pending-confirmation", **members: JSON) -> JSON:
    return working_chat(part_of({**a_call(status, contributor=None), **members}), status=24)


def begun(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))


@shapes.bad("AHP-TURN-031", "AHP-SUB-003")
def a_time_in_milliseconds(t: Trace) -> None:
    shown(t, idle_chat(modifiedAt=1767225600000))


@shapes.bad("AHP-TURN-031", "AHP-SUB-003")
def a_time_in_words(t: Trace) -> None:
    shown(t, idle_chat(modifiedAt="yesterday"))


@shapes.bad("AHP-TURN-031", "AHP-SUB-003")
def a_time_in_milliseconds_in_the_catalogue(t: Trace) -> None:
    state = calm_session()
    state["chats"][0]["modifiedAt"] = 1767225600000
    t.handshake()
    t.subscribe(SESSION, state)


@shapes.bad("AHP-PEND-021", "AHP-SUB-003")
def a_list_in_the_steering_slot(t: Trace) -> None:
    shown(t, working_chat(steeringMessage=[{"id": "s", "message": message()}]))


@shapes.bad("AHP-PEND-021", "AHP-SUB-003")
def bare_messages_in_the_queue(t: Trace) -> None:
    shown(t, working_chat(queuedMessages=[message()]))


@shapes.bad("AHP-CONF-010", "AHP-SUB-003")
def options_without_labels(t: Trace) -> None:
    shown(t, with_call(options=[{"id": "always", "kind": "approve"}]))


@shapes.bad("AHP-CONF-010")
def options_are_asked_without_labels(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False, options=[{"id": "always", "kind": "approve"}]))


@shapes.bad("AHP-CONF-018", "AHP-SUB-003")
def a_risk_without_its_reason(t: Trace) -> None:
    shown(t, with_call(riskAssessment={name: v for name, v in JUDGED.items() if name != "reason"}))


@shapes.bad("AHP-CONF-018")
def a_risk_in_words(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False, riskAssessment={**JUDGED, "safety": "high"}))


@shapes.bad("AHP-TOOL-031", "AHP-SUB-003", versions=OLD)
def an_input_as_an_object(t: Trace) -> None:
    shown(t, with_call(toolInput={"uri": "x:y"}))


@shapes.bad("AHP-TOOL-031", versions=OLD)
def an_input_comes_as_an_object(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, {**ready(), "toolInput": {"name": "x"}})


@shapes.bad("AHP-TOOL-032", "AHP-SUB-003", versions=NEW)
def an_input_that_is_no_reference(t: Trace) -> None:
    shown(t, with_call(toolInput={"name": "x"}))


@shapes.bad("AHP-TOOL-032", versions=NEW)
def an_input_comes_as_no_reference(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, {**ready(), "toolInput": {"name": "x"}})


@shapes.bad("AHP-TOOL-019", "AHP-SUB-003")
def a_side_without_content(t: Trace) -> None:
    shown(t, with_call(edits={"items": [{"after": HALF}]}))


@shapes.bad("AHP-TOOL-019")
def a_result_with_a_side_without_content(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("Complete", result={**DONE, "content": [{"type": "fileEdit", "before": HALF}]}))


@shapes.bad("AHP-TURN-040")
def a_part_without_id(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "markdown", "content": ""}})


@shapes.bad("AHP-TURN-040")
def older_turns_without_parts(t: Trace) -> None:
    t.handshake()
    t.window([])
    turn = {name: v for name, v in finished().items() if name != "responseParts"}
    t.envelope(CHAT, {"type": "chat/turnsLoaded", "turns": [turn]})


@shapes.bad("AHP-TURN-032", "AHP-SUB-003")
def a_notice_that_says_nothing(t: Trace) -> None:
    shown(t, working_chat({"kind": "systemNotification", "_meta": {"text": "Compacted"}}))


@shapes.bad("AHP-TURN-032")
def a_notice_comes_without_words(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "systemNotification"}})


@shapes.bad("AHP-INPUTREQ-019", "AHP-SUB-003")
def a_choice_without_options(t: Trace) -> None:
    request = asks("q", question(kind="single-select"))["request"]
    shown(t, working_chat({"kind": "inputRequest", "request": request}, status=24))


@shapes.bad("AHP-INPUTREQ-019")
def a_question_without_words(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks("q", {"id": "one", "kind": "text"}))


@shapes.good("AHP-TURN-031", "AHP-PEND-021", "AHP-CONF-010", "AHP-CONF-018", "AHP-TURN-032")
def a_chat_with_everything(t: Trace) -> None:
    call = {**a_call("pending-confirmation", contributor=None), "options": [OPTION], "riskAssessment": JUDGED}
    notice = {"kind": "systemNotification", "content": {"markdown": "*Compacted*"}}
    waiting = {"id": "one", "message": message()}
    shown(t, working_chat(part_of(call), notice, status=24, steeringMessage=waiting, queuedMessages=[waiting]))


@shapes.good("AHP-TOOL-031", versions=OLD)
@shapes.good("AHP-TOOL-032", versions=NEW)
def an_input_as_text(t: Trace) -> None:
    shown(t, with_call())


@shapes.good("AHP-TOOL-032", versions=NEW)
def an_input_by_reference(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, {**ready(), "toolInput": {"uri": "agent-content:/1"}})


@shapes.good("AHP-INPUTREQ-019")
def a_choice(t: Trace) -> None:
    options = [{"id": "x", "label": "X"}]
    t.follow(chat=working_chat())
    t.envelope(CHAT, asks("q", question(kind="single-select", options=options)))


@shapes.good()
def edits_of_files(t: Trace) -> None:
    begun(t)
    t.envelope(CHAT, ready(confirmed=False, edits={"items": [{"before": SIDE, "after": SIDE}]}))


@found(shapes)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(shapes)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
