"""Clients that write without pause, and send again whatever was not acknowledged.

None of them knows when the server is killed: a request that fails is sent again as it was, to the
server that runs then. All of them note what was acknowledged in one ledger.
"""

import http.client
import random
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

import orjson

from tests.bench.client import Client
from tests.builders import NOW, text_block
from tests.importers.acp_log import update
from tests.reliability import requests
from tests.reliability.outcome import Outcome
from toolfold.transcript import Json

_SIZES = (10, 3_000, 60_000)
_COUNTS = (1, 5, 20)
_IMPORTED = 300
_AGAIN_SECONDS = 0.03

Request = Callable[[Client], Any]
Script = Generator[Request, Any, None]
"""Yields requests, and is sent the answer of each once it is acknowledged."""


class Ledger:
    """What was acknowledged: of each session, the text at each sequence."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._texts: dict[str, dict[int, str]] = {}
        self._lock = threading.Lock()

    def note(self, session: str, sequences: list[int], texts: list[str]) -> None:
        """Note messages that a server says it has stored."""
        with self._lock:
            known = self._texts.setdefault(session, {})
            for sequence, text in zip(sequences, texts, strict=True):
                if known.setdefault(sequence, text) != text:
                    self.faults.append(f"{session}: two messages have sequence {sequence}.")

    def compare(self, client: Client, outcome: Outcome) -> int:
        """Compare all that is stored with all that was acknowledged; return how much that is."""
        outcome.faults += self.faults
        for session, texts in self._texts.items():
            stored = requests.messages(client, session)
            outcome.require(
                [message["sequence"] for message in stored] == list(range(1, len(stored) + 1)),
                f"{session}: the sequences are not dense.",
            )
            found = {message["sequence"]: _text_of(message) for message in stored}
            lost = sum(found.get(sequence) != text for sequence, text in texts.items())
            outcome.require(not lost, f"{session}: {lost} messages are lost or changed.")
            surplus = len(stored) - len(set(found.values()))
            outcome.require(not surplus, f"{session}: {surplus} messages are there twice.")
            outcome.require(
                len(stored) <= len(texts), f"{session}: {len(stored) - len(texts)} more than sent."
            )
        return sum(map(len, self._texts.values()))


class Writer:
    """One client in a thread of its own; it opens a connection where `connect` says."""

    def __init__(self, connect: Callable[[], Client], script: Script) -> None:
        self.acknowledged = 0
        """Requests that were answered."""
        self.sent_again = 0
        """Requests that were not, and were sent again."""
        self.in_flight = False
        self._failure: BaseException | None = None
        self._connect = connect
        self._script = script
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop once the request that is being sent is acknowledged.

        Raises:
            RuntimeError: if a server answered what it should not have.
        """
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            request = next(self._script)
            while not self._stop.is_set():
                answer = self._sent(request)
                self.acknowledged += 1
                request = self._script.send(answer)
        except BaseException as error:  # noqa: BLE001 (told by `stop`)
            self._failure = error

    def _sent(self, request: Request) -> Any:
        """Return the answer to a request, however often it takes to send it."""
        while True:
            client = self._connect()
            self.in_flight = True
            try:
                return request(client)
            except (OSError, http.client.HTTPException):
                self.sent_again += 1
                time.sleep(_AGAIN_SECONDS)
            finally:
                self.in_flight = False
                client.close()


def appending(ledger: Ledger, number: int, sessions: list[str]) -> Script:
    """Append batches to sessions that others append to as well."""
    rng = random.Random(number)  # noqa: S311 (the same load each time)
    batch = 0
    while True:
        batch += 1
        session = rng.choice(sessions)
        texts = [
            f"{number}-{batch}-{place} {'y' * rng.choice(_SIZES)}"
            for place in range(rng.choice(_COUNTS))
        ]
        new: list[Json] = [
            {"clientMessageId": text.split(" ")[0], "role": "ASSISTANT", "content": text}
            for text in texts
        ]
        sequences = yield lambda client: requests.append(client, session, new)  # noqa: B023 (run before the next round)
        ledger.note(session, sequences, texts)


def recording(ledger: Ledger, session: str) -> Script:
    """Record what an agent says in ACP: of each turn, a text in three chunks and a call."""
    index = 0
    turn = 0
    while True:
        turn += 1
        call = f"call-{turn}"
        said = [f"{session} {turn}", ", and", " so on."]
        done = f"{session} {turn} is done. {'z' * 2_000}"
        updates = [
            *(update("agent_message_chunk", content={"type": "text", "text": t}) for t in said),
            update("tool_call", toolCallId=call, title="Run", status="pending"),
            update("tool_call_update", toolCallId=call, status="in_progress"),
            update(
                "tool_call_update", toolCallId=call, status="completed", content=[text_block(done)]
            ),
        ]
        index = yield lambda client: requests.record(client, session, index, updates)  # noqa: B023 (the same)
        ledger.note(session, [2 * turn - 1, 2 * turn], ["".join(said), done])


def importing(ledger: Ledger, number: int) -> Script:
    """Import one session after the other as lines of an export."""
    session = 0
    while True:
        session += 1
        name = f"imported-{number}-{session}"
        texts = [f"{name} {place} {'x' * 500}" for place in range(_IMPORTED)]
        lines = export_lines(name, texts)
        answer = yield lambda client: requests.import_lines(client, lines)  # noqa: B023 (the same)
        (told,) = answer["sessions"]
        ledger.note(requests.id_of(told["id"]), list(range(1, _IMPORTED + 1)), texts)


def export_lines(session: str, texts: list[str]) -> bytes:
    """Return a session of these texts as `toolfold export` writes it."""
    head = {"id": session, "agent": "load", "status": "completed"}
    lines = [orjson.dumps({"toolfold": 1, "session": head})]
    for place, text in enumerate(texts):
        said = {"clientId": str(place), "role": "user", "createdAt": NOW, "content": text}
        lines.append(orjson.dumps({"message": said}))
    return b"\n".join(lines)


def _text_of(message: Any) -> str:
    """Return the text of a message, or of its call's one block."""
    call = message["toolMetadata"]
    text: str = message["content"] if call is None else call["content"][0]["content"]["text"]
    return text
