"""A server over a small schema or the real one, in process or on a port of its own."""

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import orjson
import pytest
from filelock import FileLock

from tests.left_out import leave_out
from tests.server.serving import in_process
from tests.server.small_schema import SmallSchema, Stage
from tests.server.stored import Served
from toolfold.server import create_app
from toolfold.settings import Settings

NODE_FOLDER = Path(__file__).parents[1] / "node"

RunNode = Callable[..., Any]
"""`await run_node(script, *arguments)` returns the JSON that a script in tests/node prints."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs Node where there is none, except in CI."""
    on_node = [item for item in items if "run_node" in getattr(item, "fixturenames", ())]
    if on_node and not _node_is_there():
        leave_out(config, items, on_node, "Node 20 (npm)")


def _node_is_there() -> bool:
    """Say whether there are npm and a Node that the packages of tests/node run on."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    check = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"
    return subprocess.run([node, "-e", check], check=False).returncode == 0  # noqa: S603 - Nothing comes in.


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the defaults, over a database that is not there yet."""
    return Settings(data_dir=tmp_path)


@pytest.fixture(scope="session")
def node_packages() -> Path:
    """Install what the lock file of tests/node names, once for each lock file."""
    npm = shutil.which("npm")
    if npm is None or not _node_is_there():
        pytest.fail("Node 20 and npm must be there.")
    lock = NODE_FOLDER / "package-lock.json"
    installed = NODE_FOLDER / "node_modules" / ".package-lock.json"
    built = NODE_FOLDER.parents[1] / "build"
    built.mkdir(exist_ok=True)
    # In one of the processes that run tests.
    with FileLock(built / "node_packages.lock"):
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            subprocess.run([npm, "ci"], cwd=NODE_FOLDER, check=True)  # noqa: S603 - Nothing comes in.
    return NODE_FOLDER


@pytest.fixture
def run_node(node_packages: Path) -> RunNode:
    """Return what runs a script of tests/node."""

    async def run(script: str, *arguments: str) -> Any:
        process = await anyio.run_process(["node", script, *arguments], cwd=node_packages)
        return orjson.loads(process.stdout)

    return run


@pytest.fixture
async def served(database_settings: Settings) -> AsyncIterator[Served]:
    """A started server in process, over a database of either kind."""
    app = create_app(database_settings)
    async with in_process(app) as client:
        yield Served(client, app)


@pytest.fixture
def schema() -> SmallSchema:
    """A schema whose fields do as a test wants."""
    return SmallSchema()


@pytest.fixture
def stage(schema: SmallSchema) -> Stage:
    """What the test shares with the resolvers of `schema`."""
    return schema.stage


@pytest.fixture
async def client(settings: Settings, schema: SmallSchema) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a started server in process, over the small schema."""
    async with in_process(create_app(settings, schema=schema)) as client:
        yield client
