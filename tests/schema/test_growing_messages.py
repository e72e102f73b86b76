"""What grows word by word, followed by a client that reads on from where it was."""

from collections.abc import Callable

import orjson
import pytest

from tests.ingest.stored import findings
from tests.schema.conftest import SCHEMA, Api
from tests.schema.following import Following
from tests.schema.mutating import mutate
from toolfold.schema.global_id import encode
from toolfold.transcript import Json

SESSION = encode("Session", "default", "s")
UPDATES = """
subscription ($id: ID!) {
  sessionUpdates(sessionId: $id) {
    __typename
    ... on MessageUpdate { cursor message { contentSize toolMetadata { contentSize } } }
  }
}
"""
SLICE = "contentSlice(offset: $from) { text nextOffset totalSize }"
WORDS = 100


def said(word: str) -> Json:
    content = {"type": "text", "text": word}
    return {"sessionUpdate": "agent_message_chunk", "content": content}


def printed(word: str) -> Json:
    delta = {"terminal_id": "t", "data": word}
    meta = {"terminal_output_delta": delta}
    return {"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": meta}


@pytest.mark.parametrize(
    ("tell", "selection", "path"),
    [(said, SLICE, []), (printed, f"toolMetadata {{ {SLICE} }}", ["toolMetadata"])],
    ids=["text", "terminal"],
)
async def test_a_follower_receives_each_byte_of_what_grows_once(
    api: Api, tell: Callable[[str], Json], selection: str, path: list[str]
) -> None:
    await api.store([])
    document = f"query ($id: ID!, $from: BigInt!) {{ message(id: $id) {{ {selection} }} }}"
    message = encode("Message", "default", "s", 1)
    words = [f"word-{number:03}-{'x' * 200} " for number in range(WORDS)]
    received, text, place = 0, "", 0
    stream = await SCHEMA.stream(UPDATES, {"id": SESSION}, context_value=api.resources)
    following = Following(stream, "sessionUpdates")
    assert (await following.next())["__typename"] == "CaughtUp"
    for index, word in enumerate(words):
        update = tell(word)
        payload = await mutate(
            api, "recordAcpUpdates", sessionId=SESSION, fromIndex=index, updates=[update]
        )
        assert payload["errors"] == []
        event = await following.response()
        found = (await api.data(document, id=message, **{"from": place}))["message"]
        received += len(orjson.dumps(event)) + len(orjson.dumps(found))
        for name in path:
            found = found[name]
        part = found["contentSlice"]
        assert part["nextOffset"] is None
        # What closes the JSON comes anew each time.
        new = part["text"].removesuffix('"}]') if path else part["text"]
        text += new
        place += len(new)
    await stream.aclose()
    assert text.endswith("".join(words))
    assert text.count("word-") == WORDS
    assert received <= WORDS * 500 + len(text)
    assert await findings(api.database) == []
