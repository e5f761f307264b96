"""The host's own state of tool calls and questions follows its actions."""

from __future__ import annotations

from functools import partial

from tests.protocol.examples import CALL, OPTION

from . import chat_rows
from .chat_rows import (
    APPROVED,
    BEFORE_07,
    DENIED,
    FROM_07,
    OPEN,
    PRODUCED,
    SUCCEEDED,
    TEXT,
    call,
    changed,
    pending,
    put,
    the_call,
)
from .traces import (
    DONE,
    Case,
    Cases,
    a_call,
    about,
    answers,
    asks,
    begins,
    clean,
    ends,
    found,
    part_of,
    question,
    ready,
    responds,
    working_chat,
)

folds = Cases("chat-folds")
row = partial(chat_rows.row, folds)

# -- tool calls ---------------------------------------------------------------------------------------

row(
    "another_intention_at_the_start",
    "AHP-TOOL-001",
    "AHP-TURN-036",
    start=working_chat(),
    does=[begins(intention="to look")],
    spoil=changed(intention="to find"),
)
row(
    "a_nicer_name_later",
    "AHP-TOOL-027",
    "AHP-TURN-036",
    start=working_chat(),
    does=[begins(), {**ready(), "_meta": {"a": 1}}],
    spoil=changed(displayName="Reading"),
)
row(
    "the_contributor_is_lost",
    "AHP-TOOL-025",
    "AHP-TURN-036",
    start=working_chat(),
    does=[begins(), ready()],
    spoil=changed(contributor=None),
    versions=BEFORE_07,
)
row(
    "a_late_contributor_is_taken",
    "AHP-TOOL-030",
    "AHP-TURN-036",
    start=working_chat(),
    does=[begins(intention="to look"), ready(intention="to find")],
    spoil=changed(intention="to look"),
    versions=FROM_07,
)
row(
    "input_is_replaced",
    "AHP-TOOL-004",
    "AHP-TURN-036",
    start=working_chat(),
    does=[begins(), about("Delta", content='{"a"'), about("Delta", content=":1}")],
    spoil=changed(partialInput=":1}"),
)
row(
    "ready_is_not_followed",
    "AHP-TOOL-005",
    "AHP-TURN-036",
    start=call("streaming"),
    does=[ready(confirmed=True)],
    spoil=changed(status="pending-confirmation"),
)
row(
    "a_late_result_of_a_cancelled_call",
    "AHP-TOOL-006",
    "AHP-TOOL-011",
    "AHP-TURN-036",
    start=call("cancelled"),
    does=[{**SUCCEEDED, "_by": "client"}],
    spoil=changed(status="completed", **DONE, confirmed="not-needed"),
)
row(
    "a_call_of_another_turn_is_met",
    "AHP-TOOL-010",
    "AHP-TURN-036",
    start=call("running"),
    does=[{**SUCCEEDED, "turnId": "earlier", "_by": "client"}],
    spoil=changed(status="completed", **DONE),
)
row(
    "content_is_appended",
    "AHP-TOOL-007",
    "AHP-TURN-036",
    start=call("running"),
    does=[PRODUCED],
    spoil=lambda state: the_call(state)["content"].append({"type": "text", "text": "more"}),
)
row(
    "streamed_content_stays",
    "AHP-TOOL-008",
    "AHP-TURN-036",
    start=call("running"),
    does=[PRODUCED, about("Complete", result=DONE)],
    spoil=changed(content=[{"type": "text", "text": "so far"}]),
)
row(
    "meta_is_dropped",
    "AHP-TOOL-009",
    "AHP-CONF-003",
    "AHP-TURN-036",
    start=pending(),
    does=[{**APPROVED, "_meta": {"app": "x"}}],
    spoil=changed(_meta=None, confirmed="setting"),
)
row(
    "the_wrong_call_is_approved",
    "AHP-TOOL-021",
    "AHP-CONF-003",
    "AHP-TURN-036",
    start=working_chat(
        part_of({**a_call("pending-confirmation", "a", contributor=None)}),
        part_of({**a_call("pending-confirmation", CALL, contributor=None)}),
        status=24,
    ),
    does=[APPROVED],
    spoil=lambda state: (
        state["activeTurn"]["responseParts"].reverse()
        or state["activeTurn"]["responseParts"][0]["toolCall"].update(toolCallId="a")
        or state["activeTurn"]["responseParts"][1]["toolCall"].update(toolCallId=CALL)
    ),
)
row(
    "an_approval_leaves_the_chat_waiting",
    "AHP-TOOL-023",
    start=pending(),
    does=[APPROVED],
    spoil=put("status", to=24),
)
row(
    "only_the_id_of_an_option",
    "AHP-CONF-003",
    "AHP-TURN-036",
    start=pending(),
    does=[{**APPROVED, "selectedOptionId": OPTION["id"]}],
    spoil=changed(selectedOption={**OPTION, "label": "x"}),
)
row(
    "a_suggestion_is_dropped",
    "AHP-CONF-004",
    "AHP-TURN-036",
    start=pending(),
    does=[DENIED],
    spoil=changed(userSuggestion=None),
)
row(
    "an_option_is_lost_with_the_result",
    "AHP-CONF-011",
    "AHP-TURN-036",
    start=pending(),
    does=[{**APPROVED, "selectedOptionId": OPTION["id"]}, SUCCEEDED],
    spoil=changed(selectedOption=None),
)
row(
    "partial_content_outlives_a_question",
    "AHP-CONF-013",
    "AHP-TURN-036",
    start=call("running"),
    does=[ready(confirmed=False, confirmationTitle="Still?")],
    spoil=changed(content=[{"type": "text", "text": "partial"}]),
)
row(
    "a_result_is_final_at_once",
    "AHP-CONF-014",
    "AHP-TOOL-006",
    "AHP-TURN-036",
    start=call("running"),
    does=[{**SUCCEEDED, "requiresResultConfirmation": True}],
    spoil=changed(status="completed"),
)
row(
    "a_refused_result_is_still_there",
    "AHP-CONF-015",
    "AHP-TURN-036",
    start=call("pending-result-confirmation"),
    does=[about("ResultConfirmed", approved=False)],
    spoil=changed(content=[{"type": "text", "text": "result"}]),
)
row(
    "a_risk_is_reassessed_without_options",
    "AHP-CONF-019",
    "AHP-CONF-013",
    "AHP-TURN-036",
    start=pending(),
    does=[ready(confirmed=False, riskAssessment={"kind": "judge", "status": "loading"})],
    spoil=changed(options=None),
)
row(
    "the_original_arguments_stay",
    "AHP-CONF-026",
    "AHP-TURN-036",
    start=pending(),
    does=[{**APPROVED, "editedToolInput": "new"}],
    spoil=changed(toolInput="old"),
)
row(
    "a_reference_is_overwritten",
    "AHP-CONF-027",
    "AHP-TURN-036",
    start=pending(toolInput={"uri": "x:y"}),
    does=[{**APPROVED, "editedToolInput": "new"}],
    spoil=changed(toolInput="new"),
    versions=FROM_07,
)
row(
    "input_outlives_a_question",
    "AHP-CONF-028",
    "AHP-TURN-036",
    start=call("running"),
    does=[about("Ready", invocationMessage="Again?")],
    spoil=changed(toolInput="{}"),
    versions=BEFORE_07,
)
row(
    "input_is_lost_with_a_question",
    "AHP-CONF-029",
    "AHP-TURN-036",
    start=call("running"),
    does=[about("Ready", invocationMessage="Again?")],
    spoil=changed(toolInput=None),
    versions=FROM_07,
)

