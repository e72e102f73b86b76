"""What is read of a content as its bytes come is what is read of it in memory."""

import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import text_block
from toolfold import readable, stored_json
from toolfold.readable_stream import finding, lining, slicing
from toolfold.readable_stream.places import (
    MAX_PLACES,
    MAX_TEXTS,
    SPACING_BYTES,
    KnownTexts,
    Place,
    TextPlaces,
)
from toolfold.readable_stream.run import Entry, ReadRange, Run
from toolfold.readable_stream.runs import runs

LONG = 4_200
"""Longer than what counts as a long string."""

texts = st.one_of(
    st.text(max_size=30),
    st.text(alphabet='a"\\\n\x1bé😀', min_size=1, max_size=40).map(
        lambda text: text * (LONG // len(text))
    ),
    st.sampled_from(["QUJD" * LONG, "QUJDRA==", "QUJ\nD" * LONG + "="]),
)
blocks = st.one_of(
    texts,
    st.integers(),
    st.fixed_dictionaries({"type": st.just("text"), "text": texts}),
    st.fixed_dictionaries({"text": texts, "type": st.just("text")}),
    st.fixed_dictionaries(
        {"type": st.just("diff"), "path": texts, "oldText": texts, "newText": texts}
    ),
    st.fixed_dictionaries({"type": st.just("terminal"), "output": texts, "command": texts}),
    st.fixed_dictionaries({"type": st.just("image"), "mimeType": texts, "data": texts}),
    st.fixed_dictionaries(
        {
            "type": st.just("resource"),
            "resource": st.one_of(
                st.fixed_dictionaries({"uri": texts, "text": texts}),
                st.fixed_dictionaries({"uri": texts, "blob": texts, "mimeType": st.just("a/b")}),
            ),
        }
    ),
    st.fixed_dictionaries({"type": st.just("resource_link"), "uri": texts, "name": texts}),
    st.dictionaries(texts, st.lists(texts, max_size=3), max_size=3),
)
wrapped = st.one_of(blocks, blocks.map(lambda block: {"type": "content", "content": block}))
contents = st.one_of(st.lists(wrapped, max_size=4), wrapped)


def reading(data: bytes, piece: int) -> ReadRange:
    async def read(start: int, end: int) -> AsyncIterator[bytes]:
        for at in range(start, end, piece):
            yield data[at : min(end, at + piece)]

    return read


async def all_runs(data: bytes, piece: int, max_block_bytes: int) -> list[Run]:
    read = reading(data, piece)
    return [run async for run in runs(read, len(data), max_block_bytes=max_block_bytes)]


@settings(max_examples=25, deadline=None)
@given(content=contents, piece=st.integers(700, 9_000), max_block_bytes=st.integers(1, 10_000))
async def test_the_runs_of_a_content_are_its_readable_text(
    content: Any, piece: int, max_block_bytes: int
) -> None:
    data = stored_json.encode(content)

    found = await all_runs(data, piece, max_block_bytes)

    assert "".join(run.text for run in found) == readable.text(content)
    for run in found:
        if run.is_verbatim:
            inside = orjson.dumps(run.text)[1:-1]
            assert data[run.offset : run.offset + len(inside)] == inside


@settings(max_examples=25, deadline=None)
@given(content=contents, piece=st.integers(700, 9_000), max_block_bytes=st.integers(1, 10_000))
async def test_a_text_is_read_on_from_each_place_that_is_known(
    content: Any, piece: int, max_block_bytes: int
) -> None:
    data = stored_json.encode(content)
    whole = readable.text(stored_json.decode(data)).encode()
    places = TextPlaces(spacing=1)
    read = reading(data, piece)
    async for _ in places.followed(runs(read, len(data), max_block_bytes=max_block_bytes), Place()):
        pass

    assert places.size == len(whole)
    assert places.line_count == len(readable.lines(stored_json.decode(data)))
    for place in {places.before_byte(at) for at in range(0, len(whole) + 1, 50)}:
        rest = runs(read, len(data), place.entry, max_block_bytes=max_block_bytes)
        text = "".join([run.text async for run in rest])
        assert text.encode() == whole[place.offset :]
        assert place.breaks == whole[: place.offset].count(b"\n")


@settings(max_examples=25, deadline=None)
@given(content=contents, piece=st.integers(700, 9_000), first=st.integers(1, 30))
async def test_a_line_is_read_from_the_place_before_it(
    content: Any, piece: int, first: int
) -> None:
    data = stored_json.encode(content)
    lines = readable.lines(stored_json.decode(data))
    found = [at for at, line in enumerate(lines, 1) if "a" in line.lower() and at >= first]
    places = TextPlaces(spacing=1)
    read = reading(data, piece)
    async for _ in places.followed(runs(read, len(data), max_block_bytes=1_000), Place()):
        pass

    place = places.before_line(first)
    liner = lining.Liner(first, 2, 100_000, 1_000_000, place.breaks + 1, place.offset)
    await lining.read(runs(read, len(data), place.entry, max_block_bytes=1_000), liner)
    finder = finding.Finder("a", 100, 1_000_000, after=first - 1, line=place.breaks + 1)
    await finding.find(runs(read, len(data), place.entry, max_block_bytes=1_000), finder)

    assert liner.lines == lines[first - 1 : first + 1]
    assert [match.line for match in finder.matches] == found[:100]


async def test_a_reader_stops_where_it_has_what_it_was_asked_for() -> None:
    content = [text_block("line\n" * 100_000)]
    data = stored_json.encode(content)
    taken = 0

    async def read(start: int, end: int) -> AsyncIterator[bytes]:
        nonlocal taken
        for at in range(start, end, 10_000):
            taken += 10_000
            yield data[at : min(end, at + 10_000)]

    def text() -> AsyncIterator[Run]:
        return runs(read, len(data), max_block_bytes=10_000)

    finder = finding.Finder("line", 3, 1_000_000)
    liner = lining.Liner(3, 3, 100, 1_000)
    window = await slicing.window(text(), 0, 100, to_the_end=False)
    await finding.find(text(), finder, to_the_end=False)
    await lining.read(text(), liner, to_the_end=False)

    assert window.data == b"line\n" * 20
    assert (len(finder.matches), finder.has_more) == (3, True)
    assert (len(liner.lines), liner.total > 5) == (3, True)
    assert taken <= 3 * 40_000


def test_what_is_kept_of_texts_is_bounded() -> None:
    known = KnownTexts()
    first = known.of(b"first", SPACING_BYTES + 1)
    assert known.of(b"first", SPACING_BYTES + 1) is first
    assert known.of(b"short", SPACING_BYTES) is not known.of(b"short", SPACING_BYTES)
    for number in range(MAX_TEXTS):
        known.of(bytes([number]), SPACING_BYTES + 1)
    assert known.of(b"first", SPACING_BYTES + 1) is not first


async def test_the_places_of_a_long_text_lie_further_apart() -> None:
    async def text() -> AsyncIterator[Run]:
        for at in range(10 * MAX_PLACES):
            yield Run.of("a line\n", at, entry=Entry(at))

    places = TextPlaces(spacing=1)
    async for _ in places.followed(text(), Place()):
        pass

    found = {places.before_byte(at) for at in range(0, 70 * MAX_PLACES, 7)}
    assert MAX_PLACES // 4 < len(found) <= MAX_PLACES
    assert all(
        place
        == Place(7 * place.breaks, place.breaks, Entry(place.breaks, is_first=not place.breaks))
        for place in found
    )


@settings(max_examples=25, deadline=None)
@given(
    content=contents,
    needle=st.sampled_from(["a", "É", "😀", "\\", "A\x1b", "QUJDQ", "aa", '"']),
    piece=st.integers(900, 9_000),
    limit=st.integers(100, 900),
)
async def test_pages_of_matches_are_the_lines_that_contain_the_text(
    content: Any, needle: str, piece: int, limit: int
) -> None:
    data = stored_json.encode(content)
    lines = readable.lines(stored_json.decode(data))
    expected = [at for at, line in enumerate(lines, 1) if needle.lower() in line.lower()]

    numbers: list[int] = []
    after, has_more = 0, True
    while has_more:
        finder = finding.Finder(needle, limit, 1_000_000, after=after)
        await finding.find(runs(reading(data, piece), len(data), max_block_bytes=5_000), finder)
        assert finder.total_count == len(expected)
        numbers += [match.line for match in finder.matches]
        for match in finder.matches:
            assert needle.lower() in match.text.lower()
            assert match.text in lines[match.line - 1]
        has_more, after = finder.has_more, numbers[-1] if numbers else 0

    assert numbers == expected


@pytest.mark.parametrize(
    ("text", "needle", "expected"),
    [
        ("one\ntwo 😀 needle\nthree", "NEEDLE", [3]),
        ('quoted "needle" \\ and \x1b[1mneedle', "needle", [2]),
        ("İ needle", "i need", [2]),
        ("ΟΔΟΣ needle", "οδος", [2]),
        ("x" * 700_000 + "needle" + "y" * 700_000 + "\nneedle", "needle", [2, 3]),
    ],
)
async def test_a_match_has_the_place_of_the_text_in_the_stored_bytes(
    text: str, needle: str, expected: list[int]
) -> None:
    content = [{"type": "text", "text": "before"}, {"type": "text", "text": text}]
    data = stored_json.encode(content)
    finder = finding.Finder(needle, 10, 1_000_000)

    await finding.find(runs(reading(data, 256 * 1024), len(data)), finder)

    assert [match.line for match in finder.matches] == expected
    for match in finder.matches:
        found = data[match.offset :].decode()
        assert finding.folded(found).startswith(finding.folded(needle))
        assert len(match.text) <= finding.MAX_SHOWN_CHARACTERS


@settings(max_examples=25, deadline=None)
@given(
    content=st.one_of(
        contents, st.text(alphabet="a\né", max_size=40).map(lambda text: [text, text])
    ),
    piece=st.integers(700, 9_000),
    first=st.integers(1, 12),
    count=st.integers(1, 5),
)
async def test_a_liner_keeps_the_lines_asked_for_and_counts_all(
    content: Any, piece: int, first: int, count: int
) -> None:
    data = stored_json.encode(content)
    expected = readable.lines(stored_json.decode(data))
    liner = lining.Liner(first, count, 50, 1_000_000)

    await lining.read(runs(reading(data, piece), len(data), max_block_bytes=5_000), liner)

    assert liner.total == len(expected)
    assert liner.lines == [line[:50] for line in expected[first - 1 : first - 1 + count]]
    before = expected[: first - 1]
    text = readable.text(stored_json.decode(data)).encode()
    assert liner.offset == min(len(text), sum(len(line.encode()) + 1 for line in before))


@pytest.mark.parametrize(("start", "end"), [(0, 4), (3, 3), (5, 100), (100, 200)])
async def test_a_window_is_a_range_of_the_texts_bytes(start: int, end: int) -> None:
    content = [{"type": "text", "text": "a😀b"}, "", "cé"]
    data = stored_json.encode(content)

    found = await slicing.window(runs(reading(data, 7), len(data)), start, end)

    whole = readable.text(content).encode()
    assert (found.data, found.size) == (whole[start:end], len(whole))


async def test_a_large_content_is_not_in_memory_whole() -> None:
    line = b"all work and no play\\n"
    head, tail = b'[{"type":"text","text":"', b'"}]'
    piece = line * 12_000

    async def read(start: int, end: int) -> AsyncIterator[bytes]:
        """Yield 80 pieces as if they were stored, without having them."""
        size = len(head) + 80 * len(piece) + len(tail)
        for at in range(start, min(end, size), len(piece)):
            yield bytes(_byte_range(at, min(at + len(piece), end)))

    def _byte_range(start: int, end: int) -> bytes:
        size = len(head) + 80 * len(piece) + len(tail)
        first = max(0, start - len(head)) % len(line)
        body = (line * (len(piece) // len(line) + 3))[first:]
        text = head[start : min(end, len(head))]
        inner_end = min(end, size - len(tail))
        inner_start = max(start, len(head))
        text += body[: max(0, inner_end - inner_start)]
        return text + tail[max(0, start - size + len(tail)) : max(0, end - size + len(tail))]

    size = len(head) + 80 * len(piece) + len(tail)
    finder = finding.Finder("no play", 3, 1_000_000)
    tracemalloc.start()
    try:
        await finding.find(runs(read, size), finder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert finder.total_count == 80 * 12_000
    assert peak < size / 4
