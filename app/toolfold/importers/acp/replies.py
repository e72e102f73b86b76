"""What the results of ACP requests say that a transcript holds."""

import shlex

from toolfold.importers.acp import shape
from toolfold.importers.acp.terminals import Terminal
from toolfold.transcript import Json, Usage

_Record = dict[str, Json]


def agent_name(result: _Record) -> str | None:
    """Return the agent's name from the result of `initialize`, as it gives it."""
    # Version 2 calls it `info`.
    return shape.text(shape.nested(result, "agentInfo") or shape.nested(result, "info"), "name")


def usage(result: _Record) -> Usage | None:
    """Return the tokens of a turn from the result of `session/prompt`.

    ACP's `usage`, or `_meta.quota.token_count`, which is where Gemini CLI has them.
    """
    counts = shape.nested(result, "usage")
    if shape.integer(counts, "inputTokens") is not None:
        return Usage(
            input_tokens=shape.integer(counts, "inputTokens") or 0,
            output_tokens=shape.integer(counts, "outputTokens") or 0,
            cache_read_tokens=shape.integer(counts, "cachedReadTokens") or 0,
            cache_creation_tokens=shape.integer(counts, "cachedWriteTokens") or 0,
        )
    counts = shape.nested(result, "_meta", "quota", "token_count")
    if shape.integer(counts, "input_tokens") is not None:
        return Usage(
            input_tokens=shape.integer(counts, "input_tokens") or 0,
            output_tokens=shape.integer(counts, "output_tokens") or 0,
        )
    return None


def command(request: _Record) -> str | None:
    """Return the command line that a `terminal/create` request runs."""
    program, arguments = shape.text(request, "command"), request.get("args")
    if program is None or not isinstance(arguments, list) or not arguments:
        return program
    # A command without arguments may be a whole line for a shell, so it is never quoted.
    return f"{program} {shlex.join(map(str, arguments))}"


def take_output(terminal: Terminal, result: _Record) -> None:
    """Tell a terminal the result of `terminal/output`: all of its output that the client kept."""
    output = result.get("output")
    if isinstance(output, str):
        terminal.replace(output.encode(), is_cut=result.get("truncated") is True)
    if exit_status := shape.nested(result, "exitStatus"):
        terminal.end(exit_status)
