"""An import whose files a process reads: it comes to what one in a thread comes to."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import claude_tree
from toolfold.store import sqlite
from toolfold.store.tables import metadata, project_table

IMPORT = """
import sys
from toolfold.cli import importing, main
from toolfold.ingest.reading_process import ReadingProcess
importing.MIN_BYTES = int(sys.argv.pop(1))
main()
"""
CUT_OFF = """
import sys
from pathlib import Path
from toolfold.importers import detect
from toolfold.ingest.reading_process import ReadingProcess
path = Path(sys.argv[1])
importer = detect(path).importer
process = ReadingProcess()
numbers = [process.begin(importer, path, imported_line=0) for _ in range(2)]
print(*map(process.has_next, numbers))
steps = process.steps(importer)
first = next(steps)
print(*map(process.has_next, numbers), first.is_last, first.place.line > 0)
process._process.kill()
*_, last = steps
print(*map(process.has_next, numbers), last.is_last, last.failure.reason, last.batch.sessions)
print(process.begin(importer, path, imported_line=0))
process.close()
"""
READ_ON = """
import sys
from functools import partial
from pathlib import Path
from toolfold.importers import detect
from toolfold.ingest.reading_process import ReadingProcess
process = ReadingProcess()
paths = [*map(Path, sys.argv[1:]), Path("absent.jsonl")]
importer = detect(paths[0]).importer
begin = partial(process.begin, importer, imported_line=0)
numbers = [begin(paths[0])]
for path in paths:
    print(*map(process.has_next, numbers))
    steps = process.steps(importer)
    first = next(steps)
    if number := len(numbers) < len(paths) and begin(paths[len(numbers)]):
        numbers.append(number)
    *_, last = first, *steps
    print(last.place.size, last.failure and last.failure.reason)
process.close()
"""

pytestmark = pytest.mark.linux


@pytest.fixture
def tree(tmp_path: Path) -> claude_tree.Tree:
    return claude_tree.write(tmp_path / "projects", sessions=3, total_bytes=12_000_000)


@pytest.fixture
def tree_with_copies(tree: claude_tree.Tree) -> claude_tree.Tree:
    """A tree with all of a folder's files a second time in another folder, right behind it."""
    first = min(path for path in tree.root.iterdir())
    shutil.copytree(first, first.with_name(f"{first.name}-copied"))
    return tree


def run(code: str, *arguments: object) -> str:
    """Run code in a Python of its own, which has no thread, and return what it printed."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


def rows(data_dir: Path) -> dict[str, list[Any]]:
    """Return every row of every table but the project's, without what no two imports share."""
    own = {"imported_at", "incarnation"}
    found: dict[str, list[Any]] = {}
    with contextlib.closing(sqlite3.connect(data_dir / sqlite.FILE_NAME)) as connection:
        for table in metadata.sorted_tables:
            if table is project_table:
                continue
            names = [column.name for column in table.columns if column.name not in own]
            columns = ", ".join(f'"{name}"' for name in names)
            statement = f'SELECT {columns} FROM "{table.name}"'  # noqa: S608 (our own names)
            found[table.name] = sorted(connection.execute(statement).fetchall(), key=repr)
    return found


def test_it_comes_to_what_a_thread_comes_to(
    tree_with_copies: claude_tree.Tree, tmp_path: Path
) -> None:
    tree = tree_with_copies
    told = {}
    for name, least in (("process", 0), ("thread", 10**12)):
        data_dir = tmp_path / name
        told[name] = run(IMPORT, least, "import", tree.root, "--data-dir", data_dir)
    assert rows(tmp_path / "process") == rows(tmp_path / "thread")
    assert len(rows(tmp_path / "process")["message"]) == tree.message_count
    assert told["process"].replace("/process", "/thread") == told["thread"]
    # What is ahead of the writing knows the copies of what is not written yet.
    copies = [line for line in told["thread"].splitlines() if "-copied/" in line]
    transcripts = [line for line in copies if "belongs to a session" not in line]
    assert transcripts
    assert [line for line in transcripts if not line.endswith(": unchanged")] == []


def test_a_process_that_ends_is_the_failure_of_its_file(tree: claude_tree.Tree) -> None:
    largest = max(tree.transcripts, key=lambda path: path.stat().st_size)
    assert run(CUT_OFF, largest).splitlines() == [
        "True False",
        "False False False True",
        "False False True the process that read it has ended {}",
        "None",
    ]


def test_one_process_reads_one_file_after_the_other_and_begins_what_is_told_meanwhile(
    tree: claude_tree.Tree,
) -> None:
    printed = run(READ_ON, *tree.transcripts).splitlines()
    # Each is begun while the one before is under way.
    count = len(tree.transcripts) + 1
    assert printed[::2] == ["False " * before + "True" for before in range(count)]
    assert printed[1:-1:2] == [f"{path.stat().st_size} None" for path in tree.transcripts]
    assert printed[-1] == "0 cannot be read: No such file or directory"
