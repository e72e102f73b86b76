"""Cursors: what goes in comes out, and what was never given out is recognised."""

import base64

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfold import cursor

# What PostgreSQL and SQLite can both hold in a key.
COLUMNS = st.one_of(
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)


def forged(text: bytes) -> str:
    """Return bytes of a client's own choice in the dress of a cursor."""
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode("ascii")


@given(scope=st.text(st.characters(exclude_categories=["Cs"])), key=st.lists(COLUMNS).map(tuple))
def test_a_cursor_gives_back_the_key_that_it_was_made_of(
    scope: str, key: tuple[str | int, ...]
) -> None:
    text = cursor.encode(scope, key)
    assert cursor.decode(scope, text, types=[type(value) for value in key]) == key


def test_a_cursor_is_safe_in_a_url_and_not_padded() -> None:
    text = cursor.encode("messages", ["ÿÿÿ>>>???", 1])
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_a_cursor_of_another_order_or_filter_is_recognised() -> None:
    text = cursor.encode("sessions:updated_at:desc", ["2026-11-30T17:09:47.447Z", "a"])
    assert cursor.decode("sessions:created_at:desc", text, types=[str, str]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!",
        "not a cursor",
        "é",
        "\ud83d",
        "A",
        forged(b""),
        forged(b"{}"),
        forged(b"null"),
        forged(b"[]"),
        forged(b'["messages"'),
        forged(b"\xff\xfe"),
        forged(orjson.dumps(["messages"])),
        forged(orjson.dumps(["messages", "7"])),
        forged(orjson.dumps(["messages", 7.0])),
        forged(orjson.dumps(["messages", True])),
        forged(orjson.dumps(["messages", None])),
        forged(orjson.dumps(["messages", [7]])),
        forged(orjson.dumps(["messages", 7, 8])),
        forged(b'["messages",9223372036854775808]'),
        forged(b'["messages",123456789012345678901234567890]'),
        forged(b"[" * 100_000),
    ],
)
def test_what_was_never_given_out_is_no_cursor(text: str) -> None:
    assert cursor.decode("messages", text, types=[int]) is None


def test_a_text_that_no_database_can_hold_is_no_part_of_a_cursor() -> None:
    text = forged(b'["sessions","a\\u0000b"]')
    assert cursor.decode("sessions", text, types=[str]) is None


@given(text=st.text(max_size=200))
def test_no_text_makes_decoding_fail(text: str) -> None:
    assert cursor.decode("messages", text, types=[int]) is None
