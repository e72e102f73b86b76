"""GraphQL over HTTP: one operation a request, one JSON response, or a stream of events.

An endpoint of our own rather than Strawberry's view with seven of its methods replaced: all
that is left of the view is `schema.execute`. Strawberry's answers errors in plain text, knows
one media type, sends `data` with request errors, and streams to whoever accepts a stream.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any, TypeVar

import orjson
from graphql import GraphQLError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive
from strawberry.schema import BaseSchema
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionResult
from strawberry.types.graphql import OperationType

from toolfold.documents import is_request_error, response_body
from toolfold.errors import AppError, DocumentHashError, UntrustedDocumentError
from toolfold.schema.context import Resources
from toolfold.server import stopping
from toolfold.server.event_stream import EVENT_STREAM, EventStreamResponse
from toolfold.server.graphql_request import GraphQLRequest, read_request
from toolfold.server.negotiation import (
    GRAPHQL_RESPONSE,
    JSON,
    prefers_event_stream,
    response_media_type,
)
from toolfold.server.problems import STATUSES
from toolfold.server.trusted_documents import TrustedDocuments

T = TypeVar("T")

_UNWATCHED_SECONDS = 0.02

# A GET changes nothing, so that a link or an image on another site's page changes nothing.
_OPERATIONS: Mapping[str, frozenset[OperationType]] = {
    "GET": frozenset({OperationType.QUERY}),
    "HEAD": frozenset({OperationType.QUERY}),
    "POST": frozenset({OperationType.QUERY, OperationType.MUTATION}),
}


class GraphQLEndpoint:
    """Answers GET, HEAD and POST at `/graphql`."""

    def __init__(self, schema: BaseSchema, trusted: TrustedDocuments) -> None:
        self._schema = schema
        self._trusted = trusted

    async def answer(self, request: Request) -> Response:
        """Execute the request's operation for as long as its client waits.

        Raises:
            HTTPException: for a request that holds no operation that could be executed.
        """
        accept = ",".join(request.headers.getlist("accept"))
        if request.method != "HEAD" and prefers_event_stream(accept):
            return await self._answer_events(request)
        media_type = response_media_type(accept)
        if media_type is None:
            raise HTTPException(406, f"Answers are {GRAPHQL_RESPONSE} or {JSON}.")
        resources: Resources = request.app.state.resources
        limit = resources.settings.max_body_bytes
        try:
            asked = await read_request(request, limit, self._trusted)
        except (DocumentHashError, UntrustedDocumentError) as error:
            result = _refused(error)
        else:
            work = self._execute(asked, _OPERATIONS[request.method], resources)
            result = await while_connected(request.receive, work)
        return Response(
            orjson.dumps(response_body(result)),
            _status(result, media_type),
            {"cache-control": "no-store", "vary": "Accept"},
            f"{media_type}; charset=utf-8",
        )

    async def _answer_events(self, request: Request) -> Response:
        """Answer with what the operation, of any kind, comes to event by event.

        What is wrong with the document is told in the stream, as graphql-sse wants it.
        """
        resources: Resources = request.app.state.resources
        limit = resources.settings.max_body_bytes
        try:
            asked = await read_request(request, limit, self._trusted)
        except (DocumentHashError, UntrustedDocumentError) as error:
            refusal = _one(response_body(_refused(error)))
            return EventStreamResponse(refusal, stopping.of(request.app))
        allowed = _OPERATIONS[request.method] | {OperationType.SUBSCRIPTION}
        results = await self._schema.stream(
            asked.query,
            variable_values=asked.variables,
            context_value=resources,
            operation_name=asked.operation_name,
            allowed_operation_types=allowed,
            operation_extensions=asked.extensions,
        )
        return EventStreamResponse(_bodies(results), stopping.of(request.app))

    async def _execute(
        self,
        asked: GraphQLRequest,
        operation_types: frozenset[OperationType],
        resources: Resources,
    ) -> ExecutionResult:
        try:
            return await self._schema.execute(
                asked.query,
                variable_values=asked.variables,
                context_value=resources,
                operation_name=asked.operation_name,
                allowed_operation_types=operation_types,
                operation_extensions=asked.extensions,
            )
        except InvalidOperationTypeError as error:
            if error.operation_type is OperationType.SUBSCRIPTION:
                message = (
                    "Subscriptions are served over WebSocket, by graphql-transport-ws, and as"
                    f" server-sent events to clients that prefer {EVENT_STREAM}."
                )
                raise HTTPException(400, message) from error
            message = "A mutation must be sent by POST."
            raise HTTPException(405, message, {"allow": "POST"}) from error
        except CannotGetOperationTypeError as error:
            extensions = {"code": "GRAPHQL_VALIDATION_FAILED"}
            reason = GraphQLError(error.as_http_error_reason(), extensions=extensions)
            return ExecutionResult(data=None, errors=[reason])


def _refused(error: AppError) -> ExecutionResult:
    """Return the result of an operation whose document is not to be executed."""
    return ExecutionResult(
        data=None, errors=[GraphQLError(error.message, extensions=error.extensions)]
    )


async def _one(body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
    yield body


async def _bodies(results: AsyncGenerator[Any, None]) -> AsyncGenerator[dict[str, Any], None]:
    async with contextlib.aclosing(results):
        async for result in results:
            yield response_body(result)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, which is cancelled when the client goes away.

    Nobody looks for that in the first moment, in which most work is done.

    Raises:
        ClientDisconnect: if it does.
    """
    watch = _Watch(receive)
    try:
        return await work
    except asyncio.CancelledError:
        if watch.has_left():
            raise ClientDisconnect from None
        raise
    finally:
        await watch.end()


class _Watch:
    """Cancels the task that makes it when the client has gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._task = asyncio.current_task()
        self._watching: asyncio.Future[None] | None = None
        self._left = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_UNWATCHED_SECONDS, self._begin)

    def _begin(self) -> None:
        self._watching = asyncio.ensure_future(_disconnected(self._receive))
        self._watching.add_done_callback(self._leave)

    def _leave(self, watching: asyncio.Future[None]) -> None:
        if self._task is not None and not watching.cancelled():
            self._left = True
            self._task.cancel()

    def has_left(self) -> bool:
        """Say whether nobody but this has cancelled the task, which then goes on."""
        return self._left and self._task is not None and self._task.uncancel() == 0

    async def end(self) -> None:
        """Watch no longer; who leaves now cancels nothing."""
        self._timer.cancel()
        self._task = None
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _status(result: ExecutionResult, media_type: str) -> int:
    if not is_request_error(result):
        return 200
    code = ((result.errors or [])[0].extensions or {}).get("code", "")
    if code == AppError.code or code in STATUSES:
        return STATUSES.get(code, 500)
    # Clients of the older media type take any other status for a broken connection.
    return 400 if media_type == GRAPHQL_RESPONSE else 200
