"""Sessions to measure on, written through ingest, each into a database of its own once in a run."""

import asyncio
import itertools
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Text, cast, func, insert, literal, select, update

from tests.builders import text_block
from toolfold import ingest, stored_json
from toolfold.sample import output
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import message_table, session_table
from toolfold.transcript import (
    Entry,
    Json,
    Message,
    MessageRole,
    Session,
    ToolCall,
    ToolKind,
    ToolLocation,
)

PROJECT = "default"
SESSION = "81f81c4f-b860-4330-8fd1-844f8358829e"
MESSAGES = 1_000
CALLS = 667
"""How many of `outputs`' messages carry a tool call."""

_FORMAT = "bench"
_START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
_BATCH_BYTES = 32 * 2**20
_BATCH_MESSAGES = 1_000
_POOL_BYTES = 4 * 2**20


def outputs(place: Path, size: int) -> Settings:
    """Store 1,000 messages, 667 of them calls whose content has `size` stored bytes.

    They differ in nothing else from one size to another. The others are texts as long as people
    and models write.
    """
    return _stored(place / f"outputs-{size}", _conversation(_phrases(), size), size)


def outputs_on_postgresql(url: str, size: int) -> Settings:
    """Store what `outputs` does in an empty database of PostgreSQL."""
    settings = Settings(database_url=url)
    asyncio.run(_store(settings, _conversation(_phrases(), size), _BATCH_MESSAGES // 4))
    return settings


def texts(place: Path, size: int) -> Settings:
    """Store as many calls, with outputs of 1 KiB, and texts of `size` bytes between them."""
    texts = (_pool_from(number * 4_099, size) for number in itertools.count())
    return _stored(place / f"texts-{size}", _conversation(texts, 2**10), size)


def session(place: Path, events: int, size: int) -> Settings:
    """Store a session of so many events, two thirds of them calls with outputs of `size` bytes."""
    texts = (f"Message {number}: {_SENTENCE}" for number in itertools.count())
    return _stored(place / f"session-{events}-{size}", _conversation(texts, size, events), size)


def long(place: Path, count: int) -> Settings:
    """Store `count` short texts: one through ingest, of which SQL makes the others."""
    data_dir = place / f"long-{count}"
    is_made = data_dir.exists()
    settings = _stored(data_dir, iter([_text(1, _SENTENCE)]), 0)
    if not is_made:
        asyncio.run(_multiply(settings, count))
    return settings


def single(place: Path, size: int) -> Settings:
    """Store one call whose content has `size` stored bytes."""
    return _stored(place / f"single-{size}", iter([_call(0, size, "ls")]), size)


async def _multiply(settings: Settings, count: int) -> None:
    """Make messages 2 to `count` of the first."""
    table = message_table
    numbers = select(literal(2).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < count))
    name = literal("message-") + cast(numbers.c.n, Text)
    made = {
        "sequence": numbers.c.n,
        "revision": numbers.c.n,
        "client_id": name,
        "content": name + table.c.content,
        "content_size": table.c.content_size + func.length(name),
    }
    values = [made.get(column.name, column) for column in table.columns]
    others: Any = select(*values).join_from(numbers, table, table.c.sequence == 1)
    head = dict.fromkeys(("head_sequence", "head_revision", "message_count"), count)

    def write(connection: Connection) -> None:
        connection.execute(insert(table).from_select(list(table.columns), others))
        connection.execute(update(session_table).values(head))

    database = await Database.open(settings)
    await database.write(write)
    await database.close()


_SENTENCE = "the station reports wind and rain for tomorrow, so the gauge is read again."


def _stored(data_dir: Path, messages: Iterator[Message], size: int) -> Settings:
    settings = Settings(data_dir=data_dir)
    if not data_dir.exists():
        at_once = max(1, min(_BATCH_MESSAGES, _BATCH_BYTES // max(1, size)))
        asyncio.run(_store(settings, messages, at_once))
    return settings


async def _store(settings: Settings, messages: Iterator[Message], at_once: int) -> None:
    database = await Database.open(settings, create=True)
    session = Session(agent="claude-code", title="What the bench measures", id=SESSION)
    await database.write(partial(_record, entries=[Entry(SESSION, 1, session)]))
    while batch := [Entry(SESSION, 1, one) for one in itertools.islice(messages, at_once)]:
        await database.write(partial(_record, entries=[Entry(SESSION, 1, session), *batch]))
    await database.close()


def _record(connection: Connection, entries: Iterable[Entry]) -> None:
    ingest.record(connection, PROJECT, entries, format=_FORMAT, now=_START)


def _phrases() -> Iterator[str]:
    rng = random.Random(1)  # noqa: S311 (the same texts each time)
    words = (1 + min(600, round(rng.lognormvariate(3.5, 1.2))) for _ in itertools.count())
    return (output.phrase(rng, count) for count in words)


def _conversation(texts: Iterator[str], size: int, count: int = MESSAGES) -> Iterator[Message]:
    rng = random.Random(3)  # noqa: S311 (the same titles each time)
    for number in range(count):
        if number % 3 == 0:
            yield _text(number, next(texts))
        else:
            yield _call(number, size, f"weather --{output.phrase(rng, 4)}")


def _text(number: int, text: str) -> Message:
    role = MessageRole.ASSISTANT if number % 10 else MessageRole.USER
    return Message(f"message-{number}", role, text, created_at=_time(number))


def _call(number: int, size: int, command: str) -> Message:
    call = ToolCall(
        tool_call_id=f"toolu_{number:024}",
        name="Bash",
        title=command,
        kind=ToolKind.EXECUTE,
        locations=(ToolLocation(f"/home/sam/weather/feeds/station_{number}.py", number + 1),),
        content=_content(number, size),
        raw_input={"command": command, "description": f"Step {number}"},
        started_at=_time(number),
        ended_at=_time(number) + timedelta(seconds=2),
    )
    return Message(f"message-{number}", MessageRole.TOOL, created_at=_time(number), tool_call=call)


def _content(number: int, size: int) -> Json:
    """Return a content of exactly `size` stored bytes that no other number has."""
    text = f"Step {number}\n" + _pool_from(number * 4_099, size)
    # A line break takes two bytes in JSON, so cutting characters takes away enough.
    while (over := len(stored_json.encode([text_block(text)])) - size) > 0:
        text = text[:-over]
    return [text_block(text + "." * -over)]


def _pool_from(start: int, length: int) -> str:
    pool = _pool()
    start %= len(pool)
    turns = -(-(start + length) // len(pool))
    return (pool * turns)[start : start + length]


@cache
def _pool() -> str:
    return output.text(random.Random(2), _POOL_BYTES, output.source_line)  # noqa: S311 (as above)


def _time(number: int) -> datetime:
    return _START + timedelta(seconds=7 * number)
