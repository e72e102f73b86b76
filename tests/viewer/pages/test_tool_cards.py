"""Tool cards in the browser: what is asked for, and what hostile output can do."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import (
    Operations,
    body,
    dialogs_of,
    head,
    open_session,
    overflows,
    violations,
)
from tests.viewer.sessions import ESCAPE, append, called, create, said, text, update

BIDI = "\u202e"
LONG_LINE = 5_000_000

HOSTILE: dict[str, list[Any]] = {
    "a script": [text("<script>alert(1)</script><img src=x onerror=alert(1)>")],
    "markdown": [
        text(
            "# Report\n\n[click](javascript:alert(1)) ![spy](https://example.com/spy.png)\n\n"
            "<svg onload=alert(1)><script>alert(1)</script></svg> <iframe src=//example.com>"
        )
    ],
    "a drawing": [
        {
            "type": "content",
            "content": {
                "type": "image",
                "mimeType": "image/svg+xml",
                "data": "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0i"
                "YWxlcnQoMSkiPjxzY3JpcHQ+YWxlcnQoMSk8L3NjcmlwdD48L3N2Zz4=",
            },
        }
    ],
    "resource": [
        {
            "type": "content",
            "content": {"type": "resource_link", "uri": "javascript:alert(1)", "name": "press me"},
        }
    ],
    "escapes": [
        text(
            f"{ESCAPE}]8;;https://example.com{ESCAPE}\\a link{ESCAPE}]8;;{ESCAPE}\\ "
            f"{ESCAPE}]0;a title\x07{ESCAPE}[2J{ESCAPE}[999;999H{ESCAPE}[31mred{ESCAPE}[0m end"
        )
    ],
    "reordered": [text(f"safe{BIDI}gnirts desrever{BIDI}")],
    "a broken diff": [text("--- a/x\n+++ b/x\n@@ -1,9 +1,2 @@\n-one\nthis is no diff line")],
    "no shape at all": [{"type": 7}, None, [[[]]], "a bare text", {"type": "diff", "path": []}],
}


def test_no_content_is_asked_for_until_a_card_is_opened_and_then_once(
    page: Page, site: Site
) -> None:
    session = create(
        site,
        called("first", [text("one")], rawInput={"command": "echo one"}),
        called("second", [text("two")]),
    )
    operations = Operations(page)
    open_session(page, site, session)
    expect(page.locator(".card")).to_have_count(2)
    assert operations.names == ["OpenAtEnd"]
    head(page, "first").dblclick()
    head(page, "first").click()
    expect(body(page, "first")).to_contain_text("one")
    expect(body(page, "first")).to_contain_text("echo one")
    assert operations.names == ["OpenAtEnd", "ToolContent"]
    head(page, "first").click()
    head(page, "first").click()
    expect(body(page, "first")).to_contain_text("one")
    assert operations.names == ["OpenAtEnd", "ToolContent"]


def test_content_outlives_scrolling_away(page: Page, site: Site) -> None:
    many = [said(f"m{place}", f"Words {place}. " * 30) for place in range(100)]
    session = create(site, called("the call", [text("its output")]), *many)
    operations = Operations(page)
    open_session(page, site, session, "#m1")
    head(page, "the call").click()
    expect(body(page, "the call")).to_contain_text("its output")
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("article[data-sequence='101']")).to_be_visible()
    page.keyboard.press("g")
    expect(body(page, "the call")).to_contain_text("its output")
    assert operations.names.count("ToolContent") == 1


def test_an_update_of_the_content_reaches_an_open_card(page: Page, site: Site) -> None:
    session = create(site, called("the call", [text("half")], status="IN_PROGRESS"))
    operations = Operations(page)
    open_session(page, site, session)
    head(page, "the call").click()
    expect(body(page, "the call")).to_contain_text("half")
    expect(head(page, "the call")).to_contain_text("running")
    update(site, session, "the call", content=[text("the whole")], status="COMPLETED")
    expect(body(page, "the call")).to_contain_text("the whole")
    expect(body(page, "the call")).not_to_contain_text("half")
    assert operations.names.count("ToolContent") == 2


@pytest.mark.parametrize("kind", ["EXECUTE", "READ", "FETCH", "OTHER"])
def test_hostile_content_does_nothing_and_takes_nothing_with_it(
    page: Page, site: Site, kind: str
) -> None:
    calls = [called(name, content, kind=kind) for name, content in HOSTILE.items()]
    session = create(site, said("before", "Before it"), *calls, said("after", "After it"))
    dialogs = dialogs_of(page)
    open_session(page, site, session, "#m1")
    if page.locator(".fold", has_text="Read").count():
        page.locator(".fold", has_text="Read").click()
    for name in HOSTILE:
        head(page, name).scroll_into_view_if_needed()
        head(page, name).click()
        expect(body(page, name).get_by_text("Stored JSON")).to_be_visible()
        assert not overflows(page)
        if name == "escapes":
            expect(body(page, name)).to_contain_text("a link red end")
            assert body(page, name).locator("a[href*='example.com']").count() == 0
        if name == "reordered":
            expect(body(page, name)).to_contain_text("⟨U+202E⟩")
        head(page, name).click()
    page.keyboard.press("G")
    expect(page.get_by_text("After it")).to_be_visible()
    assert page.locator("#root script, #root iframe, #root object, #root embed").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert dialogs == []


def test_hostile_text_of_messages_and_names_does_nothing(page: Page, site: Site) -> None:
    evil = (
        f"<img src=x onerror=alert(1)> [x](javascript:alert(1)) ![s](https://example.com/s){BIDI}"
    )
    dialogs = dialogs_of(page)
    roles = ["USER", "ASSISTANT", "THINKING", "SYSTEM", "PLAN"]
    session = create(
        site,
        *(said(role, evil, role=role) for role in roles),
        called("evil", [text(evil)], title=evil, name=evil, locations=[{"path": evil}]),
        title=evil,
    )
    page.goto(site.url)
    expect(page.locator(f"a[href='/sessions/{session}']")).to_contain_text("⟨U+202E⟩")
    open_session(page, site, session)
    expect(page).to_have_title(re.compile("⟨U\\+202E⟩ · Toolfold$"))
    for fold in page.locator(".fold").all():
        fold.click()
    page.locator(".card .head").click()
    expect(page.get_by_text("Stored JSON")).to_be_visible()
    assert page.locator("#root img").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0
    assert not overflows(page)
    assert dialogs == []


@pytest.mark.parametrize("mark", ["- ", ">"])
def test_the_innermost_text_of_a_hostile_depth_can_be_read(
    page: Page, site: Site, mark: str
) -> None:
    session = create(site, said("one", mark * 200 + " innermost"))
    page.set_viewport_size({"width": 320, "height": 640})
    open_session(page, site, session)
    inner = page.get_by_text("innermost", exact=True).last
    expect(page.locator(".markdown :is(li, blockquote)").first).to_be_attached()
    box = inner.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 320
    assert box["width"] > 100
    assert page.locator(".list").evaluate("list => list.scrollWidth <= list.clientWidth")


def test_a_line_of_5_mb_is_shown_in_part(page: Page, site: Site) -> None:
    session = create(site, called("long", [text("x" * LONG_LINE)]), said("after", "After it"))
    open_session(page, site, session)
    expect(head(page, "long")).to_contain_text("5.0 MB")
    head(page, "long").click()
    expect(body(page, "long")).to_contain_text("Very long lines are cut where … stands")
    expect(page.get_by_role("link", name="Download 5.0 MB")).to_be_attached()
    assert not overflows(page)
    shown: int = page.evaluate("document.body.innerText.length")
    assert shown < 100_000


@pytest.mark.parametrize(("count", "shown"), [(2_000, "line 2000"), (2_001, "2,000 of 2,001")])
def test_an_output_of_over_2000_lines_comes_in_part_and_with_one_request(
    page: Page, site: Site, count: int, shown: str
) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, count + 1))
    session = create(site, called("many lines", [text(lines)]))
    operations = Operations(page)
    open_session(page, site, session)
    answers: list[str] = []

    def pass_on(route: Route) -> None:
        answer = route.fetch()
        answers.append(answer.text())
        route.fulfill(response=answer)

    # The browser itself does not keep what the page has read piece by piece.
    page.route("**/graphql", pass_on)
    head(page, "many lines").click()
    expect(body(page, "many lines")).to_contain_text(shown)
    assert operations.names == ["OpenAtEnd", "ToolContent"]
    (answer,) = answers
    assert (f"line {count}" in answer) is (count == 2_000)
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    if count > 2_000:
        page.get_by_role("button", name="Show more").click()
        expect(body(page, "many lines")).to_contain_text("line 2001")


@pytest.mark.parametrize("kind", ["EXECUTE", "READ", "OTHER"])
def test_json_of_over_2000_lines_is_code_and_on_request_a_tree(
    page: Page, site: Site, kind: str
) -> None:
    values = [{"name": f"name {number}", "long": 2**60 + number} for number in range(700)]
    session = create(site, called("list", [text(json.dumps(values, indent=2))], kind=kind))
    operations = Operations(page)
    open_session(page, site, session)
    head(page, "list").click()
    shown = body(page, "list")
    expect(shown.locator(".hljs-attr").first).to_have_text('"name"')
    assert operations.names == ["OpenAtEnd", "ToolContent"]
    shown.get_by_role("button", name="Tree").click()
    shown.get_by_role("button", name="[700]").click()
    expect(shown.locator(".tree")).to_contain_text("name 42")
    expect(shown.locator(".tree")).to_contain_text(str(2**60 + 42))
    assert operations.names == ["OpenAtEnd", "ToolContent", "ToolText"]
    assert violations(page) == []
    for _ in range(2):
        shown.get_by_role("button", name="Tree").click()
    expect(shown.locator(".tree")).to_be_visible()
    assert operations.names.count("ToolText") == 1


def test_json_is_a_tree_and_on_request_text_and_a_tree_again(page: Page, site: Site) -> None:
    session = create(site, called("short list", [text('[{"name": "Ada"}]')]))
    open_session(page, site, session)
    head(page, "short list").click()
    shown = body(page, "short list")
    switch = shown.get_by_role("button", name="Text", exact=True)
    for pressed in ("true", "false"):
        switch.click(timeout=5_000)
        expect(switch).to_have_attribute("aria-pressed", pressed)
        expect(shown.locator(".tree")).to_have_count(1 if pressed == "false" else 0)


def test_a_large_output_is_shown_without_the_fence_around_it(page: Page, site: Site) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, 2_500))
    session = create(site, called("fenced", [text(f"```console\n{lines}\n```\n")]))
    open_session(page, site, session)
    head(page, "fenced").click()
    expect(body(page, "fenced")).to_contain_text("line 1999")
    expect(body(page, "fenced")).not_to_contain_text("```")
    page.get_by_role("button", name="Show the end").click()
    expect(body(page, "fenced")).to_contain_text("line 2499")
    expect(body(page, "fenced")).not_to_contain_text("```")


def test_a_change_of_over_2000_lines_is_shown_as_one_and_with_one_request(
    page: Page, site: Site
) -> None:
    old = "".join(f"line {number}\n" for number in range(1_500))
    change = {
        "type": "diff",
        "path": "/a.py",
        "oldText": old,
        "newText": old.replace("line", "row"),
    }
    session = create(site, called("large edit", [change], kind="EDIT"))
    operations = Operations(page)
    open_session(page, site, session)
    head(page, "large edit").click()
    shown = body(page, "large edit").locator(".diff")
    expect(shown.locator("figcaption")).to_contain_text("+1500")
    assert operations.names == ["OpenAtEnd", "ToolContent"]
    more = page.get_by_role("button", name="Show more of 3000 lines")
    while more.count():
        more.click()
    expect(shown.locator("tr").last).to_contain_text("row 1499")


def test_a_change_too_large_to_come_whole_has_the_colours_of_one(page: Page, site: Site) -> None:
    old = "".join(f"line {number} {'.' * 80}\n" for number in range(3_000))
    change = {
        "type": "diff",
        "path": "/a.py",
        "oldText": old,
        "newText": old.replace("line", "row"),
    }
    session = create(site, called("huge edit", [change], kind="EDIT"))
    open_session(page, site, session)
    head(page, "huge edit").click()
    expect(body(page, "huge edit").locator(".hljs-deletion").first).to_be_visible()
    page.get_by_role("button", name="Show the end").click()
    expect(body(page, "huge edit").locator(".hljs-addition").last).to_contain_text("row 2999")


@pytest.mark.parametrize("kind", ["EXECUTE", "READ"])
def test_parts_of_an_output_join_into_one_box(page: Page, site: Site, kind: str) -> None:
    lines = "\n".join(f"line {number}" for number in range(1, 5001))
    session = create(site, called("long.py", [text(lines)], kind=kind))
    open_session(page, site, session)
    head(page, "long.py").click()
    for shown in ("2,000", "4,000"):
        page.get_by_role("button", name=f"Show more: {shown} of 5,000 lines").click()
    box = body(page, "long.py").get_by_role("region", name="Output from line 1", exact=True)
    expect(box).to_contain_text("line 5000")
    expect(body(page, "long.py").get_by_role("region")).to_have_count(1)
    numbers = box.locator(".numbers").all_text_contents()
    assert "\n".join(numbers).split("\n") == [str(number) for number in range(1, 5001)]
    beside = box.locator("pre:not(.numbers)").all_text_contents()
    assert "\n".join(beside).split("\n") == lines.split("\n")


def test_a_large_output_is_loaded_on_by_lines_and_bytes(page: Page, site: Site) -> None:
    lines = "\n".join(f"line {number} " + "." * 60 for number in range(1, 6001))
    session = create(site, called("large", [text(lines)]))
    open_session(page, site, session)
    head(page, "large").click()
    expect(body(page, "large")).to_contain_text("2,000 of 6,000 lines")
    page.get_by_role("button", name="Show the end").click()
    expect(body(page, "large")).to_contain_text("line 6000")
    page.get_by_role("button", name=re.compile("Show more: 2,000 of")).click()
    expect(body(page, "large")).to_contain_text("line 4000 ")
    page.get_by_role("button", name="Stored JSON").click()
    expect(page.get_by_label("Stored JSON", exact=True)).to_contain_text('[{"type":"content"')
    page.get_by_role("button", name=re.compile("Show more: 65.5 KB")).click()
    expect(page.get_by_role("button", name=re.compile("Show more: 131.1 KB"))).to_be_visible()


def test_a_subagents_session_opens_in_place(page: Page, site: Site) -> None:
    found = site.query('{ sessions(filter: {agent: "sample-agent"}) { nodes { id } } }')
    open_session(page, site, found["sessions"]["nodes"][0]["id"], "#m16")
    head(page, "Look through the archive").click()
    page.get_by_role("button", name=re.compile("Open the sub-agent.s session here")).click()
    nested = page.locator(".nested")
    expect(nested.locator("article").first).to_contain_text("Find gaps in the archive.")
    assert page.url.endswith("#m16")


def test_runs_of_reads_fold_into_one_line(page: Page, site: Site) -> None:
    reads = [called(f"/src/{name}.py", [text(name)], kind="READ") for name in "abcd"]
    session = create(site, said("one", "I read."), *reads, said("two", "I have read."))
    open_session(page, site, session)
    fold = page.get_by_role("button", name="Read 4 files")
    expect(fold).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)
    fold.click()
    expect(page.locator(".card")).to_have_count(4)
    append(site, session, said("three", "And on."))
    expect(page.get_by_text("And on.")).to_be_attached()
    expect(page.locator(".card")).to_have_count(4)
    page.goto(f"{site.url}/sessions/{session}#m4")
    page.reload()
    expect(page.locator("article[data-sequence='4'] .card")).to_be_in_viewport()
