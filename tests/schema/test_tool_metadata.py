"""Tool calls through the schema: stored bytes exactly, blocks of every kind, parts of any size."""

import base64
import hashlib
from typing import Any

import orjson
import pytest
from sqlalchemy import text

from tests.builders import NOW, text_block, text_message, tool_message
from tests.schema.conftest import SCHEMA, Api, content_of
from toolfold.schema.context import Resources
from toolfold.transcript import ContentState, Json, ToolKind, ToolLocation, ToolStatus

CONTENT = """
query ($id: ID!) { message(id: $id) { toolMetadata {
  contentSize contentHash contentState contentPreview content contentOmitted { reason } contentUrl
} } }
"""
BLOCKS = """
query ($id: ID!) { message(id: $id) { toolMetadata { contentSize blocks {
  __typename
  ... on TextBlock { text }
  ... on DiffBlock { path oldText newText }
  ... on TerminalBlock { terminalId command exitCode output }
  ... on ImageBlock { mimeType size url sourceUri }
  ... on AudioBlock { mimeType size url }
  ... on ResourceLinkBlock { uri name mimeType size title description }
  ... on EmbeddedResourceBlock { uri mimeType size embeddedText url }
  ... on UnknownBlock { type raw }
} } } }
"""
PNG = base64.b64encode(b"\x89PNG not really").decode()
PNG_URL = "/api/projects/default/blobs/sha256:" + hashlib.sha256(b"\x89PNG not really").hexdigest()


async def tool(api: Api, document: str, content: Json, **fields: Any) -> dict[str, Any]:
    session = await api.store([tool_message(content, **fields)])
    data = await api.data(document, id=session.message(1))
    shown: dict[str, Any] = data["message"]["toolMetadata"]
    return shown


@pytest.mark.parametrize(
    ("content", "stored"),
    [
        ([{"type": "content", "text": "café"}], '[{"type":"content","text":"café"}]'),
        (["😀"], '["😀"]'),
        ([None], "[null]"),
        ([], "[]"),
        ({"b": 1, "a": [1.50, 10**30]}, '{"b":1,"a":[1.5,1000000000000000000000000000000]}'),
        ("just text", '"just text"'),
        (0, "0"),
        (False, "false"),
        ({"nul": "\0", "quote": '"'}, '{"nul":"\\u0000","quote":"\\""}'),
    ],
)
async def test_a_content_is_served_as_its_stored_bytes(
    api: Api, content: Json, stored: str
) -> None:
    session = await api.store([tool_message(content)])
    result = await SCHEMA.execute(
        CONTENT, {"id": session.message(1)}, context_value=Resources(api.settings, api.database)
    )
    assert result.data is not None
    shown = result.data["message"]["toolMetadata"]
    data = stored.encode()
    assert orjson.dumps(shown["content"]) == data
    assert shown["contentSize"] == len(data)
    assert shown["contentHash"] == "sha256:" + hashlib.sha256(data).hexdigest()
    assert shown["contentState"] is ContentState.COMPLETE or shown["contentState"] == "COMPLETE"
    assert shown["contentUrl"] == f"/api/projects/default/blobs/{shown['contentHash']}"


def test_the_sizes_that_the_former_system_gave() -> None:
    sizes = [
        len(text.encode()) for text in ('[{"type":"content","text":"café"}]', '["😀"]', "[null]")
    ]
    assert sizes == [35, 8, 6]


async def test_a_call_without_content_has_none_recorded(api: Api) -> None:
    shown = await tool(api, CONTENT, None)
    assert shown == {
        "contentSize": None,
        "contentHash": None,
        "contentState": "NONE_RECORDED",
        "contentPreview": None,
        "content": None,
        "contentOmitted": None,
        "contentUrl": None,
    }


