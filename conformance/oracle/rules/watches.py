"""Resource watches: the channel of each, what it is told to watch, and which changes belong into it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request, Snapshot

from .restarts import may_be_new

_SCHEME = "ahp-resource-watch:"
_CHANGING = frozenset({"resourceWrite", "resourceDelete", "resourceMkdir"})
_MESSAGES = {
    "AHP-RW-011": "a change deep below a flat watch",
    "AHP-RW-012": "a change of what is excluded",
    "AHP-RW-013": "a change of what is not included",
}


class Watches(Rule):
    """Each watch has a channel of its own that describes it, and reports what it was asked for and nothing else."""

    name = "watches"
    obligations = (
        "AHP-RW-001",
        "AHP-RW-002",
        "AHP-RW-005",
        "AHP-RW-009",
        "AHP-RW-011",
        "AHP-RW-012",
        "AHP-RW-013",
        "AHP-RW-017",
        "AHP-RW-018",
    )
    hears = frozenset({"resourceWatch/changed"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Channel -> the params with which it was asked for.
        self._asked: Bounded[str, dict[str, JSON]] = Bounded()
        # What the suite did to files about which a watch has to be silent, until it reports something else.
        self._due: Bounded[str, set[str]] = Bounded()
        # Watches to which nobody has subscribed yet, with the connection that asked for them.
        self._unfollowed: Bounded[str, str] = Bounded()

    def request(self, request: Request) -> None:
        if request.method in ("subscribe", "reconnect"):
            for channel in texts([request.params.get("channel")]) + texts(request.params.get("subscriptions")):
                self._unfollowed.pop(channel, None)

    def reply(self, reply: Reply) -> None:
        if may_be_new(self.tracker, reply):
            self._asked.clear()
            self._unfollowed.clear()
            self._due.clear()
        if reply.request is not None and reply.request.method in _CHANGING and not reply.failed:
            self._silent_about(text(reply.request.params.get("uri")) or "")
        if reply.request is None or reply.request.method != "createResourceWatch" or reply.failed:
            return
        channel = text(member(reply.result, "channel"))
        if channel is None:
            return
        self.watch("AHP-RW-001", *(["AHP-RW-002"] if self._asked else []))
        if not channel.startswith(_SCHEME):
            self._find("AHP-RW-001", "a watch has a channel of another scheme", f"{_SCHEME}/…", reply.result, reply)
        if channel in self._asked:
            self._find("AHP-RW-002", "two watches have one channel", "a channel of its own", reply.result, reply)
        self._asked[channel] = reply.request.params
        self._unfollowed[channel] = reply.conn

    def _silent_about(self, uri: str) -> None:
        """Note which watches must not report a file that the suite has changed."""
        for channel, asked in self._asked.items():
            path = below(text(asked.get("uri")) or "", uri)
            if path:
                self._due.setdefault(channel, set()).update(_reasons_for_silence(asked, path))

    def _find(self, obligation: str, message: str, expected: str, seen: JSON, reply: Reply) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)

    def snapshot(self, snapshot: Snapshot) -> None:
        asked, state = self._asked.get(snapshot.channel), snapshot.state
        if asked is None or not isinstance(state, dict):
            return
        self.watch("AHP-RW-005")
        expected = _described(asked | {"root": asked.get("uri")})
        seen = _described(state)
        if below(text(asked.get("uri")) or "", text(state.get("root")) or "") == []:
            # The real path of a link.
            seen["root"] = expected["root"]
        # A member that is missing is the matter of shapes.
        if any(name in state and seen[name] != value for name, value in expected.items()):
            self.find(
                "AHP-RW-005",
                "a watch is not described as it was asked for",
                expected=asked,
                seen=state,
                frame=snapshot.frame.n,
            )

    def envelope(self, envelope: Envelope) -> None:
        self._begins(envelope)
        if envelope.origin is not None:
            self.watch("AHP-RW-017")
            if envelope.accepted:
                self._report(envelope, "AHP-RW-017", "a client speaks for a watch", "a rejection", envelope.message)
            return
        asked = self._asked.get(envelope.channel)
        watch = asked | {"root": asked.get("uri")} if asked is not None else envelope.before
        root = text(member(watch, "root"))
        if not envelope.accepted or root is None:
            return
        self.watch(*self._due.pop(envelope.channel, ()))
        for item in dicts(member(envelope.get("changes"), "items")):
            uri = text(item.get("uri"))
            if uri is not None:
                self._item(envelope, item, watch, below(root, uri))

    def _begins(self, envelope: Envelope) -> None:
        """A watch is silent before the first subscription, also about what others report."""
        uris = texts([item.get("uri") for item in dicts(member(envelope.get("changes"), "items"))])
        for channel, conn in self._unfollowed.items():
            if conn != envelope.conn:
                continue
            if channel == envelope.channel:
                message = "a watch reports before anybody has subscribed to it"
                self._report(envelope, "AHP-RW-018", message, "nothing", envelope.message)
            elif any(below(text(member(self._asked.get(channel), "uri")) or "", uri) is not None for uri in uris):
                self.watch("AHP-RW-018")

    def _item(self, envelope: Envelope, item: JSON, watch: JSON, path: list[str] | None) -> None:
        self.watch("AHP-RW-009")
        if path is None:
            self._report(envelope, "AHP-RW-009", "a change outside of the watch", "a URI at or below its root", item)
            return
        for obligation in _reasons_for_silence(watch, path):
            self._report(envelope, obligation, _MESSAGES[obligation], "nothing about it", item)

    def _report(self, envelope: Envelope, obligation: str, message: str, expected: str, seen: JSON) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=seen,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq), repr(seen)),
        )


def _reasons_for_silence(watch: JSON, path: list[str]) -> Iterator[str]:
    """The obligations that forbid a watch to report a change of the resource at ``path`` below its root."""
    if member(watch, "recursive") is not True and len(path) > 1:
        yield "AHP-RW-011"
    excludes, includes = (texts(member(member(watch, name), "items")) for name in ("excludes", "includes"))
    # The root itself has no name that a pattern could be about.
    if path and any(_matches(pattern, path, doubtful=False) for pattern in excludes):
        yield "AHP-RW-012"
    if path and includes and not any(_matches(pattern, path, doubtful=True) for pattern in includes):
        yield "AHP-RW-013"


def _described(watch: dict[str, JSON]) -> dict[str, JSON]:
    """What a watch is about, from its state or from the params that asked for it, fit to be compared."""
    items = {name: texts(member(watch.get(name), "items")) for name in ("excludes", "includes")}
    return {"root": _path(text(watch.get("root")) or ""), "recursive": watch.get("recursive") is True, **items}


def _path(uri: str) -> list[str]:
    """The parts of a URI, in a form in which the same resource is the same: decoded, in lower case, without dots."""
    return [part for part in unquote(uri).casefold().split("/") if part not in ("", ".")]


def below(root: str, uri: str) -> list[str] | None:
    """The names that lead from the root to a resource; None when it is not below.

    The real path of a root that is reached by a link ends like the root itself, so that form counts too.
    """
    here, there = _path(root), _path(uri)
    if here == there[: len(here)]:
        return there[len(here) :]
    names = here[1:]
    for start in range(1, len(there) - len(names) + 1):
        if names and there[start : start + len(names)] == names:
            return there[start + len(names) :]
    return None


_TAIL = re.compile(r"\*\*/(\*?)([^*?\[\]{}!/]+)$")
_FOLDER = re.compile(r"\*\*/([^*?\[\]{}!/]+)/\*\*$")
_PLAIN = re.compile(r"[^*?\[\]{}!]+$")


def _matches(pattern: str, path: list[str], *, doubtful: bool) -> bool:
    """Whether a pattern matches a path in every dialect of globs, or in some dialect if ``doubtful``.

    Dialects differ about what lies in a folder of a matching name, about names that begin with a dot, and about where
    a pattern without stars is looked for. Patterns of other forms are always in doubt.
    """
    pattern = pattern.casefold().rstrip("/")
    tail, folder = _TAIL.match(pattern), _FOLDER.match(pattern)
    if tail is not None:
        fits = [name.endswith(tail[2]) if tail[1] else name == tail[2] for name in path]
        return any(fits) if doubtful else fits[-1] and not _hides(path, tail[2])
    if folder is not None:
        return folder[1] in path if doubtful else folder[1] in path[:-1] and not _hides(path, folder[1])
    if _PLAIN.match(pattern) is None:
        return doubtful
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if not doubtful:
        return path == names
    return any(path[start : start + len(names)] == names for start in range(len(path)))


def _hides(path: list[str], named: str) -> bool:
    return any(name.startswith(".") for name in path if name != named)
