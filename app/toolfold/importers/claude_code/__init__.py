"""Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and the files beside it.

The format is called internal by its maker; what is read here was seen in the files of versions
1.0 to 2.1.185. A session's id is the agent's own, a sub-agent's is `<session>/<agent>`. The
modules: `records` (what a line is), `parser` (whose it is), `conversation` (what is open), then
`user`, `assistant`, `notices` and `progress` (what it becomes), `tool_calls`, `results`, `diffs`,
`blocks`, `raw_output`, `injected` and `usage` (their parts), `titles`, and `files` (what lies
beside).
"""

from collections.abc import Iterator

from toolfold.errors import TranscriptError
from toolfold.importers.claude_code.files import companions, owns
from toolfold.importers.claude_code.parser import Parser
from toolfold.importers.claude_code.records import accepts
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import decode
from toolfold.transcript import Entry

NAME = "claude-code"
MAX_FOREIGN_RECORDS = 20
"""So many records that are not understood make a file one of another format, if none is."""

__all__ = ["NAME", "accepts", "companions", "owns", "parse"]


def parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield the values of one transcript in file order.

    A tool call is a pending `tool` message at the line of its `tool_use`, and an update at that
    of its result. What only the end of the file tells has no line.

    Raises:
        TranscriptError: naming file and line, if the file is not of this format at all.
    """
    parser = Parser(transcript.path)
    held: list[Entry] = []
    for line in transcript.lines:
        for item in decode(line):
            for session, value in parser.read(item, line.raw):
                held.append(Entry(session, line.number, value))
                if parser.recognised:
                    yield from held
                    held.clear()
                elif len(held) > MAX_FOREIGN_RECORDS:
                    raise _foreign(transcript, held)
    if held:
        raise _foreign(transcript, held)
    for session, value in parser.end():
        yield Entry(session, None, value)


def _foreign(transcript: Transcript, held: list[Entry]) -> TranscriptError:
    return TranscriptError(f"{transcript.path}:{held[0].line}: not a record of Claude Code.")
