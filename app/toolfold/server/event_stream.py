"""Server-sent events: an operation's results as they come, for clients without WebSocket.

The protocol is graphql-sse's, in its "distinct connections mode": one request, one operation.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import orjson
from starlette.responses import StreamingResponse
from starlette.types import Send

EVENT_STREAM = "text/event-stream"

PING_SECONDS = 12
"""How long a stream may be silent: proxies cut what is silent for longer."""

PING = b":\n\n"
"""A comment, which clients pass over."""

# `EventSource` dispatches no event without a line of data.
_COMPLETE = b"event: complete\ndata: \n\n"


class EventStreamResponse(StreamingResponse):
    """Sends each body as a `next` event, then `complete`; ends the stream when its client goes."""

    def __init__(self, bodies: AsyncGenerator[Any, None]) -> None:
        self._events = _events(bodies)
        headers = {"cache-control": "no-store", "vary": "Accept", "x-accel-buffering": "no"}
        super().__init__(self._events, 200, headers, EVENT_STREAM)

    async def stream_response(self, send: Send) -> None:
        """Send the events, and close what makes them however that ends."""
        async with contextlib.aclosing(self._events):
            await super().stream_response(send)


async def _events(bodies: AsyncGenerator[Any, None]) -> AsyncGenerator[bytes, None]:
    async with contextlib.aclosing(bodies):
        async for body in _with_pings(bodies):
            yield PING if body is None else b"event: next\ndata: %b\n\n" % orjson.dumps(body)
    yield _COMPLETE


async def _with_pings(bodies: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Yield what comes, and None whenever nothing came for a while."""
    while True:
        # A timeout around it would cancel it.
        coming = asyncio.ensure_future(_next(bodies))
        try:
            while not (await asyncio.wait((coming,), timeout=PING_SECONDS))[0]:
                yield None
        finally:
            if not coming.done():
                coming.cancel()
                await asyncio.wait((coming,))
        came = coming.result()
        if came is None:
            return
        yield came


async def _next(bodies: AsyncIterator[Any]) -> Any:
    return await anext(bodies, None)
