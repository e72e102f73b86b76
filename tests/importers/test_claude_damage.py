"""Whatever stands in the place of a value, Claude Code's importer and the detection go on."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.claude_lines import SESSION, user
from toolfold.importers import IMPORTERS, Transcript, claude_code, known_formats
from toolfold.importers.jsonl import Line
from toolfold.transcript import Message

DATA = Path(__file__).parent / "data" / "claude"
RECORDS = [
    json.loads(line)
    for path in sorted(DATA.rglob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
BEGINNINGS: list[Any] = [
    *RECORDS[:4],
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}},
    {"info": {"id": "s", "projectID": "p", "directory": "/"}, "messages": []},
    {"history": [{"timestamp": "t", "source": "user", "action": "message"}]},
    {"history": [[{"timestamp": "t", "source": "user", "action": "run"}, {}]]},
    {"environment": "main", "trajectory": [{"action": "ls", "observation": ""}]},
    [{"ts": 1, "type": "say", "say": "text"}],
    {"type": "init", "timestamp": "t", "session_id": "s", "model": "m"},
    {"type": "system", "subtype": "init", "session_id": "s"},
    {"agentType": "Explore", "toolUseId": "t1"},
]
ODD: list[Any] = [
    *(None, 0, -1, 5, 1.5, True, "", "x", 10**30, [], {}, [1], ["a"], [[]], [None], {"a": 1}),
    *({"type": 5}, {"type": "text"}, {"type": []}, [{"type": "text", "text": None}]),
]

_Path = tuple[str | int, ...]


def _places(value: Any, path: _Path = ()) -> Iterator[_Path]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from _places(item, (*path, key))


def _damaged(value: Any, draw: Any) -> Any:
    """Return a copy with another value, or nothing, in one place."""
    *path, last = draw(st.sampled_from(list(_places(value))))
    copied = parent = copy.deepcopy(value)
    for key in path:
        parent = parent[key]
    if draw(st.booleans()):
        parent[last] = draw(st.sampled_from(ODD))
    else:
        del parent[last]
    return copied


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_record_never_stops_the_ones_after_it(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(RECORDS), min_size=1, max_size=5))
    damaged = [_damaged(record, data.draw) for record in chosen]
    records = [user("first", "hi"), *damaged, user("last", "bye")]
    lines = [
        Line(number, json.dumps(record).encode(), terminated=True)
        for number, record in enumerate(records, start=1)
    ]
    told = list(claude_code.parse(Transcript(Path("absent") / f"{SESSION}.jsonl", lines)))
    ids = [entry.value.client_id for entry in told if isinstance(entry.value, Message)]
    assert ids[0] == "first:0"
    assert "last:0" in ids


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_beginning_never_stops_the_detection(data: st.DataObject) -> None:
    value = _damaged(data.draw(st.sampled_from(BEGINNINGS)), data.draw)
    for importer in IMPORTERS:
        assert importer.accepts([value]) in {True, False}
        assert importer.owns(Path("absent"), [value]) in {True, False}
    assert known_formats.name([value]) != ""


@pytest.mark.parametrize("value", [{}, [], None, 5, "text", [[]], [None]])
def test_what_is_no_record_is_of_no_format(value: Any) -> None:
    assert not any(importer.accepts([value]) for importer in IMPORTERS)
    assert known_formats.name([value]) is None
