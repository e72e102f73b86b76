"""A content of 100 MiB over HTTP: what the server holds of it, and when its first byte comes."""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench import commands, memory, stored
from tests.bench.client import Client
from tests.bench.figures import Figure, at_most, mebibytes, milliseconds
from tests.bench.options import Options
from tests.bench.pages import REST_SESSION
from toolfold.settings import Settings

NAME = "streaming"
SIZE = 100 * 2**20
PATH = f"/api{REST_SESSION}/messages/1/tool-content"

_ROUNDS = 5
_MAX_ADDED = 16 * 2**20
_MAX_FIRST_BYTE = 0.05
_PIECE = 2**20
_FIRST = {"range": "bytes=0-0"}
_MIDDLE = {"range": f"bytes={SIZE // 2}-{SIZE // 2 + _PIECE - 1}"}


@dataclass(frozen=True, slots=True)
class _Streamed:
    """Bytes of the body, seconds to its first and its last byte, and memory beyond the start's."""

    size: int
    first_byte: float
    seconds: float
    added: int


def measure(options: Options) -> Iterator[Figure]:
    """Stream all of it and a range of 1 MiB, each from a server of its own."""
    settings = stored.single(options.place, SIZE)
    whole = _streamed_anew(settings, {})
    part = _streamed_anew(settings, _MIDDLE)
    assert whole.size == SIZE + len('{"content":}')
    assert part.size == _PIECE
    for name, streamed in (("100 MiB whole", whole), ("1 MiB from its middle", part)):
        yield Figure(
            f"{name}, by the tool-content route: memory added",
            mebibytes(streamed.added),
            bound=at_most(streamed.added, _MAX_ADDED, mebibytes(_MAX_ADDED)),
        )
        yield Figure(
            f"{name}: first byte",
            milliseconds(streamed.first_byte),
            f"all in {milliseconds(streamed.seconds)}",
            f"{streamed.size / streamed.seconds / 1e6:,.0f} MB/s",
            at_most(streamed.first_byte, _MAX_FIRST_BYTE, milliseconds(_MAX_FIRST_BYTE)),
        )


def _streamed_anew(settings: Settings, headers: dict[str, str]) -> _Streamed:
    """Stream some rounds from a new server: the most memory, and the medians of the times."""
    with commands.toolfold(settings.data_dir) as server:
        server.client.open(PATH, _FIRST).read()  # What is made when a route is first used.
        memory.forget_peak(server.pid)
        before = memory.resident_bytes(server.pid)
        rounds = [_round(server.client, headers) for _ in range(_ROUNDS)]
        added = memory.peak_bytes(server.pid) - before
    sizes, first_bytes, seconds = zip(*rounds, strict=True)
    return _Streamed(sizes[0], statistics.median(first_bytes), statistics.median(seconds), added)


def _round(client: Client, headers: dict[str, str]) -> tuple[int, float, float]:
    start = time.perf_counter()
    response = client.open(PATH, headers)
    size = len(response.read(1))
    first_byte = time.perf_counter() - start
    while piece := response.read(_PIECE):
        size += len(piece)
    return size, first_byte, time.perf_counter() - start
