"""Tokens of the suite are masked wherever they turn up, known to the recording or not."""

from __future__ import annotations

import pytest

from conformance.wire.frames import Frame, in_base64
from conformance.wire.tokens import FORM, new_token, without_tokens
from conformance.wire.transcript import masked


def test_a_token_of_another_recording_is_masked_too() -> None:
    token = new_token("vault-good")
    frame = Frame(0, 0.0, "A", "in", msg={"description": f"Bearer {token}", token: [token]})
    shown = masked(frame, {})
    assert shown.msg == {"description": "Bearer «token:vault-good»", "«token:vault-good»": ["«token:vault-good»"]}


def test_it_is_masked_in_binary_frames_and_in_text() -> None:
    token = new_token("x")
    frame = Frame(0, 0.0, "A", "in", raw=in_base64(b"\xff" + token.encode()), kind="binary")
    assert masked(frame, {}).data == b"\xff" + "«token:x»".encode()
    assert without_tokens(f"a {token} b") == "a «token:x» b"


def test_tokens_are_new_each_time_and_named_plainly() -> None:
    assert new_token("a") != new_token("a")
    assert FORM.fullmatch(new_token("a-b"))
    with pytest.raises(ValueError, match="small letters"):
        new_token("A 1")
