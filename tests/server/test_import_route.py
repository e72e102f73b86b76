import tracemalloc
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest

from tests.builders import NOW, add_project
from tests.ingest.stored import findings, messages
from tests.server.serving import codes
from tests.server.stored import Served, incompressible
from toolfold import export, sample
from toolfold.events import Position
from toolfold.ingest import lifecycle, projects, receiving, record
from toolfold.ingest.gathering import MAX_ENTRIES
from toolfold.store import session
from toolfold.store.engine import Database
from toolfold.store.page import PageRequest
from toolfold.store.session import SessionFilter

URL = "/api/projects/default/import"


def header(session_id: str = "s1", *, status: str = "completed", **fields: Any) -> bytes:
    """Return the line that begins a session's export."""
    said = {"id": session_id, "agent": "claude-code", "status": status, **fields}
    return orjson.dumps({"toolfold": 1, "session": said}) + b"\n"


def line(client_id: str, content: str = "Hi", **fields: Any) -> bytes:
    """Return the line of a message."""
    said = {"clientId": client_id, "role": "user", "createdAt": NOW, "content": content, **fields}
    return orjson.dumps({"message": said}) + b"\n"


async def post(served: Served, *lines: bytes, url: str = URL, **headers: str) -> httpx.Response:
    return await served.client.post(url, content=b"".join(lines), headers=headers)


async def in_pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def exported(database: Database, project_id: str) -> list[bytes]:
    """Return the exports of a project's sessions."""
    async with database.read() as connection:
        sessions = await session.page(
            connection,
            [project_id],
            PageRequest(first=100),
            where=SessionFilter(include_children=True),
            columns=("id",),
        )
        return sorted(
            [
                b"".join([piece async for piece in export.stream(connection, project_id, row.id)])
                for row in sessions.rows
            ]
        )


def sums(answer: httpx.Response) -> tuple[int, int, int]:
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return told["added"], told["updated"], told["skipped"]


async def test_what_the_export_writes_is_taken_back_whole_and_once(served: Served) -> None:
    now = datetime.now(UTC)
    await served.write(
        lambda c: record(c, "default", sample.entries(), format=sample.FORMAT, now=now)
    )
    await served.write(lambda c: add_project(c, "other"))
    lines = await exported(served.database, "default")
    url = "/api/projects/other/import"
    first = await served.client.post(url, content=in_pieces(b"".join(lines), 65_537))
    count = b"".join(lines).count(b"\n") - len(lines)
    assert sums(first) == (count, 0, 0)
    assert first.json()["problems"] == []
    assert await exported(served.database, "other") == lines
    assert sums(await post(served, *lines, url=url)) == (0, 0, count)
    assert await exported(served.database, "other") == lines
    assert await findings(served.database, "other") == []


@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_lines_may_be_cut_anywhere_and_the_last_need_not_end(
    served: Served, size: int
) -> None:
    body = b"".join([header(), line("m1", "é"), b"\n", line("m2", "b\nc")]).removesuffix(b"\n")
    answer = await served.client.post(URL, content=in_pieces(body, size))
    assert sums(answer) == (2, 0, 0)
    assert [row["content"] for row in await messages(served.database)] == ["é", "b\nc"]


async def test_the_answer_counts_by_session(served: Served) -> None:
    await post(served, header("s1"), line("m1"), header("s2"), line("m1", "short"))
    answer = await post(
        served,
        *(header("s1"), line("m1"), line("m2"), header("s3")),
        *(header("s2"), line("m1", "short, then longer")),
    )
    told = answer.json()
    counted = ("added", "updated", "skipped", "headSequence", "headRevision")
    sessions = {one["id"]: tuple(one[name] for name in counted) for one in told.pop("sessions")}
    assert sessions == {"s1": (1, 0, 1, 2, 2), "s3": (0, 0, 0, 0, 0), "s2": (0, 1, 0, 1, 2)}
    assert list(sessions) == ["s1", "s3", "s2"]
    assert told.pop("problems") == []
    rest = {"added": 1, "updated": 1, "skipped": 1, "repaired": 0, "keptRaw": 0, "deleted": []}
    assert told == rest


async def test_nothing_is_imported_of_nothing(served: Served) -> None:
    assert (await post(served)).json()["sessions"] == []


async def test_what_was_mended_is_named_by_its_line(served: Served) -> None:
    mended = line("m2", "?").replace(b"?", b"\xff")
    answer = await post(served, header(), line("m1"), mended, line("m3"))
    assert sums(answer) == (3, 0, 0)
    assert answer.json()["problems"] == [{"line": 3, "reason": "invalid UTF-8"}]
    assert answer.json()["repaired"] == 1


async def test_an_archived_session_is_a_problem_and_the_others_are_written(served: Served) -> None:
    await post(served, header("s1", status="archived"), line("m1"))
    answer = await post(
        served, header("s1", status="archived"), line("m2"), header("s2"), line("m1")
    )
    assert sums(answer)[0] == 1
    [problem] = answer.json()["problems"]
    assert problem["line"] is None
    assert "s1 is archived" in problem["reason"]


async def test_a_bad_line_is_named_and_whole_batches_before_it_stay(served: Served) -> None:
    lines = [line(f"m{number}") for number in range(1, MAX_ENTRIES + 10)]
    answer = await post(served, header(), *lines, b"{cut off\n", line("after"))
    place = len(lines) + 2
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"message": f"Line {place}: not JSON", "extensions": {"code": "BAD_LINE", "line": place}}
    ]
    kept = [row["client_id"] for row in await messages(served.database)]
    assert kept == [f"m{number}" for number in range(1, MAX_ENTRIES)]
    assert answer.json()["imported"]["added"] == len(kept)
    assert await findings(served.database) == []
    assert sums(await post(served, header(), *lines)) == (10, 0, len(kept))


