"""What is written to a spool comes back as the lines that went through, whatever happened."""

import os
import resource
from pathlib import Path

import pytest

from toolfold.proxy import lines, spool, tape
from toolfold.proxy.frames import FROM_AGENT, LOST, TO_AGENT, Run, frame
from toolfold.proxy.lines import SpooledLine, SpoolReader
from toolfold.proxy.tape import Tape
from toolfold.settings import Settings

RUN = Run("default", "agent")
Told = tuple[bytes, bytes, str | None]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, int]:
    """Return a new spool and its descriptor, which is closed with the test's process."""
    return spool.create(Settings(data_dir=tmp_path), RUN)


def told(line: SpooledLine) -> Told:
    return line.direction, line.raw, line.damage


def read(path: Path) -> list[Told]:
    """Return all lines of a spool, those that were never ended too."""
    with SpoolReader(path) as reader:
        found = [*reader.lines(), *reader.rest()]
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    return [told(line) for line in found]


def test_lines_are_put_together_from_pieces_of_both_ways(made: tuple[Path, int]) -> None:
    path, descriptor = made
    for direction, piece in [
        (TO_AGENT, b"a\xc3"),
        (FROM_AGENT, b"one\ntw"),
        (TO_AGENT, b"\xa9b\n\nc"),
        (FROM_AGENT, b"o"),
        (FROM_AGENT, b"\n"),
    ]:
        os.write(descriptor, frame(direction, piece))
    assert read(path) == [
        (FROM_AGENT, b"one", None),
        (TO_AGENT, "aéb".encode(), None),
        (TO_AGENT, b"", None),
        (FROM_AGENT, b"two", None),
        (TO_AGENT, b"c", None),
    ]


def test_a_spool_is_read_on_where_it_grows_and_again_from_its_beginning(
    made: tuple[Path, int],
) -> None:
    path, descriptor = made
    whole = frame(TO_AGENT, b"one\n") + frame(TO_AGENT, b"two\n")
    with SpoolReader(path) as reader:
        seen: list[bytes] = []
        for byte in whole:
            os.write(descriptor, bytes([byte]))
            seen += [line.raw for line in reader.lines()]
        assert (seen, reader.line, reader.size) == ([b"one", b"two"], 2, path.stat().st_size)
        reader.rewind()
        assert [line.number for line in reader.lines()] == [1, 2]


def test_a_line_that_is_too_long_is_told_by_its_beginning(
    made: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 10)
    monkeypatch.setattr(lines, "KEPT_BYTES", 4)
    path, descriptor = made
    for piece in (b"0123", b"4567", b"89ab", b"cdef\nnext\n"):
        os.write(descriptor, frame(TO_AGENT, piece))
    damage = "a line of 16 bytes, of which the first 4 are kept"
    assert read(path) == [(TO_AGENT, b"0123", damage), (TO_AGENT, b"next", None)]


def test_what_could_not_be_kept_is_told_in_its_place(made: tuple[Path, int]) -> None:
    path, descriptor = made
    os.write(descriptor, frame(TO_AGENT, b"half of ") + frame(LOST, b"1234"))
    os.write(descriptor, frame(TO_AGENT, b"a line\n"))
    assert read(path) == [
        (TO_AGENT, b"half of ", None),
        (LOST, b"", "1,234 bytes could not be kept here"),
        (TO_AGENT, b"a line", None),
    ]


def test_a_tape_writes_what_is_put_before_it_is_passed_on(made: tuple[Path, int]) -> None:
    path, _ = made
    begun: list[Path] = []
    written = Tape(lambda: made, begun.append)
    written.start()
    for number in range(1_000):
        written.put(TO_AGENT, b"%d\n" % number)
    assert written.end() is None
    assert read(path) == [(TO_AGENT, b"%d" % number, None) for number in range(1_000)]
    assert begun == [path]


def test_a_tape_on_which_nothing_was_put_leaves_no_spool(made: tuple[Path, int]) -> None:
    empty = Tape(lambda: made, lambda _path: pytest.fail("There is nothing to record."))
    empty.start()
    assert empty.end() is None
    assert not made[0].exists()


def test_a_disk_that_takes_nothing_for_a_while_costs_only_what_is_too_much(
    made: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape, "MAX_WAITING_BYTES", 500)
    monkeypatch.setattr(tape, "STUCK_SECONDS", 0.01)
    path, _ = made
    written = Tape(lambda: made, lambda _path: None)
    written.start()
    written.put(TO_AGENT, b"first\n")
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, allowed[1]))
    try:
        for number in range(100):
            written.put(TO_AGENT, b"line %03d\n" % number)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    kept: list[Told] = []
    while not kept or kept[-1] != (TO_AGENT, b"last", None):
        written.put(TO_AGENT, b"last\n")
        kept = read(path)
    failure = written.end()
    assert failure is not None
    assert failure.endswith("bytes were too much for the disk")
    [place] = [place for place, line in enumerate(kept) if line[0] == LOST]
    before = [(TO_AGENT, b"line %03d" % number, None) for number in range(place - 1)]
    assert kept[:place] == [(TO_AGENT, b"first", None), *before]
    lost = (100 - len(before)) * len(b"line 000\n")
    damage = kept[place][2]
    assert damage is not None
    assert int(damage.split()[0].replace(",", "")) >= lost
    assert set(kept[place + 1 :]) == {(TO_AGENT, b"last", None)}


def test_of_what_comes_at_once_a_disk_takes_what_it_has_room_for(made: tuple[Path, int]) -> None:
    path, _ = made
    begun: list[Path] = []
    written = Tape(lambda: made, begun.append)
    for number in range(9):
        written.put(TO_AGENT, b"line %d\n" % number)
    room = 3 * len(frame(TO_AGENT, b"line 0\n"))
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room + 1, allowed[1]))
    try:
        written.start()
        failure = written.end()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert failure == "File too large"
    assert read(path) == [(TO_AGENT, b"line %d" % number, None) for number in range(3)]
    assert begun == [path]


def test_a_spool_that_cannot_be_made_is_told_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(data_dir=tmp_path / "file")
    written = Tape(lambda: spool.create(settings, RUN), lambda _path: None)
    written.start()
    written.put(TO_AGENT, b"lost\n")
    failure = written.end()
    assert failure is not None
    assert str(tmp_path / "file") in failure
