"""Every command of `toolfold`, in the order in which a newcomer meets them."""

import click

from toolfold.cli.program import Deferred, Program

program = Program(
    "toolfold",
    help=(
        "The chat history of your coding agents, read through GraphQL.\n\n"
        "Start with `toolfold import ~/.claude/projects`, then `toolfold list`, or"
        " `toolfold serve`. Every command has --help."
    ),
    deferred={
        "serve": Deferred("serving", "serve", "Serve GraphQL on this machine, until Ctrl-C."),
        "import": Deferred(
            "importing",
            "import_paths",
            "Import transcripts: files, and folders with all below them.",
        ),
        "acp": Deferred("acp", "acp", "Run an ACP agent for an editor, and record its sessions."),
        "mcp": Deferred(
            "mcp", "mcp", "Let another agent read sessions, as an MCP server on stdio."
        ),
        "list": Deferred(
            "listing", "list_sessions", "List sessions, those that changed last first."
        ),
        "show": Deferred(
            "showing", "show", "Show one session in outline, and what a page of it costs."
        ),
        "export": Deferred("exporting", "export_session", "Write one session as JSON lines."),
        "query": Deferred(
            "querying", "query", "Run a GraphQL document and print the response as JSON."
        ),
        "schema": Deferred("querying", "schema", "Print the GraphQL schema (SDL)."),
        "migrate": Deferred(
            "maintaining",
            "migrate_database",
            "Upgrade the database to this version, or make it.",
        ),
        "doctor": Deferred(
            "maintaining", "doctor", "Check that the database is whole; change nothing."
        ),
        "sample": Deferred("sampling", "store_sample", "Store a sample session to try things on."),
    },
    no_args_is_help=True,
)
"""The console script `toolfold`."""

click.version_option(package_name="toolfold", prog_name="toolfold")(program)
