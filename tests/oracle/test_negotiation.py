"""The handshake: what is chosen, and who is refused."""

from __future__ import annotations

from typing import Any

from .traces import ROOT, SESSION, Case, Cases, Trace, calm_session, clean, found, root

negotiation = Cases("negotiation")

OLD = ("0.6.0", "0.9.0")
NEW = ("1.0.0",)
UNSUPPORTED = -32005


def offers(
    t: Trace, conn: str, *versions: Any, answer: str | None = None, code: int | None = None, **more: Any
) -> None:
    """A handshake with an offer; the answer is a version, or an error with ``code``. ``more`` are params, and data."""
    data = {"data": more.pop("data")} if "data" in more else {}
    params: dict[str, Any] = {"protocolVersions": list(versions), "clientId": f"client-{conn}", **more}
    identity = t.ask("initialize", conn, **params)
    if code is not None:
        t.error(identity, code, conn, **data)
    elif answer is not None:
        snapshots = [t.snapshot(ROOT, root())] if "initialSubscriptions" in more else []
        t.result(identity, {"protocolVersion": answer, "serverSeq": t.seq, "snapshots": snapshots}, conn)


def names(*versions: str) -> dict[str, Any]:
    return {"supportedVersions": list(versions)}


# -- the choice ---------------------------------------------------------------------------------------


@negotiation.bad("AHP-INIT-002", versions=OLD)
def a_version_that_was_not_offered(t: Trace) -> None:
    offers(t, "A", "0.6.0", answer="0.6.1")


@negotiation.bad("AHP-INIT-027", versions=OLD, beside=("shapes",))
def an_empty_offer_is_accepted(t: Trace) -> None:
    offers(t, "A", answer=t.version)


@negotiation.bad("AHP-INIT-007", "AHP-INIT-008", versions=OLD)
def an_older_version_that_was_offered_later(t: Trace) -> None:
    offers(t, "A", "0.9.0", answer="0.9.0")
    offers(t, "B", "0.9.0", "0.6.0", answer="0.6.0")


@negotiation.bad("AHP-INIT-008", versions=NEW)
def an_older_line_of_a_host_that_speaks_both(t: Trace) -> None:
    offers(t, "A", "1.0.0", answer="1.0.0")
    offers(t, "B", "0.9.0", "1.0.0", answer="0.9.0")


@negotiation.bad("AHP-INIT-009", versions=OLD)
def a_second_handshake_chooses_anew(t: Trace) -> None:
    offers(t, "A", "0.9.0", answer="0.9.0")
    offers(t, "A", "0.6.0", answer="0.6.0")


@negotiation.bad("AHP-VER-101", versions=NEW)
def the_first_of_a_line_and_not_the_highest(t: Trace) -> None:
    offers(t, "A", "1.2.0", "1.10.0", "1.0.0", answer="1.2.0")


@negotiation.bad("AHP-VER-105", versions=NEW)
def an_entry_that_is_no_version_is_passed_over(t: Trace) -> None:
    offers(t, "A", "1.0", "1.0.0", answer="1.0.0")


@negotiation.bad("AHP-VER-106", versions=NEW)
def a_version_that_the_host_does_not_name(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED, data=names("^1.0.0", "^0.9.0"))
    offers(t, "B", "1.0.0", answer="1.0.0")
    offers(t, "C", "0.10.0", answer="0.10.0")


@negotiation.good("AHP-INIT-001", "AHP-INIT-002", "AHP-INIT-026", "AHP-INIT-030", versions=OLD)
def the_only_version_of_the_host(t: Trace) -> None:
    offers(t, "A", "99.0.0", t.version, "0.0.1", answer=t.version)


@negotiation.good("AHP-INIT-007", "AHP-INIT-008", versions=OLD)
def the_first_or_the_highest(t: Trace) -> None:
    """A-01: one page asks for the one, another page for the other."""
    offers(t, "A", "0.6.0", answer="0.6.0")
    offers(t, "B", "0.9.0", answer="0.9.0")
    offers(t, "C", "0.6.0", "0.9.0", answer="0.6.0")
    offers(t, "D", "0.6.0", "0.9.0", answer="0.9.0")
    offers(t, "E", "0.9.0", "0.6.0", answer="0.9.0")