DEEP = b"[" * 1_050 + b"]" * 1_050
CALL = line("m1", toolCall={"toolCallId": "c", "kind": "read", "status": "failed"})


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([line("m1")], "Line 1: a message before any session"),
        ([header(), b"[]\n"], "Line 2: not an exported message: an object is missing"),
        ([header(), b'{"message":{"role":"user"}}\n'], "`clientId` is missing"),
        ([header(), line("m1", role="king")], "'king' is not a valid MessageRole"),
        ([header(status="asleep")], "Line 1: the session of this export is damaged"),
        ([header().replace(b'"toolfold":1', b'"toolfold":2')], "Upgrade Toolfold."),
        ([header("a\x00b")], "Line 1: the session of this export is damaged: `id` must be"),
        ([header(), line("m1", usage={"inputTokens": 2.5})], "`inputTokens` is not of its type"),
        (
            [header(), CALL.replace(b'"kind"', b'"rawInput":' + DEEP + b',"kind"')],
            "Line 2: JSON nested deeper than 1,000 levels cannot be stored.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_cannot_be_imported_is_refused_with_its_line(
    served: Served, lines: list[bytes], reason: str
) -> None:
    answer = await post(served, *lines)
    assert (answer.status_code, codes(answer)) == (400, ["BAD_LINE"])
    assert reason in answer.json()["errors"][0]["message"]
    assert await messages(served.database) == []


async def test_a_line_that_never_ends_is_refused(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "MAX_LINE_BYTES", 1_000)
    answer = await served.client.post(URL, content=in_pieces(header() + b"x" * 2_000, 100))
    assert (answer.status_code, codes(answer)) == (400, ["BAD_LINE"])
    assert answer.json()["errors"][0]["message"] == "Line 2: over 1,000 bytes long."


async def test_an_unknown_project_is_not_found(served: Served) -> None:
    answer = await post(served, header(), url="/api/projects/other/import")
    assert (answer.status_code, codes(answer)) == (404, ["NOT_FOUND"])


async def test_only_plain_lines_are_posted_by_programs_and_own_pages(served: Served) -> None:
    refusals = [
        await served.client.get(URL),
        await post(served, header(), **{"content-encoding": "gzip"}),
        await post(served, header(), origin="http://evil.example"),
        await post(served, header(), host="evil.example"),
    ]
    assert [answer.status_code for answer in refusals] == [405, 415, 403, 421]


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_long_stream_is_received_in_flat_memory(served: Served) -> None:
    text = incompressible(1_000_000)

    async def body() -> AsyncIterator[bytes]:
        yield header()
        for number in range(96):
            async for piece in in_pieces(line(f"m{number}", f"{number} {text}"), 65_536):
                yield piece

    tracemalloc.start()
    try:
        answer = await served.client.post(URL, content=body())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sums(answer) == (96, 0, 0)
    assert peak < 24 * 1024 * 1024


async def test_who_follows_a_session_is_told_what_was_written(served: Served) -> None:
    events = served.app.state.resources.events
    with events.watch_session("default", "s1") as watch:
        await post(served, header(), line("m1"), line("m2"))
        assert list(watch.take().values()) == [Position("default", "s1", 2)]


@pytest.mark.parametrize("written", [(), ("m1", "m2", "m3")])
async def test_a_project_that_is_deleted_meanwhile_is_not_found(
    served: Served, monkeypatch: pytest.MonkeyPatch, written: tuple[str, ...]
) -> None:
    monkeypatch.setattr("toolfold.ingest.gathering.MAX_ENTRIES", 2)
    await served.write(lambda connection: add_project(connection, "other"))

    async def body() -> AsyncIterator[bytes]:
        yield b"".join([header(), *map(line, written)] if written else [])
        assert bool(await messages(served.database)) == bool(written)
        await served.write(lambda connection: projects.remove(connection, "other"))
        yield b"".join([header("s2"), line("m4"), line("m5")])

    answer = await served.client.post("/api/projects/other/import", content=body())
    assert (answer.status_code, codes(answer)) == (404, ["NOT_FOUND"])
    assert await messages(served.database) == []


async def test_a_session_that_is_deleted_meanwhile_is_told_and_not_written_on(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolfold.ingest.gathering.MAX_ENTRIES", 2)
    of_one = [header("s1"), *map(line, ("m1", "m2", "m3"))]
    rest = [line("m4"), header("s2"), line("m5")]

    async def body() -> AsyncIterator[bytes]:
        yield b"".join(of_one)
        assert await messages(served.database)
        await served.write(lambda connection: lifecycle.remove(connection, "default", "s1"))
        yield b"".join(rest)

    told = (await served.client.post(URL, content=body())).json()
    assert (told["added"], told["deleted"]) == (1, ["s1"])
    assert [one["id"] for one in told["sessions"]] == ["s2"]
    [problem] = told["problems"]
    assert problem["line"] is None
    assert "s1 was deleted" in problem["reason"]
    assert [row["client_id"] for row in await messages(served.database)] == ["m5"]
    assert sums(await post(served, *of_one, *rest)) == (4, 0, 1)
    stored = await messages(served.database, "session_id", "sequence", "client_id")
    assert [row["client_id"] for row in stored] == ["m1", "m2", "m3", "m4", "m5"]
    assert await findings(served.database) == []
