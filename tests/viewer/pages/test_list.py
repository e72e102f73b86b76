"""The list of sessions where it is longer than a page, and where a page cannot be had."""

from typing import Any

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.viewer.conftest import Site
from tests.viewer.looking import Operations, Shown, next_frame, violations
from tests.viewer.sessions import create, said


def _operation(route: Route) -> dict[str, Any]:
    return route.request.post_data_json or {}


_PATIENT = """
(() => {
  const wait = window.setTimeout
  window.setTimeout = (done, ms, ...rest) => wait(done, ms === 300 ? 60000 : ms, ...rest)
})()
"""


def test_the_sessions_are_asked_for_once_and_no_further_than_a_person_sees(
    page: Page, site: Site
) -> None:
    for number in range(55):
        create(site, title=f"One of very many {number}")
    # However long a busy machine takes to connect.
    page.add_init_script(_PATIENT)
    operations = Operations(page)
    page.goto(f"{site.url}/?q=One+of+very+many")
    expect(page.locator("a.open")).to_have_count(50)
    page.wait_for_load_state("networkidle")
    assert sorted(operations.names) == ["Projects", "Sessions"]
    page.locator("a.open").nth(20).scroll_into_view_if_needed()
    next_frame(page)
    assert operations.names.count("Sessions") == 1
    page.locator("a.open").nth(49).scroll_into_view_if_needed()
    expect(page.locator("a.open")).to_have_count(55)
    assert operations.names.count("Sessions") == 2


def test_a_second_page_that_fails_is_told_below_the_first_and_asked_for_once(
    page: Page, site: Site
) -> None:
    for number in range(55):
        create(site, title=f"One of many {number}")
    failing = True
    asked: list[str | None] = []

    def fail(route: Route) -> None:
        sent = _operation(route)
        if sent.get("operationName") != "Sessions":
            route.continue_()
            return
        asked.append(sent["variables"]["after"])
        if failing and asked[-1]:
            route.fulfill(json={"data": None, "errors": [{"message": "It is being repaired."}]})
        else:
            route.continue_()

    page.route("**/graphql", fail)
    page.goto(f"{site.url}/?q=One+of+many")
    page.locator("a.open").last.scroll_into_view_if_needed()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("It is being repaired.")
    expect(page.locator("a.open")).to_have_count(50)
    last, told = page.locator("a.open").last.bounding_box(), alert.bounding_box()
    assert last is not None
    assert told is not None
    assert told["y"] >= last["y"] + last["height"]
    assert violations(page) == []
    assert len([after for after in asked if after]) == 1
    failing = False
    page.get_by_role("button", name="Retry").click()
    expect(page.locator("a.open")).to_have_count(55)
    expect(alert).to_have_count(0)


def test_a_list_that_cannot_be_had_says_so_in_the_place_of_rows(page: Page, site: Site) -> None:
    def fail(route: Route) -> None:
        if _operation(route).get("operationName") == "Sessions":
            route.fulfill(json={"data": None, "errors": [{"message": "It is being repaired."}]})
        else:
            route.continue_()

    page.route("**/graphql", fail)
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(site.url)
    expect(page.get_by_role("alert")).to_contain_text("It is being repaired.")
    expect(page.get_by_text("No sessions yet.")).to_have_count(0)
    assert violations(page) == []


def test_who_leaves_the_search_goes_on_in_what_was_found(page: Page, site: Site) -> None:
    create(site, said("one", "Words"), title="Sought and found")
    create(site, said("one", "Words"), title="Newer than that")
    page.goto(site.url)
    expect(page.get_by_role("link", name="Newer than that")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("Sought and")
    expect(page.locator("a.open")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_have_value("Sought and")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("a.open")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sought and found")).to_be_visible()


def test_what_is_typed_next_takes_the_place_of_what_was_sought(page: Page, site: Site) -> None:
    create(site, said("one", "Words"), title="Typed over")
    page.goto(f"{site.url}/?q=Newer")
    search = page.get_by_role("searchbox")
    expect(search).to_have_value("Newer")
    page.keyboard.press("/")
    page.keyboard.type("Typed")
    expect(search).to_have_value("Typed")
    page.get_by_role("link", name="Typed over").click()
    number = page.get_by_role("textbox")
    page.keyboard.press("/")
    page.keyboard.type("12")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("30")
    expect(number).to_have_value("30")


def test_a_row_that_goes_leaves_the_focus_to_its_neighbour(page: Page, site: Site) -> None:
    ids = [create(site, title=f"Going {place}") for place in (3, 2, 1)]
    page.goto(f"{site.url}/?q=Going")
    rows = page.locator("a.open")
    expect(rows).to_have_count(3)
    document = "mutation D($id: ID!) {deleteSession(input: {id: $id}) {errors {message}}}"
    for _ in range(3):
        page.keyboard.press("j")
    for gone, focused in ((ids[0], "Going 2"), (ids[2], "Going 2")):
        site.query(document, id=gone)
        expect(page.get_by_role("link", name=focused)).to_be_focused()
    site.query(document, id=ids[1])
    expect(page.get_by_text("No session fits.")).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("button", name="Show all").press("Enter")
    expect(rows.first).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("")
    expect(page.get_by_role("main")).to_be_focused()


def test_projects_beyond_a_page_can_be_chosen(page: Page, site: Site) -> None:
    def answer(route: Route) -> None:
        sent = _operation(route)
        if sent.get("operationName") != "Projects":
            route.continue_()
            return
        after = sent["variables"].get("after")
        nodes = [{"id": f"p{after}", "name": f"project after {after}"}]
        info = {"hasNextPage": after is None, "endCursor": "c1"}
        route.fulfill(json={"data": {"projects": {"nodes": nodes, "pageInfo": info}}})

    page.route("**/graphql", answer)
    page.goto(site.url)
    expect(page.get_by_label("Project", exact=True).locator("option")).to_have_text(
        ["All projects", "project after None", "project after c1"]
    )


def test_a_list_is_not_said_to_be_empty_before_an_answer_says_so(page: Page, site: Site) -> None:
    session = create(site, said("one", "Its words"), title="There all the while")
    shown = Shown(page, "No sessions yet|No session fits")
    page.goto(f"{site.url}/?q=There+all+the+while")
    page.locator(f"a[href='/sessions/{session}']").click()
    expect(page.get_by_text("Its words")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("There all the while")).to_be_visible()
    assert shown.texts() == []
    page.get_by_label("Search titles").fill("There is none of this title")
    expect(page.get_by_text("No session fits.")).to_be_visible()


def test_a_list_keeps_its_further_pages_when_the_connection_returns(page: Page, site: Site) -> None:
    for number in range(55):
        create(site, title=f"One of several {number}")
    sockets: list[WebSocketRoute] = []

    def relay(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/graphql", relay)
    page.goto(f"{site.url}/?q=One+of+several")
    rows = page.locator("a.open")
    rows.last.scroll_into_view_if_needed()
    expect(rows).to_have_count(55)
    page.evaluate(
        """() => {
          const rows = document.querySelector('ul.rows')
          window.fewest = rows.children.length
          const look = () => { window.fewest = Math.min(window.fewest, rows.children.length) }
          new MutationObserver(look).observe(rows, {childList: true})
        }"""
    )
    with page.expect_response(lambda response: '"Sessions"' in (response.request.post_data or "")):
        sockets[-1].close(code=1012)
    create(site, title="One of several, the newest")
    expect(rows).to_have_count(56)
    assert page.evaluate("window.fewest") == 55
