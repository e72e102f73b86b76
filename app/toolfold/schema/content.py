"""Parts of a stored content: slices by byte, lines of its text, and raw values."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import orjson
import strawberry

from toolfold import readable, stored_json
from toolfold.errors import BadUserInputError
from toolfold.readable_stream import lining
from toolfold.readable_stream.lining import Liner
from toolfold.readable_stream.runs import Run, runs
from toolfold.schema import fields, heavy
from toolfold.schema.blocks import blob_url, hash_text
from toolfold.schema.context import Info
from toolfold.schema.heavy import ContentOmission, Part
from toolfold.schema.scalars import BigInt, JSONValue
from toolfold.settings import MAX_INT
from toolfold.store import content as content_store

MAX_LINE_BYTES = 64 * 1024
MAX_LINES = 10_000
"""What one field returns; `nextFrom` goes on."""

_AROUND_A_LINE = len('"",')
_WIDEST_CHARACTER = 4
_CONTINUATION = 0b1000_0000

ReadRange = Callable[[int, int], Any]
"""Reads bytes [offset, offset + length) of stored bytes; awaitable."""


@strawberry.type(description="A range of stored bytes.")
class ContentSlice:
    """What a slice field returns."""

    offset: BigInt
    length: int
    total_size: BigInt
    next_offset: BigInt | None
    base64: str
    text: str | None = strawberry.field(
        description=(
            "UTF-8. Both ends are moved down to a character boundary, with at least one "
            "character; `offset`, `length`, `base64` are of that range. Null if binary."
        )
    )


@strawberry.type(description="A line over 64 KiB is cut there, and its number is in `truncated`.")
class ContentLines:
    """What `contentLines` returns; lines are counted from 1."""

    from_: int = strawberry.field(name="from")
    offset: BigInt = strawberry.field(
        description="Where the first of them begins in the text, in bytes, as `contentText` counts."
    )
    lines: list[str]
    truncated: list[int]
    total_lines: int
    next_from: int | None


@strawberry.type(
    description=(
        "A recorded JSON value whose bytes are read only when `json` or `slice` is selected."
    )
)
class RawValue:
    """A tool call's raw input or output."""

    part: strawberry.Private[Part]

    @strawberry.field
    def size(self) -> BigInt:
        return BigInt(self.part.size)

    @strawberry.field
    def hash(self) -> str:
        return hash_text(self.part.hash)

    @strawberry.field(
        description="Obeys the guard as `content` does.",
        metadata=fields.repeatable(),
        graphql_type=JSONValue | None,
    )
    def json(self, info: Info) -> heavy.Reading:
        return heavy.read(info, self.part, fragment, "json")

    @strawberry.field(
        description="Non-null exactly when `json` is withheld in this operation.",
        metadata=fields.repeatable(),
    )
    def omitted(self, info: Info) -> ContentOmission | None:
        return heavy.omission(info, self.part, "json")

    @strawberry.field
    async def slice(
        self, info: Info, offset: BigInt = BigInt(0), length: int = 65536
    ) -> ContentSlice | None:
        return await slice_part(info, self.part, offset, length)

    @strawberry.field
    def url(self) -> str:
        return blob_url(self.part.project_id, self.part.hash)


def fragment(data: bytes) -> JSONValue:
    """Return stored JSON bytes as a value that the response carries unparsed."""
    return JSONValue(orjson.Fragment(data))


async def slice_part(info: Info, part: Part, offset: int, length: int) -> ContentSlice:
    """Return bytes [offset, offset + length) of a part, charged to the hard budget.

    Raises:
        BadUserInputError: naming `offset` or `length`.
        ContentBudgetError: if it does not fit.
    """

    async def read(start: int, count: int) -> bytes:
        async with info.context.database.read() as connection:
            return await content_store.slice(connection, part.project_id, part.hash, start, count)

    return await slice_bytes(info, part, read, offset, length)


async def slice_bytes(
    info: Info, part: Part, read: ReadRange, offset: int, length: int
) -> ContentSlice:
    """As `slice_part`, of bytes that `read` returns."""
    check_range(info, offset, length)
    start = min(offset, part.size)
    end = min(start + length, part.size)
    info.context.ledger.charge_part(end - start, part.access, part_copies(info))
    window_start, window_end = window_around(start, end)
    window = await read(window_start, window_end - window_start) if end > start else b""
    return slice_of(window, window_start, (start, end), part.size)


def check_range(info: Info, offset: int, length: int) -> None:
    """Check what range of bytes is asked for.

    Raises:
        BadUserInputError: naming `offset` or `length`.
    """
    limit = info.context.settings.max_slice_bytes
    if offset < 0:
        raise BadUserInputError("offset must not be negative.", argument="offset")
    if not 1 <= length <= limit:
        raise BadUserInputError(f"length must be between 1 and {limit}.", argument="length")


def part_copies(info: Info) -> int:
    """Return how often the slice being resolved is shown."""
    return heavy.copies_below(info, "text", "base64")


