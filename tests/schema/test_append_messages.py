"""Messages appended through the schema: in order, once, all of them or none."""

import asyncio
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, text_block
from tests.ingest.stored import contents, ingest, messages, rows
from tests.schema.conftest import Api
from tests.schema.mutating import assert_sound, mutate, refusals, shown
from toolfold import export, stored_json
from toolfold.events import Position
from toolfold.ingest import import_file
from toolfold.schema.global_id import encode
from toolfold.settings import Settings
from toolfold.store.engine import Database
from toolfold.store.tables import content_table, session_table
from toolfold.transcript import Json, Message, MessageRole, Session, SessionStatus

SESSION = encode("Session", "default", "s")
PAYLOAD = """
appendedCount
edges { cursor node { sequence revision role content repaired } }
session { messageCount title }
"""


def said(client_id: str, content: str = "Hello.", **given: Any) -> dict[str, Any]:
    return {"clientMessageId": client_id, "role": "USER", "content": content, **given}


def called(client_id: str, content: Json = None, **given: Any) -> dict[str, Any]:
    call = {"toolCallId": f"call-{client_id}", "content": content, **given}
    return {"clientMessageId": client_id, "role": "TOOL", "toolMetadata": call}


async def append(api: Api, *sent: dict[str, Any], **given: Any) -> dict[str, Any]:
    payload = await mutate(
        api, "appendMessages", PAYLOAD, **{"sessionId": SESSION, "messages": list(sent), **given}
    )
    if payload["edges"] is not None:
        payload["nodes"] = [edge["node"] for edge in payload["edges"]]
    return payload


def sequences(payload: dict[str, Any]) -> list[int]:
    return [node["sequence"] for node in payload["nodes"]]


@pytest.fixture
async def session(api: Api) -> str:
    """A session without messages."""
    return (await api.store([])).id


@pytest.mark.usefixtures("session")
async def test_messages_are_numbered_in_the_order_in_which_they_were_sent(api: Api) -> None:
    with api.events.watch_session("default", "s") as watch:
        payload = await append(api, said("a", "First line\nsecond"), said("b", "B"))
        assert list(watch.take().values()) == [Position("default", "s", 2)]
    assert (payload["appendedCount"], payload["errors"]) == (2, [])
    assert payload["session"] == {"messageCount": 2, "title": "First line"}
    assert payload["nodes"] == [
        {
            "sequence": place,
            "revision": place,
            "role": "USER",
            "content": text,
            "repaired": False,
        }
        for place, text in ((1, "First line\nsecond"), (2, "B"))
    ]
    await assert_sound(api)


async def test_a_cursor_of_an_appended_message_is_one_of_the_sessions_messages(
    api: Api, session: str
) -> None:
    payload = await append(api, said("a"), said("b"))
    document = """
    query ($id: ID!, $after: String) {
      session(id: $id) { messages(first: 5, after: $after) { nodes { sequence } } }
    }
    """
    data = await api.data(document, id=session, after=payload["edges"][0]["cursor"])
    assert data["session"]["messages"]["nodes"] == [{"sequence": 2}]


@pytest.mark.usefixtures("session")
async def test_a_message_that_is_sent_again_is_answered_with_the_stored_one(api: Api) -> None:
    first = await append(api, said("a"), called("b", [text_block("x")]))
    before = await messages(api.database)
    again = await append(api, called("b", [text_block("x")]), said("c"), said("a"), said("c"))
    assert sequences(again) == [2, 3, 1, 3]
    assert (again["appendedCount"], again["errors"]) == (1, [])
    assert again["nodes"][2] == first["nodes"][0]
    assert (await messages(api.database))[:2] == before
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_call_that_went_on_since_is_still_the_message_that_was_sent(api: Api) -> None:
    sent = called("a", status="PENDING")
    await append(api, sent)
    update = {"toolCallId": "call-a", "status": "COMPLETED", "content": [text_block("done")]}
    await mutate(api, "updateToolCalls", sessionId=SESSION, updates=[update])
    again = await append(api, sent)
    assert (again["appendedCount"], again["errors"]) == (0, [])
    (row,) = await messages(api.database)
    assert (row["tool_status"], row["tool_content_preview"]) == ("completed", "done")


