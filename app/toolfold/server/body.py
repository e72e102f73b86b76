"""Request bodies, within a limit."""

from starlette.exceptions import HTTPException
from starlette.requests import Request


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body, having held no more than `limit` bytes and one read of the network.

    Raises:
        HTTPException: 413 for a body of more than `limit` bytes, as soon as that is known.
    """
    too_large = HTTPException(413, f"A request's body may have {limit} bytes at most.")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > limit:
        raise too_large
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise too_large
    return bytes(body)
