"""A content's readable text in runs, each with its place in the stored bytes."""

import asyncio
import uuid
from collections.abc import AsyncIterator

import orjson

from toolfold import readable, stored_json
from toolfold.readable_stream.run import START, Entry, ReadRange, Run
from toolfold.readable_stream.splitting import (
    MAX_BLOCK_BYTES,
    Block,
    LongString,
    Opening,
    Splitter,
)
from toolfold.readable_stream.strings import string
from toolfold.transcript import Json

IN_LOOP_BYTES = 64 * 1024
"""As much of stored bytes."""

_MAX_STRINGS = 16
_MAX_REST_BYTES = 64 * 1024
_LONGEST_PADDING = 4
_SETTLED = frozenset({"text", "terminal", "resource"})
"""Types of blocks whose text stays what it is, whatever else of them follows."""


async def runs(
    read: ReadRange, size: int, entry: Entry = START, *, max_block_bytes: int = MAX_BLOCK_BYTES
) -> AsyncIterator[Run]:
    """Yield the readable text of the content of `size` stored bytes, blocks separated by a break.

    Joined it is what `readable.text` returns; from an entry on, what follows. Work on bytes is
    done off the event loop.
    """
    at: Entry | None = entry
    is_first = entry.is_first
    while at is not None:
        start = at.offset
        if at.depth is not None:
            # A string that is the text of its block, of which nothing else is wanted.
            async for run, end in string(read, at.offset, size, at.depth):
                yield run
                start = end
            start = min(start + len(b'"'), size)
        splitter = Splitter.at(start, at.depth, max_block_bytes)
        at = None
        async for block, short in _blocks(read, splitter, start, size):
            if isinstance(block, Opening):
                at = Entry(block.string_start, block.depth)
                if not is_first:
                    yield _separator(block.start)
                is_first = False
                break
            async for run in _of_block(read, block, short, is_first=is_first):
                yield run
                is_first = False


def _separator(start: int) -> Run:
    """Return the line break in front of the text of a block."""
    return Run.of("\n", start, entry=Entry(start))


async def _blocks(
    read: ReadRange, splitter: Splitter, start: int, size: int
) -> AsyncIterator[tuple[Block | Opening, Run | None]]:
    """Yield each block from stored byte `start` on, with its text if it is a short one.

    One whose text is the string that it is in is yielded as soon as that is known.
    """

    def split(piece: bytes) -> list[tuple[Block | Opening, Run | None]]:
        return [
            (block, _short(block))
            for block in splitter.feed(piece)
            if isinstance(block, Block) or _is_text(block)
        ]

    async for piece in read(start, size):
        is_short = len(piece) <= IN_LOOP_BYTES
        for found in split(piece) if is_short else await asyncio.to_thread(split, piece):
            yield found
    for block in splitter.end():
        yield block, _short(block)


def _is_text(opening: Opening) -> bool:
    """Say whether a string is the text of its block, whatever follows it there."""
    token = uuid.uuid4().hex
    closing = '"' + "}" * opening.depth
    try:
        value = stored_json.decode(opening.before + f"{token}{closing}".encode())
    except ValueError:
        return False
    block = readable.unwrapped(value)
    is_settled = isinstance(block, str) or (
        isinstance(block, dict) and block.get("type") in _SETTLED
    )
    return is_settled and readable.block_text(block) == token


def _short(block: Block | Opening) -> Run | None:
    if isinstance(block, Opening) or block.data is None:
        return None
    text = readable.block_text(readable.unwrapped(stored_json.decode(block.data)))
    at = block.data.find(orjson.dumps(text))
    return Run.of(text, block.start if at < 0 else block.start + at + 1, is_verbatim=at >= 0)


async def _of_block(
    read: ReadRange, block: Block, short: Run | None, *, is_first: bool
) -> AsyncIterator[Run]:
    """Yield the text of a block, after a line break if it is not the first of the whole."""
    begun = is_first
    async for run in _text_of(read, block, short):
        if run.text:
            if not begun:
                yield _separator(block.start)
            begun = True
            yield run


async def _text_of(read: ReadRange, block: Block, short: Run | None) -> AsyncIterator[Run]:
    if short is not None:
        yield short
        return
    skeleton = await _skeleton(read, block)
    if skeleton is not None:
        value, tokens = skeleton
        text = await _text_with(read, value, tokens)
        if isinstance(text, str):
            yield Run.of(text, block.start)
            return
        if text is not None:
            async for run, _ in string(read, *text):
                yield run
            return
    data = b"".join([piece async for piece in read(block.start, block.end)])
    yield await asyncio.to_thread(_whole, data, block.start)


def _whole(data: bytes, start: int) -> Run:
    return Run.of(readable.block_text(readable.unwrapped(stored_json.decode(data))), start)


async def _skeleton(read: ReadRange, block: Block) -> tuple[Json, dict[str, LongString]] | None:
    """Return a large block with a token for each long string, and where those stand.

    None if it is not long strings that make it large.
    """
    rest = block.end - block.start - sum(one.end - one.start for one in block.strings)
    if rest > _MAX_REST_BYTES or len(block.strings) > _MAX_STRINGS:
        return None
    tokens: dict[str, LongString] = {}
    data = bytearray()
    at = block.start
    for place in block.strings:
        token = uuid.uuid4().hex
        tokens[token] = place
        data += b"".join([piece async for piece in read(at, place.start)]) + token.encode()
        at = place.end
    data += b"".join([piece async for piece in read(at, block.end)])
    return stored_json.decode(bytes(data)), tokens


async def _text_with(
    read: ReadRange, block: Json, tokens: dict[str, LongString]
) -> str | LongString | None:
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


async def _label(read: ReadRange, place: LongString, kind: str, mime_type: Json) -> str:
    characters = 0
    last = ""
    async for run, _ in string(read, *place):
        characters += len(run.text)
        last = (last + run.text)[-_LONGEST_PADDING:]
    padding = len(last) - len(last.rstrip("="))
    return readable.media_label(mime_type, characters, padding, kind=kind)
