"""`python -m tests.reliability`: keep the promises at full size, and print a table."""

import asyncio
import contextlib
import dataclasses
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

from tests import postgresql
from tests.bench import machine
from tests.bench.figures import table
from tests.conftest import DIALECTS
from tests.reliability import contention, full_disk, killing, slow_reader, subscribers, vanishing
from tests.reliability.outcome import Outcome
from toolfold.settings import Settings
from toolfold.store import engine

PROMISES: dict[str, ModuleType] = {
    module.NAME: module
    for module in (killing, contention, subscribers, slow_reader, vanishing, full_disk)
}


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(list(PROMISES)))
@click.option("--short", is_flag=True, help="The small numbers of the suite.")
@click.option(
    "--database", type=click.Choice(DIALECTS), help="One database only; a run each on both."
)
def main(*, names: tuple[str, ...], short: bool, database: str | None) -> None:
    """Keep what the server promises, over real processes, and print a table.

    The exit code is 1 if a promise is broken.
    """
    click.echo("\n".join(machine.facts("tests.reliability")))
    broken = False
    for name in names or tuple(PROMISES):
        promise = PROMISES[name]
        for dialect in (database,) if database else getattr(promise, "DIALECTS", DIALECTS):
            outcome, seconds = _run(promise, dialect, promise.SHORT if short else promise.LONG)
            load = ", ".join(f"{number:.2f}" for number in os.getloadavg())
            click.echo(f"\n{name}, {dialect} ({seconds:.0f} s; load after: {load}):\n")
            click.echo(table(outcome.figures))
            for fault in outcome.faults:
                click.echo(f"BROKEN: {fault}")
            broken = broken or bool(outcome.faults)
    sys.exit(broken)


def _run(promise: ModuleType, dialect: str, scale: object) -> tuple[Outcome, float]:
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="toolfold-soak-") as folder:
        place = Path(folder)
        with _database(dialect, place) as settings:
            outcome: Outcome = promise.run(settings, place, scale)
    return outcome, time.perf_counter() - begun


@contextlib.contextmanager
def _database(dialect: str, place: Path) -> Iterator[Settings]:
    settings = Settings(data_dir=place / "data")
    settings.data_dir.mkdir(mode=0o700)
    if dialect == "sqlite":
        asyncio.run(engine.migrate(settings))
        yield settings
        return
    with postgresql.new_database() as url:
        settings = dataclasses.replace(settings, database_url=url)
        asyncio.run(engine.migrate(settings))
        yield settings


if __name__ == "__main__":
    main()
