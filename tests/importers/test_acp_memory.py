import json
import tracemalloc
from collections.abc import Iterator

from tests.builders import text_block
from tests.importers.acp_log import PATH, answered, call, opened, patch, prompt, said
from toolfold.importers import acp
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Line
from toolfold.transcript import Json

OUTPUT_BYTES = 100_000
TURNS = 100


def long_log() -> Iterator[Json]:
    """Yield a log of many turns, each with output in a content and in a terminal."""
    yield from opened()
    for turn in range(TURNS):
        data = f"{turn}:".ljust(OUTPUT_BYTES, "x")
        yield prompt(f"Turn {turn}.")
        yield call(f"c{turn}", title="Read", content=[text_block(data)])
        yield patch(f"c{turn}", status="completed", rawOutput=data)
        yield call(
            f"t{turn}", title="Run", content=[{"type": "terminal", "terminalId": f"t{turn}"}]
        )
        meta = {"terminal_output_delta": {"data": data, "terminal_id": f"t{turn}"}}
        yield patch(f"t{turn}", status="completed", _meta=meta)
        yield said(data)
        yield answered()


def test_memory_does_not_grow_with_the_log() -> None:
    lines = (
        Line(number, json.dumps(message).encode(), terminated=True)
        for number, message in enumerate(long_log(), start=1)
    )
    tracemalloc.start()
    try:
        entries = sum(1 for _ in acp.parse(Transcript(PATH, lines)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert entries == 1 + TURNS * 6
    # The log has 400 times OUTPUT_BYTES.
    assert peak < 20 * OUTPUT_BYTES
