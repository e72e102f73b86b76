"""An importer for tests: each line of a file names the values that the test gives for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolfold.importers import Importer, Transcript
from toolfold.transcript import Entry, Message, MessageRole, Value

SESSION = "s1"


@dataclass
class Lines:
    """What lines become: the values in `values`, else a message of this client id and text.

    A value may be a function, which is called when the line is read, to fail there. `at_end` is
    told when the file has ended. All are of the agent's session `session`.
    `parsed` counts how often a file was read, `read` its lines.
    """

    values: Mapping[str, Sequence[Value | Callable[[], None]]] = field(default_factory=dict)
    at_end: Sequence[Value] = ()
    companions: Callable[[Path], tuple[Path, ...]] = lambda _path: ()
    session: str = SESSION
    parsed: int = 0
    read: int = 0

    def importer(self) -> Importer:
        """Return it as an importer."""
        return Importer("test-lines", lambda _sample: True, self._parse, self.companions)

    def _parse(self, transcript: Transcript) -> Iterator[Entry]:
        self.parsed += 1
        for line in transcript.lines:
            self.read += 1
            name = line.raw.decode()
            for value in self.values.get(name, [message(name)]):
                if callable(value):
                    value()
                else:
                    yield Entry(self.session, line.number, value)
        for value in self.at_end:
            yield Entry(self.session, None, value)


def message(client_id: str, content: str | None = None) -> Message:
    """Return a user's message, by default with its client id for text."""
    return Message(client_id, MessageRole.USER, client_id if content is None else content)


def write(path: Path, *names: str, end: str = "\n") -> Path:
    """Write a file of these lines; `end` ends the last one."""
    path.write_text("\n".join(names) + end, encoding="utf-8")
    return path
