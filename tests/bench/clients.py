"""Thirty-two clients at once: answers a second, and how long the slowest hundredth takes."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench import commands, stored
from tests.bench.client import JSON_HEADERS, graphql_body
from tests.bench.figures import Figure, at_least, at_most, milliseconds, times
from tests.bench.options import Options
from tests.bench.pages import LIGHT, OUTPUT_BYTES, REST_SESSION, SESSION_ID
from toolfold.store import sqlite

NAME = "clients"
CLIENTS = 32
SIZE = 50

_MIN_RATE = 0.8
_MAX_P99 = 2.0


@dataclass(frozen=True, slots=True)
class _Load:
    """What a server did in one stretch: answers a second, and the 99th percentile in seconds."""

    rate: float
    p99: float


def measure(options: Options) -> Iterator[Figure]:
    """Ask both servers for pages of 50, in turn, in stretches of a second or two."""
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    with (
        commands.toolfold(settings.data_dir) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        body = graphql_body(LIGHT, id=SESSION_ID, first=SIZE)
        ours = _request(server, "POST", "/graphql", body)
        theirs = _request(rest, "GET", f"{REST_SESSION}/messages?first={SIZE}", b"")
        loads: tuple[list[_Load], list[_Load]] = ([], [])
        for number in range(options.stretches + 1):
            for one, request, taken in zip((server, rest), (ours, theirs), loads, strict=True):
                load = asyncio.run(_load(one, request, options.stretch_seconds))
                if number:  # The first one warms up.
                    taken.append(load)
    own, other = (_median(taken) for taken in loads)
    ratio = own.rate / other.rate
    name = f"{CLIENTS} clients, pages of {SIZE}"
    yield Figure(
        f"{name}: answers a second",
        f"{own.rate:,.0f}",
        f"REST {other.rate:,.0f}",
        times(ratio),
        at_least(ratio, _MIN_RATE, times(_MIN_RATE)),
    )
    yield Figure(
        f"{name}: 99th percentile",
        milliseconds(own.p99),
        f"REST {milliseconds(other.p99)}",
        times(own.p99 / other.p99),
        at_most(own.p99 / other.p99, _MAX_P99, times(_MAX_P99)),
    )


def _median(loads: list[_Load]) -> _Load:
    return _Load(
        statistics.median(load.rate for load in loads),
        statistics.median(load.p99 for load in loads),
    )


def _request(server: commands.Server, method: str, path: str, body: bytes) -> bytes:
    headers = {"host": f"{server.host}:{server.port}", "content-length": len(body)}
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in {**headers, **JSON_HEADERS}.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def _load(server: commands.Server, request: bytes, seconds: float) -> _Load:
    """Let every client ask again as soon as it is answered, for so long."""
    taken: list[float] = []
    start = time.perf_counter()

    async def client() -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        while (asked := time.perf_counter()) < start + seconds:
            writer.write(request)
            await _answer(reader)
            taken.append(time.perf_counter() - asked)
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    rate = len(taken) / (time.perf_counter() - start)
    return _Load(rate, statistics.quantiles(taken, n=100)[-1])


async def _answer(reader: asyncio.StreamReader) -> None:
    """Read an answer of a known length, and no more of it than a client must."""
    head = await reader.readuntil(b"\r\n\r\n")
    status, *lines = head.lower().split(b"\r\n")
    if b" 200 " not in status:
        raise RuntimeError(f"The answer is {status.decode()}.")
    length = next(line for line in lines if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))
