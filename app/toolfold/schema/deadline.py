"""The time that an operation may take, and each event of a subscription."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from graphql import OperationType
from strawberry.extensions import SchemaExtension
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from toolfold.errors import DeadlineError


class Deadline(SchemaExtension):
    """Ends an operation after `settings.query_seconds`, over HTTP and WebSocket and in process.

    A subscription has that time to begin, and may then last: see `TimedEvents`.
    """

    async def on_execute(self) -> AsyncIterator[None]:
        """Cancel the execution at the deadline, and with it what it reads.

        Raises:
            DeadlineError: then.
        """
        seconds = self.execution_context.context.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise _stopped(seconds) from error


class TimedEvents(StrawberryGraphQLCoreExecutionContext):
    """graphql-core's executor, which gives each event of a subscription a time of its own.

    An event that takes longer ends the stream: to go on behind it would be to lose it, whereas a
    client comes back to it with the cursor of the one before.
    """

    def execute_operation(self, serially: bool | None = None) -> Any:  # noqa: FBT001 - graphql-core's.
        """Execute an operation, or one event of a subscription."""
        result = super().execute_operation(serially)
        is_event = self.operation.operation is OperationType.SUBSCRIPTION
        return self._in_time(result) if is_event and self.is_awaitable(result) else result

    async def _in_time(self, result: Awaitable[Any]) -> Any:
        seconds = self.context_value.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                return await result
        except TimeoutError as error:
            raise _stopped(seconds) from error


def _stopped(seconds: int) -> DeadlineError:
    return DeadlineError(f"The operation was stopped after {seconds} s: ask for less.")
