"""Lines of the text that a person would read of a content, at any size."""

import asyncio

import strawberry

from toolfold import readable, stored_json
from toolfold.errors import BadUserInputError
from toolfold.readable_stream import lining
from toolfold.readable_stream.lining import Liner
from toolfold.readable_stream.places import Place
from toolfold.schema import heavy
from toolfold.schema.content_text import StoredText, is_selected, text_of
from toolfold.schema.context import Info
from toolfold.schema.heavy import Part
from toolfold.schema.scalars import BigInt

MAX_LINE_BYTES = 64 * 1024
MAX_LINES = 10_000
"""What one field returns; `nextFrom` goes on."""

_AROUND_A_LINE = len('"",')
_WIDEST_CHARACTER = 4


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
    """Return lines of a content that is not to be in memory whole.

    It is read from the last known place before them; all of it once, where they are counted.
    """
    limit = info.context.settings.max_slice_bytes
    text = text_of(info, part)
    if first < 0:
        first = max(1, await _line_count(text) + first + 1)
    place = text.places.before_line(first)
    longest = MAX_LINE_BYTES + 1
    liner = Liner(first, count, longest, limit, place.breaks + 1, place.offset)
    to_the_end = is_selected(info, "totalLines") and text.places.line_count is None
    await lining.read(text.runs(place), liner, to_the_end=to_the_end)
    total = liner.total if text.places.line_count is None else text.places.line_count
    return _shown(liner.lines, min(first - 1, total), (liner.offset, total), limit)


async def _line_count(text: StoredText) -> int:
    if text.places.line_count is None:
        async for _ in text.runs(Place()):
            pass
    return text.places.line_count or 0


def _lines(data: bytes, first: int, count: int, limit: int) -> ContentLines:
    content = stored_json.decode(data)
    lines = readable.lines(content)
    start = max(0, len(lines) + first) if first < 0 else min(first - 1, len(lines))
    if start < len(lines):
        offset = sum(len(line.encode()) for line in lines[:start]) + start
    else:
        offset = len(readable.text(content).encode())
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
