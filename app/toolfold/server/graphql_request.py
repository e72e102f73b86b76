"""A GraphQL request as it comes over HTTP: the parameters of a GET, or the JSON of a POST."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request

from toolfold import exact_json, stored_json
from toolfold.server.body import read_body

MAX_NESTING = 1_100
"""Levels of a mutation's message: what may be stored has 1,000, and stands a few levels deep."""


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    """What to execute (GraphQL over HTTP, "Request Parameters")."""

    query: str
    operation_name: str | None
    variables: dict[str, Any] | None
    extensions: dict[str, Any] | None


async def read_request(request: Request, max_body_bytes: int) -> GraphQLRequest:
    """Return what a GET or POST asks for.

    Raises:
        HTTPException: 413 for a body that is too large, 415 for one that is not JSON in UTF-8,
            400 for one that cannot be understood.
    """
    if request.method == "POST":
        _require_json(request)
        return _from_parameters(await _body(await read_body(request, max_body_bytes)))
    parameters: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in parameters:
            parameters[name] = _decoded(parameters[name] or "null", f"`{name}`")
    return _from_parameters(parameters)


def parse_json(text: str | bytes) -> Any:
    """Return a JSON value.

    Raises:
        json.JSONDecodeError: for what is no JSON, for a lone surrogate, and for nesting beyond
            1,024 levels.
    """
    return orjson.loads(text)


def parse_mutation(text: str | bytes) -> Any:
    """Return the JSON value of a message that may be a mutation's, read to its last digit.

    What a mutation cannot store, it says itself, and where that is: of lone surrogates only those
    in `variables` are let through.

    Raises:
        ValueError: for what is no JSON, for a lone surrogate elsewhere, and for nesting beyond
            `MAX_NESTING` levels.
    """
    data = text.encode() if isinstance(text, str) else text
    value = exact_json.parse(data, max_nesting=MAX_NESTING)
    if stored_json.repaired(_without_variables(value))[1]:
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


def _from_parameters(parameters: object) -> GraphQLRequest:
    if isinstance(parameters, list):
        raise HTTPException(400, "Requests in batches are not served: send them one by one.")
    if not isinstance(parameters, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    query = _parameter(parameters, "query", str, "text")
    if not query:
        raise HTTPException(400, "The parameter `query` is missing.")
    return GraphQLRequest(
        query,
        _parameter(parameters, "operationName", str, "text"),
        _parameter(parameters, "variables", dict, "an object"),
        _parameter(parameters, "extensions", dict, "an object"),
    )


def _parameter(parameters: Mapping[str, Any], name: str, kind: type, described: str) -> Any:
    value = parameters.get(name)
    if value is not None and not isinstance(value, kind):
        raise HTTPException(400, f"The parameter `{name}` must be {described} or null.")
    return value


async def _body(data: bytes) -> Any:
    if b"mutation" not in data:
        return _decoded(data, "The body")
    return await asyncio.to_thread(_decoded, data, "The body", parse_mutation)


def _decoded(
    text: str | bytes, described: str, parse: Callable[[str | bytes], Any] = parse_json
) -> Any:
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
