"""Bytes under a URL: whole or a range of them, streamed, if the client has not got them yet.

The whole may go out in a content coding, which is then another representation of the same thing:
its ETag is weak, and ranges are of the bytes as they are.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolfold.server.codings import chosen, is_compressible, weak
from toolfold.server.ranges import (
    ByteRange,
    UnsatisfiableRangeError,
    is_not_modified,
    is_precondition_failed,
    requested_range,
)

ReadRange = Callable[[int, int], AsyncIterator[bytes]]
"""Yields bytes [start, stop), a piece at a time."""

ReadWhole = Callable[[], AsyncIterator[bytes]]
"""Yields all of the bytes in a coding, a piece at a time."""


_CONDITIONS = frozenset({"if-match", "if-none-match", "range"})


@dataclass(frozen=True, slots=True)
class Representation:
    """The bytes that a URL stands for; `etag` is strong, with its quotes; `size` is in bytes.

    `read_zstd` is there if they are stored as one zstd frame: who accepts zstd gets that frame.
    `whole` are all of them, if they have been read.
    """

    size: int
    etag: str
    media_type: str
    headers: Mapping[str, str]
    read: ReadRange
    read_zstd: ReadWhole | None = None
    whole: bytes | None = None


def asks_for_whole(request: Request) -> bool:
    """Say whether the answer to a request is all of the bytes, whatever they are."""
    return request.method == "GET" and _CONDITIONS.isdisjoint(request.headers)


async def answer(request: Request, representation: Representation) -> Response:
    """Return the answer to a GET or HEAD of a representation, and hold no more than a piece of it.

    Raises:
        HTTPException: 412 or 416, by what the request's headers demand.
        AppError: if the first piece cannot be read; a later one cuts the connection.
    """
    size = representation.size
    headers = {"etag": representation.etag, **representation.headers}
    if is_precondition_failed(request.headers, representation.etag):
        raise HTTPException(412, "The bytes here are other than those in If-Match.")
    if is_not_modified(request.headers, representation.etag):
        return Response(None, 304, headers | _validators(request, representation))
    part = _part(request, representation)
    start, stop = (part.start, part.stop) if part else (0, size)
    headers |= {"accept-ranges": "bytes", "content-length": str(stop - start)}
    if part:
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    status = 206 if part else 200
    if request.method == "HEAD":
        return Response(None, status, headers, representation.media_type)
    if representation.read_zstd and not part and _coding(request, representation) == "zstd":
        pieces = await _begun(representation.read_zstd())
        del headers["content-length"]
        headers |= {"content-encoding": "zstd", **_validators(request, representation)}
        return StreamingResponse(pieces, status, headers, representation.media_type)
    whole = None if part else representation.whole
    if whole is not None and _coding(request, representation) is None:
        return Response(whole, status, headers, representation.media_type)
    # The middleware codes a stream, so that no length is told that a HEAD would not tell.
    pieces = await _begun(representation.read(start, stop) if whole is None else _alone(whole))
    return StreamingResponse(pieces, status, headers, representation.media_type)


def _coding(request: Request, representation: Representation) -> str | None:
    """Return the coding in which the whole goes out, be it here or in the middleware."""
    accept = ",".join(request.headers.getlist("accept-encoding"))
    return chosen(accept, representation.media_type, representation.size)


def _validators(request: Request, representation: Representation) -> dict[str, str]:
    """Return what tells a cache which of its answers this one is about (RFC 9111, 4.3.4)."""
    if not is_compressible(representation.media_type):
        return {}
    is_coded = _coding(request, representation) is not None
    etag = weak(representation.etag) if is_coded else representation.etag
    return {"etag": etag, "vary": "Accept-Encoding"}


def _part(request: Request, representation: Representation) -> ByteRange | None:
    # RFC 9110, 14.2: a Range means something to GET only.
    if request.method != "GET":
        return None
    size = representation.size
    try:
        return requested_range(request.headers, size, representation.etag)
    except UnsatisfiableRangeError as error:
        headers = {"content-range": f"bytes */{size}", "accept-ranges": "bytes"}
        raise HTTPException(416, f"There are {size} bytes here.", headers) from error


async def _alone(whole: bytes) -> AsyncIterator[bytes]:
    yield whole


async def _begun(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Read the first piece, so that what fails there still has a status of its own."""
    first = await anext(pieces, b"")

    async def continued() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return continued()
