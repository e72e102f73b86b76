"""What the clients of these runs ask a server, over one connection each."""

from collections.abc import Sequence
from typing import Any

import orjson

from tests.bench.client import Client, data
from toolfold.schema.global_id import encode
from toolfold.transcript import Json

APPEND = """
mutation ($input: AppendMessagesInput!) {
  appendMessages(input: $input) {
    appendedCount edges { node { sequence } } errors { message }
  }
}
"""
RECORD = """
mutation ($input: RecordAcpUpdatesInput!) {
  recordAcpUpdates(input: $input) { nextIndex errors { message } }
}
"""
CREATE = """
mutation ($input: CreateSessionInput!) {
  createSession(input: $input) { session { id } errors { message } }
}
"""
_PROJECT = "{ projects(first: 1) { nodes { id } } }"
_PAGE = """
query ($id: ID!, $after: String) {
  session(id: $id) {
    messages(first: 50, after: $after, compact: false) {
      nodes { sequence content toolMetadata { toolCallId status content } }
      pageInfo { hasNextPage endCursor }
    }
  }
}
"""


def ask(client: Client, document: str, **variables: Any) -> Any:
    """Return the data of a document's answer.

    Raises:
        RuntimeError: if the answer is of failure, or has errors.
    """
    return data(client.running(document, **variables)())


def changed(client: Client, document: str, **given: Any) -> Any:
    """Return the payload of a document's one mutation.

    Raises:
        RuntimeError: if it has errors, or the answer has.
    """
    (payload,) = ask(client, document, input=given).values()
    if payload["errors"]:
        raise RuntimeError(f"The mutation was refused: {payload['errors']}")
    return payload


def new_sessions(client: Client, *names: str) -> list[str]:
    """Make a session under each name, which may be there already; return their ids."""
    project = ask(client, _PROJECT)["projects"]["nodes"][0]["id"]
    return [
        changed(client, CREATE, projectId=project, agent="load", clientSessionId=name)["session"][
            "id"
        ]
        for name in names
    ]


def append(client: Client, session: str, messages: Sequence[Json]) -> list[int]:
    """Append messages to a session; return their sequences."""
    payload = changed(client, APPEND, sessionId=session, messages=list(messages))
    return [edge["node"]["sequence"] for edge in payload["edges"]]


def record(client: Client, session: str, first_index: int, updates: Sequence[Json]) -> int:
    """Record ACP messages of a session, of which the first has an index; return the next one."""
    payload = changed(
        client, RECORD, sessionId=session, fromIndex=first_index, updates=list(updates)
    )
    next_index: int = payload["nextIndex"]
    return next_index


def import_lines(client: Client, lines: bytes) -> Any:
    """Import lines as `toolfold export` writes them; return the answer."""
    return orjson.loads(client.posting("/api/projects/default/import", lines)())


def messages(client: Client, session: str) -> list[Any]:
    """Return all messages of a session with their contents, as the server shows them."""
    found: list[Any] = []
    after = None
    while True:
        page = ask(client, _PAGE, id=session, after=after)["session"]["messages"]
        found += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


def id_of(session: str) -> str:
    """Return the global id of a session of the default project."""
    return encode("Session", "default", session)
