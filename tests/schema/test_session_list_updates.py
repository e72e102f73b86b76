"""Subscriptions to a list of sessions: which changed, each as it is now, and not too often."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import delete

from tests.builders import add_project
from tests.schema.following import Following, Live, write
from toolfold.events import Events, Position, Watch
from toolfold.feed import session_list
from toolfold.schema.context import Resources
from toolfold.schema.global_id import encode, session_key
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import message_table, session_table
from toolfold.transcript import Message, MessageRole, Session, ToolCall

LIST = """
subscription($project: ID) {
  sessionListUpdates(projectId: $project) {
    __typename
    ... on SessionChange { cursor session { title messageCount } }
    ... on SessionDeleted { cursor deletedId }
  }
}
"""


class ObservedEvents(Events):
    """Events that say when somebody has begun to watch: nothing before is told."""

    def __init__(self) -> None:
        super().__init__()
        self.is_watched = asyncio.Event()

    @contextlib.contextmanager
    def watch_sessions(self, project_id: str | None) -> Iterator[Watch]:
        with super().watch_sessions(project_id) as watch:
            self.is_watched.set()
            yield watch


@pytest.fixture
def events() -> ObservedEvents:
    return ObservedEvents()


@pytest.fixture
def live(database: Database, events: ObservedEvents) -> Live:
    return Live(Resources(Settings(), database, events))


@pytest.fixture
def interval(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what sets the least time between two tellings of one session."""
    return functools.partial(monkeypatch.setattr, session_list, "INTERVAL_SECONDS")


def said(client_id: object) -> Message:
    return Message(str(client_id), MessageRole.ASSISTANT, "Words.")


def change(title: str | None, count: int) -> dict[str, Any]:
    session = {"title": title, "messageCount": count}
    return {"__typename": "SessionChange", "session": session}


@contextlib.asynccontextmanager
async def listening(live: Live, project: str | None = None) -> AsyncIterator["Listening"]:
    """Subscribe and begin to watch, for as long as the block runs."""
    events = live.resources.events
    assert isinstance(events, ObservedEvents)
    events.is_watched.clear()
    async with live.follow(LIST, "sessionListUpdates", project=project) as following:
        listening = Listening(following)
        await events.is_watched.wait()
        yield listening
        listening.coming.cancel()
        await asyncio.wait([listening.coming])


class Listening:
    """A subscription whose next event is always waited for."""

    def __init__(self, following: Following) -> None:
        self.following = following
        self.coming = asyncio.ensure_future(following.next())

    async def next(self) -> dict[str, Any]:
        event = await self.coming
        self.coming = asyncio.ensure_future(self.following.next())
        return event


async def test_sessions_are_told_as_they_appear_change_and_go(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(0)
    async with listening(live) as listed:
        id_ = await live.write(Session(title="One"), said(1))
        assert await listed.next() == change("One", 1)
        await live.write(said(2))
        assert await listed.next() == change("One", 2)
        await live.write(Session(title="Renamed"))
        assert await listed.next() == change("Renamed", 2)
        await live.write(Session(title="Two"), session="other")
        assert await listed.next() == change("Two", 0)
        project, session = session_key(id_) or ("", "")
        await live.resources.database.write(
            lambda connection: (
                connection.execute(delete(message_table).filter_by(session_id=session)),
                connection.execute(delete(session_table).filter_by(id=session)),
            )
        )
        live.resources.events.publish([Position(project, session, None)])
        assert await listed.next() == {"__typename": "SessionDeleted", "deletedId": id_}


async def test_a_child_that_finds_its_parent_is_told(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(0)
    await live.write(Session(title="Child"), said(1), session="child")
    call = ToolCall("c1", child_session="child")
    async with listening(live) as listed:
        await live.write(
            Session(title="Parent"), Message("m1", MessageRole.TOOL, tool_call=call), session="p"
        )
        told = [await listed.next() for _ in range(2)]
    assert sorted(event["session"]["title"] for event in told) == ["Child", "Parent"]


async def test_a_list_is_of_one_project_or_of_all(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(0)
    await live.resources.database.write(lambda connection: add_project(connection, "p"))
    database, events = live.resources.database, live.resources.events
    async with listening(live, encode("Project", "p")) as listed:
        await write(database, events, Session(title="Elsewhere"))
        await write(database, events, Session(title="Here"), project="p")
        assert await listed.next() == change("Here", 0)
    async with listening(live) as listed:
        for project in ("default", "p"):
            await write(database, events, said(1), project=project)
        assert [(await listed.next())["session"]["title"] for _ in range(2)] == [
            "Elsewhere",
            "Here",
        ]


async def test_a_session_told_just_now_waits_and_others_do_not(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(3_600)
    async with listening(live) as listed:
        await live.write(Session(title="One"))
        assert await listed.next() == change("One", 0)
        await live.write(said(1))
        await live.write(Session(title="Two"), session="other")
        assert await listed.next() == change("Two", 0)


async def test_the_latest_of_many_changes_is_told_when_the_time_has_passed(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(0.2)
    async with listening(live) as listed:
        await live.write(Session(title="One"))
        for number in range(1, 31):
            await live.write(said(number))
        told = [await listed.next()]
        while told[-1] != change("One", 30):
            told.append(await listed.next())
        counts = [event["session"]["messageCount"] for event in told]
        assert counts == sorted(set(counts))


async def test_the_cursor_of_a_change_leads_into_the_session(
    live: Live, interval: Callable[[float], None]
) -> None:
    interval(0)
    async with listening(live) as listed:
        id_ = await live.write(said(1), said(2))
        await listed.next()
        after = listed.following.cursor
    await live.write(said(3))
    async with live.follow(id=id_, after=after) as following:
        (update,) = await following.until_caught_up()
        assert update["message"]["sequence"] == 3


@pytest.mark.parametrize("project", ["", "nothing", encode("Project", "absent")])
async def test_a_project_that_is_not_there_is_an_error(live: Live, project: str) -> None:
    async with live.follow(LIST, "sessionListUpdates", project=project) as following:
        response = await following.response()
        assert response["data"] is None
        assert [error["extensions"]["code"] for error in response["errors"]] == ["NOT_FOUND"]
        assert await following.has_ended()
