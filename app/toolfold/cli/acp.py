"""`toolfold acp`: between an editor and an agent; and `--record`, for what it has left over."""

import asyncio
import sys
from pathlib import Path

import click

from toolfold.cli import acp_notice
from toolfold.cli.acp_recording import Recorded, record_ended
from toolfold.cli.options import command_with, with_settings
from toolfold.cli.program import MAX_ERROR_CHARACTERS
from toolfold.cli.terminal import count, one_line, say, warn
from toolfold.errors import AppError, BadUserInputError
from toolfold.proxy import command_line, places
from toolfold.proxy.command_line import DEFAULT_PROJECT, Invocation
from toolfold.settings import Settings


@click.command()
@click.argument("agent", metavar="-- AGENT ARG...", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--project",
    "project_name",
    metavar="NAME",
    default=DEFAULT_PROJECT,
    show_default=True,
    help="The project that the sessions go to; it is made if there is none.",
)
@click.option(
    "--record",
    is_flag=True,
    help="Run no agent: record now what is left over from earlier ones.",
)
@with_settings
def acp(settings: Settings, agent: tuple[str, ...], project_name: str, *, record: bool) -> None:
    """Run an ACP agent for an editor, and record its sessions.

    Everything passes through unchanged, and at once. What is recorded can be seen while the agent
    works; if it cannot be written now, it is kept beside the database and written later.

    In the editor's settings, put `toolfold acp --` before the agent's command.
    """
    if record:
        if agent:
            raise click.UsageError("--record runs no agent.")
        _record_left_over(settings)
        return
    if not agent:
        raise click.UsageError("There is no AGENT to run.")
    if not project_name.strip():
        raise BadUserInputError("A project's name cannot be blank.", argument="project")
    place = str(settings.data_dir), settings.database_url or None
    command_line.run(Invocation(agent, project_name, *place))


def _record_left_over(settings: Settings) -> None:
    """Record what can be recorded, and tell of each spool what became of it."""
    paths = list(places.waiting(settings))
    results = [_recorded(settings, path) for path in paths]
    if not paths:
        say("There is nothing left over to record.")
    elif any(result for result in results):
        say(f"To see the sessions: {command_with(settings, 'list')}")
    if False in results:
        sys.exit(1)


def _recorded(settings: Settings, path: Path) -> bool | None:
    """Record a spool; say whether that went well, None if another process is well at it."""
    try:
        recorded = asyncio.run(record_ended(settings, path))
    except (AppError, OSError, ValueError) as error:
        reason = error.message if isinstance(error, AppError) else str(error)
        warn(f"Error: {path}: {one_line(reason, MAX_ERROR_CHARACTERS)}")
        return False
    notice = acp_notice.read(path) if recorded is None else None
    if notice is not None:
        reason = one_line(notice.reason, MAX_ERROR_CHARACTERS).rstrip(".")
        again = f"{notice.again_at.astimezone():%H:%M:%S}"
        warn(f"Error: {path}: {reason}. The process that records it tries again at {again}.")
        return False
    if recorded is None:
        say(f"{path.name}: in use, and recorded by the process that runs its agent.")
        return None
    say(f"{path.name}: {_told(recorded)}")
    return True


def _told(recorded: Recorded) -> str:
    agent = one_line(recorded.agent)
    deleted = count(len(recorded.deleted), "session")
    if not recorded.sessions and not recorded.deleted:
        return f"{agent} said nothing of ACP; there is nothing to record."
    if not recorded.sessions:
        return f"{deleted} of {agent} deleted meanwhile; there is nothing else to record."
    sessions = count(len(recorded.sessions), "session")
    left_out = f" {deleted} deleted meanwhile, and not recorded." if recorded.deleted else ""
    return f"{sessions} of {agent} recorded, {count(recorded.added, 'message')} added.{left_out}"
