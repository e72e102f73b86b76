"""The text that a person would read of a content."""

import base64
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfold import readable


def text_block(text: str) -> Any:
    return {"type": "content", "content": {"type": "text", "text": text}}


def encoded(size: int) -> str:
    return base64.b64encode(b"x" * size).decode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([], ""),
        ("plain", "plain"),
        ([text_block("one"), {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "content", "text": "café"}], "café"),
        ([text_block("ends\n"), text_block("here")], "ends\n\nhere"),
        (["😀", text_block("b")], "😀\nb"),
        ({"type": "text", "text": "not in an array"}, "not in an array"),
        ([{"type": "content", "content": text_block("wrapped twice")}], "wrapped twice"),
    ],
)
def test_text_is_read_block_by_block(content: Any, text: str) -> None:
    assert readable.text(content) == text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            {
                "type": "terminal",
                "terminalId": "t1",
                "command": "ls",
                "exitCode": 0,
                "output": "a\n",
            },
            "a\n",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            "inside",
        ),
        (
            {
                "type": "resource",
                "resource": {
                    "uri": "file:///a",
                    "mimeType": "application/pdf",
                    "blob": encoded(10),
                },
            },
            "[application/pdf, 10 bytes]",
        ),
        (
            {"type": "image", "mimeType": "image/png", "data": encoded(3_600_000)},
            "[image/png, 3.6 MB]",
        ),
        ({"type": "image", "mimeType": "image/png", "data": encoded(1_501)}, "[image/png, 1.5 kB]"),
        ({"type": "image", "uri": "https://example.com/a.png"}, "[image]"),
        (
            {"type": "audio", "mimeType": "audio/wav", "data": encoded(999)},
            "[audio/wav, 999 bytes]",
        ),
        (
            {"type": "resource_link", "uri": "file:///a.csv", "name": "a.csv", "title": "Means"},
            "file:///a.csv Means",
        ),
        ({"type": "resource_link", "uri": "file:///a.csv", "name": "a.csv"}, "file:///a.csv a.csv"),
        ({"type": "resource_link", "uri": "file:///a.csv"}, "file:///a.csv"),
    ],
)
def test_each_kind_of_block_has_a_text_bare_or_wrapped(block: Any, text: str) -> None:
    assert readable.text([block]) == text
    assert readable.text([{"type": "content", "content": block}]) == text


def test_a_terminal_without_output_leaves_no_line() -> None:
    terminal = {"type": "terminal", "terminalId": "t1"}
    assert readable.text([terminal, text_block("after"), terminal]) == "after"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([None], "null"),
        ([1, 2.5, True], "1\n2.5\ntrue"),
        (17, "17"),
        ([[1, "é"]], '[1,"é"]'),
        ({"stdout": "x", "n": 2**70}, '{"stdout":"x","n":1180591620717411303424}'),
        ([{"type": "text", "text": 5}], '{"type":"text","text":5}'),
        ([{"type": ["odd"]}], '{"type":["odd"]}'),
        ([{"type": "diff", "path": "a"}], '{"type":"diff","path":"a"}'),
        (
            [{"type": "diff", "path": "a", "oldText": 1, "newText": "b"}],
            '{"type":"diff","path":"a","oldText":1,"newText":"b"}',
        ),
        ([{"type": "resource", "resource": None}], '{"type":"resource","resource":null}'),
        ([{"type": "resource_link", "uri": 1}], '{"type":"resource_link","uri":1}'),
        ([{"type": "content", "content": [1]}], '{"type":"content","content":[1]}'),
        ([{"lone": "\ud83d"}], '{"lone":"\ufffd"}'),
    ],
)
def test_what_is_not_known_is_compact_json(content: Any, text: str) -> None:
    assert readable.text(content) == text


def test_a_diff_is_its_path_and_the_changed_lines_in_their_context() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 21))
    new = old.replace("line 10\n", "ten\n").replace("line 20\n", "")
    block = {"type": "diff", "path": "/src/a.txt", "oldText": old, "newText": new}
    assert readable.lines([block]) == [
        "/src/a.txt",
        "@@ -7,7 +7,7 @@",
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+ten",
        " line 11",
        " line 12",
        " line 13",
        "@@ -17,4 +17,3 @@",
        " line 17",
        " line 18",
        " line 19",
        "-line 20",
    ]


@pytest.mark.parametrize("old", [{}, {"oldText": None}, {"oldText": ""}])
def test_a_diff_of_a_new_file_adds_its_lines(old: dict[str, Any]) -> None:
    block = {"type": "diff", "path": "new.txt", **old, "newText": "one\ntwo\n"}
    assert readable.text([block]) == "new.txt\n@@ -0,0 +1,2 @@\n+one\n+two"


def test_a_diff_of_an_emptied_file_removes_its_lines() -> None:
    block = {"type": "diff", "path": "old.txt", "oldText": "one", "newText": ""}
    assert readable.text([block]) == "old.txt\n@@ -1 +0,0 @@\n-one"