async def test_every_light_field_of_a_call_is_shown(api: Api) -> None:
    document = """
    query ($id: ID!) { message(id: $id) { toolMetadata {
      toolCallId name title kind status startedAt endedAt locations { path line } contentState
      childSession { id } rawInput { size hash json url } rawOutput { size json } } } }
    """
    shown = await tool(
        api,
        document,
        [text_block("ok")],
        tool_call_id="toolu_1",
        name="Edit",
        title="Edit adder.py",
        kind=ToolKind.SWITCH_MODE,
        status=ToolStatus.IN_PROGRESS,
        locations=(ToolLocation("/src/adder.py", 3), ToolLocation("/src/b.py")),
        content_state=ContentState.CUT_BY_AGENT,
        raw_input={"file_path": "/src/adder.py"},
        raw_output=[1, None],
    )
    data = b'{"file_path":"/src/adder.py"}'
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    assert shown == {
        "toolCallId": "toolu_1",
        "name": "Edit",
        "title": "Edit adder.py",
        "kind": "SWITCH_MODE",
        "status": "IN_PROGRESS",
        "startedAt": NOW,
        "endedAt": NOW,
        "locations": [{"path": "/src/adder.py", "line": 3}, {"path": "/src/b.py", "line": None}],
        "contentState": "CUT_BY_AGENT",
        "childSession": None,
        "rawInput": {
            "size": len(data),
            "hash": digest,
            "json": {"file_path": "/src/adder.py"},
            "url": f"/api/projects/default/blobs/{digest}",
        },
        "rawOutput": {"size": 8, "json": [1, None]},
    }


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (text_block("seen"), {"__typename": "TextBlock", "text": "seen"}),
        ({"type": "text", "text": "bare"}, {"__typename": "TextBlock", "text": "bare"}),
        ({"type": "content", "text": "old"}, {"__typename": "TextBlock", "text": "old"}),
        ("string", {"__typename": "TextBlock", "text": "string"}),
        (
            {"type": "diff", "path": "a.py", "oldText": None, "newText": "x"},
            {"__typename": "DiffBlock", "path": "a.py", "oldText": None, "newText": "x"},
        ),
        (
            {"type": "terminal", "terminalId": "t", "exitCode": 3, "output": "\x1b[31mERR"},
            {
                "__typename": "TerminalBlock",
                "terminalId": "t",
                "command": None,
                "exitCode": 3,
                "output": "\x1b[31mERR",
            },
        ),
        (
            {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": PNG}},
            {
                "__typename": "ImageBlock",
                "mimeType": "image/png",
                "size": 15,
                "url": PNG_URL,
                "sourceUri": None,
            },
        ),
        (
            {"type": "image", "data": "not base64!", "uri": "file:///x.png"},
            {
                "__typename": "ImageBlock",
                "mimeType": None,
                "size": None,
                "url": None,
                "sourceUri": "file:///x.png",
            },
        ),
        (
            {"type": "content", "content": {"type": "audio", "mimeType": "audio/wav", "data": PNG}},
            {"__typename": "AudioBlock", "mimeType": "audio/wav", "size": 15, "url": PNG_URL},
        ),
        (
            {
                "type": "content",
                "content": {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 5},
            },
            {
                "__typename": "ResourceLinkBlock",
                "uri": "file:///a",
                "name": "a",
                "mimeType": None,
                "size": 5,
                "title": None,
                "description": None,
            },
        ),
        (
            {
                "type": "content",
                "content": {"type": "resource", "resource": {"uri": "u", "text": "é"}},
            },
            {
                "__typename": "EmbeddedResourceBlock",
                "uri": "u",
                "mimeType": None,
                "size": 2,
                "embeddedText": "é",
                "url": None,
            },
        ),
        (
            {"type": "resource", "resource": {"uri": "u", "mimeType": "image/png", "blob": PNG}},
            {
                "__typename": "EmbeddedResourceBlock",
                "uri": "u",
                "mimeType": "image/png",
                "size": 15,
                "embeddedText": None,
                "url": PNG_URL,
            },
        ),
        (None, {"__typename": "UnknownBlock", "type": "null", "raw": None}),
        (7, {"__typename": "UnknownBlock", "type": "number", "raw": 7}),
        (True, {"__typename": "UnknownBlock", "type": "boolean", "raw": True}),
        ([[]], {"__typename": "UnknownBlock", "type": "array", "raw": [[]]}),
        ({"a": 1}, {"__typename": "UnknownBlock", "type": "object", "raw": {"a": 1}}),
        (
            {"type": "hologram", "z": 10**20},
            {
                "__typename": "UnknownBlock",
                "type": "hologram",
                "raw": {"type": "hologram", "z": 10**20},
            },
        ),
        (
            {"type": "text", "text": 5},
            {"__typename": "UnknownBlock", "type": "text", "raw": {"type": "text", "text": 5}},
        ),
        (
            {"type": "diff", "path": "a", "oldText": 1, "newText": "x"},
            {
                "__typename": "UnknownBlock",
                "type": "diff",
                "raw": {"type": "diff", "path": "a", "oldText": 1, "newText": "x"},
            },
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_each_kind_of_block_is_typed(api: Api, block: Json, shown: dict[str, Any]) -> None:
    found = await tool(api, BLOCKS, [block, text_block("sibling")])
    assert found["blocks"] == [shown, {"__typename": "TextBlock", "text": "sibling"}]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_content_that_is_no_array_is_one_block(api: Api) -> None:
    found = await tool(api, BLOCKS, {"stdout": "x"})
    assert found["blocks"] == [
        {"__typename": "UnknownBlock", "type": "object", "raw": {"stdout": "x"}}
    ]


async def test_content_and_blocks_of_one_message_are_one_charge(api: Api) -> None:
    session = await api.store([tool_message(content_of(4_000))])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      blocks { __typename ... on TextBlock { text } } content contentOmitted { reason } } } } } }
    """
    response = await api.run(document, id=session.id)
    (node,) = response["data"]["session"]["messages"]["nodes"]
    assert node["toolMetadata"]["content"] == content_of(4_000)
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 4_000


async def test_aliases_of_a_content_are_each_charged(api: Api) -> None:
    session = await api.store([tool_message(content_of(3_000))])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      a: content b: content contentOmitted { reason } } } } } }
    """
    response = await api.run(document, id=session.id)
    (node,) = response["data"]["session"]["messages"]["nodes"]
    assert node["toolMetadata"] == {
        "a": None,
        "b": None,
        "contentOmitted": {"reason": "COMPACT_MODE"},
    }
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 6_000


