"""The hand-written routes that GraphQL is compared with: Starlette, sqlite3 on one thread, orjson.

They know one shape each, select its columns with SQL of their own, and build its JSON by hand,
over the same database. `python -m tests.bench.rest DATABASE` serves them on a free port: a file of
SQLite's, or a URL of PostgreSQL, where asyncpg's pool and prepared statements stand for the thread.
"""

import asyncio
import base64
import contextlib
import itertools
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # It has no type stubs.
import click
import orjson
import uvicorn
import zstandard
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolfold.store import dialect
from toolfold.store.postgresql import CONNECTIONS

Rows = Sequence[tuple[Any, ...]]
Query = Callable[[Any], Any]

_PAGE = """
SELECT sequence, role, created_at, content_size, coalesce(content_preview, substr(content, 1, 280)),
    tool_call_id, tool_name, tool_title, tool_kind, tool_status, tool_started_at, tool_ended_at,
    tool_content_size, tool_content_preview
FROM message WHERE project_id = ? AND session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?
"""
_CALL = """
SELECT tool_content_hash FROM message
WHERE project_id = ? AND session_id = ? AND sequence = ? AND tool_call_id IS NOT NULL
"""
_CALLS = """
SELECT sequence, tool_content_size, tool_content_hash FROM message
WHERE project_id = ? AND session_id = ? AND sequence > ? AND role = 'tool'
ORDER BY sequence LIMIT ?
"""
_CHUNKS = """
SELECT hash, data FROM content_chunk WHERE project_id = ? AND hash IN ({})
ORDER BY hash, position
"""


class Routes:
    """The routes over one connection, which one thread uses."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._connection: Any = None

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Open the file as Toolfold's readers do, with as much cache."""
        uri = f"{self._file.absolute().as_uri()}?mode=rw"
        self._connection = dialect.MODULE.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA cache_size=-32000")
        self._connection.execute("PRAGMA query_only=ON")
        yield
        self._connection.close()

    async def page(self, request: Request) -> Response:
        """Answer the light fields of a page of messages."""
        project, session = request.path_params["project"], request.path_params["session"]
        first = int(request.query_params["first"])
        after = int(request.query_params.get("after", 0))
        key = (project, session, after, first + 1)
        return _page(project, session, first, await self.rows(_PAGE, key))

    async def rows(self, sql: str, values: Sequence[Any]) -> Rows:
        """Return the rows of a statement."""
        found: Rows = await self._on_thread(lambda one: one.execute(sql, values).fetchall())
        return found

    async def content(self, request: Request) -> Response:
        """Answer the content of one call."""
        project, session = request.path_params["project"], request.path_params["session"]
        key = (project, session, int(request.path_params["sequence"]))

        def query(connection: Any) -> bytes:
            (digest,) = connection.execute(_CALL, key).fetchone()
            return _contents(connection, project, [digest])[digest]

        data = await self._on_thread(query)
        return _answer({"toolMetadata": {"content": orjson.Fragment(data)}}, "message")

    async def contents(self, request: Request) -> Response:
        """Answer the contents of a page of calls."""
        project, session = request.path_params["project"], request.path_params["session"]
        key = (project, session, 0, int(request.query_params["first"]))

        def query(connection: Any) -> tuple[Rows, dict[bytes, bytes]]:
            rows = connection.execute(_CALLS, key).fetchall()
            return rows, _contents(connection, project, [row[2] for row in rows])

        rows, found = await self._on_thread(query)
        nodes = [
            {
                "sequence": sequence,
                "toolMetadata": {"contentSize": size, "content": orjson.Fragment(found[digest])},
            }
            for sequence, size, digest in rows
        ]
        return _answer({"messages": {"nodes": nodes}}, "session")

    async def _on_thread(self, query: Query) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, query, self._connection)


class PostgresqlRoutes(Routes):
    """The page alone, over a pool as large as Toolfold's."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: Any = None

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Open the pool."""
        async with asyncpg.create_pool(self._url, min_size=1, max_size=CONNECTIONS) as self._pool:
            yield

    async def rows(self, sql: str, values: Sequence[Any]) -> Rows:
        """Return the rows of a statement, which the pool's connection has prepared."""
        numbers = itertools.count(1)
        numbered = re.sub(r"\?", lambda _: f"${next(numbers)}", sql)
        found: Rows = await self._pool.fetch(numbered, *values)
        return found


def create_app(database: str) -> Starlette:
    """Return the routes over a database file or URL as an application."""
    is_url = database.startswith("postgresql://")
    routes = PostgresqlRoutes(database) if is_url else Routes(Path(database))
    session = "/projects/{project}/sessions/{session}"
    return Starlette(
        routes=[
            Route(f"{session}/messages", routes.page),
            Route(f"{session}/messages/{{sequence:int}}/content", routes.content),
            Route(f"{session}/contents", routes.contents),
        ],
        middleware=[Middleware(GZipMiddleware, minimum_size=1024, compresslevel=1)],
        lifespan=routes.lifespan,
    )


def _page(project: str, session: str, first: int, rows: Rows) -> Response:
    prefix = f"{project}/{session}/"
    nodes = [_message(prefix, row) for row in rows[:first]]
    page = {"pageInfo": {"hasNextPage": len(rows) > first}, "nodes": nodes}
    return _answer({"messages": page}, "session")


def _contents(connection: Any, project: str, digests: Sequence[bytes]) -> dict[bytes, bytes]:
    marks = ", ".join("?" * len(digests))
    found: dict[bytes, bytes] = {}
    decompress = zstandard.ZstdDecompressor().decompress
    for digest, frame in connection.execute(_CHUNKS.format(marks), (project, *digests)):
        found[digest] = found.get(digest, b"") + decompress(frame)
    return found


def _message(prefix: str, row: tuple[Any, ...]) -> dict[str, Any]:
    (sequence, role, created_at, size, preview, call_id, name, title, kind, status, *rest) = row
    key = f"{prefix}{sequence}"
    call = None
    if call_id is not None:
        started_at, ended_at, content_size, content_preview = rest
        call = {
            "id": _id("ToolMetadata:", key),
            "toolCallId": call_id,
            "name": name,
            "title": title,
            "kind": kind.upper(),
            "status": status.upper(),
            "startedAt": started_at,
            "endedAt": ended_at,
            "contentSize": content_size,
            "contentPreview": content_preview,
        }
    return {
        "id": _id("Message:", key),
        "sequence": sequence,
        "role": role.upper(),
        "createdAt": created_at,
        "contentSize": size,
        "contentPreview": preview,
        "toolMetadata": call,
    }


def _id(typename: str, key: str) -> str:
    return base64.urlsafe_b64encode((typename + key).encode()).rstrip(b"=").decode("ascii")


def _answer(value: dict[str, Any], name: str) -> Response:
    return Response(orjson.dumps({"data": {name: value}}), media_type="application/json")


def main() -> None:
    """Serve as `toolfold serve` does, and say where."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        click.echo(f"http://127.0.0.1:{bound.getsockname()[1]}")
        app = create_app(sys.argv[1])
        config = uvicorn.Config(app, lifespan="on", log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    main()
