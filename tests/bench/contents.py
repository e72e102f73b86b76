"""Contents of 50 KiB, one and 500 of them, beside hand-written routes, both over HTTP."""

import asyncio
import dataclasses
from collections.abc import Iterator

from tests.bench import commands, stored
from tests.bench.client import data
from tests.bench.figures import Figure, at_most, mebibytes, milliseconds, times
from tests.bench.options import Options
from tests.bench.pages import OUTPUT_BYTES, REST_SESSION, SESSION_ID
from tests.bench.timing import medians
from tests.statements import statements
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.settings import Settings
from toolfold.store import sqlite
from toolfold.store.engine import Database

NAME = "contents"
COUNT = 500
STREAMED_COUNT = 200
BUDGET_BYTES = 64 * 2**20
SEQUENCE = 2

_MAX_ONE = 1.5
_MAX_MANY = 1.3

ONE = "query One($id: ID!) { message(id: $id) { toolMetadata { content } } }"
MANY = """
query Many($id: ID!, $first: Int) {
  session(id: $id) {
    messages(first: $first, filter: {roles: [TOOL]}, compact: false) {
      nodes { sequence toolMetadata { contentSize content } }
    }
  }
}
"""


def measure(options: Options) -> Iterator[Figure]:
    """Compare one content and 500, and count the statements that 500 take."""
    settings = dataclasses.replace(
        stored.outputs(options.place, OUTPUT_BYTES), content_budget_bytes=BUDGET_BYTES
    )
    with (
        commands.toolfold(settings.data_dir, TOOLFOLD_CONTENT_BUDGET_BYTES=BUDGET_BYTES) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        yield from _one(options, server, rest)
        yield _many(options, server, rest, STREAMED_COUNT, _MAX_MANY)
        yield _many(options, server, rest, COUNT, None)
    yield from _statements(settings)


def _one(options: Options, server: commands.Server, rest: commands.Server) -> Iterator[Figure]:
    message = encode("Message", stored.PROJECT, stored.SESSION, SEQUENCE)
    route = f"/api{REST_SESSION}/messages/{SEQUENCE}/tool-content"
    graphql = server.client.running(ONE, id=message)
    streamed = server.client.getting(route)
    other = rest.client.getting(f"{REST_SESSION}/messages/{SEQUENCE}/content")
    assert data(graphql()) == data(other())
    taken = medians(options.rounds, graphql, streamed, other)
    for name, own in (("GraphQL", taken[0]), ("the tool-content route", taken[1])):
        yield Figure(
            f"one content of 50 KiB by {name}",
            milliseconds(own),
            f"REST {milliseconds(taken[2])}",
            times(own / taken[2]),
            at_most(own / taken[2], _MAX_ONE, times(_MAX_ONE)),
        )


def _many(
    options: Options,
    server: commands.Server,
    rest: commands.Server,
    count: int,
    limit: float | None,
) -> Figure:
    ours = server.client.running(MANY, id=SESSION_ID, first=count)
    theirs = rest.client.getting(f"{REST_SESSION}/contents?first={count}")
    body = ours()
    assert data(body) == data(theirs())
    own, other = medians(options.rounds, ours, theirs)
    return Figure(
        f"{count} contents of 50 KiB in one query, {mebibytes(len(body))} of JSON",
        milliseconds(own),
        f"REST {milliseconds(other)}",
        times(own / other),
        None if limit is None else at_most(own / other, limit, times(limit)),
    )


def _statements(settings: Settings) -> Iterator[Figure]:
    seen = asyncio.run(_seen(settings))
    for table in ("content", "content_chunk"):
        count = sum(f"FROM {table} " in f"{' '.join(sql.split())} " for sql in seen)
        yield Figure(
            f"statements on {table} for {COUNT} contents",
            str(count),
            f"{len(seen)} on all tables",
            bound=at_most(count, 1, "1"),
        )


async def _seen(settings: Settings) -> list[str]:
    """Return the statements that the query for 500 contents runs."""
    database = await Database.open(settings)
    with statements(database) as seen:
        result = await build_schema().execute(
            MANY, {"id": SESSION_ID, "first": COUNT}, context_value=Resources(settings, database)
        )
    assert not result.errors
    await database.close()
    return seen
