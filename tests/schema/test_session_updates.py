"""Subscriptions to a session: what is told, in which order, from where, and at which cost."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from sqlalchemy import Connection, delete

from tests.builders import text_message, tool_message
from tests.ingest.stored import rows
from tests.schema.conftest import SCHEMA, content_of
from tests.schema.following import UPDATES, Following, Live
from tests.statements import statements
from toolfold import loaders
from toolfold.events import Position
from toolfold.feed import session as feed
from toolfold.ingest import lifecycle
from toolfold.ingest.lifecycle import NewSession
from toolfold.schema.global_id import encode, session_key
from toolfold.store.engine import Database
from toolfold.store.tables import content_chunk_table, message_table, session_table
from toolfold.transcript import (
    Message,
    MessageRole,
    Session,
    SessionStatus,
    ToolCallUpdate,
    ToolStatus,
)


@pytest.fixture
def live(database: Database) -> Live:
    return Live.over(database)


def said(client_id: str, content: str = "Words.") -> Message:
    return Message(client_id, MessageRole.ASSISTANT, content)


def called(call: str, **fields: Any) -> Message:
    return tool_message(client_id=call, tool_call_id=call, **fields)


def update(
    sequence: int, revision: int, content: str = "Words.", *, is_new: bool = True
) -> dict[str, Any]:
    message = {"sequence": sequence, "revision": revision, "content": content}
    return {"__typename": "MessageUpdate", "isNew": is_new, "message": message}


CAUGHT_UP = {"__typename": "CaughtUp"}


def places(events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return the sequence and revision of each message that was told."""
    messages = [event["message"] for event in events if "message" in event]
    return [(message["sequence"], message["revision"]) for message in messages]


async def test_the_backlog_is_told_then_the_join_then_what_happens(live: Live) -> None:
    id_ = await live.write(said("a"), said("b", "Two."))
    async with live.follow(id=id_) as following:
        assert [await following.next() for _ in range(3)] == [
            update(1, 1),
            update(2, 2, "Two."),
            CAUGHT_UP,
        ]
        await live.write(said("c"))
        assert await following.next() == update(3, 3)
        await live.write(said("d"), said("a", "Words, and more."))
        assert await following.next() == update(4, 4)
        assert await following.next() == update(1, 5, "Words, and more.", is_new=False)


async def test_a_changed_message_is_told_once_in_its_newest_form(live: Live) -> None:
    id_ = await live.write(said("a"), said("b"), said("c"))
    for number in range(5):
        await live.write(said("b", "Words." + "!" * (number + 1)))
    async with live.follow(id=id_) as following:
        assert await following.until_caught_up() == [
            update(1, 1),
            update(3, 3),
            update(2, 8, "Words.!!!!!"),
        ]


async def test_many_updates_between_two_reads_become_one(live: Live) -> None:
    id_ = await live.write(said("a", ""))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        for number in range(1, 51):
            await live.write(said("a", "word " * number))
        assert await following.next() == update(1, 51, "word " * 50, is_new=False)
        await live.write(said("b"))
        assert await following.next() == update(2, 52)


async def test_a_follower_goes_on_from_any_cursor(live: Live) -> None:
    id_ = await live.write(*(said(str(number)) for number in range(1, 6)))
    await live.write(said("2", "Words again."))
    cursors: list[str | None] = [None]
    async with live.follow(id=id_) as following:
        events = []
        for _ in range(5):
            events.append(await following.next())
            cursors.append(following.cursor)
        assert await following.next() == CAUGHT_UP
        cursors.append(following.cursor)
    assert places(events) == [(1, 1), (3, 3), (4, 4), (5, 5), (2, 6)]
    for position, cursor in enumerate(cursors):
        async with live.follow(id=id_, after=cursor) as following:
            rest = await following.until_caught_up()
            assert places(rest) == places(events)[position:]
    await live.write(said("6"), said("4", "Words again."))
    async with live.follow(id=id_, after=cursors[-1]) as following:
        assert await following.until_caught_up() == [
            update(6, 7),
            update(4, 8, "Words again.", is_new=False),
        ]


async def test_a_message_is_new_to_whoever_had_no_older_one(live: Live) -> None:
    id_ = await live.write(said("1"), said("2"), said("3"))
    await live.write(said("1", "Words again."))
    async with live.follow(id=id_) as following:
        assert await following.next() == update(2, 2)
        after = following.cursor
        assert await following.next() == update(3, 3)
        # Its first form was not told.
        assert await following.next() == update(1, 4, "Words again.")
        assert await following.next() == CAUGHT_UP
        await live.write(said("1", "Words, and more."))
        assert await following.next() == update(1, 5, "Words, and more.", is_new=False)
    async with live.follow(id=id_, after=after) as following:
        assert await following.until_caught_up() == [update(3, 3), update(1, 5, "Words, and more.")]


