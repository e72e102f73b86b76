"""What is deleted right after a mutation wrote it is told as such, and nothing of it is shown."""

from functools import partial
from typing import Any

import pytest

from tests.builders import text_block, text_message
from tests.schema.conftest import Api
from tests.schema.mutating import mutate, shown
from toolfold import loaders
from toolfold.ingest import lifecycle, projects
from toolfold.schema.global_id import encode, project_key, session_key
from toolfold.store import message as message_store

DEFAULT = encode("Project", "default")
NODE = "id content session { id title } toolMetadata { content blocks { __typename } }"
EDGES = f"edges {{ cursor node {{ {NODE} }} }}"
MESSAGES = f"messages {{ {NODE} }}"
SESSION = f"session {{ id title messages(first: 5) {{ nodes {{ {NODE} }} }} }}"
PROJECT = "project { id name }"
LONG = [text_block("long " * 5_000)]
NEW = {
    "clientMessageId": "m",
    "role": "TOOL",
    "content": "text",
    "toolMetadata": {"toolCallId": "c", "content": LONG},
}
CHUNK = {
    "sessionUpdate": "agent_message_chunk",
    "content": {"type": "text", "text": "Hello."},
}


@pytest.fixture
async def session_id(api: Api) -> str:
    payload = await mutate(
        api, "createSession", "session { id }", projectId=DEFAULT, agent="a", clientSessionId="mine"
    )
    made: str = payload["session"]["id"]
    return made


class Deleting:
    """What deletes something after the next write to a database, and counts how often it did."""

    def __init__(self, api: Api, monkeypatch: pytest.MonkeyPatch, removal: Any) -> None:
        self.times = 0
        self._write = api.database.write
        self._removal = removal
        self._monkeypatch = monkeypatch
        self._database = api.database

    def arm(self) -> None:
        self._monkeypatch.setattr(self._database, "write", self._write_and_delete)

    async def delete(self) -> None:
        self.times += 1
        await self._write(self._removal)

    async def _write_and_delete(self, function: Any) -> Any:
        self._monkeypatch.setattr(self._database, "write", self._write)
        result = await self._write(function)
        await self.delete()
        return result


def of_session(api: Api, monkeypatch: pytest.MonkeyPatch, session_id: str) -> Deleting:
    project, key = session_key(session_id) or ("", "")
    removal = partial(lifecycle.remove, project_id=project, session_id=key)
    return Deleting(api, monkeypatch, removal)


def emptied(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what a payload has beside its errors and its client's id."""
    return {name: payload[name] for name in payload if name not in ("errors", "clientMutationId")}


MUTATIONS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "updateSession": (SESSION, {"title": "T"}, {"session": None}),
    "appendMessages": (
        f"appendedCount {EDGES} {SESSION}",
        {"messages": [NEW]},
        {"appendedCount": 0, "edges": None, "session": None},
    ),
    "updateToolCalls": (
        f"{MESSAGES} {SESSION}",
        {"updates": [{"toolCallId": "c", "content": LONG}]},
        {"messages": None, "session": None},
    ),
    "recordAcpUpdates": (
        f"nextIndex {SESSION}",
        {"fromIndex": 0, "updates": [CHUNK]},
        {"nextIndex": 0, "session": None},
    ),
}


@pytest.mark.parametrize("field", MUTATIONS)
async def test_a_session_that_is_deleted_after_the_write_is_not_found(
    api: Api, monkeypatch: pytest.MonkeyPatch, session_id: str, field: str
) -> None:
    selection, given, nothing = MUTATIONS[field]
    name = "id" if field == "updateSession" else "sessionId"
    deleting = of_session(api, monkeypatch, session_id)
    deleting.arm()
    asked = {name: session_id, **given, "clientMutationId": "x"}
    payload = await mutate(api, field, selection, **asked)
    assert deleting.times == 1
    assert shown(payload) == [("NotFoundError", f"input.{name}")]
    assert payload["errors"][0]["id"] == session_id
    assert emptied(payload) == nothing
    assert payload["clientMutationId"] == "x"


