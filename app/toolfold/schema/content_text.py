"""The text that a person would read of a content, at any size: its bytes, and what is in it."""

from collections.abc import AsyncIterator
from functools import partial

import strawberry

from toolfold.errors import BadUserInputError
from toolfold.readable_stream import finding, slicing
from toolfold.readable_stream.runs import ReadRange, Run, runs
from toolfold.schema import heavy
from toolfold.schema.blocks import hash_text
from toolfold.schema.connection import Scope, page_size
from toolfold.schema.content import (
    ContentSlice,
    check_range,
    part_copies,
    slice_of,
    window_around,
)
from toolfold.schema.context import Info
from toolfold.schema.heavy import Part
from toolfold.schema.scalars import BigInt
from toolfold.store import content as content_store

MAX_FIND_CHARACTERS = 1_000


@strawberry.type(
    description=(
        "A line, counted from 1, and where in the stored bytes the text is found in it first. Of "
        "a line over 2,000 characters `text` has as many, around that place."
    )
)
class ContentMatch:
    """One line of `ContentMatches`."""

    line: int
    offset: BigInt
    text: str


@strawberry.type(
    description="The lines that contain a text; `endCursor` is null where no more follow."
)
class ContentMatches:
    """What `contentFind` returns."""

    matches: list[ContentMatch]
    total_count: int = strawberry.field(description="How many lines of all contain it.")
    end_cursor: str | None


async def slice_text(info: Info, part: Part, offset: int, length: int) -> ContentSlice:
    """Return bytes [offset, offset + length) of the readable text of a part.

    In bulk the whole content is charged, which has to be read; by its own id, up to a slice.

    Raises:
        BadUserInputError: naming `offset` or `length`.
        ContentBudgetError: if it does not fit.
    """
    check_range(info, offset, length)
    charge = part.size if part.access.bulk else min(part.size, length)
    info.context.ledger.charge_part(charge, part.access, part_copies(info))
    base, stop = window_around(offset, offset + length)
    found = await slicing.window(runs_of(info, part), base, stop)
    start = min(offset, found.size)
    end = min(start + length, found.size)
    if start == end:
        return slice_of(b"", start, (start, end), found.size)
    return slice_of(found.data, base, (start, end), found.size)


async def find_in(
    info: Info, part: Part, text: str, first: int, after: str | None
) -> ContentMatches:
    """Return lines of the readable text of a part that contain `text`.

    It takes the time of one reading, and no more memory for a larger content. Charged as
    `slice_text` is.

    Raises:
        BadUserInputError: naming `text`, `first` or `after`.
        ContentBudgetError: if it does not fit.
    """
    if not 1 <= len(text) <= MAX_FIND_CHARACTERS or "\n" in text:
        raise BadUserInputError(
            f"text must be 1 to {MAX_FIND_CHARACTERS} characters of one line.", argument="text"
        )
    limit = page_size(info, first, None)
    scope = _find_scope(hash_text(part.hash), text)
    key = scope.decode(after, argument="after")
    slice_bytes = info.context.settings.max_slice_bytes
    charge = part.size if part.access.bulk else min(part.size, slice_bytes)
    info.context.ledger.charge_part(charge, part.access, heavy.copies_below(info, "matches"))
    found = finding.Finder(text, limit, slice_bytes, after=int(key[0]) if key else 0)
    await finding.find(runs_of(info, part), found)
    last = found.matches[-1].line if found.matches else None
    return ContentMatches(
        matches=[
            ContentMatch(line=match.line, offset=BigInt(match.offset), text=match.text)
            for match in found.matches
        ],
        total_count=found.total_count,
        end_cursor=scope.encode((last,)) if found.has_more and last is not None else None,
    )


async def runs_of(info: Info, part: Part) -> AsyncIterator[Run]:
    """Yield the readable text of a part; of a short one, loaded with all others of a list."""
    read: ReadRange = partial(
        content_store.stream, info.context.database, part.project_id, part.hash
    )
    if part.size <= heavy.IN_LOOP_BYTES:
        data = await info.context.loaders.contents.load(part.key)
        read = partial(_pieces, data)
    async for run in runs(read, part.size):
        yield run


async def _pieces(data: bytes, start: int, end: int) -> AsyncIterator[bytes]:
    yield data[start:end]


def find_cursor(content_hash: str, text: str, line: int) -> str:
    """Return the cursor of a line in what is found of `text` in the content with this hash."""
    return _find_scope(content_hash, text).encode((line,))


def _find_scope(content_hash: str, text: str) -> Scope:
    return Scope.of("contentFind", content_hash, finding.folded(text), types=(int,))