async def test_a_page_and_what_follows_it_miss_nothing(live: Live) -> None:
    id_ = await live.write(said("1"), said("2"))
    document = "query($id: ID!) { session(id: $id) { updatesCursor messageCount } }"
    result = await SCHEMA.execute(document, {"id": id_}, context_value=live.resources)
    assert result.data is not None
    session = result.data["session"]
    assert session["messageCount"] == 2
    await live.write(said("3"), said("2", "Words again."))
    async with live.follow(id=id_, after=session["updatesCursor"]) as following:
        assert await following.until_caught_up() == [
            update(3, 3),
            update(2, 4, "Words again.", is_new=False),
        ]


async def test_a_session_that_changes_itself_is_told_after_its_messages(live: Live) -> None:
    id_ = await live.write(Session(title="Before"), said("1"))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        changed = Session(title="After", status=SessionStatus.ACTIVE)
        await live.write(changed, said("2"))
        assert await following.next() == update(2, 2)
        assert await following.next() == {
            "__typename": "SessionChange",
            "session": {"title": "After", "status": "ACTIVE", "messageCount": 2},
        }
        await live.write(said("3"))
        assert await following.next() == update(3, 3)


async def test_a_change_of_the_session_is_told_to_whoever_comes_back(live: Live) -> None:
    id_ = await live.write(Session(title="Before"), said("1"))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        after = following.cursor
    await live.write(Session(title="After"))
    async with live.follow(id=id_, after=after) as following:
        (event,) = await following.until_caught_up()
        assert event["session"]["title"] == "After"
        after = following.cursor
    async with live.follow(id=id_, after=after) as following:
        assert await following.until_caught_up() == []


async def test_an_empty_session_is_caught_up_with_at_once(live: Live) -> None:
    id_ = await live.write(Session(title="Empty"))
    async with live.follow(id=id_) as following:
        assert await following.next() == CAUGHT_UP


async def remove(live: Live, id_: str) -> None:
    project, session = session_key(id_) or ("", "")

    def delete_rows(connection: Any) -> None:
        connection.execute(delete(message_table).filter_by(session_id=session))
        connection.execute(delete(session_table).filter_by(id=session))

    await live.resources.database.write(delete_rows)
    live.resources.events.publish([Position(project, session, None)])


async def test_a_deleted_session_is_told_last(live: Live) -> None:
    id_ = await live.write(said("1"))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        await remove(live, id_)
        assert await following.next() == {"__typename": "SessionDeleted", "deletedId": id_}
        assert following.cursor is not None
        assert await following.has_ended()


async def test_another_session_under_a_deleted_ones_id_is_not_taken_for_it(live: Live) -> None:
    id_ = await live.write(said("1"), said("2"))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        await remove(live, id_)
        assert await live.write(said("1")) == id_
        assert (await following.next())["__typename"] == "SessionDeleted"
        after = following.cursor
    assert await errors(live, id=id_, after=after) == ["BAD_USER_INPUT"]


async def test_a_cursor_of_a_session_that_was_made_again_longer_is_refused(live: Live) -> None:
    id_ = await live.write(*(said(f"old{number}") for number in range(3)))
    document = "query($id: ID!) { session(id: $id) { updatesCursor } }"
    result = await SCHEMA.execute(document, {"id": id_}, context_value=live.resources)
    assert result.data is not None
    cursors = [result.data["session"]["updatesCursor"]]
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        cursors.append(following.cursor)
        await remove(live, id_)
        assert await live.write(*(said(f"new{number}") for number in range(6))) == id_
        assert await following.next() == {"__typename": "SessionDeleted", "deletedId": id_}
        cursors.append(following.cursor)
        assert await following.has_ended()
    for cursor in cursors:
        assert await errors(live, id=id_, after=cursor) == ["BAD_USER_INPUT"]