@negotiation.good("AHP-INIT-009", "AHP-INIT-015", versions=OLD)
def a_second_handshake_changes_nothing(t: Trace) -> None:
    """A-06."""
    offers(t, "A", t.version, answer=t.version)
    offers(t, "A", t.version, answer=t.version)
    offers(t, "A", "0.6.0", code=-32600)


@negotiation.good("AHP-INIT-008", "AHP-VER-101", "AHP-VER-102", "AHP-VER-106", "AHP-VER-112", versions=NEW)
def a_host_of_two_lines(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED, data=names("^1.0.0", "^0.9.0"))
    offers(t, "B", "1.0.0", answer="1.0.0")
    offers(t, "C", "0.9.0", "1.10.0", "1.7.3", "1.0.0", answer="1.10.0")
    offers(t, "D", "0.9.1", answer="0.9.1")


@negotiation.good(versions=OLD)
def names_that_are_not_understood_cover_everything(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED, data=names("1.x"))
    offers(t, "B", "1.0.0", answer="1.0.0")
    offers(t, "C", t.version, answer=t.version)


# -- refusals -----------------------------------------------------------------------------------------


@negotiation.bad("AHP-INIT-001", "AHP-INIT-015", versions=OLD)
def a_handshake_is_answered_by_the_end(t: Trace) -> None:
    offers(t, "A", t.version)
    t.add("A", "in", kind="close", code=1000, raw="")


@negotiation.good(versions=OLD)
def a_host_that_dies_in_the_handshake(t: Trace) -> None:
    offers(t, "A", t.version)
    t.add("A", "in", kind="close", code=1006, raw="")


@negotiation.bad("AHP-INIT-004", versions=OLD)
def unknown_versions_are_refused_with_another_code(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=-32603)


@negotiation.bad("AHP-INIT-006", versions=OLD)
def a_refused_client_is_served(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED)
    t.call("listSessions", {"items": []})


@negotiation.bad("AHP-INIT-019", versions=OLD)
def an_unknown_capability_is_refused(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version)
    offers(t, "B", t.version, code=-32602, capabilities={"conformanceUnknown": {}})


@negotiation.bad("AHP-INIT-026", versions=OLD)
def unknown_versions_spoil_the_offer(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version)
    offers(t, "B", "99.0.0", t.version, code=UNSUPPORTED)


@negotiation.bad("AHP-INIT-029", versions=OLD)
def a_version_that_was_named_is_refused(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED, data=names(f"^{t.version}"))
    offers(t, "B", t.version, code=UNSUPPORTED, data=names(f"^{t.version}"))


@negotiation.bad("AHP-INIT-030", versions=OLD)
def the_least_is_not_enough(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version, initialSubscriptions=[ROOT])
    offers(t, "B", t.version, code=-32602)


@negotiation.bad("AHP-VER-102", versions=NEW)
def a_later_version_of_the_line_is_refused(t: Trace) -> None:
    offers(t, "A", "1.0.0", answer="1.0.0")
    offers(t, "B", "1.7.3", code=UNSUPPORTED, data=names("1.0.0"))


@negotiation.bad("AHP-VER-103", versions=NEW)
def a_refusal_names_no_version(t: Trace) -> None:
    offers(t, "A", "1.0.0", answer="1.0.0")
    offers(t, "B", "99.0.0", code=UNSUPPORTED)


@negotiation.bad("AHP-VER-112", versions=NEW)
def the_older_line_is_refused(t: Trace) -> None:
    offers(t, "A", "1.0.0", answer="1.0.0")
    offers(t, "B", "0.9.0", code=UNSUPPORTED, data=names("^1.0.0"))


