"""A session that goes on while it is looked at."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests.cli.serving import serving
from tests.viewer.conftest import TIMEOUT_MS, Site, sample_site
from tests.viewer.looking import (
    Operations,
    Shown,
    body,
    distance_from_end,
    head,
    next_frame,
    open_session,
    rest,
    violations,
)
from tests.viewer.sessions import append, called, create, said, text, update

_TOP = "element => element.getBoundingClientRect().top"
_TOP_OF_CARD = "() => document.querySelector('.card .head').getBoundingClientRect().top"

_IS_ON_TOP = """
(button) => {
  const box = button.getBoundingClientRect()
  const found = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
  return button.contains(found)
}
"""


def _filled(site: Site) -> str:
    return create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(60)))


def _first_in_sight(page: Page) -> list[object]:
    place: list[object] = page.evaluate(
        """() => {
          const top = document.querySelector('.list').getBoundingClientRect().top
          const rows = [...document.querySelectorAll('article')]
          const row = rows.find((one) => one.getBoundingClientRect().bottom > top + 5)
          return [row.dataset.sequence, Math.round(row.getBoundingClientRect().top)]
        }"""
    )
    return place


def test_the_end_is_followed_until_the_person_moves_away(page: Page, site: Site) -> None:
    session = _filled(site)
    open_session(page, site, session)
    append(site, session, said("new", "The newest words"))
    expect(page.get_by_text("The newest words")).to_be_in_viewport()
    assert distance_from_end(page) < 5
    page.locator(".list").hover()
    page.mouse.wheel(0, -600)
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    page.wait_for_function(
        "() => { const l = document.querySelector('.list');"
        " return l.scrollHeight - l.scrollTop - l.clientHeight > 300 }"
    )
    before = _first_in_sight(page)
    append(site, session, said("newer", "Newer"), said("newest", "Newest"))
    button = page.get_by_role("button", name="2 new")
    expect(button).to_be_visible()
    assert _first_in_sight(page) == before
    button.click()
    expect(page.get_by_text("Newest", exact=True)).to_be_in_viewport()
    append(site, session, said("last", "And the end is followed again"))
    expect(page.get_by_text("And the end is followed again")).to_be_in_viewport()


def test_opening_a_card_stays_where_it_is(page: Page, site: Site) -> None:
    session = create(site, *(said(f"m{place}", f"# Words\n\n{place}") for place in range(60)))
    append(site, session, called("the call", [text("line\n" * 40)]))
    # What draws the words above it comes after it is opened, and gives them more room.
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assets/Markdown-*.js", hold)
    open_session(page, site, session)
    head(page, "the call").click()
    expect(body(page, "the call")).to_contain_text("line")
    next_frame(page)
    before = page.evaluate(_TOP_OF_CARD)
    append(site, session, said("after", "What came after"))
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.locator(".markdown h3")).to_have_count(0)
    (route,) = held
    route.continue_()
    expect(page.locator(".markdown h3").first).to_be_attached()
    next_frame(page)
    page.wait_for_function(f"before => Math.abs(({_TOP_OF_CARD})() - before) < 2", arg=before)


@pytest.mark.parametrize("height", [500, 800])
def test_a_card_opened_at_the_end_shows_its_content(page: Page, site: Site, height: int) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}") for place in range(60)))
    append(site, session, called("the call", [text("line\n" * 40)]))
    page.set_viewport_size({"width": 1280, "height": height})
    open_session(page, site, session)
    head(page, "the call").click()
    expect(body(page, "the call").locator(".code")).to_be_in_viewport(ratio=0.1)
    expect(head(page, "the call")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("last", ["the call", "another"])
def test_nothing_lies_on_the_controls_of_a_failed_card(page: Page, site: Site, last: str) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}") for place in range(60)))
    append(
        site, session, *(called(name, [text(name)]) for name in dict.fromkeys(["the call", last]))
    )

    def fail(route: Route) -> None:
        if (route.request.post_data_json or {}).get("operationName") == "ToolContent":
            errors = {"data": None, "errors": [{"message": "It is being repaired."}]}
            route.fulfill(json=errors)
        else:
            route.continue_()

    page.route("**/graphql", fail)
    open_session(page, site, session)
    head(page, "the call").click()
    retry = page.get_by_role("button", name="Retry")
    expect(page.get_by_role("button", name="To the end")).to_be_visible()
    expect(retry).to_be_in_viewport(ratio=1)
    for button in (retry, head(page, "the call")):
        assert button.evaluate(_IS_ON_TOP)


def test_rows_take_clicks_while_the_list_scrolls(page: Page, site: Site) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(60)))
    append(site, session, called("the call", [text("its output")]))
    open_session(page, site, session)
    assert head(page, "the call").evaluate(
        f"""async (button) => {{
          document.querySelector('.list').scrollTop -= 5
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
          return ({_IS_ON_TOP})(button)
        }}"""
    )


@pytest.mark.parametrize("place", ["", "#m28"])
def test_what_moves_while_it_is_pressed_is_clicked_all_the_same(
    page: Page, site: Site, place: str
) -> None:
    session = create(site, *(said(f"b{place}", f"# Words\n\n{place}") for place in range(30)))
    append(site, session, called("the call", [text("output")]))
    append(site, session, *(said(f"m{place}", f"Words {place}") for place in range(60)))
    append(site, session, called("the last call", [text("output")]))
    pressed = "the call" if place else "the last call"
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/assets/Markdown-*.js", hold)
    open_session(page, site, session, place)
    head(page, pressed).hover()
    before = head(page, pressed).evaluate(_TOP)
    page.mouse.down()
    append(site, session, said("new", "What comes then"))
    expect(page.locator("article[aria-setsize='93']").first).to_be_attached()
    for route in held:
        route.continue_()
    expect(page.locator(".markdown p").first).to_be_attached()
    next_frame(page)
    assert abs(head(page, pressed).evaluate(_TOP) - before) < 2
    page.mouse.up()
    expect(body(page, pressed)).to_contain_text("output")


def test_two_browsers_see_the_same(browser: Browser, page: Page, site: Site) -> None:
    session = create(site, called("the call", None, status="PENDING"))
    other = browser.new_context().new_page()
    for one in (page, other):
        open_session(one, site, session)
        expect(head(one, "the call")).to_contain_text("pending")
    update(site, session, "the call", status="FAILED", title="the call, at last")
    append(site, session, said("end", "That was all"))
    for one in (page, other):
        expect(head(one, "the call, at last")).to_contain_text("failed")
        # As Markdown, not as it stands until what draws that has come.
        expect(one.locator(".markdown p").get_by_text("That was all")).to_be_visible()
    assert page.locator(".list").inner_text() == other.locator(".list").inner_text()
    other.context.close()


def test_the_list_shows_sessions_as_they_come_and_change(page: Page, site: Site) -> None:
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    session = create(site, title="Just begun")
    row = page.locator(f"a[href='/sessions/{session}']")
    expect(row).to_contain_text("Just begun")
    append(site, session, said("one", "One"), said("two", "Two"))
    expect(row).to_contain_text("2 messages")


def test_the_list_shows_what_began_before_changes_are_told(page: Page, site: Site) -> None:
    waiting: list[str | bytes] = []
    sockets: list[WebSocketRoute] = []

    def wait(message: str | bytes) -> None:
        waiting.append(message)

    def hold(socket: WebSocketRoute) -> None:
        socket.on_message(wait)
        sockets.append(socket)

    page.route_web_socket("**/graphql", hold)
    page.goto(site.url)
    expect(page.locator("a.open").first).to_be_visible()
    session = create(site, title="Begun meanwhile")
    (socket,) = sockets
    server = socket.connect_to_server()

    def send(message: str | bytes) -> None:
        server.send(message)

    socket.on_message(send)
    for message in waiting:
        server.send(message)
    expect(page.locator(f"a[href='/sessions/{session}']")).to_contain_text("Begun meanwhile")


@pytest.fixture
def left_page(browser: Browser) -> Iterator[Page]:
    """A page whose server goes away, of which the browser complains."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()


