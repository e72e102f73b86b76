"""Parts of the viewer's own code that do not come, as after a cut or from a newer server."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.viewer.conftest import TIMEOUT_MS, Site
from tests.viewer.looking import body, head, open_session, violations
from tests.viewer.sessions import append, called, create, said, text

_REASON = "A part of the viewer could not be loaded."


@pytest.fixture
def tab(browser: Browser, site: Site) -> Iterator[Page]:
    """A page whose console may have errors, as the browser tells what it could not load."""
    assert site  # The viewer has been built.
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()


def _lose(tab: Page, *names: str) -> None:
    """Have every request for these files fail, until `_find`."""

    def answer(route: Route) -> None:
        # A hash may have a hyphen of its own.
        if re.sub(r".*/|-.{8}\.js$", "", route.request.url) in names:
            route.abort()
        else:
            route.fallback()

    tab.route("**/assets/*.js", answer)


def _find(tab: Page) -> None:
    tab.unroute_all()


def test_the_views_of_an_opened_card_are_asked_for_again_on_request(tab: Page, site: Site) -> None:
    session = create(site, called("the call", [text("its output")], rawOutput={"code": 0}))
    _lose(tab, "Loaded", "Foot", "RawOutput")
    open_session(tab, site, session)
    head(tab, "the call").click()
    shown = body(tab, "the call")
    expect(shown.get_by_role("alert").filter(has_text=_REASON)).to_have_count(3)
    _find(tab)
    for _ in range(3):
        shown.get_by_role("button", name="Retry").first.click()
    expect(shown).to_contain_text("its output")
    expect(shown.get_by_role("button", name="Stored JSON")).to_be_visible()
    expect(shown.get_by_role("button", name="Result as the agent recorded it")).to_be_visible()
    expect(shown.get_by_role("alert")).to_have_count(0)


def test_text_is_read_without_what_draws_markdown(tab: Page, site: Site) -> None:
    session = create(site, said("one", "The *first* words"), said("two", "The *second* words"))
    _lose(tab, "Markdown")
    open_session(tab, site, session)
    expect(tab.get_by_text("The *first* words")).to_be_visible()
    expect(tab.get_by_text("could not be loaded")).to_have_count(2)
    assert violations(tab) == []
    _find(tab)
    tab.get_by_role("button", name="Retry").first.click()
    expect(tab.locator("em")).to_have_text(["first", "second"])
    expect(tab.get_by_text("could not be loaded")).to_have_count(0)


def test_what_is_heavy_takes_nothing_with_it_where_it_does_not_come(tab: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"), called("the call", [text("its output")]))
    _lose(tab, "Heavy")
    open_session(tab, site, session)
    tab.get_by_role("button", name="What is heavy").click()
    panel = tab.get_by_role("complementary", name="What is heavy here")
    expect(panel.get_by_role("alert")).to_contain_text(_REASON)
    expect(tab.get_by_text("Its words")).to_be_visible()
    assert violations(tab) == []
    _find(tab)
    tab.get_by_role("button", name="Retry").click()
    expect(tab.get_by_role("heading", name="Largest outputs")).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("name", ["Session", "frame"])
def test_a_page_whose_code_does_not_come_says_so(tab: Page, site: Site, name: str) -> None:
    session = create(site, said("one", "Its words"))
    _lose(tab, name)
    tab.goto(f"{site.url}/sessions/{session}")
    expect(tab.get_by_role("alert")).to_contain_text("could not be loaded")
    _find(tab)
    tab.get_by_role("alert").locator("a, button").click()
    expect(tab.get_by_text("Its words")).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)


def test_what_makes_live_connections_is_asked_for_until_it_comes(tab: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"))
    open_session(tab, site, session)
    _lose(tab, "dist")
    tab.reload()
    expect(tab.get_by_text("out of reach")).to_be_visible()
    _find(tab)
    append(site, session, said("two", "Told live"))
    expect(tab.get_by_text("Told live")).to_be_visible()
    expect(tab.get_by_text("out of reach")).to_have_count(0)
