"""The lock holds what pyproject.toml asks for, by hash, and says nowhere where it comes from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ASKED = [
    Requirement(text)
    for text in (
        *PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"]["dev"],
        *PROJECT["build-system"]["requires"],
    )
]
# One entry: the pinned requirement, its hashes, and by whom it was asked for.
ENTRIES = re.findall(r"^([a-z0-9].*?) \\\n((?: +--hash.*\n)+)((?: +#.*\n)*)", LOCK, re.MULTILINE)
PINNED = {
    canonicalize_name(Requirement(pinned).name): Requirement(pinned) for pinned, *_ in ENTRIES
}


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_is_asked_for_is_pinned_to_a_version_that_satisfies_it(asked: Requirement) -> None:
    pinned = PINNED[canonicalize_name(asked.name)]
    (version,) = [specifier.version for specifier in pinned.specifier]
    assert asked.specifier.contains(version)
    assert bool(asked.marker) == bool(pinned.marker)


def test_nothing_is_pinned_for_the_project_that_it_no_longer_asks_for() -> None:
    for_project = {
        canonicalize_name(Requirement(pinned).name)
        for pinned, _, reason in ENTRIES
        if "toolfold (pyproject.toml" in reason
    }
    assert for_project == {canonicalize_name(asked.name) for asked in ASKED}


def test_every_line_of_the_lock_belongs_to_an_entry_with_hashes() -> None:
    rest = LOCK
    for pinned, hashes, reason in ENTRIES:
        rest = rest.replace(f"{pinned} \\\n{hashes}{reason}", "", 1)
    assert [line for line in rest.splitlines() if not line.startswith("#")] == []


def test_the_lock_names_no_host_and_no_index() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^\s*(-i|--index|--extra-index|--find-links)", LOCK, re.MULTILINE)
