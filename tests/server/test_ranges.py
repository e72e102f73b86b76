"""RFC 9110, sections 13 (conditional requests) and 14 (range requests)."""

import pytest
from starlette.datastructures import Headers

from toolfold.server.ranges import (
    ByteRange,
    UnsatisfiableRangeError,
    is_not_modified,
    is_precondition_failed,
    requested_range,
)

ETAG = '"sha256:ab"'


def asked(value: str, size: int = 100, **more: str) -> ByteRange | None:
    headers = {"range": value, **{name.replace("_", "-"): text for name, text in more.items()}}
    return requested_range(Headers(headers), size, ETAG)


@pytest.mark.parametrize(
    ("value", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=10-19", 10, 20),
        ("bytes=99-", 99, 100),
        ("bytes=0-", 0, 100),
        ("bytes=90-1000", 90, 100),
        ("bytes=5-99999999999999999999999999999999", 5, 100),
        ("bytes=-1", 99, 100),
        ("bytes=-100", 0, 100),
        ("bytes=-1000", 0, 100),
        ("bytes=-99999999999999999999999999999999", 0, 100),
        ("BYTES=10-19", 10, 20),
        ("bytes= 10-19 ", 10, 20),
        ("bytes=,10-19,", 10, 20),
        ("bytes=007-09", 7, 10),
    ],
)
def test_one_range_is_given_as_far_as_there_are_bytes(value: str, start: int, stop: int) -> None:
    assert asked(value) == ByteRange(start, stop)


@pytest.mark.parametrize(
    "value",
    [
        "bytes=0-1,3-4",
        "bytes=0-1, -1",
        "bytes=20-10",
        "bytes=-",
        "bytes=",
        "bytes",
        "bytes=a-b",
        "bytes=1-2-3",
        "bytes=--1",
        "bytes=+1-2",
        "bytes=1 -2",
        "bytes 0-1",
        "items=0-1",
        "bytes=0x1-2",
        "bytes=²-3",
        "",
    ],
)
def test_several_ranges_and_what_is_no_range_of_bytes_get_the_whole(value: str) -> None:
    assert asked(value) is None


def test_without_a_range_and_with_two_range_headers_the_whole_is_given() -> None:
    assert requested_range(Headers({}), 100, ETAG) is None
    twice = Headers(raw=[(b"range", b"bytes=0-1"), (b"range", b"bytes=3-4")])
    assert requested_range(twice, 100, ETAG) is None


@pytest.mark.parametrize(
    "value",
    ["bytes=100-", "bytes=100-200", "bytes=99999999999999999999999999999999-", "bytes=-0"],
)
def test_a_range_without_bytes_cannot_be_satisfied(value: str) -> None:
    with pytest.raises(UnsatisfiableRangeError):
        asked(value)


def test_nothing_has_no_first_byte_but_may_be_asked_for_its_last_ones() -> None:
    with pytest.raises(UnsatisfiableRangeError):
        asked("bytes=0-", size=0)
    assert asked("bytes=-5", size=0) is None


def test_a_range_of_the_same_bytes_is_given() -> None:
    assert asked("bytes=1-2", if_range=ETAG) == ByteRange(1, 3)


@pytest.mark.parametrize(
    "if_range", ['"sha256:other"', f"W/{ETAG}", "Mon, 30 Nov 2026 17:09:47 GMT", "*", ""]
)
def test_a_range_of_other_bytes_gets_the_whole(if_range: str) -> None:
    assert asked("bytes=1-2", if_range=if_range) is None


def test_a_stale_if_range_is_asked_before_the_range_is_refused() -> None:
    assert asked("bytes=100-", if_range='"sha256:other"') is None


@pytest.mark.parametrize("value", [ETAG, f"W/{ETAG}", "*", f'"x", {ETAG} ,"y"', f'"a,b",{ETAG}'])
def test_bytes_that_the_client_has_are_not_modified(value: str) -> None:
    assert is_not_modified(Headers({"if-none-match": value}), ETAG)


@pytest.mark.parametrize("value", ['"x"', '"sha256:AB"', "sha256:ab", ""])
def test_bytes_that_the_client_has_not_are_modified(value: str) -> None:
    assert not is_not_modified(Headers({"if-none-match": value}), ETAG)
    assert not is_not_modified(Headers({}), ETAG)


@pytest.mark.parametrize("value", [ETAG, f'"x", {ETAG}', "*"])
def test_a_client_that_wants_these_bytes_gets_them(value: str) -> None:
    assert not is_precondition_failed(Headers({"if-match": value}), ETAG)
    assert not is_precondition_failed(Headers({}), ETAG)


@pytest.mark.parametrize("value", [f"W/{ETAG}", '"x"', ""])
def test_a_client_that_wants_other_bytes_gets_none(value: str) -> None:
    assert is_precondition_failed(Headers({"if-match": value}), ETAG)
