"""The recorded traffic of a real host, VS Code's: nothing is found but its known departures."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.oracle import Oracle
from conformance.wire.frames import Frame
from tests.protocol.reference import TRANSCRIPTS

# What this host does otherwise than the specification asks, by recording, and where that differs by its release too.
KNOWN = {
    # The working directory of a terminal is told as a path where the type says URI.
    "terminal": {("shapes", ("AHP-TERM-037", "AHP-SUB-003")), ("shapes", ("AHP-SEQ-003",))},
    # After the client's own completion of its tool, the host completes the call once more.
    "turn-client-tool": {("tool-call-transitions", ("AHP-TOOL-026",))},
    # A completion of no open request, and one that leaves out what is required, are accepted.
    "ask_user": {("chat-validation", ("AHP-INPUTREQ-011",)), ("chat-validation", ("AHP-INPUTREQ-012",))},
    # modifiedAt of a chat is that of an earlier turn.
    # Content is delivered as text although base64 was asked for; a list without a URI is looked up as one.
    "vscode-4.133.0/resources": {("resource-answers", ("AHP-RES-004",)), ("outcomes", ("AHP-RPC-024",))},
    "vscode-4.139.1/resources": {("outcomes", ("AHP-RPC-024",))},
    "vscode-4.139.1/cancel": {("chat-folds", ("AHP-CHAT-107",))},
    "vscode-4.139.1/truncate": {("chat-folds", ("AHP-CHAT-107",))},
    # A call that the user denied is completed as failed although it is cancelled already.
    "turn-confirm-deny": {("tool-call-transitions", ("AHP-TOOL-026",))},
}

RECORDINGS = sorted(TRANSCRIPTS.glob("*/*.jsonl")) if TRANSCRIPTS else []
NAMED = [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in RECORDINGS]

pytestmark = pytest.mark.skipif(not RECORDINGS, reason="no recorded traffic lies beside the checkout")


def frames_of(path: Path, *, closes: bool) -> Iterator[Frame]:
    """The frames of a recording. Closes are in its notes; a name that is used again is another connection."""
    lives: dict[str, int] = {}
    for n, line in enumerate(path.read_bytes().splitlines()):
        entry = orjson.loads(line)
        if entry["dir"] == "note":
            closed = re.fullmatch(r"connection (\S+) closed", entry["msg"].get("note", ""))
            if closed:
                name = closed[1]
                if closes:
                    yield Frame(n, entry["ts"], _name(name, lives), "in", raw="", kind="close", code=1000)
                lives[name] = lives.get(name, 1) + 1
            continue
        conn, direction = _name(entry["conn"], lives), "out" if entry["dir"] == "c2s" else "in"
        raw = entry["msg"].get("__raw__") if isinstance(entry["msg"], dict) else None
        if raw is not None:
            yield Frame(n, entry["ts"], conn, direction, raw=raw, kind="text")  # type: ignore[arg-type]
        else:
            yield Frame(n, entry["ts"], conn, direction, entry["msg"])  # type: ignore[arg-type]


def _name(conn: str, lives: dict[str, int]) -> str:
    return conn if lives.get(conn, 1) == 1 else f"{conn}#{lives[conn]}"


def judged(frames: Any) -> Oracle:
    oracle = Oracle()
    for frame in frames:
        oracle.feed(frame)
    oracle.end()
    return oracle


@pytest.mark.parametrize("closes", [True, False], ids=["with-closes", "without"])
@pytest.mark.parametrize("path", NAMED)
def test_only_known_departures_are_found(path: Path, closes: bool) -> None:
    oracle = judged(frames_of(path, closes=closes))
    assert {(f.rule, f.obligations) for f in oracle.findings} == KNOWN.get(
        f"{path.parent.name}/{path.stem}", KNOWN.get(path.stem, set())
    )


@pytest.mark.parametrize("path", [path for path in NAMED if "reconnect" in str(path.id)])
def test_a_client_that_comes_back_leaves_its_old_fold_behind(path: Path) -> None:
    """Without the close of connection A its fold would be taken for that of a client who is still there."""
    tracker = judged(frames_of(path, closes=False)).tracker
    assert not tracker.connections["A"].fed and not tracker.connections["A"].closed


@pytest.mark.parametrize("path", [path for path in NAMED if "mcp-callauth" in str(path.id)])
def test_a_recorded_challenge_exercises_the_obligations_about_it(path: Path) -> None:
    numbers = ("015", "022", "023", "026", "031", "052", "053", "062", "064", "065", "069", "082")
    expected = {f"AHP-TOOLAUTH-{number}" for number in numbers}
    assert expected - judged(frames_of(path, closes=True)).watched.keys() == set()


@pytest.mark.parametrize("path", NAMED)
def test_mutated_traffic_breaks_nothing(path: Path) -> None:
    """Members taken away or replaced, messages twice, swapped or told to another connection."""
    chance = random.Random(path.stem)
    for _ in range(3):
        frames = list(frames_of(path, closes=True))
        for _ in range(8):
            place = chance.randrange(len(frames))
            frame = frames[place]
            message = copy.deepcopy(frame.msg)
            _mutate(message, chance)
            conn = chance.choice([frame.conn, chance.choice(frames).conn])
            frames.insert(chance.randrange(len(frames)), Frame(0, 0, conn, frame.dir, message, frame.raw, frame.kind))
        judged(Frame(n, f.t, f.conn, f.dir, f.msg, f.raw, f.kind, f.code) for n, f in enumerate(frames))


def _mutate(value: Any, chance: random.Random) -> None:
    """Walk down to somewhere and put something else there."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        if chance.random() < 0.3 or not isinstance(value[key], dict | list) or not value[key]:
            if chance.random() < 0.4:
                del value[key]
            else:
                value[key] = chance.choice([None, 0, -1, "x", [], {}, [{}], True, {"id": []}, 2**70])
            return
        value = value[key]
