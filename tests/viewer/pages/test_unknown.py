"""Addresses where there is nothing: a page says so, and leads on."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import overflows, violations


@pytest.fixture
def opened(context: BrowserContext) -> Page:
    """A page of which the console may tell that there was nothing at its address."""
    return context.new_page()


@pytest.mark.parametrize("path", ["/nonsense", "/sessions/unknown/extra", "/" + "long" * 100])
def test_an_unknown_address_says_what_is_not_there_and_leads_to_the_sessions(
    opened: Page, site: Site, path: str
) -> None:
    opened.set_viewport_size({"width": 320, "height": 640})
    answer = opened.goto(f"{site.url}{path}")
    assert answer is not None
    assert answer.status == 404
    expect(opened.get_by_role("main")).to_contain_text(f"There is nothing at {path}.")
    expect(opened).to_have_title("There is no such page · Toolfold")
    assert not overflows(opened)
    assert violations(opened) == []
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")
    expect(opened.locator("a.open").first).to_be_visible()
    expect(opened).to_have_title("Sessions · Toolfold")


@pytest.mark.parametrize("name", ["unknown", "%25zz", "%ff"])
def test_a_session_that_is_not_there_leads_to_those_that_are(
    page: Page, site: Site, name: str
) -> None:
    page.goto(f"{site.url}/sessions/{name}")
    expect(page.get_by_role("main")).to_contain_text("There is no such session")
    page.get_by_role("main").get_by_role("link", name="All sessions").click()
    expect(page.locator("a.open").first).to_be_visible()
