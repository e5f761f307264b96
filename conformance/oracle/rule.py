"""What a rule is, and the book it writes into."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any, ClassVar

import orjson

from conformance.protocol import params_violations

from .findings import Finding
from .memory import Bounded
from .tracker import Listener, Tracker

MOST_FINDINGS = 1000


class Book:
    """Findings, and the obligations that were really put to the test: a rule that never saw its case says nothing.

    Of the findings of one rule on the same obligations the first ``MOST_FINDINGS`` are kept; ``dropped`` counts the
    rest.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.watched: defaultdict[str, int] = defaultdict(int)
        self.dropped: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._kept: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self._said: Bounded[Hashable, None] = Bounded()

    def find(self, finding: Finding, once: Hashable = None) -> None:
        """Keep a finding; of those with the same ``once`` only the first, as every subscriber sees the same thing."""
        sort = (finding.rule, finding.obligations)
        if once is not None:
            key = (*sort, once)
            if key in self._said:
                return
            self._said[key] = None
        if self._kept[sort] < MOST_FINDINGS:
            self._kept[sort] += 1
            self.findings.append(finding)
        else:
            self.dropped[sort] += 1


class Rule(Listener):
    """One concern. ``obligations`` are all that it can judge; ``name`` is what findings call it."""

    name: ClassVar[str]
    obligations: ClassVar[tuple[str, ...]]

    def __init__(self, tracker: Tracker, book: Book) -> None:
        self.tracker = tracker
        self.book = book

    def version(self, conn: str) -> str | None:
        """The version that this connection negotiated."""
        return self.tracker.connection(conn).version

    def malformed(self, conn: str, method: str, params: Any) -> bool:
        """Whether params are, or for want of a version may be, not what their type demands."""
        version = self.version(conn)
        return version is None or bool(params_violations(version, method, params))

    def watch(self, *obligations: str) -> None:
        """An occasion arose in which the host could have broken these obligations."""
        watched = self.book.watched
        for obligation in obligations:
            watched[obligation] += 1

    def find(
        self,
        obligation: str | tuple[str, ...],
        message: str,
        *,
        expected: Any,
        seen: Any,
        frame: int | None,
        once: Hashable = None,
    ) -> None:
        """Report a breach of ``obligation``; values are shown as compact JSON. See :meth:`Book.find` for ``once``."""
        obligations = (obligation,) if isinstance(obligation, str) else obligation
        self.watch(*obligations)
        self.book.find(Finding(self.name, obligations, message, shown(expected), shown(seen), frame), once)


def shown(value: Any, limit: int = 2000) -> str:
    """A value as a finding shows it: text as it is, everything else as compact JSON, shortened in the middle."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = orjson.dumps(value).decode()
        except TypeError:
            text = repr(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} … {text[-limit // 2 :]}"
