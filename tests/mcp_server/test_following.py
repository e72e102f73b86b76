"""Whoever follows what reads on has everything, byte for byte, in answers within their budget."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.builders import text_block, text_message, tool_message
from tests.mcp_server.asking import Mcp, Part
from tests.mcp_server.conftest import SCHEMA, Connect
from tests.schema.conftest import Api
from toolfold import readable, stored_json
from toolfold.cli.commands import program
from toolfold.schema.context import Resources
from toolfold.settings import Settings
from toolfold.store import content as content_store
from toolfold.store.engine import Database
from toolfold.transcript import Json

CORPUS = os.environ.get("TOOLFOLD_CORPUS")
SESSIONS = """
query ($after: String) { sessions(first: 100, after: $after, filter: {includeChildren: true}) {
  nodes { id } pageInfo { hasNextPage endCursor } } }
"""
HASHES = """
query ($id: ID!, $after: String) { session(id: $id) { messages(first: 500, after: $after) {
  nodes { sequence contentSize contentSlice { totalSize } toolMetadata {
    contentHash rawInput { hash } rawOutput { hash } } }
  pageInfo { hasNextPage endCursor } } } }
"""
TEXT = """
query ($id: ID!, $sequence: Int!, $offset: BigInt!) { session(id: $id) {
  messages(aroundSequence: $sequence, first: 1) { nodes {
    sequence contentSlice(offset: $offset, length: 1000000) { text nextOffset } } } } }
"""


class Recorded:
    """What is recorded of a session, read apart from MCP and whole."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._resources = Resources(Settings(), database)

    async def sessions(self) -> list[str]:
        ids: list[str] = []
        page: Any = {"hasNextPage": True, "endCursor": None}
        while page["hasNextPage"]:
            found = (await self._data(SESSIONS, after=page["endCursor"]))["sessions"]
            ids += [node["id"] for node in found["nodes"]]
            page = found["pageInfo"]
        return ids

    async def parts(self, session_id: str) -> dict[Part, str]:
        parts: dict[Part, str] = {}
        page: Any = {"hasNextPage": True, "endCursor": None}
        while page["hasNextPage"]:
            data = await self._data(HASHES, id=session_id, after=page["endCursor"])
            found = data["session"]["messages"]
            for node in found["nodes"]:
                parts |= await self._of_message(session_id, node)
            page = found["pageInfo"]
        return parts

    async def _of_message(self, session_id: str, node: Any) -> dict[Part, str]:
        sequence = node["sequence"]
        parts: dict[Part, str] = {}
        if node["contentSize"]:
            parts[sequence, "text"] = await self._text(session_id, sequence)
        tool = node["toolMetadata"] or {}
        if tool.get("contentHash"):
            content = stored_json.decode((await self._bytes(tool["contentHash"])).encode())
            parts[sequence, "output"] = readable.text(content)
        for name, field in (("input", "rawInput"), ("raw_output", "rawOutput")):
            if tool.get(field):
                parts[sequence, name] = await self._bytes(tool[field]["hash"])
        return parts

    async def _text(self, session_id: str, sequence: int) -> str:
        text = ""
        offset: int | None = 0
        while offset is not None:
            data = await self._data(TEXT, id=session_id, sequence=sequence, offset=offset)
            (node,) = data["session"]["messages"]["nodes"]
            text += node["contentSlice"]["text"]
            offset = node["contentSlice"]["nextOffset"]
        return text

    async def _bytes(self, hash_text: str) -> str:
        digest = bytes.fromhex(hash_text.removeprefix("sha256:"))
        pieces = content_store.stream(self._database, "default", digest)
        return b"".join([piece async for piece in pieces]).decode()

    async def _data(self, document: str, **variables: Any) -> Any:
        result = await SCHEMA.execute(document, variables, context_value=self._resources)
        assert not result.errors
        return result.data


async def assert_followed(mcp: Mcp, database: Database, **arguments: Any) -> int:
    """Compare what is followed with what is recorded, of every session; return how many."""
    recorded = Recorded(database)
    sessions = await recorded.sessions()
    for session_id in sessions:
        followed = await mcp.everything(session_id, **arguments)
        expected = await recorded.parts(session_id)
        assert followed.keys() == expected.keys()
        for key, text in expected.items():
            assert followed[key] == text, key
    return len(sessions)


