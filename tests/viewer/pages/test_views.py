"""What is shown of single outputs: what cannot be drawn, what is not there, what does not fit."""

import base64
import hashlib
import re
import struct
import zlib
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import Operations, body, head, open_session, overflows
from tests.viewer.sessions import ESCAPE, called, create, import_states, said, text

# A letter with many marks above it and below.
PILED = "Z" + "\u0300\u0316" * 40


def image(data: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    content = {"type": "image", "mimeType": mime_type, "data": base64.b64encode(data).decode()}
    return {"type": "content", "content": content}


def test_a_damaged_picture_is_told_in_words_and_can_be_downloaded(page: Page, site: Site) -> None:
    session = create(site, called("damaged", [image(b"\x89PNG no picture"), text("beside it")]))
    open_session(page, site, session)
    head(page, "damaged").click()
    shown = body(page, "damaged")
    expect(shown).to_contain_text("cannot be shown: its data may be damaged")
    expect(shown).to_contain_text("beside it")
    expect(shown.locator("img")).to_have_count(0)
    with page.expect_download() as download:
        shown.get_by_role("link", name="Download it, 15 B").click()
    assert download.value.path().read_bytes() == b"\x89PNG no picture"


def test_a_picture_of_any_size_is_shown_by_its_address(page: Page, site: Site) -> None:
    large = image(_noise(400))
    session = create(
        site, called("large", [large], kind="READ"), called("both", [text("Words"), large])
    )
    operations = Operations(page)
    open_session(page, site, session)
    for name in ("large", "both"):
        head(page, name).click()
        picture = body(page, name).get_by_role("img", name="From the tool: image/png, 480.")
        expect(picture).to_be_visible()
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("naturalWidth", 400)
    expect(body(page, "both").locator(".code")).to_contain_text("Words")
    expect(body(page, "large").locator(".code")).to_have_count(0)
    assert operations.names.count("ToolContent") == 2


def _noise(side: int) -> bytes:
    """Return a PNG of so many pixels each way, which are none that compress."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    noise = (hashlib.shake_256(str(row).encode()).digest(3 * side) for row in range(side))
    rows = b"".join(b"\0" + row for row in noise)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def test_numbers_are_shown_as_they_were_written(page: Page, site: Site) -> None:
    written = (
        *(
            "9007199254740993",
            "1e-400",
            "12.5",
            "1.0",
            "-0.0",
            "-0",
            "0.50",
            "1E3",
            "1234567890.1234567",
        ),
        *("0.0000001", "-2.10", "77"),
    )
    numbers = f"[{','.join(written)}]"
    session = create(
        site, called("numbers", [text(numbers)], rawInput={"tweet": 1234567890123456789})
    )
    open_session(page, site, session)
    head(page, "numbers").click()
    for number in (*written, "1234567890123456789"):
        expect(body(page, "numbers").get_by_text(number, exact=True)).to_be_visible()


def test_a_change_of_line_ends_alone_is_seen(page: Page, site: Site) -> None:
    change = {"type": "diff", "path": "a.txt", "oldText": "a\r\nb\r\n", "newText": "a\nb\n"}
    both = {"type": "diff", "path": "b.txt", "oldText": "a\r\nb\r\n", "newText": "a\r\nc\r\n"}
    session = create(site, called("ends", [change], kind="EDIT"))
    other = create(site, called("words", [both], kind="EDIT"))
    open_session(page, site, session)
    head(page, "ends").click()
    expect(body(page, "ends")).to_contain_text("Only the ends of lines changed.")
    expect(body(page, "ends").locator(".removed mark")).to_have_text(["␍", "␍"])
    expect(body(page, "ends").locator(".added mark")).to_have_count(0)
    open_session(page, site, other)
    head(page, "words").click()
    expect(body(page, "words").locator("mark")).to_have_text(["b", "c"])
    expect(body(page, "words")).not_to_contain_text("␍")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("completed cut_by_agent", ("cut by the agent", "had cut this output before")),
        ("completed missing", ("output missing", "in a file that was not there")),
        ("completed none_recorded", ("no result recorded", "No result was recorded")),
        ("pending none_recorded", ("pending", "so there is no output yet")),
        ("in_progress none_recorded", ("running", "Still running: no output yet.")),
    ],
)
def test_what_is_not_there_is_said_in_words(
    page: Page, site: Site, states: str, name: str, words: tuple[str, str]
) -> None:
    open_session(page, site, states)
    closed, opened = words
    expect(head(page, name)).to_contain_text(closed)
    head(page, name).click()
    expect(body(page, name)).to_contain_text(opened)


@pytest.fixture(scope="package")
def states(site: Site) -> str:
    """Return the GraphQL id of a session in which no call has an output."""
    return import_states(
        site,
        ("completed", "cut_by_agent"),
        ("completed", "missing"),
        ("completed", "none_recorded"),
        ("pending", "none_recorded"),
        ("in_progress", "none_recorded"),
    )


_CUT = "one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1"


@pytest.mark.parametrize("width", [320, 1000])
def test_what_is_cut_is_told_in_full_without_a_pointer(page: Page, site: Site, width: int) -> None:
    name, path = f"mcp__{'server' * 12}__tool", "/srv/" + "very/long/" * 20
    title = f"cat {path}end.txt"
    page.set_viewport_size({"width": width, "height": 700})
    session = create(
        site,
        called("cut", [text("ok")], name=name, title=title),
        title="A title of many words " * 4,
        cwd=path,
    )
    open_session(page, site, session)
    what = head(page, "cat").locator(".what")
    assert what.evaluate(_CUT)
    head(page, "cat").press("Enter")
    expect(head(page, "cat")).to_have_attribute("aria-expanded", "true")
    for one in (what, page.get_by_role("heading", level=1), page.locator(".heading .path")):
        assert not one.evaluate(_CUT)
    assert not what.locator(".tool").evaluate(_CUT)
    assert not overflows(page)
    page.get_by_role("button", name="What is heavy").click()
    largest = page.get_by_role("region", name="Largest outputs").get_by_role("link")
    while not largest.evaluate("link => link === document.activeElement"):
        page.keyboard.press("Tab")
    assert not largest.locator(".name").evaluate(_CUT)
    page.goto(f"{site.url}/?q=A+title+of+many+words")
    row = page.locator(f"a[href='/sessions/{session}']")
    expect(row).to_be_visible()
    while not row.evaluate("link => link === document.activeElement"):
        page.keyboard.press("j")
    assert not row.locator(".title").evaluate(_CUT)
    assert not row.locator(".path").evaluate(_CUT)
    assert not overflows(page)


@pytest.mark.parametrize("width", [320, 1280])
def test_a_title_has_room_beside_the_longest_name(page: Page, site: Site, width: int) -> None:
    name = "mcp__a_server_with_a_long_name__" + "and_a_tool_" * 10
    session = create(site, called("its title", [text("x")], name=name))
    page.set_viewport_size({"width": width, "height": 640})
    open_session(page, site, session)
    title = head(page, "its title").locator(".title")
    what = head(page, "its title").locator(".what")
    box, outer = title.bounding_box(), what.bounding_box()
    assert box is not None
    assert outer is not None
    assert box["x"] + box["width"] <= outer["x"] + outer["width"]
    assert not overflows(page)


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_a_terminals_buttons_take_no_room_from_its_text(page: Page, site: Site, width: int) -> None:
    output = f"{ESCAPE}[31mred{ESCAPE}[0m " + "word " * 200
    session = create(site, called("terminal", [text(output)]))
    page.set_viewport_size({"width": width, "height": 700})
    open_session(page, site, session)
    head(page, "terminal").click()
    terminal = body(page, "terminal").locator(".terminal")
    lines = terminal.locator("pre").first.bounding_box()
    card = body(page, "terminal").bounding_box()
    assert lines is not None
    assert card is not None
    assert lines["width"] >= card["width"] - 40
    for name in ("Raw", "Copy output"):
        button = terminal.get_by_role("button", name=name).bounding_box()
        assert button is not None
        assert button["width"] >= 24
        assert button["height"] >= 24
        assert button["y"] + button["height"] <= lines["y"]
        assert card["x"] <= button["x"]
        assert button["x"] + button["width"] <= card["x"] + card["width"]


def test_piled_marks_stay_with_their_own_message(page: Page, site: Site) -> None:
    session = create(
        site,
        said("before", "Words before", role="USER"),
        said("piled", PILED, role="USER"),
        called("call", [text(PILED)], title=f"call {PILED}"),
        said("after", "Words after", role="USER"),
        title=PILED,
    )
    page.set_viewport_size({"width": 320, "height": 700})
    open_session(page, site, session, "#m1")
    head(page, "call").click()
    expect(body(page, "call").get_by_text("Stored JSON")).to_be_visible()
    plain = page.locator("article[data-sequence='4']").bounding_box()
    piled = page.locator("article[data-sequence='2']").bounding_box()
    assert plain is not None
    assert piled is not None
    # They pile up above and below the line, which stays as high as any other.
    assert abs(plain["height"] - piled["height"]) < 4
    for sequence in range(1, 5):
        clip = page.locator(f"article[data-sequence='{sequence}'] > .content")
        assert re.fullmatch("clip( clip)?", clip.evaluate("one => getComputedStyle(one).overflow"))
    assert not overflows(page)
    page.goto(site.url)
    expect(page.locator(f"a[href='/sessions/{session}']")).to_be_visible()
    assert not overflows(page)


def test_a_long_path_among_the_largest_outputs_still_tells_its_file(page: Page, site: Site) -> None:
    path = "/home/someone/" + "a_long_folder/" * 12 + "the_file.py"
    session = create(site, called(path, [text("x" * 5000)], kind="READ"))
    open_session(page, site, session)
    page.get_by_role("button", name="What is heavy").click()
    heavy = page.locator(".heavy")
    name = heavy.get_by_title(path)
    expect(name).to_have_text(path)
    last, panel = name.get_by_text("/the_file.py").last.bounding_box(), heavy.bounding_box()
    assert last is not None
    assert panel is not None
    assert panel["x"] < last["x"]
    assert last["x"] + last["width"] < panel["x"] + panel["width"]
    heavy.focus()
    page.keyboard.press("Escape")
    expect(heavy).to_have_count(0)


def test_a_message_that_is_not_there_is_told(page: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"))
    open_session(page, site, session, "#m99999")
    expect(page.get_by_text("There is no message 99,999: the last is 1.")).to_be_visible()
