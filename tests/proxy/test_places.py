from pathlib import Path

import pytest

from toolfold.proxy import places
from toolfold.settings import Settings

DATA = Path("/data")


def folder(url: str) -> Path:
    return places.folder(Settings(data_dir=DATA, database_url=url))


def test_the_spools_of_the_file_are_beside_it() -> None:
    assert folder("") == DATA / "acp-spool"


@pytest.mark.parametrize(
    "same",
    [
        "postgresql://me@host:5432/one?a=1",
        "postgresql://me:other@host:5432/one?a=1",
        "postgresql://me@host:5432/one?password=secret&a=1",
    ],
)
def test_each_server_s_database_has_a_folder_whatever_the_password(same: str) -> None:
    found = folder("postgresql://me:secret@host:5432/one?a=1")
    assert found.parent == DATA / "acp-spool"
    assert folder(same) == found


@pytest.mark.parametrize(
    "other",
    [
        "postgresql://me@host:5432/two?a=1",
        "postgresql://me@host:5433/one?a=1",
        "postgresql://you@host:5432/one?a=1",
        "postgresql://me@host:5432/one?a=2",
    ],
)
def test_another_database_has_another_folder(other: str) -> None:
    assert folder(other) != folder("postgresql://me@host:5432/one?a=1")


def test_spools_are_in_the_order_of_their_names_and_none_where_there_is_no_folder(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path)
    assert places.waiting(settings) == []
    places.folder(settings).mkdir()
    for name in ("2.acp", "1.acp", "3.txt", "b84c"):
        (places.folder(settings) / name).touch()
    assert [path.name for path in places.waiting(settings)] == ["1.acp", "2.acp"]