def command(settings: Settings, *arguments: str) -> None:
    """Run a command over the test's database."""
    program(
        [*arguments, "--data-dir", str(settings.data_dir)],
        prog_name="toolfold",
        standalone_mode=False,
    )


@pytest.mark.skipif(CORPUS is None, reason="TOOLFOLD_CORPUS names no folder of transcripts")
async def test_every_transcript_is_followed_byte_for_byte(
    mcp: Mcp, database: Database, database_settings: Settings
) -> None:
    await asyncio.to_thread(command, database_settings, "import", str(Path(CORPUS or "")))
    assert await assert_followed(mcp, database, max_bytes=200_000) > 5


async def test_the_sample_is_followed_byte_for_byte(
    mcp: Mcp, database: Database, database_settings: Settings
) -> None:
    await asyncio.to_thread(command, database_settings, "sample")
    assert await assert_followed(mcp, database, max_bytes=1_000_000) == 2


EMOJI = "👩‍🚀é😀"
CONTENTS: list[Json] = [
    [text_block(EMOJI * 3_000)],
    [text_block("\x1b[31m\x00\x07" * 2_000 + "\u202e" * 500)],
    [text_block('"quoted" \\ ' * 3_000), text_block("second")],
    ["", "plain", None, 3.5, {"type": "unknown", "x": ["y" * 30_000]}],
    {"no": "array"},
    "a string alone",
    [],
    None,
]


@pytest.mark.parametrize("max_bytes", [8_000, 8_001, 8_003, 12_345])
async def test_whatever_is_recorded_is_followed_in_small_answers(
    mcp: Mcp, database: Database, max_bytes: int
) -> None:
    messages = [text_message(EMOJI * 4_000), text_message(""), text_message("\n" * 9_000)]
    messages += [
        tool_message(content, title="t" * 500, raw_input={"a": EMOJI * 900}, raw_output=content)
        for content in CONTENTS
    ]
    await Api(database, Settings()).store(messages, title="\x1b" * 500, agent="a" * 200)
    await assert_followed(mcp, database, max_bytes=max_bytes)


TOKENS = 94_702
FOUND = 20


def long_output() -> str:
    """Return text of `TOKENS` tokens or more, in lines of ten words, with "needle" `FOUND` times.

    Tokens are counted as words between white space: tokenizers of language models part a text
    there before all else, so that each word is one token at least, whatever the model.
    """
    words = [f"w{number:05}" for number in range(TOKENS)]
    words[:: -(-TOKENS // FOUND)] = ["needle"] * FOUND
    return "\n".join(" ".join(words[at : at + 10]) for at in range(0, TOKENS, 10))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_through_a_transport_all_is_reachable_within_the_budget(
    connect: Connect, database: Database, mode: str
) -> None:
    output = long_output()
    assert (len(output.split()), output.count("needle")) == (TOKENS, FOUND)
    # Whatever boundary there is, of an answer or of what is stored, is within or beside an emoji.
    emoji = ["x" * before + "😀" * 70_000 for before in range(4)]
    messages = [tool_message([text_block(text)]) for text in (output, *emoji)]
    messages += [text_message(text) for text in emoji]
    messages += [text_message(f"{number} 😀") for number in range(len(messages) + 1, 5_001)]
    session = await Api(database, Settings()).store(messages)

    async with connect(mode) as mcp:
        # What is sent is held to the budget, and each slice to whole characters, by what asks.
        followed = await mcp.everything(session.id)
        found = await mcp.call("get_tool_content", session_id=session.id, sequence=1, find="NEEDLE")

    expected = {(1, "output"): output}
    expected |= {(at, "output"): text for at, text in enumerate(emoji, 2)}
    expected |= {(at, "text"): text for at, text in enumerate(emoji, 6)}
    expected |= {(at, "text"): f"{at} 😀" for at in range(10, 5_001)}
    assert followed == expected
    assert found["match_count"] == FOUND
    numbers = [match["line"] for match in found["matches"]]
    lines = output.split("\n")
    assert numbers == [at for at, line in enumerate(lines, 1) if "needle" in line]
