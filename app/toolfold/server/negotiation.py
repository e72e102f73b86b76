"""What the client accepts: one of two media types of JSON, events or a page; and a content coding.

GraphQL over HTTP, "Media Types"; RFC 9110, 12.5.1 and 12.5.3.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import TypeVar

GRAPHQL_RESPONSE = "application/graphql-response+json"
JSON = "application/json"

CODINGS = ("zstd", "br", "gzip")
"""The content codings that there are; the first is taken of those that a client likes as well."""

T = TypeVar("T")

_STREAMS = ("text/event-stream", "multipart/mixed")
_REMEMBERED_CHARACTERS = 512
_QVALUE = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def _remembered(choose: Callable[[str], T]) -> Callable[[str], T]:
    """Choose once for each header of a usual length: there are as many as kinds of clients."""
    cached = lru_cache(maxsize=128)(choose)

    @wraps(choose)
    def chosen(header: str) -> T:
        return (cached if len(header) <= _REMEMBERED_CHARACTERS else choose)(header)

    return chosen


@_remembered
def response_media_type(accept: str) -> str | None:
    """Return the media type that an Accept header asks for, or None if it accepts neither.

    The one with the higher quality; between equals the one that is named over the one that a
    wildcard covers, then the newer if both are named and JSON if neither is. A client that says
    nothing gets JSON. One that accepts a stream (urql says so on every query) gets JSON too,
    since nothing here is streamed.
    """
    if not accept.strip():
        return JSON
    qualities = _qualities(accept)
    candidates = [
        (quality, named, (media_type == GRAPHQL_RESPONSE) is named, media_type)
        for media_type in (JSON, GRAPHQL_RESPONSE)
        for quality, named in [_quality_of(media_type, qualities)]
        if quality > 0
    ]
    if candidates:
        return max(candidates)[-1]
    return GRAPHQL_RESPONSE if any(qualities.get(name, 0) > 0 for name in _STREAMS) else None


@_remembered
def prefers_event_stream(accept: str) -> bool:
    """Say whether an Accept header names server-sent events before any JSON.

    By a higher quality, or as all that it names: to accept them beside JSON is not to prefer them.
    """
    return _prefers("text/event-stream", accept)


@_remembered
def prefers_page(accept: str) -> bool:
    """Say whether an Accept header names HTML before any JSON, as browsers do for a page."""
    return _prefers("text/html", accept)


@_remembered
def content_coding(accept_encoding: str) -> str | None:
    """Return the coding of `CODINGS` that an Accept-Encoding header asks for, as below."""
    return coding_among(accept_encoding, CODINGS)


def coding_among(accept_encoding: str, offered: Sequence[str]) -> str | None:
    """Return the coding that an Accept-Encoding header asks for; None for the bytes as they are.

    The one with the highest quality, the first offered between equals. Nothing is coded for a
    client that says nothing, or that names `identity` with a higher quality than any coding.
    """
    qualities = _qualities(accept_encoding)
    rest = qualities.get("*", 0.0)
    best = max(offered, key=lambda coding: qualities.get(coding, rest))
    quality = qualities.get(best, rest)
    return best if quality > 0 and quality >= qualities.get("identity", 0.0) else None


def _prefers(wanted: str, accept: str) -> bool:
    qualities = _qualities(accept)
    quality = qualities.get(wanted, 0.0)
    return quality > 0 and all(
        (quality, True) > _quality_of(media_type, qualities)
        for media_type in (JSON, GRAPHQL_RESPONSE)
    )


def _qualities(accept: str) -> dict[str, float]:
    qualities: dict[str, float] = {}
    for element in accept.split(","):
        media_range, *parameters = [part.strip().lower() for part in element.split(";")]
        weights = [text[2:] for text in parameters if text.startswith("q=")]
        quality = 1.0
        if weights:
            # A weight that is none says nothing that could be followed: as if it were not there.
            quality = float(weights[0]) if _QVALUE.fullmatch(weights[0]) else 0.0
        qualities[media_range] = max(quality, qualities.get(media_range, 0.0))
    return qualities


def _quality_of(media_type: str, qualities: dict[str, float]) -> tuple[float, bool]:
    """Return the quality by the most specific range that covers the type, and if it names it."""
    for media_range in (media_type, "application/*", "*/*"):
        if media_range in qualities:
            return qualities[media_range], media_range == media_type
    return 0.0, False
