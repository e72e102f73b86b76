"""The viewer in the system's Chromium, over a session of 100,000 messages."""

import itertools
import statistics
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench import commands
from tests.bench.figures import Figure, at_most, mebibytes, milliseconds
from tests.bench.options import Options
from tests.viewer import sessions
from tests.viewer.conftest import ARGUMENTS, Site, build_viewer, chromium

NAME = "viewer"

_MESSAGES = 100_000
_ROUNDS = 9
_FRAMES = 300
_MOST_HEAP = 40 * 2**20
# Longer lines are not read as Markdown.
_HOSTILE_LINE = 4_000
_HOSTILE_SIZES = (20_000, 500_000)
_HOSTILE_MARKS = ("> ", "[", "***a** ", "![[]()", "| a ", "1. a\n   - b\n", "<a", "a@")
# Asked before the page's own code runs: when the first message is painted, and what keeps it busy.
_WATCH = """
window.painted = new Promise((resolve) => {
  const look = () => document.querySelector('article')
    ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    : requestAnimationFrame(look)
  requestAnimationFrame(look)
})
window.longest = 0
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration)
}).observe({ type: 'longtask', buffered: true })
"""
_SCROLL = """
(frames) => new Promise((resolve) => {
  const list = document.querySelector('.list')
  const times = []
  let last = performance.now()
  const step = (now) => {
    times.push(now - last)
    last = now
    list.scrollTop -= 120
    if (times.length < frames) requestAnimationFrame(step)
    else resolve(times.slice(2))
  }
  requestAnimationFrame(step)
})
"""
_JUMP = """
async (place) => {
  const start = performance.now()
  location.hash = `#m${place}`
  while (!document.querySelector(`article[data-sequence="${place}"]`)) {
    await new Promise(requestAnimationFrame)
  }
  return performance.now() - start
}
"""


def measure(options: Options) -> Iterator[Figure]:
    """Open, scroll and jump in a long session, and open a card of 10,000 lines."""
    build_viewer()
    folder = options.place / "viewer"
    messages = min(_MESSAGES, options.depth)
    with commands.toolfold(folder) as server, sync_playwright() as playwright:
        site = Site(f"http://{server.host}:{server.port}")
        long = sessions.import_long(site, messages)
        lines = "\n".join(f"\x1b[3{n % 8}mline {n}\x1b[0m" for n in range(10_000))
        ansi = sessions.create(site, sessions.called("lines", [sessions.text(lines)]))
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield _opening(browser, f"{site.url}/sessions/{long}", messages)
        page = _opened(browser, f"{site.url}/sessions/{long}")
        # By hand, so that the end is not followed any more.
        page.locator(".list").hover(position={"x": 5, "y": 5})
        page.mouse.wheel(0, -200)
        page.get_by_role("button", name="To the end").wait_for()
        yield _scrolling(page)
        yield _jumping(page, messages)
        yield _heap(page)
        yield _rows(page)
        yield _card(_opened(browser, f"{site.url}/sessions/{ansi}"))
        yield _hostile(browser, site)
        browser.close()


def _opened(browser: Browser, url: str) -> Page:
    page = browser.new_page()
    page.add_init_script(_WATCH)
    page.goto(url)
    page.evaluate("window.painted")
    return page


def _opening(browser: Browser, url: str, messages: int) -> Figure:
    times = []
    for _ in range(_ROUNDS):
        page = _opened(browser, url)
        times.append(page.evaluate("window.painted") / 1_000)
        page.close()
    median = statistics.median(times)
    name = f"first messages of {messages:,} painted after navigation"
    return Figure(name, milliseconds(median), bound=at_most(median, 0.6, "600 ms"))


def _scrolling(page: Page) -> Figure:
    times: list[float] = page.evaluate(_SCROLL, _FRAMES)
    p95 = statistics.quantiles(times, n=20)[-1] / 1_000
    return Figure(
        "a frame while scrolling, p95", milliseconds(p95), bound=at_most(p95, 0.034, "34 ms")
    )


def _jumping(page: Page, messages: int) -> Figure:
    places = itertools.chain(range(1, messages, messages // 7 + 1), (messages - 3,))
    worst = max(page.evaluate(_JUMP, place) for place in places) / 1_000
    return Figure(
        "the slowest of 8 jumps", milliseconds(worst), bound=at_most(worst, 0.3, "300 ms")
    )


def _heap(page: Page) -> Figure:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage: dict[str, Any] = session.send("Runtime.getHeapUsage")
    used = usage["usedSize"]
    return Figure("heap after that", mebibytes(used), bound=at_most(used, _MOST_HEAP, "40 MiB"))


def _rows(page: Page) -> Figure:
    rows = page.locator(".list > div > div").count()
    return Figure("rows in the page", str(rows), bound=at_most(rows, 250, "250"))


def _card(page: Page) -> Figure:
    page.evaluate("window.longest = 0")
    page.locator(".card .head").click()
    page.wait_for_selector(".terminal .chunk")
    page.wait_for_timeout(1_000)
    while page.get_by_role("button", name="Show more: ").count():
        page.get_by_role("button", name="Show more: ").click()
        page.wait_for_timeout(500)
    return _longest(page, "10,000 lines with colours are opened, to their end")


def _hostile(browser: Browser, site: Site) -> Figure:
    """Draw what takes Markdown's reader longest, of 20 kB and of 500 kB."""
    texts = [
        "\n".join([mark * (_HOSTILE_LINE // len(mark))] * (size // _HOSTILE_LINE))
        for size in _HOSTILE_SIZES
        for mark in _HOSTILE_MARKS
    ]
    worst = 0.0
    for place, text in enumerate(texts):
        session = sessions.create(site, sessions.said(f"hostile{place}", text))
        page = _opened(browser, f"{site.url}/sessions/{session}")
        page.wait_for_timeout(1_000)
        worst = max(worst, page.evaluate("window.longest"))
        page.close()
    return _task(worst / 1_000, "hostile Markdown of 20 kB and 500 kB is drawn")


def _longest(page: Page, what: str) -> Figure:
    return _task(page.evaluate("window.longest") / 1_000, what)


def _task(longest: float, what: str) -> Figure:
    # The browser tells only of tasks that are longer.
    shown = milliseconds(longest) if longest else "under 50 ms"
    return Figure(f"the longest task while {what}", shown, bound=at_most(longest, 0.2, "200 ms"))
