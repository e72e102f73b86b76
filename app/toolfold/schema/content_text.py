"""The text that a person would read of a content, at any size: its bytes, and what is in it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

import strawberry

from toolfold.errors import BadUserInputError
from toolfold.readable_stream import finding, slicing
from toolfold.readable_stream.places import Place, TextPlaces
from toolfold.readable_stream.run import ReadRange, Run
from toolfold.readable_stream.runs import runs
from toolfold.schema import heavy, selection
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
    text = text_of(info, part)
    base, stop = window_around(offset, offset + length)
    place = text.places.before_byte(base)
    to_the_end = is_selected(info, "totalSize") and text.places.size is None
    reading = text.runs(place)
    found = await slicing.window(reading, base, stop, at=place.offset, to_the_end=to_the_end)
    size = found.size if text.places.size is None else text.places.size
    start = min(offset, size)
    end = min(start + length, size)
    if start == end:
        return slice_of(b"", start, (start, end), size)
    return slice_of(found.data, base, (start, end), size)


async def find_in(
    info: Info, part: Part, text: str, first: int, after: str | None
) -> ContentMatches:
    """Return lines of the readable text of a part that contain `text`.

    It takes the time of one reading, and no more memory for a larger content; where they are not
    counted, of a reading from `after` to the last of them. Charged as `slice_text` is.

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
    line = int(key[0]) if key else 0
    is_counted = is_selected(info, "totalCount")
    read_text = text_of(info, part)
    place = Place() if is_counted else read_text.places.before_line(line + 1)
    found = finding.Finder(text, limit, slice_bytes, after=line, line=place.breaks + 1)
    await finding.find(read_text.runs(place), found, to_the_end=is_counted)
    last = found.matches[-1].line if found.matches else None
    return ContentMatches(
        matches=[
            ContentMatch(line=match.line, offset=BigInt(match.offset), text=match.text)
            for match in found.matches
        ],
        total_count=found.total_count,
        end_cursor=scope.encode((last,)) if found.has_more and last is not None else None,
    )


@dataclass(frozen=True, slots=True)
class StoredText:
    """The readable text of a stored content, and what is known of where it lies."""

    places: TextPlaces
    _read: ReadRange
    _size: int

    def runs(self, place: Place) -> AsyncIterator[Run]:
        """Yield it from a place on."""
        return self.places.followed(runs(self._read, self._size, place.entry), place)


def text_of(info: Info, part: Part) -> StoredText:
    """Return the readable text of a part; a short one is loaded with all others of a list."""
    read: ReadRange = partial(
        content_store.stream, info.context.database, part.project_id, part.hash
    )
    if part.size <= heavy.IN_LOOP_BYTES:
        read = partial(_loaded, info, part)
    places = info.context.resources.texts.of(part.hash, part.size)
    return StoredText(places, read, part.size)


def is_selected(info: Info, name: str) -> bool:
    """Say whether a field of what is being resolved is selected."""
    raw = selection.raw_info(info)
    return bool(selection.named(selection.subfields(raw.field_nodes, raw), name))


async def _loaded(info: Info, part: Part, start: int, end: int) -> AsyncIterator[bytes]:
    data = await info.context.loaders.contents.load(part.key)
    yield data[start:end]


def find_cursor(content_hash: str, text: str, line: int) -> str:
    """Return the cursor of a line in what is found of `text` in the content with this hash."""
    return _find_scope(content_hash, text).encode((line,))


def _find_scope(content_hash: str, text: str) -> Scope:
    return Scope.of("contentFind", content_hash, finding.folded(text), types=(int,))
