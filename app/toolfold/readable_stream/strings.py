"""The text of one string of stored JSON, as its bytes come."""

import asyncio
import re
from collections.abc import AsyncIterator

import orjson

from toolfold.readable_stream.run import Entry, ReadRange, Run

_INSIDE = re.compile(rb'(?s)[^"\\]*+(?:\\.[^"\\]*+)*+')
_LONGEST_ESCAPE = len(r"\u0000")
_BACKSLASH = ord("\\")
_WIDEST_CHARACTER = 4
_CONTINUATION = 0b1000_0000
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 0xC0, 0xE0, 0xF0
"""The least first byte of a character that has as many."""


async def string(
    read: ReadRange, start: int, end: int, depth: int
) -> AsyncIterator[tuple[Run, int]]:
    """Yield the text from within a string at stored byte `start` to its closing quote, or `end`.

    With each run comes where the stored bytes go on after it. `depth` is how many levels deep in
    its block the string stands.
    """
    rest = b""
    offset = start
    async for piece in read(start, end):
        run, taken, is_closed = await asyncio.to_thread(_run, rest + piece, offset, depth)
        rest = (rest + piece)[taken:]
        offset += taken
        if run.text:
            yield run, offset
        if is_closed:
            return


def _run(data: bytes, offset: int, depth: int) -> tuple[Run, int, bool]:
    """Return the text of a string's next bytes, how many those are, and whether it ends there."""
    closed = b'"' in data
    if closed:
        match = _INSIDE.match(data)
        end = match.end() if match else 0
        closed = data[end : end + 1] == b'"'
    cut = end if closed else _whole_characters(data)
    text: str = orjson.loads(b'"%b"' % data[:cut])
    entry = Entry(offset, depth)
    return Run.of(text, offset, is_verbatim=True, entry=entry), cut, closed


def _whole_characters(data: bytes) -> int:
    """Return how much of the inside of a JSON string ends with a whole character or escape."""
    end = len(data)
    lead = end - 1
    while lead >= max(0, end - _WIDEST_CHARACTER) and data[lead] & 0b1100_0000 == _CONTINUATION:
        lead -= 1
    if lead >= 0 and data[lead] >= _TWO_BYTES and lead + _width(data[lead]) > end:
        return lead
    backslash = data.rfind(b"\\", max(0, end - _LONGEST_ESCAPE))
    if backslash < 0:
        return end
    first = backslash
    while first > 0 and data[first - 1] == _BACKSLASH:
        first -= 1
    is_escape = (backslash - first) % 2 == 0
    length = _LONGEST_ESCAPE if data[backslash + 1 : backslash + 2] == b"u" else len(r"\n")
    return backslash if is_escape and backslash + length > end else end


def _width(lead: int) -> int:
    return 2 + (lead >= _THREE_BYTES) + (lead >= _FOUR_BYTES)
