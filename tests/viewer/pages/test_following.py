"""A live session's end: left and found again in each way that a person scrolls."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.viewer.conftest import ARGUMENTS, TIMEOUT_MS, Site, chromium
from tests.viewer.looking import distance_from_end, open_session, rest, swipe
from tests.viewer.sessions import append, create, said

Act = Callable[[Page], None]
_VIEWPORT: ViewportSize = {"width": 900, "height": 700}


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser with a finger, a wheel, keys and scrollbars, without a past."""
    launched = browser.browser_type.launch(
        executable_path=chromium(),
        args=list(ARGUMENTS),
        ignore_default_args=["--hide-scrollbars"],
    )
    context = launched.new_context(has_touch=True, viewport=_VIEWPORT)
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    launched.close()


def _wheel(pixels: int) -> Act:
    def act(page: Page) -> None:
        page.locator(".list").hover(position={"x": 300, "y": 300})
        page.mouse.wheel(0, pixels)

    return act


def _keys(*keys: str) -> Act:
    def act(page: Page) -> None:
        page.locator(".list").focus()
        for key in keys:
            page.keyboard.press(key)

    return act


def _finger(pixels: int, *, rests: bool = True) -> Act:
    return lambda page: swipe(page, pixels, rests=rests)


_THUMB = """
(list) => {
  const box = list.getBoundingClientRect()
  const along = (list.scrollTop + list.clientHeight / 2) / list.scrollHeight
  return { x: box.left + list.clientWidth + 5, y: box.top + box.height * along }
}
"""


def _scrollbar(pixels: int) -> Act:
    """A mouse that pulls the scrollbar's thumb."""

    def act(page: Page) -> None:
        thumb = page.locator(".list").evaluate(_THUMB)
        page.mouse.move(thumb["x"], thumb["y"])
        page.mouse.down()
        page.mouse.move(thumb["x"], thumb["y"] + pixels, steps=20)
        page.mouse.up()

    return act


def _pill(page: Page) -> None:
    page.get_by_role("button", name="1 new").click()


WAYS = {
    "a wheel": (_wheel(-400), _wheel(4_000)),
    "a wheel, little by little": (_wheel(-100), _wheel(200)),
    "End": (_keys("PageUp"), _keys("End")),
    "G": (_keys("PageUp"), _keys("G")),
    "page keys": (_keys("PageUp"), _keys("PageDown", "PageDown")),
    "arrow keys": (_keys("ArrowUp", "ArrowUp"), _keys(*["ArrowDown"] * 20)),
    "a finger": (_finger(200), _finger(-400)),
    "a finger that throws": (_finger(200, rests=False), _finger(-500, rests=False)),
    "the scrollbar": (_scrollbar(-200), _scrollbar(400)),
    "the button": (_wheel(-400), _pill),
}


@pytest.mark.parametrize(("leave", "back"), WAYS.values(), ids=WAYS)
def test_the_end_is_followed_again_once_a_person_is_back_at_it(
    page: Page, site: Site, leave: Act, back: Act
) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(60)))
    open_session(page, site, session)
    append(site, session, said("first", "The first that came"))
    expect(page.get_by_text("The first that came")).to_be_in_viewport()
    leave(page)
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    assert distance_from_end(page) > 32
    append(site, session, said("second", "The second that came"))
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    rest(page)
    back(page)
    expect(page.get_by_text("The second that came")).to_be_in_viewport()
    append(site, session, *(said(f"n{place}", f"Later {place}. " * 20) for place in range(3)))
    expect(page.get_by_text("Later 2.")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("leave", "back"),
    [
        (_finger(200), _finger(-400)),
        (_wheel(-300), _wheel(900)),
        (_keys("PageUp"), _keys("End")),
    ],
    ids=["a finger", "a wheel", "keys"],
)
def test_the_end_is_followed_again_by_who_turns_back_at_once(
    page: Page, site: Site, leave: Act, back: Act
) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(60)))
    open_session(page, site, session)
    leave(page)
    back(page)
    expect(page.get_by_role("button", name="To the end")).to_have_count(0)
    append(site, session, said("new", "The newest words"))
    expect(page.get_by_text("The newest words")).to_be_in_viewport()