async def test_a_session_that_a_client_makes_again_takes_no_cursor_of_the_first(live: Live) -> None:
    new = NewSession(agent="an agent", client_id="mine")
    now = datetime(2026, 11, 30, 17, 9, tzinfo=UTC)

    def make(connection: Connection) -> str:
        return lifecycle.create(connection, "default", new, now=now).session_id

    write = live.resources.database.write
    session = await write(make)
    id_ = encode("Session", "default", session)
    async with live.follow(id=id_) as following:
        assert await following.next() == CAUGHT_UP
        await write(lambda connection: lifecycle.remove(connection, "default", session))
        # Made at the same time, it tells nothing that the first one did not.
        assert await write(make) == session
        assert await errors(live, id=id_, after=following.cursor) == ["BAD_USER_INPUT"]


async def test_a_session_that_began_earlier_than_was_known_is_the_same(live: Live) -> None:
    begun = datetime(2026, 11, 30, 17, 9, tzinfo=UTC)
    id_ = await live.write(replace(said("1"), created_at=begun))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
    await live.write(replace(said("2"), created_at=begun - timedelta(days=1)))
    async with live.follow(id=id_, after=following.cursor) as following:
        assert await following.next() == update(2, 2)


async def errors(live: Live, **variables: Any) -> list[str]:
    """Return the codes of the errors with which a subscription ends before it has begun."""
    async with live.follow(**variables) as following:
        response = await following.response()
        assert response["data"] is None
        assert await following.has_ended()
        return [error["extensions"]["code"] for error in response["errors"]]


@pytest.mark.parametrize(
    "id_", ["", "nothing", encode("Session", "default", "s"), encode("Project", "default")]
)
async def test_a_session_that_is_not_there_is_an_error(live: Live, id_: str) -> None:
    assert await errors(live, id=id_) == ["NOT_FOUND"]


async def test_a_cursor_that_is_none_of_the_sessions_is_bad_input(live: Live) -> None:
    id_ = await live.write(said("1"))
    other = await live.write(said("1"), session="other")
    async with live.follow(id=other) as following:
        await following.next()
        foreign = following.cursor
    page = "query($id: ID!) { session(id: $id) { messages { edges { cursor } } } }"
    result = await SCHEMA.execute(page, {"id": id_}, context_value=live.resources)
    assert result.data is not None
    (edge,) = result.data["session"]["messages"]["edges"]
    for cursor in ("", "nothing", foreign, edge["cursor"]):
        assert await errors(live, id=id_, after=cursor) == ["BAD_USER_INPUT"]


async def test_a_backlog_longer_than_a_stretch_is_told_in_order(live: Live) -> None:
    count = 2 * feed.STRETCH_ROWS + 50
    id_ = await live.write(*(said(str(number)) for number in range(count)))
    async with live.follow(id=id_) as following:
        events = await following.until_caught_up()
    assert places(events) == [(number, number) for number in range(1, count + 1)]


async def test_whoever_falls_a_stretch_behind_is_caught_up_again(live: Live) -> None:
    id_ = await live.write(said("first"))
    async with live.follow(id=id_) as following:
        await following.until_caught_up()
        await live.write(*(said(str(number)) for number in range(feed.STRETCH_ROWS)))
        events = await following.until_caught_up()
        assert len(events) == feed.STRETCH_ROWS


async def test_a_slow_reader_is_sent_back_to_the_store(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "STALE_SECONDS", -1)
    id_ = await live.write(said("1"), said("2"), said("3"))
    async with live.follow(id=id_) as following:
        assert await following.next() == update(1, 1)
        # Meanwhile the rest of what was read has become old.
        await live.write(said("2", "Words, newer."))
        assert await following.until_caught_up() == [update(3, 3), update(2, 4, "Words, newer.")]


async def test_a_write_during_a_read_is_told_all_the_same(live: Live) -> None:
    id_ = await live.write(said("0"))
    async with live.follow(id=id_) as one, live.follow(id=id_) as other:
        await asyncio.gather(one.until_caught_up(), other.until_caught_up())

        async def written() -> None:
            for number in range(1, 41):
                await live.write(said(str(number)))

        async def read(following: Following) -> list[tuple[int, int]]:
            return places([await following.next() for _ in range(40)])

        _, *told = await asyncio.gather(written(), read(one), read(other))
        assert told == [[(number, number) for number in range(2, 42)]] * 2


SIZES = """
subscription($id: ID!) {
  sessionUpdates(sessionId: $id) {
    ... on MessageUpdate { message { sequence toolMetadata { status contentSize } } }
  }
}
"""


async def test_what_is_not_selected_is_not_read(live: Live) -> None:
    id_ = await live.write(called("c", content=content_of(300_000), status=ToolStatus.PENDING))
    with statements(live.resources.database) as seen:
        async with live.follow(SIZES, id=id_) as following:
            event = await following.next()
            assert event["message"]["toolMetadata"] == {
                "status": "PENDING",
                "contentSize": 300_000,
            }
    assert not [sql for sql in seen if "content_chunk" in sql or "message_text" in sql]
    (read,) = [sql for sql in seen if "FROM message" in sql]
    assert "raw_input" not in read
    assert "preview" not in read


