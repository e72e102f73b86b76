"""Everybody who follows a session is told everything, in order and soon.

200 subscribers on 20 sessions, on a socket each: at 10 messages a second in all, and at 10 a second
in each session. Then one who reconnects 5,000 messages behind is told exactly those.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.bench.commands import Server
from tests.bench.figures import at_most, milliseconds
from tests.reliability import requests
from tests.reliability.following import Follower, follow
from tests.reliability.outcome import Outcome, percentile
from tests.reliability.processes import logged, serving
from toolfold.settings import Settings

NAME = "subscribers"
P99_SECONDS = 0.15
BEHIND_SECONDS = 2
_WAIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Scale:
    """How many follow how many sessions; messages a second in all, each rate for some seconds."""

    subscribers: int
    sessions: int
    rates: tuple[int, ...]
    seconds: float
    behind: int


SHORT = Scale(subscribers=40, sessions=4, rates=(10, 40), seconds=1, behind=1_000)
LONG = Scale(subscribers=200, sessions=20, rates=(10, 50, 200), seconds=15, behind=5_000)


def run(settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Follow sessions while they are written, and compare what was told with what was written."""
    outcome = Outcome()
    with serving(settings, place) as server:
        asyncio.run(_follow(server, scale, outcome))
    outcome.faults += filter(None, [logged(place)])
    return outcome


async def _follow(server: Server, scale: Scale, outcome: Outcome) -> None:
    names = [f"followed-{number}" for number in range(scale.sessions)]
    sessions = requests.new_sessions(server.connect(), *names)
    followers = [Follower(sessions[number % len(sessions)]) for number in range(scale.subscribers)]
    outcome.tell("subscribers, sessions", f"{scale.subscribers}, {scale.sessions}")
    async with _following(server, followers), httpx.AsyncClient(trust_env=False) as client:
        writer = _Writer(f"http://{server.host}:{server.port}/graphql", client, sessions)
        for rate in scale.rates:
            await _at_a_rate(writer, followers, rate, scale, outcome)
    await _behind(server, followers[0], scale, outcome)


@asynccontextmanager
async def _following(server: Server, followers: list[Follower]) -> AsyncIterator[None]:
    """Let all follow; one that fails ends it all."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(server, follower)) for follower in followers]
        async with asyncio.timeout(_WAIT_SECONDS):
            for follower in followers:
                await follower.caught_up.wait()
        yield
        for task in tasks:
            task.cancel()


class _Writer:
    """Appends a message at a time; knows when each was sent."""

    def __init__(self, url: str, client: httpx.AsyncClient, sessions: list[str]) -> None:
        self._url = url
        self._client = client
        self.sessions = sessions
        self.sent_at: dict[str, float] = {}
        self.texts: dict[str, list[str]] = {session: [] for session in sessions}

    async def write(self, session: str) -> None:
        """Append one message.

        Raises:
            RuntimeError: if it is refused.
        """
        text = f"message {len(self.sent_at)}"
        self.texts[session].append(text)
        self.sent_at[text] = time.perf_counter()
        new = {"clientMessageId": text, "role": "ASSISTANT", "content": text}
        variables = {"input": {"sessionId": session, "messages": [new]}}
        body = {"query": requests.APPEND, "variables": variables}
        answer = (await self._client.post(self._url, json=body, timeout=_WAIT_SECONDS)).json()
        if "errors" in answer or answer["data"]["appendMessages"]["appendedCount"] != 1:
            raise RuntimeError(f"A message was refused: {answer}")


async def _at_a_rate(
    writer: _Writer, followers: list[Follower], rate: int, scale: Scale, outcome: Outcome
) -> None:
    """Write at a rate to one session after the other, and see what all were told."""
    first = {id(follower): len(follower.texts) for follower in followers}
    begun = time.perf_counter()
    lane: dict[str, asyncio.Lock] = {session: asyncio.Lock() for session in writer.sessions}

    async def write(session: str) -> None:
        async with lane[session]:
            await writer.write(session)

    async with asyncio.TaskGroup() as group:
        for number in range(round(rate * scale.seconds)):
            await asyncio.sleep(begun + number / rate - time.perf_counter())
            group.create_task(write(writer.sessions[number % len(writer.sessions)]))
    deadline = time.perf_counter() + _WAIT_SECONDS
    while time.perf_counter() < deadline and any(  # noqa: ASYNC110 (frames, not events, are waited for)
        len(follower.texts) < len(writer.texts[follower.session]) for follower in followers
    ):
        await asyncio.sleep(0.05)
    latencies = [
        told_at - writer.sent_at[text]
        for follower in followers
        for text, told_at in zip(
            follower.texts[first[id(follower)] :],
            follower.told_at[first[id(follower)] :],
            strict=True,
        )
    ]
    wrong = sum(follower.texts != writer.texts[follower.session] for follower in followers)
    outcome.require(not wrong, f"At {rate} a second {wrong} were not told all in order.")
    how = f"{rate} a second in all ({rate / scale.sessions:g} a session)"
    outcome.tell(f"{how}: updates told, in order", len(latencies))
    outcome.tell(f"{how}: median", milliseconds(percentile(latencies, 0.5)))
    p99 = percentile(latencies, 0.99)
    outcome.tell(f"{how}: p99", milliseconds(p99), at_most(p99, P99_SECONDS, "150 ms"))


async def _behind(server: Server, before: Follower, scale: Scale, outcome: Outcome) -> None:
    """Let one who has left come back after many messages."""
    client = server.connect()
    texts = [f"behind {number}" for number in range(scale.behind)]
    for start in range(0, scale.behind, 500):
        new = [
            {"clientMessageId": text, "role": "USER", "content": text}
            for text in texts[start : start + 500]
        ]
        requests.append(client, before.session, new)
    follower = Follower(before.session, cursor=before.cursor)
    begun = time.perf_counter()
    async with _following(server, [follower]):
        seconds = time.perf_counter() - begun
    outcome.require(follower.texts == texts, "Who reconnected was not told exactly what was new.")
    bound = at_most(seconds, BEHIND_SECONDS, f"{BEHIND_SECONDS} s")
    outcome.tell(f"reconnected {scale.behind:,} behind", f"{seconds:.2f} s", bound)
