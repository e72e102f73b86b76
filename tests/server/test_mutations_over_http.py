"""Mutations as bytes: what only the text of JSON shows is kept exactly, or refused by its path."""

from typing import Any

import httpx
import orjson
import pytest

from tests.server.serving import codes
from tests.server.stored import Served
from toolfold.schema.global_id import encode

DOCUMENT = """
mutation Append($input: AppendMessagesInput!) {
  appendMessages(input: $input) { appendedCount errors { __typename path } }
}
"""
READ = """
query ($id: ID!) {
  message(id: $id) {
    toolMetadata { contentSize contentSlice { text } rawInput { slice { text } } }
  }
}
"""


def body(content: bytes = b"[]", text: bytes = b'""', raw_input: bytes = b"null") -> bytes:
    """Return a request that appends a call of these JSON texts."""
    return b"".join(
        [
            b'{"query":',
            orjson.dumps(DOCUMENT),
            b',"variables":{"input":{"sessionId":"',
            encode("Session", "default", "s").encode(),
            b'","messages":[{"clientMessageId":"m","role":"TOOL","content":',
            text,
            b',"toolMetadata":{"toolCallId":"c","content":',
            content,
            b',"rawInput":',
            raw_input,
            b"}}]}}}",
        ]
    )


async def post(served: Served, data: bytes) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return await served.client.post("/graphql", content=data, headers=headers)


async def appended(served: Served, data: bytes) -> dict[str, Any]:
    response = await post(served, data)
    payload: dict[str, Any] = response.json()["data"]["appendMessages"]
    return payload


@pytest.fixture
async def session(served: Served) -> Served:
    """A server with a session without messages."""
    await served.store()
    return served


async def test_what_was_sent_is_stored_to_its_last_digit_and_level(session: Served) -> None:
    deep = b"[" * 1_000 + b"]" * 1_000
    raw_input = b'{"n":' + b"9" * 5_000 + b',"f":0.1,"z":{"b":1,"a":2},"s":"\\u0000\\ud83d\\ude00"}'
    payload = await appended(session, body(deep, raw_input=raw_input))
    assert payload == {"appendedCount": 1, "errors": []}
    given = {"query": READ, "variables": {"id": encode("Message", "default", "s", 1)}}
    response = await session.client.post("/graphql", json=given)
    call = response.json()["data"]["message"]["toolMetadata"]
    assert (call["contentSize"], call["contentSlice"]["text"]) == (2_000, deep.decode())
    expected = raw_input.replace(b"\\ud83d\\ude00", "😀".encode()).decode()
    assert call["rawInput"]["slice"]["text"] == expected


LETTERS = "".join(f"\\u00{ord(letter):02x}" for letter in "mutation")


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("mutation", r"\u006dutation"),
        ("mutation", r"mutatio\u006E"),
        ("mutation", LETTERS),
        ("mutation", LETTERS.upper().replace("U", "u")),
        ('{"query":"', r'{"\u0071uery":"\u000A'),
        ('{"query":"', '{"payload":{},"query":"'),
        ('{"query":"', '{"query":"{ __typename }","query":"'),
        ('{"query":"\\nmutation', '{"payload":{},"query":"' + LETTERS),
    ],
)
async def test_however_a_mutation_is_written_it_is_read_to_its_last_digit(
    session: Served, plain: str, written: str
) -> None:
    def rewritten(raw_input: bytes) -> bytes:
        data = body(raw_input=raw_input)
        assert plain.encode() in data
        return data.replace(plain.encode(), written.encode(), 1)

    (error,) = (await appended(session, rewritten(b'["\\ud800"]')))["errors"]
    assert error["path"] == ["input", "messages", "0", "toolMetadata", "rawInput", "0"]
    payload = await appended(session, rewritten(b"123456789012345678901234567890"))
    assert payload == {"appendedCount": 1, "errors": []}
    given = {"query": READ, "variables": {"id": encode("Message", "default", "s", 1)}}
    response = await session.client.post("/graphql", json=given)
    raw_input = response.json()["data"]["message"]["toolMetadata"]["rawInput"]
    assert raw_input["slice"]["text"] == "123456789012345678901234567890"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"content": b'[{"a":1,"a":2}]'}, "toolMetadata.content.0"),
        ({"raw_input": b'{"x":{"a":null,"b":0,"a":null}}'}, "toolMetadata.rawInput.x"),
        ({"content": b'["\\ud800"]'}, "toolMetadata.content.0"),
        ({"raw_input": b'{"\\udfff":1}'}, "toolMetadata.rawInput"),
        ({"raw_input": b"[1e999]"}, "toolMetadata.rawInput.0"),
        ({"text": b'"\\ud83d"'}, "content"),
        ({"content": b"[" * 1_001 + b"]" * 1_001}, "toolMetadata.content"),
        ({"content": b'{"type":"text"}'}, "toolMetadata.content"),
    ],
    ids=str,
)
async def test_what_cannot_be_stored_is_an_error_at_its_path(
    session: Served, given: dict[str, bytes], path: str
) -> None:
    payload = await appended(session, body(**given))
    (error,) = payload["errors"]
    assert error["__typename"] == "InvalidInputError"
    assert ".".join(error["path"]) == f"input.messages.0.{path}"
    assert payload["appendedCount"] == 0
    assert (await appended(session, body()))["appendedCount"] == 1


@pytest.mark.parametrize(
    "data",
    [
        body(b"[NaN]"),
        body(b"[-Infinity]"),
        body(b"[" * 5_000 + b"]" * 5_000),
        body(b"["),
        body(b'["\xff"]'),
        body(b'["\x01"]'),
        b'{"query":"mutation { \\ud800 }"}',
    ],
    ids=lambda data: str(data[-40:]),
)
async def test_what_is_no_json_is_a_bad_request(session: Served, data: bytes) -> None:
    response = await post(session, data)
    assert (response.status_code, codes(response)) == (400, ["BAD_REQUEST"])
    assert (await appended(session, body()))["appendedCount"] == 1


async def test_a_name_that_is_no_unicode_is_told_in_unicode(session: Served) -> None:
    response = await post(session, body().replace(b'"role"', b'"\\ud800":1,"role"'))
    assert response.status_code == 200
    assert "\ufffd" in response.json()["errors"][0]["message"]
    assert (await appended(session, body()))["appendedCount"] == 1


async def test_a_batch_over_the_limit_is_refused_and_a_body_over_its_own_is_not_read(
    session: Served,
) -> None:
    for megabytes, status in ((9, 200), (17, 413)):
        text = b'"' + b"x" * (megabytes * 1024 * 1024) + b'"'
        response = await post(session, body(text=text))
        assert response.status_code == status
    payload = await appended(session, body(text=b'"' + b"x" * (9 * 1024 * 1024) + b'"'))
    assert payload["errors"] == [{"__typename": "TooLargeError", "path": ["input", "messages"]}]
    assert (await appended(session, body()))["appendedCount"] == 1
