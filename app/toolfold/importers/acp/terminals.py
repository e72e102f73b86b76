"""Terminals: what their commands were, what they printed and how they ended.

Four ways lead here: `_meta` of Codex and of Zed's adapters, `terminal_update` and
`terminal_output_chunk` of protocol version 2, and the replies of a client that runs terminals.
"""

import codecs
import functools
from dataclasses import dataclass, field

from toolfold.importers.acp import shape
from toolfold.transcript import Json

_UTF_8 = functools.partial(codecs.getincrementaldecoder("utf-8"), errors="replace")


@dataclass(slots=True)
class Terminal:
    """One terminal; `version` grows with every change. `is_cut` when output was dropped."""

    id: str
    command: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    is_cut: bool = False
    version: int = 0
    _decoder: codecs.IncrementalDecoder = field(default_factory=_UTF_8)
    _output: list[str] | None = field(default=None)

    def append(self, data: bytes) -> None:
        """Add to the output; a character may be cut between two pieces."""
        self._output = self._output or []
        self._output.append(self._decoder.decode(data))
        self.version += 1

    def replace(self, data: bytes | None, *, is_cut: bool = False) -> None:
        """Set all of the output so far; None is that none is known."""
        self._decoder.reset()
        self._output = None if data is None else [self._decoder.decode(data)]
        self.is_cut = is_cut
        self.version += 1

    def run(self, command: str | None) -> None:
        """Set what runs in it."""
        self.command = command
        self.version += 1

    def end(self, exit_status: dict[str, Json]) -> None:
        """Take its exit status, under the keys of ACP or of `_meta.terminal_exit`."""
        code = shape.integer(exit_status, "exitCode")
        self.exit_code = shape.integer(exit_status, "exit_code") if code is None else code
        self.signal = shape.text(exit_status, "signal")
        self.version += 1

    def block(self, recorded: dict[str, Json]) -> dict[str, Json]:
        """Return the recorded `terminal` block with what is known of the terminal filled in."""
        known = {
            "command": self.command,
            "output": self.output,
            "exitCode": self.exit_code,
            "signal": self.signal,
        }
        return recorded | {key: value for key, value in known.items() if value is not None}

    @property
    def output(self) -> str | None:
        """All that it printed; bytes that are not UTF-8 are U+FFFD."""
        if self._output is None:
            return None
        # It is asked for again after every piece.
        self._output = ["".join(self._output)]
        begun, _ = self._decoder.getstate()
        return self._output[0] + begun.decode("utf-8", "replace")
