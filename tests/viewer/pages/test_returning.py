"""Where a person is: after going back, and for the keys of a page just opened."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import distance_from_end, head, next_frame, open_session, rest, wheel
from tests.viewer.sessions import append, called, create, said, text


def _filled(site: Site) -> str:
    return create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(90)))


def _top_of(page: Page, selector: str) -> float:
    top: float = page.locator(selector).evaluate("one => one.scrollTop")
    return top


def _y_of(shown: Locator) -> float:
    box = shown.bounding_box()
    assert box is not None
    return box["y"]


@pytest.fixture(scope="module")
def many(site: Site) -> str:
    """The address of a list of more sessions than a page holds."""
    for number in range(60):
        create(site, said("one", "Its words"), title=f"One to return to {number}")
    return f"{site.url}/?q=One+to+return+to"


def test_back_leads_to_the_place_in_the_list_and_its_focus(page: Page, many: str) -> None:
    page.goto(many)
    rows = page.locator("a.open")
    rows.last.scroll_into_view_if_needed()
    expect(rows).to_have_count(60)
    left = rows.nth(56)
    left.scroll_into_view_if_needed()
    before = _top_of(page, "main")
    assert before > 1000
    left.press("Enter")
    expect(page.get_by_text("Its words")).to_be_visible()
    page.go_back()
    expect(left).to_be_focused()
    assert _top_of(page, "main") == before
    assert rows.count() == 60


def test_back_leads_to_the_same_rows_below_new_ones(page: Page, site: Site) -> None:
    for number in range(30):
        create(site, said("one", "Its words"), title=f"One below {number}")
    page.goto(f"{site.url}/?q=One+below")
    left = page.get_by_role("link", name="One below 5 ")
    left.scroll_into_view_if_needed()
    left.press("Enter")
    expect(page.get_by_text("Its words")).to_be_visible()
    page.go_back()
    expect(left).to_be_focused()
    before = _y_of(left)
    left.press("Enter")
    expect(page.get_by_text("Its words")).to_be_visible()
    create(site, said("one", "Its words"), title="One below, come meanwhile")
    page.go_back()
    expect(left).to_be_focused()
    assert abs(_y_of(left) - before) < 1


def test_back_leads_to_the_row_of_a_subagents_session(page: Page, site: Site) -> None:
    for number in range(30):
        parent = create(site, said("one", "Its words"), title=f"One with a child {number}")
        create(site, said("one", "The child's"), title=f"Child {number}", parentId=parent)
    page.goto(f"{site.url}/?q=One+with+a+child")
    page.get_by_role("button", name="1 sub-agent").nth(20).click()
    child = page.get_by_role("link", name=re.compile("^Child 9 "))
    child.scroll_into_view_if_needed()
    before = _y_of(child)
    child.press("Enter")
    expect(page.get_by_text("The child's")).to_be_visible()
    page.go_back()
    expect(child).to_be_focused()
    assert abs(_y_of(child) - before) < 1


def test_the_last_key_leads_to_the_last_of_all_sessions(page: Page, many: str) -> None:
    page.goto(many)
    expect(page.locator("a.open").nth(49)).to_be_attached()
    page.keyboard.press("G")
    expect(page.locator("a.open")).to_have_count(60)
    expect(page.locator("a.open").last).to_be_focused()


def test_back_leads_to_the_place_in_a_session(page: Page, site: Site) -> None:
    open_session(page, site, _filled(site), "#m40")
    expect(page.locator("article[data-sequence='40']")).to_be_in_viewport()
    page.get_by_label("Go to message").fill("70")
    page.keyboard.press("Enter")
    expect(page.locator("article[data-sequence='70']")).to_be_in_viewport()
    page.get_by_role("link", name="All sessions").click()
    expect(page.locator("a.open").first).to_be_visible()
    page.go_back()
    expect(page.locator("article[data-sequence='70']")).to_be_in_viewport()
    page.go_back()
    expect(page.locator("article[data-sequence='40']")).to_be_in_viewport()
    page.go_forward()
    expect(page.locator("article[data-sequence='70']")).to_be_in_viewport()


def test_back_leads_to_the_pixel_and_the_row_in_a_session(page: Page, site: Site) -> None:
    open_session(page, site, _filled(site), "#m40")
    row = page.locator("article[data-sequence='42']")
    expect(row).to_be_in_viewport()
    for _ in range(2):
        page.keyboard.press("j")
    expect(row).to_be_focused()
    page.locator(".list").hover()
    wheel(page, 47)
    before = _y_of(row)
    page.get_by_role("link", name="All sessions").click()
    expect(page.locator("a.open").first).to_be_visible()
    page.go_back()
    expect(row).to_be_focused()
    rest(page)
    assert abs(_y_of(row) - before) <= 1
    # The same by a jump, which is a step within the session.
    page.get_by_label("Go to message").fill("80")
    page.keyboard.press("Enter")
    expect(page.locator("article[data-sequence='80']")).to_be_focused()
    page.go_back()
    expect(row).to_be_focused()
    rest(page)
    assert abs(_y_of(row) - before) <= 1


def test_keys_go_on_from_where_back_leads(page: Page, site: Site) -> None:
    open_session(page, site, _filled(site))
    page.get_by_label("Go to message").fill("20")
    page.keyboard.press("Enter")
    expect(page.locator("article[data-sequence='20']")).to_be_focused()
    page.go_back()
    expect(page.locator("article[data-sequence='90']")).to_be_in_viewport()
    page.keyboard.press("k")
    expect(page.locator("article[data-sequence='90']")).to_be_focused()


def test_back_leads_to_what_was_open_in_its_place(page: Page, site: Site) -> None:
    session = create(site, *(said(f"m{place}", "Words. " * 40) for place in range(12)))
    append(site, session, called("delegate", [text("Done.")]))
    append(site, session, *(said(f"n{place}", "Words. " * 40) for place in range(12)))
    child = create(
        site,
        *(said(f"c{place}", "Its words. " * 40) for place in range(20)),
        title="The one in its place",
        parentId=session,
        parentToolCallId="delegate",
    )
    open_session(page, site, session, "#m13")
    head(page, "delegate").click()
    page.get_by_role("button", name=re.compile("^Open the sub-agent.s")).click()
    expect(page.locator(".nested article").first).to_be_visible()
    link = page.get_by_role("link", name="The one in its place")
    page.locator(".list").first.hover(position={"x": 5, "y": 5})
    wheel(page, 30)
    before = _y_of(link)
    link.click()
    expect(page).to_have_url(re.compile(f"{child}$"))
    page.go_back()
    expect(page.locator(".nested article").first).to_be_visible()
    expect(page.locator("article[data-sequence='13']").first).to_be_focused()
    rest(page)
    assert abs(_y_of(link) - before) <= 1


@pytest.mark.parametrize("key", ["PageUp", "ArrowUp", "Home", "Shift+Space"])
def test_keys_scroll_a_session_just_opened(page: Page, site: Site, key: str) -> None:
    open_session(page, site, _filled(site))
    next_frame(page)
    assert distance_from_end(page) < 5
    page.keyboard.press(key)
    page.wait_for_function(
        "() => { const l = document.querySelector('.list');"
        " return l.scrollHeight - l.scrollTop - l.clientHeight > 30 }"
    )


def test_keys_scroll_the_list_just_opened(page: Page, many: str) -> None:
    page.goto(many)
    expect(page.locator("a.open").nth(49)).to_be_attached()
    page.keyboard.press("PageDown")
    page.wait_for_function("() => document.querySelector('main').scrollTop > 100")
