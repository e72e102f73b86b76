"""A client that holds every answer to its budget, and one that follows what reads on."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextContent

Answer = dict[str, Any]
Part = tuple[int, str]
"""A message's sequence, and the name of a part."""


@dataclass(slots=True)
class Mcp:
    """A client of the SDK; `answer_bytes` is what the server keeps to unless told otherwise."""

    client: Client
    answer_bytes: int

    async def result(self, tool: str, **arguments: Any) -> CallToolResult:
        """Return the result of a call, which is within its budget whole as it is sent."""
        result = await self.client.call_tool(tool, arguments)
        sent = result.model_dump_json(by_alias=True, exclude_none=True).encode()
        assert result.is_error or len(sent) <= (arguments.get("max_bytes") or self.answer_bytes)
        return result

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """Return the structured output of a call that succeeds."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        found: Answer = result.structured_content or {}
        return found

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that succeeds."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that is refused."""
        result = await self.result(tool, **arguments)
        assert result.is_error
        return text_of(result)

    async def follow(self, call: Mapping[str, Any]) -> Answer:
        """Return the answer to a call that an answer before gave."""
        return await self.call(call["tool"], **call["arguments"])

    async def everything(self, session_id: str, **arguments: Any) -> dict[Part, str]:
        """Return every part of every message, by following all that reads on."""
        texts: dict[Part, str] = defaultdict(str)
        page = await self.call("get_session_messages", session_id=session_id, **arguments)
        while True:
            for message in page["messages"]:
                for name, part in parts_of(message).items():
                    key = (message["sequence"], name)
                    assert key not in texts
                    texts[key] = await self._whole(part, name)
            if "next" not in page:
                return dict(texts)
            page = await self.follow(page["next"])

    async def _whole(self, part: Answer, name: str) -> str:
        text: str = part["text"]
        while "next" in part:
            answer = await self.follow(part["next"])
            part = parts_of(answer["message"])[name] if "message" in answer else answer
            assert part["offset"] == len(text.encode())
            assert part["bytes"] == len(part["text"].encode())
            assert part["text"]
            text += part["text"]
        assert len(text.encode()) == part["total_bytes"]
        return text


def text_of(result: CallToolResult) -> str:
    """Return the text of an answer."""
    (text,) = (block.text for block in result.content if isinstance(block, TextContent))
    return text


def parts_of(message: Answer) -> dict[str, Answer]:
    """Return the parts that an answer shows of a message."""
    call = message.get("tool_call", {})
    found = {"text": message.get("text")}
    found |= {name: call.get(name) for name in ("input", "output", "raw_output")}
    return {name: part for name, part in found.items() if part is not None}