def test_a_diff_that_changes_nothing_is_its_path() -> None:
    block = {"type": "diff", "path": "a.txt", "oldText": "a\nb\n", "newText": "a\nb\n"}
    assert readable.text([block]) == "a.txt"


def test_only_a_line_feed_ends_a_line_of_a_diff() -> None:
    block = {"type": "diff", "path": "a", "oldText": "x\x0cy\u2028\n", "newText": "z\r\n"}
    assert readable.text([block]) == "a\n@@ -1 +1 @@\n-x\x0cy\u2028\n+z\r"


def test_a_diff_of_huge_texts_shows_all_old_lines_then_all_new_ones() -> None:
    old = "".join(f"old {number}\n" for number in range(50_000))
    new = "".join(f"new {number}\n" for number in range(60_000))
    block = {
        "type": "diff",
        "path": "big.txt",
        "oldText": f"1\n2\n3\n4\n{old}last\n",
        "newText": f"1\n2\n3\n4\n{new}last\n",
    }
    lines = readable.lines([block])
    assert lines[:6] == ["big.txt", "@@ -2,50004 +2,60004 @@", " 2", " 3", " 4", "-old 0"]
    assert lines[50_004:50_006] == ["-old 49999", "+new 0"]
    assert lines[-2:] == ["+new 59999", " last"]


def patched(old: list[str], hunks: list[str]) -> list[str]:
    """Apply a unified diff's hunks, as `patch` does."""
    new: list[str] = []
    at = 0
    for hunk in hunks:
        if hunk.startswith("@@"):
            start, *length = hunk.split()[1][1:].split(",")
            first = int(start) - (length != ["0"])
            new += old[at:first]
            at = first
            continue
        assert hunk[0] in " -+"
        if hunk[0] != "+":
            assert old[at] == hunk[1:]
            at += 1
        if hunk[0] != "-":
            new.append(hunk[1:])
    return new + old[at:]


LINES = st.lists(st.sampled_from(["", "a", "b", "c", "}"]), max_size=30)


@given(LINES, LINES, LINES, LINES)
def test_a_diff_makes_the_new_text_of_the_old(
    start: list[str], before: list[str], after: list[str], end: list[str]
) -> None:
    old, new = start + before + end, start + after + end
    block = {
        "type": "diff",
        "path": "p",
        "oldText": "".join(f"{line}\n" for line in old),
        "newText": "".join(f"{line}\n" for line in new),
    }
    path, *hunks = readable.text([block]).split("\n")
    assert path == "p"
    assert patched(old, hunks) == new


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (None, []),
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb", ["a\r", "b"]),
        ([text_block("a\nb"), text_block("c")], ["a", "b", "c"]),
    ],
)
def test_lines_are_those_between_line_feeds(content: Any, lines: list[str]) -> None:
    assert readable.lines(content) == lines


@pytest.mark.parametrize(
    "content",
    [
        [text_block("x" * 300)],
        [text_block("x" * 279), text_block("y")],
        [text_block("x" * 280), text_block("y")],
        [text_block(""), text_block("a"), {"type": "terminal"}, text_block("é" * 400)],
        [{"unknown": ["\ud83d" * 300, {"a": 1}]}],
        [{"type": "diff", "path": "p", "oldText": "a\n" * 200, "newText": "b\n" * 200}],
        [],
    ],
)
def test_a_preview_is_the_first_280_characters_of_the_text(content: Any) -> None:
    assert readable.preview(content) == readable.text(content)[:280]


@pytest.mark.parametrize(
    "content",
    [
        [text_block("x" * 8_000_000)],
        {"stdout": "x" * 8_000_000},
        [{"type": "odd", "items": list(range(300_000))}],
        [text_block("x" * 1_000)] * 100_000,
    ],
    ids=["text", "unknown object", "unknown array", "many blocks"],
)
def test_a_preview_of_megabytes_takes_no_megabytes(content: Any) -> None:
    tracemalloc.start()
    preview = readable.preview(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(preview) == 280
    assert peak < 100_000


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "content", "text", "resource", "blob", "path", "oldText", "newText", "uri"]
            ),
            children
            | st.sampled_from(
                [
                    "text",
                    "content",
                    "diff",
                    "image",
                    "audio",
                    "resource",
                    "resource_link",
                    "terminal",
                ]
            ),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(ANY_JSON)
def test_any_json_has_a_text_and_its_beginning_as_preview(content: Any) -> None:
    assert readable.preview(content) == readable.text(content)[:280]


def test_nesting_of_any_depth_has_a_text() -> None:
    deep: Any = {"type": "text", "text": "at the bottom"}
    for _ in range(5_000):
        deep = {"type": "content", "content": deep}
    assert readable.text(deep) == "at the bottom"
    assert readable.preview([[deep]]).startswith('[{"type":"content","content":{"type":')