@pytest.mark.parametrize(
    "other",
    [
        said("a", "Other."),
        said("a", "Hello. And more."),
        said("a", role="ASSISTANT"),
        said("a", origin="system"),
        said("a", model="m"),
        said("a", createdAt="2026-01-01T00:00:00Z"),
        called("a", [text_block("Hello.")]),
    ],
    ids=repr,
)
@pytest.mark.usefixtures("session")
async def test_an_id_used_before_with_other_content_shows_the_first_and_names_the_path(
    api: Api, other: dict[str, Any]
) -> None:
    await append(api, said("a"))
    payload = await append(api, said("new"), other)
    assert shown(payload) == [("InvalidInputError", "input.messages.1.clientMessageId")]
    assert (sequences(payload), payload["appendedCount"]) == ([2, 1], 1)
    assert payload["nodes"][1]["content"] == "Hello."
    assert payload["nodes"][1]["role"] == "USER"


@pytest.mark.usefixtures("session")
async def test_of_two_messages_of_one_id_in_a_batch_the_first_counts(api: Api) -> None:
    payload = await append(api, said("a", "one"), said("a", "two"), said("a", "one"))
    assert shown(payload) == [("InvalidInputError", "input.messages.1.clientMessageId")]
    assert (sequences(payload), payload["appendedCount"]) == ([1, 1, 1], 1)
    assert payload["nodes"][0]["content"] == "one"


async def test_an_imported_message_keeps_its_id_to_itself(api: Api) -> None:
    await ingest(api.database, Message("a", MessageRole.USER, "Hello."))
    (row,) = await rows(api.database, session_table)
    imported = encode("Session", "default", row["id"])
    payload = await append(api, said("a", "Hi."), said("b"), sessionId=imported)
    assert shown(payload) == [("InvalidInputError", "input.messages.0.clientMessageId")]
    assert sequences(payload) == [1, 2]


@pytest.mark.usefixtures("session")
async def test_what_was_exported_and_imported_since_may_be_sent_again(
    api: Api, tmp_path: Path
) -> None:
    long = "long " * 5_000
    sent = [
        said("timed", createdAt="2026-01-01T00:00:00Z", origin="o", model="m"),
        said("untimed", "a\x00b"),
        said("long", long),
        called("call", [text_block(long)], rawInput={"a": 1}, locations=[{"path": "/a"}]),
        called("bare"),
    ]
    await append(api, *sent)
    async with api.database.read() as connection:
        exported = b"".join([piece async for piece in export.stream(connection, "default", "s")])
    assert shown(await mutate(api, "deleteSession", id=SESSION)) == []
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported)
    assert (await import_file(api.database, "default", path)).error is None
    others: list[dict[str, Any]] = [
        {**sent[0], "createdAt": "2026-01-01T00:00:01Z"},
        {**sent[0], "origin": None},
        {**sent[1], "role": "ASSISTANT"},
        {**sent[2], "content": long + "."},
        called("call", [text_block(long)], rawInput={"a": 2}, locations=[{"path": "/a"}]),
        called("bare", []),
    ]
    payload = await append(api, *sent)
    assert (payload["appendedCount"], payload["errors"]) == (0, [])
    assert sequences(payload) == [1, 2, 3, 4, 5]
    for other in others:
        payload = await append(api, other)
        assert shown(payload) == [("InvalidInputError", "input.messages.0.clientMessageId")]
    assert shown(await append(api, *sent, others[0])) == [
        ("InvalidInputError", "input.messages.5.clientMessageId")
    ]
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_a_session_that_ends_elsewhere_is_a_conflict(api: Api) -> None:
    assert sequences(await append(api, said("a"), expectedSequence=0)) == [1]
    payload = await append(api, said("b"), expectedSequence=0)
    assert shown(payload) == [("ConflictError", "input.expectedSequence")]
    assert payload["errors"][0]["currentSequence"] == 1
    assert (payload["edges"], payload["session"], payload["appendedCount"]) == (None, None, 0)
    assert sequences(await append(api, said("b"), expectedSequence=1)) == [2]


