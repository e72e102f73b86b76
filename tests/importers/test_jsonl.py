import hashlib
from pathlib import Path
from typing import Any

import pytest

from toolfold.importers.jsonl import Checkpoint, Decoded, Line, LineReader, decode
from toolfold.transcript import Record, Repair


def _decode(raw: bytes, *, terminated: bool = True) -> list[Decoded | Record | Repair]:
    return list(decode(Line(1, raw, terminated)))


def _value(raw: bytes) -> Any:
    (item,) = _decode(raw)
    assert item == Decoded(getattr(item, "value", None), repaired=False)
    return item.value


def _mended(raw: bytes) -> tuple[list[str], Any]:
    *repairs, item = _decode(raw)
    assert isinstance(item, Decoded)
    assert item.repaired
    return [repair.reason for repair in repairs if isinstance(repair, Repair)], item.value


def test_lines_come_with_number_and_newline_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"{}\r\n\n\n[1]")
    assert list(LineReader(path)) == [
        Line(1, b"{}\r", terminated=True),
        Line(2, b"", terminated=True),
        Line(3, b"", terminated=True),
        Line(4, b"[1]", terminated=False),
    ]


def test_a_checkpoint_is_before_the_line_being_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b'{"a":1}\n{}\n{"cut')
    reader = LineReader(path)
    before = [reader.checkpoint() for _ in reader]
    whole = Checkpoint(2, 11, hashlib.sha256(b'{"a":1}\n{}\n').digest())
    assert before == [
        Checkpoint(0, 0, hashlib.sha256(b"").digest()),
        Checkpoint(1, 8, hashlib.sha256(b'{"a":1}\n').digest()),
        whole,
    ]
    assert reader.checkpoint() == whole


def test_the_end_counts_a_last_line_without_newline_as_bytes_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"{}\n{")
    reader = LineReader(path)
    assert len(list(reader)) == 2
    assert reader.end() == Checkpoint(1, 4, hashlib.sha256(b"{}\n{").digest())


def test_a_line_of_twenty_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    text = "é" * 10_000_000
    path.write_bytes(b'{"text":"%b"}\n{"next":1}\n' % text.encode())
    assert [item for line in LineReader(path) for item in decode(line)] == [
        Decoded({"text": text}, repaired=False),
        Decoded({"next": 1}, repaired=False),
    ]


def test_a_value_is_read_whatever_white_space_is_around_it() -> None:
    assert _value(b' {"a": [1, 2.5, "x"] , "b": null}\t\r') == {"a": [1, 2.5, "x"], "b": None}
    assert _decode(b"") == _decode(b" \t\r") == []


def test_what_javascript_escapes_is_read_exactly() -> None:
    assert _value(rb'{"a":"\u001b[1m\n\t\"\\ \u0000 \ud83d\ude00 \\ud83d"}') == {
        "a": '\x1b[1m\n\t"\\ \x00 😀 \\ud83d'
    }


@pytest.mark.parametrize(
    "digits",
    [
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
    ],
)
def test_an_integer_keeps_all_digits(digits: str) -> None:
    assert str(_value(b'{"n":%b}' % digits.encode())["n"]) == digits


def test_an_integer_longer_than_python_converts_keeps_all_digits() -> None:
    assert _value(b'{"n":1%b7}' % (b"0" * 5_000)) == {"n": 10**5_001 + 7}


def test_objects_glued_on_one_line_are_all_read_and_the_glue_is_told() -> None:
    assert _decode(b'{"a":"}{"}{"b":2} \x00{"c":3}') == [
        Decoded({"a": "}{"}, repaired=False),
        Repair("two objects on one line"),
        Decoded({"b": 2}, repaired=False),
        Repair("two objects on one line"),
        Decoded({"c": 3}, repaired=False),
    ]


def test_what_is_not_json_is_kept_raw_and_so_is_the_rest_behind_an_object() -> None:
    assert _decode(b"junk \xff") == [Record(b"junk \xff", "not JSON")]
    assert _decode(b"5 6") == [Record(b"5 6", "not JSON")]
    assert _decode(b'{"a":1}{"b":\xff') == [
        Decoded({"a": 1}, repaired=False),
        Record(b'{"b":\xff', "not JSON"),
    ]


