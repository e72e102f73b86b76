"""What clients see of errors: our own and those about their document; never what no one expected.

The one place that every error of every transport passes, on its way out and once.
"""

import logging
import uuid

from graphql import GraphQLError, GraphQLSyntaxError
from strawberry.exceptions import MissingQueryError
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionContext

from toolfold.errors import AppError, DocumentLimitError
from toolfold.schema.hooks import HookedSchema
from toolfold.stored_json import repaired_text

logger = logging.getLogger(__name__)

MASKED_MESSAGE = "Internal error."

_TOLD_TO_CLIENTS = (
    AppError,
    MissingQueryError,
    CannotGetOperationTypeError,
    InvalidOperationTypeError,
)


class MaskedSchema(HookedSchema):
    """A schema whose results carry no error that its client should not see, each with a code."""

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Replace what no one expected, in place, and log it once.

        Strawberry calls this with the very list that a result goes out with: also for what an
        extension's hook raises, where an extension that masks would no longer be asked. Its own
        version logs every error, a mistyped field too.
        """
        is_executed = execution_context is not None and execution_context.result is not None
        self.mask(errors, is_executed=is_executed)

    def mask(self, errors: list[GraphQLError], *, is_executed: bool) -> None:
        """Do so; the operation `is_executed` if its errors are not about its document."""
        unexpected = [error for error in errors if not _is_expected(error)]
        request_id = ""
        if unexpected:
            cause = unexpected[0].original_error or unexpected[0]
            request_id = log_unexpected("An operation failed", cause, count=len(unexpected))
        errors[:] = [
            _coded(error, is_executed=is_executed)
            if _is_expected(error)
            else _masked(error, request_id)
            for error in errors
        ]


def log_unexpected(event: str, error: BaseException, **fields: object) -> str:
    """Log an error that no one expected; return the request id under which the log has it."""
    request_id = uuid.uuid4().hex
    logger.error(
        "%s: request %s",
        event,
        request_id,
        exc_info=error,
        extra={"request_id": request_id, **fields},
    )
    return request_id


def _is_expected(error: GraphQLError) -> bool:
    cause = error.original_error
    if cause is None or isinstance(cause, _TOLD_TO_CLIENTS):
        return True
    if error.path is None:
        # A place in the document alone: a literal or a variable that a scalar refused.
        return bool(error.nodes)
    # graphql-core's word on an argument has a place of its own; on a value that it cannot serve
    # it has none, and that is a fault of ours.
    return isinstance(cause, GraphQLError) and bool(cause.nodes)


def _masked(error: GraphQLError, request_id: str) -> GraphQLError:
    return GraphQLError(
        MASKED_MESSAGE,
        nodes=error.nodes,
        path=error.path,
        extensions={"code": AppError.code, "requestId": request_id},
    )


def _coded(error: GraphQLError, *, is_executed: bool) -> GraphQLError:
    # A client's own words may be in it.
    error.message = repaired_text(error.message)[0]
    error.extensions = {"code": _code(error, is_executed=is_executed), **(error.extensions or {})}
    return error


def _code(error: GraphQLError, *, is_executed: bool) -> str:
    if isinstance(error, GraphQLSyntaxError):
        # The parser tells its own limits, of tokens and of nesting, as errors of syntax.
        is_limit = error.message.endswith("Parsing aborted.")
        return DocumentLimitError.code if is_limit else "GRAPHQL_PARSE_FAILED"
    if error.path or is_executed:
        return "BAD_USER_INPUT"
    return "GRAPHQL_VALIDATION_FAILED"
