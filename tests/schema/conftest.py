"""Run documents in process over sessions that ingest has stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest

from tests.builders import store_session, text_block
from toolfold.events import Events
from toolfold.ingest.acp_stream import Streams
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.transcript import Json, Message

SCHEMA = build_schema()


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in the database, and the global ids of it and of what it holds."""

    key: str
    project: str = "default"

    @property
    def id(self) -> str:
        return encode("Session", self.project, self.key)

    def message(self, sequence: int) -> str:
        return encode("Message", self.project, self.key, sequence)

    def tool(self, sequence: int) -> str:
        return encode("ToolMetadata", self.project, self.key, sequence)


@dataclass(slots=True)
class Api:
    """The schema over a database, as a client sees it."""

    database: Database
    settings: Settings
    events: Events = field(default_factory=Events)
    streams: Streams = field(default_factory=Streams)

    def with_settings(self, **values: Any) -> "Api":
        return replace(self, settings=replace(self.settings, **values))

    @property
    def resources(self) -> Resources:
        return Resources(self.settings, self.database, self.events, self.streams)

    async def run(self, document: str, **variables: Any) -> dict[str, Any]:
        """Return the whole response, through the bytes that a client would get."""
        result = await SCHEMA.execute(document, variables, context_value=self.resources)
        response: dict[str, Any] = {"data": result.data, "extensions": result.extensions or {}}
        if result.errors:
            response["errors"] = [error.formatted for error in result.errors]
        decoded: dict[str, Any] = orjson.loads(orjson.dumps(response))
        return decoded

    async def data(self, document: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a response that has no errors."""
        response = await self.run(document, **variables)
        assert "errors" not in response, response["errors"]
        data: dict[str, Any] = response["data"]
        return data

    async def errors(self, document: str, **variables: Any) -> list[tuple[list[Any] | None, str]]:
        """Return the path and code of each error."""
        response = await self.run(document, **variables)
        return [(e.get("path"), e["extensions"]["code"]) for e in response.get("errors", ())]

    async def store(
        self,
        messages: Sequence[Message],
        *,
        key: str = "s",
        project: str = "default",
        **columns: Any,
    ) -> StoredSession:
        """Store messages as a session whose id is `key`; `columns` are columns of its row."""
        await store_session(self.database, messages, project_id=project, session_id=key, **columns)
        return StoredSession(key, project)


def content_of(size: int, mark: str = "") -> Json:
    """Return a content array of one text block whose stored bytes are exactly `size`."""
    empty = len(b'[{"type":"content","content":{"type":"text","text":""}}]')
    return [text_block(mark + "x" * (size - empty - len(mark)))]


@pytest.fixture
def api(database: Database) -> Api:
    """The schema over a fresh database, with the guard's budgets as in the worked examples."""
    settings = Settings(compact_budget_bytes=4_096, content_budget_bytes=65_536)
    return Api(database, settings)
