"""Browsers that let no site keep anything, as people set them: the pages work without."""

import pytest
from playwright.sync_api import Page, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import open_session
from tests.viewer.sessions import create, said

_REFUSE = """
for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException('Access is denied for this document.', 'SecurityError') }
  })
}
"""


@pytest.fixture
def refusing(page: Page) -> Page:
    """A page that is refused what Chromium refuses with site data blocked."""
    page.add_init_script(_REFUSE)
    return page


def test_the_list_is_drawn_and_single_keys_can_be_turned_off(refusing: Page, site: Site) -> None:
    create(site, title="A session to find")
    refusing.goto(site.url)
    expect(refusing.get_by_role("link", name="A session to find")).to_be_visible()
    refusing.keyboard.press("?")
    refusing.get_by_label("Use single keys").uncheck()
    expect(refusing.get_by_label("Use single keys")).not_to_be_checked()
    refusing.keyboard.press("Escape")
    refusing.keyboard.press("/")
    expect(refusing.get_by_label("Search titles")).not_to_be_focused()


def test_a_session_is_drawn(refusing: Page, site: Site) -> None:
    open_session(refusing, site, create(site, said("one", "Its words")))
    expect(refusing.get_by_text("Its words")).to_be_visible()


def test_graphiql_is_drawn_and_runs_a_query(refusing: Page, site: Site) -> None:
    refusing.goto(f"{site.url}/graphiql?query={{limits{{maxRows}}}}")
    expect(refusing.locator(".graphiql-query-editor")).to_contain_text("maxRows")
    refusing.locator(".graphiql-execute-button").click()
    expect(refusing.locator(".graphiql-response")).to_contain_text('"maxRows"')
    refusing.get_by_label("Show History").click()
    expect(refusing.locator(".graphiql-history")).to_contain_text("limits")
