"""How operations are executed in time, and events of a subscription not if what they tell is gone.

A message's row is read before its contents. If its session is deleted in between, so are they;
then `SessionDeleted` follows anyway, and the event is left out.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable
from typing import Any

from graphql import OperationType
from graphql.execution import ExecutionResult

from toolfold.errors import NotFoundError
from toolfold.execution.executor import CompilingExecutor
from toolfold.schema.context import Operation
from toolfold.schema.deadline import stopped
from toolfold.schema.repeated import RepeatingSchema
from toolfold.schema.rows import MessageRow
from toolfold.store import message as message_store

GONE = {"gone": True}
"""The data of an event that is left out; this very object."""


class EventExecutor(CompilingExecutor):
    """The executor, which looks at the clock before each list and in long ones.

    Each event of a subscription has a time of its own. An event that takes longer ends the stream:
    to go on behind it would be to lose it, whereas a client comes back to it with the cursor of
    the one before.
    """

    def execute_operation(self, serially: bool | None = None) -> Any:  # noqa: FBT001 - graphql-core's.
        """Execute an operation, or one event of a subscription."""
        result = super().execute_operation(serially)
        is_event = self.operation.operation is OperationType.SUBSCRIPTION
        return self._in_time(result) if is_event and self.is_awaitable(result) else result

    def time_is_up(self) -> bool:
        """Say whether the operation's time is up: nothing else can interrupt a list's items."""
        return time.monotonic() > float(self.context_value.ends_at)

    def complete_list_value(self, *args: Any, **kwargs: Any) -> Any:
        """Complete a list, unless the operation's time is up.

        Raises:
            DeadlineError: if it is.
        """
        if self.time_is_up():
            raise stopped(self.context_value.settings.query_seconds)
        return super().complete_list_value(*args, **kwargs)

    async def _in_time(self, executing: Awaitable[Any]) -> Any:
        seconds = self.context_value.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                result = await executing
                if _lacks_content(result) and await self._is_gone():
                    return ExecutionResult(GONE)
                return result
        except TimeoutError as error:
            raise stopped(seconds) from error

    async def _is_gone(self) -> bool:
        """Say whether the event's message is there no more."""
        row = getattr(self.root_value, "message", None)
        if not isinstance(row, MessageRow) or not isinstance(self.context_value, Operation):
            return False
        async with self.context_value.database.read(single=True) as connection:
            rows = await message_store.by_keys(connection, {row.key}, ("revision",))
        return row.key not in rows


class EventSchema(RepeatingSchema):
    """A schema whose streams leave out events of what is gone."""

    async def stream(self, *args: Any, **kwargs: Any) -> Any:
        """Execute an operation and return its results as they come, as Strawberry does."""
        return _without_gone(await super().stream(*args, **kwargs))


async def _without_gone(results: Any) -> AsyncGenerator[Any, None]:
    async with contextlib.aclosing(results):
        async for result in results:
            if result.data is not GONE:
                yield result


def _lacks_content(result: ExecutionResult) -> bool:
    return any(isinstance(error.original_error, NotFoundError) for error in result.errors or ())
