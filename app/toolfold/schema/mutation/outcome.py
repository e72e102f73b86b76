"""What a mutation comes to: the objects that its payload shows, or why it did nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import strawberry

from toolfold.errors import RefusedError
from toolfold.schema.context import Info
from toolfold.schema.global_id import MessageKey, SessionKey
from toolfold.schema.mutation import flaws, texts, user_errors
from toolfold.schema.mutation.user_errors import UserError
from toolfold.schema.rows import ProjectRow, SessionRow, project_row, session_row


@dataclass(slots=True)
class Outcome:
    """The source of every payload; its rows are read when they are selected."""

    errors: list[UserError] = field(default_factory=list)
    client_mutation_id: str | None = None
    project_id: str | None = None
    session_key: SessionKey | None = None
    deleted_id: strawberry.ID | None = None
    message_keys: list[MessageKey] | None = None
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
    # One that was refused itself is not sent back.
    if not any(error.path == ["input", "clientMutationId"] for error in outcome.errors):
        outcome.client_mutation_id = texts.given(asked.client_mutation_id)
    # The mutations of an operation run one after the other: each shows what it left.
    info.context.renew_loaders()
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
