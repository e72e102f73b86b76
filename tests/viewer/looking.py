"""What a person does and sees in the viewer, for its tests."""

import json
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Dialog, Locator, Page, Request, expect

from tests.viewer.conftest import VIEWER, Site

_AXE = VIEWER / "node_modules" / "axe-core" / "axe.min.js"
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

_WATCH = """
(() => {
  window.shownTexts = []
  const look = () => {
    for (const [text] of (document.body?.textContent ?? '').matchAll(new RegExp(%s, 'g')))
      if (!window.shownTexts.includes(text)) window.shownTexts.push(text)
  }
  new MutationObserver(look).observe(document, {
    childList: true, subtree: true, characterData: true
  })
})()
"""


def open_session(page: Page, site: Site, session: str, place: str = "") -> None:
    """Show a session, and wait for its messages."""
    page.goto(f"{site.url}/sessions/{session}{place}")
    expect(page.locator("article").first).to_be_visible()


def head(page: Page, name: str) -> Locator:
    """Return the button of the card whose title is `name`."""
    return page.locator(".card .head").filter(has_text=name)


def body(page: Page, name: str) -> Locator:
    """Return what the card whose title is `name` shows when it is open."""
    return head(page, name).locator("xpath=ancestor::section[1]/div")


def violations(page: Page) -> list[Any]:
    """Return what axe finds against WCAG 2.2 AA, in light and in dark: the first elements."""
    page.evaluate(Path(_AXE).read_text(encoding="utf-8"))
    found = []
    for scheme in _SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "dark => matchMedia('(prefers-color-scheme: dark)').matches === dark",
            arg=scheme == "dark",
        )
        result = page.evaluate("rules => axe.run(document, {runOnly: rules})", _RULES)
        found += [
            (scheme, rule["id"], [node["html"][:200] for node in rule["nodes"][:3]])
            for rule in result["violations"]
        ]
    return found


def overflows(page: Page) -> bool:
    """Say whether the page is wider than the window."""
    wider: bool = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    return wider


def distance_from_end(page: Page) -> float:
    """Return how many pixels of the messages are below what is shown."""
    distance: float = page.locator(".list").first.evaluate(
        "list => list.scrollHeight - list.scrollTop - list.clientHeight"
    )
    return distance


def rest(page: Page) -> None:
    """Wait until the messages have come to rest, as somebody does who scrolls and then looks."""
    page.evaluate(
        """
        () => new Promise((done) => {
          const list = document.querySelector('.list')
          let [top, frames] = [Number.NaN, 0]
          const look = () => {
            frames = list.scrollTop === top ? frames + 1 : 0
            top = list.scrollTop
            if (frames < 5) requestAnimationFrame(look)
            else done()
          }
          look()
        })
        """
    )


def wheel(page: Page, pixels: int) -> None:
    """Turn the wheel over the messages, and wait until they have moved and come to rest."""
    rest(page)
    before = page.locator(".list").first.evaluate("list => list.scrollTop")
    page.mouse.wheel(0, pixels)
    # The browser is told of the wheel, and scrolls when it comes to that.
    page.wait_for_function("top => document.querySelector('.list').scrollTop !== top", arg=before)
    rest(page)


def next_frame(page: Page) -> None:
    """Wait until what is there has been laid out, measured and laid out again."""
    page.evaluate(
        "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
    )


def swipe(page: Page, pixels: int, *, x: int = 180, rests: bool = True) -> None:
    """Move a finger down over the messages, up if `pixels` are negative.

    What is thrown, by a finger that does not rest before it is lifted, runs on and takes no taps.
    """
    session = page.context.new_cdp_session(page)
    start = 200 if pixels > 0 else 600
    moves = [start + pixels * step // 20 for step in range(1, 21)]
    rest = [start + pixels] * (20 if rests else 0)
    for kind, y in [
        ("touchStart", start),
        *(("touchMove", y) for y in moves + rest),
        ("touchEnd", None),
    ]:
        points = [] if y is None else [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.detach()


def dialogs_of(page: Page) -> list[str]:
    """Return a list that takes the text of each dialog that the page opens."""
    texts: list[str] = []

    def hear(dialog: Dialog) -> None:
        texts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    return texts


class Operations:
    """The names of the GraphQL operations that a page sends over HTTP, in order."""

    def __init__(self, page: Page) -> None:
        self.names: list[str] = []
        page.on("request", self._hear)

    def _hear(self, request: Request) -> None:
        if request.url.endswith("/graphql") and request.post_data_json:
            self.names.append(request.post_data_json["operationName"])


class Shown:
    """Which texts matching `pattern` were on a page, however briefly, in the order they came."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._page = page
        page.add_init_script(_WATCH % json.dumps(pattern))

    def texts(self) -> list[str]:
        found: list[str] = self._page.evaluate("window.shownTexts")
        return found
