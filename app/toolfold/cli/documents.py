"""Runs GraphQL documents in process: the one way in which commands read sessions."""

from collections.abc import Mapping
from typing import Any

import orjson

from toolfold.errors import BadUserInputError
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.server.graphql_http import response_body
from toolfold.settings import Settings
from toolfold.store.engine import Database


class Documents:
    """Executes documents over one open database, as the server would."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._resources = Resources(settings, database)
        self._schema = build_schema()

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

    async def data(self, document: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Return the data of a document that asks for nothing that could be refused.

        Raises:
            BadUserInputError: with the first error's message, if there is one.
        """
        response = await self.response(document, variables)
        if response.get("errors"):
            raise BadUserInputError(response["errors"][0]["message"], argument="document")
        return orjson.loads(orjson.dumps(response["data"]))
