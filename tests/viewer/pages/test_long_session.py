"""A session of 100,000 messages: little of it is in the page, and every place is near."""

import pytest
from playwright.sync_api import Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import Operations, distance_from_end, open_session
from tests.viewer.sessions import import_long

MESSAGES = 100_000
MOST_ROWS = 250


@pytest.fixture(scope="package")
def long_session(site: Site) -> str:
    """Return the GraphQL id of a session of 100,000 messages."""
    return import_long(site, MESSAGES)


def _rows(page: Page) -> int:
    return page.locator(".list > div > div").count()


def test_it_opens_at_its_end_with_few_rows(page: Page, site: Site, long_session: str) -> None:
    operations = Operations(page)
    open_session(page, site, long_session)
    expect(page.locator(f"article[data-sequence='{MESSAGES}']")).to_be_visible()
    assert 0 < _rows(page) <= MOST_ROWS
    assert distance_from_end(page) < 5
    # What is shown takes one request; what is next to it may come after.
    assert operations.names[0] == "OpenAtEnd"
    assert set(operations.names[1:]) <= {"Messages"}


@pytest.mark.parametrize("place", [1, 33_333, 50_000, 99_000])
def test_every_place_is_a_jump_away(page: Page, site: Site, long_session: str, place: int) -> None:
    open_session(page, site, long_session)
    page.keyboard.press("/")
    page.keyboard.type(str(place))
    page.keyboard.press("Enter")
    row = page.locator(f"article[data-sequence='{place}']")
    expect(row).to_be_in_viewport()
    expect(row).to_be_focused()
    assert 0 < _rows(page) <= MOST_ROWS
    page.get_by_role("button", name="To the end").click()
    expect(page.locator(f"article[data-sequence='{MESSAGES}']")).to_be_in_viewport()


def test_a_link_leads_to_its_message(page: Page, site: Site, long_session: str) -> None:
    operations = Operations(page)
    open_session(page, site, long_session, "#m777")
    row = page.locator("article[data-sequence='777']")
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text("Message 777:")
    assert operations.names[0] == "OpenAround"
    assert set(operations.names[1:]) <= {"Messages"}


def test_scrolling_far_keeps_the_page_small(page: Page, site: Site, long_session: str) -> None:
    open_session(page, site, long_session)
    page.keyboard.press("k")
    expect(page.locator(f"article[data-sequence='{MESSAGES}']")).to_be_focused()
    most = 0
    for fraction in (0.9, 0.7, 0.5, 0.3, 0.1, 0):
        page.locator(".list").evaluate(
            "(list, part) => { list.scrollTop = list.scrollHeight * part }", fraction
        )
        expect(page.locator(".placeholder")).to_have_count(0)
        most = max(most, _rows(page))
    assert 0 < most <= MOST_ROWS
    expect(page.locator("article[data-sequence='1']")).to_be_in_viewport()
