"""The time that an operation may take."""

import asyncio
from typing import Any

from graphql import GraphQLError
from strawberry.types import ExecutionResult

from toolfold.errors import DeadlineError
from toolfold.schema.masking import MaskedSchema


class DeadlineSchema(MaskedSchema):
    """A schema whose operations end after `settings.query_seconds`."""

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> ExecutionResult:
        """Execute a document over `Resources`; what it reads is interrupted at the deadline."""
        seconds = context_value.settings.query_seconds
        try:
            async with asyncio.timeout(seconds):
                return await super().execute(query, variable_values, context_value, *args, **kwargs)
        except TimeoutError:
            error = DeadlineError(f"The operation was stopped after {seconds} s: ask for less.")
            return ExecutionResult(
                data=None,
                errors=[
                    GraphQLError(error.message, extensions=error.extensions, original_error=error)
                ],
            )
