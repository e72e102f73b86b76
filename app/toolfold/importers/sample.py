"""The first JSON values of a file, by which its format is recognised; never the whole file.

A file is JSON lines, of which some may be damaged, or one JSON document, of which the beginning
is enough: what is cut off there is left out.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from toolfold.importers.jsonl import Decoded, Line, decode
from toolfold.transcript import Json

HEAD_BYTES = 64 * 1024
"""How much of a file that is one JSON document is looked at."""

_MAX_LINES = 50
_MAX_BYTES = 1024 * 1024
_MAX_LINE_BYTES = 64 * 1024 * 1024
_PADDING = b"\x00\xef\xbb\xbf \t\r\n"
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>"?)|[\[\]{},]', re.DOTALL)


def begins_with(path: Path, mark: bytes) -> bool:
    """Say whether the first bytes of a file are these.

    Raises:
        OSError: if the file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        return file.read(len(mark)) == mark


def first_values(path: Path) -> Iterator[Json]:
    """Yield the values of a file's first lines, or the beginning of its one document.

    No more of the file is read than is needed for the values that are asked for.

    Raises:
        OSError: if the file cannot be read.
    """
    lines = _lines(path)
    values = _values(next(lines, b""))
    if not values and (document := _document(path)):
        yield from document
        return
    yield from values
    for line in lines:
        yield from _values(line)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield a file's first lines that are not blank, a very long one only if it is JSON."""
    with path.open("rb") as file:
        count = size = 0
        while count < _MAX_LINES and size < _MAX_BYTES:
            line = file.readline(HEAD_BYTES)
            if not line:
                return
            if not line.endswith(b"\n") and line.lstrip(_PADDING).startswith(b"{"):
                line += file.readline(_MAX_LINE_BYTES)
            size += len(line)
            if line.strip(_PADDING):
                count += 1
                yield line


def _values(line: bytes) -> list[Json]:
    return [
        item.value for item in decode(Line(1, line, terminated=True)) if isinstance(item, Decoded)
    ]


def _document(path: Path) -> list[Json]:
    """Return the value of the JSON document that a file is, without what is cut off; or none."""
    with path.open("rb") as file:
        start = file.read(HEAD_BYTES).lstrip(_PADDING)
    if not start.startswith((b"{", b"[")):
        return []
    text = start.decode("utf-8", "replace")
    closers: list[str] = []
    end, closing = 0, ""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == ",":
            end = token.start()
        elif mark in "[{":
            closers.append("]" if mark == "[" else "}")
            end = token.end()
        elif mark in "]}":
            if not closers or closers.pop() != mark:
                return []
            end = token.end()
        elif not token["end"]:
            break
        else:
            continue
        closing = "".join(reversed(closers))
    try:
        return [json.loads(text[:end] + closing, strict=False)]
    except (ValueError, RecursionError):
        return []