async def test_aliases_within_blocks_are_charged_as_those_of_content(api: Api) -> None:
    session = await api.store([tool_message(content_of(3_000))])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      blocks { ... on TextBlock { a: text b: text } } contentOmitted { reason } } } } } }
    """
    response = await api.run(document, id=session.id)
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 6_000
    assert response["extensions"]["contentBudget"]["omittedCount"] == 1


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ("content blocks { __typename }", "content"),
        ("blocks { __typename } content", "content"),
        ("blocks { __typename }", "blocks"),
        ("x: content y: content", "x"),
        ("y: blocks { __typename } x: content", "x"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_refusal_is_reported_once_at_the_contents_path(
    api: Api, fields: str, reported: str
) -> None:
    session = await api.store([tool_message(content_of(70_000))])
    document = f"""
    query ($id: ID!) {{ session(id: $id) {{ messages(compact: false) {{ nodes {{
      toolMetadata {{ {fields} contentSize }} }} }} }} }}
    """
    response = await api.run(document, id=session.id)
    (error,) = response["errors"]
    assert error["path"] == ["session", "messages", "nodes", 0, "toolMetadata", reported]
    (node,) = response["data"]["session"]["messages"]["nodes"]
    assert node["toolMetadata"]["contentSize"] == 70_000


async def test_omission_without_the_field_is_null_and_charges_nothing(api: Api) -> None:
    session = await api.store([tool_message(content_of(70_000))])
    document = """
    query ($id: ID!, $no: Boolean = false) { session(id: $id) { messages { nodes { toolMetadata {
      contentOmitted { reason } content @include(if: $no) rawInput { omitted { reason } } } } } } }
    """
    response = await api.run(document, id=session.id)
    (node,) = response["data"]["session"]["messages"]["nodes"]
    assert node["toolMetadata"] == {"contentOmitted": None, "rawInput": None}
    assert response["extensions"] == {}


async def test_raw_values_obey_the_guard_each_for_itself(api: Api) -> None:
    session = await api.store([tool_message(["x"], raw_input="i" * 5_000, raw_output="o" * 900)])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      rawInput { size json omitted { reason size limit } }
      rawOutput { json omitted { reason } } } } } } }
    """
    response = await api.run(document, id=session.id)
    (node,) = response["data"]["session"]["messages"]["nodes"]
    assert node["toolMetadata"] == {
        "rawInput": {
            "size": 5_002,
            "json": None,
            "omitted": {"reason": "COMPACT_MODE", "size": 5_002, "limit": 4_096},
        },
        "rawOutput": {"json": "o" * 900, "omitted": None},
    }


async def test_the_default_can_be_everything(api: Api) -> None:
    session = await api.store([tool_message(content_of(9_030)), tool_message(content_of(70_000))])
    everything = api.with_settings(compact_mode_default=False)
    document = """
    query ($id: ID!, $compact: Boolean) { session(id: $id) { messages(compact: $compact) { nodes {
      toolMetadata { content contentOmitted { reason limit } } } } } }
    """
    response = await everything.run(document, id=session.id)
    first, second = response["data"]["session"]["messages"]["nodes"]
    assert first["toolMetadata"]["content"] == content_of(9_030)
    # Not asked for with an explicit `false`: withheld in band.
    assert second["toolMetadata"]["contentOmitted"] == {
        "reason": "BUDGET_EXCEEDED",
        "limit": 65_536,
    }
    assert "errors" not in response
    response = await everything.run(document, id=session.id, compact=True)
    first = response["data"]["session"]["messages"]["nodes"][0]
    assert first["toolMetadata"]["contentOmitted"]["reason"] == "COMPACT_MODE"


