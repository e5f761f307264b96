"""What resource commands do to files, as far as commands that follow each other at once show it.

Others may touch the files of a host at any time, so nothing is taken for known but what the last few commands of one
client showed, with nothing else between them; and a content counts as wrong only when it is what a known mistake
makes of it, since a formatter may have been there in between.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Reply, Request

from .resources import decoded, plain

# How many frames, of other connections or notifications, may lie between two commands that follow each other, and how
# much of the recording's time.
_NEAR = 6
_SOON = 2.0
_LARGEST = 1 << 18
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")

# Whoever may not touch a thing need not be told whether it is there; and a host may lack these commands.
_OTHER_REASONS = frozenset({-32009, -32601, -32007})


@dataclass(slots=True)
class Known:
    """What is known of one place: its kind (file, directory, missing), content and etag; None is unknown.

    ``proves``: the obligations that are met when the place is found as it is known; ``mistakes``: contents that a host
    would have put there that breaks one.
    """

    kind: str | None = None
    content: bytes | None = None
    etag: str | None = None
    stale: set[str] = field(default_factory=set)
    proves: tuple[str, ...] = ()
    mistakes: dict[bytes, str] = field(default_factory=dict)


class Files(Rule):
    """Commands have the effects that later commands can see."""

    name = "files"
    obligations = (
        "AHP-RES-002",
        "AHP-RES-010",
        "AHP-RES-011",
        "AHP-RES-012",
        "AHP-RES-013",
        "AHP-RES-014",
        "AHP-RES-015",
        "AHP-RES-016",
        "AHP-RES-017",
        "AHP-RES-019",
        "AHP-RES-020",
        "AHP-RES-021",
        "AHP-RES-030",
        "AHP-RES-031",
        "AHP-RES-032",
        "AHP-RES-033",
        "AHP-RES-034",
        "AHP-RES-035",
        "AHP-RES-040",
        "AHP-RES-041",
        "AHP-RES-043",
        "AHP-RES-044",
        "AHP-RES-057",
        "AHP-RES-058",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._known: Bounded[str, Known] = Bounded(256)
        # The last command that was answered: its connection, frame and time.
        self._last: tuple[str, int, float] | None = None
        # Whether commands that are not all answered yet may be carried out in any order.
        self._mixed = False
        self._commands = {
            "resourceRead": self._read,
            "resourceResolve": self._resolve,
            "resourceList": self._list,
            "resourceWrite": self._write,
            "resourceMkdir": self._mkdir,
            "resourceCopy": self._copy,
            "resourceMove": self._move,
            "resourceDelete": self._delete,
        }

    # -- what follows what ----------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        if not request.method.startswith("resource"):
            return
        frame = request.frame
        near = self._last is not None and self._last[0] == request.conn
        near = near and self._last is not None and frame.n - self._last[1] <= _NEAR and frame.t - self._last[2] <= _SOON
        self._mixed = self._mixed or self._busy(request)
        if not near or self._mixed:
            self._known.clear()

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None or not request.method.startswith("resource"):
            return
        near = reply.frame.n - request.frame.n <= _NEAR and reply.frame.t - request.frame.t <= _SOON
        if not near or self._mixed or self.version(reply.conn) is None:
            self._known.clear()
            self._mixed = self._mixed and self._busy(request)
        else:
            judge = self._commands.get(request.method)
            if judge is not None:
                judge(reply, request.params)
        self._last = (reply.conn, reply.frame.n, reply.frame.t)

    def _busy(self, own: Request) -> bool:
        """Whether the host has another resource command to answer."""
        return any(
            open_one is not own and open_one.method.startswith("resource")
            for connection in self.tracker.connections.values()
            if connection.fed
            for open_one in connection.requests.values()
        )

    # -- the commands ---------------------------------------------------------------------------------

    def _read(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        if reply.failed:
            self._not_there(reply, known, "AHP-RES-002", only="file", also_codes=frozenset({-32006}))
            return
        content = decoded(member(reply.result, "data"), member(reply.result, "encoding"))
        if known.kind == "missing":
            self._find(self._of_missing(known, "AHP-RES-002"), "what does not exist is read", "the error -32008", reply)
        elif known.content is not None and content is not None:
            if content == known.content:
                self.watch(*known.proves)
            elif content in known.mistakes:
                self._find(known.mistakes[content], "a file has another content than was written", "the content", reply)
        self._keep(uri, "file", content, known if content == known.content else None)

    def _resolve(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        if reply.failed:
            self._not_there(reply, known, "AHP-RES-040")
            if _code(reply) == -32008 and known.kind != "missing":
                self._keep(uri, "missing", None, None)
            return
        kind = text(member(reply.result, "type"))
        if known.kind == "missing":
            self._find(
                self._of_missing(known, "AHP-RES-040"), "what does not exist is resolved", "the error -32008", reply
            )
        elif known.kind in ("file", "directory") and kind in ("file", "directory"):
            self.watch("AHP-RES-041", *known.proves)
            size, content = whole(member(reply.result, "size")), known.content
            if kind != known.kind:
                self._find("AHP-RES-041", "a place is shown as what it is not", known.kind, reply)
            elif content is not None and size is not None and size != len(content) and size == _characters(content):
                self._find("AHP-RES-041", "the size is that of the text", f"{len(content)} bytes", reply)
        fresh = self._keep(uri, kind if kind in ("file", "directory") else None, known.content, known)
        if fresh is not None and member(params, "followSymlinks") is not False:
            fresh.etag = text(member(reply.result, "etag"))
            fresh.stale = known.stale - {fresh.etag or ""}

    def _list(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        if reply.failed:
            self.watch(*(["AHP-RES-020"] if known.kind == "file" else []))
            self._not_there(reply, known, "AHP-RES-020", only="directory")
            return
        if known.kind in ("missing", "file"):
            broken = self._of_missing(known, "AHP-RES-020") if known.kind == "missing" else "AHP-RES-020"
            self._find(broken, "what is no directory is listed", "an error", reply)
        names = {text(entry.get("name")) for entry in dicts(member(reply.result, "entries"))}
        self.watch(*known.proves)
        for place, child in self._below(uri):
            name = place.rpartition("/")[2]
            direct = "/" not in place[len(uri or "") :].strip("/")
            # A file system may write other letters in its own way, and a host may hide what begins with a dot.
            if not direct or not child.proves or child.kind == "missing" or not _PLAIN_NAME.fullmatch(name):
                continue
            self.watch("AHP-RES-021")
            if name not in names:
                self._find("AHP-RES-021", "a child that was just made is not listed", name, reply)
        self._keep(uri, "directory", None, known)

    def _write(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        parent = self._known.get((uri or "").rpartition("/")[0])
        match = text(member(params, "ifMatch"))
        stale = match is not None and (match in known.stale or (known.etag is not None and match != known.etag))
        create_only = member(params, "createOnly") is True
        for condition, obligation, code, message in (
            (parent is not None and parent.kind == "missing", "AHP-RES-011", -32008, "below a missing directory"),
            (create_only and known.kind == "file", "AHP-RES-012", -32010, "over a file although createOnly"),
            (match is not None and known.kind == "missing", "AHP-RES-057", None, "although ifMatch names an etag"),
            (stale and known.kind == "file" and not create_only, "AHP-RES-013", -32011, "against a newer etag"),
        ):
            if condition:
                self._must_fail(reply, obligation, code, f"a write {message}", {-32011} if match is not None else ())
        if match is not None and match == known.etag and not create_only:
            self.watch("AHP-RES-014")
            if _code(reply) == -32011:
                self._find("AHP-RES-014", "a write with the present etag is refused", "success", reply)
        if not reply.failed:
            self._written(uri, known, params)

    def _written(self, uri: str | None, known: Known, params: Any) -> None:
        data = decoded(member(params, "data"), member(params, "encoding"))
        mode, position = text(member(params, "mode")) or "truncate", whole(member(params, "position"))
        old = b"" if known.kind == "missing" else known.content
        if uri is None or data is None:
            self._known.pop(uri or "", None)
            return
        proves = ["AHP-RES-010"] if known.kind == "missing" or member(params, "createOnly") is True else []
        new = result_of(mode, position, old, data)
        fresh = self._keep(uri, "file", new, None)
        if fresh is None or new is None:
            return
        # Another content has another etag.
        if known.etag is not None and old is not None and old != new:
            fresh.stale = known.stale | {known.etag}
        obligation = _OF_MODE.get((mode, position is not None and mode == "truncate"), "AHP-RES-015")
        fresh.proves = ("AHP-RES-058", obligation, *proves)
        for wrong, broken in mistakes_of(mode, position, old, data, params, obligation):
            if wrong != new:
                fresh.mistakes.setdefault(wrong, broken)

    def _mkdir(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        if known.kind == "file":
            self._must_fail(reply, "AHP-RES-044", -32010, "a directory is made where a file is")
        elif known.kind == "directory":
            self.watch("AHP-RES-043")
            if reply.failed and _code(reply) not in _OTHER_REASONS:
                self._find("AHP-RES-043", "a directory that is there already is refused", "success", reply)
        if not reply.failed and known.kind != "file":
            fresh = self._keep(uri, "directory", None, known)
            if fresh is not None and uri is not None:
                fresh.proves = ("AHP-RES-043",)
                parent = uri.rpartition("/")[0]
                for place in (parent, parent.rpartition("/")[0]):
                    if "://" in place and not place.endswith("/"):
                        self._known[place] = Known("directory", proves=("AHP-RES-043",))

    def _copy(self, reply: Reply, params: Any) -> None:
        self._transfer(reply, params, "AHP-RES-030")

    def _move(self, reply: Reply, params: Any) -> None:
        self._transfer(reply, params, "AHP-RES-033")

    def _transfer(self, reply: Reply, params: Any, obligation: str) -> None:
        source, destination = text(member(params, "source")), text(member(params, "destination"))
        # Where letters of either case are the same, a place whose letters change is there by its old name too.
        if source is None or destination is None or plain(source) == plain(destination):
            self._known.clear()
            return
        there, target = self._known.get(source, Known()), self._known.get(destination, Known())
        fail_if_exists = member(params, "failIfExists") is True
        if there.kind == "missing":
            also = {-32010} if fail_if_exists else ()
            self._must_fail(reply, "AHP-RES-032", -32008, "what does not exist is copied or moved", also)
        elif fail_if_exists and target.kind == "file":
            self._must_fail(reply, "AHP-RES-031", -32010, "an existing destination is replaced although failIfExists")
        if reply.failed:
            return
        before = target.content
        if there.kind != "file" or target.kind not in ("file", "missing", None):
            # All that lies below goes with it.
            self._known.clear()
        fresh = self._keep(destination, there.kind, there.content, None)
        if fresh is not None and fresh.kind == "file":
            fresh.proves = (obligation,)
            if before is not None and fresh.content is not None and before != fresh.content:
                fresh.mistakes[before] = obligation
        if obligation == "AHP-RES-033":
            self._known[source] = Known("missing", proves=(obligation,))
        elif there.kind == "file":
            self._known[source] = Known("file", there.content, there.etag, proves=(obligation,))

    def _delete(self, reply: Reply, params: Any) -> None:
        uri, known = self._place(params)
        below = list(self._below(uri))
        recursive = member(params, "recursive") is True
        if known.kind == "missing":
            self._must_fail(reply, "AHP-RES-032", -32008, "what does not exist is deleted")
        elif not recursive and any(child.kind in ("file", "directory") for _, child in below):
            self._must_fail(reply, "AHP-RES-034", None, "a directory that is not empty is deleted")
        if reply.failed or uri is None:
            return
        for place, _ in below:
            self._known[place] = Known("missing", proves=("AHP-RES-035",))
        whole_tree = recursive and (known.kind == "directory" or bool(below))
        self._known[uri] = Known("missing", proves=("AHP-RES-035",) if whole_tree else ())

    # -- what they have in common ---------------------------------------------------------------------

    def _place(self, params: Any) -> tuple[str | None, Known]:
        uri = text(member(params, "uri"))
        return uri, self._known.get(uri or "", Known())

    def _below(self, uri: str | None) -> list[tuple[str, Known]]:
        start = (uri or "").rstrip("/") + "/"
        return [(place, known) for place, known in self._known.items() if uri and place.startswith(start)]

    def _keep(self, uri: str | None, kind: str | None, content: bytes | None, as_before: Known | None) -> Known | None:
        if uri is None or uri.endswith("/"):
            # Two ways to write one place.
            self._known.clear()
            return None
        content = content if content is not None and len(content) <= _LARGEST else None
        twins = [place for place in self._known if place != uri and plain(place) == plain(uri)]
        # What lies below a place shows that it is there.
        above = [
            place for place, known in self._known.items() if known.kind == "missing" and uri.startswith(place + "/")
        ]
        for place in (*twins, *(above if kind != "missing" else ())):
            del self._known[place]
        fresh = Known(kind, content)
        if as_before is not None and kind == as_before.kind:
            fresh = Known(kind, content, as_before.etag, as_before.stale, as_before.proves, as_before.mistakes)
        self._known[uri] = fresh
        return fresh

    def _of_missing(self, known: Known, otherwise: str) -> str:
        """Whose obligation it is that a place is missing."""
        return known.proves[0] if known.proves else otherwise

    def _not_there(
        self,
        reply: Reply,
        known: Known,
        obligation: str,
        *,
        only: str | None = None,
        also_codes: frozenset[int] = frozenset(),
    ) -> None:
        """An answer that finds nothing, or nothing that may be seen."""
        code = _code(reply)
        if known.kind == "missing":
            self.watch(obligation, *known.proves)
            if code not in {-32008} | _OTHER_REASONS | also_codes:
                self._find(obligation, "what does not exist is refused with another code", "-32008", reply)
        elif code == -32008 and known.proves and only in (None, known.kind):
            # It was made, copied or kept by the command just before.
            broken = next((o for o in known.proves if o in _MAKING), None)
            if broken is not None:
                self._find(broken, "what a command has just left is not there", "what was made", reply)

    def _must_fail(
        self, reply: Reply, obligation: str, code: int | None, message: str, also: Collection[int] = ()
    ) -> None:
        expected = "an error" if code is None else f"the error {code}"
        if not reply.failed:
            self._find(obligation, f"{message}, and it succeeds", expected, reply)
            return
        self.watch(obligation)
        if code is not None and _code(reply) not in {code, *also} | _OTHER_REASONS:
            self._find(obligation, f"{message}, and the code is another one", expected, reply)

    def _find(self, obligation: str, message: str, expected: str, reply: Reply) -> None:
        assert reply.request is not None
        seen = {"method": reply.request.method, "params": reply.request.params}
        seen |= {"error": reply.error} if reply.failed else {"result": reply.result}
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)


_OF_MODE = {
    ("truncate", True): "AHP-RES-016",
    ("append", False): "AHP-RES-017",
    ("insert", False): "AHP-RES-019",
}
# Obligations that say what a command leaves behind.
_MAKING = ("AHP-RES-010", "AHP-RES-030", "AHP-RES-033", "AHP-RES-043")


def result_of(mode: Any, position: int | None, old: bytes | None, data: bytes) -> bytes | None:
    """The content of a file after a write (types/common/commands.ts, ResourceWriteMode); None when it is not known."""
    if mode == "truncate" and not position:
        return data
    at = position or 0
    if old is None or not 0 <= at <= len(old):
        return None
    if mode == "truncate":
        return old[:at] + data
    if mode == "append":
        return old[: len(old) - at] + data + old[len(old) - at :]
    if mode == "insert":
        return old[:at] + data + old[at:]
    return None


def mistakes_of(
    mode: Any, position: int | None, old: bytes | None, data: bytes, params: Any, obligation: str
) -> list[tuple[bytes, str]]:
    """Contents that a write leaves when it is done wrong, each with the obligation that it breaks."""
    old, at = old or b"", position or 0
    written = str(member(params, "data")).encode("utf-8", "surrogatepass")
    wrong = [(result_of(mode, position, old, written) or written, "AHP-RES-058")]
    wrong.append((data.decode("utf-8", "replace").encode(), "AHP-RES-058"))
    if mode == "truncate":
        # Not cut off, position left out of account.
        wrong += [(old[:at] + data + old[at + len(data) :], obligation), (data, obligation)]
    elif mode == "append":
        end = len(old) - at
        wrong += [
            (data, obligation),
            (old + data, obligation),
            (data + old, obligation),
            (old[:end] + data, obligation),
        ]
    elif mode == "insert":
        wrong += [(data, obligation), (old[:at] + data + old[at + len(data) :], obligation), (old + data, obligation)]
        wrong.append((data + old, obligation))
        try:
            letters = old.decode()
        except UnicodeDecodeError:
            return wrong
        if at <= len(letters):
            wrong.append((letters[:at].encode() + data + letters[at:].encode(), obligation))
    return wrong


def _code(reply: Reply) -> int | None:
    return whole(member(reply.error, "code"))


def _characters(content: bytes) -> int:
    """The length of a text in characters, which is less than its bytes when it has others than ASCII."""
    return len(content.decode("utf-8", "replace"))