CONTENTS = """
subscription($id: ID!, $compact: Boolean) {
  sessionUpdates(sessionId: $id, compact: $compact) {
    __typename
    ... on MessageUpdate {
      message { sequence toolMetadata { contentSize content contentOmitted { reason limit } } }
    }
  }
}
"""


async def test_every_event_has_the_guards_budgets_anew(database: Database) -> None:
    live = Live.over(database, compact_budget_bytes=4_096, content_budget_bytes=65_536)
    sizes = [3_000, 3_000, 9_030]
    id_ = await live.write(
        *(called(str(number), content=content_of(size)) for number, size in enumerate(sizes))
    )
    async with live.follow(CONTENTS, id=id_) as following:
        responses = [await following.response() for _ in sizes]
    calls = [
        response["data"]["sessionUpdates"]["message"]["toolMetadata"] for response in responses
    ]
    assert [call["contentOmitted"] for call in calls] == [
        None,
        None,
        {"reason": "COMPACT_MODE", "limit": 4_096},
    ]
    assert [len(orjson.dumps(call["content"])) for call in calls] == [3_000, 3_000, 4]
    budgets = [response["extensions"]["contentBudget"] for response in responses]
    assert [budget["requestedBytes"] for budget in budgets] == sizes
    assert [budget["deliveredBytes"] for budget in budgets] == [3_000, 3_000, 0]


async def test_everything_may_be_asked_for_event_by_event(database: Database) -> None:
    live = Live.over(database, compact_budget_bytes=4_096, content_budget_bytes=65_536)
    id_ = await live.write(
        called("a", content=content_of(60_000)),
        called("b", content=content_of(60_000, "b")),
        called("c", content=content_of(70_000)),
    )
    async with live.follow(CONTENTS, id=id_, compact=False) as following:
        responses = [await following.response() for _ in range(3)]
    assert ["errors" in response for response in responses] == [False, False, True]
    (error,) = responses[2]["errors"]
    assert error["extensions"]["code"] == "CONTENT_BUDGET_EXCEEDED"
    assert responses[2]["data"]["sessionUpdates"]["message"]["sequence"] == 3


async def test_an_event_reads_what_is_there_now_not_what_another_event_read(live: Live) -> None:
    id_ = await live.write(said("1"))
    document = """
    subscription($id: ID!) {
      sessionUpdates(sessionId: $id) {
        ... on MessageUpdate { message { session { messageCount messages { totalCount } } } }
      }
    }
    """
    async with live.follow(document, id=id_) as following:
        first = await following.next()
        assert await following.next() == {}
        await live.write(said("2"))
        second = await following.next()
    counts = [event["message"]["session"] for event in (first, second)]
    assert [count["messageCount"] for count in counts] == [1, 2]
    assert [count["messages"]["totalCount"] for count in counts] == [1, 2]


async def test_every_event_has_rows_of_its_own(database: Database) -> None:
    live = Live.over(database, max_rows=101)
    id_ = await live.write(*(said(str(number)) for number in range(3)))
    document = """
    subscription($id: ID!) {
      sessionUpdates(sessionId: $id) {
        ... on MessageUpdate { message { session { messages(first: 100) { totalCount } } } }
      }
    }
    """
    async with live.follow(document, id=id_) as following:
        for _ in range(3):
            event = await following.next()
            assert event["message"]["session"]["messages"]["totalCount"] == 3


async def test_an_event_over_the_deadline_ends_the_stream_so_that_its_message_is_not_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live.over(database, query_seconds=1)
    id_ = await live.write(said("1"), called("2", content=content_of(100)), said("3"))

    async def hang(*_: Any) -> list[Any]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    async with live.follow(CONTENTS, id=id_) as following:
        await following.next()
        monkeypatch.setattr(loaders, "load_contents", hang)
        response = await following.response()
        assert response["data"] is None
        (error,) = response["errors"]
        assert error["extensions"] == {"code": "DEADLINE_EXCEEDED"}
        assert await following.has_ended()


