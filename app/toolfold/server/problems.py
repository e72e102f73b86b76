"""Answers to requests that fail: JSON with a stable code, whoever notices the failure.

A body has the shape of a GraphQL response, on every route: `{"errors": [{"message": text,
"extensions": {"code": text}}]}`.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolfold.errors import AppError, DatabaseError, DeadlineError, DiskFullError
from toolfold.schema.masking import MASKED_MESSAGE, log_unexpected
from toolfold.server import stopping

CODES: Mapping[int, str] = {
    400: "BAD_REQUEST",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "NOT_ACCEPTABLE",
    412: "PRECONDITION_FAILED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    416: "RANGE_NOT_SATISFIABLE",
}
"""The code under which each HTTP status is told when the request, not the server, is at fault."""

STATUSES: Mapping[str, int] = {
    DatabaseError.code: 503,
    DeadlineError.code: 504,
    DiskFullError.code: 507,
}
"""The HTTP status of an error of ours that leaves nothing to answer with; any other is 500."""

_STOPPED = DeadlineError("The server is being stopped, and waited no longer for this.")


def problem(
    status: int,
    extensions: Mapping[str, Any],
    message: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer to a request that failed as a whole."""
    errors = [{"message": message, "extensions": extensions}]
    all_headers = {"cache-control": "no-store", **(headers or {})}
    return JSONResponse({"errors": errors}, status, all_headers)


async def answer_http_exception(_: Request, error: Any) -> Response:
    """Answer what a route, or the router itself, raised as an `HTTPException`."""
    extensions = {"code": CODES[error.status_code]}
    return problem(error.status_code, extensions, error.detail, error.headers)


async def answer_not_found(_: Request, error: Any) -> Response:
    """Answer a `NotFoundError` outside of GraphQL: what was asked for was deleted meanwhile."""
    return problem(404, error.extensions, error.message)


async def answer_app_error(_: Request, error: Any) -> Response:
    """Answer an `AppError` outside of GraphQL: the database is away, bytes are corrupt."""
    return _app_problem(error)


def _app_problem(error: AppError) -> Response:
    return problem(STATUSES.get(error.code, 500), error.extensions, error.message)


class FailureMiddleware:
    """Masks what no one expected and logs it once, under the request id that the client sees."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 500 if nothing is sent yet, else leave the answer without its end.

        A server cuts the connection then, so that no client takes the part for the whole. What a
        server that is to stop waits for no longer is no failure, and ends the same way.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            if not stopping.has_begun(scope):
                raise
            if not started:
                await _app_problem(_STOPPED)(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - The process's edge.
            request_id = log_unexpected("A request failed", error)
            if not started:
                extensions = {"code": AppError.code, "requestId": request_id}
                await problem(500, extensions, MASKED_MESSAGE)(scope, receive, send)
