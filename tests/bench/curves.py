"""What a page costs as it grows, as it lies deeper, and as the outputs beside it grow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.bench import commands, depth, stored
from tests.bench.client import data
from tests.bench.figures import Figure, milliseconds
from tests.bench.options import Options
from tests.bench.pages import LIGHT, OUTPUT_BYTES, REST_SESSION, SESSION_ID
from tests.bench.timing import medians
from toolfold.store import sqlite

NAME = "curves"
PAGE = 50

_SIZES = (1, 10, 50, 100, 250, 500, 1_000)
_BODIES = (2**10, 16 * 2**10, 256 * 2**10, 2**20)


@dataclass(slots=True)
class Curve:
    """Points of a plot: (x, milliseconds by Toolfold, milliseconds by REST if it was asked)."""

    title: str
    axis: str
    points: list[tuple[int, float, float | None]] = field(default_factory=list)


CURVES = {
    "size": Curve("Size of the page", "messages"),
    "depth": Curve(f"Depth of a page of {PAGE}", "messages before it"),
    "body": Curve(f"Outputs beside {PAGE}, not selected", "bytes each"),
}


def measure(options: Options) -> Iterator[Figure]:
    """Take the points; the plot is drawn of what `CURVES` holds then."""
    for curve in CURVES.values():
        curve.points.clear()
    _by_size(options)
    _by_depth(options)
    _by_body(options)
    for curve in CURVES.values():
        (low, first, _), (high, last, _) = curve.points[0], curve.points[-1]
        yield Figure(
            f"{curve.title}: {high:,} {curve.axis}",
            milliseconds(last / 1_000),
            f"{low:,}: {milliseconds(first / 1_000)}",
            f"{last / first:.2f}x",
        )


def _by_size(options: Options) -> None:
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    with (
        commands.toolfold(settings.data_dir) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        for first in _SIZES:
            ours = server.client.running(LIGHT, id=SESSION_ID, first=first)
            theirs = rest.client.getting(f"{REST_SESSION}/messages?first={first}")
            _add("size", first, options, ours, theirs)


def _by_depth(options: Options) -> None:
    settings = stored.long(options.place, options.depth + stored.MESSAGES + 10)
    with (
        commands.toolfold(settings.data_dir) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        place = 10
        while place <= options.depth:
            after = depth.cursor(server.client, place)
            ours = server.client.running(depth.LIGHT_AFTER, id=SESSION_ID, first=PAGE, after=after)
            theirs = rest.client.getting(f"{REST_SESSION}/messages?first={PAGE}&after={place}")
            _add("depth", place, options, ours, theirs)
            place *= 10


def _by_body(options: Options) -> None:
    for size in _BODIES:
        settings = stored.outputs(options.place, size)
        with (
            commands.toolfold(settings.data_dir) as server,
            commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
        ):
            ours = server.client.running(LIGHT, id=SESSION_ID, first=PAGE)
            theirs = rest.client.getting(f"{REST_SESSION}/messages?first={PAGE}")
            _add("body", size, options, ours, theirs)


def _add(
    name: str,
    place: int,
    options: Options,
    ours: Callable[[], bytes],
    theirs: Callable[[], bytes],
) -> None:
    assert data(ours()) == data(theirs())
    own, other = medians(options.rounds, ours, theirs)
    CURVES[name].points.append((place, own * 1_000, other * 1_000))
