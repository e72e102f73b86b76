"""A log of ACP messages, line by line."""

from collections.abc import Iterator, Sequence

from toolfold.importers import jsonl
from toolfold.importers.acp import shape, wire
from toolfold.importers.acp.exchange import Exchange
from toolfold.importers.acp.shape import NotUnderstoodError
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Decoded
from toolfold.transcript import Entry, Json, Record

NAME = "acp"


def accepts(sample: Sequence[Json]) -> bool:
    """Say whether one of the values is a message of ACP, and not of another JSON-RPC protocol."""
    return any(isinstance(value, dict) and _is_acp(wire.unwrap(value)) for value in sample)


def _is_acp(message: dict[str, Json]) -> bool:
    update = shape.nested(message, "update") or message
    if isinstance(update.get("sessionUpdate"), str):
        return True
    method = message.get("method")
    if method == "initialize" or "result" in message:
        # MCP's version is a date; a language server has none.
        opening = shape.nested(message, "params") or shape.nested(message, "result")
        return shape.integer(opening, "protocolVersion") is not None
    return isinstance(method, str) and method.startswith(("session/", "fs/", "terminal/"))


def parse(transcript: Transcript) -> Iterator[Entry]:
    """Yield the values of a log's sessions in the order of their lines.

    A session's id is the agent's; updates that name none are one session, known by the log's path.
    A sub-agent of Claude's has no session of its own in ACP: its id is that of its session, a slash
    and the id of the call that started it. A line that is no message of ACP, and one of a method
    or an update that is not known, is kept as a raw record.
    """
    exchange = Exchange(transcript.path)
    for line in transcript.lines:
        for decoded in jsonl.decode(line):
            if not isinstance(decoded, Decoded):
                yield Entry(None, line.number, decoded)
                continue
            try:
                for session, value in exchange.take(decoded):
                    yield Entry(session, line.number, value)
            except NotUnderstoodError as error:
                yield Entry(None, line.number, Record(line.raw, str(error)))
    for session, value in exchange.finish():
        yield Entry(session, None, value)