SLICE = """
query ($id: ID!, $offset: BigInt!, $length: Int!) { message(id: $id) { toolMetadata {
  contentSlice(offset: $offset, length: $length) {
    offset length totalSize nextOffset base64 text } } } }
"""


async def test_slices_read_any_part_of_a_content_of_many_chunks(api: Api) -> None:
    api = api.with_settings(content_budget_bytes=8 * 1024 * 1024)
    text = "".join(f"{n:07d}é😀\n" for n in range(60_000))
    session = await api.store([tool_message([text_block(text)])])
    data = orjson.dumps([text_block(text)])
    assert len(data) > 3 * 256 * 1024
    for offset in (0, 256 * 1024 - 1, 256 * 1024, 500_000, len(data) - 10):
        variables = {"id": session.message(1), "offset": offset, "length": 300_000}
        found = (await api.data(SLICE, **variables))["message"]["toolMetadata"]["contentSlice"]
        raw = base64.b64decode(found["base64"])
        assert raw == data[found["offset"] : found["offset"] + found["length"]]
        assert offset - 3 <= found["offset"] <= offset
        assert found["text"].encode() == raw
        assert found["totalSize"] == len(data)


async def test_a_slice_past_the_end_is_empty_and_bad_bounds_are_named(api: Api) -> None:
    session = await api.store([tool_message([1])])
    variables = {"id": session.message(1), "offset": 99, "length": 5}
    found = (await api.data(SLICE, **variables))["message"]["toolMetadata"]["contentSlice"]
    assert found == {
        "offset": 3,
        "length": 0,
        "totalSize": 3,
        "nextOffset": None,
        "base64": "",
        "text": "",
    }
    for bad in ({"offset": -1}, {"length": 0}, {"length": -5}, {"length": 1_048_577}):
        response = await api.run(SLICE, **{**variables, **bad})
        (error,) = response["errors"]
        assert error["extensions"] == {"code": "BAD_USER_INPUT", "argument": next(iter(bad))}


LINES = """
query ($id: ID!, $from: Int!, $count: Int!) { message(id: $id) { toolMetadata {
  contentLines(from: $from, count: $count) { from lines truncated totalLines nextFrom } } } }
"""


