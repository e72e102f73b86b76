"""`toolfold list`: the sessions that are stored, the latest first."""

import asyncio
from collections.abc import Mapping
from typing import Any

import click
from rich.table import Table

from toolfold.cli.naming import project_id_of
from toolfold.cli.opening import opened
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.terminal import console, count, one_line, say, size, warn
from toolfold.documents import Documents
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode, session_key
from toolfold.settings import Settings

_SESSIONS = """
  sessions(first: $first, after: $after, filter: {includeChildren: $children}) {
    nodes {
      id project { id name } agent title updatedAt messageCount toolCallCount contentSize
    }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
"""
_OF_ALL = f"query ($first: Int, $after: String, $children: Boolean) {{{_SESSIONS}}}"
_OF_PROJECT = f"""query ($project: ID!, $first: Int, $after: String, $children: Boolean) {{
  project(id: $project) {{{_SESSIONS}}}
}}"""


@click.command("list")
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="At most so many, those that changed last.",
)
@click.option("--children", is_flag=True, help="Show the sessions of sub-agents too.")
@with_settings
def list_sessions(settings: Settings, project: str | None, limit: int, *, children: bool) -> None:
    """List sessions, those that changed last first.

    On a terminal this is a table. Elsewhere each session is one line of these fields with a tab
    between them: id, project, agent, time of the last change, messages, tool calls, bytes of
    tool content, title.
    """
    sessions, total = asyncio.run(_sessions(settings, project, limit, children=children))
    if not sessions:
        hint = command_with(settings, "import ~/.claude/projects")
        warn(f"No sessions are stored yet. To import some: {hint}")
    elif (drawn_on := console()) is not None:
        drawn_on.print(_table(sessions))
        if total > len(sessions):
            say(f"{count(total - len(sessions), 'more session')}: --limit {total} lists all.")
    else:
        for session in sessions:
            say("\t".join(_fields(session)))


async def _sessions(
    settings: Settings, project: str | None, limit: int, *, children: bool
) -> tuple[list[Any], int]:
    """Return up to `limit` sessions, and how many there are."""
    async with opened(settings) as database:
        documents = Documents(Resources(settings, database))
        variables: dict[str, Any] = {"children": children}
        if project is not None:
            variables["project"] = encode("Project", await project_id_of(database, project))
        found: list[Any] = []
        while True:
            first = min(limit - len(found), settings.max_page_size)
            page = await _page(documents, variables | {"first": first})
            found += page["nodes"]
            if len(found) >= limit or not page["pageInfo"]["hasNextPage"]:
                return found, page["totalCount"]
            variables["after"] = page["pageInfo"]["endCursor"]


async def _page(documents: Documents, variables: Mapping[str, Any]) -> Any:
    if "project" in variables:
        return (await documents.data(_OF_PROJECT, variables))["project"]["sessions"]
    return (await documents.data(_OF_ALL, variables))["sessions"]


def _fields(session: Any) -> list[str]:
    """Return what a line says of a session; sizes in bytes."""
    return [
        short_id(session["id"]),
        one_line(session["project"]["name"]),
        one_line(session["agent"]),
        session["updatedAt"],
        str(session["messageCount"]),
        str(session["toolCallCount"]),
        str(session["contentSize"]),
        one_line(session["title"], 200),
    ]


def _table(sessions: list[Any]) -> Table:
    """Return what fits a terminal of 80 columns; projects only if there is more than one."""
    table = Table(box=None, pad_edge=False)
    for name in ("Session", "Updated", "Agent"):
        table.add_column(name, no_wrap=True)
    for name in ("Messages", "Content"):
        table.add_column(name, justify="right", no_wrap=True)
    several = len({session["project"]["id"] for session in sessions}) > 1
    if several:
        table.add_column("Project", no_wrap=True)
    table.add_column("Title", no_wrap=True, overflow="ellipsis", ratio=1)
    for session in sessions:
        short, project, agent, updated, messages, _, content, title = _fields(session)
        cells = [short[:8], f"{updated[:10]} {updated[11:16]}", agent, messages, size(int(content))]
        table.add_row(*cells, *([project] if several else []), title)
    return table


def short_id(global_id: str) -> str:
    """Return the session's own id in a global id: what a person types."""
    key = session_key(global_id)
    return global_id if key is None else key[1]
