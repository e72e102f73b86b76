"""Where the time of the two smallest answers goes, by whose code it is spent in.

cProfile makes calls dearer than work within a function: layers of many small calls look larger than
they are, by up to a half.
"""

import asyncio
import cProfile
import pstats
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from tests.bench import contents, stored
from tests.bench.figures import Figure, milliseconds
from tests.bench.options import Options
from tests.bench.pages import LIGHT, OUTPUT_BYTES, SESSION_ID
from toolfold.documents import response_body
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode
from toolfold.settings import Settings
from toolfold.store.engine import Database

NAME = "profile"

_MESSAGE_ID = encode("Message", stored.PROJECT, stored.SESSION, contents.SEQUENCE)
_ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "page of 50": (LIGHT, {"id": SESSION_ID, "first": 50}),
    "one content of 50 KiB": (contents.ONE, {"id": _MESSAGE_ID}),
}
_WAITING = "waiting for SQLite's thread"
_OWNERS = {
    "orjson": "encoding",
    "poll' of 'select": _WAITING,
    "<completes ": "completing objects",
    "toolfold/execution/": "completing objects",
    "toolfold/schema/": "resolvers and the guard",
    "toolfold/store/": "the store, on this side of its thread",
    "toolfold/": "resolvers and the guard",
    "/graphql/": "graphql-core",
    "/strawberry/": "Strawberry",
    "/sqlalchemy/": "SQLAlchemy: a connection out of its pool and back",
    "greenlet": "SQLAlchemy: a connection out of its pool and back",
    "/aiosqlite/": "aiosqlite and asyncio",
    "/asyncio/": "aiosqlite and asyncio",
}
"""Whose a function is, by the first of these that is part of its file or name."""


def measure(options: Options) -> Iterator[Figure]:
    """Profile a query that is asked again and again, in process."""
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    for name, (document, variables) in _ASKED.items():
        spent = asyncio.run(_spent(settings, document, variables, 20 * options.rounds))
        whole = sum(spent.values())
        for owner, seconds in spent.most_common():
            yield Figure(
                f"{name}: {owner}",
                milliseconds(seconds),
                f"all {milliseconds(whole)}",
                f"{seconds / whole:.0%}",
            )


async def _spent(
    settings: Settings, document: str, variables: dict[str, Any], times: int
) -> Counter[str]:
    """Return the seconds that an answer takes in each one's code."""
    database = await Database.open(settings)
    schema, resources = build_schema(), Resources(settings, database)

    async def ask() -> None:
        result = await schema.execute(document, variables, context_value=resources)
        assert not result.errors
        orjson.dumps(response_body(result))

    try:
        for _ in range(20):
            await ask()
        with cProfile.Profile() as profile:
            for _ in range(times):
                await ask()
    finally:
        await database.close()
    return Counter({owner: taken / times for owner, taken in _by_owner(profile).items()})


def _by_owner(profile: cProfile.Profile) -> Counter[str]:
    spent: Counter[str] = Counter()
    stats: Any = pstats.Stats(profile)
    for (file, _, name), (_, _, own_seconds, _, callers) in stats.stats.items():
        if (owner := _owner(file, name)) is not None:
            spent[owner] += own_seconds
            continue
        # What is built in, or of the standard library, is of whoever calls it.
        for (caller_file, _, caller_name), (_, _, seconds, _) in callers.items():
            spent[_owner(caller_file, caller_name) or "Python's own"] += seconds
    return spent


def _owner(file: str, name: str) -> str | None:
    return next((owner for part, owner in _OWNERS.items() if part in file or part in name), None)
