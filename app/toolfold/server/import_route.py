"""Importing over HTTP: JSON lines as `toolfold export` writes them, of any number and size."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from toolfold.errors import BadLineError, UnknownIdError
from toolfold.ingest import Counts
from toolfold.ingest.receiving import Receiver, answer
from toolfold.schema.context import Resources
from toolfold.store import project


async def import_lines(request: Request) -> Response:
    """Write what the request's body says into the project of the path, batch by batch.

    The body is read only as fast as it is written. 400 names the line that cannot be imported,
    and says what was written before it; 404 if there is no such project, or no more:
    what was written of it is gone then.
    """
    resources: Resources = request.app.state.resources
    project_id = request.path_params["project"]
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HTTPException(415, "The lines must come as they are, not compressed.")
    async with resources.database.read() as connection:
        if not await project.by_ids(connection, {project_id}, ("id",)):
            raise HTTPException(404, "There is no such project.")

    def written(counts: Counts) -> None:
        """Tell whoever follows the sessions."""
        resources.events.publish(counts.positions(project_id))

    receiver = Receiver(resources.database, project_id, written)
    try:
        async for piece in request.stream():
            await receiver.take(piece)
        await receiver.end()
    except BadLineError as error:
        errors = [{"message": error.message, "extensions": error.extensions}]
        return _respond(400, {"errors": errors, "imported": answer(receiver.tally)})
    except UnknownIdError as error:
        raise HTTPException(404, error.message) from error
    return _respond(200, answer(receiver.tally))


def _respond(status: int, body: dict[str, Any]) -> Response:
    return JSONResponse(body, status, {"cache-control": "no-store"})
