"""Takes the README's pictures from the sample session: `python -m tests.viewer.pictures`.

They are written to `docs/pictures`, anew each time, by the system's Chromium; the sample's titles
want a font that has emoji (Debian's fonts-noto-color-emoji).
"""

import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.cli.conftest import process
from tests.cli.serving import graphql_url, serving
from tests.viewer.conftest import ARGUMENTS, TIMEOUT_MS, build_viewer, chromium
from toolfold import sample
from toolfold.ingest.identity import of_source
from toolfold.schema.global_id import encode

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SESSION = encode("Session", "default", of_source(sample.FORMAT, sample.SESSION).id)
# A change to a file, which the README shows as a query does.
CALL, TITLE = 8, "weather/page.py"
BEGUN = f"""
() => {{
  const top = (found) => document.querySelector(found)?.getBoundingClientRect().top
  return Math.abs(top('article[data-sequence="{CALL}"]') - top('.list')) < 1
}}
"""
# Words that have no colour yet are in the editor's first one.
COLOURED = """
() => ![...document.querySelectorAll('.view-line .mtk1')]
  .some((one) => /[a-z]/.test(one.textContent))
"""
# What is drawn anew in parts differs by a shade at round corners.
_SAME = ("--disable-partial-raster", "--disable-skia-runtime-opts", "--num-raster-threads=1")
WINDOWS = {"session": (1_080, 640), "graphiql": (1_280, 720)}


def session(page: Page, url: str) -> None:
    """Show a part of the sample session in which a tool card is open."""
    page.goto(f"{url}/sessions/{SESSION}#m{CALL}")
    page.wait_for_function(BEGUN)
    card = page.locator(".card .head", has_text=TITLE)
    # Not by a mouse, which would scroll to what moves under it while the list is measured.
    card.first.dispatch_event("click")
    expect(page.locator(".diff").first).to_be_visible()


def graphiql(page: Page, url: str) -> None:
    """Show GraphiQL with the answer to its first query."""
    page.goto(f"{url}/graphiql")
    expect(page.locator(".graphiql-query-editor .view-line").first).to_be_visible()
    page.locator(".graphiql-execute-button").click()
    expect(page.locator(".graphiql-response")).to_contain_text("messageCount")
    page.wait_for_function(COLOURED)


def take(browser: Browser, url: str, name: str, scheme: Literal["light", "dark"]) -> None:
    """Take one picture; `name` is that of what it shows."""
    width, height = WINDOWS[name]
    page = browser.new_page(
        color_scheme=scheme,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        timezone_id="UTC",
        locale="en-GB",
    )
    page.set_default_timeout(TIMEOUT_MS)
    {"session": session, "graphiql": graphiql}[name](page, url)
    page.mouse.move(0, 0)
    # Which go some time after the pointer has.
    expect(page.locator(".graphiql-container .scrollbar.visible")).to_have_count(0)
    page.evaluate("document.fonts.ready.then(() => null)")
    path = FOLDER / f"{name}-{scheme}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    print(f"{path.relative_to(FOLDER.parents[1])}: {path.stat().st_size // 1_024} KiB")  # noqa: T201
    page.close()


def main() -> int:
    """Build what has changed, and take all pictures."""
    program = chromium()
    if program is None:
        print("Taking pictures needs Chromium: there is none on the path.", file=sys.stderr)  # noqa: T201
        return 1
    build_viewer()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with process("sample", "--data-dir", folder) as sampling:
            sampling.communicate()
        with serving("--data-dir", folder) as (_, lines), sync_playwright() as playwright:
            url = graphql_url(lines).removesuffix("/graphql")
            browser = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS, *_SAME])
            for name in ("session", "graphiql"):
                take(browser, url, name, "light")
                take(browser, url, name, "dark")
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
