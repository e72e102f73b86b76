"""The roots of a subscription: what happens to sessions, resumable at any place."""

import contextlib
from collections.abc import AsyncGenerator
from typing import Annotated, Any

import strawberry

from toolfold.errors import BadUserInputError, NotFoundError
from toolfold.feed import session as session_feed
from toolfold.feed.session import News, Place, SessionFeed
from toolfold.feed.session_list import Listed, SessionListFeed
from toolfold.schema import selection, update_cursor
from toolfold.schema.connection import NO_SCOPE
from toolfold.schema.context import Info
from toolfold.schema.global_id import SessionKey, encode, project_key, session_key
from toolfold.schema.guard import Access, bulk_access
from toolfold.schema.message import Message, message_columns
from toolfold.schema.rows import SessionRow, message_rows, session_row
from toolfold.schema.session import Session


@strawberry.type(description="A message that was added or has changed.")
class MessageUpdate:
    """One message in its newest form."""

    cursor: str
    is_new: bool = strawberry.field(
        description="False when the message was seen before at an older revision."
    )
    message: Message


@strawberry.type(
    description=(
        "The backlog has been delivered; again after a slow reader was sent back to the store."
    )
)
class CaughtUp:
    """The join of what is stored and what happens."""

    cursor: str


@strawberry.type(
    description=(
        "A session that appeared, or something of its own that changed: its title or status, say. "
        "What follows from its messages, as counts and sizes do, is told by `MessageUpdate` alone."
    )
)
class SessionChange:
    """A session's row."""

    cursor: str
    session: Session


@strawberry.type(description="A session that is there no more.")
class SessionDeleted:
    """The last that is told of a session."""

    cursor: str
    deleted_id: strawberry.ID


SessionUpdate = Annotated[
    MessageUpdate | CaughtUp | SessionChange | SessionDeleted,
    strawberry.union("SessionUpdate", description="What may happen to a session."),
]

SessionListUpdate = Annotated[
    SessionChange | SessionDeleted,
    strawberry.union("SessionListUpdate", description="What may happen to a list of sessions."),
]


@strawberry.type(description="What can be followed.")
class Subscription:
    """The subscription root. What is wrong with a subscription is told before it begins."""

    @strawberry.subscription(
        description=(
            "A session from `after` on: first what is stored, each changed message once in its "
            "newest form, then what happens, in order of revision, without gap or repeat. "
            "Reconnect with the last `cursor`, or begin at `Session.updatesCursor`. Heavy fields "
            "as in `Session.messages`, one ledger per event."
        )
    )
    async def session_updates(
        self,
        info: Info,
        *,
        session_id: strawberry.ID,
        after: str | None = None,
        compact: bool | None = None,
    ) -> AsyncGenerator[SessionUpdate, None]:
        key = session_key(session_id)
        row = session_row(await info.context.loaders.sessions.load(key)) if key else None
        if key is None or row is None:
            raise NotFoundError("There is no session under this id.")
        place = _place(key, row, after)
        access = bulk_access(compact=compact, default=info.context.settings.compact_mode_default)
        return _session_updates(info, key, place, access)

    @strawberry.subscription(
        description=(
            "Sessions as they appear, change and go, for a list; at most one a second for each. Of "
            "one project, or of all that may be read. No backlog: query `sessions` after "
            "subscribing."
        )
    )
    async def session_list_updates(
        self, info: Info, *, project_id: strawberry.ID | None = None
    ) -> AsyncGenerator[SessionListUpdate, None]:
        key = None if project_id is None else project_key(project_id)
        is_there = key is not None and await info.context.loaders.projects.load(key) is not None
        if project_id is not None and not is_there:
            raise NotFoundError("There is no project under this id.")
        return _session_list_updates(info, key)


def _place(key: SessionKey, session: SessionRow, after: str | None) -> Place:
    """Return where a follower of a session begins.

    Raises:
        BadUserInputError: naming `after`, if it is no place in this session's updates.
    """
    if after is None:
        return Place.start(session)
    place = update_cursor.decode(key, after)
    if not place.is_of(session):
        raise BadUserInputError(
            "after is of a session that was deleted and made again since.", argument="after"
        )
    return place


async def _session_updates(
    info: Info, key: SessionKey, place: Place, access: Access
) -> AsyncGenerator[Any, None]:
    """Yield the updates of a session as GraphQL shows them."""
    raw = selection.raw_info(info)
    selected = selection.named(selection.subfields(raw.field_nodes, raw), "message")
    columns = message_columns(info, selected, "Message", "revision")
    resources = info.context.resources
    followed = SessionFeed(
        resources.database, resources.events, resources.reads, resources.settings.query_seconds
    )
    async with contextlib.aclosing(followed.follow(key, place, columns)) as news:
        async for one in news:
            info.context.begin_event()
            yield _update(key, one, columns, access)


def _update(key: SessionKey, news: News, columns: tuple[str, ...], access: Access) -> Any:
    cursor = update_cursor.encode(key, news.place)
    match news:
        case session_feed.MessageChanged(_, row, is_new):
            (message,) = message_rows(columns, [row], access, NO_SCOPE)
            return MessageUpdate(cursor=cursor, is_new=is_new, message=message)
        case session_feed.SessionChanged(_, row):
            return SessionChange(cursor=cursor, session=_shown(row))
        case session_feed.CaughtUp():
            return CaughtUp(cursor=cursor)
        case session_feed.Deleted():
            return _deleted(key, news.place)


async def _session_list_updates(info: Info, project_id: str | None) -> AsyncGenerator[Any, None]:
    """Yield what happens to the sessions of a project, or of all, as GraphQL shows it."""
    resources = info.context.resources
    followed = SessionListFeed(
        resources.database, resources.events, resources.reads, resources.settings.query_seconds
    )
    async with contextlib.aclosing(followed.follow(project_id)) as listed:
        async for one in listed:
            info.context.begin_event()
            yield _list_update(one)


def _list_update(listed: Listed) -> Any:
    if listed.row is None:
        return _deleted(listed.key, Place(0, 0, "", ""))
    cursor = update_cursor.encode(listed.key, Place.end(listed.row))
    return SessionChange(cursor=cursor, session=_shown(listed.row))


def _deleted(key: SessionKey, place: Place) -> SessionDeleted:
    deleted_id = strawberry.ID(encode("Session", *key))
    return SessionDeleted(cursor=update_cursor.encode(key, place), deleted_id=deleted_id)


def _shown(row: Any) -> Any:
    """Return the store's row of a session as the value of a field of type `Session`."""
    return session_row(row)
