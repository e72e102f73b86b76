"""GraphQL over WebSocket: `graphql-transport-ws`, in text frames."""

import json
from collections.abc import Mapping
from typing import Any, cast

import orjson
from graphql import GraphQLError
from strawberry.asgi import ASGIWebSocketAdapter, GraphQL
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.schema import BaseSchema
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import (
    BaseGraphQLTransportWSHandler,
)
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ErrorMessage

from toolfold.errors import DocumentHashError, UntrustedDocumentError
from toolfold.schema.context import Resources
from toolfold.server.graphql_request import UNREAD, parse_mutation, parse_query
from toolfold.server.trusted_documents import TrustedDocuments, names_document

MAX_REASON_BYTES = 123
"""What a close frame has room for (RFC 6455, 5.5); a longer reason would break the socket."""


class SocketAdapter(ASGIWebSocketAdapter):
    """Strawberry's socket, closed with no more words than fit, and whose end is told as such."""

    async def send_json(self, message: Mapping[str, object]) -> None:
        """Send a message.

        Raises:
            WebSocketDisconnected: if the socket is closed, also by uvicorn, which does so when a
                client answers no ping and then tells whoever sends of a mistake.
        """
        try:
            await super().send_json(message)
        except RuntimeError as error:
            if "websocket.close" not in str(error):
                raise
            raise WebSocketDisconnected from error

    async def close(self, code: int, reason: str) -> None:
        """Close the socket; a reason that is too long is cut."""
        await super().close(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))


class SocketHandler(BaseGraphQLTransportWSHandler[Resources, None]):
    """Strawberry's protocol, for clients that may send anything."""

    async def handle_message(self, message: Any) -> None:
        """Handle a message of the protocol's shape; any other closes the socket with 4400.

        Strawberry looks into a message as if its types were right.
        """
        if not _is_well_formed(message):
            await self.handle_invalid_message("The message is not of graphql-transport-ws")
            return
        if message["type"] == "subscribe" and self._may_subscribe(message["id"]):
            trusted = cast("GraphQLSocket", self.view).trusted
            try:
                message["payload"]["query"] = trusted.text(message["payload"]) or ""
            except (DocumentHashError, UntrustedDocumentError) as error:
                told = GraphQLError(error.message, extensions=error.extensions).formatted
                refusal = ErrorMessage(id=message["id"], type="error", payload=[told])
                await self.send_message(refusal)
                return
        await super().handle_message(message)

    def _may_subscribe(self, operation_id: str) -> bool:
        """Say whether Strawberry would not close the socket for a message, whatever it asks."""
        return self.connection_acknowledged and operation_id not in self.operations

    async def handle_task_exception(self, error: Exception) -> None:
        """Log what ended an operation, unless it is that its client has gone."""
        if not isinstance(error, WebSocketDisconnected):
            await super().handle_task_exception(error)

    @staticmethod
    def _get_pre_execution_close_reason(error: GraphQLError) -> None:
        """Say that no error in a document closes the socket.

        Strawberry closes it for a syntax error, and every other operation with it; here each
        operation has its own `error` message.
        """


class GraphQLSocket(GraphQL[Resources, None]):
    """Serves the WebSockets at `/graphql`."""

    graphql_transport_ws_handler_class = SocketHandler
    websocket_adapter_class = SocketAdapter

    def __init__(self, schema: BaseSchema, trusted: TrustedDocuments) -> None:
        self.trusted = trusted
        protocols = (GRAPHQL_TRANSPORT_WS_PROTOCOL,)
        super().__init__(schema, graphql_ide=None, subscription_protocols=protocols)

    async def get_context(self, request: Any, response: Any) -> Resources:  # noqa: ARG002
        """Return what all operations of the socket share; each makes its own state of it."""
        resources: Resources = request.app.state.resources
        return resources

    def decode_json(self, data: str | bytes) -> object:
        """Return the JSON value of a frame."""
        frame = data if isinstance(data, bytes) else data.encode()
        value = parse_query(frame, self.trusted)
        if value is not UNREAD:
            return value
        try:
            return parse_mutation(frame, self.trusted)
        except ValueError as error:
            # What Strawberry closes the socket for, and nothing else.
            raise json.JSONDecodeError(str(error), "", 0) from error

    def encode_json(self, data: object) -> str:
        """Return the text of a frame: of bytes, Strawberry makes a binary one."""
        return orjson.dumps(data).decode()


def _is_well_formed(message: object) -> bool:
    match message:
        case {"type": "subscribe", "id": str(), "payload": dict() as payload}:
            return _is_operation(payload)
        case {"type": "complete", "id": str()}:
            return True
        case {"type": "connection_init" | "ping" | "pong"}:
            return True
    return False


def _is_operation(payload: Mapping[Any, Any]) -> bool:
    has_document = isinstance(payload.get("query"), str) or (
        payload.get("query") is None and names_document(payload)
    )
    return (
        has_document
        and isinstance(payload.get("variables"), dict | None)
        and isinstance(payload.get("operationName"), str | None)
    )