# -- questions ----------------------------------------------------------------------------------------

row(
    "a_question_in_another_place",
    "AHP-INPUTREQ-004",
    "AHP-TURN-036",
    start=working_chat(TEXT),
    does=[asks("q", question())],
    spoil=lambda state: state["activeTurn"]["responseParts"].reverse(),
)
row(
    "drafts_are_wiped",
    "AHP-INPUTREQ-005",
    "AHP-INPUTREQ-007",
    "AHP-TURN-036",
    start=OPEN,
    does=[answers(state="draft"), asks("q", question(), question("two"))],
    spoil=put("activeTurn", "responseParts", 0, "request", "answers"),
)
row(
    "each_client_overwrites_the_answers",
    "AHP-INPUTREQ-007",
    "AHP-INPUTREQ-016",
    "AHP-TURN-036",
    start=OPEN,
    does=[answers(), answers("two")],
    spoil=put("activeTurn", "responseParts", 0, "request", "answers", "one"),
)
row(
    "an_answer_leaves_the_chat_waiting",
    "AHP-INPUTREQ-006",
    start=OPEN,
    does=[responds()],
    spoil=put("status", to=24),
)
row(
    "answers_replace_drafts",
    "AHP-INPUTREQ-007",
    "AHP-INPUTREQ-008",
    "AHP-TURN-036",
    start=OPEN,
    does=[answers(), responds(answers={"two": {"state": "skipped"}})],
    spoil=put("activeTurn", "responseParts", 0, "request", "answers", to={"two": {"state": "skipped"}}),
)
row(
    "an_answered_question_is_filtered_out",
    "AHP-INPUTREQ-008",
    "AHP-INPUTREQ-018",
    "AHP-TURN-006",
    start=OPEN,
    does=[responds(), ends()],
    spoil=put("turns", 0, "responseParts", to=[]),
)
row(
    "an_answered_question_is_opened_again",
    "AHP-INPUTREQ-004",
    "AHP-INPUTREQ-008",
    "AHP-INPUTREQ-023",
    "AHP-TURN-036",
    start=OPEN,
    does=[responds(), asks("q", question("new"))],
    spoil=put("activeTurn", "responseParts", 0),
)


@found(folds)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(folds)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
