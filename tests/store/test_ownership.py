import multiprocessing
import os
import stat
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from toolfold.errors import DatabaseError
from toolfold.store.ownership import Owner, owner_of, owning


def _own(path: Path, owned: Event) -> None:
    with owning(path) as ownership:
        ownership.announce("127.0.0.1", 4711)
        owned.set()
        multiprocessing.Event().wait()


def test_an_owner_is_found_where_it_says_that_it_listens(tmp_path: Path) -> None:
    path = tmp_path / "new" / "toolfold.db"
    assert owner_of(path) is None
    with owning(path) as ownership:
        ownership.announce("127.0.0.1", 4711)
        owner = owner_of(path)
        modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert owner == Owner("127.0.0.1", 4711, os.getpid())
    assert owner.url == "http://127.0.0.1:4711"
    assert modes == {0o600}
    assert owner_of(path) is None


def test_a_file_has_one_owner(tmp_path: Path) -> None:
    path = tmp_path / "toolfold.db"
    with owning(path) as ownership:
        with pytest.raises(DatabaseError) as refused, owning(path):
            pass
        assert refused.value.message == f"Another server owns {path}: stop it first."
        ownership.announce("127.0.0.1", 4711)
        with pytest.raises(DatabaseError) as refused, owning(path):
            pass
        assert refused.value.message == (
            f"A server owns {path} already: process {os.getpid()}, at http://127.0.0.1:4711."
        )
        assert owner_of(path) is not None
    with owning(path):
        pass


def test_an_owner_that_says_no_address_yet_is_not_taken_for_none(tmp_path: Path) -> None:
    path = tmp_path / "toolfold.db"
    with owning(path), pytest.raises(DatabaseError) as refused:
        owner_of(path)
    assert "is starting or stopping" in refused.value.message


def test_an_owner_that_was_killed_owns_nothing(tmp_path: Path) -> None:
    path = tmp_path / "toolfold.db"
    context = multiprocessing.get_context("spawn")
    owned = context.Event()
    process = context.Process(target=_own, args=(path, owned))
    process.start()
    assert owned.wait(60)
    assert owner_of(path) == Owner("127.0.0.1", 4711, process.pid or 0)
    process.kill()
    process.join()
    assert (tmp_path / "toolfold.db.server").read_bytes().strip()
    assert owner_of(path) is None
    with owning(path):
        assert not (tmp_path / "toolfold.db.server").read_bytes().strip()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseError) as refused, owning(tmp_path / "file" / "toolfold.db"):
        pass
    assert refused.value.message.startswith("Cannot lock the database ")


def test_an_address_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "toolfold.db"
    with owning(path) as ownership:
        (tmp_path / "toolfold.db.server").mkdir()
        with pytest.raises(DatabaseError) as refused:
            ownership.announce("127.0.0.1", 4711)
    assert refused.value.message == (
        f"Cannot write where the server is to {path}.server: Is a directory."
    )
