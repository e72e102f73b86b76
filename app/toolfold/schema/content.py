"""Parts of a stored content: slices by byte, and raw values."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
import strawberry

from toolfold.errors import BadUserInputError
from toolfold.schema import fields, heavy
from toolfold.schema.blocks import blob_url, hash_text
from toolfold.schema.context import Info
from toolfold.schema.heavy import ContentOmission, Part
from toolfold.schema.scalars import BigInt, JSONValue
from toolfold.store import content as content_store

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
