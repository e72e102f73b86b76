"""What an importer is, and what it is given."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolfold.importers.jsonl import Line
from toolfold.transcript import Entry, Json


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file to import: its path, to find what lies beside it, and its lines, read once."""

    path: Path
    lines: Iterable[Line]


def _none(_path: Path) -> tuple[Path, ...]:
    return ()


def _not_owned(_path: Path, _sample: Sequence[Json]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Importer:
    """One transcript format.

    `accepts` says whether the first JSON values of a file are of this format. `parse` yields
    the values of a transcript lazily, in file order. `companions` names the files beside a
    transcript that are read with it, whose change makes an import worth repeating. `owns` says
    whether a file is such a companion, asked first without its first values, then with them.
    """

    name: str
    accepts: Callable[[Sequence[Json]], bool]
    parse: Callable[[Transcript], Iterator[Entry]]
    companions: Callable[[Path], tuple[Path, ...]] = _none
    owns: Callable[[Path, Sequence[Json]], bool] = _not_owned
