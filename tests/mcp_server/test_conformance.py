"""The protocol's own checks, from npm: its conformance runner, and its inspector."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.mcp_server import fixtures
from tests.server.serving import on_a_port
from toolfold.documents import Documents
from toolfold.mcp_server.server import build_server
from toolfold.server import create_app
from toolfold.server.mcp_route import McpEndpoint
from toolfold.settings import Settings

FOLDER = Path(__file__).parents[1] / "node_mcp"
MODULES = FOLDER / "node_modules"
LOCK = FOLDER / "package-lock.json"
SCENARIOS = 30


@pytest.fixture(scope="session")
def mcp_packages() -> Path:
    """Install what the lock file names, once for each lock file; a Node of their own is in it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.fail("npm must be there.")
    installed = MODULES / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < LOCK.stat().st_mtime:
        subprocess.run([npm, "ci"], cwd=FOLDER, check=True)  # noqa: S603 (nothing comes in)
    return MODULES


async def node(modules: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a package's command on the Node that was installed with it."""
    command = [str(modules / "node" / "bin" / "node"), str(modules / ".bin" / script), *arguments]
    with anyio.fail_after(60):
        return await anyio.run_process(
            command, check=False, stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"}
        )


def with_fixtures(documents: Documents) -> Any:
    """Return Toolfold's MCP server with what the runner expects beside."""
    server = build_server(documents)
    fixtures.add_to(server)
    return server


# The runner asks for logging and sampling, which the newer revision deprecates.
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_the_conformance_runner_passes_every_scenario(
    mcp_packages: Path, tmp_path: Path
) -> None:
    app = create_app(Settings(data_dir=tmp_path / "data"), mcp=McpEndpoint(with_fixtures))
    results = tmp_path / "results"
    async with on_a_port(app) as place:
        arguments = ("server", "--url", f"http://{place}/mcp", "--output-dir", str(results))
        run = await node(mcp_packages, "conformance", *arguments)
    assert run.returncode == 0, run.stdout.decode()[-4_000:]
    checks = [json.loads(path.read_bytes()) for path in results.glob("*/checks.json")]
    assert len(checks) == SCENARIOS
    statuses = {check["status"] for scenario in checks for check in scenario}
    assert statuses <= {"SUCCESS", "INFO"}


async def test_the_inspector_finds_no_fault_in_the_tools(
    mcp_packages: Path, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, mcp_allow_writing=True)
    async with on_a_port(create_app(settings)) as place:
        arguments = ("--cli", f"http://{place}/mcp", "--method", "tools/list", "--strict")
        run = await node(mcp_packages, "mcp-inspector", *arguments)
    assert run.returncode == 0, run.stderr.decode()
    tools = json.loads(run.stdout)["tools"]
    assert len(tools) == 6


def test_the_lock_names_each_package_by_its_hash_and_no_host() -> None:
    text = LOCK.read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    asked = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert packages.pop("")["dependencies"] == asked
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert "://" not in text


def test_node_is_of_a_version_that_the_packages_run_on(mcp_packages: Path) -> None:
    binary = mcp_packages / "node" / "bin" / "node"
    version = subprocess.run([binary, "--version"], capture_output=True, check=True)  # noqa: S603 (our own)
    assert int(version.stdout.decode().lstrip("v").split(".")[0]) >= 22
