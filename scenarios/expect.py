"""Expectations of the Then steps: each says what was expected and what was seen, with the frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.client import Broken
from conformance.oracle.tracker import Envelope, Reply

JSON = Any


def expect(holds: object, message: str, *, expected: JSON, seen: JSON, frame: int | None = None) -> None:
    """Raise Broken unless ``holds``."""
    if not holds:
        raise Broken(message, expected=expected, seen=seen, frame=frame)


def expect_equal(seen: JSON, expected: JSON, what: str, *, frame: int | None = None) -> None:
    expect(seen == expected, f"{what} is not what it must be", expected=expected, seen=seen, frame=frame)


def expect_error(reply: Reply | None, *codes: int, what: str = "the request") -> None:
    """The reply is an error, with one of ``codes`` when the text names any."""
    if reply is None:
        raise LookupError("no step has made a request")
    expect(
        reply.failed,
        f"{what} was not refused",
        expected=f"an error with code {' or '.join(map(str, codes))}" if codes else "an error",
        seen=reply.frame.msg,
        frame=reply.frame.n,
    )
    code = reply.error.get("code") if isinstance(reply.error, dict) else None
    expect(
        not codes or code in codes,
        f"{what} was refused with the code {code}",
        expected=f"code {' or '.join(map(str, codes))}",
        seen=reply.error,
        frame=reply.frame.n,
    )


def expect_success(reply: Reply | None, what: str = "the request") -> JSON:
    if reply is None:
        raise LookupError("no step has made a request")
    expect(not reply.failed, f"{what} was refused", expected="a result", seen=reply.error, frame=reply.frame.n)
    return reply.result


def expect_rejected(echo: Envelope) -> None:
    expect(
        isinstance(echo.rejection, str) and echo.rejection,
        f"{echo.type} came back as accepted",
        expected="an envelope with rejectionReason",
        seen=echo.message,
        frame=echo.frame.n,
    )


def expect_no_origin(envelopes: Iterable[Envelope]) -> None:
    """What the host says by itself names no client."""
    for envelope in envelopes:
        expect(
            envelope.origin is None,
            f"{envelope.type} names an origin",
            expected="no origin",
            seen=envelope.message,
            frame=envelope.frame.n,
        )


def activity(state: JSON) -> int:
    """The activity value: the low five bits of a status."""
    status = state.get("status") if isinstance(state, dict) else None
    return status & 31 if isinstance(status, int) else -1
