"""A server that is killed again and again under load loses nothing that it acknowledged.

Every acknowledged message is there once, in its place, as it was sent; sequences are dense; doctor
finds nothing; and the server is ready again within 3 s.
"""

import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.figures import at_most
from tests.reliability import requests, writers
from tests.reliability.outcome import Outcome
from tests.reliability.processes import Restarted, doctor, logged
from tests.reliability.writers import Ledger, Writer
from toolfold.settings import Settings

NAME = "killing"
READY_SECONDS = 3
_LOAD_SECONDS = (0.15, 0.7)
"""How long the server is left to work between being ready and being killed."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How often the server is killed."""

    kills: int


SHORT = Scale(kills=2)
LONG = Scale(kills=50)


def run(settings: Settings, place: Path, scale: Scale) -> Outcome:
    """Kill the server of a database under load, and compare what is left with what was said."""
    outcome = Outcome()
    ledger = Ledger()
    rng = random.Random(1)  # noqa: S311 (the same load each time)
    seconds: list[float] = []
    in_flight = 0
    with Restarted(settings, place) as server:
        load = _load(server, ledger)
        for _ in range(scale.kills):
            time.sleep(rng.uniform(*_LOAD_SECONDS))
            in_flight += sum(writer.in_flight for writer in load)
            server.kill()
            seconds.append(server.start())
        for writer in load:
            writer.stop()
        stored = ledger.compare(server.connect(), outcome)
    outcome.faults += filter(None, [doctor(settings), logged(place)])
    outcome.tell("times killed", scale.kills)
    outcome.tell("requests in flight when killed", in_flight)
    outcome.tell("requests acknowledged", sum(writer.acknowledged for writer in load))
    outcome.tell("requests sent again", sum(writer.sent_again for writer in load))
    outcome.tell("messages acknowledged, each there once", stored)
    outcome.tell("ready again, median", f"{statistics.median(seconds):.2f} s")
    bound = at_most(max(seconds), READY_SECONDS, f"{READY_SECONDS} s")
    outcome.tell("ready again, longest", f"{max(seconds):.2f} s", bound)
    return outcome


def _load(server: Restarted, ledger: Ledger) -> list[Writer]:
    """Start clients of each kind: four that append to three sessions, two of ACP, one import."""
    client = server.connect()
    shared = requests.new_sessions(client, "a", "b", "c")
    streams = requests.new_sessions(client, "stream-1", "stream-2")
    client.close()
    scripts = [
        *(writers.appending(ledger, number, shared) for number in range(4)),
        *(writers.recording(ledger, session) for session in streams),
        writers.importing(ledger, 0),
    ]
    return [Writer(server.connect_apart, script) for script in scripts]
