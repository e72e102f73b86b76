"""The page on PostgreSQL: beside a hand-written route over asyncpg, and beside PostGraphile 5."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests import postgresql
from tests.bench import commands, stored
from tests.bench.client import data
from tests.bench.figures import Figure, milliseconds, times
from tests.bench.options import Options
from tests.bench.pages import LIGHT, OUTPUT_BYTES, PAGES, SESSION_ID, compare
from tests.bench.timing import medians

NAME = "postgresql"

_MAX_RATIO = 1.5
_NODE_VERSION = 22
_SOURCES = Path(__file__).parent / "postgraphile"
_BUILT = Path("build/postgraphile")
_NODE = _BUILT / "node_modules/.bin/node"
_PAGE = """
query Page($project: String!, $session: String!, $first: Int!) {
  allMessages(
    condition: {projectId: $project, sessionId: $session}
    orderBy: SEQUENCE_ASC
    first: $first
  ) {
    pageInfo { hasNextPage }
    nodes {
      id sequence role createdAt contentSize contentPreview content
      toolCallId toolName toolTitle toolKind toolStatus toolStartedAt toolEndedAt
      toolContentSize toolContentPreview
    }
  }
}
"""


def measure(options: Options) -> Iterator[Figure]:
    """Compare the same pages as on SQLite."""
    problem = postgresql.problem()
    if problem is not None:
        yield Figure("on PostgreSQL", "left out", f"no server: {problem}")
        return
    with postgresql.new_database() as url:
        stored.outputs_on_postgresql(url, OUTPUT_BYTES)
        with (
            commands.toolfold(url) as server,
            commands.rest(url) as rest,
        ):
            for first in PAGES:
                limit = _MAX_RATIO if first == stored.MESSAGES else None
                yield compare(options, server, rest, first, limit)
            yield from _beside_postgraphile(options, server, url)


def _beside_postgraphile(options: Options, server: commands.Server, url: str) -> Iterator[Figure]:
    name = f"page of {stored.MESSAGES:,} messages beside PostGraphile"
    missing = _install()
    if missing is not None:
        yield Figure(name, "left out", missing)
        return
    command = [str(_NODE), str(_BUILT / "server.mjs"), url]
    with commands.serving(command, {"GRAPHILE_ENV": "production"}) as other:
        key = {"project": stored.PROJECT, "session": stored.SESSION, "first": stored.MESSAGES}
        ours = server.client.running(LIGHT, id=SESSION_ID, first=stored.MESSAGES)
        theirs = other.client.running(_PAGE, **key)
        own_nodes = data(ours())["session"]["messages"]["nodes"]
        their_nodes = data(theirs())["allMessages"]["nodes"]
        for one, two in zip(own_nodes, their_nodes, strict=True):
            assert (one["sequence"], one["createdAt"]) == (two["sequence"], two["createdAt"])
        own, beside = medians(options.rounds, ours, theirs)
    yield Figure(
        f"{name} {_version()}",
        milliseconds(own),
        f"PostGraphile {milliseconds(beside)}",
        times(own / beside),
    )


def _install() -> str | None:
    """Install PostGraphile and its Node where they are built; return why they cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not on the path"
    _BUILT.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "server.mjs"):
        shutil.copy(_SOURCES / name, _BUILT)
    command = [npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    if not _NODE.exists():
        done = subprocess.run(command, cwd=_BUILT, capture_output=True, check=False)  # noqa: S603
        if done.returncode:
            return f"npm ci ended with {done.returncode}"
    with contextlib.suppress(OSError):
        done = subprocess.run([_NODE, "--version"], capture_output=True, check=False)  # noqa: S603
        if done.returncode == 0 and int(done.stdout[1:].split(b".")[0]) >= _NODE_VERSION:
            return None
    return f"there is no Node {_NODE_VERSION} for this machine"


def _version() -> str:
    text = (_SOURCES / "package.json").read_text(encoding="utf-8")
    return text.partition('"postgraphile": "')[2].partition('"')[0]
