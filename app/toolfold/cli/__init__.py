"""The commands. Each reads its arguments, runs what is below it, and tells the result."""

import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the signal's number."""


def main() -> None:
    """Run the console script `toolfold`; Ctrl-C while it is still being loaded ends it too."""
    try:
        from toolfold.cli.commands import program  # noqa: PLC0415 (loading it can be interrupted)

        program()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(INTERRUPTED)
