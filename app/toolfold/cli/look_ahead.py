"""Making what comes next while what came before is worked on."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_AHEAD = 32
"""How many items are made before they are asked for.

So many paths of the greatest length fit the pipe to a reading process, which may be busy.
"""


@dataclass(frozen=True, slots=True)
class _Made(Generic[T]):
    """An item that was made, or what ended the making; with neither, that was its end."""

    items: tuple[T, ...] = ()
    error: Exception | None = None


async def ahead(items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the items of a generator, which goes on meanwhile; what it raises is raised in turn."""
    waiting: asyncio.Queue[_Made[T]] = asyncio.Queue(MAX_AHEAD)

    async def make() -> None:
        try:
            async with aclosing(items):
                async for item in items:
                    await waiting.put(_Made((item,)))
            await waiting.put(_Made())
        except Exception as error:  # noqa: BLE001 (whoever asks for the next item gets it)
            await waiting.put(_Made(error=error))

    making = asyncio.create_task(make())
    try:
        while (made := await waiting.get()).items:
            yield made.items[0]
        if made.error is not None:
            raise made.error
    finally:
        making.cancel()
        await asyncio.wait([making])
