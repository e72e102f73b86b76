"""The readable text of a content through the schema: by range of bytes, and what is found in it."""

import base64
import hashlib
from typing import Any

import pytest

from tests.builders import store_images, text_block, tool_message
from tests.schema.conftest import Api, content_of
from tests.statements import statements

FIND = """
query ($id: ID!, $text: String!, $first: Int, $after: String) { message(id: $id) { toolMetadata {
  contentFind(text: $text, first: $first, after: $after) {
    matches { line offset text } totalCount endCursor } } } }
"""
TEXT = """
query ($id: ID!, $offset: BigInt!, $length: Int!) { message(id: $id) { toolMetadata {
  contentText(offset: $offset, length: $length) {
    offset length totalSize nextOffset text } } } }
"""
PATH = ["message", "toolMetadata", "contentFind"]
SLICES = """
query ($id: ID!, $offset: BigInt!, $length: Int!) { message(id: $id) { toolMetadata {
  contentSlice(offset: $offset, length: $length) { text } } } }
"""


async def find(api: Api, **variables: Any) -> dict[str, Any]:
    data = await api.data(FIND, **{"first": 20, **variables})
    found: dict[str, Any] = data["message"]["toolMetadata"]["contentFind"]
    return found


async def test_lines_that_contain_a_text_are_found_in_pages(api: Api) -> None:
    lines = [f"line {number}{' has an Error' if number % 3 == 0 else ''}" for number in range(20)]
    session = await api.store([tool_message([text_block("first"), text_block("\n".join(lines))])])
    id_ = session.message(1)

    first = await find(api, id=id_, text="error", first=4)
    second = await find(api, id=id_, text="ERROR", first=4, after=first["endCursor"])

    shown = [(match["line"], match["text"]) for match in first["matches"] + second["matches"]]
    assert shown == [
        (number + 2, line) for number, line in enumerate(lines) if line.endswith("Error")
    ]
    assert (first["totalCount"], second["totalCount"]) == (7, 7)
    assert second["endCursor"] is None
    for match in first["matches"]:
        data = await api.data(SLICES, id=id_, offset=match["offset"], length=5)
        assert data["message"]["toolMetadata"]["contentSlice"]["text"] == "Error"


async def test_nothing_is_found_in_a_call_without_content(api: Api) -> None:
    session = await api.store([tool_message(None)])
    data = await api.data(FIND, id=session.message(1), text="a", first=1)
    assert data["message"]["toolMetadata"]["contentFind"] is None


async def test_what_is_found_is_the_same_in_a_content_over_a_slice(api: Api) -> None:
    large = api.with_settings(max_slice_bytes=100)
    text = "\n".join(
        f"{'needle ' if number % 50 == 0 else ''}{number}" for number in range(200_000)
    )
    session = await api.store([tool_message([text_block(text)])])
    found = await find(large, id=session.message(1), text="needle")
    assert [match["line"] for match in found["matches"]][:3] == [1, 51, 101]
    assert found["totalCount"] == 4_000
    # No more than a slice is returned.
    assert sum(len(match["text"]) for match in found["matches"]) <= 100


