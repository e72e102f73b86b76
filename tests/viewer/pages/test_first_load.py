"""What the viewer costs before anything is shown."""

from collections.abc import Mapping

from playwright.sync_api import Page, Response, expect

from tests.viewer.conftest import VIEWER, Site
from tests.viewer.looking import Shown, body, head, open_session
from tests.viewer.sessions import append, called, create, said, text

MOST_BYTES = 110_000
# With what draws Markdown, which comes with the first text in it.
MOST_WITH_MARKDOWN = 125_000


# When the first message is there, told as the browser tells when it asks for files.
_MARK = """
new MutationObserver((_, observer) => {
  if (!document.querySelector('article')) return
  performance.mark('shown')
  observer.disconnect()
}).observe(document, {childList: true, subtree: true})
"""
_MARKDOWN = """
() => performance.getEntriesByType('resource').find(({name}) => name.includes('/Markdown-'))
"""


class Assets:
    """The scripts and style sheets that a page loads, by name, with their bytes in gzip."""

    def __init__(self, page: Page) -> None:
        self._names: list[str] = []
        page.on("response", self._hear)

    def _hear(self, response: Response) -> None:
        kind = response.request.resource_type
        if "/assets/" in response.url and kind in ("script", "stylesheet"):
            self._names.append(response.url.rsplit("/", 1)[1])

    def sizes(self) -> Mapping[str, int]:
        folder = VIEWER / "dist" / "assets"
        return {name: (folder / f"{name}.gz").stat().st_size for name in self._names}

    def has(self, name: str) -> bool:
        return any(one.startswith(f"{name}-") for one in self._names)


def test_the_first_load_is_small_and_has_no_graphiql(page: Page, site: Site) -> None:
    assets = Assets(page)
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    sizes = assets.sizes()
    assert 0 < sum(sizes.values()) <= MOST_BYTES, sizes
    assert not [name for name in sizes if "graphiql" in name or "monaco" in name]
    assert not assets.has("Markdown")


def test_a_session_with_markdown_takes_little_more(page: Page, site: Site) -> None:
    session = create(site, said("one", "There **may** be more."))
    assets = Assets(page)
    open_session(page, site, session)
    expect(page.locator(".markdown strong")).to_have_text("may")
    page.wait_for_load_state("networkidle")
    sizes = assets.sizes()
    assert assets.has("Markdown")
    assert sum(sizes.values()) <= MOST_WITH_MARKDOWN, sizes


def test_a_session_loads_what_draws_its_contents_when_they_are_first_shown(
    page: Page, site: Site
) -> None:
    session = create(
        site,
        said("asked", "What is there?", role="USER"),
        called("look", [text("one\ntwo")], rawInput={"command": "ls"}),
        said("thought", "There **may** be more.", role="THINKING"),
    )
    assets = Assets(page)
    page.add_init_script(_MARK)
    open_session(page, site, session)
    page.wait_for_function(_MARKDOWN)
    sizes = assets.sizes()
    first = {name: size for name, size in sizes.items() if not name.startswith("Markdown-")}
    assert 0 < sum(first.values()) <= MOST_BYTES, sizes
    # What is ahead of its need comes after all that is shown.
    assert page.evaluate(
        f"({_MARKDOWN})().startTime > performance.getEntriesByName('shown')[0].startTime"
    )
    for name in ("Loaded", "highlighter", "Heavy", "SessionList"):
        assert not assets.has(name)
    head(page, "look").click()
    expect(body(page, "look")).to_contain_text("two")
    expect(body(page, "look").locator(".hljs-built_in")).to_have_text("ls")
    assert assets.has("Loaded")
    assert assets.has("highlighter")
    page.locator(".fold").click()
    expect(page.locator(".markdown strong")).to_have_text("may")


def test_the_first_markdown_that_comes_live_is_drawn_as_such_at_once(
    page: Page, site: Site
) -> None:
    session = create(site, said("asked", "What is there?", role="USER"))
    shown = Shown(page, r"\*\*may\*\*")
    open_session(page, site, session)
    page.wait_for_function(_MARKDOWN)
    page.wait_for_load_state("networkidle")
    append(site, session, said("one", "There **may** be more."))
    expect(page.locator(".markdown strong")).to_have_text("may")
    assert shown.texts() == []
