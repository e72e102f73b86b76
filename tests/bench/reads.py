"""What a page of 1,000 messages reads and answers, whatever the size of the outputs beside it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from tests.bench import stored
from tests.bench.figures import Bound, Figure, at_most
from tests.bench.memory import file_reads
from tests.bench.options import Options
from tests.bench.pages import LIGHT, SESSION_ID
from toolfold.documents import response_body
from toolfold.schema import build_schema
from toolfold.schema.context import Resources
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.sqlite import PAGE_BYTES

NAME = "reads"
SIZES = {"1 KiB": 2**10, "1 MiB": 2**20}
TEXT_SIZES = {"1 KiB": 2**10, "12 KiB": 12 * 2**10, "1 MiB": 2**20}
"""Of the texts of users and models: in their rows, in a table of their own, and contents."""

DOCUMENTS = {"with": LIGHT, "without": LIGHT.replace("contentPreview", "")}

_MAX_PAGES = {"with": 150, "without": 80}
_MAX_DIFFERENCE = 0.02
_MAX_GROWTH = 0.01
_SCHEMA = build_schema()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one page took and gave: SQLite's pages, and the bytes of the answer's body."""

    pages: int
    size: int


def measure(options: Options) -> Iterator[Figure]:
    """Compare outputs of 1 KiB with outputs of 1 MiB, with and without previews."""
    stores = [stored.outputs(options.place, size) for size in SIZES.values()]
    for word, document in DOCUMENTS.items():
        answers = [asyncio.run(_answer(settings, document)) for settings in stores]
        yield from _pages(word, answers)
        if document is LIGHT:
            yield _growth(answers)
    for name, size in TEXT_SIZES.items():
        answer = asyncio.run(_answer(stored.texts(options.place, size), LIGHT))
        yield _count(f"with previews, texts of {name}", answer.pages, _MAX_PAGES["with"])


def _pages(word: str, answers: list[_Answer]) -> Iterator[Figure]:
    small, large = (answer.pages for answer in answers)
    for name, pages in zip(SIZES, (small, large), strict=True):
        yield _count(f"{word} previews, outputs of {name}", pages, _MAX_PAGES[word])
    difference = abs(large - small) / small
    yield Figure(
        f"the same {word} previews, 1 MiB beside 1 KiB",
        str(large),
        str(small),
        f"{large / small - 1:+.1%}",
        Bound("± 2 %", difference <= _MAX_DIFFERENCE),
    )


def _count(name: str, pages: int, limit: int) -> Figure:
    return Figure(
        f"pages read by SQLite {name}",
        f"{pages:,} of {PAGE_BYTES // 1024} KiB",
        f"{pages * PAGE_BYTES / 1000:,.0f} KB",
        bound=at_most(pages, limit, f"{limit}"),
    )


def _growth(answers: list[_Answer]) -> Figure:
    small, large = (answer.size for answer in answers)
    return Figure(
        "the answer when every output grows 1,024 times",
        f"{large:,} B",
        f"{small:,} B",
        f"{large / small - 1:+.2%}",
        Bound("± 1 %", abs(large / small - 1) <= _MAX_GROWTH),
    )


async def _answer(settings: Settings, document: str) -> _Answer:
    """Answer a page with what SQLite has cached of the file when it is opened: its schema."""
    await _read(settings, document)  # What Python reads when a thing is first used.
    return await _read(settings, document)


async def _read(settings: Settings, document: str) -> _Answer:
    database = await Database.open(settings)
    own = -file_reads() + file_reads()  # What counting itself reads.
    before = file_reads()
    result = await _SCHEMA.execute(
        document,
        {"id": SESSION_ID, "first": stored.MESSAGES},
        context_value=Resources(settings, database),
    )
    pages = file_reads() - before - own
    await database.close()
    assert not result.errors
    return _Answer(pages, len(orjson.dumps(response_body(result))))