async def test_an_update_whose_content_is_replaced_meanwhile_is_told_as_it_was(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await live.write(called("1", content=content_of(100)), said("2"))
    load = loaders.load_contents

    async def replace_first(database: Database, keys: Any) -> list[Any]:
        monkeypatch.setattr(loaders, "load_contents", load)
        await live.write(ToolCallUpdate("1", content=content_of(200)))
        return await load(database, keys)

    document = """
    subscription($id: ID!) {
      sessionUpdates(sessionId: $id) {
        ... on MessageUpdate { isNew message { revision toolMetadata { contentSize content } } }
      }
    }
    """
    monkeypatch.setattr(loaders, "load_contents", replace_first)
    async with live.follow(document, id=id_) as following:
        told = [event["message"] for event in [await following.next() for _ in range(4)] if event]
    assert told == [
        {"revision": 1, "toolMetadata": {"contentSize": 100, "content": content_of(100)}},
        {"revision": 2, "toolMetadata": None},
        {"revision": 3, "toolMetadata": {"contentSize": 200, "content": content_of(200)}},
    ]


async def test_an_update_of_a_session_that_is_deleted_meanwhile_is_left_out(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = await live.write(called("1", content=content_of(100)))
    load = loaders.load_contents
    (row,) = await rows(live.resources.database, session_table)

    async def delete_first(database: Database, keys: Any) -> list[Any]:
        await database.write(lambda connection: lifecycle.remove(connection, "default", row["id"]))
        live.resources.events.publish([Position("default", row["id"], None)])
        return await load(database, keys)

    monkeypatch.setattr(loaders, "load_contents", delete_first)
    async with live.follow(CONTENTS, id=id_) as following:
        told = [await following.next(), await following.next()]
        assert told == [{"__typename": "CaughtUp"}, {"__typename": "SessionDeleted"}]
        assert await following.has_ended()


async def test_a_content_that_is_lost_is_an_error_of_its_update(live: Live) -> None:
    id_ = await live.write(called("1", content=content_of(100)), said("2"))
    await live.resources.database.write(
        lambda connection: connection.execute(delete(content_chunk_table))
    )
    async with live.follow(CONTENTS, id=id_) as following:
        response = await following.response()
        assert [error["extensions"]["code"] for error in response["errors"]] == ["CORRUPT_CONTENT"]
        assert response["data"]["sessionUpdates"]["message"]["sequence"] == 1
        assert (await following.next())["message"]["sequence"] == 2


async def test_followers_of_the_same_read_once_for_all(live: Live) -> None:
    id_ = await live.write(said("0"))
    subscriptions = [live.follow(id=id_) for _ in range(10)]
    followers = [await subscription.__aenter__() for subscription in subscriptions]
    await asyncio.gather(*(follower.until_caught_up() for follower in followers))
    waiting = [asyncio.ensure_future(follower.next()) for follower in followers]
    await asyncio.sleep(0)
    with statements(live.resources.database) as seen:
        await live.write(said("1"))
        assert await asyncio.gather(*waiting) == [update(2, 2)] * 10
    assert len([sql for sql in seen if "message.revision >" in sql]) == 1
    for subscription in subscriptions:
        await subscription.__aexit__(None, None, None)


async def test_a_follower_that_leaves_takes_nothing_from_the_others(live: Live) -> None:
    id_ = await live.write(said("0"))
    async with live.follow(id=id_) as staying:
        await staying.until_caught_up()
        async with live.follow(id=id_) as leaving:
            await leaving.until_caught_up()
            waiting = [asyncio.ensure_future(one.next()) for one in (staying, leaving)]
            await live.write(said("1"))
            waiting[1].cancel()
            assert await waiting[0] == update(2, 2)
        await live.write(said("2"))
        assert await staying.next() == update(3, 3)


def test_the_document_of_these_tests_selects_every_kind_of_update() -> None:
    union = SCHEMA.as_str().split("union SessionUpdate = ")[1].split("\n")[0]
    assert all(f"... on {name} " in UPDATES for name in union.split(" | "))


async def test_a_tool_call_that_ends_is_told_again(live: Live) -> None:
    id_ = await live.write(called("c", status=ToolStatus.IN_PROGRESS), text_message("Next."))
    async with live.follow(SIZES, id=id_) as following:
        assert (await following.next())["message"]["toolMetadata"] == {
            "status": "IN_PROGRESS",
            "contentSize": None,
        }
        await following.next()
        assert await following.next() == {}
        ended = ToolCallUpdate("c", status=ToolStatus.COMPLETED, content=content_of(5_000_000))
        await live.write(ended)
        assert await following.next() == {
            "message": {
                "sequence": 1,
                "toolMetadata": {"status": "COMPLETED", "contentSize": 5_000_000},
            }
        }
