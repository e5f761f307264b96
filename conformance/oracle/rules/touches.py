"""Which place of a state each action touches, and which obligations say how: data for the comparison of folds."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.oracle.reading import dicts, member, text
from conformance.oracle.tracker import Envelope

Touches = tuple[str, ...]

# Places by action. A place is a member of the state, or a name that the blaming rule knows.
_PLACES: dict[str, tuple[tuple[str, Touches], ...]] = {
    "terminal/data": (("content", ("AHP-TERM-009", "AHP-TERM-026")),),
    "terminal/input": (("typed", ("AHP-TERM-008",)),),
    "terminal/claimed": (("claim", ("AHP-TERM-011",)),),
    "terminal/titleChanged": (("title", ("AHP-TERM-011",)),),
    "terminal/cwdChanged": (("cwd", ("AHP-TERM-011",)),),
    "terminal/cleared": (("cleared", ("AHP-TERM-011", "AHP-TERM-030")),),
    "terminal/commandDetectionAvailable": (("supportsCommandDetection", ("AHP-TERM-022", "AHP-TERM-025")),),
    "terminal/commandExecuted": (
        ("content", ("AHP-TERM-022",)),
        ("supportsCommandDetection", ("AHP-TERM-022", "AHP-TERM-025")),
    ),
    "terminal/commandFinished": (("content", ("AHP-TERM-022",)),),
    "changeset/statusChanged": (("status", ("AHP-CHG-008",)), ("error", ("AHP-CHG-008",))),
    "changeset/fileSet": (("files", ("AHP-CHG-009",)),),
    "changeset/fileRemoved": (("files", ("AHP-CHG-009",)),),
    "changeset/operationsChanged": (("operations", ("AHP-CHG-012",)),),
    "changeset/operationStatusChanged": (("operations", ("AHP-CHG-013",)),),
    # What an action has to leave alone is touched by it as well.
    "changeset/cleared": tuple((place, ("AHP-CHG-014",)) for place in ("files", "status", "operations")),
}
_ANNOTATIONS = {
    "annotations/set": ("AHP-ANN-005",),
    "annotations/updated": ("AHP-ANN-006",),
    "annotations/removed": ("AHP-ANN-007",),
    "annotations/entrySet": ("AHP-ANN-008",),
    "annotations/entryRemoved": ("AHP-ANN-008",),
}


def touches_of(envelope: Envelope, version: str) -> Iterator[tuple[str, Touches]]:
    """The places that an accepted action touches, each with the obligations about it, in this version."""
    yield from _PLACES.get(envelope.type, ())
    if envelope.type == "terminal/resized":
        yield from (("cols", ("AHP-TERM-011",)), ("rows", ("AHP-TERM-011",)))
    elif envelope.type == "terminal/exited":
        yield ("lifecycle", ("AHP-TERM-101",)) if version >= "0.9.0" else ("exitCode", ("AHP-TERM-038",))
    elif envelope.type == "changeset/filesReviewChanged":
        yield "reviewed", ("AHP-CHG-010", *(["AHP-CHG-019"] if envelope.origin is not None else []))
    elif envelope.type == "changeset/contentChanged":
        yield from ((place, ("AHP-CHG-011",)) for place in ("files", "status", "operations"))
        if version < "0.9.0":
            yield "error", ("AHP-CHG-040",)
    elif envelope.type in _ANNOTATIONS:
        yield from _on_annotations(envelope, version)


def _on_annotations(envelope: Envelope, version: str) -> Iterator[tuple[str, Touches]]:
    annotation = envelope.get("annotation")
    identity = text(envelope.get("annotationId") if annotation is None else member(annotation, "id"))
    if identity is None:
        return
    obligations = [*_ANNOTATIONS[envelope.type]]
    known = any(a.get("id") == identity for a in dicts(member(envelope.before, "annotations")))
    if envelope.type == "annotations/set":
        obligations.append("AHP-ANN-004")
        if version >= "0.9.0" and member(annotation, "origin") is not None:
            obligations.append("AHP-ANN-101")
    elif not known:
        obligations.append("AHP-ANN-020")
    elif envelope.type == "annotations/updated" and version < "0.9.0" and envelope.get("turnId") is not None:
        obligations.append("AHP-ANN-022")
    elif envelope.type == "annotations/entrySet":
        obligations.append("AHP-ANN-014")
    yield identity, tuple(obligations)