@pytest.mark.usefixtures("session")
async def test_what_was_appended_there_before_is_no_conflict(api: Api) -> None:
    """A client whose answer was lost sends the same again."""
    sent = said("a"), said("b")
    await append(api, *sent, expectedSequence=0)
    await append(api, said("c"))
    again = await append(api, *sent, expectedSequence=0)
    assert (sequences(again), again["appendedCount"], again["errors"]) == ([1, 2], 0, [])
    for others, expected in (((said("b"),), 0), ((*sent, said("d")), 0), (sent, 1), ((), 0)):
        payload = await append(api, *others, expectedSequence=expected)
        assert shown(payload) == [("ConflictError", "input.expectedSequence")]


@pytest.mark.usefixtures("session")
async def test_nothing_is_appended_by_no_messages(api: Api) -> None:
    payload = await append(api, expectedSequence=0)
    assert (payload["edges"], payload["appendedCount"], payload["errors"]) == ([], 0, [])


@pytest.mark.usefixtures("session")
async def test_a_tools_text_that_its_content_repeats_is_stored_once(api: Api) -> None:
    content = [text_block("line one\nline two"), text_block("three")]
    repeated = {**called("a", content), "content": "line one\nline two\nthree\n"}
    different = {**called("b", content), "content": "line one"}
    payload = await append(api, repeated, different)
    assert [node["content"] for node in payload["nodes"]] == ["", "line one"]
    assert (await append(api, repeated))["errors"] == []
    await assert_sound(api)


@pytest.mark.usefixtures("session")
async def test_clients_that_append_at_once_number_the_session_without_a_gap(api: Api) -> None:
    async def client(name: int) -> list[int]:
        found: list[int] = []
        for turn in range(5):
            sent = [said(f"{name}-{turn}-{n}", f"{n}") for n in range(3)]
            found += sequences(await append(api, *sent))
        return found

    each = await asyncio.gather(*map(client, range(6)))
    assert sorted(chain.from_iterable(each)) == list(range(1, 91))
    assert all(found == sorted(found) for found in each)
    await assert_sound(api)


