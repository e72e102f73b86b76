"""Pages of messages beside a hand-written route, both over HTTP: the same JSON, byte for byte."""

from collections.abc import Iterator

from tests.bench import commands, stored
from tests.bench.client import data
from tests.bench.figures import Figure, later, milliseconds, times
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


def measure(options: Options) -> Iterator[Figure]:
    """Compare the page of 1,000 and the page of 50, whose contents of 50 KiB are not selected."""
    settings = stored.outputs(options.place, OUTPUT_BYTES)
    with (
        commands.toolfold(settings.data_dir) as server,
        commands.rest(settings.data_dir / sqlite.FILE_NAME) as rest,
    ):
        for first in (stored.MESSAGES, 50):
            ours = server.client.running(LIGHT, id=SESSION_ID, first=first)
            theirs = rest.client.getting(f"{REST_SESSION}/messages?first={first}")
            body = ours()
            assert data(body) == data(theirs())
            own, other = medians(options.rounds, ours, theirs)
            yield Figure(
                f"page of {first:,} messages, {len(body) / 1000:,.0f} KB of JSON",
                milliseconds(own),
                f"REST {milliseconds(other)}",
                times(own / other),
                later("≤ 1.25x"),
            )
