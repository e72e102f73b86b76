"""Every promise with small numbers; its times are told by `python -m tests.reliability` alone."""

from pathlib import Path

import pytest

from tests.reliability import (
    contention,
    full_disk,
    killing,
    slow_reader,
    subscribers,
    vanishing,
)
from toolfold.settings import Settings

pytestmark = pytest.mark.linux


def test_a_server_that_is_killed_under_load_loses_nothing(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert killing.run(database_settings, tmp_path, killing.SHORT).faults == []


def test_many_who_write_and_read_at_once_meet_no_error(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert contention.run(database_settings, tmp_path, contention.SHORT).faults == []


def test_every_subscriber_is_told_everything_in_order(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert subscribers.run(database_settings, tmp_path, subscribers.SHORT).faults == []


@pytest.mark.parametrize("dialect", ["sqlite"])
def test_whoever_stops_reading_costs_the_server_no_memory(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert slow_reader.run(database_settings, tmp_path, slow_reader.SHORT).faults == []


def test_clients_that_vanish_leave_no_connection_in_use(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert vanishing.run(database_settings, tmp_path, vanishing.SHORT).faults == []


@pytest.mark.parametrize("dialect", ["sqlite"])
@pytest.mark.small_disk
def test_a_full_disk_costs_nothing_that_was_acknowledged(
    database_settings: Settings, tmp_path: Path
) -> None:
    assert full_disk.run(database_settings, tmp_path, full_disk.SHORT).faults == []
