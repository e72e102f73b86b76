"""The files of a message: locations, attachments and images, all of them reached."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent

from tests.builders import store_images, store_session, text_block, text_message, tool_message
from tests.mcp_server.asking import Mcp, parts_of, text_of
from toolfold.schema.global_id import encode
from toolfold.store.engine import Database
from toolfold.transcript import Attachment, ToolLocation

SESSION = encode("Session", "default", "session-1")
PNG = b"\x89PNG not really"


def block(data: bytes, sort: str = "image", mime_type: str = "image/png") -> dict[str, str]:
    """Return bytes as a block of an output."""
    return {"type": sort, "mimeType": mime_type, "data": base64.b64encode(data).decode()}


IMAGE = block(PNG)


def images_of(result: CallToolResult) -> list[bytes]:
    """Return the images that an answer has as content."""
    return [base64.b64decode(one.data) for one in result.content if isinstance(one, ImageContent)]


async def store(database: Database, *messages: Any) -> None:
    await store_session(database, messages, title="A title")


async def test_a_page_names_each_image_with_the_call_that_shows_it(
    mcp: Mcp, database: Database
) -> None:
    content = [text_block("See:"), block(PNG), block(PNG * 2)]
    call = tool_message(content, locations=(ToolLocation("/a.png", None),))
    attached = text_message("look", attachments=(Attachment(PNG * 3, "image/png", "a.png"),))
    long = [text_block("x" * 1_000_000), block(PNG * 4)]
    await store(database, call, attached, tool_message(long))
    await store_images(database, content)
    await store_images(database, long)
    shown: list[bytes] = []
    for after in range(3):
        result = await mcp.result("get_session_messages", session_id=SESSION, after=after, limit=1)
        (message,) = (result.structured_content or {})["messages"]
        for one in [*message.get("attachments", []), *message.get("images", [])]:
            assert "shown by get_message(" in text_of(result)
            call_of_it = one["shown_by"]
            shown += images_of(await mcp.result(call_of_it["tool"], **call_of_it["arguments"]))[:1]
    assert shown == [PNG, PNG * 2, PNG * 3, PNG * 4]


async def test_an_image_may_take_all_the_room_that_the_text_leaves(
    mcp: Mcp, database: Database
) -> None:
    data = PNG * 1_800
    content = [text_block("A short text."), block(data)]
    await store(database, tool_message(content))
    await store_images(database, content)
    assert len(base64.b64encode(data)) > 40_000 * 0.85
    result = await mcp.result("get_message", session_id=SESSION, sequence=1)
    assert images_of(result) == [data]
    assert "A short text." in text_of(result)


@pytest.mark.parametrize("tool", ["get_session_messages", "get_message"])
async def test_bytes_that_are_no_image_are_called_what_they_are(
    mcp: Mcp, database: Database, tool: str
) -> None:
    resource = {"uri": "file:///b", "mimeType": "application/pdf", "blob": block(PNG)["data"]}
    content: Any = [
        {"type": "content", "content": {"type": "resource", "resource": resource}},
        {"type": "content", "content": block(PNG * 2, "audio", "audio/wav")},
    ]
    await store(database, tool_message(content))
    await store_images(database, content)
    sequence = {"sequence": 1} if tool == "get_message" else {}
    text = await mcp.text(tool, session_id=SESSION, **sequence)
    assert '\nfile "application/pdf", 15 bytes: `toolfold serve` has it at /' in text
    assert '\naudio "audio/wav", 30 bytes: `toolfold serve` has it at /' in text


async def test_an_image_is_content_if_it_fits_and_else_there_is_a_call_that_shows_it(
    mcp: Mcp, database: Database
) -> None:
    large, too_large = PNG * 3_000, PNG * 60_000
    blocks = [
        {**IMAGE, "data": base64.b64encode(data).decode()} for data in (PNG, large, too_large)
    ]
    text = "See:" + "x" * 5_000_000
    content = [text_block(text), *blocks]
    await store(database, tool_message(content))
    await store_images(database, content)
    result = await mcp.result("get_message", session_id=SESSION, sequence=1)
    (image,) = (block for block in result.content if isinstance(block, ImageContent))
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
    message = (result.structured_content or {})["message"]
    assert [one["bytes"] for one in message["images"]] == [15, 45_000, 900_000]
    assert parts_of(message)["output"]["text"].startswith("See:xxx")
    assert '45,000 bytes: shown by get_message(session_id="' in text_of(result)
    url = message["images"][2]["url"]
    assert f"900,000 bytes: `toolfold serve` has it at {url}" in text_of(result)
    shown_by = [one.get("shown_by") for one in message["images"]]
    assert shown_by[0] is shown_by[2] is None
    result = await mcp.result(shown_by[1]["tool"], **shown_by[1]["arguments"])
    (image,) = (block for block in result.content if isinstance(block, ImageContent))
    assert base64.b64decode(image.data) == large


@pytest.mark.parametrize("count", [3, 200])
async def test_every_location_of_a_call_is_reached(
    mcp: Mcp, database: Database, count: int
) -> None:
    places = tuple(ToolLocation(f"/src/{'x' * 300}/{at}.py", at) for at in range(1, count + 1))
    files = (Attachment(PNG, "image/png"),)
    await store(database, replace(tool_message(locations=places), attachments=files))
    arguments: Any = {"session_id": SESSION, "max_bytes": 8_000}
    result = await mcp.result("get_session_messages", **arguments)
    (message,) = (result.structured_content or {})["messages"]
    found = message["tool_call"]["locations"]
    assert message["tool_call"]["location_count"] == count
    more = message.get("more_files")
    assert (f"and {count - len(found)} more: get_message(" in text_of(result)) == (count > 3)
    files_found = message.get("attachments", []) if more is None else []
    while more is not None:
        page = await mcp.follow(more)
        found += page["message"].get("locations", [])
        files_found += page["message"].get("attachments", [])
        more = page.get("next")
    assert [one["line"] for one in found] == list(range(1, count + 1))
    assert [one["bytes"] for one in files_found] == [len(PNG)]


async def test_one_message_lists_the_locations_that_its_heading_has_no_room_for(
    mcp: Mcp, database: Database
) -> None:
    places = tuple(ToolLocation(f"/src/{at}.py", at) for at in range(1, 41))
    await store(database, tool_message(locations=places))
    found = await mcp.call("get_message", session_id=SESSION, sequence=1)
    message = found["message"]
    lines = [one["line"] for one in message["tool_call"]["locations"] + message["locations"]]
    assert lines == list(range(1, 41))
    assert "next" not in found


async def whole_path(mcp: Mcp, location: Any) -> str:
    """Return the path of a location that is cut, by following what reads it."""
    read, following = "", location["whole_path"]
    while following is not None:
        answer = await mcp.follow(following)
        part = answer["message"]["path"]
        assert (part["offset"], part["total_bytes"]) == (len(read.encode()), location["path_bytes"])
        read += part["text"]
        following = part.get("next")
        assert following == answer.get("next")
    return read


@pytest.mark.parametrize("tool", ["get_session_messages", "get_message"])
@pytest.mark.parametrize(
    ("step", "length", "count"),
    [("directory/", 3_000, 12), ("directory/", 60_000, 2), ('\x1b🗂 "名\u202e', 3_000, 3)],
)
async def test_a_path_of_any_length_is_read_whole(
    mcp: Mcp, database: Database, tool: str, step: str, length: int, count: int
) -> None:
    paths = [(str(at) + step * length)[:length] for at in range(count)]
    places = [ToolLocation("/short.py", 7), *(ToolLocation(path, None) for path in paths)]
    await store(database, tool_message(locations=tuple(places)))
    place = {"sequence": 1} if tool == "get_message" else {}
    page = await mcp.call(tool, session_id=SESSION, max_bytes=8_000, **place)
    message = page["messages"][0] if "messages" in page else page["message"]
    found = [*message["tool_call"]["locations"], *message.get("locations", [])]
    more = message.get("more_files")
    while more is not None:
        page = await mcp.follow(more)
        found += page["message"]["locations"]
        more = page.get("next")
    assert found[0] == {"path": "/short.py", "line": 7}
    assert [one["path_bytes"] for one in found[1:]] == [len(path.encode()) for path in paths]
    assert [await whole_path(mcp, one) for one in (found[1], found[-1])] == [paths[0], paths[-1]]


async def test_a_path_that_is_cut_is_followed_by_the_call_that_reads_it(
    mcp: Mcp, database: Database
) -> None:
    long = "/a" * 1_500
    await store(database, tool_message(locations=(ToolLocation(long, 3),)))
    text = await mcp.text("get_message", session_id=SESSION, sequence=1)
    call = f'get_message(session_id="{SESSION}", sequence=1, after_file=0, offset=0)'
    assert f'/a":3 (the end of 3,000 bytes, all of them by {call})' in text
    whole = {"session_id": SESSION, "sequence": 1, "after_file": 0, "offset": 0}
    assert f"\n{long}\n" in await mcp.text("get_message", **whole)


async def test_a_place_in_a_path_that_is_not_there_is_refused(mcp: Mcp, database: Database) -> None:
    await store(database, tool_message(locations=(ToolLocation("/é", None),)))
    place = {"session_id": SESSION, "sequence": 1}
    beyond = await mcp.refusal("get_message", **place, after_file=0, offset=4)
    assert "offset 4 is beyond the end: there are 3 bytes." in beyond
    none = await mcp.refusal("get_message", **place, after_file=1, offset=0)
    assert "there are 1 locations" in none
    within = await mcp.call("get_message", **place, after_file=0, offset=2)
    assert (within["message"]["path"]["offset"], within["message"]["path"]["text"]) == (1, "é")


def pictures(count: int, size: int) -> list[bytes]:
    """Return the bytes of so many images, no two alike."""
    return [f"{number:04}".encode() + b"\x89" * (size - 4) for number in range(count)]


async def store_pictures(database: Database, place: str, images: list[bytes]) -> None:
    """Store a message that has these images, where it is said."""
    if place == "attachments":
        files = tuple(Attachment(data, "image/png", "\x1b" * 300) for data in images)
        await store(database, text_message("see", attachments=files))
        return
    blocks: Any = [{**IMAGE, "data": base64.b64encode(data).decode()} for data in images]
    await store(database, tool_message(blocks))
    await store_images(database, blocks)


@pytest.mark.parametrize("max_bytes", [8_000, 40_000])
@pytest.mark.parametrize("place", ["attachments", "output"])
async def test_every_file_of_a_message_is_reached_within_the_budget(
    mcp: Mcp, database: Database, place: str, max_bytes: int
) -> None:
    images = pictures(60, 200)
    await store_pictures(database, place, images)
    arguments: Any = {"session_id": SESSION, "sequence": 1, "max_bytes": max_bytes}
    result = await mcp.result("get_message", **arguments)
    page = result.structured_content or {}
    text = parts_of(page["message"])["text" if place == "attachments" else "output"]["text"]
    assert text.startswith("see" if place == "attachments" else "[image/png, 200 bytes]")
    shown: list[bytes] = []
    listed: list[str] = []
    name = "attachments" if place == "attachments" else "images"
    following: Any = page["message"].get("more_files")
    while True:
        shown += [
            base64.b64decode(one.data) for one in result.content if isinstance(one, ImageContent)
        ]
        listed += [one["url"] for one in page["message"].get(name, [])]
        if following is None:
            break
        result = await mcp.result(following["tool"], **following["arguments"])
        page = result.structured_content or {}
        assert page["message"][name]
        following = page.get("next")
    assert len(listed) == len(set(listed)) == 60
    assert shown == images


async def test_files_that_a_page_does_not_name_have_a_call_that_does(
    mcp: Mcp, database: Database
) -> None:
    files = tuple(Attachment(data, "text/plain", "a.txt") for data in pictures(60, 20))
    await store(database, text_message("see", attachments=files))
    result = await mcp.result("get_session_messages", session_id=SESSION)
    (message,) = (result.structured_content or {})["messages"]
    assert len(message["attachments"]) == 10
    assert "and 50 files more: get_message(" in text_of(result)
    found = await mcp.follow(message["more_files"])
    assert len(found["message"]["attachments"]) == 50
    urls = [one["url"] for one in message["attachments"] + found["message"]["attachments"]]
    assert len(set(urls)) == 60