@pytest.mark.parametrize("dialect", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("session")
async def test_several_servers_on_one_database_number_a_session_without_a_gap(
    api: Api, database_settings: Settings
) -> None:
    others = [await Database.open(database_settings) for _ in range(2)]
    try:
        servers = [api, *(Api(other, api.settings) for other in others)]

        async def client(number: int) -> None:
            server = servers[number % 3]
            for turn in range(4):
                # Two clients send each batch, from different servers.
                sent = [said(f"{number // 2}-{turn}-{n}") for n in range(3)]
                assert (await append(server, *sent))["errors"] == []

        await asyncio.gather(*map(client, range(8)))
    finally:
        for other in others:
            await other.close()
    found = await messages(api.database, "sequence", "client_id")
    assert [row["sequence"] for row in found] == list(range(1, 49))
    assert len({row["client_id"] for row in found}) == 48
    await assert_sound(api)


async def test_a_times_extremes_are_kept(api: Api, session: str) -> None:
    times = ["1970-01-01T00:00:00.000Z", "2199-12-31T23:59:59.999Z"]
    sent = [said(f"m{n}", createdAt=time) for n, time in enumerate(times)]
    await append(api, *sent, said("offset", createdAt="1969-12-31T19:00:00-05:00"))
    document = "query ($id: ID!) { session(id: $id) { messages { nodes { createdAt } } } }"
    data = await api.data(document, id=session)
    found = [node["createdAt"] for node in data["session"]["messages"]["nodes"]]
    assert found == [*times, times[0]]
    # The session itself was changed today, and its next change can be seen.
    (stored,) = await rows(api.database, session_table)
    assert stored["updated_at"] < "2199"
    await append(api, said("next"))
    (after,) = await rows(api.database, session_table)
    assert stored["updated_at"] <= after["updated_at"] < "2199"


@pytest.mark.usefixtures("session")
async def test_a_message_without_a_time_has_the_servers(api: Api) -> None:
    await append(api, said("a", createdAt="1970-01-01T00:00:00Z"))
    await append(api, said("b"))
    (_, row), (stored,) = await messages(api.database), await rows(api.database, session_table)
    assert row["created_at"] > "2020"
    assert stored["updated_at"] >= max(row["created_at"], NOW)


@pytest.mark.usefixtures("session")
async def test_a_nul_in_a_text_becomes_the_replacement_character_and_is_told(api: Api) -> None:
    sent = said("a", "a\x00b")
    payload = await append(api, sent, called("b", title="t\x00"))
    assert payload["errors"] == []
    assert payload["nodes"][0]["content"] == "a\ufffdb"
    assert [node["repaired"] for node in payload["nodes"]] == [True, True]
    again = await append(api, sent)
    assert (again["appendedCount"], again["errors"]) == (0, [])


@pytest.mark.usefixtures("session")
async def test_json_is_stored_exactly_to_its_last_digit_and_level(api: Api) -> None:
    deep: Json = []
    for _ in range(999):
        deep = [deep]
    values: list[Json] = [[deep[0]], [{"n": 2**200, "f": 0.1, "nul": "\x00", "": None}], ["😀"], []]
    sent = [called(f"m{n}", value, rawInput=value, rawOutput=0) for n, value in enumerate(values)]
    payload = await append(api, *sent)
    assert (payload["errors"], payload["appendedCount"]) == ([], 4)
    stored = await contents(api.database)
    for row, value in zip(await messages(api.database), values, strict=True):
        expected = stored_json.encode(value)
        assert stored[row["tool_content_hash"]] == stored[row["raw_input_hash"]] == expected
        assert (row["tool_content_size"], row["repaired"]) == (len(expected), False)
    assert stored_json.encode(values[1]).startswith(b'[{"n":160693804425899027554196209234')


def nested(levels: int) -> Json:
    value: Json = 0
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (said(""), ("InvalidInputError", "input.messages.1.clientMessageId")),
        (said("a\x00"), ("InvalidInputError", "input.messages.1.clientMessageId")),
        (said("x" * 201), ("InvalidInputError", "input.messages.1.clientMessageId")),
        (said("a\udc00"), ("InvalidInputError", "input.messages.1.clientMessageId")),
        (said("b", "\ud83d"), ("InvalidInputError", "input.messages.1.content")),
        (
            called("b", title="x" * 501),
            ("InvalidInputError", "input.messages.1.toolMetadata.title"),
        ),
        (called("b", name="x" * 201), ("InvalidInputError", "input.messages.1.toolMetadata.name")),
        (said("b", model="x" * 201), ("InvalidInputError", "input.messages.1.model")),
        (said("b", origin="x" * 201), ("InvalidInputError", "input.messages.1.origin")),
        (
            called(
                "b",
                rawInput={"path": "y" * 4_097},
                locations=[{"path": "/a"}, {"path": "y" * 4_097}, {"path": "x" * 4_097}],
            ),
            ("InvalidInputError", "input.messages.1.toolMetadata.locations.2.path"),
        ),
        *(
            (
                called("b", locations=[{"path": path}] * count),
                ("InvalidInputError", "input.messages.1.toolMetadata.locations"),
            )
            for path, count in (("/a", 1_001), ("x" * 4_000, 17))
        ),
        (
            called("b", toolCallId=""),
            ("InvalidInputError", "input.messages.1.toolMetadata.toolCallId"),
        ),
        *(
            (
                called("b", locations=[{"path": "/a", "line": 1}, {"path": "/a", "line": line}]),
                ("InvalidInputError", "input.messages.1.toolMetadata.locations.1.line"),
            )
            for line in (0, -5)
        ),
        (
            called("b", locations=[{"path": "\ud800"}]),
            ("InvalidInputError", "input.messages.1.toolMetadata.locations.0.path"),
        ),
        *(
            (called("b", value), ("InvalidInputError", "input.messages.1.toolMetadata.content"))
            for value in ("text", {"type": "text"}, 0, True)
        ),
        (
            called("b", [{"type": "content"}, {"x": ["\ud800"]}]),
            ("InvalidInputError", "input.messages.1.toolMetadata.content.1.x.0"),
        ),
        (
            called("b", ["\ud800", "\ud800"], rawInput="\ud800"),
            ("InvalidInputError", "input.messages.1.toolMetadata.content.0"),
        ),
        (
            called("b", rawInput={"a": [{"b": "\ud800"}], "\ud800": 1}),
            ("InvalidInputError", "input.messages.1.toolMetadata.rawInput.a.0.b"),
        ),
        (
            called("b", rawInput={"a": {"\udfff": 1}}),
            ("InvalidInputError", "input.messages.1.toolMetadata.rawInput.a"),
        ),
        (
            called("b", rawOutput=[1.5, float("inf")]),
            ("InvalidInputError", "input.messages.1.toolMetadata.rawOutput.1"),
        ),
        (
            called("b", rawOutput={"n": float("nan")}),
            ("InvalidInputError", "input.messages.1.toolMetadata.rawOutput.n"),
        ),
        (
            called("b", nested(501)["a"]),
            ("InvalidInputError", "input.messages.1.toolMetadata.content"),
        ),
        (
            called("b", rawInput=nested(5_000)),
            ("InvalidInputError", "input.messages.1.toolMetadata.rawInput"),
        ),
    ],
    ids=lambda value: ".".join(value)[-40:] if isinstance(value, tuple) else "",
)
@pytest.mark.usefixtures("session")
async def test_what_cannot_be_stored_is_refused_and_nothing_of_its_batch_is_written(
    api: Api, bad: dict[str, Any], expected: tuple[str, str]
) -> None:
    given = {"sessionId": SESSION, "messages": [said("good"), bad, said("also good")]}
    assert await refusals(api, "appendMessages", **given) == [expected]
    assert (await append(api, said("good")))["appendedCount"] == 1


