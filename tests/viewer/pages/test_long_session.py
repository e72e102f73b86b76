"""A session of 100,000 messages: little of it is in the page, and every place is near."""

import pytest
from playwright.sync_api import Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import Operations, distance_from_end, next_frame, open_session
from tests.viewer.sessions import import_long

MESSAGES = 100_000
MOST_ROWS = 250
_FIRST_IN_SIGHT = """
() => {
  const top = document.querySelector('.list').getBoundingClientRect().top
  const rows = [...document.querySelectorAll('article')]
  const row = rows.find((one) => one.getBoundingClientRect().bottom > top)
  return row ? Number(row.dataset.sequence) : null
}
"""
# Sooner than a person could, who may meet a page that is still at work.
_JUMP_AND_SCROLL_ON = """
async (place) => {
  const list = document.querySelector('.list')
  const before = list.scrollTop
  location.hash = `#m${place}`
  while (list.scrollTop === before) await new Promise((run) => setTimeout(run))
  list.dispatchEvent(new WheelEvent('wheel', { deltaY: -2000, bubbles: true }))
  list.scrollTop -= 2000
}
"""
_IS_SHOWN_BEFORE = f"""
(place) => {{
  const first = ({_FIRST_IN_SIGHT})()
  return first !== null && first < place && !document.querySelector('.placeholder')
}}
"""


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


def _scroll(page: Page, pixels: float) -> None:
    """Turn the wheel, over the messages."""
    page.locator(".list").hover(position={"x": 5, "y": 5})
    page.mouse.wheel(0, pixels)


def test_scrolling_far_keeps_the_page_small(page: Page, site: Site, long_session: str) -> None:
    open_session(page, site, long_session)
    fifth = page.locator(".list").evaluate("list => list.scrollHeight / 5")
    last = MESSAGES
    for _ in range(5):
        _scroll(page, -fifth)
        # Far from there, and loaded.
        page.wait_for_function(_IS_SHOWN_BEFORE, arg=last - MESSAGES // 10)
        assert 0 < _rows(page) <= MOST_ROWS
        last = page.evaluate(_FIRST_IN_SIGHT)
    _scroll(page, -fifth)
    expect(page.locator("article[data-sequence='1']")).to_be_in_viewport()
    assert 0 < _rows(page) <= MOST_ROWS


def test_who_scrolls_on_right_after_a_jump_is_not_pulled_back(
    page: Page, site: Site, long_session: str
) -> None:
    open_session(page, site, long_session)
    page.evaluate(_JUMP_AND_SCROLL_ON, 50_000)
    page.wait_for_function(_IS_SHOWN_BEFORE, arg=50_000)
    next_frame(page)
    assert 49_900 < page.evaluate(_FIRST_IN_SIGHT) < 49_990
