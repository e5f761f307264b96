"""Tokens do not come back."""

from __future__ import annotations

from tests.protocol.examples import CHAT, auth, server

from .traces import (
    JSON,
    SESSION,
    Case,
    Cases,
    Trace,
    a_call,
    about,
    auth_entry,
    calm_session,
    clean,
    found,
    lists,
    part_of,
    working_chat,
)

secrets = Cases("secrets")

TOKEN = "ahpc-token-0123456789"


def push(t: Trace, token: str = TOKEN) -> None:
    t.call("authenticate", {}, resource="https://other.example", token=token)


def told(text: str = TOKEN) -> JSON:
    return {**auth(), "description": f"refused: Bearer {text}"}


@secrets.bad("AHP-AUTH-013")
def a_token_in_an_error(t: Trace) -> None:
    t.handshake()
    t.error(t.ask("authenticate", resource="x", token=TOKEN), -32602, data={"params": {"token": TOKEN}})


@secrets.bad("AHP-AUTH-013")
def a_token_in_meta_for_somebody_else(t: Trace) -> None:
    t.handshake("A")
    t.handshake("B")
    push(t)
    t.subscribe(SESSION, calm_session(_meta={"kept": TOKEN}), "B")


@secrets.bad("AHP-AUTH-013")
def a_token_with_signs_that_json_escapes(t: Trace) -> None:
    t.handshake()
    push(t, 'a "quoted" täken')
    t.subscribe(SESSION, calm_session(_meta={"kept": 'a "quoted" täken'}))


@secrets.bad("AHP-AUTH-013", "AHP-TOOLAUTH-019")
def a_token_in_the_challenge_of_a_call(t: Trace) -> None:
    t.follow(chat=working_chat(), session=None)
    push(t)
    t.running()
    t.envelope(CHAT, about("AuthRequired", auth=told()))


@secrets.bad("AHP-AUTH-013", "AHP-TOOLAUTH-019")
def a_token_in_the_entry_of_a_call(t: Trace) -> None:
    t.follow(chat=None)
    push(t)
    t.envelope(SESSION, lists(auth_entry(toolCall={**a_call("auth-required"), "auth": told()})))


@secrets.bad("AHP-AUTH-013", "AHP-MCP-023")
def a_token_in_the_challenge_of_a_server(t: Trace) -> None:
    t.handshake()
    push(t)
    t.subscribe(SESSION, calm_session(customizations=[{**server(), "state": {"kind": "authRequired", **told()}}]))


@secrets.good("AHP-AUTH-013", "AHP-TOOLAUTH-019", "AHP-MCP-023")
def challenges_without_tokens(t: Trace) -> None:
    t.handshake()
    push(t)
    t.subscribe(SESSION, calm_session(customizations=[{**server(), "state": {"kind": "authRequired", **auth()}}]))
    t.subscribe(CHAT, working_chat(part_of(a_call("auth-required")), status=24))


@secrets.good()
def a_short_token_stands_in_any_text(t: Trace) -> None:
    t.handshake()
    push(t, "token")
    push(t, "")
    t.subscribe(SESSION, calm_session(_meta={"hint": "push a token"}))


@secrets.good()
def what_the_suite_said_aloud_itself(t: Trace) -> None:
    t.follow()
    push(t, "a-spoken-token")
    t.echo(SESSION, {"type": "session/titleChanged", "title": "a-spoken-token"})


@secrets.good()
def before_it_was_pushed_it_was_no_token(t: Trace) -> None:
    t.handshake()
    t.subscribe(SESSION, calm_session(_meta={"x": TOKEN}))
    push(t)


@found(secrets)
def test_is_found(case: Case, version: str) -> None:
    case.is_found(version)


@clean(secrets)
def test_is_not_accused(case: Case, version: str) -> None:
    case.is_clean(version)


def test_a_finding_does_not_repeat_the_secret() -> None:
    t = Trace()
    a_token_with_signs_that_json_escapes(t)
    (finding,) = t.judged().findings
    assert "quoted" not in finding.seen
