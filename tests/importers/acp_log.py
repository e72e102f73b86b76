"""Writes ACP logs message by message, and reads them as a store would keep them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from toolfold.importers import acp
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Line
from toolfold.transcript import (
    UNSET,
    Entry,
    Json,
    Message,
    MessageRole,
    MessageUsage,
    Record,
    Repair,
    Session,
    ToolCall,
    ToolCallUpdate,
)

S = "session-1"
PATH = Path("/logs/agent.ndjson")


def request(method: str, request_id: Json = 0, **params: Json) -> Json:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def response(result: Json = None, request_id: Json = 0) -> Json:
    """Return a JSON-RPC response."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def update(kind: str, session: str = S, /, **values: Json) -> Json:
    """Return a `session/update` notification."""
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **values}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def opened(session: str = S, request_id: Json = 0) -> list[Json]:
    """Return the request that makes a session, and its response."""
    return [
        request("session/new", request_id, cwd="/work", mcpServers=[]),
        response({"sessionId": session}, request_id),
    ]


def prompt(*blocks: Json, session: str = S, request_id: Json = 1) -> Json:
    """Return a `session/prompt` request; a string is a text block."""
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    return request("session/prompt", request_id, sessionId=session, prompt=content)


def answered(request_id: Json = 1, **result: Json) -> Json:
    """Return the response that ends a prompt's turn."""
    return response({"stopReason": "end_turn", **result}, request_id)


def text(value: str) -> Json:
    """Return a text block."""
    return {"type": "text", "text": value}


def said(value: str, message_id: str | None = None, role: str = "agent_message") -> Json:
    """Return one chunk of a message: `role` is user_message, agent_message or agent_thought."""
    ids = {} if message_id is None else {"messageId": message_id}
    return update(f"{role}_chunk", content=text(value), **ids)


def call(call_id: str, **values: Json) -> Json:
    """Return a `tool_call`."""
    return update("tool_call", toolCallId=call_id, **values)


def patch(call_id: str, **values: Json) -> Json:
    """Return a `tool_call_update`."""
    return update("tool_call_update", toolCallId=call_id, **values)


@dataclass
class Store:
    """What came of the logs read into it: a message is kept once, a patch is applied."""

    sessions: dict[str, Session] = field(default_factory=dict)
    messages: dict[str, list[Message]] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def read(self, values: Iterable[Json], path: Path = PATH) -> "Store":
        """Read a log of these JSON values."""
        return self.read_lines([json.dumps(value).encode() for value in values], path)

    def read_lines(self, lines: Sequence[bytes], path: Path = PATH) -> "Store":
        """Read a log of these lines."""
        numbered = (Line(number, raw, terminated=True) for number, raw in enumerate(lines, start=1))
        for entry in acp.parse(Transcript(path, numbered)):
            self.entries.append(entry)
            self._take(entry.session or "", entry.value)
        return self

    def texts(self, session: str = S) -> list[tuple[str, str]]:
        """Return role and text of each message, or role and title of a tool call."""
        return [
            (str(one.role), (one.tool_call.title or "") if one.tool_call else one.content)
            for one in self.messages.get(session, [])
        ]

    def calls(self, session: str = S) -> dict[str, ToolCall]:
        """Return the session's tool calls by id."""
        messages = self.messages.get(session, [])
        return {one.tool_call.tool_call_id: one.tool_call for one in messages if one.tool_call}

    def reasons(self) -> list[str]:
        """Return why records were kept raw."""
        return [record.reason for record in self.records]

    def _take(self, session: str, value: Any) -> None:
        known = self.messages.setdefault(session, [])
        match value:
            case Session():
                self.sessions[session] = value
            case Message():
                if all(one.client_id != value.client_id for one in known):
                    known.append(value)
            case ToolCallUpdate():
                self._patch(known, value)
            case MessageUsage():
                (place,) = (at for at, one in enumerate(known) if one.client_id == value.client_id)
                known[place] = replace(known[place], usage=value.usage)
            case Record():
                self.records.append(value)
            case Repair():
                self.repairs.append(value)

    def _patch(self, known: list[Message], value: ToolCallUpdate) -> None:
        given = {
            one.name: change
            for one in fields(value)
            if one.name != "repaired" and (change := getattr(value, one.name)) is not UNSET
        }
        for place, one in enumerate(known):
            if one.tool_call and one.tool_call.tool_call_id == value.tool_call_id:
                changed = replace(one.tool_call, **given)
                repaired = one.repaired or value.repaired
                known[place] = replace(one, tool_call=changed, repaired=repaired)
                return
        client_id = f"appended:{value.tool_call_id}"
        known.append(Message(client_id, MessageRole.TOOL, tool_call=ToolCall(**given)))