@pytest.mark.parametrize(
    ("first", "count", "shown"),
    [
        (1, 2, {"from": 1, "lines": ["one", "two"], "nextFrom": 3}),
        (3, 9, {"from": 3, "lines": ["", "four", "five"], "nextFrom": None}),
        (-2, 9, {"from": 4, "lines": ["four", "five"], "nextFrom": None}),
        (-99, 1, {"from": 1, "lines": ["one"], "nextFrom": 2}),
        (6, 1, {"from": 6, "lines": [], "nextFrom": None}),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_lines_are_those_that_a_person_would_read(
    api: Api, first: int, count: int, shown: dict[str, Any]
) -> None:
    session = await api.store(
        [tool_message([text_block("one\ntwo\n\nfour"), text_block("five\n")])]
    )
    variables = {"id": session.message(1), "from": first, "count": count}
    found = (await api.data(LINES, **variables))["message"]["toolMetadata"]["contentLines"]
    assert found == {**shown, "truncated": [], "totalLines": 5}


@pytest.mark.parametrize("count", [1, 5, 6, 20_000])
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_one_query_has_a_short_content_whole_and_a_long_one_by_its_first_lines(
    api: Api, count: int
) -> None:
    # The largest is over a slice, and read as a stream.
    numbers = [f"line {number} " + "." * (60 if count > 6 else 0) for number in range(1, count + 1)]
    session = await api.store([tool_message([text_block("\n".join(numbers))])])
    document = """
    query ($id: ID!) { message(id: $id) { toolMetadata {
      blocks(maxLines: 5) { ... on TextBlock { text } }
      contentLines(count: 2, ifOver: 5) { lines totalLines nextFrom }
      contentOmitted { reason } } } }
    """
    api = api.with_settings(content_budget_bytes=10_000_000)
    found = (await api.data(document, id=session.message(1)))["message"]["toolMetadata"]
    first = {"lines": numbers[:2], "totalLines": count, "nextFrom": 3}
    assert found == {
        "blocks": None if count > 5 else [{"text": "\n".join(numbers)}],
        "contentLines": first if count > 5 else None,
        "contentOmitted": None,
    }


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_each_of_a_list_is_shown_by_its_own_number_of_lines(api: Api) -> None:
    texts = ["one", "one\ntwo", "one\ntwo\nthree", "one\n"]
    session = await api.store([tool_message([text_block(value)]) for value in texts])
    found = await api.data(
        "query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {"
        " few: blocks(maxLines: 1) { ... on TextBlock { text } }"
        " all: blocks { ... on TextBlock { text } } } } } } }",
        id=session.id,
    )
    calls = [node["toolMetadata"] for node in found["session"]["messages"]["nodes"]]
    assert [call["all"] for call in calls] == [[{"text": value}] for value in texts]
    assert [call["few"] for call in calls] == [[{"text": "one"}], None, None, [{"text": "one\n"}]]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_a_line_over_64_kib_is_cut_and_told(api: Api) -> None:
    api = api.with_settings(content_budget_bytes=1_000_000)
    session = await api.store([tool_message([text_block("short\n" + "é" * 40_000 + "\nlast")])])
    variables = {"id": session.message(1), "from": 1, "count": 9}
    found = (await api.data(LINES, **variables))["message"]["toolMetadata"]["contentLines"]
    assert found["lines"] == ["short", "é" * 32_768, "last"]
    assert found["truncated"] == [2]
    assert await api.errors(LINES, **{**variables, "from": 0}) == [
        (["message", "toolMetadata", "contentLines"], "BAD_USER_INPUT")
    ]
    assert await api.errors(LINES, **{**variables, "count": 0}) == [
        (["message", "toolMetadata", "contentLines"], "BAD_USER_INPUT")
    ]


async def test_a_damaged_content_fails_alone(api: Api) -> None:
    session = await api.store([tool_message(["good"]), tool_message(["bad"]), text_message("t")])
    bad = hashlib.sha256(b'["bad"]').digest()
    await api.database.write(
        lambda connection: connection.execute(
            text("UPDATE content_chunk SET data = :data WHERE hash = :hash"),
            {"data": b"damaged", "hash": bad},
        )
    )
    response = await api.run(
        "query ($id: ID!) { session(id: $id) { messages { nodes {"
        " content toolMetadata { content } } } } }",
        id=session.id,
    )
    assert [error["extensions"]["code"] for error in response["errors"]] == ["CORRUPT_CONTENT"]
    nodes = response["data"]["session"]["messages"]["nodes"]
    assert nodes[0]["toolMetadata"]["content"] == ["good"]
    assert nodes[1]["toolMetadata"]["content"] is None
    assert nodes[2]["content"] == "t"


async def test_aliases_within_a_slice_or_lines_are_each_charged(api: Api) -> None:
    session = await api.store([tool_message(content_of(30_000)) for _ in range(2)])
    document = """
    query ($id: ID!, $two: Boolean!) { session(id: $id) { messages { nodes { toolMetadata {
      contentSlice(length: 20000) { a: text b: base64 @include(if: $two) } } } } } }
    """
    path = ["session", "messages", "nodes"]
    assert await api.errors(document, id=session.id, two=False) == []
    # 20,000 bytes as text and as base64, twice, are over 65,536.
    assert await api.errors(document, id=session.id, two=True) == [
        ([*path, 1, "toolMetadata", "contentSlice"], "CONTENT_BUDGET_EXCEEDED")
    ]
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      contentLines { a: lines b: lines } } } } } }
    """
    assert await api.errors(document, id=session.id) == [
        ([*path, 1, "toolMetadata", "contentLines"], "CONTENT_BUDGET_EXCEEDED")
    ]


async def test_a_part_of_one_object_may_be_text_and_base64_and_no_more(api: Api) -> None:
    session = await api.store([tool_message(content_of(70_000))])
    document = """
    query ($id: ID!, $more: Boolean!) { message(id: $id) { toolMetadata {
      contentSlice(length: 66000) { text base64 c: text @include(if: $more) } } } }
    """
    assert await api.errors(document, id=session.message(1), more=False) == []
    assert await api.errors(document, id=session.message(1), more=True) == [
        (["message", "toolMetadata", "contentSlice"], "CONTENT_BUDGET_EXCEEDED")
    ]


@pytest.mark.parametrize(
    ("block", "field"),
    [
        ({"type": "resource_link", "uri": "u", "name": "n", "description": "d"}, "description"),
        ({"type": "terminal", "command": "c"}, "command"),
        ({"type": "diff", "path": "p", "newText": "n"}, "path"),
        ({"type": "hologram"}, "__typename"),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_aliases_of_any_field_of_a_block_are_charged(
    api: Api, block: Json, field: str
) -> None:
    session = await api.store([tool_message([block])])
    names = {
        "description": "ResourceLinkBlock",
        "command": "TerminalBlock",
        "path": "DiffBlock",
        "__typename": "UnknownBlock",
    }
    document = f"""
    query ($id: ID!) {{ message(id: $id) {{ toolMetadata {{ contentSize blocks {{
      ... on {names[field]} {{ a: {field} b: {field} c: {field} }}
      ... on TextBlock {{ d: __typename }} }} }} }} }}
    """
    response = await api.run(document, id=session.message(1))
    size = response["data"]["message"]["toolMetadata"]["contentSize"]
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 3 * size


async def test_fields_of_another_type_charge_and_report_nothing(api: Api) -> None:
    session = await api.store([tool_message(content_of(3_000)), tool_message(content_of(70_000))])
    document = """
    query ($ids: [ID!]!, $compact: Boolean) { nodes(ids: $ids, compact: $compact) {
      ... on Message { a: id }
      ... on Project { content: name }
      ... on ToolMetadata { c: content contentOmitted { reason } }
    } }
    """
    ids = [session.tool(1), session.tool(2)]
    response = await api.run(document, ids=ids)
    assert response["data"]["nodes"][0]["c"] == content_of(3_000)
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 73_000
    document = document.replace("a: id", "a: content")
    response = await api.run(document, ids=ids, compact=False)
    (error,) = response["errors"]
    assert error["path"] == ["nodes", 1, "c"]
    assert response["extensions"]["contentBudget"]["requestedBytes"] == 73_000


async def test_blocks_are_charged_as_rows(api: Api) -> None:
    api = api.with_settings(max_rows=1_000)
    session = await api.store([tool_message([0] * 2_000), tool_message([0] * 10)])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      blocks { __typename } } } } } }
    """
    response = await api.run(document, id=session.id)
    (error,) = response["errors"]
    assert error["path"] == ["session", "messages", "nodes", 0, "toolMetadata", "blocks"]
    assert error["extensions"]["code"] == "TOO_MANY_ROWS"
    nodes = response["data"]["session"]["messages"]["nodes"]
    assert nodes[0]["toolMetadata"]["blocks"] is None
    assert len(nodes[1]["toolMetadata"]["blocks"]) == 10


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_blocks_wrapped_in_blocks_are_unwrapped_at_any_depth(api: Api) -> None:
    block: Json = {"type": "text", "text": "deep"}
    for _ in range(400):
        block = {"type": "content", "content": block}
    found = await tool(api, BLOCKS, [block])
    assert found["blocks"] == [{"__typename": "TextBlock", "text": "deep"}]


