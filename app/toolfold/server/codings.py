"""The content codings that answers go out in, and the choice among them (RFC 9110, 8.4 and 12.5.3).

All at their fastest level: of a page of 1,000 messages (416 kB) zstd makes 120 kB in 1.6 ms, brotli
119 kB in 1.9 ms, gzip 134 kB in 4 ms. A higher level costs more time than the bytes it saves.
"""

import threading
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol

import brotli  # type: ignore[import-untyped]  # It has no type stubs.
import zstandard

from toolfold.server.negotiation import content_coding

MIN_BYTES = 1_024
"""A shorter body fits a packet or two as it is."""

_LEVEL = 1
_GZIP_BITS = 31
_TYPES = frozenset(
    {
        "application/graphql-response+json",
        "application/javascript",
        "application/json",
        "application/xml",
        "image/svg+xml",
    }
)


class Encoder(Protocol):
    """Encodes one body, a piece at a time, in memory that does not grow with it."""

    def encode(self, piece: bytes) -> bytes:
        """Return what of the coded body is ready, which may be nothing."""

    def end(self) -> bytes:
        """Return the rest of the coded body."""


class _Zstd:
    def __init__(self) -> None:
        compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
        self.encode: Callable[[bytes], bytes] = compressor.compress
        self.end: Callable[[], bytes] = compressor.flush


class _Brotli:
    def __init__(self) -> None:
        compressor = brotli.Compressor(quality=_LEVEL)
        self.encode: Callable[[bytes], bytes] = compressor.process
        self.end: Callable[[], bytes] = compressor.finish


class _Gzip:
    def __init__(self) -> None:
        compressor = zlib.compressobj(_LEVEL, wbits=_GZIP_BITS)
        self.encode: Callable[[bytes], bytes] = compressor.compress
        self.end: Callable[[], bytes] = compressor.flush


ENCODERS: Mapping[str, Callable[[], Encoder]] = {"zstd": _Zstd, "br": _Brotli, "gzip": _Gzip}
"""What makes an encoder, by coding."""


class _Compressor(threading.local):
    """A compressor for each thread: making one costs as much as to compress a short body."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)


_own = _Compressor()


def encode_whole(coding: str, body: bytes) -> bytes:
    """Return a body in one of the codings of `ENCODERS`."""
    if coding == "zstd":
        return _own.compressor.compress(body)
    encoder = ENCODERS[coding]()
    return encoder.encode(body) + encoder.end()


def chosen(accept_encoding: str, media_type: str, size: int | None) -> str | None:
    """Return the coding for a body of a media type and a size, None to send it as it is.

    `size` is in bytes, None if it is not known before the body ends.
    """
    if (size is not None and size < MIN_BYTES) or not is_compressible(media_type):
        return None
    return content_coding(accept_encoding)


def is_compressible(media_type: str) -> bool:
    """Say whether bytes of a media type become fewer, and may be held back while they do.

    Events may not: a coding would have to be flushed at each, and to keep its memory for as long
    as somebody listens.
    """
    essence = media_type.partition(";")[0].strip().lower()
    if essence == "text/event-stream":
        return False
    return essence in _TYPES or essence.startswith("text/")


def weak(etag: str) -> str:
    """Return the entity tag of coded bytes, which another version of a coder may make otherwise.

    A weak tag is equal to the strong one for `If-None-Match` and to none for a range (RFC 9110,
    8.8.3.2), so that no client joins parts of one coding to parts of another.
    """
    return etag if etag.startswith("W/") else f"W/{etag}"
