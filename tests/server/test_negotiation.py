"""What an Accept header gets, and an Accept-Encoding header."""

import pytest

from tests.server.serving import NEW, OLD
from toolfold.server.negotiation import (
    content_coding,
    prefers_event_stream,
    prefers_page,
    response_media_type,
)


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("", OLD),
        ("*/*", OLD),
        ("application/*", OLD),
        (OLD, OLD),
        (NEW, NEW),
        (f"{NEW}; charset=utf-8", NEW),
        (f"{NEW}, {OLD}", NEW),
        (f"{OLD}, {NEW}", NEW),
        (f"{NEW};q=0.9, {OLD};q=0.8", NEW),
        (f"{NEW};q=0.8, {OLD};q=0.9", OLD),
        (f"{NEW}; Q=0.1 , {OLD}; q=0.001", NEW),
        (f"{OLD}, */*;q=0.1", OLD),
        (f"*/*, {OLD};q=0.5", NEW),
        (f"*/*, {OLD};q=0", NEW),
        (f"*/*, {NEW};q=0", OLD),
        (f"application/*;q=0.2, {OLD};q=0.1, */*;q=0", NEW),
        ("APPLICATION/JSON", OLD),
        (f"{NEW};q=banana, {OLD};q=0.1", OLD),
        ("text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8", OLD),
    ],
)
def test_the_best_of_both_media_types_is_chosen(accept: str, answered: str) -> None:
    assert response_media_type(accept) == answered


@pytest.mark.parametrize(
    "accept",
    ["text/html", "image/*", f"{OLD};q=0", f"{OLD};q=0, {NEW};q=0.0", "*/*;q=0", "application/xml"],
)
def test_a_client_that_accepts_neither_gets_neither(accept: str) -> None:
    assert response_media_type(accept) is None


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        # What urql sends on every query.
        (
            f"{NEW}, application/graphql+json, {OLD}, text/event-stream, multipart/mixed",
            NEW,
        ),
        (f"{OLD}, text/event-stream", OLD),
        ("text/event-stream", NEW),
        ("multipart/mixed;deferSpec=20220824", NEW),
        ('multipart/mixed; boundary="-"; subscriptionSpec=1.0, text/html', NEW),
        (f"text/event-stream, {OLD};q=0.1", OLD),
    ],
)
def test_a_client_that_accepts_a_stream_too_gets_json(accept: str, answered: str) -> None:
    assert response_media_type(accept) == answered


def test_a_stream_that_is_explicitly_refused_counts_for_nothing() -> None:
    assert response_media_type("text/event-stream;q=0, text/html") is None


@pytest.mark.parametrize(
    ("accept", "preferred"),
    [
        # What graphql-sse and `EventSource` send, and urql for a subscription.
        ("text/event-stream", True),
        ("text/event-stream, multipart/mixed", True),
        ("TEXT/EVENT-STREAM", True),
        (f"text/event-stream, {OLD};q=0.9", True),
        ("text/event-stream, */*", True),
        # What urql sends for a query.
        (f"{NEW}, application/graphql+json, {OLD}, text/event-stream, multipart/mixed", False),
        (f"text/event-stream, {OLD}", False),
        (f"text/event-stream;q=0.5, {OLD};q=0.9", False),
        ("text/event-stream;q=0.5, */*", False),
        ("text/event-stream;q=0", False),
        ("text/*", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_events_are_chosen_only_by_who_prefers_them(accept: str, preferred: bool) -> None:  # noqa: FBT001
    assert prefers_event_stream(accept) is preferred


@pytest.mark.parametrize(
    ("accept", "preferred"),
    [
        # What Chromium and Firefox send for a page, and Firefox for one in earlier versions.
        ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", True),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("text/html, */*", True),
        # What curl and fetch send, and programs that take whatever there is.
        ("*/*", False),
        ("", False),
        (f"{OLD}, text/plain, */*", False),
        (f"text/html, {OLD}", False),
        (f"text/html;q=0.9, {NEW}", False),
        ("text/html;q=0", False),
        ("text/*", False),
    ],
)
def test_a_page_is_chosen_only_by_who_prefers_it(accept: str, preferred: bool) -> None:  # noqa: FBT001
    assert prefers_page(accept) is preferred


@pytest.mark.parametrize(
    ("accept_encoding", "coding"),
    [
        ("", None),
        ("gzip", "gzip"),
        # What browsers send.
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip;q=1.0, br;q=0.9, zstd;q=0.8", "gzip"),
        ("br;q=0.5, gzip;q=0.5", "br"),
        ("GZIP", "gzip"),
        ("*", "zstd"),
        ("*;q=0.5, gzip", "gzip"),
        ("zstd;q=0, *", "br"),
        ("gzip;q=0", None),
        ("*;q=0", None),
        ("gzip;q=banana", None),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity, gzip", "gzip"),
        ("identity;q=0.5, gzip;q=0.6", "gzip"),
        ("identity;q=0, *;q=0", None),
        ("deflate, compress", None),
    ],
)
def test_the_best_coding_is_chosen(accept_encoding: str, coding: str | None) -> None:
    assert content_coding(accept_encoding) == coding


def test_a_header_of_any_length_gets_the_same() -> None:
    long = "x-unknown, " * 100
    assert content_coding(f"{long}gzip") == "gzip"
    assert response_media_type(f"{long}{NEW}") == NEW
    assert prefers_event_stream(f"{long}text/event-stream")
    assert prefers_page(f"{long}text/html")
