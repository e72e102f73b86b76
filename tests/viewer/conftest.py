"""The built pages in the system's Chromium, over a server that runs as people run it.

`page` fails its test for what a person would find in the browser's console: an error, an
exception, a breach of the content security policy, a request to another host.
"""

import contextlib
import dataclasses
import functools
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from filelock import FileLock
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.cli.conftest import process
from tests.cli.serving import graphql_url, serving
from tests.left_out import leave_out

VIEWER = Path(__file__).parents[2] / "app" / "viewer"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
# Of a machine that is busy with other things; what is waited for is there long before.
TIMEOUT_MS = 60_000


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark of tests that install from the registries."""
    config.addinivalue_line("markers", "packaging: takes minutes, and runs in CI alone.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a browser or a build where there is none, except in CI."""
    slow = [item for item in items if item.get_closest_marker("packaging")]
    if slow and not os.environ.get("CI"):
        leave_out(config, items, slow, "CI (they install from the registries)")
    in_browser = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
    if in_browser and chromium() is None:
        leave_out(config, items, in_browser, "Chromium")
    elif in_browser and not (
        build_of_viewer().is_up_to_date() or build_of_viewer().node_of_machine()
    ):
        leave_out(config, items, in_browser, "the viewer's build (Node)")


@functools.cache
def build_of_viewer(folder: Path = VIEWER) -> ModuleType:
    """Return the module that builds the viewer in `folder`; it belongs to no package."""
    spec = importlib.util.spec_from_file_location("hatch_build", folder / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_viewer() -> None:
    """Build what has changed, in one of the processes that run tests."""
    lock = VIEWER.parents[1] / "build" / "viewer.lock"
    lock.parent.mkdir(exist_ok=True)
    with FileLock(lock):
        build_of_viewer().build()


def chromium() -> str | None:
    """Return the path of the system's browser."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@dataclasses.dataclass(frozen=True)
class Site:
    """A server with the sample session; `url` is its address, with no slash at its end."""

    url: str

    def query(self, document: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a response over HTTP that has no errors."""
        body = {"query": document, "variables": variables}
        response = httpx.post(f"{self.url}/graphql", json=body, trust_env=False).json()
        assert "errors" not in response, response
        data: dict[str, Any] = response["data"]
        return data


@contextlib.contextmanager
def sample_site(folder: Path) -> Iterator[Site]:
    """Serve the sample session from `folder`, and the viewer as its sources are."""
    build_viewer()
    with process("sample", "--data-dir", folder) as sampling:
        sampling.communicate()
    with serving("--data-dir", folder) as (_, lines):
        yield Site(graphql_url(lines).removesuffix("/graphql"))


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the sample session alone."""
    with sample_site(tmp_path_factory.mktemp("site")) as served:
        yield served


# No longer than the tests here: while Playwright runs, no other test can run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the browser, once for all tests."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        expect.set_options(timeout=TIMEOUT_MS)
        yield launched
        launched.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past: no storage, no cache."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Iterator[Page]:
    """An empty page; see the module's text for what fails its test at the end."""
    faults: list[str] = []
    page = context.new_page()

    def look_at_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    def look_at_address(url: str) -> None:
        # What is made in the browser goes to no host.
        if not url.startswith((site.url, site.url.replace("http", "ws", 1), "data:", "blob:")):
            faults.append(f"a request to {url}")

    page.on("console", look_at_console)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("websocket", lambda socket: look_at_address(socket.url))
    context.on("request", lambda request: look_at_address(request.url))
    yield page
    assert faults == []