async def test_lines_in_bulk_charge_what_has_to_be_read(api: Api) -> None:
    api = api.with_settings(max_slice_bytes=10_000)
    session = await api.store([tool_message(content_of(60_000)), tool_message(content_of(9_000))])
    document = """
    query ($id: ID!) { session(id: $id) { messages { nodes { toolMetadata {
      contentLines(count: 1) { totalLines } } } } } }
    """
    assert await api.errors(document, id=session.id) == [
        (
            ["session", "messages", "nodes", 1, "toolMetadata", "contentLines"],
            "CONTENT_BUDGET_EXCEEDED",
        )
    ]
    document = """
    query ($id: ID!) { message(id: $id) { toolMetadata {
      content contentLines(count: 1) { lines totalLines } } } }
    """
    found = (await api.data(document, id=session.message(1)))["message"]["toolMetadata"]
    assert found["contentLines"]["totalLines"] == 1


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_lines_come_ten_thousand_at_a_time_however_short(api: Api) -> None:
    api = api.with_settings(content_budget_bytes=1_000_000)
    session = await api.store([tool_message([text_block("\n" * 25_000)])])
    variables = {"id": session.message(1), "from": 1, "count": 1_000_000}
    found = (await api.data(LINES, **variables))["message"]["toolMetadata"]["contentLines"]
    assert (len(found["lines"]), found["nextFrom"], found["totalLines"]) == (10_000, 10_001, 25_000)
