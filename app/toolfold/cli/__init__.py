"""The commands. Each reads its arguments, runs what is below it, and tells the result."""

import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""


def main() -> None:
    """Run the console script `toolfold`; Ctrl-C while it is still being loaded ends it too."""
    try:
        if sys.argv[1:2] == ["acp"]:
            _pass_on()
        from toolfold.cli.commands import program  # noqa: PLC0415 (loading it can be interrupted)

        program()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(INTERRUPTED)


def _pass_on() -> None:
    """Run the agent of a plain `toolfold acp -- AGENT`, before anything else is loaded."""
    from toolfold.proxy import command_line  # noqa: PLC0415 (only here, and quick)

    asked = command_line.read(sys.argv[2:])
    if asked is not None:
        command_line.run(asked)
