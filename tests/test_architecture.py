"""Rules of the layout that import-linter does not know."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "app" / "toolfold").rglob("*.py"))
MAX_LINES = 300
VAGUE_NAMES = {"utils", "util", "helpers", "common", "manager", "service", "misc"}


def name(module: Path) -> str:
    return str(module.relative_to(ROOT / "app" / "toolfold"))


def is_list(module: Path) -> bool:
    return name(module) == "store/tables.py" or module.parent.name == "versions"


def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def names_in(module: Path) -> set[str]:
    """Return every name that a module uses, of variables and of attributes."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.Name | ast.Attribute)
    }


# Tables, and the migrations that make them, are lists: they are read entry by entry.
@pytest.mark.parametrize("module", [m for m in MODULES if not is_list(m)], ids=name)
def test_a_module_is_short_enough_to_be_read_at_once(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(parsed(module))


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name(module) for module in MODULES if module.stem in VAGUE_NAMES] == []


def test_one_module_reads_heavy_bytes_and_one_writes_them() -> None:
    users = {name(module) for module in MODULES if "content_chunk_table" in names_in(module)}
    assert users == {"store/content.py", "store/recording/content.py", "store/tables.py"}
