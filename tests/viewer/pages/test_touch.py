"""The viewer under a finger: swipes scroll, taps open, and what can be tapped is large enough."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.viewer.conftest import TIMEOUT_MS, Site
from tests.viewer.looking import body, distance_from_end, head, open_session, swipe
from tests.viewer.sessions import append, called, create, said, text

LEAST_PX = 24
# Links within text are as high as its lines (WCAG 2.5.8, inline).
_TOO_SMALL = f"""
() => [...document.querySelectorAll('button, a, input, select, summary')]
  .filter((one) => !one.closest('p:not(.foot), .markdown, .unseen') && one.checkVisibility())
  .map((one) => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.width < {LEAST_PX} || box.height < {LEAST_PX}))
  .map(([text, box]) => `${{text}}: ${{box.width}} x ${{box.height}}`)
"""


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A telephone without a past."""
    context = browser.new_context(
        has_touch=True, is_mobile=True, viewport={"width": 360, "height": 700}
    )
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    context.close()


def test_a_swipe_scrolls_and_ends_following(page: Page, site: Site) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(60)))
    open_session(page, site, session)
    assert distance_from_end(page) < 5
    swipe(page, 300)
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    away = distance_from_end(page)
    assert away > 200
    append(site, session, said("new", "The newest words"))
    button = page.get_by_role("button", name="1 new")
    expect(button).to_be_visible()
    assert distance_from_end(page) >= away
    button.tap()
    expect(page.get_by_text("The newest words")).to_be_in_viewport()
    append(site, session, said("newer", "Followed again"))
    expect(page.get_by_text("Followed again")).to_be_in_viewport()


def test_a_tap_opens_a_card_and_a_swipe_on_it_does_not(page: Page, site: Site) -> None:
    calls = [called(f"call {place}", [text(f"output {place}")]) for place in range(40)]
    session = create(site, *calls)
    open_session(page, site, session)
    swipe(page, 200)
    expect(page.locator(".head[aria-expanded=true]")).to_have_count(0)
    page.get_by_role("button", name="To the end").tap()
    head(page, "call 39").tap()
    expect(body(page, "call 39")).to_contain_text("output 39")


@pytest.mark.parametrize("sequence", [8, 9, 12, 16])
def test_what_can_be_tapped_is_large_enough(page: Page, site: Site, sequence: int) -> None:
    found = site.query('{ sessions(filter: {agent: "sample-agent"}) { nodes { id } } }')
    open_session(page, site, found["sessions"]["nodes"][0]["id"], f"#m{sequence}")
    card = page.locator(f"article[data-sequence='{sequence}'] .head")
    card.tap()
    expect(page.locator(f"article[data-sequence='{sequence}'] .body")).to_contain_text(
        "Stored JSON"
    )
    assert page.evaluate(_TOO_SMALL) == []
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    assert page.evaluate(_TOO_SMALL) == []
