"""What tells a supervisor how the server is: `/healthz` and `/readyz`."""

import asyncio

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toolfold.errors import DatabaseError
from toolfold.schema.context import Resources
from toolfold.store.engine import Database
from toolfold.store.tables import project_table

NOT_STORED = {"cache-control": "no-store"}


async def healthz(_: Request) -> Response:
    """Answer 200 as long as the process serves anything."""
    return JSONResponse({"status": "ok"}, headers=NOT_STORED)


async def readyz(request: Request) -> Response:
    """Answer 200 if the database answers a read, else 503 and why not."""
    resources: Resources = request.app.state.resources
    reason = await _unready(resources.database, resources.settings.query_seconds)
    if reason is None:
        return JSONResponse({"status": "ready"}, headers=NOT_STORED)
    return JSONResponse({"status": "unready", "reason": reason}, 503, NOT_STORED)


async def _unready(database: Database, seconds: float) -> str | None:
    try:
        async with asyncio.timeout(seconds), database.read() as connection:
            await connection.execute(select(project_table.c.id).limit(1))
    except TimeoutError:
        return f"The database did not answer within {seconds} s."
    except DatabaseError as error:
        return error.message
    return None
