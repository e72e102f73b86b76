"""What a mutation comes to: the objects that its payload shows, or why it did nothing.

A session or project may be deleted right after the write. So what a payload selects of it is read
before any of it is shown, and its `errors` tell what is not there any more.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import strawberry

from toolfold.errors import RefusedError
from toolfold.schema import selection
from toolfold.schema.context import Info
from toolfold.schema.global_id import MessageKey, SessionKey, encode
from toolfold.schema.guard import bulk_access
from toolfold.schema.message import MessageFilter, message_columns, message_scope
from toolfold.schema.mutation import flaws, texts, user_errors
from toolfold.schema.mutation.user_errors import NotFoundError, UserError
from toolfold.schema.rows import ProjectRow, SessionRow, message_rows, project_row, session_row
from toolfold.store import message as message_store

_ID_PATHS = {"session_id": "sessionId", "id": "id"}
"""The fields of inputs that name what is written, as GraphQL has them."""


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """Rows of messages with these columns, by key."""

    columns: tuple[str, ...]
    rows: Mapping[MessageKey, Any]


@dataclass(slots=True)
class Outcome:
    """The source of every payload; `stored` are the messages of `message_keys`, if selected."""

    errors: list[UserError] = field(default_factory=list)
    client_mutation_id: str | None = None
    project_id: str | None = None
    session_key: SessionKey | None = None
    deleted_id: strawberry.ID | None = None
    message_keys: list[MessageKey] | None = None
    stored: StoredMessages | None = None
    appended_count: int = 0
    next_index: int = 0


async def settle(info: Info, asked: Any, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """Return what `work` comes to for an input, which is looked through first.

    What it refuses by a `RefusedError` is the error of an outcome that shows nothing.
    """
    try:
        await asyncio.to_thread(flaws.refuse, asked)
        outcome = await work()
    except RefusedError as refusal:
        outcome = Outcome(errors=[user_errors.of_refusal(refusal, asked)])
    # The mutations of an operation run one after the other: each shows what it left.
    info.context.renew_loaders()
    gone = await _read(info, outcome)
    if gone is not None:
        outcome = Outcome(errors=[_deleted(gone, asked)])
    # One that was refused itself is not sent back.
    if not any(error.path == ["input", "clientMutationId"] for error in outcome.errors):
        outcome.client_mutation_id = texts.given(asked.client_mutation_id)
    return outcome


async def show_project(root: Outcome, info: Info) -> ProjectRow | None:
    """Resolve a payload's `project`."""
    if root.project_id is None:
        return None
    return project_row(await info.context.loaders.projects.load(root.project_id))


async def show_session(root: Outcome, info: Info) -> SessionRow | None:
    """Resolve a payload's `session`."""
    if root.session_key is None:
        return None
    return session_row(await info.context.loaders.sessions.load(root.session_key))


def show_messages(root: Outcome, info: Info) -> list[Any] | None:
    """Resolve a payload's messages or their edges, in the order in which they were asked for."""
    stored, keys = root.stored, root.message_keys
    if stored is None or keys is None or root.session_key is None:
        return None
    access = bulk_access(compact=None, default=info.context.settings.compact_mode_default)
    scope = message_scope(root.session_key, MessageFilter())
    shown = message_rows(stored.columns, stored.rows.values(), access, scope)
    rows = {row.key: row for row in shown}
    return [rows[key] for key in keys]


async def _read(info: Info, outcome: Outcome) -> str | None:
    """Read what the payload selects of an outcome; return the id of what is not there any more."""
    raw = selection.raw_info(info)
    fields = selection.subfields(raw.field_nodes, raw)
    loaders = info.context.loaders
    if outcome.project_id is not None and selection.named(fields, "project"):
        project = await loaders.projects.load(outcome.project_id)
        return encode("Project", outcome.project_id) if project is None else None
    # Each message shows its session too.
    if outcome.session_key is None or not selection.named(fields, "session", "edges", "messages"):
        return None
    session = await loaders.sessions.load(outcome.session_key)
    is_there = session is not None and await _read_messages(info, fields, outcome)
    return None if is_there else encode("Session", *outcome.session_key)


async def _read_messages(info: Info, fields: selection.Fields, outcome: Outcome) -> bool:
    """Read the outcome's messages if they are selected; say whether all are there that are."""
    edges = selection.named(fields, "edges")
    lists = selection.named(fields, "messages")
    if outcome.message_keys is None or not (edges or lists):
        return True
    nodes = selection.named(selection.subfields(edges, selection.raw_info(info)), "node")
    columns = message_columns(info, [*nodes, *lists], "Message")
    keys = set(outcome.message_keys)
    async with info.context.database.read(single=True) as connection:
        found = await message_store.by_keys(connection, keys, columns)
    outcome.stored = StoredMessages(columns, found)
    return found.keys() == keys


def _deleted(gone: str, asked: Any) -> UserError:
    """Return the error that what has this id, and was written for an input, is gone."""
    path = [name for field, name in _ID_PATHS.items() if hasattr(asked, field)]
    message = "It was deleted right after it was written."
    return NotFoundError(message=message, path=["input", *path], id=strawberry.ID(gone))
