"""The viewer for everybody: WCAG 2.2 AA as axe sees it, the keyboard alone, a narrow window."""

import json
import re
from typing import Literal

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import body, head, open_session, overflows, violations
from tests.viewer.sessions import ESCAPE, called, create, said, text


@pytest.fixture(scope="package")
def sample(site: Site) -> str:
    """Return the GraphQL id of the sample session."""
    found = site.query('{ sessions(filter: {agent: "sample-agent"}) { nodes { id } } }')
    session: str = found["sessions"]["nodes"][0]["id"]
    return session


def test_the_list_has_no_violation(page: Page, site: Site, sample: str) -> None:
    page.goto(site.url)
    expect(page.locator(f"a[href='/sessions/{sample}']")).to_be_visible()
    page.get_by_role("button", name="1 sub-agent").click()
    expect(page.get_by_role("list", name="Sub-agents").get_by_role("link")).to_be_visible()
    assert violations(page) == []


def test_a_session_with_closed_cards_has_no_violation(page: Page, site: Site, sample: str) -> None:
    open_session(page, site, sample, "#m1")
    expect(head(page, "Run the tests")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("sequence", [1, 16, 20])
def test_closed_cards_have_no_violation_at_320_pixels(
    page: Page, site: Site, sample: str, sequence: int
) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    open_session(page, site, sample, f"#m{sequence}")
    expect(page.locator(f"article[data-sequence='{sequence}'] .sequence")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(
    ("sequence", "title", "shown"),
    [
        (7, "Draw every page", "Show the end"),
        (8, "weather/page.py", "Return the heading."),
        (9, "Run the tests", "AssertionError"),
        (10, "List the archive", "had cut this output"),
        (12, "Everything that a tool can answer", "hologram"),
        (16, "Look through the archive", "gap of 9 days"),
    ],
)
def test_an_open_card_has_no_violation(
    page: Page, site: Site, sample: str, sequence: int, title: str, shown: str
) -> None:
    open_session(page, site, sample, f"#m{sequence}")
    head(page, title).click()
    expect(body(page, title)).to_contain_text(shown)
    assert violations(page) == []


def test_what_colours_tell_is_told_where_a_person_has_chosen_them_all(
    page: Page, site: Site
) -> None:
    reverse = text(f"{ESCAPE}[7mchosen{ESCAPE}[0m beside")
    call = called("a command", [reverse], rawInput={"command": "x" * 50}, rawOutput={"a": "b" * 50})
    session = create(site, said("one", "The first"), call)
    page.emulate_media(forced_colors="active")
    open_session(page, site, session)
    page.get_by_role("button", name="What is heavy").click()
    grounds = page.locator(".heavy .track").first.locator("span")
    expect(grounds).to_have_count(3)
    colours = [_ground(one) for one in grounds.all()]
    assert len({*colours, _ground(page.locator(".heavy"))}) == 4
    legend = "spans => spans.map(one => getComputedStyle(one, '::before').backgroundColor)"
    assert page.locator(".legend span").evaluate_all(legend) == colours
    head(page, "a command").click()
    shown = body(page, "a command")
    assert _ground(shown.get_by_text("chosen")) != _ground(shown.get_by_text("beside"))
    page.keyboard.press("g")
    row = page.locator("article[data-current] > .content")
    expect(row).to_have_css("border-inline-start-width", "3px")


@pytest.mark.parametrize("forced", ["active", "none"])
def test_a_switch_that_is_on_looks_so(
    page: Page, site: Site, forced: Literal["active", "none"]
) -> None:
    session = create(
        site,
        called("printed", [text(f"{ESCAPE}[1mbold{ESCAPE}[0m")]),
        called("values", [text('{"a": [1]}')]),
    )
    page.emulate_media(forced_colors=forced)
    open_session(page, site, session)
    for call, name in (("printed", "Raw"), ("values", "Text")):
        head(page, call).click()
        switch = body(page, call).get_by_role("button", name=name, exact=True)
        before = _ground(switch)
        switch.click()
        expect(switch).to_have_attribute("aria-pressed", "true")
        page.mouse.move(0, 0)
        assert _ground(switch) != before
    page.emulate_media(forced_colors="none")
    assert violations(page) == []


def _ground(element: Locator) -> str:
    """Return the colour that an element is drawn on."""
    colour: str = element.evaluate(
        """
        (element) => {
          for (let one = element; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor
            if (!/^rgba.*, 0\\)$/.test(colour)) return colour
          }
          return 'none'
        }
        """
    )
    return colour


def test_a_failed_card_and_what_is_heavy_have_no_violation(
    page: Page, site: Site, sample: str
) -> None:
    def fail(route: Route) -> None:
        if (route.request.post_data_json or {}).get("operationName") == "ToolContent":
            errors = {"data": None, "errors": [{"message": "It is being repaired."}]}
            route.fulfill(content_type="application/json", body=json.dumps(errors))
        else:
            route.continue_()

    page.route("**/graphql", fail)
    open_session(page, site, sample, "#m8")
    head(page, "weather/page.py").click()
    expect(page.get_by_role("alert")).to_contain_text("It is being repaired.")
    page.get_by_role("button", name="What is heavy").first.click()
    expect(page.get_by_role("heading", name="Largest outputs")).to_be_visible()
    assert violations(page) == []


def test_the_help_sheet_has_no_violation(page: Page, site: Site) -> None:
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("way", ["Escape", "Close"])
@pytest.mark.parametrize("sheet", ["Keyboard help", "What is heavy"])
def test_what_is_closed_gives_the_focus_back(
    page: Page, site: Site, sample: str, sheet: str, way: str
) -> None:
    open_session(page, site, sample)
    opener = page.get_by_role("button", name=sheet)
    opener.press("Enter")
    close = page.get_by_role("button", name="Close", exact=True)
    if way == "Close":
        close.press("Enter")
    else:
        close.press("Escape")
    expect(close).to_have_count(0)
    expect(opener).to_be_focused()


def test_a_session_is_found_by_keyboard_alone(page: Page, site: Site) -> None:
    session = create(site, said("one", "The first"), title="By keyboard")
    page.goto(site.url)
    expect(page.locator(f"a[href='/sessions/{session}']")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("by keyboard")
    expect(page.locator("a.open")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="By keyboard")).to_be_visible()
    expect(page.locator("article")).to_have_count(1)


def test_a_session_is_walked_through_by_keyboard_alone(page: Page, site: Site) -> None:
    session = create(
        site,
        said("one", "The first", role="USER"),
        called("a command", [text("its output")]),
        said("three", "The last"),
    )
    open_session(page, site, session)
    expect(page.locator("article")).to_have_count(3)
    page.keyboard.press("g")
    expect(page.locator("article[data-sequence='1']")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("article[data-sequence='2']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(body(page, "a command")).to_contain_text("its output")
    page.keyboard.press("Enter")
    expect(body(page, "a command")).to_be_hidden()
    page.keyboard.press("G")
    expect(page.locator("article[data-sequence='3']")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("article[data-sequence='2']")).to_be_focused()
    # The second time it is the current one already.
    for _ in range(2):
        page.keyboard.press("/")
        page.keyboard.type("1")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("#m1$"))
        expect(page.locator("article[data-sequence='1']")).to_be_focused()
    page.keyboard.press("?")
    page.get_by_role("checkbox").press("Space")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("article[data-sequence='2']")).not_to_be_focused()


@pytest.mark.parametrize("way", ["field", "address"])
def test_a_message_that_is_gone_to_has_the_focus_where_its_page_is_loaded(
    page: Page, site: Site, sample: str, way: str
) -> None:
    open_session(page, site, sample)
    page.keyboard.press("g")
    expect(page.locator("article[data-sequence='1']")).to_be_focused()
    for sequence in (60, 30, 50):
        if way == "field":
            page.keyboard.press("/")
            page.keyboard.type(str(sequence))
            page.keyboard.press("Enter")
        else:
            page.evaluate("sequence => { location.hash = `m${sequence}` }", sequence)
        row = page.locator(f"article[data-sequence='{sequence}']")
        expect(row).to_be_focused()
        expect(row).to_be_in_viewport()


def test_a_place_that_is_no_number_is_told(page: Page, site: Site) -> None:
    session = create(site, said("one", "The first"), said("two", "The last"))
    open_session(page, site, session)
    page.keyboard.press("/")
    page.keyboard.type("abc")
    page.keyboard.press("Enter")
    field = page.get_by_label("Go to message")
    told = "field => field.validationMessage"
    assert field.evaluate(told) == "A number from 1 to 2, please."
    expect(field).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("1")
    assert field.evaluate(told) == ""
    page.keyboard.press("Enter")
    expect(page.locator("article[data-sequence='1']")).to_be_focused()


def test_a_card_can_be_opened_with_tab_and_space(page: Page, site: Site) -> None:
    session = create(site, called("a command", [text("its output")]))
    open_session(page, site, session)
    for _ in range(20):
        if head(page, "a command").evaluate("button => button === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(body(page, "a command")).to_contain_text("its output")


def test_nothing_scrolls_sideways_at_320_pixels(page: Page, site: Site, sample: str) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    assert not overflows(page)
    for sequence, title in [
        (7, "Draw every page"),
        (8, "weather/page.py"),
        (12, "Everything that a tool can answer"),
        (16, "Look through the archive"),
    ]:
        open_session(page, site, sample, f"#m{sequence}")
        page.reload()
        head(page, title).click()
        expect(body(page, title).get_by_text("Stored JSON")).to_be_visible()
        assert not overflows(page)
        # Nor is anything cut off at the side.
        assert page.locator(".list").first.evaluate("list => list.scrollWidth <= list.clientWidth")
    page.get_by_role("button", name="What is heavy").click()
    expect(page.get_by_role("heading", name="Largest outputs")).to_be_visible()
    assert not overflows(page)
