"""How bytes lie in chunks."""

import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
import zstandard

from toolfold.errors import CorruptContentError
from toolfold.store.chunks import (
    CHUNK_SIZE,
    Key,
    Layout,
    ReadFrame,
    compress,
    decode_base64,
    part,
)

SIZE = CHUNK_SIZE


def noise(size: int) -> bytes:
    """Return bytes that do not compress, the same each time."""
    return hashlib.shake_128(b"toolfold").digest(size)


@dataclass(frozen=True)
class Stored:
    """A row of `content`: `data`, stored on the first `base_size` bytes of another one."""

    data: bytes
    base: bytes = b""
    base_size: int = 0
    chunk_size: int = SIZE
    project_id: str = "p"

    @property
    def hash(self) -> bytes:
        return hashlib.sha256(self.data).digest()

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def base_hash(self) -> bytes | None:
        return hashlib.sha256(self.base).digest() if self.base_size else None


def layout_of(data: bytes) -> Layout:
    return Layout.of(Stored(data), {})


def in_order(frames: Iterable[tuple[int, bytes]]) -> ReadFrame:
    """Return what finds the chunks of a content by position."""
    found = dict(frames)
    return lambda piece: found.get(piece.position)


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
    frames = compress(data)
    layout = layout_of(data)
    found = list(layout.verified(in_order(enumerate(frames))))
    assert [len(piece) for piece in found] == pieces
    assert b"".join(found) == data
    assert layout.own_count == len(pieces)


def test_each_frame_is_zstd_with_a_checksum() -> None:
    for frame in compress(noise(SIZE + 1)):
        parameters = zstandard.get_frame_parameters(frame)
        assert parameters.has_checksum
        assert parameters.content_size in (SIZE, 1)


@pytest.mark.parametrize(
    ("frames", "problem"),
    [
        ([], "chunk 0 is missing"),
        ([(1, compress(b"abcdef")[0])], "chunk 0 is missing"),
        ([(0, compress(b"abcdefg")[0])], "chunk 0 is of another content"),
        ([(0, zstandard.compress(b"abcdef"))], "chunk 0 is of another content"),
        ([(0, compress(b"ABCDEF")[0])], "its bytes have another hash"),
        ([(0, compress(b"abcdef")[0][:-1])], "chunk 0 cannot be decompressed"),
        ([(0, b"")], "chunk 0 cannot be decompressed"),
        ([(0, b"abcdef")], "chunk 0 cannot be decompressed"),
    ],
)
def test_what_was_not_stored_is_refused(frames: list[tuple[int, bytes]], problem: str) -> None:
    with pytest.raises(CorruptContentError) as caught:
        list(layout_of(b"abcdef").verified(in_order(frames)))
    assert caught.value.message == (
        f"The stored content sha256:{hashlib.sha256(b'abcdef').hexdigest()} is damaged: {problem}."
    )


def test_a_flipped_bit_never_changes_what_is_read() -> None:
    data = b'[{"type":"content"}]'
    [frame] = compress(data)
    layout = layout_of(data)
    unnoticed: list[int] = []
    for position in range(len(frame) * 8):
        damaged = bytearray(frame)
        damaged[position // 8] ^= 1 << position % 8
        # A bit of the frame's head has no meaning; any other is found.
        with contextlib.suppress(CorruptContentError):
            assert b"".join(layout.verified(in_order([(0, bytes(damaged))]))) == data
            unnoticed.append(position)
    assert len(unnoticed) <= 1


def test_base64_needs_no_padding() -> None:
    assert decode_base64(b"AAEC", b"") == decode_base64(b"AAEC", b"") == b"\x00\x01\x02"
    assert decode_base64(b"AAE=", b"") == decode_base64(b"AAE", b"") == b"\x00\x01"


@pytest.mark.parametrize("text", [b"AA\nEC", b"AA-_", b"A", b"A==="])
def test_what_is_not_base64_is_refused(text: bytes) -> None:
    with pytest.raises(CorruptContentError, match="not base64"):
        decode_base64(text, b"")


LOW, MIDDLE = noise(10), noise(8) + b"[middle"
TOP = noise(8) + b"[mid" + b"top of all"
BASES: dict[Key, Stored] = {
    ("p", row.hash): row for row in (Stored(LOW, chunk_size=4), Stored(MIDDLE, LOW, 8, 4))
}
ON_OTHERS = Layout.of(Stored(TOP, MIDDLE, 12, 4), BASES)


def test_a_content_lies_in_the_chunks_of_what_it_rests_on() -> None:
    rows = [Stored(LOW), Stored(MIDDLE, LOW, 8), Stored(TOP, MIDDLE, 12)]
    frames = {
        (row.hash, number): compress(row.data[start : start + 4])[0]
        for row in rows
        for number, start in enumerate(range(row.base_size, row.size, 4))
    }
    pieces = list(ON_OTHERS.verified(lambda piece: frames.get((piece.owner, piece.position))))
    assert pieces == [LOW[:4], LOW[4:8], b"[mid", b"top ", b"of a", b"ll"]
    assert ON_OTHERS.own_count == 3
    for start in range(len(TOP)):
        for end in range(start + 1, len(TOP) + 1):
            found = [
                part(ON_OTHERS.read(piece, frames[piece.owner, piece.position]), piece, start, end)
                for piece in ON_OTHERS.between(start, end)
            ]
            assert b"".join(found) == TOP[start:end]
            assert all(found)


@pytest.mark.parametrize(
    ("base_size", "bases", "problem"),
    [
        (12, {}, "is missing"),
        (8, BASES, "is another"),
        (16, BASES, "is another"),
        (12, {key: row for key, row in BASES.items() if row.data == MIDDLE}, "is missing"),
    ],
)
def test_a_base_is_there_and_is_what_the_content_begins_with(
    base_size: int, bases: dict[Key, Stored], problem: str
) -> None:
    with pytest.raises(CorruptContentError, match=rf"its base sha256:\w+ {problem}"):
        Layout.of(Stored(TOP, MIDDLE, base_size), bases)


def test_what_was_found_right_is_hashed_again_only_if_it_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = noise(SIZE + 9) + b"found right"
    frames = compress(data)
    hashed: list[int] = []
    sha256 = hashlib.sha256

    def tell(*given: bytes) -> "hashlib._Hash":
        hashed.append(1)
        return sha256(*given)

    layout = layout_of(data)
    other_layout = Layout(layout.digest, layout.size, layout.pieces[:1])
    with monkeypatch.context() as patch:
        patch.setattr("toolfold.store.chunks.hashlib.sha256", tell)
        for _ in range(2):
            assert b"".join(layout.verified(in_order(enumerate(frames)))) == data
            assert hashed == [1]
        reversed_end = compress(data[:SIZE] + data[SIZE:][::-1])
        with pytest.raises(CorruptContentError, match="its bytes have another hash"):
            list(layout.verified(in_order(enumerate(reversed_end))))
        with pytest.raises(CorruptContentError, match="its bytes have another hash"):
            list(other_layout.verified(in_order(enumerate(frames))))
        for broken in (frames[0][:-1] + b"?", frames[0][:9] + b"?" + frames[0][10:]):
            with pytest.raises(CorruptContentError, match="cannot be decompressed"):
                list(layout.verified(in_order(enumerate([broken, frames[1]]))))
        with pytest.raises(CorruptContentError, match="chunk 1 is missing"):
            list(layout.verified(in_order(enumerate(frames[:1]))))
