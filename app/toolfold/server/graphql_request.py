"""A GraphQL request as it comes over HTTP: the parameters of a GET, or the JSON of a POST."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, AnyStr

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request

from toolfold import exact_json, stored_json
from toolfold.server.body import read_body
from toolfold.server.trusted_documents import TrustedDocuments

MAX_NESTING = 1_100
"""Levels of a mutation's message: what may be stored has 1,000, and stands a few levels deep."""

_MUTATION = "mutation"
_MUTATION_BYTES = b"mutation"
_ESCAPED_LETTER = rb"\u00"
"""What each letter of a word begins with if JSON has it escaped."""

UNREAD = object()
"""Stands for a message that `parse_mutation` is to read."""


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    """What to execute (GraphQL over HTTP, "Request Parameters"), its document by text."""

    query: str
    operation_name: str | None
    variables: dict[str, Any] | None
    extensions: dict[str, Any] | None


async def read_request(
    request: Request, max_body_bytes: int, trusted: TrustedDocuments
) -> GraphQLRequest:
    """Return what a GET or POST asks for.

    Raises:
        DocumentHashError, UntrustedDocumentError: for a document that is not to be executed.
        HTTPException: 413 for a body that is too large, 415 for one that is not JSON in UTF-8,
            400 for one that cannot be understood.
    """
    if request.method == "POST":
        _require_json(request)
        data = await read_body(request, max_body_bytes)
        return _from_parameters(await _body(data, trusted), trusted)
    parameters: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in parameters:
            parameters[name] = _decoded(parameters[name] or "null", f"`{name}`", parse_json)
    return _from_parameters(parameters, trusted)


def parse_query(data: bytes, trusted: TrustedDocuments) -> Any:
    """Return the JSON value of a message; `UNREAD` if it may be a mutation's.

    Raises:
        json.JSONDecodeError: as `parse_json`.
    """
    if _MUTATION_BYTES in data:
        return UNREAD
    is_plain = not trusted.mutations and _ESCAPED_LETTER not in data
    try:
        value = parse_json(data)
    except ValueError:
        if is_plain:
            raise
        return UNREAD
    return value if is_plain or not _may_change(value, trusted) else UNREAD


def _may_change(message: Any, trusted: TrustedDocuments) -> bool:
    """Say whether a message may ask for a mutation, by the word in its text or by a hash."""
    if not isinstance(message, dict):
        return False
    # Over WebSocket the parameters are in the payload; over HTTP one may stand beside them.
    for parameters in (message, message.get("payload")):
        query = parameters.get("query") if isinstance(parameters, dict) else None
        if (isinstance(query, str) and _MUTATION in query) or trusted.is_mutation(parameters):
            return True
    return False


def parse_json(text: str | bytes) -> Any:
    """Return a JSON value.

    Raises:
        json.JSONDecodeError: for what is no JSON, for a lone surrogate, and for nesting beyond
            1,024 levels.
    """
    return orjson.loads(text)


def parse_mutation(data: bytes, trusted: TrustedDocuments) -> Any:
    """Return the JSON value of a message that may be a mutation's, integers to their last digit.

    What a mutation cannot store, it says itself, and where that is: of lone surrogates only those
    in its `variables` are let through.

    Raises:
        ValueError: for what is no JSON, for a lone surrogate elsewhere, and for nesting beyond
            `MAX_NESTING` levels.
    """
    value = exact_json.parse(data, max_nesting=MAX_NESTING)
    judged = _without_variables(value) if _may_change(value, trusted) else value
    if stored_json.repaired(judged)[1]:
        raise ValueError("a lone surrogate, which is no Unicode")
    return value


def _without_variables(value: Any) -> Any:
    """Return a message without its variables, which over WebSocket are in its payload."""
    if not isinstance(value, dict):
        return value
    return {
        name: _without_variables(item) if name == "payload" else item
        for name, item in value.items()
        if name != "variables"
    }


def _from_parameters(parameters: object, trusted: TrustedDocuments) -> GraphQLRequest:
    if isinstance(parameters, list):
        raise HTTPException(400, "Requests in batches are not served: send them one by one.")
    if not isinstance(parameters, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    _parameter(parameters, "query", str, "text")
    operation_name = _parameter(parameters, "operationName", str, "text")
    variables = _parameter(parameters, "variables", dict, "an object")
    extensions = _parameter(parameters, "extensions", dict, "an object")
    query = trusted.text(parameters)
    if query is None:
        raise HTTPException(400, "The parameter `query` is missing.")
    return GraphQLRequest(query, operation_name, variables, extensions)


def _parameter(parameters: Mapping[str, Any], name: str, kind: type, described: str) -> Any:
    value = parameters.get(name)
    if value is not None and not isinstance(value, kind):
        raise HTTPException(400, f"The parameter `{name}` must be {described} or null.")
    return value


async def _body(data: bytes, trusted: TrustedDocuments) -> Any:
    value = _decoded(data, "The body", partial(parse_query, trusted=trusted))
    if value is not UNREAD:
        return value
    parse = partial(parse_mutation, trusted=trusted)
    return await asyncio.to_thread(_decoded, data, "The body", parse)


def _decoded(text: AnyStr, described: str, parse: Callable[[AnyStr], Any]) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise HTTPException(400, f"{described} must be valid JSON: {error}.") from error


def _require_json(request: Request) -> None:
    media_type, *parameters = request.headers.get("content-type", "").lower().split(";")
    charsets = [text.strip()[8:].strip('"') for text in parameters if "charset=" in text]
    if media_type.strip() != "application/json" or any(
        charset not in ("utf-8", "utf8") for charset in charsets
    ):
        raise HTTPException(415, "The body's Content-Type must be application/json, in UTF-8.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise HTTPException(415, "The body must not be compressed.")
