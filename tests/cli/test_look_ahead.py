"""What comes next is made while what came before is used."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from toolfold.cli import look_ahead
from toolfold.cli.look_ahead import ahead


async def test_items_come_in_order_each_made_while_the_one_before_is_used() -> None:
    made = [asyncio.Event() for _ in range(5)]

    async def items() -> AsyncGenerator[int, None]:
        for number, event in enumerate(made):
            event.set()
            yield number

    seen = []
    async with aclosing(ahead(items())) as coming:
        async for number in coming:
            await asyncio.gather(*(event.wait() for event in made[: number + 2]))
            seen.append(number)
    assert seen == [0, 1, 2, 3, 4]


async def test_only_so_many_are_made_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ahead, "MAX_AHEAD", 2)
    made = []

    async def items() -> AsyncGenerator[int, None]:
        for number in range(100):
            made.append(number)
            yield number

    async with aclosing(ahead(items())) as coming:
        assert await anext(coming) == 0
        for _ in range(100):
            await asyncio.sleep(0)
        # One is being used, two wait, and the next one waits for its place.
        assert made == [0, 1, 2, 3]


async def test_what_ends_the_making_comes_after_what_was_made() -> None:
    async def items() -> AsyncGenerator[int, None]:
        yield 1
        yield 2
        raise LookupError("no third")

    coming = ahead(items())
    assert [await anext(coming), await anext(coming)] == [1, 2]
    with pytest.raises(LookupError, match="no third"):
        await anext(coming)


@pytest.mark.parametrize("count", [1, 1_000])
async def test_whoever_stops_early_stops_the_making(count: int) -> None:
    is_closed = False

    async def items() -> AsyncGenerator[int, None]:
        nonlocal is_closed
        try:
            for number in range(count):
                yield number
            await asyncio.Event().wait()
        finally:
            is_closed = True

    async with aclosing(ahead(items())) as coming:
        await anext(coming)
    assert is_closed
