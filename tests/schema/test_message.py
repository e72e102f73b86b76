"""Messages through the schema: every field, and texts of any size."""

import base64
import hashlib

import pytest

from tests.builders import NOW, text_message, tool_message
from tests.schema.conftest import Api
from toolfold.schema.global_id import encode
from toolfold.transcript import Attachment, MessageRole, Usage

FIELDS = """
query ($id: ID!) { message(id: $id) {
  __typename id sequence revision role origin model
  usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens }
  createdAt repaired contentSize contentPreview content contentOmitted { reason }
  attachments { mimeType size name url }
  toolMetadata { id }
  session { id title usage { inputTokens outputTokens cacheReadTokens cacheCreationTokens } }
} }
"""


async def test_a_message_shows_all_that_was_recorded(api: Api) -> None:
    message = text_message(
        "Grüße 😀",
        MessageRole.ASSISTANT,
        origin="system",
        model="claude-opus-4-8",
        usage=Usage(1200, 180, 5000, 300),
        attachments=(
            Attachment(b"\x89PNG", "image/png", "shot.png"),
            Attachment(b"a", "text/plain"),
        ),
        repaired=True,
    )
    session = await api.store([message], title="Fix the adder")
    usage = {
        "inputTokens": 1200,
        "outputTokens": 180,
        "cacheReadTokens": 5000,
        "cacheCreationTokens": 300,
    }
    png, text = (hashlib.sha256(data).hexdigest() for data in (b"\x89PNG", b"a"))
    data = await api.data(FIELDS, id=session.message(1))
    assert data["message"] == {
        "__typename": "Message",
        "id": session.message(1),
        "sequence": 1,
        "revision": 1,
        "role": "ASSISTANT",
        "origin": "system",
        "model": "claude-opus-4-8",
        "usage": usage,
        "createdAt": NOW,
        "repaired": True,
        "contentSize": 12,
        "contentPreview": "Grüße 😀",
        "content": "Grüße 😀",
        "contentOmitted": None,
        "attachments": [
            {
                "mimeType": "image/png",
                "size": 4,
                "name": "shot.png",
                "url": f"/api/projects/default/blobs/sha256:{png}",
            },
            {
                "mimeType": "text/plain",
                "size": 1,
                "name": None,
                "url": f"/api/projects/default/blobs/sha256:{text}",
            },
        ],
        "toolMetadata": None,
        "session": {"id": session.id, "title": "Fix the adder", "usage": usage},
    }


async def test_a_bare_message_has_nulls_and_empty_lists(api: Api) -> None:
    session = await api.store([text_message("")])
    message = (await api.data(FIELDS, id=session.message(1)))["message"]
    assert message["content"] == ""
    assert message["contentSize"] == 0
    assert message["contentPreview"] == ""
    assert message["usage"] is None
    assert message["attachments"] == []
    assert message["repaired"] is False


