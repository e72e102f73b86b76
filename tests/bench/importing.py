"""`toolfold import` of a generated `~/.claude/projects`, as people run it.

Memory is that of the command's processes together, time that from its start to its end.
"""

import shutil
from collections.abc import Iterator

from tests import claude_tree
from tests.bench import commands
from tests.bench.figures import Bound, Figure, at_least, at_most
from tests.bench.options import MEGABYTE, Options
from toolfold.store import sqlite

NAME = "import"

_MIN_RATE = 20
_MIN_RATE_AGAIN = 200
_MAX_PEAK = 200
# One session is so much of all: some hundred MB in a full run.
_LARGE_PART = 5
# A tenth of it or so is in the files of large results.
_BIG_BYTES = 1_150 * MEGABYTE


def measure(options: Options) -> Iterator[Figure]:
    """Import many sessions and a large one, twice, and with `big` one session of 1 GB."""
    root = options.place / "projects"
    large_bytes = options.import_mb * MEGABYTE // _LARGE_PART
    many_bytes = options.import_mb * MEGABYTE - large_bytes
    many = claude_tree.write(root / "many", sessions=options.sessions, total_bytes=many_bytes)
    large = claude_tree.write(root / "large", sessions=1, total_bytes=large_bytes, seed=2)
    yield from _measure_tree(options, many.with_all_of(large, root), with_again=True)
    if options.big:
        big = claude_tree.write(root, sessions=1, total_bytes=_BIG_BYTES)
        yield from _measure_tree(options, big, with_again=False)


def _measure_tree(
    options: Options, tree: claude_tree.Tree, *, with_again: bool
) -> Iterator[Figure]:
    root, data_dir = tree.root, options.place / "imported"
    name = f"import of {_described(tree)}"
    arguments = ("import", root, "--data-dir", data_dir)
    first = commands.run(arguments, options.place)
    rate = _rate(tree, first)
    yield _speed(name, tree, first, at_least(rate, _MIN_RATE, f"{_MIN_RATE} MB/s"))
    yield _peak(name, first)
    stored = (data_dir / sqlite.FILE_NAME).stat().st_size
    yield Figure(
        f"{name}: the database file",
        _megabytes(stored),
        _megabytes(tree.size),
        f"{stored / tree.size:.0%}",
    )
    if with_again:
        again = commands.run(arguments, options.place)
        name = "the same again, nothing new"
        least = f"{_MIN_RATE_AGAIN} MB/s"
        yield _speed(name, tree, again, at_least(_rate(tree, again), _MIN_RATE_AGAIN, least))
        yield _peak(name, again)
    for made in (root, data_dir):
        shutil.rmtree(made)


def _speed(
    name: str, tree: claude_tree.Tree, finished: commands.Finished, bound: Bound | None
) -> Figure:
    return Figure(
        name,
        f"{_rate(tree, finished):,.1f} MB/s",
        f"{finished.seconds:,.1f} s, {finished.cpu_seconds:,.1f} s of CPU",
        f"{tree.size / MEGABYTE / finished.cpu_seconds:,.1f} MB/CPU s",
        bound=bound,
    )


def _peak(name: str, finished: commands.Finished) -> Figure:
    peak = finished.peak_bytes / MEGABYTE
    return Figure(
        f"{name}: peak memory",
        f"{peak:,.0f} MB",
        bound=at_most(peak, _MAX_PEAK, f"{_MAX_PEAK} MB"),
    )


def _rate(tree: claude_tree.Tree, finished: commands.Finished) -> float:
    """Return MB/s, the start of the program included."""
    return tree.size / MEGABYTE / finished.seconds


def _described(tree: claude_tree.Tree) -> str:
    files = len(tree.transcripts) + len(tree.companions)
    largest = max(path.stat().st_size for path in tree.transcripts)
    return f"{_megabytes(tree.size)} in {files:,} files, the largest {_megabytes(largest)}"


def _megabytes(size: float) -> str:
    return f"{size / MEGABYTE:,.0f} MB"
