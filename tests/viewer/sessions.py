"""Sessions that the viewer is tried on, made through the API."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import httpx

from tests.viewer.conftest import Site

ESCAPE = "\x1b"

_CREATE = """
mutation Create($input: CreateSessionInput!) {
  createSession(input: $input) { session { id } errors { message } }
}
"""
_APPEND = """
mutation Append($input: AppendMessagesInput!) {
  appendMessages(input: $input) { errors { message } }
}
"""
_UPDATE = """
mutation Update($input: UpdateToolCallsInput!) {
  updateToolCalls(input: $input) { errors { message } }
}
"""


def create(site: Site, *messages: dict[str, Any], title: str = "A session") -> str:
    """Make a session of these messages and return its GraphQL id."""
    project = site.query("{ projects(first: 1) { nodes { id } } }")["projects"]["nodes"][0]["id"]
    made = site.query(_CREATE, input={"projectId": project, "agent": "test-agent", "title": title})
    assert made["createSession"]["errors"] == []
    session: str = made["createSession"]["session"]["id"]
    if messages:
        append(site, session, *messages)
    return session


def append(site: Site, session: str, *messages: dict[str, Any]) -> None:
    """Append messages to a session."""
    done = site.query(_APPEND, input={"sessionId": session, "messages": list(messages)})
    assert done["appendMessages"]["errors"] == []


def update(site: Site, session: str, call: str, **changes: Any) -> None:
    """Patch the tool call `call` of a session."""
    change = {"toolCallId": call, **changes}
    done = site.query(_UPDATE, input={"sessionId": session, "updates": [change]})
    assert done["updateToolCalls"]["errors"] == []


def said(name: str, text: str, role: str = "ASSISTANT") -> dict[str, Any]:
    """Return a message of text; `name` is its own in its session."""
    return {"clientMessageId": name, "role": role, "content": text}


def called(call_id: str, content: Sequence[Any] | None, **call: Any) -> dict[str, Any]:
    """Return a tool call, by default a command that ended well."""
    metadata = {"toolCallId": call_id, "name": "Bash", "title": call_id, "kind": "EXECUTE", **call}
    return {
        "clientMessageId": call_id,
        "role": "TOOL",
        "toolMetadata": {**metadata, "content": content},
    }


def text(value: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "content", "content": {"type": "text", "text": value}}


def import_long(site: Site, count: int) -> str:
    """Import a session of `count` messages, two tool calls in three, and return its GraphQL id."""
    answer = httpx.post(
        f"{site.url}/api/projects/default/import",
        content=_lines(count),
        timeout=300,
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    found = site.query('{ sessions(filter: {titleContains: "A long session"}) { nodes { id } } }')
    session: str = found["sessions"]["nodes"][0]["id"]
    return session


def _lines(count: int) -> Iterable[bytes]:
    head = {"format": "test", "sourceSession": f"long-{count}", "agent": "test-agent"}
    at = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}
    title = {"title": "A long session", "status": "completed"}
    yield _line({"toolfold": 1, "session": {"id": f"long-{count}", **head, **title, **at}})
    for sequence in range(1, count + 1):
        yield _line({"message": _long_message(sequence)})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _long_message(sequence: int) -> dict[str, Any]:
    base: dict[str, Any] = {
        "sequence": sequence,
        "clientId": f"m{sequence}",
        "createdAt": "2026-01-01T00:00:00.000Z",
    }
    if sequence % 3 == 0:
        words = " ".join(f"word {sequence + place}" for place in range(sequence % 40 + 3))
        return {**base, "role": "assistant", "content": f"Message {sequence}: {words}"}
    output = {"type": "content", "content": {"type": "text", "text": f"output of {sequence}"}}
    call = {
        "toolCallId": f"call{sequence}",
        "name": "Bash",
        "title": f"command {sequence}",
        "kind": "execute",
        "status": "completed",
        "contentState": "complete",
        "content": [output],
    }
    return {**base, "role": "tool", "toolCall": call}
