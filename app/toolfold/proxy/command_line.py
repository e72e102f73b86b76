"""`toolfold acp [OPTION VALUE]… -- AGENT ARG…`, read and run without what other commands load.

An agent is started by an editor again and again: what stands before it must be quick. Whatever
else a command line of this command may be is the affair of the command itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from toolfold.proxy import agent, recorder
from toolfold.proxy.frames import Run
from toolfold.proxy.tape import Opened, Tape

if TYPE_CHECKING:
    from toolfold.settings import Settings

DEFAULT_PROJECT = "default"
_OPTIONS = ("--project", "--data-dir", "--database-url")


@dataclass(frozen=True, slots=True)
class Invocation:
    """An agent's command, and where to record what it says; None leaves it to the environment."""

    command: tuple[str, ...]
    project: str = DEFAULT_PROJECT
    data_dir: str | None = None
    database_url: str | None = None


def read(arguments: Sequence[str]) -> Invocation | None:
    """Return what a plain command line asks for; None if it is not one, or not clearly so."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0] != "--":
        name, equals, value = rest.pop(0).partition("=")
        if name not in _OPTIONS or (not equals and not rest):
            return None
        value = value if equals else rest.pop(0)
        if not value.strip() or not value.isprintable():
            return None
        given[name.removeprefix("--").replace("-", "_")] = value
    if len(rest) < 2:  # noqa: PLR2004 (the dashes and the agent)
        return None
    return Invocation(tuple(rest[1:]), **given)


def run(asked: Invocation) -> NoReturn:
    """Run the agent, record what goes through, and end as the agent does."""
    agent.run(asked.command, _tape(asked))


def _tape(asked: Invocation) -> Tape:
    chosen: list[Settings] = []

    def open_spool() -> Opened:
        """Find out where the spool is to be, and make it: the agent is running by now."""
        from toolfold.proxy import spool  # noqa: PLC0415 (what takes time to load)
        from toolfold.settings import Settings  # noqa: PLC0415 (what takes time to load)

        environment = Settings.from_environment()
        chosen.append(environment.choosing(asked.data_dir, asked.database_url))
        name = asked.command[0].rpartition("/")[2]
        return spool.create(chosen[0], Run(asked.project.strip(), name))

    def begun(path: Path) -> None:
        recorder.keep_running(chosen[0], path)

    return Tape(open_spool, begun)
