"""The time that an operation may take."""

import asyncio
from collections.abc import AsyncIterator

from strawberry.extensions import SchemaExtension

from toolfold.errors import DeadlineError


class Deadline(SchemaExtension):
    """Ends an operation after `settings.query_seconds`, over HTTP and WebSocket and in process.

    A subscription has that time to begin, and may then last: see `toolfold.schema.events`.
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
            raise stopped(seconds) from error


def stopped(seconds: int) -> DeadlineError:
    """Return the error of what took longer."""
    return DeadlineError(f"The operation was stopped after {seconds} s: ask for less.")
