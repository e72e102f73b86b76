"""What a run found, as the page of the documentation: targets first, then every figure."""

from collections.abc import Iterator, Mapping, Sequence

from tests.bench import curves
from tests.bench.figures import Figure, rows_of, table, verdict

TITLES = {
    "pages": "Pages of messages",
    "executor": "Where the time of a page goes",
    "profile": "Where the time of a small answer goes",
    "postgresql": "On PostgreSQL",
    "clients": "Many clients",
    "reads": "What a page reads and answers",
    "depth": "Depth",
    "sessions": "Large sessions, and the start",
    "contents": "Contents",
    "streaming": "A content of 100 MiB",
    "import": "Import",
    "curves": "Curves",
    "viewer": "The viewer",
}
_NOTE_ON_READS = (
    "Previews stand in the rows, and SQLite reads rows whole: a page without previews reads as many"
    " pages."
)
_NOTE_ON_PROFILES = (
    "Profiled in process. The sums are larger than the times above: cProfile makes calls dearer"
    " than the work in them."
)
NOTES = {"reads": _NOTE_ON_READS, "profile": _NOTE_ON_PROFILES}
_HEAD = """\
# Benchmarks

What Toolfold costs, beside a hand-written route for the same JSON: Starlette, one sqlite3 thread or
asyncpg, orjson (`tests/bench/rest.py`). `make bench` writes this page. Times on another machine are
others, so compare the ratios.
"""
_HOW = """\
Times are medians of {rounds} rounds or more, taken in turn with what stands beside them, over HTTP
by one client, each server in a process of its own, and nothing compressed unless it says so. Pages
and statements are counted in process.
"""


def document(found: Mapping[str, Sequence[Figure]], facts: Sequence[str], rounds: int) -> str:
    """Return the page; `found` are the figures of each group, by name."""
    parts = [_HEAD, *(f"- {fact}" for fact in facts), "", _HOW.format(rounds=rounds)]
    parts += ["## Targets", "", rows_of(_HEADINGS, _targets(found)), ""]
    for name, figures in found.items():
        parts += [f"## {TITLES[name]}", "", f"`{command(name)}`", "", table(figures), ""]
        if name in NOTES:
            parts += [NOTES[name], ""]
        if name == curves.NAME:
            parts += ["![Milliseconds of a page by Toolfold and by REST](benchmarks.svg)", ""]
    return "\n".join(parts)


_HEADINGS = ("figure", "target", "measured", "", "command")


def command(name: str) -> str:
    """Return the command that measures one group."""
    return f'make bench ARGS="--only {name}"'


def _targets(found: Mapping[str, Sequence[Figure]]) -> Iterator[tuple[str, ...]]:
    for name, figures in found.items():
        for figure in figures:
            if figure.bound is not None:
                measured = " = ".join(filter(None, (figure.measured, figure.ratio)))
                yield (
                    figure.name,
                    figure.bound.text,
                    measured,
                    verdict(figure.bound),
                    f"`--only {name}`",
                )
