"""What the host refers to can be had."""

from __future__ import annotations

from tests.protocol.examples import CHAT, TURN

from .traces import (
    DONE,
    JSON,
    Case,
    Cases,
    Trace,
    about,
    begins,
    clean,
    ends,
    finished,
    found,
    idle_chat,
    ready,
    working_chat,
)

references = Cases("content-references")

URI = "agent-content:/1"
INPUT = {"uri": URI}
LATER = ("0.7.0", "0.9.0", "1.0.0")
TERMINAL = {"type": "terminal", "resource": "ahp-terminal:/t1", "title": "Shell"}


def reads(t: Trace, data: str | None, uri: str = URI, code: int = -32008, conn: str = "A") -> None:
    """resourceRead, with the text that comes, or an error."""
    identity = t.ask("resourceRead", conn, uri=uri)
    if data is None:
        t.error(identity, code, conn)
    else:
        t.result(identity, {"data": data, "encoding": "utf-8"}, conn)


def edits(t: Trace, conns: str = "A") -> None:
    """A call with its input by reference, approved with another one."""
    t.follow(conns, chat=working_chat())
    t.envelope(CHAT, begins(contributor=None), conns)
    t.envelope(CHAT, {**ready(confirmed=False, editable=True), "toolInput": INPUT}, conns)
    confirmed = about("Confirmed", approved=True, confirmed="user-action", editedToolInput="new")
    t.echo(CHAT, confirmed, to=conns)


def produces(t: Trace, *content: JSON) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("Complete", result={**DONE, "content": list(content)}))


@references.bad("AHP-TURN-030")
def a_part_that_cannot_be_read(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    t.envelope(CHAT, ends())
    reads(t, None)


@references.bad("AHP-TURN-030")
def a_part_of_a_snapshot_that_cannot_be_read(t: Trace) -> None:
    t.follow(session=None, chat=idle_chat(turns=[finished({"kind": "contentRef", **INPUT})]))
    reads(t, None)


@references.bad("AHP-TOOL-032", versions=LATER)
def an_input_that_cannot_be_read(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, {**ready(), "toolInput": INPUT})
    reads(t, None)


@references.bad("AHP-CHAT-109", versions=LATER)
def the_edited_input_comes_later(t: Trace) -> None:
    edits(t)
    reads(t, "old")


@references.bad("AHP-TOOL-033")
def a_result_that_cannot_be_read(t: Trace) -> None:
    produces(t, {"type": "resource", **INPUT})
    reads(t, None)


@references.bad("AHP-TOOL-033")
def a_side_of_an_edit_that_cannot_be_read(t: Trace) -> None:
    produces(t, {"type": "fileEdit", "after": {"uri": "file:///a", "content": INPUT}})
    reads(t, None)


@references.bad("AHP-TOOL-017")
def a_terminal_of_a_running_call_is_not_there(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("ContentChanged", content=[TERMINAL]))
    t.error(t.ask("subscribe", channel="ahp-terminal:/t1"), -32008)


@references.good("AHP-TURN-030", "AHP-TOOL-033", "AHP-TOOL-017")
def everything_can_be_had(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    reads(t, "a part")
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("ContentChanged", content=[TERMINAL]))
    state: JSON = {"title": "Shell", "content": [], "claim": {"kind": "client", "clientId": "client-A"}}
    if t.version >= "0.9.0":
        state["lifecycle"] = {"status": "running"}
    t.subscribe("ahp-terminal:/t1", state)
    result = {"type": "resource", "uri": "agent-content:/2"}
    t.envelope(CHAT, about("Complete", result={**DONE, "content": [result]}))
    reads(t, "a result", "agent-content:/2")


@references.good("AHP-TOOL-032", "AHP-CHAT-109", versions=LATER)
def an_edited_input(t: Trace) -> None:
    edits(t, "AB")
    reads(t, "new", conn="B")


@references.good()
def what_nobody_may_read(t: Trace) -> None:
    produces(t, {"type": "resource", **INPUT})
    reads(t, None, code=-32009)
    reads(t, None, code=-32601)
    reads(t, None, "file:///elsewhere")


@references.good()
def a_terminal_that_went_with_its_call(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("ContentChanged", content=[TERMINAL]))
    t.envelope(CHAT, about("Complete", result=DONE))
    t.error(t.ask("subscribe", channel="ahp-terminal:/t1"), -32008)


@references.good()
def what_was_truncated_is_no_longer_kept(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    t.echo(CHAT, {"type": "chat/truncated"})
    reads(t, None)


@references.good()
def what_was_truncated_while_it_was_read(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    identity = t.ask("resourceRead", uri=URI)
    t.envelope(CHAT, {"type": "chat/truncated"}, origin=("Z", 7))
    t.error(identity, -32008)


@references.good()
def what_was_named_before_the_client_left(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    t.notify("unsubscribe", channel=CHAT)
    reads(t, None)


@references.good()
def who_needs_a_token_first(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **INPUT}})
    t.error(t.ask("resourceRead", uri=URI), -32007, data={"resources": []})


@references.good()
def a_terminal_that_ends_while_somebody_subscribes(t: Trace) -> None:
    t.follow(chat=working_chat())
    t.envelope(CHAT, begins(contributor=None))
    t.envelope(CHAT, ready())
    t.envelope(CHAT, about("ContentChanged", content=[TERMINAL]))
    identity = t.ask("subscribe", channel=TERMINAL["resource"])
    t.envelope(CHAT, about("Complete", result=DONE))
    t.error(identity, -32008)


@references.good(versions=LATER)
def an_input_that_is_asked_about_anew(t: Trace) -> None:
    edits(t)
    t.envelope(CHAT, {**ready(confirmed=False, editable=True, confirmationTitle="Again?"), "toolInput": INPUT})
    reads(t, "the new proposal")


@found(references)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(references)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