@negotiation.good("AHP-INIT-004", "AHP-INIT-006", "AHP-INIT-015", "AHP-INIT-027", "AHP-INIT-029", versions=OLD)
def refusals_as_they_should_be(t: Trace) -> None:
    offers(t, "A", "99.0.0", code=UNSUPPORTED, data=names(t.version))
    t.error(t.ask("listSessions"), -32600)
    t.ping()
    t.add("A", "in", kind="close", code=1000, raw="")
    offers(t, "B", code=-32602)
    offers(t, "C", t.version, answer=t.version)


@negotiation.good("AHP-VER-103", "AHP-VER-105", versions=NEW)
def refusals_of_a_newer_host(t: Trace) -> None:
    offers(t, "A", "1.0.0", answer="1.0.0")
    offers(t, "B", "99.0.0", code=UNSUPPORTED, data=names("^1.0.0", "^0.9.0"))
    offers(t, "C", "1.0", "1.0.0", code=UNSUPPORTED, data=names("^1.0.0", "^0.9.0"))
    offers(t, "D", "0.8.0", "0.10.0", code=UNSUPPORTED, data=names("^1.0.0", "^0.9.0"))


@negotiation.good("AHP-INIT-019", versions=OLD)
def unknown_capabilities_do_no_harm(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version, capabilities={"conformanceUnknown": {}, "mcpApps": {}})


@negotiation.good(versions=OLD)
def an_offer_that_is_malformed_is_refused(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version)
    offers(t, "B", t.version, 5, code=-32602)
    offers(t, "C", t.version, code=-32602, locale=7)
    t.error(t.ask("initialize", "D", protocolVersions="x", clientId="D"), -32602, "D")


# -- before and beside a handshake --------------------------------------------------------------------


@negotiation.bad("AHP-INIT-014", versions=OLD)
def a_client_is_served_before_its_handshake(t: Trace) -> None:
    t.call("listSessions", {"items": []})
    offers(t, "A", t.version, answer=t.version)


@negotiation.good("AHP-INIT-014", versions=OLD)
def a_client_is_not_served_before_its_handshake(t: Trace) -> None:
    t.ping()
    t.error(t.ask("listSessions"), -32600)
    offers(t, "A", t.version, answer=t.version)


@negotiation.good(versions=OLD)
def a_recording_from_the_middle(t: Trace) -> None:
    t.call("listSessions", {"items": []})
    t.subscribe(SESSION, calm_session())


@negotiation.bad("AHP-RECON-025", versions=OLD)
def a_refused_reconnect_opens_the_door(t: Trace) -> None:
    t.error(t.ask("reconnect", clientId="nobody", lastSeenServerSeq=0, subscriptions=[ROOT]))
    t.call("listSessions", {"items": []})


@negotiation.bad("AHP-RECON-026", versions=OLD)
def a_refused_reconnect_locks_the_door(t: Trace) -> None:
    offers(t, "A", t.version, answer=t.version)
    t.error(t.ask("reconnect", "B", clientId="nobody", lastSeenServerSeq=0, subscriptions=[ROOT]), conn="B")
    offers(t, "B", t.version, code=-32600)


@negotiation.good("AHP-RECON-025", "AHP-RECON-026", versions=OLD)
def a_refused_reconnect_leads_to_a_handshake(t: Trace) -> None:
    t.error(t.ask("reconnect", clientId="nobody", lastSeenServerSeq=0, subscriptions=[ROOT]))
    t.error(t.ask("listSessions"))
    offers(t, "A", t.version, answer=t.version)


@negotiation.good(versions=OLD)
def a_reconnect_where_there_is_a_connection_already(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("reconnect", clientId="client-A", lastSeenServerSeq=0, subscriptions=[ROOT]))
    t.call("listSessions", {"items": []})


@negotiation.good("AHP-INIT-015", versions=OLD)
def a_token_is_asked_for_before_the_handshake(t: Trace) -> None:
    t.handshake()
    offers(t, "B", t.version, code=-32007, data={"resources": []})
    offers(t, "C", "99.0.0", t.version, code=-32007, data={"resources": []})
    offers(t, "D", "99.0.0", code=-32007, data={"resources": []})


@found(negotiation)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(negotiation)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)
