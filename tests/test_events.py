"""Positions go from whoever writes to whoever follows, and pile up nowhere."""

import asyncio
import contextlib

import pytest

from toolfold.events import Events, Position, Watch

CHANGED = Position("p", "s", 3)


@pytest.fixture
def events() -> Events:
    return Events()


async def test_a_follower_wakes_up_to_the_position_of_what_it_follows(events: Events) -> None:
    with events.watch_session("p", "s") as watch:
        waiting = asyncio.ensure_future(watch.news())
        await asyncio.sleep(0)
        assert not waiting.done()
        events.publish([CHANGED])
        await waiting
        assert watch.take() == {("p", "s"): CHANGED}


@pytest.mark.parametrize("followed", [("p", "other"), ("other", "s")])
async def test_a_follower_of_one_session_is_told_of_no_other(
    events: Events, followed: tuple[str, str]
) -> None:
    with events.watch_session(*followed) as watch:
        events.publish([CHANGED])
        assert not watch.has_news


@pytest.mark.parametrize(("project", "expected"), [("p", 2), (None, 3), ("other", 0)])
async def test_a_follower_of_a_project_is_told_of_all_its_sessions(
    events: Events, project: str | None, expected: int
) -> None:
    with events.watch_sessions(project) as watch:
        events.publish([CHANGED, Position("p", "t", 1), Position("q", "s", 1)])
        assert len(watch.take()) == expected


async def test_a_follower_that_does_not_look_holds_one_position_of_each_session(
    events: Events,
) -> None:
    with events.watch_sessions(None) as watch:
        for revision in range(1, 10_001):
            events.publish([Position("p", str(revision % 2), revision)])
        assert list(watch.take().values()) == [
            Position("p", "1", 9_999),
            Position("p", "0", 10_000),
        ]


@pytest.mark.parametrize(
    ("told", "held"), [((4, 3), 4), ((3, 4), 4), ((4, None), None), ((None, 1), 1)]
)
async def test_the_later_of_two_positions_is_held(
    told: tuple[int | None, ...], held: int | None
) -> None:
    watch = Watch()
    for revision in told:
        watch.tell(Position("p", "s", revision))
    assert watch.take() == {("p", "s"): Position("p", "s", held)}


async def test_what_is_told_after_a_look_is_news_again(events: Events) -> None:
    with events.watch_session("p", "s") as watch:
        events.publish([CHANGED])
        assert watch.take()
        assert not watch.take()
        events.publish([CHANGED])
        await watch.news()


async def test_nothing_is_kept_for_a_follower_that_has_gone(events: Events) -> None:
    with (
        contextlib.suppress(asyncio.CancelledError),
        events.watch_session("p", "s") as one,
        events.watch_sessions(None) as other,
    ):
        raise asyncio.CancelledError
    events.publish([CHANGED])
    assert not one.has_news
    assert not other.has_news
