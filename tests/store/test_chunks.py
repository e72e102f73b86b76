"""How bytes lie in chunks."""

import contextlib
import hashlib

import pytest
import zstandard

from toolfold.errors import CorruptContentError
from toolfold.store import content
from toolfold.store.chunks import Layout, decode_base64

SIZE = content.CHUNK_SIZE


def noise(size: int) -> bytes:
    """Return bytes that do not compress, the same each time."""
    return hashlib.shake_128(b"toolfold").digest(size)


@pytest.mark.parametrize(
    ("size", "pieces"),
    [
        (0, []),
        (1, [1]),
        (SIZE - 1, [SIZE - 1]),
        (SIZE, [SIZE]),
        (SIZE + 1, [SIZE, 1]),
        (2 * SIZE, [SIZE, SIZE]),
        (2 * SIZE + 7, [SIZE, SIZE, 7]),
    ],
)
def test_bytes_come_back_from_their_frames(size: int, pieces: list[int]) -> None:
    data = noise(size)
    frames = content.compress(data)
    layout = Layout(hashlib.sha256(data).digest(), size, SIZE)
    found = list(layout.verified(enumerate(frames)))
    assert [len(piece) for piece in found] == pieces
    assert b"".join(found) == data
    assert layout.count == len(pieces)


def test_each_frame_is_zstd_with_a_checksum() -> None:
    for frame in content.compress(noise(SIZE + 1)):
        parameters = zstandard.get_frame_parameters(frame)
        assert parameters.has_checksum
        assert parameters.content_size in (SIZE, 1)


@pytest.mark.parametrize(
    ("frames", "problem"),
    [
        ([], "chunk 0 is missing"),
        ([(1, content.compress(b"abcdef")[0])], "chunk 0 is missing"),
        ([(0, content.compress(b"abcdefg")[0])], "chunk 0 is of another content"),
        ([(0, zstandard.compress(b"abcdef"))], "chunk 0 is of another content"),
        ([(0, content.compress(b"ABCDEF")[0])], "its bytes have another hash"),
        ([(0, content.compress(b"abcdef")[0][:-1])], "chunk 0 cannot be decompressed"),
        ([(0, b"")], "chunk 0 cannot be decompressed"),
        ([(0, b"abcdef")], "chunk 0 cannot be decompressed"),
    ],
)
def test_what_was_not_stored_is_refused(frames: list[tuple[int, bytes]], problem: str) -> None:
    digest = hashlib.sha256(b"abcdef").digest()
    with pytest.raises(CorruptContentError) as caught:
        list(Layout(digest, 6, SIZE).verified(frames))
    assert caught.value.message == (
        f"The stored content sha256:{hashlib.sha256(b'abcdef').hexdigest()} is damaged: {problem}."
    )


def test_a_flipped_bit_never_changes_what_is_read() -> None:
    data = b'[{"type":"content"}]'
    [frame] = content.compress(data)
    layout = Layout(hashlib.sha256(data).digest(), len(data), SIZE)
    unnoticed: list[int] = []
    for position in range(len(frame) * 8):
        damaged = bytearray(frame)
        damaged[position // 8] ^= 1 << position % 8
        # A bit of the frame's head has no meaning; any other is found.
        with contextlib.suppress(CorruptContentError):
            assert b"".join(layout.verified([(0, bytes(damaged))])) == data
            unnoticed.append(position)
    assert len(unnoticed) <= 1


def test_base64_needs_no_padding() -> None:
    assert decode_base64(b"AAEC", b"") == decode_base64(b"AAEC", b"") == b"\x00\x01\x02"
    assert decode_base64(b"AAE=", b"") == decode_base64(b"AAE", b"") == b"\x00\x01"


@pytest.mark.parametrize("text", [b"AA\nEC", b"AA-_", b"A", b"A==="])
def test_what_is_not_base64_is_refused(text: bytes) -> None:
    with pytest.raises(CorruptContentError, match="not base64"):
        decode_base64(text, b"")
