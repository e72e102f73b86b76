"""Runs GraphQL documents in process: the one way in which commands and MCP read sessions."""

from collections.abc import Mapping
from typing import Any

import orjson
from strawberry.schema import BaseSchema
from strawberry.types import ExecutionResult

from toolfold.errors import BadUserInputError
from toolfold.schema import build_schema
from toolfold.schema.context import Resources


class Documents:
    """Executes documents over an open database, as the server would."""

    def __init__(self, resources: Resources, schema: BaseSchema | None = None) -> None:
        self.settings = resources.settings
        self._resources = resources
        self._schema = schema or build_schema()

    async def response(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the whole response: `data`, `errors`, `extensions`; orjson can write it."""
        result = await self._schema.execute(
            document,
            variable_values=dict(variables or {}),
            context_value=self._resources,
        )
        return response_body(result)

    async def write(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """As `response`, of a mutation: for a process that may write the database."""
        return await self.response(document, variables)

    async def data(self, document: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Return the data of a document that asks for nothing that could be refused.

        Raises:
            BadUserInputError: with the first error's message, if there is one.
        """
        response = await self.response(document, variables)
        if response.get("errors"):
            raise BadUserInputError(response["errors"][0]["message"], argument="document")
        return orjson.loads(orjson.dumps(response["data"]))


def response_body(result: ExecutionResult) -> dict[str, Any]:
    """Return what a response to one operation holds; `data` only if execution began.

    Contents in it may be `orjson.Fragment`s: only orjson can write it.
    """
    body: dict[str, Any] = {}
    if result.errors:
        body["errors"] = [error.formatted for error in result.errors]
    if not is_request_error(result):
        body["data"] = result.data
    if result.extensions:
        body["extensions"] = result.extensions
    return body


def is_request_error(result: ExecutionResult) -> bool:
    """Say whether the operation failed before it had any place in a response to fail at."""
    errors = result.errors or []
    return result.data is None and bool(errors) and not any(error.path for error in errors)
