"""`python -m tests.execution.fuzz`: compare the executors on many random documents."""

import asyncio
import random

import click

from tests.execution.comparing import Compared, compare
from toolfold.execution.executor import CompilingExecutor

_AT_ONCE = 500


@click.command()
@click.option("--documents", type=click.IntRange(1), default=20_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), help="Random if not given, and told.")
def main(*, documents: int, seed: int | None) -> None:
    """Compare generated code with graphql-core; ends with code 1 at a difference."""
    first = random.randrange(10**6) if seed is None else seed  # noqa: S311 - not for secrets.
    total = Compared()
    for number, start in enumerate(range(0, documents, _AT_ONCE)):
        count = min(_AT_ONCE, documents - start)
        found = asyncio.run(compare(CompilingExecutor, documents=count, seed=first + number))
        total.documents += found.documents
        total.with_errors += found.with_errors
        click.echo(
            f"seed {first + number}: {total.documents:,} documents,"
            f" {total.with_errors:,} answers with errors,"
            f" {len(found.differences)} differences"
        )
        if found.differences:
            click.echo("\n\n".join(found.differences))
            raise SystemExit(1)


if __name__ == "__main__":
    main()
