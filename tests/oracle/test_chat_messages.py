"""Messages, drafts, errors and times of a chat."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN, message

from .traces import (
    SESSION,
    Case,
    Cases,
    Trace,
    calm_session,
    clean,
    ends,
    fails,
    finished,
    found,
    idle_chat,
    parts,
    starts,
    working_chat,
)

messages = Cases("chat-messages")

FILE = {"type": "simple", "label": "a", "_meta": {"nested": {"x": 1}}}
MODEL = {**message(), "model": {"id": "large"}}
WORKER = {"kind": "tool", "chat": "ahp-chat:/parent", "toolCallId": "spawn"}
ERROR = {"kind": "error", "error": {"errorType": "model", "message": "gone"}}
NEW = ("0.9.0", "1.0.0")
OLD = ("0.6.0", "0.8.0")


@messages.bad("AHP-CHAT-102", versions=NEW)
def an_error_as_an_ordinary_part(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": ERROR})


@messages.bad("AHP-DRAFT-003")
def a_draft_in_the_catalogue(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message()})
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"draft": message()}})


@messages.bad("AHP-DRAFT-003")
def a_draft_in_the_list_of_a_session(t: Trace) -> None:
    state = calm_session()
    state["chats"][0]["draft"] = message()
    t.follow(session=state, chat=None)


@messages.bad("AHP-TURN-029", beside=("origins",))
def attachments_are_dropped(t: Trace) -> None:
    t.follow()
    number = t.dispatch(CHAT, starts(message={**message(), "attachments": [FILE]}))
    t.envelope(CHAT, starts(message={**message(), "attachments": [{**FILE, "_meta": {}}]}), origin=("A", number))


@messages.bad("AHP-TURN-035", beside=("convergence",))
def the_model_is_not_recorded(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts(message=MODEL))
    t.envelope(CHAT, ends())
    t.subscribe(CHAT, idle_chat(turns=[finished()], modifiedAt="2026-01-01T00:01:00.005Z"))


@messages.bad("AHP-TURN-039", versions=OLD)
def a_long_turn_moves_nothing(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts())
    t.envelope(CHAT, {**ends(), "duration": 60000})
    t.subscribe(CHAT, idle_chat(turns=[{**finished(), "duration": 60000}]))


@messages.bad("AHP-TURN-042")
def a_tools_words_as_the_users(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(origin=WORKER))
    t.envelope(CHAT, starts())


@messages.bad("AHP-TURN-042")
def a_tools_words_as_the_users_in_a_snapshot(t: Trace) -> None:
    t.follow(session=None, chat=working_chat(origin=WORKER))


@messages.good("AHP-CHAT-102", versions=NEW)
def an_error_of_a_turn(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, fails(t.version))


@messages.good("AHP-DRAFT-003")
def a_draft_stays_in_its_chat(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message()})
    t.subscribe(SESSION, calm_session())


@messages.good("AHP-TURN-029", "AHP-TURN-035")
def a_message_with_everything(t: Trace) -> None:
    t.follow("AB")
    sent = {**MODEL, "attachments": [FILE]}
    number = t.dispatch(CHAT, starts(message=sent))
    # What a host adds of its own is no change.
    added = {**sent, "agent": {"uri": "agent:/default"}, "_meta": {"seen": True}}
    t.envelope(CHAT, starts(message=added), "AB", origin=("A", number))
    t.envelope(CHAT, parts(), "AB")
    t.envelope(CHAT, ends(), "AB")
    state = {**finished({"kind": "markdown", "id": "p", "content": "Hi"}), "message": added}
    t.subscribe(CHAT, idle_chat(turns=[state], modifiedAt="2026-01-01T00:01:00.005Z"))


@messages.good("AHP-TURN-039", versions=OLD)
def a_long_turn_moves_the_time(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts())
    t.envelope(CHAT, {**ends(), "duration": 60000})
    t.subscribe(CHAT, idle_chat(turns=[{**finished(), "duration": 60000}], modifiedAt="2026-01-01T00:02:00Z"))


@messages.good(versions=OLD)
def a_short_turn_may_be_shorter_than_the_clock(t: Trace) -> None:
    t.follow()
    t.echo(CHAT, starts())
    t.envelope(CHAT, ends())
    t.subscribe(CHAT, idle_chat(turns=[finished()]))


@messages.good("AHP-TURN-042")
def a_worker(t: Trace) -> None:
    asked = {"text": "look", "origin": {"kind": "agent"}}
    t.follow(session=None, chat=idle_chat(origin=WORKER))
    t.envelope(CHAT, starts(message=asked))


@messages.good()
def a_user_talks_to_a_worker(t: Trace) -> None:
    t.follow("A", session=None, chat=idle_chat(origin=WORKER))
    t.echo(CHAT, starts())
    t.envelope(CHAT, ends())
    late = idle_chat(origin=WORKER, turns=[finished()], modifiedAt="2026-01-01T00:01:00.005Z")
    t.follow("B", session=None, chat=late)


@messages.good()
def a_user_queues_for_a_worker(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(origin=WORKER))
    t.envelope(CHAT, starts(queuedMessageId="one"))


@messages.good(versions=OLD)
def a_turn_seen_right_before_its_end(t: Trace) -> None:
    t.handshake()
    t.subscribe(CHAT, working_chat(modifiedAt="2026-01-01T00:02:00Z"))
    t.envelope(CHAT, {**ends(), "duration": 60000})
    late = idle_chat(turns=[{**finished(), "duration": 60000}], modifiedAt="2026-01-01T00:02:00Z")
    t.subscribe(CHAT, late)


def test_others_may_have_talked_to_a_worker() -> None:
    """A log of one client does not show what another one's user has typed."""
    t = Trace()
    t.follow(session=None, chat=working_chat(origin=WORKER))
    assert t.judged().findings
    assert t.judged(whole=False).findings == []


@messages.good()
def a_client_counts_from_the_beginning_again(t: Trace) -> None:
    """The echo of what it said before it came back comes after what it says now under the same number."""
    t.follow()
    t.dispatch(CHAT, starts("old"), client_seq=1)
    t.dispatch(CHAT, starts("new", message={"text": "else", "origin": {"kind": "user"}}), client_seq=1)
    t.envelope(CHAT, starts("old"), origin=("A", 1))


@found(messages)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(messages)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