@pytest.mark.parametrize(
    "session_id",
    [
        encode("Session", "default", "absent"),
        encode("Session", "absent", "s"),
        encode("Session", "default", "s\x00"),
        encode("Project", "default"),
        "",
        "no id",
    ],
)
@pytest.mark.usefixtures("session")
async def test_an_unknown_session_is_not_found(api: Api, session_id: str) -> None:
    payload = await append(api, said("a"), sessionId=session_id)
    assert shown(payload) == [("NotFoundError", "input.sessionId")]
    assert payload["errors"][0]["id"] == session_id
    assert await messages(api.database) == []


async def test_an_archived_session_takes_nothing_until_it_is_reopened(
    api: Api, session: str
) -> None:
    await append(api, said("a"))
    await mutate(api, "updateSession", id=session, status="ARCHIVED")
    given = {"sessionId": session, "messages": [said("b")]}
    assert await refusals(api, "appendMessages", **given) == [
        ("InvalidInputError", "input.sessionId")
    ]
    update = {"toolCallId": "c"}
    assert await refusals(api, "updateToolCalls", sessionId=session, updates=[update]) == [
        ("InvalidInputError", "input.sessionId")
    ]
    await mutate(api, "updateSession", id=session, status="ACTIVE")
    assert sequences(await append(api, said("b"))) == [2]


async def test_a_completed_session_takes_more_and_stays_completed(api: Api) -> None:
    await ingest(api.database, Session(status=SessionStatus.COMPLETED))
    (row,) = await rows(api.database, session_table)
    await append(api, said("a"), sessionId=encode("Session", "default", row["id"]))
    (row,) = await rows(api.database, session_table)
    assert (row["status"], row["message_count"]) == ("completed", 1)


