"""An import whose files a process reads: it comes to what one in a thread comes to."""

import contextlib
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
process = ReadingProcess()
steps = process.steps(detect(path).importer, path, imported_line=0)
first = next(steps)
print(process.is_free, first.is_last, first.place.line > 0)
process._process.kill()
*_, last = steps
print(process.is_free, last.is_last, last.failure.reason, last.batch.sessions)
process.close()
"""
READ_ON = """
import sys
from pathlib import Path
from toolfold.importers import detect
from toolfold.ingest.reading_process import ReadingProcess
process = ReadingProcess()
for path in map(Path, sys.argv[1:]):
    *_, last = process.steps(detect(path).importer, path, imported_line=0)
    print(process.is_free, last.failure)
absent = Path("absent.jsonl")
*_, last = process.steps(detect(path).importer, absent, imported_line=0)
print(process.is_free, last.failure.reason)
process.close()
"""

pytestmark = pytest.mark.linux


@pytest.fixture
def tree(tmp_path: Path) -> claude_tree.Tree:
    return claude_tree.write(tmp_path / "projects", sessions=3, total_bytes=12_000_000)


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


def test_it_comes_to_what_a_thread_comes_to(tree: claude_tree.Tree, tmp_path: Path) -> None:
    told = {}
    for name, least in (("process", 0), ("thread", 10**12)):
        data_dir = tmp_path / name
        told[name] = run(IMPORT, least, "import", tree.root, "--data-dir", data_dir)
    assert rows(tmp_path / "process") == rows(tmp_path / "thread")
    assert len(rows(tmp_path / "process")["message"]) == tree.message_count
    assert told["process"].replace("/process", "/thread") == told["thread"]


def test_a_process_that_ends_is_the_failure_of_its_file(tree: claude_tree.Tree) -> None:
    largest = max(tree.transcripts, key=lambda path: path.stat().st_size)
    assert run(CUT_OFF, largest).splitlines() == [
        "False False True",
        "False True the process that read it has ended {}",
    ]


def test_one_process_reads_one_file_after_the_other(tree: claude_tree.Tree) -> None:
    printed = run(READ_ON, *tree.transcripts).splitlines()
    assert printed[:-1] == ["True None"] * len(tree.transcripts)
    assert printed[-1] == "True cannot be read: No such file or directory"
