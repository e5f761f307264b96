"""The handshake: which version is chosen, who is refused and how, and that it is done once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Reply, Request
from conformance.protocol import NEWEST, is_version, params_violations, parse_version
from conformance.wire.frames import Frame

UNSUPPORTED, AUTH_REQUIRED = -32005, -32007
_KNOWN_CAPABILITIES = frozenset({"mcpApps", "_meta"})
_LEAST = frozenset({"channel", "protocolVersions", "clientId"})
# Closing codes of a host that ends a connection on purpose, for a reason of its own (RFC 6455 7.4).
_ON_PURPOSE = frozenset({1000, 1008})

Numbers = tuple[int, int, int]


@dataclass(slots=True)
class Attempt:
    """A connection before and during its handshake."""

    fresh: bool  # its first frame in the recording is the client's
    requests: int = 0  # other than ping
    # What was asked and served before any handshake, with the frame of the answer; the last refused reconnect.
    served: tuple[str, int] | None = None
    refused_reconnect: bool = False
    refused_version: bool = False
    version: str | None = None
    pending: Request | None = None
    junk: bool = False


class Negotiation(Rule):
    """One offered version is chosen by the rules of the text, once, and before everything else."""

    name = "negotiation"
    obligations = (
        "AHP-INIT-001",
        "AHP-INIT-002",
        "AHP-INIT-004",
        "AHP-INIT-006",
        "AHP-INIT-007",
        "AHP-INIT-008",
        "AHP-INIT-009",
        "AHP-INIT-014",
        "AHP-INIT-015",
        "AHP-INIT-019",
        "AHP-INIT-026",
        "AHP-INIT-027",
        "AHP-INIT-029",
        "AHP-INIT-030",
        "AHP-RECON-025",
        "AHP-RECON-026",
        "AHP-VER-101",
        "AHP-VER-102",
        "AHP-VER-103",
        "AHP-VER-105",
        "AHP-VER-106",
        "AHP-VER-112",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._attempts: Bounded[str, Attempt] = Bounded(1024)
        # Versions that the host has accepted, and what it named in refusals.
        self._accepted: Bounded[str, None] = Bounded(64)
        self._named: Bounded[str, None] = Bounded(64)
        # What can only be judged when it is known what the host speaks: results, and refusals.
        self._chosen: Bounded[int, tuple[list[str], str]] = Bounded(256)
        self._refused: Bounded[int, tuple[list[str], bool]] = Bounded(256)

    def frame(self, frame: Frame) -> None:
        attempt = self._attempts.get(frame.conn)
        if attempt is None:
            attempt = self._attempts[frame.conn] = Attempt(
                frame.dir == "out" and member(frame.msg, "method") is not None
            )
        if frame.dir == "out" and frame.kind not in ("json", "close"):
            attempt.junk = True
        elif frame.kind == "close" and frame.dir == "in":
            self._closed(attempt, frame)

    def _closed(self, attempt: Attempt, frame: Frame) -> None:
        if attempt.pending is not None and not attempt.junk and frame.code in _ON_PURPOSE:
            self.find(
                ("AHP-INIT-001", "AHP-INIT-015"),
                "the host ended a connection without an answer to initialize",
                expected="a result, or an error and then the end",
                seen=f"the end, code {frame.code}",
                frame=frame.n,
            )

    def request(self, request: Request) -> None:
        attempt = self._attempts.setdefault(request.conn, Attempt(False))
        if request.method == "initialize":
            attempt.pending = request
        attempt.requests += request.method != "ping"

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None:
            return
        attempt = self._attempts.setdefault(reply.conn, Attempt(False))
        if request.method == "initialize":
            attempt.pending = None
            if reply.failed or member(reply.result, "protocolVersion") is not None:
                self.watch("AHP-INIT-001")
            self._initialize(attempt, request, reply)
        elif request.method == "reconnect":
            if reply.failed:
                attempt.refused_reconnect = attempt.version is None and attempt.fresh and attempt.requests == 1
            else:
                attempt.version = self.version(reply.conn) or ""
        elif request.method != "ping" and attempt.version is None and attempt.fresh:
            self._before(attempt, request, reply)

    # -- what comes before a handshake ----------------------------------------------------------------

    def _before(self, attempt: Attempt, request: Request, reply: Reply) -> None:
        if attempt.refused_version:
            self.watch("AHP-INIT-006")
            if not reply.failed:
                self._served(reply, "AHP-INIT-006", "a connection whose versions were refused is served on")
        elif attempt.refused_reconnect:
            self.watch("AHP-RECON-025")
            if not reply.failed:
                self._served(reply, "AHP-RECON-025", "a refused reconnect opened the connection")
        elif not reply.failed:
            attempt.served = attempt.served or (request.method, reply.frame.n)
        else:
            self.watch("AHP-INIT-014")

    def _served(self, reply: Reply, obligation: str, message: str) -> None:
        self.find(obligation, message, expected="an error, or the end", seen=reply.frame.msg, frame=reply.frame.n)

    # -- the handshake --------------------------------------------------------------------------------

    def _initialize(self, attempt: Attempt, request: Request, reply: Reply) -> None:
        offered = member(request.params, "protocolVersions")
        versions = texts(offered)
        again = attempt.version is not None
        sound = isinstance(offered, list) and len(versions) == len(offered)
        if reply.failed:
            self.watch("AHP-INIT-015", *(["AHP-INIT-009"] if again else []))
            if not again:
                self._refusal(attempt, request, reply, versions, sound=sound)
            return
        chosen = text(member(reply.result, "protocolVersion"))
        if attempt.served is not None and not again:
            method, frame = attempt.served
            self.find(
                "AHP-INIT-014",
                f"{method} was carried out before the handshake",
                expected="an error",
                seen=f"a result to {method}",
                frame=frame,
            )
        if attempt.refused_version:
            self.watch("AHP-INIT-006")
        if attempt.refused_reconnect:
            self.watch("AHP-RECON-026")
        if again:
            self.watch("AHP-INIT-009")
            if attempt.version and chosen != attempt.version:
                self.find(
                    "AHP-INIT-009",
                    "a second initialize chose another version",
                    expected=f"an error, or {attempt.version}",
                    seen=chosen,
                    frame=reply.frame.n,
                )
            return
        attempt.version = chosen or ""
        if chosen is not None and sound:
            self._choice(request, reply, versions, chosen)

    def _choice(self, request: Request, reply: Reply, versions: list[str], chosen: str) -> None:
        if not versions:
            self._chose(reply, "AHP-INIT-027", "an empty offer was accepted", "an error", chosen)
            return
        self.watch("AHP-INIT-002")
        if chosen not in versions:
            self._chose(reply, "AHP-INIT-002", "the chosen version was not offered", versions, chosen)
            return
        self._accepted[chosen] = None
        self._chosen[reply.frame.n] = (versions, chosen)
        if len(versions) > 1:
            self.watch("AHP-INIT-026")
        if request.params.keys() <= _LEAST:
            self.watch("AHP-INIT-030")
        if unknown_capabilities(request):
            self.watch("AHP-INIT-019")
        if chosen in self._named:
            self.watch("AHP-INIT-029")
        if not _is_newer_line(chosen):
            return
        self.watch("AHP-VER-101", "AHP-VER-102")
        self._malformed(reply, versions, chosen)
        higher = [v for v in versions if _numbers(v) and _line(v) == _line(chosen) and _above(v, chosen)]
        if higher:
            message = "a 1.x host did not choose the highest version of its line"
            self._chose(reply, "AHP-VER-101", message, max(higher, key=_order), chosen)

    def _malformed(self, reply: Reply, versions: list[str], chosen: str) -> None:
        odd = [v for v in versions if _numbers(v) is None]
        if odd:
            message = "an offer with an entry that is no version was accepted"
            self._chose(reply, "AHP-VER-105", message, f"an error because of {odd}", chosen)

    def _chose(self, reply: Reply, obligation: str, message: str, expected: Any, chosen: Any) -> None:
        self.find(obligation, message, expected=expected, seen=chosen, frame=reply.frame.n)

    def _refusal(self, attempt: Attempt, request: Request, reply: Reply, versions: list[str], *, sound: bool) -> None:
        code = whole(member(reply.error, "code"))
        if sound and not versions:
            self.watch("AHP-INIT-027")
        named = texts(member(member(reply.error, "data"), "supportedVersions"))
        for version in named:
            self._named[version] = None
        if code == UNSUPPORTED:
            attempt.refused_version = attempt.fresh and attempt.requests == 1
            self._refused[reply.frame.n] = (versions, bool(named))
        fine = sound and bool(versions) and all(_numbers(v) for v in versions)
        if code == AUTH_REQUIRED:
            # It comes to versions when the client may speak at all.
            return
        if not fine or params_violations(NEWEST, "initialize", request.params):
            return
        if all(_numbers(v, at_least=parse_version(NEWEST)[0] + 1) for v in versions):
            self.watch("AHP-INIT-004")
            if code != UNSUPPORTED:
                self._refuses(reply, "AHP-INIT-004", "an offer of unknown versions has another error", UNSUPPORTED)
            return
        exact = [v for v in versions if v in self._named or f"^{v}" in self._named]
        if code == UNSUPPORTED and exact:
            self._refuses(reply, "AHP-INIT-029", "a version that the host had named is refused", exact)
            return
        spoken = [v for v in versions if v in self._accepted]
        if not spoken:
            return
        if attempt.refused_reconnect:
            obligation = "AHP-RECON-026"
        elif unknown_capabilities(request):
            obligation = "AHP-INIT-019"
        elif len(versions) > 1:
            obligation = "AHP-INIT-026"
        elif request.params.keys() <= _LEAST:
            obligation = "AHP-INIT-030"
        else:
            return
        self._refuses(reply, obligation, "an offer with a version that the host speaks is refused", spoken)

    def _refuses(self, reply: Reply, obligation: str, message: str, expected: Any) -> None:
        self.find(obligation, message, expected=expected, seen=reply.error, frame=reply.frame.n)

    # -- when all is known ----------------------------------------------------------------------------

    def end(self) -> None:
        for frame, (versions, chosen) in self._chosen.items():
            self._preference(frame, versions, chosen)
        newer = any(_is_newer_line(v) for v in self._accepted)
        for frame, (versions, names_some) in self._refused.items() if newer else ():
            self.watch("AHP-VER-103", *(["AHP-VER-105"] if any(_numbers(v) is None for v in versions) else []))
            if not names_some:
                message = "a 1.x host refused a version without naming those it speaks"
                self._late("AHP-VER-103", message, versions, frame)
            if any(_numbers(v) is None for v in versions):
                continue
            if any(_is_newer_line(v) for v in versions):
                self._late("AHP-VER-102", "a 1.x host refused a version of the line 1.x", versions, frame)
            elif any(_line(v) == (0, 9) for v in versions):
                self._late("AHP-VER-112", "a 1.x host refused the line 0.9.x", versions, frame)
        if newer and self._named:
            self.watch("AHP-VER-106")
            for frame, (_, chosen) in self._chosen.items():
                if not any(_covers(name, chosen) for name in self._named):
                    named = list(self._named)
                    self._late("AHP-VER-106", "a version was chosen that the host does not name", chosen, frame, named)
        if newer and any(_line(chosen) == (0, 9) for _, chosen in self._chosen.values()):
            self.watch("AHP-VER-112")

    def _preference(self, frame: int, versions: list[str], chosen: str) -> None:
        """Before 1.0.0 one page asks for the first and another for the highest: only what breaks both is wrong."""
        before = versions[: versions.index(chosen)]
        spoken = [v for v in versions if v in self._accepted and _numbers(v) and v != chosen]
        if not spoken or _numbers(chosen) is None:
            return
        self.watch("AHP-INIT-008", *([] if _is_newer_line(chosen) else ["AHP-INIT-007"]))
        better = [v for v in spoken if _above(v, chosen) and (v in before or _is_newer_line(v))]
        if not better or _line(better[0]) == _line(chosen) == (1,):
            return
        broken = ("AHP-INIT-008",) if all(v not in before for v in better) else ("AHP-INIT-007", "AHP-INIT-008")
        self.find(
            broken,
            "a better version was offered that the host speaks too",
            expected=max(better, key=_order),
            seen={"offered": versions, "chosen": chosen},
            frame=frame,
        )

    def _late(self, obligation: str, message: str, seen: Any, frame: int, expected: Any = "as 1.0.0 says") -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame)


def unknown_capabilities(request: Request) -> bool:
    capabilities = member(request.params, "capabilities")
    return isinstance(capabilities, dict) and bool(capabilities.keys() - _KNOWN_CAPABILITIES)


def _numbers(version: str, at_least: int = 0) -> Numbers | None:
    """The three numbers of a version; None when it is none, is too long to be one, or below a major number."""
    if len(version) > 60 or not is_version(version):
        return None
    numbers = parse_version(version)
    return numbers if numbers[0] >= at_least else None


def _order(version: str) -> Numbers:
    return _numbers(version) or (0, 0, 0)


def _above(version: str, other: str) -> bool:
    return _order(version) > _order(other)


def _line(version: str) -> tuple[int, ...] | None:
    """What a caret range keeps fixed: the major number, before 1.0.0 the minor one too."""
    numbers = _numbers(version)
    if numbers is None:
        return None
    return numbers[:1] if numbers[0] else numbers[:2]


def _is_newer_line(version: str) -> bool:
    return _line(version) == (1,)


def _covers(name: str, version: str) -> bool:
    """Whether an entry of supportedVersions, exact or a range, covers a version. What is not understood does."""
    match = re.fullmatch(r"(\^?)(\d+\.\d+\.\d+)", name)
    if match is None or _numbers(match[2]) is None:
        return True
    if not match[1]:
        return name == version
    return _line(match[2]) == _line(version) and not _above(match[2], version)
