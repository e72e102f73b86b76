"""A content's readable text in runs, each with its place in the stored bytes."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import orjson

from toolfold import readable, stored_json
from toolfold.readable_stream.splitting import MAX_BLOCK_BYTES, Block, Splitter
from toolfold.transcript import Json

ReadRange = Callable[[int, int], AsyncIterator[bytes]]
"""Yields stored bytes [start, end) in pieces."""

IN_LOOP_CHARACTERS = 16 * 1024
"""A run up to this is looked through on the event loop; a thread would cost more than it frees."""

IN_LOOP_BYTES = 64 * 1024
"""As much of stored bytes."""

_MAX_STRINGS = 16
_MAX_REST_BYTES = 64 * 1024
_LONGEST_ESCAPE = len(r"\u0000")
_BACKSLASH = ord("\\")
_QUOTES = 2
_LONGEST_PADDING = 4
_WIDEST_CHARACTER = 4
_CONTINUATION = 0b1000_0000
_TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 0xC0, 0xE0, 0xF0
"""The least first byte of a character that has as many."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive text, made of the stored bytes from `offset` on.

    `is_verbatim` if it is a string there, or a part of one, so that each character has its place;
    else the whole run has only the one.
    """

    text: str
    offset: int
    is_verbatim: bool = False

    def place(self, index: int) -> int:
        """Return where the character at `index` stands in the stored bytes."""
        if not self.is_verbatim:
            return self.offset
        return self.offset + len(orjson.dumps(self.text[:index])) - _QUOTES


async def runs(
    read: ReadRange, size: int, *, max_block_bytes: int = MAX_BLOCK_BYTES
) -> AsyncIterator[Run]:
    """Yield the readable text of the content of `size` stored bytes, blocks separated by a break.

    Joined it is what `readable.text` returns. Work on bytes is done off the event loop.
    """
    is_first = True
    async for block, short in _blocks(read, size, max_block_bytes):
        begun = False
        async for run in _of_block(read, block, short):
            if run.text:
                if not (begun or is_first):
                    yield Run("\n", run.offset)
                begun, is_first = True, False
                yield run


async def _blocks(
    read: ReadRange, size: int, max_block_bytes: int
) -> AsyncIterator[tuple[Block, Run | None]]:
    """Yield each block, with its text if it is a short one."""
    splitter = Splitter(max_block_bytes)

    def split(piece: bytes) -> list[tuple[Block, Run | None]]:
        return [(block, _short(block)) for block in splitter.feed(piece)]

    async for piece in read(0, size):
        is_short = len(piece) <= IN_LOOP_BYTES
        for found in split(piece) if is_short else await asyncio.to_thread(split, piece):
            yield found
    for block in splitter.end():
        yield block, _short(block)


def _short(block: Block) -> Run | None:
    if block.data is None:
        return None
    text = readable.block_text(readable.unwrapped(stored_json.decode(block.data)))
    at = block.data.find(orjson.dumps(text))
    return Run(text, block.start if at < 0 else block.start + at + 1, is_verbatim=at >= 0)


async def _of_block(read: ReadRange, block: Block, short: Run | None) -> AsyncIterator[Run]:
    if short is not None:
        yield short
        return
    skeleton = await _skeleton(read, block)
    if skeleton is not None:
        value, tokens = skeleton
        text = await _text_with(read, value, tokens)
        if isinstance(text, str):
            yield Run(text, block.start)
            return
        if text is not None:
            async for run in _string(read, *text):
                yield run
            return
    data = b"".join([piece async for piece in read(block.start, block.end)])
    yield Run(await asyncio.to_thread(_whole, data), block.start)


def _whole(data: bytes) -> str:
    return readable.block_text(readable.unwrapped(stored_json.decode(data)))


async def _skeleton(
    read: ReadRange, block: Block
) -> tuple[Json, dict[str, tuple[int, int]]] | None:
    """Return a large block with a token for each long string, and where those stand.

    None if it is not long strings that make it large.
    """
    rest = block.end - block.start - sum(end - start for start, end in block.strings)
    if rest > _MAX_REST_BYTES or len(block.strings) > _MAX_STRINGS:
        return None
    tokens: dict[str, tuple[int, int]] = {}
    data = bytearray()
    at = block.start
    for start, end in block.strings:
        token = uuid.uuid4().hex
        tokens[token] = (start, end)
        data += b"".join([piece async for piece in read(at, start)]) + token.encode()
        at = end
    data += b"".join([piece async for piece in read(at, block.end)])
    return stored_json.decode(bytes(data)), tokens


async def _text_with(
    read: ReadRange, block: Json, tokens: dict[str, tuple[int, int]]
) -> str | tuple[int, int] | None:
    """Return the text of a block, or where the string stands that is it; None if it is neither."""
    block = readable.unwrapped(block)
    match block:
        case {"type": "image" | "audio" as kind, "data": str(data)} if data in tokens:
            text = await _label(read, tokens[data], kind, block.get("mimeType"))
        case {"type": "resource", "resource": {"blob": str(data), **resource}} if (
            data in tokens and not isinstance(resource.get("text"), str)
        ):
            text = await _label(read, tokens[data], "resource", resource.get("mimeType"))
        case _:
            text = readable.block_text(block)
    if text in tokens:
        return tokens[text]
    return None if any(token in text for token in tokens) else text


async def _label(read: ReadRange, place: tuple[int, int], kind: str, mime_type: Json) -> str:
    characters = 0
    last = ""
    async for run in _string(read, *place):
        characters += len(run.text)
        last = (last + run.text)[-_LONGEST_PADDING:]
    padding = len(last) - len(last.rstrip("="))
    return readable.media_label(mime_type, characters, padding, kind=kind)


async def _string(read: ReadRange, start: int, end: int) -> AsyncIterator[Run]:
    """Yield the text of a string that stands at stored bytes [start, end)."""
    rest = b""
    offset = start
    async for piece in read(start, end):
        data = rest + piece
        cut = _whole_characters(data)
        text = await asyncio.to_thread(_unescaped, data[:cut])
        yield Run(text, offset, is_verbatim=True)
        offset += cut
        rest = data[cut:]


def _unescaped(data: bytes) -> str:
    text: str = orjson.loads(b'"%b"' % data)
    return text


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