@pytest.mark.parametrize(
    ("field", "selection", "name"),
    [
        ("appendMessages", EDGES, "edges"),
        ("appendMessages", "edges { cursor }", "edges"),
        ("updateToolCalls", MESSAGES, "messages"),
    ],
)
@pytest.mark.parametrize("is_read", [False, True])
async def test_messages_that_are_deleted_after_the_write_are_not_found(  # noqa: PLR0913
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    session_id: str,
    field: str,
    selection: str,
    name: str,
    *,
    is_read: bool,
) -> None:
    """Also if the session has been read when it is deleted."""
    deleting = of_session(api, monkeypatch, session_id)
    by_keys = message_store.by_keys

    async def delete_first(*arguments: Any) -> Any:
        await deleting.delete()
        return await by_keys(*arguments)

    if is_read:
        monkeypatch.setattr(message_store, "by_keys", delete_first)
    else:
        deleting.arm()
    payload = await mutate(api, field, selection, sessionId=session_id, **MUTATIONS[field][1])
    assert deleting.times == 1
    assert shown(payload) == [("NotFoundError", "input.sessionId")]
    assert emptied(payload) == {name: None}


async def test_what_is_not_selected_is_not_asked_for(
    api: Api, monkeypatch: pytest.MonkeyPatch, session_id: str
) -> None:
    deleting = of_session(api, monkeypatch, session_id)
    deleting.arm()
    payload = await mutate(
        api, "appendMessages", "appendedCount", sessionId=session_id, messages=[NEW]
    )
    assert deleting.times == 1
    assert (payload["appendedCount"], payload["errors"]) == (1, [])


async def test_a_session_that_is_deleted_once_it_was_made_is_not_found(
    api: Api, monkeypatch: pytest.MonkeyPatch, session_id: str
) -> None:
    deleting = of_session(api, monkeypatch, session_id)
    deleting.arm()
    given = {"projectId": DEFAULT, "agent": "a", "clientSessionId": "mine"}
    payload = await mutate(api, "createSession", SESSION, **given)
    assert deleting.times == 1
    assert shown(payload) == [("NotFoundError", "input")]
    assert payload["errors"][0]["id"] == session_id
    assert payload["session"] is None
    again = await mutate(api, "createSession", SESSION, **given)
    assert (again["session"]["id"], again["errors"]) == (session_id, [])


async def test_a_project_that_is_deleted_after_its_change_is_not_found(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await mutate(api, "createProject", PROJECT, name="p")
    id_ = made["project"]["id"]
    removal = partial(projects.remove, project_id=str(project_key(id_)))
    deleting = Deleting(api, monkeypatch, removal)
    deleting.arm()
    payload = await mutate(api, "updateProject", PROJECT, id=id_, name="q")
    assert deleting.times == 1
    assert shown(payload) == [("NotFoundError", "input.id")]
    assert (payload["project"], payload["errors"][0]["id"]) == (None, id_)


QUERIES = {
    "message": ("query ($id: ID!) { message(id: $id) { session { id } } }", "session"),
    "nodes": (
        "query ($id: ID!) { nodes(ids: [$id]) { ... on Message { session { id } } } }",
        "session",
    ),
    "session": ("query ($of: ID!) { session(id: $of) { id project { id } } }", "project"),
    "sessions": ("{ sessions { nodes { id project { id } } } }", "project"),
}


@pytest.mark.parametrize("query", QUERIES)
async def test_what_is_deleted_while_a_query_reads_is_told_as_such(
    api: Api, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """What every message and session has is not there: that is no mistake of the server."""
    made = await mutate(api, "createProject", PROJECT, name="p")
    project = str(project_key(made["project"]["id"]))
    stored = await api.store([text_message(n) for n in ("a", "b", "c")], project=project)
    deleting = Deleting(api, monkeypatch, partial(projects.remove, project_id=project))
    document, of_what = QUERIES[query]
    load = {"session": "load_sessions", "project": "load_projects"}[of_what]
    read = getattr(loaders, load)

    async def delete_first(*arguments: Any) -> Any:
        if not deleting.times:
            await deleting.delete()
        return await read(*arguments)

    monkeypatch.setattr(loaders, load, delete_first)
    errors = await api.errors(document, id=stored.message(1), of=stored.id)
    assert deleting.times == 1
    assert {code for _, code in errors} == {"NOT_FOUND"}
    assert {(path or [None])[-1] for path, _ in errors} == {of_what}


async def test_a_mutation_after_another_shows_what_that_one_left(api: Api, session_id: str) -> None:
    document = f"""
    mutation ($id: ID!) {{
      first: updateSession(input: {{id: $id, title: "1"}}) {{ session {{ title }} }}
      gone: deleteSession(input: {{id: $id}}) {{ deletedId }}
      second: updateSession(input: {{id: $id, title: "2"}}) {{ {SESSION} errors {{ path }} }}
    }}
    """
    data = await api.data(document, id=session_id)
    assert data == {
        "first": {"session": {"title": "1"}},
        "gone": {"deletedId": session_id},
        "second": {"session": None, "errors": [{"path": ["input", "id"]}]},
    }
