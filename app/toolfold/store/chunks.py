"""How the bytes of a content lie in its chunks: slices, each a zstd frame with a checksum.

Pure functions: `content` brings the rows. The checksums let a part be trusted without the rest.
"""

import base64
import binascii
import hashlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import zstandard

from toolfold.errors import CorruptContentError


class _Decompressor(threading.local):
    """A decompressor for each thread: making one costs as much as to decompress a content."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_own = _Decompressor()


@dataclass(frozen=True, slots=True)
class Layout:
    """How the bytes of one content lie in its chunks; sizes in bytes, before compression."""

    digest: bytes
    size: int
    chunk_size: int

    @property
    def count(self) -> int:
        """How many chunks there are."""
        return -(-self.size // self.chunk_size)

    def positions(self, start: int, end: int) -> range:
        """Return the positions of the chunks that hold bytes [start, end)."""
        return range(start // self.chunk_size, -(-end // self.chunk_size))

    def part(self, piece: bytes, position: int, start: int, end: int) -> bytes:
        """Return what the chunk at `position` holds of bytes [start, end)."""
        offset = position * self.chunk_size
        return piece[max(0, start - offset) : max(0, end - offset)]

    def decompress(self, position: int, frame: bytes | None) -> bytes:
        """Return the bytes of one chunk, checked against the frame's checksum.

        Raises:
            CorruptContentError: if there is no such chunk, or it is not what was stored.
        """
        if frame is None:
            raise corrupt(self.digest, f"chunk {position} is missing")
        expected = min(self.chunk_size, self.size - position * self.chunk_size)
        try:
            parameters = zstandard.get_frame_parameters(frame)
            if parameters.content_size != expected or not parameters.has_checksum:
                raise corrupt(self.digest, f"chunk {position} is of another content")
            return _own.decompressor.decompress(frame)
        except zstandard.ZstdError as error:
            raise corrupt(self.digest, f"chunk {position} cannot be decompressed") from error

    def verify(self, position: int, frame: bytes | None, whole: "hashlib._Hash | None") -> bytes:
        """Return the bytes of one chunk as `decompress` does, and add them to a hash of the whole.

        Raises:
            CorruptContentError: if it is not what was stored, or it is the last and the whole
                does not have the hash under which it is stored.
        """
        piece = self.decompress(position, frame)
        if whole is not None:
            whole.update(piece)
            if position == self.count - 1:
                self.require(whole.digest())
        return piece

    def verified(self, frames: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
        """Yield the bytes of every chunk, from (position, frame) in order of position.

        Raises:
            CorruptContentError: if a chunk is missing, damaged or one too many, or the whole
                does not have the hash under which it is stored.
        """
        whole = hashlib.sha256()
        arriving = iter(frames)
        for position in range(self.count):
            found, frame = next(arriving, (position, None))
            piece = self.decompress(position, frame if found == position else None)
            whole.update(piece)
            yield piece
        if next(arriving, None) is not None:
            raise corrupt(self.digest, f"there are more than its {self.count} chunks")
        self.require(whole.digest())

    def require(self, digest: bytes) -> None:
        """Refuse bytes whose SHA-256 is not the one under which they are stored.

        Raises:
            CorruptContentError: if it is not.
        """
        if digest != self.digest:
            raise corrupt(self.digest, "its bytes have another hash")


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
