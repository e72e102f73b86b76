"""What Node installs for the tests."""

import json

from tests.server.conftest import NODE_FOLDER

LOCK = (NODE_FOLDER / "package-lock.json").read_text(encoding="utf-8")


def test_the_lock_names_each_package_by_its_hash_and_no_host() -> None:
    packages = json.loads(LOCK)["packages"]
    asked = json.loads((NODE_FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert packages.pop("")["dependencies"] == asked
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert "://" not in LOCK
