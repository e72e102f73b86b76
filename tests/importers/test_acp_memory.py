import json
import tracemalloc
from collections.abc import Iterator

import pytest

from tests.builders import text_block
from tests.importers.acp_log import PATH, answered, call, opened, patch, prompt, said
from toolfold.importers import acp
from toolfold.importers.importer import Transcript
from toolfold.importers.jsonl import Line
from toolfold.transcript import Json

OUTPUT_BYTES = 100_000
STEPS = 100


def long_log(*, is_one_turn: bool) -> Iterator[Json]:
    """Yield a log of many steps, each with output in a content and in a terminal."""
    yield from opened()
    yield prompt("Go.")
    for step in range(STEPS):
        data = f"{step}:".ljust(OUTPUT_BYTES, "x")
        if not is_one_turn:
            yield answered()
            yield prompt(f"Step {step}.")
        yield call(f"c{step}", title="Read", content=[text_block(data)])
        yield patch(f"c{step}", status="completed", rawOutput=data)
        yield call(
            f"t{step}", title="Run", content=[{"type": "terminal", "terminalId": f"t{step}"}]
        )
        meta = {"terminal_output_delta": {"data": data, "terminal_id": f"t{step}"}}
        yield patch(f"t{step}", status="completed", _meta=meta)
        yield said(data)


@pytest.mark.parametrize("is_one_turn", [True, False])
def test_memory_does_not_grow_with_the_log(*, is_one_turn: bool) -> None:
    lines = (
        Line(number, json.dumps(message).encode(), terminated=True)
        for number, message in enumerate(long_log(is_one_turn=is_one_turn), start=1)
    )
    tracemalloc.start()
    try:
        entries = sum(1 for _ in acp.parse(Transcript(PATH, lines)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert entries == 2 + STEPS * (5 if is_one_turn else 6)
    # The log has 400 times OUTPUT_BYTES.
    assert peak < 30 * OUTPUT_BYTES
