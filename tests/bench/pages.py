"""Pages of messages beside a hand-written route, both over HTTP: the same JSON, byte for byte."""

import gzip
from collections.abc import Iterator

from tests.bench import commands, stored
from tests.bench.client import data
from tests.bench.figures import Figure, at_most, milliseconds, times
from tests.bench.options import Options
from tests.bench.timing import medians
from toolfold.schema.global_id import encode
from toolfold.store import sqlite

NAME = "pages"
OUTPUT_BYTES = 50 * 1024

LIGHT = """
query Page($id: ID!, $first: Int) {
  session(id: $id) {
    messages(first: $first) {
      pageInfo { hasNextPage }
      nodes {
        id sequence role createdAt contentSize contentPreview
        toolMetadata {
          id toolCallId name title kind status startedAt endedAt contentSize contentPreview
        }
      }
    }
  }
}
"""
"""16 fields of a message with a tool call, none of them heavy."""

SESSION_ID = encode("Session", stored.PROJECT, stored.SESSION)
REST_SESSION = f"/projects/{stored.PROJECT}/sessions/{stored.SESSION}"


PAGES = {stored.MESSAGES: 1.25, 50: 1.6}
"""The sizes of pages, and the most that each may cost beside REST."""


def measure(options: Options) -> Iterator[Figure]:
    """Compare the page of 1,000 and the page of 50, whose contents of 50 KiB are not selected."""
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    with (
        commands.toolfold(settings.data_dir) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        for first, limit in PAGES.items():
            yield compare(options, server, rest, first, limit)
        yield compare(options, server, rest, stored.MESSAGES, None, coding="gzip")


def compare(
    options: Options,
    server: commands.Server,
    rest: commands.Server,
    first: int,
    limit: float | None,
    *,
    coding: str = "identity",
) -> Figure:
    """Compare one page by GraphQL and by REST, which are the same JSON."""
    ours = server.client.running(LIGHT, coding, id=SESSION_ID, first=first)
    theirs = rest.client.getting(f"{REST_SESSION}/messages?first={first}", coding=coding)
    body = decompressed(ours(), coding)
    assert data(body) == data(decompressed(theirs(), coding))
    own, other = medians(options.rounds, ours, theirs)
    how = "" if coding == "identity" else f", {coding}"
    return Figure(
        f"page of {first:,} messages, {len(body) / 1000:,.0f} KB of JSON{how}",
        milliseconds(own),
        f"REST {milliseconds(other)}",
        times(own / other),
        None if limit is None else at_most(own / other, limit, times(limit)),
    )


def decompressed(body: bytes, coding: str) -> bytes:
    """Return an answer's body without its content coding."""
    return gzip.decompress(body) if coding == "gzip" else body
