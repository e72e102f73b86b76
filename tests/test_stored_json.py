"""The stored form of JSON: its bytes, and that nothing is lost in it."""

import json
import math
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfold import stored_json
from toolfold.errors import InvalidJsonError

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**80), max_value=2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: (
        st.lists(children)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), children)
    ),
)


def nested(levels: int) -> Any:
    """Return arrays in arrays, `levels` deep."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def same(left: Any, right: Any) -> bool:
    """Compare JSON values at any depth, where 1, 1.0 and True are three values."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, list) and len(one) == len(other):
            pairs += zip(one, other, strict=True)
        elif isinstance(one, dict) and list(one) == list(other):
            pairs += [(one[key], other[key]) for key in one]
        elif one != other:
            return False
    return True


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ([{"type": "content", "text": "café"}], 35),
        (["😀"], 8),
        ([None], 6),
        ([], 2),
        ({}, 2),
        ("", 2),
        (None, 4),
    ],
)
def test_a_size_is_that_of_compact_utf8(value: Any, size: int) -> None:
    assert len(stored_json.encode(value)) == size


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"b": 1, "a": [True, None]}, '{"b":1,"a":[true,null]}'),
        (["é\u2028\x7f/"], '["é\u2028\x7f/"]'),
        (['"\\\n\x00\x1f'], r'["\"\\\n\u0000\u001f"]'),
        ([1.0, 0.1, -0.0, 5e-324], "[1.0,0.1,-0.0,5e-324]"),
        ([2**64, -(2**63) - 1, 1.5], "[18446744073709551616,-9223372036854775809,1.5]"),
        ({"n": 10**30, "a": ["x"], "b": {}}, f'{{"n":1{"0" * 30},"a":["x"],"b":{{}}}}'),
        ([[2**64], 0.1, "é"], '[[18446744073709551616],0.1,"é"]'),
    ],
)
def test_the_stored_form_is_compact_and_keeps_what_was_recorded(value: Any, stored: str) -> None:
    assert stored_json.encode(value) == stored.encode()
    assert same(stored_json.decode(stored.encode()), value)


@given(JSON_VALUES)
def test_what_is_stored_is_read_back_the_same(value: Any) -> None:
    assert same(stored_json.decode(stored_json.encode(value)), value)


@given(JSON_VALUES)
def test_the_stored_form_says_what_pythons_json_says(value: Any) -> None:
    assert same(json.loads(stored_json.encode(value)), value)


@given(JSON_VALUES)
def test_a_long_integer_beside_it_changes_no_byte_of_a_value(value: Any) -> None:
    # Beside an integer that orjson refuses, everything is written by our own encoder.
    assert stored_json.encode([2**70, value]) == (
        b"[1180591620717411303424,%b]" % stored_json.encode(value)
    )


@pytest.mark.parametrize("digits", [19, 20, 40, 4_300, 4_301, 10_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_any_length_keeps_its_digits(digits: int, sign: int) -> None:
    value = {"n": sign * 10 ** (digits - 1)}
    stored = stored_json.encode(value)
    assert stored == b'{"n":%b1%b}' % (b"-" if sign < 0 else b"", b"0" * (digits - 1))
    assert stored_json.decode(stored) == value


def test_digits_in_strings_and_floats_are_no_integers() -> None:
    stored = (
        b'["12345678901234567890123","a\\"integer 123456789012345678901",0.12345678901234567890123,'
        b"1e-12345678901234567890,98765432109876543210987.5,-98765432109876543210987,"
        b'{"integer ":2}]'
    )
    assert stored_json.decode(stored) == [
        "12345678901234567890123",
        'a"integer 123456789012345678901',
        0.12345678901234568,
        0.0,
        9.876543210987654e22,
        -98765432109876543210987,
        {"integer ": 2},
    ]


@pytest.mark.parametrize("levels", [1, 254, 255, 1_000])
def test_a_thousand_levels_are_stored(levels: int) -> None:
    stored = stored_json.encode(nested(levels))
    assert stored == b"[" * levels + b"]" * levels
    assert same(stored_json.decode(stored), nested(levels))


def test_a_thousand_levels_are_stored_from_deep_in_a_stack_and_in_a_thread() -> None:
    found: list[bytes] = []

    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
            return
        stored = stored_json.encode({"a": nested(999), "b": 2**70})
        found.append(stored_json.encode(stored_json.decode(stored)))

    thread = threading.Thread(target=descend, args=(800,))
    thread.start()
    thread.join()
    descend(800)
    expected = b'{"a":%b%b,"b":1180591620717411303424}' % (b"[" * 999, b"]" * 999)
    assert found == [expected, expected]


@pytest.mark.parametrize("levels", [1_001, 5_000])
def test_deeper_nesting_is_refused(levels: int) -> None:
    with pytest.raises(InvalidJsonError, match="deeper than 1,000 levels"):
        stored_json.encode(nested(levels))


@pytest.mark.parametrize("value", ["\ud83d", ["\ud83d"], {"\ud83d": 1}, [2**70, "\udc00"]])
def test_a_lone_surrogate_is_refused(value: Any) -> None:
    with pytest.raises(InvalidJsonError):
        stored_json.encode(value)


@pytest.mark.parametrize("data", [b"", b"[", b"[1,]", b'{"a":}', b"[NaN]", b"[1]x"])
def test_what_is_not_json_cannot_be_decoded(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        stored_json.decode(data)


@pytest.mark.parametrize(
    ("value", "mended"),
    [
        ("a\ud83db", "a\ufffdb"),
        ("\ud83d\ude00\ude00", "😀\ufffd"),
        ([math.nan, math.inf, -math.inf, 1.5], [None, None, None, 1.5]),
        ({"k\ud800": ["\udfff"]}, {"k\ufffd": ["\ufffd"]}),
        (
            dict(zip(["\ud800", "\udfff", "\ufffd"], [1, 2, 3], strict=True)),
            {"\ufffd": 1, "\ufffd" * 2: 2, "\ufffd" * 3: 3},
        ),
        ([2**70, {"a": {"b": [math.nan]}}], [2**70, {"a": {"b": [None]}}]),
    ],
)
def test_what_json_cannot_say_is_mended_in_a_copy(value: Any, mended: Any) -> None:
    before = repr(value)
    assert stored_json.repaired(value) == (mended, True)
    assert repr(value) == before


def test_a_value_that_needs_no_mending_is_returned_itself() -> None:
    for value in ([None, 1.5, "😀\x00"], {"a": 2**70, "b": nested(600)}):
        assert stored_json.repaired(value) == (value, False)
        assert stored_json.repaired(value)[0] is value


def test_what_is_nested_too_deep_to_store_is_mended_all_the_same() -> None:
    value: Any = ["\ud83d"]
    for _ in range(5_000):
        value = [value]
    mended, was_damaged = stored_json.repaired(value)
    assert was_damaged
    assert stored_json.text(mended) == "[" * 5_001 + '"\ufffd"' + "]" * 5_001


@given(JSON_VALUES, st.integers(min_value=0, max_value=40))
def test_the_text_of_a_value_can_be_cut_while_it_is_made(value: Any, characters: int) -> None:
    whole = stored_json.encode(value).decode()
    assert stored_json.text(value) == whole
    assert stored_json.text(value, characters) == whole[:characters]
