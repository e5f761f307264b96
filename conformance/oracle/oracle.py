"""The oracle: one tracker, all rules, one book."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.wire.frames import Frame

from .findings import Finding
from .rule import Book, Rule
from .rules import RULES
from .tracker import Tracker


class Oracle:
    """Feed it frames in the order in which they were seen; read ``findings`` at any time, ``end`` it once.

    Rules that can only be judged when nothing more comes, such as a pairing, report at the end.
    """

    def __init__(self, rules: Iterable[type[Rule]] = RULES, *, assumed: str | None = None) -> None:
        """``assumed``: the version of connections whose handshake is not among the frames (None: unknown)."""
        self.tracker = Tracker(assumed)
        self._book = Book()
        self._ended = False
        self.rules = [rule(self.tracker, self._book) for rule in rules]
        for rule in self.rules:
            self.tracker.listen(rule)

    def feed(self, frame: Frame) -> None:
        if not self._ended:
            self.tracker.feed(frame)

    def end(self, *, settled: bool = True) -> None:
        """Nothing more comes. Frames fed later are ignored.

        ``settled`` says that everything the host had sent has arrived, shown by a fence on every connection.
        Without that, rules that conclude from an absence keep silent.
        """
        if not self._ended:
            self.tracker.settled = settled
            self.tracker.end()
            self._ended = True

    @property
    def findings(self) -> Sequence[Finding]:
        return self._book.findings

    @property
    def dropped(self) -> Mapping[tuple[str, tuple[str, ...]], int]:
        """How many findings more there were than are kept, by rule and obligations."""
        return self._book.dropped

    @property
    def watched(self) -> dict[str, int]:
        """How often each obligation was put to the test by a rule."""
        return self._book.watched


def watched_obligations() -> frozenset[str]:
    """Every obligation that some rule can judge."""
    return frozenset(o for rule in RULES for o in rule.obligations)
