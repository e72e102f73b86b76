"""Writing through the server that owns the database, where one runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from toolfold.errors import BadUserInputError, DatabaseError, TranscriptError, UnknownIdError
from toolfold.ingest.sending import Post
from toolfold.settings import Settings
from toolfold.store import project, sqlite
from toolfold.store.engine import Database
from toolfold.store.ownership import Owner, owner_of

if TYPE_CHECKING:
    import httpx

_CREATE_PROJECT = """
mutation CreateProject($name: String!) {
  createProject(input: {name: $name}) { errors { message } }
}
"""
_START_SECONDS = 5.0
_POLL_SECONDS = 0.1


async def running_server(settings: Settings) -> Owner | None:
    """Return the server that owns the database, None if none does; waits for one that starts.

    Raises:
        DatabaseError: if there is one and it cannot be told where.
    """
    if settings.database_url:
        return None
    path = settings.data_dir / sqlite.FILE_NAME
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while True:
        try:
            return owner_of(path)
        except DatabaseError:
            if asyncio.get_running_loop().time() > deadline:
                raise
        await asyncio.sleep(_POLL_SECONDS)


class ServerLink:
    """The way through the server that owns the database, while one does.

    It is looked for until it is found; from then on all goes through it. Whatever is sent raises a
    `DatabaseError` if the server goes away.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Give the link; nothing is connected yet."""
        return self

    async def __aexit__(self, *_exception: object) -> None:
        """Close the connection, if there is one."""
        if self._client is not None:
            await self._client.aclose()

    async def create_project(self, name: str) -> list[str] | None:
        """Have a project made; return why it was not, or None if no server runs."""
        client = await self._connected()
        if client is None:
            return None
        body = {"query": _CREATE_PROJECT, "variables": {"name": name}}
        response = await self._send(client.post("/graphql", json=body))
        if response.status_code != HTTPStatus.OK or not response.json().get("data"):
            raise DatabaseError(self._refused(client, response))
        return [error["message"] for error in response.json()["data"]["createProject"]["errors"]]

    async def post(self, project_id: str) -> Post | None:
        """Return what sends a stream of lines into a project; None if no server runs.

        Sending raises a `TranscriptError` if the server cannot import this, an `UnknownIdError` if
        the project is there no more, a `DatabaseError` if it cannot import anything.
        """
        client = await self._connected()
        return None if client is None else partial(self._post, client, project_id)

    async def _post(
        self, client: "httpx.AsyncClient", project_id: str, lines: AsyncIterator[bytes]
    ) -> Any:
        url = f"/api/projects/{quote(project_id, safe='')}/import"
        response = await self._send(client.post(url, content=lines))
        if response.status_code == HTTPStatus.OK:
            return response.json()
        if response.status_code == HTTPStatus.NOT_FOUND:
            raise UnknownIdError(_reason(response))
        of_this = response.status_code in (HTTPStatus.BAD_REQUEST, 500)
        raise (TranscriptError if of_this else DatabaseError)(self._refused(client, response))

    async def _connected(self) -> "httpx.AsyncClient | None":
        if self._client is None:
            owner = await running_server(self._settings)
            if owner is not None:
                self._client = _client_of(owner)
        return self._client

    async def _send(self, sending: "Awaitable[httpx.Response]") -> "httpx.Response":
        import httpx  # noqa: PLC0415 (loaded by now: see `_client_of`)

        try:
            return await sending
        except httpx.TransportError as error:
            path = self._settings.data_dir / sqlite.FILE_NAME
            raise DatabaseError(
                f"The server of {path}, through which this imports, is gone: the same command goes"
                " on from there."
            ) from error

    def _refused(self, client: "httpx.AsyncClient", response: "httpx.Response") -> str:
        return f"the server at {client.base_url} cannot import this: {_reason(response)}"


async def project_id_for(database: Database, link: ServerLink, name: str) -> str:
    """Return the id of the project of this name, which is made if there is none.

    Raises:
        BadUserInputError: if no project can have this name.
    """
    found = await _existing_id(database, name)
    if found is not None:
        return found
    refusals = await link.create_project(name)
    if refusals is None:
        return await database.write(lambda connection: project.create(connection, name))
    found = await _existing_id(database, name)  # Perhaps another command has just made it.
    if found is None:
        raise BadUserInputError(f"The project cannot be made: {refusals[0]}", argument="project")
    return found


async def _existing_id(database: Database, name: str) -> str | None:
    async with database.read() as connection:
        row = await project.by_name(connection, name, ("id",))
    return None if row is None else str(row.id)


def _client_of(owner: Owner) -> "httpx.AsyncClient":
    import httpx  # noqa: PLC0415 (most imports find no server)

    # A server that is busy answers late; one that is gone is noticed by its connection. Whatever
    # proxy the environment names, it is not for this machine.
    timeout = httpx.Timeout(None, connect=5.0)
    return httpx.AsyncClient(base_url=owner.url, timeout=timeout, trust_env=False)


def _reason(response: "httpx.Response") -> str:
    try:
        return str(response.json()["errors"][0]["message"])
    except (ValueError, LookupError, TypeError):
        return f"it answers with status {response.status_code}."
