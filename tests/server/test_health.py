"""What tells a supervisor how the server is."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.server.serving import in_process
from toolfold.errors import DatabaseError
from toolfold.server import create_app
from toolfold.settings import Settings
from toolfold.store.engine import Database


@pytest.fixture
async def client(database_settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with in_process(create_app(database_settings)) as client:
        yield client


async def test_a_server_whose_database_answers_is_ready(client: httpx.AsyncClient) -> None:
    alive, ready = await client.get("/healthz"), await client.get("/readyz")
    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert alive.headers["cache-control"] == ready.headers["cache-control"] == "no-store"


async def test_a_server_whose_database_fails_is_alive_and_says_why_it_is_not_ready(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.asynccontextmanager
    async def fail(_: Database, **__: object) -> AsyncIterator[None]:
        raise DatabaseError("The database failed: disk I/O error")
        yield

    monkeypatch.setattr(Database, "read", fail)
    ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json() == {"status": "unready", "reason": "The database failed: disk I/O error"}
    assert (await client.get("/healthz")).status_code == 200


async def test_a_database_that_does_not_answer_in_time_is_not_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.asynccontextmanager
    async def hang(_: Database, **__: object) -> AsyncIterator[None]:
        await asyncio.Event().wait()
        yield

    hurried = Settings(data_dir=settings.data_dir, query_seconds=1)
    async with in_process(create_app(hurried)) as client:
        monkeypatch.setattr(Database, "read", hang)
        ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["reason"] == "The database did not answer within 1 s."


async def test_a_database_that_is_away_is_told_on_the_routes_that_read_it(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.asynccontextmanager
    async def fail(_: Database, **__: object) -> AsyncIterator[None]:
        raise DatabaseError("The database failed: disk I/O error")
        yield

    monkeypatch.setattr(Database, "read", fail)
    response = await client.get("/api/projects/default/sessions/s/messages/1/tool-content")
    assert response.status_code == 503
    assert response.json()["errors"] == [
        {"message": "The database failed: disk I/O error", "extensions": {"code": "DATABASE"}}
    ]


async def test_a_server_does_not_start_over_a_database_that_it_cannot_use(
    settings: Settings,
) -> None:
    settings.data_dir.joinpath("toolfold.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(DatabaseError):
        async with in_process(create_app(settings)):
            pass
