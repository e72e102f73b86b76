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


def create(site: Site, *messages: dict[str, Any], title: str = "A session", **session: Any) -> str:
    """Make a session of these messages, with `session` as its other fields; return its id."""
    project = site.query("{ projects(first: 1) { nodes { id } } }")["projects"]["nodes"][0]["id"]
    fields = {"projectId": project, "agent": "test-agent", "title": title, **session}
    made = site.query(_CREATE, input=fields)
    assert made["createSession"]["errors"] == []
    created: str = made["createSession"]["session"]["id"]
    if messages:
        append(site, created, *messages)
    return created


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
    messages = (_long_message(sequence) for sequence in range(1, count + 1))
    return _import(site, "A long session", messages)


def import_states(site: Site, *states: tuple[str, str]) -> str:
    """Import a session of calls, each of such a status and state, named by them; return its id."""
    messages = (
        _call(sequence, f"{status} {state}", status=status, contentState=state)
        for sequence, (status, state) in enumerate(states, 1)
    )
    return _import(site, "A session of states", messages)


def _import(site: Site, title: str, messages: Iterable[dict[str, Any]]) -> str:
    answer = httpx.post(
        f"{site.url}/api/projects/default/import",
        content=_lines(title, messages),
        timeout=300,
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    found = site.query(f'{{ sessions(filter: {{titleContains: "{title}"}}) {{ nodes {{ id }} }} }}')
    session: str = found["sessions"]["nodes"][0]["id"]
    return session


def _lines(title: str, messages: Iterable[dict[str, Any]]) -> Iterable[bytes]:
    head = {"format": "test", "sourceSession": title, "agent": "test-agent", "title": title}
    at = {"createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z"}
    yield _line({"toolfold": 1, "session": {"id": title, **head, "status": "completed", **at}})
    for message in messages:
        yield _line({"message": message})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _long_message(sequence: int) -> dict[str, Any]:
    if sequence % 3 == 0:
        words = " ".join(f"word {sequence + place}" for place in range(sequence % 40 + 3))
        said = {"role": "assistant", "content": f"Message {sequence}: {words}"}
        return {**_head(sequence), **said}
    output = text(f"output of {sequence}")
    return _call(sequence, f"command {sequence}", contentState="complete", content=[output])


def _call(sequence: int, title: str, **changes: Any) -> dict[str, Any]:
    call = {
        "toolCallId": f"call{sequence}",
        "name": "Bash",
        "title": title,
        "kind": "execute",
        "status": "completed",
        **changes,
    }
    return {**_head(sequence), "role": "tool", "toolCall": call}


def _head(sequence: int) -> dict[str, Any]:
    at = "2026-01-01T00:00:00.000Z"
    return {"sequence": sequence, "clientId": f"m{sequence}", "createdAt": at}
