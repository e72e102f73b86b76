"""Tells a client that a call whose end cannot be foreseen goes on."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Tells how far a call is: so much, of so much if that is known, and in words."""

_EVERY_SECONDS = 0.5


@contextlib.asynccontextmanager
async def still_reading(progress: Progress, what: str) -> AsyncIterator[None]:
    """While this lasts, tell every half second for how many seconds something has been read."""
    telling = asyncio.create_task(_tell(progress, what))
    try:
        yield
    finally:
        telling.cancel()
        # A client that is gone is no error of the read.
        await asyncio.gather(telling, return_exceptions=True)


async def _tell(progress: Progress, what: str) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        seconds = time.monotonic() - began
        await progress(seconds, None, f"reading {what}, for {seconds:.1f} s")
