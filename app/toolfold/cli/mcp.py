"""`toolfold mcp`: sessions for another agent, on standard input and output."""

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

import click
import httpx

from toolfold.cli.opening import opened, owned
from toolfold.cli.options import with_settings
from toolfold.cli.through_server import running_server
from toolfold.documents import Documents
from toolfold.errors import DatabaseError
from toolfold.mcp_server.server import build_server
from toolfold.schema.context import Resources
from toolfold.settings import Settings


@click.command()
@click.option(
    "--allow-writing",
    is_flag=True,
    help="Let the agent give sessions new titles. Also TOOLFOLD_MCP_ALLOW_WRITING.",
)
@with_settings
def mcp(settings: Settings, allow_writing: bool) -> None:  # noqa: FBT001 - click's.
    """Let another agent read sessions, as an MCP server on stdio.

    An MCP client starts this command itself; what to tell it is in docs/mcp.md. No server is
    needed. One that runs has the same tools at /mcp.
    """
    if allow_writing:
        settings = dataclasses.replace(settings, mcp_allow_writing=True)
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    async with opened(settings) as database:
        await build_server(_OwnDocuments(Resources(settings, database))).run_stdio_async()


class _OwnDocuments(Documents):
    """Documents of a process that does not own the database: it writes through a server.

    Where none runs, it owns the database while it writes.
    """

    async def write(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run a mutation, here or in the server.

        Raises:
            DatabaseError: if a server owns the database and does not answer.
        """
        owner = await running_server(self.settings)
        if owner is None:
            with owned(self.settings):
                return await self.response(document, variables)
        body = {"query": document, "variables": dict(variables or {})}
        try:
            async with httpx.AsyncClient(base_url=owner.url, trust_env=False) as client:
                response = await client.post("/graphql", json=body)
                answer: dict[str, Any] = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DatabaseError("The server that owns the database does not answer.") from error
        return answer