def test_a_last_line_cut_at_any_byte_is_told_and_nothing_of_it_is_kept() -> None:
    whole = '{"a":"ü","b":[1,{"c":null}]}'.encode()
    for end in range(1, len(whole)):
        assert _decode(whole[:end], terminated=False) == [Repair("cut last line")]
    assert _decode(whole, terminated=False) == [
        Decoded({"a": "ü", "b": [1, {"c": None}]}, repaired=False)
    ]


def test_an_object_before_the_cut_of_a_last_line_is_read() -> None:
    assert _decode(b'{"a":1}{"b', terminated=False) == [
        Decoded({"a": 1}, repaired=False),
        Repair("cut last line"),
    ]


def test_a_byte_order_mark_is_passed_by() -> None:
    assert _decode(b'\xef\xbb\xbf{"a":1}') == [
        Repair("byte order mark"),
        Decoded({"a": 1}, repaired=False),
    ]


def test_nul_padding_is_passed_by_before_and_after_a_value_and_alone() -> None:
    padded = [Repair("NUL padding"), Decoded({"a": 1}, repaired=False)]
    assert _decode(b'\x00\x00{"a":1}') == padded
    assert _decode(b'{"a":1}\x00\x00') == padded
    assert _decode(b"\x00\x00\x00") == [Repair("NUL padding")]


@pytest.mark.parametrize(
    ("raw", "reasons", "value"),
    [
        (b'{"a":"x\xffy\xc3"}', ["invalid UTF-8"], {"a": "x\ufffdy\ufffd"}),
        (rb'{"a":"x\ud83dy"}', ["lone surrogate"], {"a": "x\ufffdy"}),
        (rb'{"a":"\uDE00\ud83d\ude00"}', ["lone surrogate"], {"a": "\ufffd😀"}),
        (rb'{"\ud83d":1}', ["lone surrogate"], {"\ufffd": 1}),
        (b'{"a":"x\x00y"}', ["NUL"], {"a": "x\ufffdy"}),
        (b'{"a":"x\x1b\ty"}', ["control character"], {"a": "x\x1b\ty"}),
        (b'{"a":NaN,"b":[-Infinity]}', ["NaN or Infinity"], {"a": None, "b": [None]}),
        (b'{"a":1e999}', ["NaN or Infinity"], {"a": None}),
        (b'{"a":1,"b":{"c":2,"c":3}}', ["duplicate key"], {"a": 1, "b": {"c": 3}}),
    ],
)
def test_what_cannot_be_stored_is_mended_and_named(
    raw: bytes, reasons: list[str], value: Any
) -> None:
    assert _mended(raw) == (reasons, value)


def test_an_object_is_repaired_only_if_the_damage_is_its_own() -> None:
    assert _decode(b'{"a":1}{"b":"\xff"}{"c":1}') == [
        Decoded({"a": 1}, repaired=False),
        Repair("two objects on one line"),
        Repair("invalid UTF-8"),
        Decoded({"b": "\ufffd"}, repaired=True),
        Repair("two objects on one line"),
        Decoded({"c": 1}, repaired=False),
    ]


def test_a_thousand_levels_are_read_with_room_around_them_and_more_are_kept_raw() -> None:
    deepest = b'{"a":' * 1_100 + b'"[[["' + b"}" * 1_100
    (item,) = _decode(deepest)
    assert isinstance(item, Decoded)
    depth, value = 0, item.value
    while isinstance(value, dict):
        depth, value = depth + 1, value["a"]
    assert (depth, value) == (1_100, "[[[")
    deeper = b"[" * 1_101 + b"]" * 1_101
    assert _decode(deeper) == [Record(deeper, "nested deeper than 1,100 levels")]


def test_nesting_that_only_stands_in_text_is_no_nesting() -> None:
    text = "[{" * 2_000
    assert _value(b'{"a": "%b"}' % text.encode()) == {"a": text}
