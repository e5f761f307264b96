"""Transcripts: JSON Lines, one frame a line, fit to be published.

{"n": 3, "t": 0.0123, "conn": "A", "dir": "in", "msg": {…}}
{"n": 4, "t": 0.0130, "conn": "A", "dir": "in", "raw": "hello"}                        not JSON
{"n": 5, "t": 0.0131, "conn": "A", "dir": "in", "raw": "base64:/w==", "kind": "binary"}  or "not-utf8"
{"n": 6, "t": 0.0200, "conn": "A", "dir": "in", "close": {"code": 1001, "reason": "bye"}}
{"end": {"settled": true}}                                               what follows was not judged any more
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.wire.errors import TranscriptError
from conformance.wire.frames import BASE64, JSON, Frame, decode, encode, in_base64
from conformance.wire.tokens import MARK, bytes_without_tokens, without_tokens


@dataclass(frozen=True, slots=True)
class End:
    """Where judging ended: before frame `at`. `settled`: all that the host had sent had arrived by then."""

    at: int
    settled: bool


def write_transcript(
    path: Path, frames: Iterable[Frame], secrets: Mapping[str, str] | None = None, end: End | None = None
) -> None:
    """Write `frames` to `path`, whole or not at all. OSError when the place is not writable.

    `secrets` maps each secret to its name; every occurrence, in keys and values, in text that is not JSON and
    in close reasons, is written as `«token:NAME»`.
    """
    mask = Mask(secrets or {})
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            written = 0
            for frame in frames:
                if end is not None and written == end.at:
                    out.write(_end_line(end))
                line = _line(frame)
                text = encode(line)
                if frame.data is not None or mask.touches(text):
                    text = encode(mask.line(line))
                out.write(text)
                out.write("\n")
                written += 1
            if end is not None and written <= end.at:
                out.write(_end_line(end))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def masked(frame: Frame, secrets: Mapping[str, str]) -> Frame:
    """The frame as a transcript shows it: every secret replaced by its name."""
    return _frame(Mask(secrets).line(_line(frame)), frame.n)


def masked_text(text: str, secrets: Mapping[str, str]) -> str:
    """Any text, such as that of a finding, with every secret replaced by its name."""
    return Mask(secrets).text(text)


def read_transcript(path: Path) -> list[Frame]:
    """The frames of a transcript file. TranscriptError names the first line that is not a frame.

    `n` and `t` may be missing in transcripts from elsewhere: then the line's place and 0.0 stand in.
    """
    frames: list[Frame] = []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise TranscriptError(f"{path}: not UTF-8 text, so not a transcript (JSON Lines)") from exc
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            read = read_line(decode(line), len(frames))
            if isinstance(read, Frame):
                frames.append(read)
        except ValueError as exc:
            raise TranscriptError(f"{path} line {number}: not a frame of a transcript: {exc}") from exc
    return frames


def read_line(line: JSON, place: int, text: str | None = None) -> Frame | End:
    """What a decoded line of a transcript holds. ValueError says why it is none.

    `place` is the number of frames before it, `text` the line itself.
    """
    if isinstance(line, dict) and "end" in line:
        end = line["end"]
        if not isinstance(end, dict) or not isinstance(end.get("settled"), bool):
            raise ValueError('"end" must be an object with a boolean "settled"')
        return End(place, end["settled"])
    return _frame(line, place, text)


def _end_line(end: End) -> str:
    return encode({"end": {"settled": end.settled}}) + "\n"


def _line(frame: Frame) -> dict[str, Any]:
    line: dict[str, Any] = {"n": frame.n, "t": round(frame.t, 6), "conn": frame.conn, "dir": frame.dir}
    if frame.kind == "json":
        line["msg"] = frame.msg
    elif frame.kind == "close":
        line["close"] = {"code": frame.code, "reason": frame.raw or ""}
    else:
        line["raw"] = frame.raw
        if frame.kind != "text":
            line["kind"] = frame.kind
    return line


def _frame(line: JSON, place: int, text: str | None = None) -> Frame:
    if not isinstance(line, dict):
        raise ValueError("expected an object")
    n, t = line.get("n", place), line.get("t", 0.0)
    conn, direction = line.get("conn"), line.get("dir")
    if type(n) is not int or type(t) not in (int, float):
        raise ValueError('"n" must be an integer and "t" a number of seconds')
    if not isinstance(conn, str):
        raise ValueError('"conn" must be the name of a connection')
    if direction not in ("in", "out"):
        raise ValueError('"dir" must be "in" or "out"')
    if "msg" in line:
        return Frame(n, float(t), conn, direction, msg=line["msg"], text=text)
    if "close" in line:
        close = line["close"]
        if not isinstance(close, dict) or type(close.get("code")) is not int:
            raise ValueError('"close" must be an object with an integer "code"')
        return Frame(n, float(t), conn, direction, raw=str(close.get("reason", "")), kind="close", code=close["code"])
    raw, kind = line.get("raw"), line.get("kind", "text")
    if not isinstance(raw, str) or kind not in ("text", "binary", "not-utf8"):
        raise ValueError('expected "msg", "raw" (a string) or "close"')
    if kind != "text":
        b64decode(raw.removeprefix(BASE64), validate=True)
    return Frame(n, float(t), conn, direction, raw=raw, kind=kind)


class Mask:
    """Replaces secrets in decoded values: in the JSON text, an escape such as \\n could touch a secret."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # The longest first: one secret may contain another.
        ordered = sorted(secrets.items(), key=lambda item: len(item[0]), reverse=True)
        self._pairs: list[tuple[str, str]] = []
        for secret, name in ordered:
            # Text that is not JSON (a cut message, a URL in a reason) may hold the secret in an escaped form.
            for form in dict.fromkeys((secret, encode(secret)[1:-1], quote(secret, safe=""))):
                if form:
                    self._pairs.append((form, f"«token:{name}»"))
        self._in_json = {written[1:-1] for form, _ in self._pairs for written in (encode(form), json.dumps(form))}

    def touches(self, line: str) -> bool:
        """Whether JSON text may hold a secret: a quick look that spares most lines the work."""
        return MARK in line or any(form in line for form in self._in_json)

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        """The same for a line of a transcript, whose binary payloads are in Base64."""
        if line.get("kind") in ("binary", "not-utf8"):
            return line | {"raw": self._base64(line["raw"])}
        return {key: self.value(value) if key in ("msg", "raw", "close") else value for key, value in line.items()}

    def value(self, value: JSON) -> JSON:
        """A copy of a JSON value (or a text) without the secrets."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self.value(member) for member in value]
        return value

    def text(self, text: str) -> str:
        """A text without the secrets."""
        for form, shown in self._pairs:
            if form in text:
                text = text.replace(form, shown)
        return without_tokens(text)

    def _base64(self, raw: str) -> str:
        data = b64decode(raw.removeprefix(BASE64))
        for form, shown in self._pairs:
            data = data.replace(form.encode(), shown.encode())
        return in_base64(bytes_without_tokens(data))
