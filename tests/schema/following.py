"""Writing to a session as ingest does, and following it as a client does."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from tests.schema.conftest import SCHEMA
from toolfold.events import Events
from toolfold.ingest import Counts, record
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.transcript import Entry, Value

NOW = datetime(2026, 11, 30, 17, 9, 47, 447_000, tzinfo=UTC)
FORMAT = "test-format"

UPDATES = """
subscription($id: ID!, $after: String, $compact: Boolean) {
  sessionUpdates(sessionId: $id, after: $after, compact: $compact) {
    __typename
    ... on MessageUpdate { cursor isNew message { sequence revision content } }
    ... on CaughtUp { cursor }
    ... on SessionChange { cursor session { title status messageCount } }
    ... on SessionDeleted { cursor deletedId }
  }
}
"""

SIZES_OF_UPDATES = """
subscription($id: ID!, $after: String) {
  sessionUpdates(sessionId: $id, after: $after) {
    __typename
    ... on MessageUpdate {
      cursor
      message { sequence revision role contentSize toolMetadata { title status contentSize } }
    }
    ... on CaughtUp { cursor }
  }
}
"""


async def write(
    database: Database, events: Events, *values: Value, session: str = "s", project: str = "default"
) -> Counts:
    """Record values of one session in one transaction, then publish."""
    entries = [Entry(session, None, value) for value in values]
    counts = await database.write(
        lambda connection: record(connection, project, entries, format=FORMAT, now=NOW)
    )
    events.publish(counts.positions(project))
    return counts


class Following:
    """A subscription that a client reads event by event."""

    def __init__(self, stream: AsyncGenerator[Any, None], field: str) -> None:
        self._stream = stream
        self._field = field
        self.cursor: str | None = None

    async def response(self) -> dict[str, Any]:
        """Return the next response, through the bytes that a client would get."""
        async with asyncio.timeout(20):
            result = await anext(self._stream)
        body: dict[str, Any] = {"data": result.data}
        if result.errors:
            body["errors"] = [error.formatted for error in result.errors]
        if result.extensions:
            body["extensions"] = result.extensions
        decoded: dict[str, Any] = orjson.loads(orjson.dumps(body))
        return decoded

    async def next(self) -> dict[str, Any]:
        """Return the next event, without its cursor, which is kept."""
        response = await self.response()
        assert "errors" not in response, response["errors"]
        event: dict[str, Any] = response["data"][self._field]
        self.cursor = event.pop("cursor", self.cursor)
        return event

    async def until_caught_up(self) -> list[dict[str, Any]]:
        """Return the events before the next `CaughtUp`."""
        events = []
        while (event := await self.next())["__typename"] != "CaughtUp":
            events.append(event)
        return events

    async def has_ended(self) -> bool:
        """Say whether nothing comes any more, once there is anything to say."""
        try:
            await self.response()
        except StopAsyncIteration:
            return True
        return False


@dataclass(slots=True)
class Live:
    """A database that is written and followed in one process."""

    resources: Resources

    @classmethod
    def over(cls, database: Database, **settings: Any) -> "Live":
        return cls(Resources(Settings(**settings), database))

    async def write(self, *values: Value, session: str = "s") -> str:
        """Record values of a session, publish, and return the session's id."""
        counts = await write(
            self.resources.database, self.resources.events, *values, session=session
        )
        return encode("Session", "default", counts.sessions[0].session_id)

    @contextlib.asynccontextmanager
    async def follow(
        self, document: str = UPDATES, field: str = "sessionUpdates", **variables: Any
    ) -> AsyncIterator[Following]:
        """Subscribe for as long as the block runs."""
        stream: Any = await SCHEMA.stream(document, variables, context_value=self.resources)
        try:
            yield Following(stream, field)
        finally:
            await stream.aclose()