@contextmanager
def serving_again(site: Site, folder: Path) -> Iterator[None]:
    """Serve a folder at the address of the site that it was served at before."""
    port = re.search(r":(\d+)", site.url)
    assert port is not None
    with serving("--data-dir", folder, "--port", port[1]):
        yield


def test_after_a_restart_of_the_server_the_view_goes_on(left_page: Page, tmp_path: Path) -> None:
    page = left_page
    with sample_site(tmp_path) as own:
        session = create(own, said("one", "Before the restart"))
        open_session(page, own, session)
        expect(page.get_by_text("Before the restart")).to_be_visible()
        append(own, session, said("two", "Told live"))
        expect(page.get_by_text("Told live")).to_be_visible()
    expect(page.get_by_text("The server is out of reach.")).to_be_visible()
    page.evaluate("window.notReloaded = true")
    with serving_again(own, tmp_path):
        append(own, session, said("three", "After the restart"))
        expect(page.get_by_text("After the restart")).to_be_visible()
        expect(page.get_by_text("The server is out of reach.")).to_have_count(0)
        assert page.evaluate("window.notReloaded") is True


def test_a_server_that_answers_is_never_said_to_be_out_of_reach(page: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"), title="Gone to and back from")
    shown = Shown(page, "out of reach")
    page.goto(site.url)
    for _ in range(3):
        page.locator(f"a[href='/sessions/{session}']").click()
        expect(page.get_by_text("Its words")).to_be_visible()
        page.get_by_role("link", name="All sessions").click()
        expect(page.get_by_text("Gone to and back from")).to_be_visible()
    # Over the same connection, which is told of changes still.
    page.locator(f"a[href='/sessions/{session}']").click()
    append(site, session, said("two", "Told live"))
    expect(page.get_by_text("Told live")).to_be_visible()
    assert shown.texts() == []


def test_a_session_that_is_deleted_while_it_is_open_says_that_alone(page: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"))
    page.clock.install()
    open_session(page, site, session)
    append(site, session, said("two", "Told live"))
    expect(page.get_by_text("Told live")).to_be_visible()
    document = "mutation D($id: ID!) {deleteSession(input: {id: $id}) {errors {message}}}"
    site.query(document, id=session)
    expect(page.get_by_text("This session has been deleted.")).to_be_visible()
    page.clock.run_for(60_000)
    expect(page.get_by_text("Its words")).to_be_visible()
    expect(page.get_by_text("out of reach")).to_have_count(0)


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
def test_what_was_not_loaded_of_a_deleted_session_is_told_and_not_asked_for_again(
    page: Page, site: Site, *, told: bool
) -> None:
    session = create(site, *(said(f"m{place}", f"Words {place}. " * 20) for place in range(200)))
    if not told:
        page.route_web_socket("**/graphql", lambda socket: socket.close())
    open_session(page, site, session)
    operations = Operations(page)
    document = "mutation D($id: ID!) {deleteSession(input: {id: $id}) {errors {message}}}"
    site.query(document, id=session)
    if told:
        expect(page.get_by_text("This session has been deleted.")).to_be_visible()
    page.keyboard.press("g")
    expect(page.get_by_role("alert")).to_contain_text("The session is not there any more.")
    expect(page.get_by_text("This session has been deleted.")).to_be_visible()
    for key in ["j", "j", "G", "g"]:
        page.keyboard.press(key)
        rest(page)
    assert operations.names.count("Messages") == (0 if told else 1)
    assert violations(page) == []
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("alert")).to_contain_text("The session is not there any more.")
    expect(page.locator(".list")).to_have_count(1)


def test_a_session_opened_while_the_server_is_away_comes_with_it(
    left_page: Page, tmp_path: Path
) -> None:
    page = left_page
    with sample_site(tmp_path) as own:
        session = create(own, said("one", "Its words"), title="Opened too early")
        page.goto(own.url)
        expect(page.get_by_text("Opened too early")).to_be_visible()
        # Its code is there already.
        page.locator("a.open").last.click()
        expect(page.locator("article").first).to_be_visible()
        page.go_back()
        expect(page.get_by_text("Opened too early")).to_be_visible()
    page.locator(f"a[href='/sessions/{session}']").click()
    expect(page.get_by_role("alert")).to_contain_text("The server could not be reached.")
    with serving_again(own, tmp_path):
        expect(page.get_by_text("Its words")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
