"""How the bytes of a content lie in chunks: slices, each a zstd frame with a checksum.

A content may begin as another one does, its base, and then has chunks only for what follows. So
its bytes lie in the chunks of one or a few contents, its *owners*. Pure functions: `content`
brings the rows. The checksums let a part be trusted without the rest.
"""

import base64
import binascii
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import zstandard

from toolfold.errors import CorruptContentError

Key = tuple[str, bytes]
"""(project id, SHA-256)."""

CHUNK_SIZE = 256 * 1024
"""Bytes of content in each chunk but the last, before compression."""

_LEVEL = 3

_CHECKSUM_BYTES = 4
"""What ends a frame: the low bytes of the XXH64 of what it holds, which decompressing verifies."""

_MAX_FOUND_RIGHT = 16_384

_found_right: dict[bytes, tuple[tuple["Piece", ...], tuple[bytes, ...]]] = {}
"""The pieces of contents and their frames' checksums, when the SHA-256 of the whole was right."""


class _Coder(threading.local):
    """What each thread has of its own: making one costs as much as to code a short content."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()


_own = _Coder()


def compress(data: bytes, start: int = 0) -> list[bytes]:
    """Return the frames that hold `data` from `start` on, for positions 0, 1, 2; none if empty."""
    view = memoryview(data)
    starts = range(start, len(data), CHUNK_SIZE)
    return [_own.compressor.compress(view[start : start + CHUNK_SIZE]) for start in starts]


class Piece(NamedTuple):
    """What one chunk holds of a content: its bytes [start, end).

    The chunk stands at `position` of `owner`, and its frame has `size` bytes; those beyond
    `end - start` are not the content's. Sizes are before compression.
    """

    owner: bytes
    position: int
    start: int
    end: int
    size: int


ReadFrame = Callable[[Piece], bytes | None]
"""Returns the frame of a piece's chunk, None if it is not there."""


@dataclass(frozen=True)
class Layout:
    """How the bytes of one content lie in chunks: its pieces, in order, are all of its bytes."""

    digest: bytes
    size: int
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, row: Any, bases: Mapping[Key, Any]) -> "Layout":
        """Return the layout of a content's row; `bases` has the rows of what it rests on.

        Raises:
            CorruptContentError: if one of them is missing, or is no beginning of this content.
        """
        pieces: list[Piece] = []
        owner, end = row, row.size
        while True:
            pieces[:0] = _own_pieces(owner, end)
            if owner.base_hash is None:
                return cls(row.hash, row.size, tuple(pieces))
            base = bases.get((row.project_id, owner.base_hash))
            if base is None:
                raise corrupt(row.hash, f"its base sha256:{owner.base_hash.hex()} is missing")
            if not base.base_size < owner.base_size <= base.size:
                raise corrupt(row.hash, f"its base sha256:{owner.base_hash.hex()} is another")
            owner, end = base, owner.base_size

    @property
    def own_count(self) -> int:
        """How many chunks the content itself has."""
        return sum(piece.owner == self.digest for piece in self.pieces)

    def between(self, start: int, end: int) -> list[Piece]:
        """Return the pieces that hold bytes [start, end)."""
        return [piece for piece in self.pieces if piece.start < end and start < piece.end]

    def read(self, piece: Piece, frame: bytes | None) -> bytes:
        """Return the bytes of a piece, checked against the frame's checksum.

        Raises:
            CorruptContentError: if there is no such chunk, or it is not what was stored.
        """
        if frame is None:
            raise corrupt(self.digest, f"{self._name(piece)} is missing")
        try:
            parameters = zstandard.get_frame_parameters(frame)
            if parameters.content_size != piece.size or not parameters.has_checksum:
                raise corrupt(self.digest, f"{self._name(piece)} is of another content")
            data = _own.decompressor.decompress(frame)
        except zstandard.ZstdError as error:
            raise corrupt(self.digest, f"{self._name(piece)} cannot be decompressed") from error
        return data[: piece.end - piece.start]

    def verify(
        self, piece: Piece, frame: bytes | None, whole: "hashlib._Hash | None" = None
    ) -> bytes:
        """Return the bytes of a piece as `read` does, and add them to a hash of the whole.

        Raises:
            CorruptContentError: if it is not what was stored, or it is the last and the whole
                does not have the hash under which it is stored.
        """
        data = self.read(piece, frame)
        if whole is not None:
            whole.update(data)
            if piece.end == self.size:
                self.require(whole.digest())
        return data

    def verified(self, frame_of: ReadFrame) -> Iterator[bytes]:
        """Yield the bytes of every piece, reading their frames one after the other.

        A content whose pieces have the checksums that they had when its hash was found right is not
        hashed again: to hash takes as long as to decompress.

        Raises:
            CorruptContentError: if a chunk is missing or damaged, or the whole does not have the
                hash under which it is stored.
        """
        frames = [frame_of(piece) for piece in self.pieces]
        checksums = tuple((frame or b"")[-_CHECKSUM_BYTES:] for frame in frames)
        if _found_right.get(self.digest) == (self.pieces, checksums):
            yield from map(self.read, self.pieces, frames)
            return
        whole = hashlib.sha256()
        for piece, frame in zip(self.pieces, frames, strict=True):
            data = self.read(piece, frame)
            whole.update(data)
            yield data
        self.require(whole.digest())
        if len(_found_right) >= _MAX_FOUND_RIGHT:
            _found_right.clear()
        _found_right[self.digest] = self.pieces, checksums

    def require_count(self, count: int) -> None:
        """Refuse more chunks of the content's own than it has.

        Raises:
            CorruptContentError: if there are more.
        """
        if count > self.own_count:
            raise corrupt(self.digest, f"there are more than its {self.own_count} chunks")

    def require(self, digest: bytes) -> None:
        """Refuse bytes whose SHA-256 is not the one under which they are stored.

        Raises:
            CorruptContentError: if it is not.
        """
        if digest != self.digest:
            raise corrupt(self.digest, "its bytes have another hash")

    def _name(self, piece: Piece) -> str:
        name = f"chunk {piece.position}"
        return name if piece.owner == self.digest else f"{name} of sha256:{piece.owner.hex()}"


def part(data: bytes, piece: Piece, start: int, end: int) -> bytes:
    """Return what a piece, of which `data` are the bytes, holds of bytes [start, end)."""
    return data[max(0, start - piece.start) : max(0, end - piece.start)]


def _own_pieces(row: Any, end: int) -> list[Piece]:
    """Return what a content's own chunks hold of the bytes before `end`."""
    starts = range(row.base_size, end, row.chunk_size)
    return [
        Piece(
            row.hash,
            position,
            start,
            min(start + row.chunk_size, end),
            min(row.chunk_size, row.size - start),
        )
        for position, start in enumerate(starts)
    ]


def decode_base64(text: bytes, digest: bytes) -> bytes:
    """Return the bytes that base64 without white space stands for; `digest` names its content.

    Raises:
        CorruptContentError: if it is not base64.
    """
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise corrupt(digest, "an image in it is not base64") from error


def corrupt(digest: bytes, problem: str) -> CorruptContentError:
    """Return the error that names a content and what is wrong with it."""
    return CorruptContentError(f"The stored content sha256:{digest.hex()} is damaged: {problem}.")