def window_around(start: int, end: int) -> tuple[int, int]:
    """Return the range that holds [start, end) and any character that straddles an end of it."""
    return max(0, start - _WIDEST_CHARACTER), end + _WIDEST_CHARACTER


def slice_of(window: bytes, base: int, range_: tuple[int, int], total: int) -> ContentSlice:
    """Return a range of `total` bytes, of which `window` has those from `base` on around it."""
    start, end = _whole_characters(window, base, *range_)
    return _slice(window[start - base : end - base], start, total)


def _slice(data: bytes, offset: int, total: int) -> ContentSlice:
    end = offset + len(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    return ContentSlice(
        offset=BigInt(offset),
        length=len(data),
        total_size=BigInt(total),
        next_offset=BigInt(end) if end < total else None,
        base64=base64.b64encode(data).decode("ascii"),
        text=text,
    )


def _whole_characters(window: bytes, base: int, start: int, end: int) -> tuple[int, int]:
    """Return [start, end) moved down to UTF-8 boundaries, holding at least one character."""
    new_start = _boundary(window, start - base)
    new_end = _boundary(window, end - base)
    if new_end <= new_start < len(window):
        new_end = new_start + 1
        while new_end < len(window) and _continues(window[new_end]):
            new_end += 1
    return base + new_start, base + new_end


def _boundary(window: bytes, index: int) -> int:
    moved = index
    while 0 < moved < len(window) and _continues(window[moved]):
        moved -= 1
        if index - moved == _WIDEST_CHARACTER:
            return index  # Not UTF-8: binary bytes keep the range that was asked for.
    return moved


def _continues(byte: int) -> bool:
    return byte & 0b1100_0000 == _CONTINUATION


async def lines_of(info: Info, part: Part, first: int, count: int) -> ContentLines:
    """Return lines of the text that a person would read, from line `first`, counted from 1.

    A negative `first` counts from the end. At most `MAX_LINES` and a slice's bytes are returned.
    In bulk the whole content is charged, which has to be read; by its own id, up to a slice.

    Raises:
        BadUserInputError: naming `from` or `count`.
        ContentBudgetError: if it does not fit.
    """
    if first == 0:
        raise BadUserInputError("from counts from 1, or from the end if negative.", argument="from")
    if count < 1:
        raise BadUserInputError("count must be at least 1.", argument="count")
    limit = info.context.settings.max_slice_bytes
    charge = part.size if part.access.bulk else min(part.size, limit)
    info.context.ledger.charge_part(charge, part.access, heavy.copies_below(info, "lines"))
    count = min(count, MAX_LINES)
    if part.size > limit:
        return await _lines_of_large(info, part, first, count)
    data = await info.context.loaders.contents.load(part.key)
    return await asyncio.to_thread(_lines, data, first, count, limit)


async def _lines_of_large(info: Info, part: Part, first: int, count: int) -> ContentLines:
    """Return lines of a content that is not to be in memory whole, reading it once or twice."""
    limit = info.context.settings.max_slice_bytes
    if first < 0:
        all_of_it = await lining.read(runs_of(info, part), Liner(MAX_INT, 1, 0, limit))
        first = max(1, all_of_it.total + first + 1)
    longest = MAX_LINE_BYTES + 1
    liner = await lining.read(runs_of(info, part), Liner(first, count, longest, limit))
    start = min(first - 1, liner.total)
    return _shown(liner.lines, start, (liner.offset, liner.total), limit)


def runs_of(info: Info, part: Part) -> AsyncIterator[Run]:
    """Yield the readable text of a part as its stored bytes come."""
    stream = partial(content_store.stream, info.context.database, part.project_id, part.hash)
    return runs(stream, part.size)


def _lines(data: bytes, first: int, count: int, limit: int) -> ContentLines:
    lines = readable.lines(stored_json.decode(data))
    start = max(0, len(lines) + first) if first < 0 else min(first - 1, len(lines))
    offset = sum(len(line.encode()) for line in lines[:start]) + start
    return _shown(lines[start : start + count], start, (offset, len(lines)), limit)


def _shown(lines: list[str], start: int, place: tuple[int, int], limit: int) -> ContentLines:
    """Return as many of the lines after line `start` as have at most `limit` bytes.

    `place` is where they begin in the text, and how many lines it has.
    """
    offset, total = place
    taken: list[str] = []
    truncated: list[int] = []
    used = 0
    for number, line in enumerate(lines, start + 1):
        shown = _cut(line)
        used += len(shown.encode()) + _AROUND_A_LINE
        if used > limit and taken:
            break
        taken.append(shown)
        if shown is not line:
            truncated.append(number)
    following = start + len(taken) + 1
    return ContentLines(
        from_=start + 1,
        offset=BigInt(offset),
        lines=taken,
        truncated=truncated,
        total_lines=total,
        next_from=following if following <= total else None,
    )


def _cut(line: str) -> str:
    if len(line) * _WIDEST_CHARACTER <= MAX_LINE_BYTES:
        return line
    data = line.encode()
    return line if len(data) <= MAX_LINE_BYTES else data[:MAX_LINE_BYTES].decode(errors="ignore")
