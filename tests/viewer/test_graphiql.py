"""GraphiQL: it explores the schema with no internet, and begins with what one needs to know."""

import contextlib
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from graphql import build_schema, parse, print_ast, validate
from playwright.sync_api import Page, Request, expect

from tests.viewer.conftest import TIMEOUT_MS, VIEWER, Site
from tests.viewer.sessions import create

QUERIES = sorted((VIEWER / "src" / "graphiql" / "queries").glob("*.graphql"))
SCHEMA = build_schema((VIEWER.parents[1] / "schema.graphql").read_text(encoding="utf-8"))
_THEMES = {"light": re.compile(r"(^| )vs( |$)"), "dark": re.compile(r"(^| )vs-dark( |$)")}


@pytest.fixture
def graphiql(page: Page, site: Site) -> Page:
    """GraphiQL as it stands once it knows the schema."""
    opened(page, f"{site.url}/graphiql")
    return page


def opened(page: Page, url: str) -> None:
    with page.expect_response(
        lambda answer: "IntrospectionQuery" in (answer.request.post_data or "")
    ):
        page.goto(url)
    expect(page.locator(".graphiql-query-editor .view-line").first).to_be_visible()


def run(page: Page) -> None:
    page.locator(".graphiql-execute-button").click()


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: str(path.stem))
def test_each_first_tab_is_valid_and_laid_out_as_graphiql_would(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    document = parse(text)
    assert validate(SCHEMA, document) == []
    query = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert query.strip() == print_ast(document)


def test_the_first_tab_is_a_page_that_reads_no_content_and_explains_the_guard(
    graphiql: Page,
) -> None:
    expect(graphiql.locator(".graphiql-tab-button")).to_have_text(["Latest", "Heavy", "Live"])
    expect(graphiql.locator(".graphiql-query-editor")).to_contain_text("this page reads no output")
    with graphiql.expect_response("**/graphql") as answered:
        run(graphiql)
    answer = answered.value.json()
    (session,) = answer["data"]["sessions"]["nodes"]
    assert len(session["messages"]["nodes"]) == 20
    # No content was asked for, so there is no budget to tell of.
    assert set(answer) == {"data"}
    expect(graphiql.locator(".graphiql-response")).to_contain_text("contentSize")


def test_the_second_tab_tells_what_is_heavy(graphiql: Page) -> None:
    graphiql.locator(".graphiql-tab-button", has_text="Heavy").click()
    with graphiql.expect_response("**/graphql") as answered:
        run(graphiql)
    (session,) = answered.value.json()["data"]["sessions"]["nodes"]
    # The sample's largest output, which the README shows too.
    assert session["contentBreakdown"]["largestOutputs"][0]["contentSize"] == 5_758_736


def test_the_third_tab_follows_what_happens(graphiql: Page, site: Site) -> None:
    graphiql.locator(".graphiql-tab-button", has_text="Live").click()
    run(graphiql)
    response = graphiql.locator(".graphiql-response")
    # Nothing tells from when on it follows: sessions are begun until it has heard of one.
    for _ in range(TIMEOUT_MS // 1_000):
        create(site, title="Just begun")
        with contextlib.suppress(AssertionError):
            expect(response).to_contain_text("Just begun", timeout=1_000)
            break
    expect(response).to_contain_text("Just begun")


def test_everything_comes_from_this_server(page: Page, site: Site) -> None:
    requests: list[Request] = []

    def note(request: Request) -> None:
        requests.append(request)

    page.context.on("request", note)
    opened(page, f"{site.url}/graphiql")
    run(page)
    expect(page.locator(".graphiql-response")).to_contain_text("contentSize")
    hosts = {urlsplit(request.url).netloc for request in requests if "://" in request.url}
    assert hosts == {urlsplit(site.url).netloc}
    # The editor's workers are among what came: they check and complete what is typed.
    assert len([request for request in requests if ".worker-" in request.url]) >= 2


def test_the_documentation_and_the_explorer_are_there(graphiql: Page) -> None:
    graphiql.get_by_label("Show Documentation Explorer").click()
    pane = graphiql.locator(".graphiql-doc-explorer")
    pane.get_by_role("link", name="Query").click()
    expect(pane).to_contain_text("What this server enforces")
    graphiql.get_by_label("Show GraphiQL Explorer").click()
    field = graphiql.locator(".docExplorerWrap, .graphiql-explorer-root").get_by_text(
        "toolCallCount"
    )
    field.first.click()
    expect(graphiql.locator(".graphiql-query-editor")).to_contain_text("toolCallCount")


def test_a_mistake_is_marked_while_it_is_typed(page: Page, site: Site) -> None:
    address = f"{site.url}/graphiql?{urlencode({'query': 'query Asked { nothing }'})}"
    opened(page, address)
    expect(page.locator(".graphiql-tab-active .graphiql-tab-button")).to_have_text("Asked")
    expect(page.locator(".graphiql-query-editor .squiggly-error").first).to_be_attached()


def test_its_colours_are_those_of_the_system_and_change_with_them(graphiql: Page) -> None:
    editor = graphiql.locator(".graphiql-query-editor .monaco-editor").first
    for scheme in ("light", "dark", "light"):
        graphiql.emulate_media(color_scheme=scheme)
        expect(editor).to_have_class(_THEMES[scheme])


def test_on_a_narrow_screen_the_answer_is_below_the_query(graphiql: Page) -> None:
    graphiql.set_viewport_size({"width": 360, "height": 740})
    query = graphiql.locator(".graphiql-query-editor").bounding_box()
    answer = graphiql.locator(".graphiql-response").bounding_box()
    assert query is not None
    assert answer is not None
    assert answer["y"] >= query["y"] + query["height"]
    assert answer["width"] > 200
    assert graphiql.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_at_320_pixels_everything_is_in_reach(graphiql: Page) -> None:
    graphiql.set_viewport_size({"width": 320, "height": 640})
    for selector, width in [
        (".graphiql-query-editor .graphiql-editor", 280),
        (".result-window", 280),
    ]:
        box = graphiql.locator(selector).first.bounding_box()
        assert box is not None
        assert box["width"] >= width
    for name in ("Show Documentation Explorer", "Show History", "Show GraphiQL Explorer"):
        button = graphiql.get_by_label(name)
        expect(button).to_be_in_viewport(ratio=1)
    expect(graphiql.get_by_label("Open settings dialog")).to_be_in_viewport(ratio=1)
    run(graphiql)
    expect(graphiql.locator(".graphiql-response")).to_contain_text("messageCount")
    graphiql.get_by_label("Show Documentation Explorer").click()
    pane = graphiql.locator(".graphiql-doc-explorer")
    box = pane.bounding_box()
    assert box is not None
    assert box["width"] >= 280
    pane.get_by_role("link", name="Query").click()
    expect(pane).to_contain_text("What this server enforces")
    graphiql.get_by_label("Hide Documentation Explorer").click()
    expect(graphiql.locator(".graphiql-query-editor .view-line").first).to_be_in_viewport()
    assert graphiql.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_first_comment_names_the_guard() -> None:
    (latest,) = (path for path in QUERIES if path.stem == "latest")
    comment, _, rest = latest.read_text(encoding="utf-8").partition("query Latest")
    assert "guard" in comment
    assert "guard delivers contents until 256 KiB" in " ".join(
        line.removeprefix("# ") for line in rest.splitlines()
    )
