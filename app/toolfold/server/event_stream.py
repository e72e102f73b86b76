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
    """Sends each body as a `next` event, then `complete`; ends the stream when its client goes.

    Once the server is `stopping` the stream ends where it is, without `complete`: what it is about
    is not at its end, so its client comes back.
    """

    def __init__(self, bodies: AsyncGenerator[Any, None], stopping: asyncio.Event) -> None:
        self._events = _events(bodies, stopping)
        headers = {"cache-control": "no-store", "vary": "Accept", "x-accel-buffering": "no"}
        super().__init__(self._events, 200, headers, EVENT_STREAM)

    async def stream_response(self, send: Send) -> None:
        """Send the events, and close what makes them however that ends."""
        async with contextlib.aclosing(self._events):
            await super().stream_response(send)


async def _events(
    bodies: AsyncGenerator[Any, None], stopping: asyncio.Event
) -> AsyncGenerator[bytes, None]:
    stop = asyncio.ensure_future(stopping.wait())
    async with contextlib.aclosing(bodies), _cancelling(stop):
        while True:
            # A timeout around it would cancel it.
            coming = asyncio.ensure_future(_next(bodies))
            async with _cancelling(coming):
                while not await _first(coming, stop):
                    yield PING
                if not coming.done():
                    return
            body = coming.result()
            if body is None:
                break
            yield b"event: next\ndata: %b\n\n" % orjson.dumps(body)
    yield _COMPLETE


async def _first(*awaited: "asyncio.Future[Any]") -> bool:
    """Wait for the first of these; say whether one came in time."""
    done, _ = await asyncio.wait(awaited, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


@contextlib.asynccontextmanager
async def _cancelling(awaited: "asyncio.Future[Any]") -> AsyncIterator[None]:
    """Let nothing of this go on after the block."""
    try:
        yield
    finally:
        if not awaited.done():
            awaited.cancel()
            await asyncio.wait((awaited,))


async def _next(bodies: AsyncIterator[Any]) -> Any:
    return await anext(bodies, None)
