"""Executing and encoding alone, with the rows at hand, beside graphql-core's own executor.

And where the time of a page goes: what is left of the whole when each part is measured by itself.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import orjson
import strawberry
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from tests.bench import commands, stored
from tests.bench.figures import Figure, at_least, milliseconds
from tests.bench.options import Options
from tests.bench.pages import LIGHT, OUTPUT_BYTES, SESSION_ID
from tests.bench.timing import medians
from toolfold.documents import response_body
from toolfold.schema import build_schema, hooks
from toolfold.schema.context import Resources
from toolfold.settings import Settings
from toolfold.store import message, session
from toolfold.store.engine import Database
from toolfold.store.page import Page

NAME = "executor"

_MIN_RATIO = 20
_SIZES = {stored.MESSAGES: _MIN_RATIO, 50: None}
"""The sizes of pages, and how many times faster each is to be than the standard executor."""


def measure(options: Options) -> Iterator[Figure]:
    """Compare the executors on the page of 1,000 and of 50, and take each page apart."""
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    with commands.toolfold(settings.data_dir) as server:
        for size in _SIZES:
            asking = server.client.running(LIGHT, id=SESSION_ID, first=size)
            with asyncio.Runner() as runner:
                taken = _compared(runner, settings, options, size, asking)
            yield from _told(size, taken)


def _compared(
    runner: asyncio.Runner,
    settings: Settings,
    options: Options,
    size: int,
    asking: Callable[[], bytes],
) -> "_Times":
    database = runner.run(Database.open(settings))
    resources = Resources(settings, database)
    own, standard = build_schema(), _standard_schema()
    asked: list[Callable[[], Any]] = []
    seen: list[tuple[Any, Page | None]] = []
    with_page, page_reading = session.with_page, message.page_reading

    def telling(*args: Any, **kwargs: Any) -> Any:
        asked.append(lambda: page_reading(*args, **kwargs))
        return asked[0]()

    async def remembered(connection: Any, key: Any, page: Any) -> tuple[Any, Any]:
        if not seen:
            seen.append(await with_page(connection, key, page))
        return seen[0]

    def execute(schema: strawberry.Schema) -> bytes:
        bodies: list[bytes] = []
        runner.run(_answer(schema, resources, size, bodies))
        return bodies[0]

    async def read() -> None:
        async with database.read(single=True) as connection:
            await with_page(connection, (stored.PROJECT, stored.SESSION), asked[0]())

    # The rows at hand stand for the store.
    message.page_reading, session.with_page = telling, remembered
    try:
        body = execute(own)
        assert execute(standard) == body
        value = orjson.loads(body)
        return _Times(
            *medians(
                options.rounds,
                lambda: execute(own),
                lambda: execute(standard),
                lambda: orjson.dumps(value),
                lambda: runner.run(read()),
                asking,
            )
        )
    finally:
        message.page_reading, session.with_page = page_reading, with_page
        runner.run(database.close())


async def _answer(
    schema: strawberry.Schema, resources: Resources, size: int, bodies: list[bytes]
) -> None:
    """Add the body of the page's answer to `bodies`.

    The runner makes a text of what a task returns; of a whole page it takes as long again.
    """
    variables = {"id": SESSION_ID, "first": size}
    result = await schema.execute(LIGHT, variables, context_value=resources)
    assert not result.errors
    bodies.append(orjson.dumps(response_body(result)))


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds: of both executors with encoding, of its parts, and of the page over HTTP."""

    fast: float
    slow: float
    encoding: float
    reading: float
    whole: float


def _told(size: int, taken: _Times) -> Iterator[Figure]:
    ratio, least = taken.slow / taken.fast, _SIZES[size]
    yield Figure(
        f"page of {size:,} messages, execute and encode alone",
        milliseconds(taken.fast),
        f"standard executor {milliseconds(taken.slow)}",
        f"{ratio:.1f}x faster",
        None if least is None else at_least(ratio, least, f"{least}x faster"),
    )
    parts = {
        "reading its rows": taken.reading,
        "executing": taken.fast - taken.encoding,
        "encoding": taken.encoding,
        "HTTP, the client, and all else": taken.whole - taken.fast - taken.reading,
    }
    for name, part in parts.items():
        yield Figure(
            f"of the page of {size:,} over HTTP: {name}",
            milliseconds(part),
            f"all {milliseconds(taken.whole)}",
            f"{part / taken.whole:.0%}",
        )


def _standard_schema() -> strawberry.Schema:
    """Return Toolfold's schema with Strawberry's own resolvers and executor, graphql-core's."""
    with mock.patch.object(hooks, "shorten"):
        schema = build_schema()
    schema.execution_context_class = StrawberryGraphQLCoreExecutionContext
    return schema