@pytest.mark.parametrize("length", [1_024, 1_025, 16 * 1024, 16 * 1024 + 1, 600_000])
async def test_a_text_of_any_size_is_whole(api: Api, length: int) -> None:
    api = api.with_settings(content_budget_bytes=1_000_000)
    text = "é" * (length // 2) + "x" * (length % 2)
    session = await api.store([text_message(text)])
    message = (await api.data(FIELDS, id=session.message(1)))["message"]
    assert message["content"] == text
    assert message["contentSize"] == length
    assert message["contentPreview"] == text[:280]


async def test_a_long_text_obeys_the_compact_guard_and_a_short_one_the_hard_budget(
    api: Api,
) -> None:
    session = await api.store(
        [text_message("a" * 17_000), *(text_message("b" * 16_000) for _ in "12345")]
    )
    document = """
    query ($id: ID!, $compact: Boolean) { session(id: $id) { messages(compact: $compact) { nodes {
      contentSize content contentOmitted { reason size limit } } } } }
    """
    response = await api.run(document, id=session.id)
    nodes = response["data"]["session"]["messages"]["nodes"]
    # 4 texts of 16,000 bytes fit the 65,536 of the hard budget; the long one fits neither.
    assert [node["content"] is not None for node in nodes] == [False, True, True, True, True, False]
    assert nodes[0]["contentOmitted"] == {"reason": "COMPACT_MODE", "size": 17_000, "limit": 4_096}
    assert nodes[5]["contentOmitted"] == {
        "reason": "BUDGET_EXCEEDED",
        "size": 16_000,
        "limit": 65_536,
    }
    assert "errors" not in response
    budget = response["extensions"]["contentBudget"]
    assert (budget["requestedBytes"], budget["deliveredBytes"], budget["omittedCount"]) == (
        17_000,
        0,
        1,
    )
    strict = await api.errors(document, id=session.id, compact=False)
    nodes_path = ["session", "messages", "nodes"]
    assert strict == [
        ([*nodes_path, 4, "content"], "CONTENT_BUDGET_EXCEEDED"),
        ([*nodes_path, 5, "content"], "CONTENT_BUDGET_EXCEEDED"),
    ]


async def test_slices_of_a_text_join_to_the_whole_at_any_step(api: Api) -> None:
    text = "a😀é日本語" * 7
    data = text.encode()
    session = await api.store([text_message(text)])
    document = """
    query ($id: ID!, $offset: BigInt!, $length: Int!) { message(id: $id) {
      contentSlice(offset: $offset, length: $length) {
        offset length totalSize nextOffset base64 text } } }
    """
    for length in (1, 2, 3, 4, 5, 7, 64, 1000):
        offset: int | None = 0
        joined = b""
        while offset is not None:
            variables = {"id": session.message(1), "offset": offset, "length": length}
            part = (await api.data(document, **variables))["message"]["contentSlice"]
            raw = base64.b64decode(part["base64"])
            assert part["text"].encode() == raw
            assert part["offset"] == len(joined)
            assert part["length"] == len(raw) >= 1
            assert part["totalSize"] == len(data)
            joined += raw
            offset = part["nextOffset"]
        assert joined == data


async def test_the_session_of_messages_is_one(api: Api) -> None:
    session = await api.store([text_message(), tool_message()])
    data = await api.data(
        "query ($id: ID!) { session(id: $id) { messages { nodes { session { id } } } } }",
        id=session.id,
    )
    assert data["session"]["messages"]["nodes"] == [{"session": {"id": session.id}}] * 2


async def test_a_preview_is_at_most_280_characters(api: Api) -> None:
    session = await api.store([text_message("😀" * 300)])
    document = "query ($id: ID!, $n: Int!) { message(id: $id) { contentPreview(maxChars: $n) } }"
    for asked, given in ((0, 0), (3, 3), (280, 280)):
        data = await api.data(document, id=session.message(1), n=asked)
        assert data["message"]["contentPreview"] == "😀" * given
    for asked in (-1, 281):
        assert await api.errors(document, id=session.message(1), n=asked) == [
            (["message", "contentPreview"], "BAD_USER_INPUT")
        ]


async def test_the_same_text_twice_is_two_messages(api: Api) -> None:
    session = await api.store([text_message("again"), text_message("again")])
    data = await api.data(
        "query ($id: ID!) { session(id: $id) { messages { nodes { id content } } } }", id=session.id
    )
    assert data["session"]["messages"]["nodes"] == [
        {"id": encode("Message", "default", "s", n), "content": "again"} for n in (1, 2)
    ]


async def test_an_attachment_is_read_by_range_and_charged(api: Api) -> None:
    files = (Attachment(b"\x89PNG bytes", "image/png"), Attachment(b"x" * 60_000, "text/plain"))
    session = await api.store([text_message(attachments=files)])
    document = """
    query ($id: ID!, $length: Int!) { message(id: $id) { attachments {
      slice(offset: 1, length: $length) { offset totalSize base64 } } } }
    """
    data = await api.data(document, id=session.message(1), length=3)
    first, second = (one["slice"] for one in data["message"]["attachments"])
    assert first == {"offset": 1, "totalSize": 10, "base64": "UE5H"}
    assert second["totalSize"] == 60_000
    other = session.message(1)
    aliases = f"""{{ message(id: "{other}") {{ attachments {{
      a: slice {{ base64 }} b: slice {{ base64 }} }} }} }}"""
    assert await api.errors(aliases) == [
        (["message", "attachments", 1, "b"], "CONTENT_BUDGET_EXCEEDED")
    ]