@pytest.mark.parametrize(
    "variables",
    [
        {"text": ""},
        {"text": "two\nlines"},
        {"text": "x" * 1_001},
        {"text": "x", "first": -1},
        {"text": "x", "first": 1_001},
        {"text": "x", "after": "nonsense"},
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_what_cannot_be_looked_for_is_refused(api: Api, variables: dict[str, Any]) -> None:
    session = await api.store([tool_message([text_block("x")])])
    given = {"first": 20, **variables}
    assert await api.errors(FIND, id=session.message(1), **given) == [(PATH, "BAD_USER_INPUT")]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_cursor_of_another_text_is_refused(api: Api) -> None:
    session = await api.store([tool_message([text_block("a b\na b")])])
    found = await find(api, id=session.message(1), text="a", first=1)
    variables = {"text": "b", "first": 1, "after": found["endCursor"]}
    assert await api.errors(FIND, id=session.message(1), **variables) == [(PATH, "BAD_USER_INPUT")]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.parametrize("field", ['contentFind(text: "x") { totalCount }', "contentText { text }"])
async def test_in_bulk_the_whole_content_is_charged(api: Api, field: str) -> None:
    session = await api.store([tool_message(content_of(40_000)) for _ in range(2)])
    document = f"""
    query ($id: ID!) {{ session(id: $id) {{ messages {{ nodes {{ toolMetadata {{
      found: {field} }} }} }} }} }}
    """
    assert await api.errors(document, id=session.id) == [
        (["session", "messages", "nodes", 1, "toolMetadata", "found"], "CONTENT_BUDGET_EXCEEDED")
    ]


@pytest.mark.parametrize(("first", "rest"), [(1, "é\ntwo\n"), (2, "two\n"), (-1, "two\n"), (3, "")])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_lines_say_where_the_first_begins_in_the_text(
    api: Api, first: int, rest: str
) -> None:
    session = await api.store([tool_message([text_block("é\ntwo\n")])])
    document = """
    query ($id: ID!, $from: Int!) { message(id: $id) { toolMetadata {
      contentLines(from: $from) { offset } } } }
    """
    data = await api.data(document, **{"id": session.message(1), "from": first})
    offset = data["message"]["toolMetadata"]["contentLines"]["offset"]
    data = await api.data(TEXT, id=session.message(1), offset=offset, length=100)
    assert data["message"]["toolMetadata"]["contentText"]["text"] == rest


@pytest.mark.parametrize("first", [1, 3, 4_000, -1, -5_000, 5_001])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_lines_are_the_same_of_a_content_that_is_not_read_whole(api: Api, first: int) -> None:
    text = "\n".join(f"line {number} é" for number in range(5_000))
    session = await api.store([tool_message([text_block(text)])])
    document = """
    query ($id: ID!, $from: Int!) { message(id: $id) { toolMetadata {
      contentLines(from: $from, count: 3) { from offset lines truncated totalLines nextFrom } } } }
    """
    variables = {"id": session.message(1), "from": first}
    api = api.with_settings(content_budget_bytes=1_000_000)
    whole = await api.data(document, **variables)
    streamed = await api.with_settings(max_slice_bytes=1_000).data(document, **variables)
    assert streamed == whole


async def test_ranges_of_the_text_join_to_it_at_whole_characters(api: Api) -> None:
    content = [text_block("a😀b"), text_block("é" * 5), {"type": "image", "mimeType": "image/png"}]
    session = await api.store([tool_message(content)])
    offset: int | None = 0
    pieces = []
    while offset is not None:
        variables = {"id": session.message(1), "offset": offset, "length": 3}
        found = (await api.data(TEXT, **variables))["message"]["toolMetadata"]["contentText"]
        assert found["offset"] == offset
        assert found["length"] == len(found["text"].encode())
        pieces.append(found["text"])
        offset = found["nextOffset"]
    whole = "a😀b\nééééé\n[image/png]"
    assert "".join(pieces) == whole
    beyond = await api.data(TEXT, id=session.message(1), offset=1_000, length=3)
    assert beyond["message"]["toolMetadata"]["contentText"] == {
        "offset": len(whole.encode()),
        "length": 0,
        "totalSize": len(whole.encode()),
        "nextOffset": None,
        "text": "",
    }
    assert found["totalSize"] == len(whole.encode())


async def test_images_are_listed_without_the_content_and_read_by_range(api: Api) -> None:
    data = [f"{at} not really".encode() * 9 for at in range(3)]
    blocks: list[Any] = [
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(one).decode()}
        for one in (data[0], data[1], data[0])
    ]
    blob = base64.b64encode(data[2]).decode()
    blocks.append({"type": "resource", "resource": {"uri": "a:b", "blob": blob}})
    content = [text_block("x" * 300_000), *blocks]
    session = await api.store([tool_message(content), tool_message(), tool_message()])
    await store_images(api.database, content)
    listing = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      images { mimeType size url } } } } } }
    """
    with statements(api.database) as seen:
        found = await api.data(listing, id=session.id)
    assert not [sql for sql in seen if "content_chunk" in sql]
    first, *others = (
        node["toolMetadata"]["images"] for node in found["session"]["messages"]["nodes"]
    )
    assert others == [[], []]
    assert first == [
        {
            "mimeType": mime_type,
            "size": len(one),
            "url": f"/api/projects/default/blobs/sha256:{hashlib.sha256(one).hexdigest()}",
        }
        for one, mime_type in zip(
            data, ["image/png", "image/png", "application/octet-stream"], strict=True
        )
    ]
    document = """
    query ($id: ID!) { message(id: $id) { toolMetadata {
      images { slice(offset: 2, length: 10) { offset length totalSize base64 } } } } }
    """
    found = await api.data(document, id=session.message(1))
    assert [one["slice"] for one in found["message"]["toolMetadata"]["images"]] == [
        {
            "offset": 2,
            "length": 10,
            "totalSize": len(one),
            "base64": base64.b64encode(one[2:12]).decode(),
        }
        for one in data
    ]
