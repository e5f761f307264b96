"""Changesets: their catalogue, their files and their operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.comparing import difference
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.templates import is_expansion, variables_of
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.views import ConnectionView

_FILLABLE: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"turnId"}),
    frozenset({"originalTurnId", "modifiedTurnId"}),
)
_COMPARED = frozenset({"originalTurnId", "modifiedTurnId"})
# None stands for idle; whether an error goes with a status of a later version is for that version to say.
_WITHOUT_ERROR = (None, "idle", "running", "disabled")


def catalogue_of(connection: ConnectionView) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The changesets that a connection has seen offered: the session, or chat, and the entry."""
    for view in connection.channels.values():
        if view.live and view.kind in ("session", "chat"):
            for entry in dicts(member(view.state, "changesets")):
                yield view.channel, entry


def is_reviewable(connection: ConnectionView, changeset: str) -> bool | None:
    """Whether the entry of a changeset announces the review of files; None when no entry of it is known."""
    entries = [e for _, e in catalogue_of(connection) if is_expansion(changeset, text(e.get("uriTemplate")) or "")]
    if not entries:
        return None
    return any(isinstance(member(entry.get("capabilities"), "review"), dict) for entry in entries)


class Changesets(Rule):
    """Templates can be filled, files keep their ids, a failure has a cause, and review ends with an edit."""

    name = "changesets"
    obligations = (
        "AHP-CHG-002",
        "AHP-CHG-005",
        "AHP-CHG-006",
        "AHP-CHG-016",
        "AHP-CHG-017",
        "AHP-CHG-019",
        "AHP-CHG-020",
        "AHP-CHG-021",
        "AHP-CHG-022",
        "AHP-CHG-023",
        "AHP-CS-101",
        "AHP-CS-102",
    )
    hears = frozenset(
        {
            "session/changesetsChanged",
            "chat/changesetsChanged",
            "changeset/statusChanged",
            "changeset/fileSet",
            "changeset/fileRemoved",
            "changeset/filesReviewChanged",
            "changeset/contentChanged",
            "changeset/operationsChanged",
            "changeset/operationStatusChanged",
            "changeset/cleared",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # (connection, changeset) -> files that were changed and are still marked as reviewed: the frame and the file.
        self._kept: Bounded[tuple[str, str], dict[str, tuple[int, JSON]]] = Bounded()

    def gone(self, channel: str) -> None:
        for place in [place for place in self._kept if place[1] == channel]:
            del self._kept[place]

    def snapshot(self, snapshot: Snapshot) -> None:
        frame, state = snapshot.frame.n, snapshot.state
        if snapshot.kind in ("session", "chat"):
            self._templates(snapshot.channel, member(state, "changesets"), frame)
        elif snapshot.kind == "changeset" and isinstance(state, dict):
            self._failure(snapshot.channel, "AHP-CHG-006", state, frame, "a changeset")
            self._files(snapshot.channel, state.get("files"), frame)
            self._operations(snapshot.channel, state.get("operations"), frame)

    def envelope(self, envelope: Envelope) -> None:
        frame, channel = envelope.frame.n, envelope.channel
        if envelope.type == "changeset/filesReviewChanged":
            self._reviewed(envelope)
        if not envelope.accepted:
            return
        if envelope.type.endswith("/changesetsChanged"):
            self._templates(channel, envelope.get("changesets"), frame)
        elif envelope.type == "changeset/statusChanged":
            self._failure(channel, "AHP-CHG-006", envelope.action, frame, "a changeset")
            if envelope.get("status") == "recomputing" and (envelope.version or "") >= "1.0.0":
                self._recomputes(envelope)
        elif envelope.type == "changeset/operationStatusChanged":
            self._failure(channel, "AHP-CHG-023", envelope.action, frame, "an operation")
        elif envelope.type == "changeset/operationsChanged":
            self._operations(channel, envelope.get("operations"), frame)
        elif envelope.type == "changeset/contentChanged":
            self._content(envelope)
        elif envelope.type == "changeset/fileSet":
            self._files(channel, [envelope.get("file")], frame)
            self._put(envelope)
        elif envelope.type == "changeset/fileRemoved":
            self._kept.get((envelope.conn, channel), {}).pop(repr(envelope.get("fileId")), None)
        elif envelope.type == "changeset/cleared":
            self._kept.pop((envelope.conn, channel), None)

    # -- the catalogue --------------------------------------------------------------------------------

    def _templates(self, channel: str, changesets: JSON, frame: int) -> None:
        for entry in dicts(changesets):
            template = text(entry.get("uriTemplate"))
            if template is None:
                continue
            variables = variables_of(template)
            half = len(variables & _COMPARED) == 1
            obligation = "AHP-CHG-005" if variables & _COMPARED else "AHP-CHG-002"
            self.watch("AHP-CHG-002", obligation)
            if half or variables not in _FILLABLE:
                self.find(
                    "AHP-CHG-005" if half else "AHP-CHG-002",
                    "a template that compares turns names one of them"
                    if half
                    else "a template that no client can fill",
                    expected="no variable, turnId, or originalTurnId and modifiedTurnId",
                    seen=entry,
                    frame=frame,
                    once=(channel, template),
                )

    # -- what a changeset holds -----------------------------------------------------------------------

    def _failure(self, channel: str, obligation: str, value: JSON, frame: int, what: str) -> None:
        if member(value, "status") == "error":
            self.watch(obligation)
            if member(value, "error") is None:
                self.find(
                    obligation,
                    f"{what} is in error and does not say why",
                    expected="a member error",
                    seen={k: v for k, v in value.items() if k != "files"},
                    frame=frame,
                    once=(channel, repr(value)),
                )

    def _recomputes(self, envelope: Envelope) -> None:
        """Only what was computed once is computed again."""
        self.watch("AHP-CS-102")
        before = envelope.before
        if member(before, "status") == "computing" and not dicts(member(before, "files")):
            message = "a changeset is computed again before it was computed"
            self._find(envelope.channel, "AHP-CS-102", message, "computing", envelope.message, envelope.frame.n)

    def _operations(self, channel: str, operations: JSON, frame: int) -> None:
        listed = dicts(operations)
        ids = [operation["id"] for operation in listed if isinstance(operation.get("id"), str)]
        for operation in listed:
            self.watch("AHP-CHG-023")
            self._failure(channel, "AHP-CHG-023", operation, frame, "an operation")
            stray = operation.get("error") is not None and operation.get("status") in _WITHOUT_ERROR
            if stray or ids.count(text(operation.get("id")) or "") > 1:
                self.find(
                    "AHP-CHG-023",
                    "an operation has an error and is not in error" if stray else "two operations share an id",
                    expected="an error with the status error alone" if stray else "unique ids",
                    seen=operation,
                    frame=frame,
                    once=(channel, repr(operation)),
                )

    def _files(self, channel: str, files: JSON, frame: int) -> None:
        listed = dicts(files)
        ids = [file["id"] for file in listed if isinstance(file.get("id"), str)]
        if len(ids) > 1:
            self.watch("AHP-CHG-016")
        if len(set(ids)) < len(ids):
            self._find(channel, "AHP-CHG-016", "two files share an id", "unique ids", sorted(ids), frame)
        for file in listed:
            if isinstance(file.get("edit"), dict):
                self.watch("AHP-CHG-017")
                if file["edit"].get("before") is None and file["edit"].get("after") is None:
                    self._find(channel, "AHP-CHG-017", "an edit of nothing", "before, after or both", file, frame)

    def _content(self, envelope: Envelope) -> None:
        files = envelope.get("files")
        self._files(envelope.channel, files, envelope.frame.n)
        self._operations(envelope.channel, envelope.get("operations"), envelope.frame.n)
        self._replaced(envelope, files)
        if (envelope.version or "") >= "0.9.0":
            self.watch("AHP-CS-101")
            if envelope.get("error") is not None:
                self._find(
                    envelope.channel,
                    "AHP-CS-101",
                    "changeset/contentChanged tells an error",
                    "changeset/statusChanged with the status error",
                    envelope.message,
                    envelope.frame.n,
                )

    def _put(self, envelope: Envelope) -> None:
        """One file is there already, or is new."""
        file, before = envelope.get("file"), member(envelope.before, "files")
        if not isinstance(file, dict) or not isinstance(file.get("id"), str) or not isinstance(before, list):
            return
        identity = file["id"]
        old = next((each for each in before if isinstance(each, dict) and each.get("id") == identity), None)
        if old is not None:
            self._mark(envelope, old, file)
            return
        key = _key(file)
        # What is staged and what is not may be two entries for one file, with other contents.
        same = next((each for each in dicts(before) if _key(each) == key and _contents(each) == _contents(file)), None)
        same = same if key is not None else None
        self._keeps_its_id(envelope, same, file)

    def _replaced(self, envelope: Envelope, files: JSON) -> None:
        """All files are told anew: their ids stay, and their marks go with the old content."""
        before = [file for file in dicts(member(envelope.before, "files")) if isinstance(file.get("id"), str)]
        kept = [file.get("id") for file in dicts(files)]
        by_id = {file["id"]: file for file in before}
        # A file may have several entries; which of them another one takes the place of cannot be told.
        keys = [_key(file) for file in before]
        by_key = {_key(f): f for f in before if f["id"] not in kept and keys.count(_key(f)) == 1}
        for file in dicts(files):
            old = by_id.get(text(file.get("id")) or "")
            if old is not None:
                self._mark(envelope, old, file)
            elif _key(file) is not None:
                self._keeps_its_id(envelope, by_key.get(_key(file)), file)

    def _keeps_its_id(self, envelope: Envelope, old: JSON, new: dict[str, JSON]) -> None:
        if old is not None:
            self._find(
                envelope.channel,
                "AHP-CHG-016",
                "a file of the changeset gets another id",
                f"the id {member(old, 'id')}",
                new,
                envelope.frame.n,
            )

    def _mark(self, envelope: Envelope, old: JSON, new: dict[str, JSON]) -> None:
        self.watch("AHP-CHG-016")
        kept = self._kept.setdefault((envelope.conn, envelope.channel), {})
        if new.get("reviewed") is not True:
            kept.pop(repr(new.get("id")), None)
        if member(old, "reviewed") is True and envelope.origin is None and _has_other_content(old, new):
            self.watch("AHP-CHG-022")
            if new.get("reviewed") is True:
                kept[repr(new.get("id"))] = (envelope.frame.n, new)

    # -- review ---------------------------------------------------------------------------------------

    def _reviewed(self, envelope: Envelope) -> None:
        listed = texts(envelope.get("files"))
        if envelope.accepted:
            kept = self._kept.get((envelope.conn, envelope.channel), {})
            for identity in listed:
                kept.pop(repr(identity), None)
        reviewable = is_reviewable(self.tracker.connection(envelope.conn), envelope.channel)
        if envelope.origin is None or not isinstance(envelope.before, dict) or reviewable is None:
            return
        marks = {text(file.get("id")): file.get("reviewed") is True for file in dicts(envelope.before.get("files"))}
        wanted = envelope.get("reviewed")
        # What is marked like that already is changed by nothing, and may be refused as well as accepted (AMB-07).
        known = [identity for identity in listed if marks.get(identity, wanted) is not wanted]
        if not reviewable:
            self.watch(*(["AHP-CHG-020"] if known else []))
            if envelope.accepted and _differs(envelope, envelope.version):
                self._find(
                    envelope.channel,
                    "AHP-CHG-020",
                    "a review of what cannot be reviewed takes effect",
                    "a rejection",
                    envelope.message,
                    envelope.frame.n,
                )
        elif known and isinstance(envelope.get("reviewed"), bool):
            obligation = "AHP-CHG-021" if any(identity not in marks for identity in listed) else "AHP-CHG-019"
            if envelope.accepted:
                # That it stays in the state is seen when somebody asks for the state.
                self.watch(*(["AHP-CHG-021"] if obligation == "AHP-CHG-021" else []))
            else:
                self.find(
                    obligation,
                    "a review of files of the changeset is refused",
                    expected="an accepted action",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, repr(envelope.origin)),
                )

    def end(self) -> None:
        for (conn, channel), kept in self._kept.items() if self.tracker.settled else ():
            connection = self.tracker.connection(conn)
            view = connection.channels.get(channel)
            if not connection.fed or view is None or not view.live:
                continue
            marked = {
                repr(file.get("id")) for file in dicts(member(view.state, "files")) if file.get("reviewed") is True
            }
            for frame, file in (kept[identity] for identity in kept if identity in marked):
                self._find(
                    channel,
                    "AHP-CHG-022",
                    "a file was changed and counts as reviewed still",
                    "the file without reviewed true",
                    file,
                    frame,
                )

    def _find(self, channel: str, obligation: str, message: str, expected: str, seen: JSON, frame: int) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=(channel, repr(seen)))


def _key(file: JSON) -> tuple[JSON, ...] | None:
    """Which file it is: where it was and where it is."""
    uris = tuple(text(member(member(file.get("edit"), side), "uri")) for side in ("before", "after"))
    return uris if any(uri is not None for uri in uris) else None


def _contents(file: JSON) -> list[JSON]:
    """Where the contents of both sides are."""
    return [member(member(member(member(file, "edit"), side), "content"), "uri") for side in ("before", "after")]


def _has_other_content(old: JSON, new: JSON) -> bool:
    """Whether a file has surely changed: its content may move, and what it is compared with may change."""
    before, after = (member(member(member(file, "edit"), "after"), "content") for file in (old, new))
    signs = [(member(before, name), member(after, name)) for name in ("nonce", "sizeHint")]
    return any(one is not None and other is not None and one != other for one, other in signs)


def _differs(envelope: Envelope, version: str | None) -> bool:
    """Whether an envelope has changed anything; a missing mark means the same as one that is false."""
    before, after = (
        [{**file, "reviewed": file.get("reviewed") is True} for file in dicts(member(state, "files"))]
        for state in (envelope.before, envelope.after)
    )
    return difference(before, after, version) is not None
