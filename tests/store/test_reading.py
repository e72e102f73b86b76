"""What a page of messages reads of SQLite's file: rows, and nothing of the bodies."""

import uuid

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from tests import builders
from tests.store.opening import opened
from tests.store.reading import bytes_read
from toolfold.settings import Settings
from toolfold.store import message, sqlite
from toolfold.store.page import PageRequest
from toolfold.transcript import Message, MessageRole, ToolCall, ToolKind, ToolLocation, Usage

MODEL = "claude-opus-4-20250514"
LIGHT_COLUMNS = [name for name in message.COLUMNS if name != "content"]

pytestmark = [
    pytest.mark.linux,
    pytest.mark.parametrize("dialect", ["sqlite"], indirect=True),
]


def conversation(body_bytes: int, *, letter: str = "x", text: str = "Word. " * 20) -> list[Message]:
    """Return 500 texts and 500 tool calls, with the ids that an agent gives and full previews."""
    messages = []
    for number in range(500):
        identity = uuid.UUID(int=number)
        output = (letter * body_bytes)[: body_bytes - 10] + f"{number:10}"
        call = ToolCall(
            f"toolu_01{number:022}",
            name="Bash",
            title="git log --oneline -n 20",
            kind=ToolKind.EXECUTE,
            content=[builders.text_block(output)],
            raw_input={"command": f"git log --oneline -n 20 # {number}"},
            locations=(ToolLocation("/home/user/project/README.md", 12),),
        )
        usage = Usage(3, 300, 20_000, 500)
        messages += [
            Message(f"{identity}:0", MessageRole.ASSISTANT, text, model=MODEL, usage=usage),
            Message(f"{identity}:1", MessageRole.TOOL, model=MODEL, tool_call=call),
        ]
    return messages


async def page_bytes(settings: Settings, messages: list[Message]) -> int:
    """Store a session of 1,000 messages; return what the page of them all reads, in bytes."""
    key = (builders.PROJECT, str(uuid.UUID(int=7)))
    async with opened(settings, create=True) as database:
        await builders.store_session(database, messages, session_id=key[1])

    async def read(connection: AsyncConnection) -> None:
        request = PageRequest(first=1_000, with_page_info=True)
        page = await message.page(connection, *key, request, columns=LIGHT_COLUMNS)
        assert len(page.rows) == 1_000

    return await bytes_read(settings, read)


async def test_a_page_of_1000_messages_reads_few_pages_whatever_its_bodies(
    database_settings: Settings, empty_database_settings: Settings
) -> None:
    small = await page_bytes(database_settings, conversation(1024))
    assert 64 * 4096 < small <= 150 * 4096
    large = await page_bytes(empty_database_settings, conversation(1024 * 1024))
    assert abs(large - small) <= 0.02 * small


@pytest.mark.parametrize("size", [1_024, 1_025, 12 * 1024, 16 * 1024, 20 * 1024])
async def test_a_page_of_1000_messages_reads_few_pages_whatever_its_texts(
    database_settings: Settings, size: int
) -> None:
    read = await page_bytes(database_settings, conversation(1024, text="w" * size))
    assert read <= 150 * sqlite.PAGE_BYTES


async def test_a_preview_in_any_script_lies_in_the_rows_own_page(
    database_settings: Settings,
) -> None:
    # 840 bytes of UTF-8 each.
    read = await page_bytes(database_settings, conversation(1024, letter="語"))
    assert read <= 150 * sqlite.PAGE_BYTES
