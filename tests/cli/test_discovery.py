import os
from pathlib import Path

import pytest

from toolfold.cli.discovery import Unreadable, discover
from toolfold.errors import NotFoundError


def _write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _paths(root: Path, *named: Path) -> list[str]:
    return [str(found.path.relative_to(root)) for found in discover(named).files]


def test_files_below_a_folder_come_sorted_and_those_named_are_marked(tmp_path: Path) -> None:
    _write(tmp_path / "tree" / "b.jsonl", "four")
    _write(tmp_path / "tree" / "a" / "z.jsonl")
    _write(tmp_path / "tree" / "a" / "c.txt")
    named = _write(tmp_path / "one.jsonl")
    discovery = discover([tmp_path / "tree", named])
    assert [(str(f.path.relative_to(tmp_path)), f.size, f.named) for f in discovery.files] == [
        ("tree/a/c.txt", 1, False),
        ("tree/a/z.jsonl", 1, False),
        ("tree/b.jsonl", 4, False),
        ("one.jsonl", 1, True),
    ]
    assert discovery.total_bytes == 7


def test_hidden_names_are_passed_by_below_a_folder_and_taken_when_named(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    _write(projects / "x" / "1.jsonl")
    _write(projects / ".git" / "config")
    _write(projects / ".DS_Store")
    discovery = discover([tmp_path / ".claude"])
    assert [found.path for found in discovery.files] == [projects / "x" / "1.jsonl"]
    assert discovery.hidden == [projects / ".DS_Store", projects / ".git"]
    assert _paths(tmp_path, projects / ".DS_Store") == [".claude/projects/.DS_Store"]


def test_a_loop_of_links_ends_and_what_is_reached_twice_counts_once(tmp_path: Path) -> None:
    _write(tmp_path / "a" / "1.jsonl")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "same.jsonl").symlink_to(tmp_path / "a" / "1.jsonl")
    assert _paths(tmp_path, tmp_path, tmp_path / "a" / "1.jsonl") == ["a/1.jsonl"]


def test_what_is_named_is_marked_wherever_it_stands_among_the_paths(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    _write(tree / "1.jsonl")
    named = [_write(tree / "2.jsonl"), _write(tree / ".hidden")]
    (tmp_path / "link").symlink_to(named[0])
    for order in ([tree, *named], [*named, tree], [tree, tmp_path / "link", named[1]]):
        discovery = discover(order)
        marks = {found.path.resolve(): found.named for found in discovery.files}
        assert marks == {tree / "1.jsonl": False, named[0]: True, named[1]: True}
    assert discover([tree, *named]).hidden == []


def test_links_to_folders_and_files_elsewhere_are_followed(tmp_path: Path) -> None:
    _write(tmp_path / "elsewhere" / "1.jsonl")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert _paths(tmp_path, tmp_path / "tree") == ["tree/link/1.jsonl"]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert discover([tmp_path]).files == []
    with pytest.raises(NotFoundError, match="neither a file nor a folder"):
        discover([tmp_path / "pipe"])


def test_a_dead_link_is_told_and_the_rest_is_found(tmp_path: Path) -> None:
    _write(tmp_path / "1.jsonl")
    (tmp_path / "dead").symlink_to(tmp_path / "gone")
    discovery = discover([tmp_path])
    assert [found.path.name for found in discovery.files] == ["1.jsonl"]
    assert discovery.unreadable == [
        Unreadable(tmp_path / "dead", "no such file or directory", named=False)
    ]


def test_a_path_that_does_not_exist_ends_it_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        discover([tmp_path, tmp_path / "gone"])
    assert caught.value.message == f"{tmp_path / 'gone'}: does not exist."
