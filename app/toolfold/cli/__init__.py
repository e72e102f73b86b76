"""The commands. Each reads its arguments, runs what is below it, and tells the result."""

import click

from toolfold.cli.exporting import export_session
from toolfold.cli.importing import import_paths
from toolfold.cli.listing import list_sessions
from toolfold.cli.maintaining import doctor, migrate_database
from toolfold.cli.program import Program
from toolfold.cli.querying import query, schema
from toolfold.cli.sampling import store_sample
from toolfold.cli.serving import serve
from toolfold.cli.showing import show

main = Program(
    "toolfold",
    help=(
        "The chat history of your coding agents, read through GraphQL.\n\n"
        "Start with `toolfold import ~/.claude/projects`, then `toolfold list`, or"
        " `toolfold serve`. Every command has --help."
    ),
    commands=[
        serve,
        import_paths,
        list_sessions,
        show,
        export_session,
        query,
        schema,
        migrate_database,
        doctor,
        store_sample,
    ],
    no_args_is_help=True,
)
"""The console script `toolfold`, and every command of it."""

click.version_option(package_name="toolfold", prog_name="toolfold")(main)
