"""The time that an operation may take."""

import asyncio
from typing import Any

from graphql import GraphQLError
from strawberry.types import ExecutionResult

from toolfold.errors import DeadlineError
from toolfold.schema.masking import MaskedSchema


class DeadlineSchema(MaskedSchema):
    """A schema whose operations end after `settings.query_seconds`."""

    async def execute(self, *args: Any, context_value: Any = None, **kwargs: Any) -> Any:
        """Execute a document over `Resources`; what it reads is interrupted at the deadline."""
        seconds = context_value.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                return await super().execute(*args, context_value=context_value, **kwargs)
        except TimeoutError:
            error = DeadlineError(f"The operation was stopped after {seconds} s: ask for less.")
            return ExecutionResult(
                data=None,
                errors=[
                    GraphQLError(error.message, extensions=error.extensions, original_error=error)
                ],
            )
