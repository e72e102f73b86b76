"""Transcript files of JSON lines: reading them line by line, and decoding what people find there.

Nothing here knows a transcript format. Memory holds one line at a time, however long it is. What
can be mended is mended and named; what cannot is handed on raw, and the next line is read.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from toolfold import stored_json
from toolfold.exact_json import integer, nesting, room_for
from toolfold.transcript import Json, Record, Repair

MAX_NESTING = stored_json.MAX_DEPTH + 100
"""Levels of arrays and objects that are read as JSON; a deeper line is kept raw.

They leave room for what a line has around a value that is as deep as can be stored.
"""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_REPLACEMENT = 0xFFFD
_MENDED_CHARACTERS = {0: _REPLACEMENT} | dict.fromkeys(range(0xDC80, 0xDD00), _REPLACEMENT)
_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair, as it is
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|.)",
    re.DOTALL,
)
_SPACE = re.compile(r"[ \t\r\n\x00]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its 1-based number, its bytes without the newline, and whether it had one."""

    number: int
    raw: bytes
    terminated: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a file was read: whole lines, the bytes they take, and the SHA-256 of these."""

    line: int
    size: int
    digest: bytes


START = Checkpoint(0, 0, hashlib.sha256().digest())
"""The place before a file's first line."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """One JSON value of a line; `repaired` when its bytes had to be mended to read it."""

    value: Json
    repaired: bool


class LineReader:
    """The lines of a file, in order, one in memory at a time; an OSError is the caller's."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0
        self._size = 0
        self._hash = hashlib.sha256()
        self._tail = b""

    def __iter__(self) -> Iterator[Line]:
        with self._path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                terminated = raw.endswith(b"\n")
                yield Line(number, raw[:-1] if terminated else raw, terminated)
                if terminated:
                    self._hash.update(raw)
                    self._size += len(raw)
                    self._line = number
                else:
                    self._tail = raw

    def checkpoint(self) -> Checkpoint:
        """Return the place before the line now being read, or after the last one at the end.

        A last line without a newline may still be growing and never counts as read.
        """
        return Checkpoint(self._line, self._size, self._hash.copy().digest())

    def end(self) -> Checkpoint:
        """Return the place after all bytes that were read, a last line without newline too.

        `line` counts whole lines as ever, so that the last one is read again when it grows.
        """
        digest = self._hash.copy()
        digest.update(self._tail)
        return Checkpoint(self._line, self._size + len(self._tail), digest.digest())


def decode(line: Line) -> Iterator[Decoded | Record | Repair]:
    """Yield the JSON values of one line, each after the repairs that it needed.

    A line holds one value as a rule, none when blank, several objects when newlines were lost.
    What is not JSON is a `Record` of these bytes, or the repair `cut last line` at the end of
    a file without a final newline. Integers keep all digits; of equal keys the last one counts.
    """
    raw = line.raw
    if raw.startswith(b"{") and (exact := _exactly(raw)) is not None:
        yield exact
        return
    stripped = raw.strip(b"\x00" + _BLANK)
    if raw.startswith(b"\x00") or raw.endswith(b"\x00"):
        yield Repair("NUL padding")
    if stripped.startswith(_BYTE_ORDER_MARK):
        yield Repair("byte order mark")
        stripped = stripped.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
    if not stripped:
        return
    exact = _exactly(stripped)
    if exact is not None:
        yield exact
    else:
        yield from _CarefulDecoder(stripped, terminated=line.terminated).values()


def _exactly(raw: bytes) -> Decoded | None:
    """Return the value of JSON as JavaScript writes it, the fast way; None if it is any other.

    Written back the same, no digit and no second key was lost, and it is not deep.
    """
    try:
        value = orjson.loads(raw)
        return Decoded(value, repaired=False) if orjson.dumps(value) == raw else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None


class _CarefulDecoder:
    """Decodes one line with Python's own parser, and collects what had to be mended."""

    def __init__(self, raw: bytes, *, terminated: bool) -> None:
        self._terminated = terminated
        self._original = raw.decode("utf-8", "surrogateescape")
        self._text = _mend(raw, self._original)
        self._found: dict[str, None] = {}

    def values(self) -> Iterator[Decoded | Record | Repair]:
        start = 0
        while start < len(self._text):
            self._found.clear()
            try:
                value, end = self._value(start)
                if end < len(self._text) and not isinstance(value, dict):
                    raise ValueError("not JSON")
            except ValueError as error:
                yield self._unreadable(start, error)
                return
            if start > 0:
                yield Repair("two objects on one line")
            self._find_mended(start, end)
            yield from map(Repair, self._found)
            yield Decoded(value, bool(self._found))
            start = end

    def _value(self, start: int) -> tuple[Json, int]:
        """Return the value at `start`, and where what follows it starts."""
        with room_for(nesting(self._text, MAX_NESTING), MAX_NESTING):
            try:
                value, end = self._decoder(strict=True).raw_decode(self._text, start)
            except json.JSONDecodeError as error:
                if not error.msg.startswith("Invalid control character"):
                    raise
                self._found["control character"] = None
                value, end = self._decoder(strict=False).raw_decode(self._text, start)
        space = _SPACE.match(self._original, end)
        return value, space.end() if space else end

    def _decoder(self, *, strict: bool) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._not_finite,
            parse_float=self._float,
            parse_int=integer,
            strict=strict,
        )

    def _object(self, pairs: list[tuple[str, Json]]) -> Json:
        value = dict(pairs)
        if len(value) != len(pairs):
            self._found["duplicate key"] = None
        return value

    def _not_finite(self, _name: str) -> None:
        self._found["NaN or Infinity"] = None

    def _float(self, digits: str) -> float | None:
        value = float(digits)
        if math.isfinite(value):
            return value
        self._not_finite(digits)
        return None

    def _find_mended(self, start: int, end: int) -> None:
        if self._text is self._original:
            return
        original = self._original[start:end].rstrip("\x00")
        if _INVALID_BYTE.search(original):
            self._found["invalid UTF-8"] = None
        if "\x00" in original:
            self._found["NUL"] = None
        if _lone_surrogates_replaced(original) != original:
            self._found["lone surrogate"] = None

    def _unreadable(self, start: int, error: ValueError) -> Record | Repair:
        if not self._terminated and isinstance(error, json.JSONDecodeError):
            return Repair("cut last line")
        reason = "not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        return Record(self._original[start:].encode("utf-8", "surrogateescape"), reason)


def _mend(raw: bytes, text: str) -> str:
    """Return `text` with U+FFFD for what cannot be stored; the same object if nothing is.

    A character or escape is replaced by one of the same length, so that places in both agree.
    """
    if b"\\ud" in raw or b"\\uD" in raw:
        mended = _lone_surrogates_replaced(text)
        text = mended if mended != text else text
    if b"\x00" in raw or (not text.isascii() and _INVALID_BYTE.search(text)):
        text = text.translate(_MENDED_CHARACTERS)
    return text


def _lone_surrogates_replaced(text: str) -> str:
    return _ESCAPE.sub(lambda escape: r"\ufffd" if escape["lone"] else escape[0], text)
