"""Reads that followers share: who asks while the same is being read waits for that."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)


class Question(Protocol[A_co]):
    """What is read; equal and of one hash with any other that asks for the same."""

    async def read(self) -> A_co:
        """Read it."""


class SharedReads:
    """The reads of one process that are under way."""

    def __init__(self) -> None:
        self._reading: dict[Any, asyncio.Task[Any]] = {}

    async def read(self, question: Question[A], is_current: Callable[[A], bool]) -> A:
        """Return an answer that holds what was written before this call.

        `is_current` says whether an answer does, which it may not if its read had begun before.
        """
        answer = await self._join(question)
        if not is_current(answer):
            # Whatever is joined now has begun since.
            answer = await self._join(question)
        return answer

    async def _join(self, question: Question[A]) -> A:
        reading = self._reading.get(question)
        if reading is None:
            reading = asyncio.ensure_future(question.read())
            self._reading[question] = reading
            reading.add_done_callback(lambda done: self._forget(question, done))
        # One who leaves takes nothing from the others.
        return await asyncio.shield(reading)

    def _forget(self, question: Question[Any], done: asyncio.Task[Any]) -> None:
        del self._reading[question]
        if not done.cancelled():
            # It may be that nobody waits for it any more.
            done.exception()
