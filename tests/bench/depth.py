"""Pages near the start of a long session and far into it, over HTTP."""

from collections.abc import Iterator

from tests.bench import commands, stored
from tests.bench.client import Client, data
from tests.bench.figures import Figure, at_most, milliseconds, times
from tests.bench.options import Options
from tests.bench.pages import LIGHT, SESSION_ID
from tests.bench.timing import medians

NAME = "depth"
SHALLOW = 10

_MAX_RATIO = 1.2
_AROUND = """
query Around($id: ID!, $sequence: Int!) {
  session(id: $id) {
    messages(first: 1, aroundSequence: $sequence) { edges { cursor node { sequence } } }
  }
}
"""
LIGHT_AFTER = LIGHT.replace("$first: Int)", "$first: Int, $after: String)").replace(
    "first: $first)", "first: $first, after: $after)"
)
_PAGE = """
query Page($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  session(id: $id) {
    messages(first: $first, after: $after, last: $last, before: $before) {
      pageInfo { hasNextPage hasPreviousPage }
      nodes { id sequence role createdAt contentSize contentPreview }
    }
  }
}
"""


def measure(options: Options) -> Iterator[Figure]:
    """Compare pages of 50 in both directions, and of 1,000."""
    settings = stored.long(options.place, options.depth + stored.MESSAGES + 10)
    with commands.toolfold(settings.data_dir) as server:
        client = server.client
        far = options.depth
        yield _compare(options, client, far, "page of 50", first=50)
        yield _compare(options, client, far, "page of 50 backwards", last=50)
        yield _compare(options, client, far, "page of 1,000", first=1_000)


def _compare(options: Options, client: Client, far: int, name: str, **size: int) -> Figure:
    places = (SHALLOW + size.get("last", 0), far)
    side = "before" if "last" in size else "after"
    calls = [
        client.running(_PAGE, id=SESSION_ID, **size, **{side: cursor(client, place)})
        for place in places
    ]
    for call, place in zip(calls, places, strict=True):
        nodes = data(call())["session"]["messages"]["nodes"]
        first = place + 1 if side == "after" else place - size["last"]
        assert [node["sequence"] for node in nodes] == list(
            range(first, first + sum(size.values()))
        )
    shallow, deep = medians(options.rounds, *calls)
    return Figure(
        f"{name} at depth {far:,}, beside depth {SHALLOW}",
        milliseconds(deep),
        milliseconds(shallow),
        times(deep / shallow),
        at_most(deep / shallow, _MAX_RATIO, times(_MAX_RATIO)),
    )


def cursor(client: Client, sequence: int) -> str:
    """Return the cursor of a message."""
    body = client.running(_AROUND, id=SESSION_ID, sequence=sequence)()
    (edge,) = data(body)["session"]["messages"]["edges"]
    assert edge["node"]["sequence"] == sequence
    found: str = edge["cursor"]
    return found
