"""`python -m tests.bench`: measure, and print one page."""

import compileall
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

import toolfold
from tests.bench import (
    clients,
    contents,
    curves,
    depth,
    executor,
    importing,
    machine,
    on_postgresql,
    pages,
    plot,
    profile,
    reads,
    report,
    sessions,
    streaming,
    viewer,
)
from tests.bench.figures import Figure
from tests.bench.options import Options

GROUPS: Mapping[str, Callable[[Options], Iterator[Figure]]] = {
    group.NAME: group.measure
    for group in (
        pages,
        executor,
        profile,
        on_postgresql,
        clients,
        reads,
        depth,
        sessions,
        contents,
        streaming,
        importing,
        curves,
        viewer,
    )
}


@click.command()
@click.option("--quick", is_flag=True, help="Less of everything, in a minute or two.")
@click.option("--check", is_flag=True, help="Compare the answers; the times mean nothing then.")
@click.option(
    "--only", multiple=True, type=click.Choice(list(GROUPS)), help="One group; may be repeated."
)
@click.option("--import-mb", type=click.IntRange(1), metavar="N", help="MB to import; 2,400.")
@click.option(
    "--sessions",
    "session_count",
    type=click.IntRange(1),
    metavar="N",
    help="Sessions in them; 700.",
)
@click.option("--big", is_flag=True, help="Also import one session of 1 GB.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the page there too, and its plot."
)
def main(  # noqa: PLR0913 - its options are independent.
    *,
    quick: bool,
    check: bool,
    only: tuple[str, ...],
    import_mb: int | None,
    session_count: int | None,
    big: bool,
    output: Path | None,
) -> None:
    """Measure Toolfold, side by side in one run, and print a page."""
    facts = list(machine.facts())
    # As an installation does; where nothing may be written, each command would compile what it is.
    compileall.compile_dir(Path(toolfold.__file__).parent, quiet=1)
    is_short = quick or check
    with tempfile.TemporaryDirectory(prefix="toolfold-bench-") as place:
        options = Options(
            place=Path(place),
            quick=is_short,
            check=check,
            import_mb=import_mb or (20 if check else 100 if quick else 2_400),
            sessions=session_count or (8 if check else 40 if quick else 700),
            big=big,
        )
        found = {name: list(_measured(name, options)) for name in only or GROUPS}
    text = report.document(found, facts, options.rounds)
    click.echo(text)
    if output is not None:
        output.write_text(text, encoding="utf-8")
        if curves.NAME in found:
            drawing = plot.svg(list(curves.CURVES.values()))
            output.with_suffix(".svg").write_text(drawing, encoding="utf-8")


def _measured(name: str, options: Options) -> Iterator[Figure]:
    click.echo(f"Measuring {name} ...", err=True)
    for figure in GROUPS[name](options):
        click.echo(f"  {figure.name}: {figure.measured} ({figure.beside})", err=True)
        yield figure


if __name__ == "__main__":
    main()