@pytest.mark.usefixtures("session")
async def test_a_batch_over_a_limit_is_refused_with_both_numbers(api: Api) -> None:
    for sent, size, limit in (
        ([said(f"m{n}") for n in range(501)], 501, 500),
        ([said("a", "x" * 9 * 1024 * 1024)], None, 8 * 1024 * 1024),
        ([called(f"m{n}", [text_block("x" * 3_000_000)]) for n in range(3)], None, 8 * 1024**2),
    ):
        payload = await append(api, *sent)
        assert shown(payload) == [("TooLargeError", "input.messages")]
        (error,) = payload["errors"]
        assert error["limit"] == limit
        assert error["size"] == size if size else error["size"] > limit
    assert await messages(api.database) == await rows(api.database, content_table) == []
    assert (await append(api, *(said(f"m{n}") for n in range(500))))["appendedCount"] == 500


@pytest.mark.usefixtures("session")
async def test_the_limits_are_settings_that_clients_can_read(api: Api) -> None:
    limited = api.with_settings(max_batch_messages=2, max_batch_bytes=1_000)
    data = await limited.data("{ limits { maxBatchMessages maxBatchBytes } }")
    assert data["limits"] == {"maxBatchMessages": 2, "maxBatchBytes": 1_000}
    for sent in ([said("a"), said("b"), said("c")], [said("a", "x" * 1_000)]):
        assert shown(await append(limited, *sent)) == [("TooLargeError", "input.messages")]
    assert (await append(limited, said("a"), said("b", "x" * 800)))["appendedCount"] == 2


@pytest.mark.usefixtures("session")
async def test_a_title_is_cut_if_the_calls_input_holds_it_whole(api: Api) -> None:
    sent = called("a", title="x" * 501, rawInput={"command": "x" * 501})
    assert (await append(api, sent))["errors"] == []
    assert (await append(api, sent))["appendedCount"] == 0
    (row,) = await messages(api.database)
    assert row["tool_title"] == "x" * 499 + "…"
    longest = said("y" * 200, model="x" * 200)
    assert sequences(await append(api, longest)) == sequences(await append(api, longest)) == [2]


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("session")
async def test_json_may_stand_in_the_document_itself(api: Api) -> None:
    document = """
    mutation ($id: ID!) {
      appendMessages(input: {sessionId: $id, messages: [{
        clientMessageId: "a", role: TOOL,
        toolMetadata: {toolCallId: "c", content: [{type: "text", n: 1.5, ok: [true, null]}]}
      }]}) { edges { node { toolMetadata { content kind status } } } errors { message } }
    }
    """
    data = await api.data(document, id=SESSION)
    assert data["appendMessages"]["edges"][0]["node"]["toolMetadata"] == {
        "content": [{"type": "text", "n": 1.5, "ok": [True, None]}],
        "kind": "OTHER",
        "status": "COMPLETED",
    }


@pytest.mark.usefixtures("session")
async def test_a_payload_withholds_in_bulk_what_the_default_guard_withholds(api: Api) -> None:
    selection = "edges { node { toolMetadata { content contentSize contentOmitted { reason } } } }"
    sent = [called("a", [text_block("x" * 5_000)])]
    payload = await mutate(api, "appendMessages", selection, sessionId=SESSION, messages=sent)
    (edge,) = payload["edges"]
    assert edge["node"]["toolMetadata"] == {
        "content": None,
        "contentSize": 5_000 + len(b'[{"type":"content","content":{"type":"text","text":""}}]'),
        "contentOmitted": {"reason": "COMPACT_MODE"},
    }


@pytest.mark.usefixtures("session")
async def test_a_client_that_goes_away_does_not_undo_what_was_begun(api: Api) -> None:
    held, release = asyncio.Event(), asyncio.Event()
    write = api.database.write

    async def hold(function: Any) -> Any:
        held.set()
        await release.wait()
        return await write(function)

    api.database.write = hold  # type: ignore[method-assign]  # stands in for a busy writer
    with api.events.watch_session("default", "s") as watch:
        sending = asyncio.ensure_future(append(api, said("a")))
        await held.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        release.set()
        await watch.news()
        assert list(watch.take().values()) == [Position("default", "s", 1)]
    assert [row["client_id"] for row in await messages(api.database)] == ["a"]
