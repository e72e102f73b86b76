"""The first page of a very large session beside that of a small one, and the start of a server."""

import statistics
import time
from collections.abc import Iterator

from tests.bench import commands, stored
from tests.bench.client import data
from tests.bench.figures import Figure, at_most, milliseconds, times
from tests.bench.options import Options
from tests.bench.pages import LIGHT, SESSION_ID
from tests.bench.timing import medians

NAME = "sessions"
SMALL = 100

_FIRST = 50
_MAX_RATIO = 2.0
_MAX_START = 1.5


def measure(options: Options) -> Iterator[Figure]:
    """Compare first pages of 50, then start servers."""
    events, output_bytes = options.large_session
    large = stored.session(options.place, events, output_bytes)
    small = stored.session(options.place, SMALL, output_bytes)
    with commands.toolfold(large.data_dir) as one, commands.toolfold(small.data_dir) as other:
        calls = [
            server.client.running(LIGHT, id=SESSION_ID, first=_FIRST) for server in (one, other)
        ]
        for call in calls:
            assert len(data(call())["session"]["messages"]["nodes"]) == _FIRST
        own, beside = medians(options.rounds, *calls)
    total = events * 2 // 3 * output_bytes / 1e6
    yield Figure(
        f"first page of a session of {events:,} events, {total:,.0f} MB",
        milliseconds(own),
        f"{SMALL} events {milliseconds(beside)}",
        times(own / beside),
        at_most(own / beside, _MAX_RATIO, times(_MAX_RATIO)),
    )
    taken = [_start(options) for _ in range(options.starts)]
    median = statistics.median(taken)
    yield Figure(
        "`toolfold serve` from its start to the first page",
        milliseconds(median),
        f"{options.starts} starts, {milliseconds(min(taken))} to {milliseconds(max(taken))}",
        bound=at_most(median, _MAX_START, milliseconds(_MAX_START)),
    )


def _start(options: Options) -> float:
    settings = stored.session(options.place, SMALL, options.large_session[1])
    start = time.perf_counter()
    with commands.toolfold(settings.data_dir) as server:
        data(server.client.running(LIGHT, id=SESSION_ID, first=_FIRST)())
        return time.perf_counter() - start
