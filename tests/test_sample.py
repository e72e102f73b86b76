import random
import statistics
import struct
import wave
import zlib
from functools import cache
from io import BytesIO

import orjson
import pytest

from toolfold import sample
from toolfold.sample import media, output
from toolfold.transcript import (
    ContentState,
    Entry,
    Message,
    MessageRole,
    Session,
    ToolCall,
    ToolStatus,
)


@cache
def _entries() -> list[Entry]:
    return list(sample.entries())


def _messages(session: str) -> list[Message]:
    return [
        entry.value
        for entry in _entries()
        if entry.session == session and isinstance(entry.value, Message)
    ]


def _calls(session: str = sample.SESSION) -> list[ToolCall]:
    return [message.tool_call for message in _messages(session) if message.tool_call]


def test_one_seed_makes_the_same_sample_every_time() -> None:
    assert list(sample.entries()) == _entries()


def test_another_seed_makes_another_sample() -> None:
    assert list(sample.entries(seed=2)) != _entries()


def test_half_of_its_messages_are_tool_calls() -> None:
    assert len(_messages(sample.SESSION)) == 400
    assert len(_calls()) == 200


def test_every_role_is_there_and_client_ids_and_call_ids_are_unique() -> None:
    messages = _messages(sample.SESSION)
    assert {message.role for message in messages} == set(MessageRole)
    assert len({message.client_id for message in messages}) == len(messages)
    assert len({call.tool_call_id for call in _calls()}) == 200


def test_every_kind_of_block_is_there() -> None:
    kinds = set()
    for call in _calls():
        for block in call.content or []:
            kinds.add(block["type"])
            if block["type"] == "content":
                kinds.add(block["content"]["type"])
    assert kinds == {
        *("content", "diff", "terminal", "hologram"),
        *("text", "image", "audio", "resource_link", "resource"),
    }


def test_a_failure_a_cut_output_an_empty_one_and_a_pending_call_are_there() -> None:
    calls = _calls()
    assert [call.status for call in calls].count(ToolStatus.FAILED) == 1
    assert [call.content_state for call in calls].count(ContentState.CUT_BY_AGENT) == 1
    assert [call.content for call in calls].count([]) == 1
    pending = [call for call in calls if call.status is ToolStatus.PENDING]
    assert pending == calls[-1:]
    assert (pending[0].content, pending[0].ended_at) == (None, None)


def test_its_largest_output_has_5_megabytes_and_the_rest_are_sized_as_real_ones() -> None:
    sizes = sorted(len(orjson.dumps(call.content)) for call in _calls())
    assert 5_000_000 <= sizes[-1] <= 8 * 1024 * 1024
    assert sizes[-2] < 1_100_000
    assert 300 < statistics.median(sizes) < 900


def test_its_colours_are_ansi_sequences_and_its_text_is_not_only_ascii() -> None:
    assert any("\x1b[31m" in block.get("output", "") for c in _calls() for block in c.content or [])
    assert not all(message.content.isascii() for message in _messages(sample.SESSION))
    assert max(len(message.content.encode()) for message in _messages(sample.SESSION)) > 16 * 1024


def test_the_subagent_is_a_session_that_names_the_call_that_started_it() -> None:
    (child,) = (
        entry.value
        for entry in _entries()
        if entry.session == sample.CHILD_SESSION and isinstance(entry.value, Session)
    )
    (call,) = (call for call in _calls() if call.child_session)
    assert (child.parent, child.parent_tool_call_id) == (sample.SESSION, call.tool_call_id)
    assert call.child_session == sample.CHILD_SESSION
    assert len(_messages(sample.CHILD_SESSION)) == 12


def test_no_message_is_older_than_the_one_before_it() -> None:
    times = [message.created_at for message in _messages(sample.SESSION)]
    assert times == sorted(time for time in times if time is not None)


def test_the_picture_is_a_whole_png() -> None:
    data = media.png(width=3, height=2)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    rows = zlib.decompress(data[start : start + length])
    assert rows == b"\0" + bytes((24, 28, 92)) * 3 + b"\0" + bytes((255, 148, 64)) * 3


def test_the_sound_is_a_tenth_of_a_second_of_wav() -> None:
    with wave.open(BytesIO(media.wav()), "rb") as sound:
        assert (sound.getnframes(), sound.getframerate(), sound.getnchannels()) == (800, 8_000, 1)


@pytest.mark.parametrize("size", [0, 1, 2, 17, 4_096, 100_000])
def test_output_has_exactly_the_bytes_asked_for(size: int) -> None:
    for line in (output.log_line, output.source_line, output.search_line):
        rng = random.Random(size)  # noqa: S311 (the same numbers each time)
        assert len(output.text(rng, size, line).encode()) == size
