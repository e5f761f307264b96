"""The agent that needs a token: refusals, the token, and what others see of it."""

from __future__ import annotations

import pytest

from conformance.host import guarded

from .driving import Driven, Stage


def _use(client: Driven, uri: str = "ahp-session:/guarded") -> dict[str, object]:
    answer: dict[str, object] = client.request("createSession", uri, provider=guarded.PROVIDER)
    return answer


def test_without_a_token_the_agent_cannot_be_used() -> None:
    stage = Stage()
    error = stage.a.error("createSession", "ahp-session:/guarded", provider=guarded.PROVIDER)
    assert error["code"] == -32007
    assert [r["resource"] for r in error["data"]["resources"]] == [guarded.RESOURCE]


@pytest.mark.parametrize(("version", "resource"), [("0.6.0", guarded.RESOURCE), ("0.9.0", guarded.METADATA)])
def test_the_need_is_announced_to_a_client_that_watches_the_root(version: str, resource: object) -> None:
    stage = Stage(version=version)
    _use(stage.a)
    assert stage.a.notes("auth/required") == [{"channel": "ahp-root://", "resource": resource, "reason": "required"}]
    unaware = stage.client("B")
    _use(unaware)
    assert unaware.notes("auth/required") == []


def test_a_good_token_serves_the_client_that_pushed_it() -> None:
    stage = Stage()
    other = stage.client("B")
    assert stage.a.result("authenticate", resource=guarded.RESOURCE, token=guarded.TOKEN) == {}
    assert "error" not in _use(stage.a)
    assert "error" in _use(other, "ahp-session:/other")


def test_a_refused_token_leaves_the_good_one_alone() -> None:
    stage = Stage()
    stage.a.result("authenticate", resource=guarded.RESOURCE, token=guarded.TOKEN)
    assert stage.a.error("authenticate", resource=guarded.RESOURCE, token="bad")["code"] == -32007
    assert "error" not in _use(stage.a)


def test_an_empty_token_takes_the_authentication_back() -> None:
    stage = Stage()
    stage.a.result("authenticate", resource=guarded.RESOURCE, token=guarded.TOKEN)
    assert stage.a.result("authenticate", resource=guarded.RESOURCE, token="") == {}
    assert "error" in _use(stage.a)
