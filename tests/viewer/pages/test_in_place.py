"""A sub-agent's session in its place in another: the keys walk through it, and lead out of it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import body, head, open_session, violations
from tests.viewer.sessions import called, create, said, text


@pytest.fixture
def parent(site: Site) -> str:
    """A session with a call of a sub-agent, which called another, between other messages."""
    session = create(
        site, said("p1", "Before"), called("delegate", [text("Done.")]), said("p3", "After " * 500)
    )
    child = create(
        site,
        said("c1", "The task", role="USER"),
        called("its command", [text("what it printed")]),
        called("delegate further", [text("Done as well.")]),
        *(said(f"c{place}", f"Words {place}. " * 40) for place in range(4, 10)),
        title="The sub-agent",
        parentId=session,
        parentToolCallId="delegate",
    )
    create(
        site,
        said("g1", "The innermost"),
        said("g2", "Its last"),
        parentId=child,
        parentToolCallId="delegate further",
    )
    return session


def _opened(page: Page, name: str) -> Locator:
    head(page, name).click()
    body(page, name).get_by_role("button", name=re.compile("^Open the sub-agent.s")).click()
    nested = body(page, name).locator(".nested").first
    expect(nested.locator("article").first).to_be_visible()
    return nested


def _row(place: Locator, sequence: int) -> Locator:
    return place.locator(f"article[data-sequence='{sequence}']").first


def test_keys_walk_through_a_subagents_session_and_escape_leads_out(
    page: Page, site: Site, parent: str
) -> None:
    open_session(page, site, parent, "#m1")
    nested = _opened(page, "delegate")
    for sequence in (1, 2):
        page.keyboard.press("j")
        expect(_row(nested, sequence)).to_be_focused()
        expect(_row(nested, sequence)).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(body(page, "its command")).to_contain_text("what it printed")
    page.keyboard.press("G")
    expect(_row(nested, 9)).to_be_focused()
    expect(_row(nested, 9)).to_be_in_viewport()
    page.keyboard.press("k")
    expect(_row(nested, 8)).to_be_focused()
    page.keyboard.press("g")
    expect(_row(nested, 1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(head(page, "delegate").first).to_be_focused()
    expect(head(page, "delegate").first).to_be_in_viewport()
    page.keyboard.press("j")
    # What is opened in place has a third message too.
    expect(page.locator("article[data-sequence='3'][aria-setsize='3']")).to_be_focused()
    expect(page).to_have_url(re.compile("#m1$"))


def test_each_escape_leads_out_of_one_session(page: Page, site: Site, parent: str) -> None:
    open_session(page, site, parent, "#m1")
    _opened(page, "delegate")
    innermost = _opened(page, "delegate further")
    page.keyboard.press("j")
    expect(_row(innermost, 1)).to_be_focused()
    page.keyboard.press("?")
    page.get_by_role("checkbox").press("Space")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    innermost.locator("article").first.focus()
    # It is no single key.
    page.keyboard.press("Escape")
    expect(head(page, "delegate further")).to_be_focused()
    page.keyboard.press("Escape")
    expect(head(page, "delegate").first).to_be_focused()


def test_a_pressed_message_is_where_the_keys_go_on(page: Page, site: Site, parent: str) -> None:
    open_session(page, site, parent, "#m1")
    nested = _opened(page, "delegate")
    page.keyboard.press("j")
    nested.get_by_text("Words 4").click(position={"x": 5, "y": 5})
    page.keyboard.press("j")
    expect(_row(nested, 5)).to_be_focused()
    page.get_by_text("Before").click()
    page.keyboard.press("j")
    expect(page.locator("article[data-sequence='2'][aria-setsize='3']")).to_be_focused()


@pytest.mark.parametrize("width", [320, 1000])
def test_the_way_out_can_be_seen_and_pressed(
    page: Page, site: Site, parent: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    open_session(page, site, parent, "#m1")
    _opened(page, "delegate")
    assert violations(page) == []
    page.get_by_role("button", name="Back to its call").click()
    expect(head(page, "delegate").first).to_be_focused()
    assert page.locator(".list").first.evaluate("list => list.scrollWidth <= list.clientWidth")
