"""`python -m tests.bench`: measure, and print one table."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from tests.bench import contents, depth, importing, machine, pages, reads, streaming
from tests.bench.figures import Figure, table
from tests.bench.options import Options

GROUPS: Mapping[str, Callable[[Options], Iterator[Figure]]] = {
    group.NAME: group.measure for group in (pages, reads, depth, contents, streaming, importing)
}
HOW = (
    "Times are medians; what stands beside a time was measured in turn with it, over HTTP by one"
    " client,\neach server in a process of its own. Pages and statements are counted in process."
)


@click.command()
@click.option("--quick", is_flag=True, help="Less of everything, in under a minute.")
@click.option(
    "--only", multiple=True, type=click.Choice(list(GROUPS)), help="One group; may be repeated."
)
@click.option("--import-mb", type=click.IntRange(1), metavar="N", help="MB to import; 100.")
@click.option("--sessions", type=click.IntRange(1), metavar="N", help="Sessions in them; 40.")
@click.option("--big", is_flag=True, help="Also import one session of 1 GB.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the table there too.")
def main(
    *,
    quick: bool,
    only: tuple[str, ...],
    import_mb: int | None,
    sessions: int | None,
    big: bool,
    output: Path | None,
) -> None:
    """Measure Toolfold, side by side in one run, and print a table."""
    head = [*machine.facts(), HOW]
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as place:
        options = Options(
            place=Path(place),
            quick=quick,
            import_mb=import_mb or (20 if quick else 100),
            sessions=sessions or (8 if quick else 40),
            big=big,
        )
        figures = list(_measured(only or tuple(GROUPS), options))
    text = "\n".join([*head, f"Rounds: {options.rounds}.", "", table(figures)])
    click.echo(text)
    if output is not None:
        output.write_text(text + "\n", encoding="utf-8")


def _measured(names: tuple[str, ...], options: Options) -> Iterator[Figure]:
    for name in names:
        click.echo(f"Measuring {name} ...", err=True)
        for figure in GROUPS[name](options):
            click.echo(f"  {figure.name}: {figure.measured} ({figure.beside})", err=True)
            yield figure


if __name__ == "__main__":
    main()
