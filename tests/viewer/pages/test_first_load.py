"""What the viewer costs before anything is shown."""

from playwright.sync_api import Page, Response, expect

from tests.viewer.conftest import VIEWER, Site

MOST_BYTES = 110_000


def test_the_first_load_is_small_and_has_no_graphiql(page: Page, site: Site) -> None:
    names: list[str] = []

    def hear(response: Response) -> None:
        if "/assets/" in response.url and response.request.resource_type in (
            "script",
            "stylesheet",
        ):
            names.append(response.url.rsplit("/", 1)[1])

    page.on("response", hear)
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert names
    sizes = {name: (VIEWER / "dist" / "assets" / f"{name}.gz").stat().st_size for name in names}
    assert sum(sizes.values()) <= MOST_BYTES, sizes
    assert not [name for name in names if "graphiql" in name or "monaco" in name]
