"""Many who write and more who read get in nobody's way.

8 writers append batches of 10 to sessions that they share, 32 readers ask for pages and contents
all the while: four times a second each, and then without rest. No answer is an error, and every
page is of one state.
"""

import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.client import Client
from tests.bench.commands import Server
from tests.bench.figures import at_least, milliseconds
from tests.builders import text_block
from tests.reliability import requests
from tests.reliability.outcome import Outcome, percentile
from tests.reliability.processes import doctor, logged, serving
from toolfold.settings import Settings

NAME = "contention"
BATCH = 10
MESSAGES_A_SECOND = 500
_SESSIONS = 20
_SIZES = (200, 2_000, 20_000)
_LATEST = """
query ($id: ID!) {
  session(id: $id) {
    messageCount
    messages(last: 50) {
      nodes { id sequence role createdAt contentPreview toolMetadata { title status contentSize } }
    }
  }
}
"""
_CONTENT = """
query ($id: ID!) { message(id: $id) { toolMetadata { contentSize content } } }
"""


@dataclass(frozen=True, slots=True)
class Scale:
    """How many work beside each other; for how many seconds with readers that rest, and without."""

    writers: int
    readers: int
    seconds: float
    seconds_without_rest: float


SHORT = Scale(writers=8, readers=32, seconds=1.5, seconds_without_rest=0.5)
LONG = Scale(writers=8, readers=32, seconds=60, seconds_without_rest=15)
_REST_SECONDS = 0.25


def run(settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Write and read at the same time, and note what each was answered."""
    outcome = Outcome()
    outcome.tell("writers, readers", f"{scale.writers}, {scale.readers}")
    with serving(settings, place) as server:
        names = [f"shared-{number}" for number in range(_SESSIONS)]
        sessions = requests.new_sessions(server.client, *names)
        written = 0
        for rest, seconds in ((_REST_SECONDS, scale.seconds), (0.0, scale.seconds_without_rest)):
            written += _beside_each_other(server, sessions, scale, rest, seconds, outcome)
        client = server.connect()
        stored = sum(_count(client, session) for session in sessions)
    outcome.require(stored == written, f"{written} messages were acknowledged, {stored} are there.")
    outcome.faults += filter(None, [doctor(settings), logged(place)])
    outcome.tell("errors", len(outcome.faults))
    return outcome


def _beside_each_other(
    server: Server,
    sessions: list[str],
    scale: Scale,
    rest: float,
    seconds: float,
    outcome: Outcome,
) -> int:
    """Let all work for some seconds; return how many messages were acknowledged."""
    deadline = time.monotonic() + seconds

    def start(kind: Any, count: int, rest: float) -> list[_Client]:
        clients = []
        for number in range(count):
            rng = random.Random(f"{number}/{rest}")  # noqa: S311 (the same load each time)
            request = kind(server.connect(), rng, sessions)
            clients.append(_Client(request, deadline, rest))
        return clients

    writing = start(_writer, scale.writers, 0.0)
    reading = start(_reader, scale.readers, rest)
    for one in writing + reading:
        one.thread.join()
    outcome.faults += [failure for one in writing + reading for failure in one.failures]
    written = sum(len(one.seconds) for one in writing) * BATCH
    how = f"{seconds:g} s, readers {f'rest {rest:g} s' if rest else 'do not rest'}"
    rate = written / seconds
    bound = at_least(rate, MESSAGES_A_SECOND, f"{MESSAGES_A_SECOND} a second") if rest else None
    outcome.tell(f"{how}: messages written", f"{rate:,.0f} a second", bound)
    _tell_times(outcome, f"{how}: a batch of {BATCH}", writing)
    reads = sum(len(one.seconds) for one in reading)
    outcome.tell(f"{how}: reads answered", f"{reads / seconds:,.0f} a second")
    _tell_times(outcome, f"{how}: a read", reading)
    return written


class _Client:
    """One client in a thread of its own: what each request took, and what went wrong."""

    def __init__(self, request: Callable[[], None], deadline: float, rest: float) -> None:
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._request = request
        self._deadline = deadline
        self._rest = rest
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while time.monotonic() < self._deadline:
            begun = time.perf_counter()
            try:
                self._request()
            except Exception as error:  # noqa: BLE001 (whatever it is, it is a fault)
                self.failures.append(f"{type(error).__name__}: {error}")
                return
            self.seconds.append(time.perf_counter() - begun)
            time.sleep(self._rest)


def _writer(client: Client, rng: random.Random, sessions: list[str]) -> Callable[[], None]:
    def write() -> None:
        calls = [str(uuid.uuid4()) for _ in range(BATCH)]
        new = [
            {
                "clientMessageId": call,
                "role": "TOOL",
                "toolMetadata": {
                    "toolCallId": call,
                    "title": f"Run {call}",
                    "content": [text_block(f"{call} {'x' * rng.choice(_SIZES)}")],
                },
            }
            for call in calls
        ]
        sequences = requests.append(client, rng.choice(sessions), new)
        if sequences != list(range(sequences[0], sequences[0] + BATCH)):
            raise AssertionError(f"A batch is not in one place: {sequences}")

    return write


def _reader(client: Client, rng: random.Random, sessions: list[str]) -> Callable[[], None]:
    def read() -> None:
        session = requests.ask(client, _LATEST, id=rng.choice(sessions))["session"]
        nodes = session["messages"]["nodes"]
        count = session["messageCount"]
        shown = [node["sequence"] for node in nodes]
        # The count was read before the page, in a transaction of its own.
        first = max(shown[-1] - 49, 1) if shown else 1
        if shown != list(range(first, first + len(shown))) or (shown and shown[-1] < count):
            raise AssertionError(f"A page of {count} messages shows {shown}")
        if nodes:
            answer = requests.ask(client, _CONTENT, id=rng.choice(nodes)["id"])
            if not answer["message"]["toolMetadata"]["content"]:
                raise AssertionError("A content that is there was not shown.")

    return read


def _count(client: Client, session: str) -> int:
    count: int = requests.ask(client, _LATEST, id=session)["session"]["messageCount"]
    return count


def _tell_times(outcome: Outcome, what: str, clients: list[_Client]) -> None:
    seconds = [second for client in clients for second in client.seconds]
    shares = (("median", 0.5), ("p99", 0.99), ("longest", 1))
    shown = ", ".join(f"{name} {milliseconds(percentile(seconds, of))}" for name, of in shares)
    outcome.tell(f"{what}: time", shown)
