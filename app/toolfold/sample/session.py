"""What happens in the sample session: a day of work on a weather page, and its sub-agent."""

from collections.abc import Iterator

from toolfold.sample import blocks, media, output
from toolfold.sample.recorder import Recorder
from toolfold.transcript import (
    Attachment,
    ContentState,
    Entry,
    MessageRole,
    ToolKind,
    ToolLocation,
    ToolStatus,
)

FORMAT = "sample"
SESSION = "sample"
CHILD_SESSION = "sample-subagent"
MESSAGES = 400
"""Messages of the session, half of them tool calls; the sub-agent's session has its own."""
LARGE_OUTPUT_BYTES = 5_000_000

README = "/home/sam/weather/README.md"
PAGE = "/home/sam/weather/weather/page.py"
OLD_PAGE = 'def title(station: str) -> str:\n    return f"Weather in {station}"\n'
NEW_PAGE = 'def title(station: str) -> str:\n    """Return the heading."""\n    return station\n'


def entries(seed: int = 1) -> Iterator[Entry]:
    """Yield the session and its sub-agent's session; one seed gives the same values every time.

    Sizes of results are drawn from the distribution of real sessions; beside them stand one of
    5 MB, each kind of block, a failed call, one whose output the agent had cut, and a pending one.
    """
    recorder = Recorder(SESSION, seed=seed)
    yield from _opening(recorder)
    yield from _done(recorder)
    yield from _failed_and_cut(recorder)
    yield from _blocks(recorder)
    yield from _subagent(recorder, seed)
    yield from _ordinary_work(recorder, MESSAGES - 2)
    yield recorder.say(MessageRole.ASSISTANT, "Shall I publish the page? I wait for your word.")
    yield recorder.call(
        "Bash",
        "Publish the page",
        ToolKind.EXECUTE,
        status=ToolStatus.PENDING,
        raw_input={"command": "make publish", "description": "Publish the page"},
    )


def _opening(recorder: Recorder) -> Iterator[Entry]:
    yield recorder.opening("Make the weather page faster, and prettier \N{SUN BEHIND CLOUD}")
    yield recorder.say(
        MessageRole.SYSTEM, "Today is Monday. The working folder is /home/sam/weather."
    )
    yield recorder.say(
        MessageRole.USER,
        "<system-reminder>The list of to-dos is empty.</system-reminder>",
        origin="system",
    )
    yield recorder.say(
        MessageRole.USER,
        "The page takes 9 s, and Zürich is shown as ZÃ¼rich (see the picture). Please mend both.",
        attachments=(Attachment(media.png(), "image/png", "screenshot.png"),),
    )
    yield recorder.say(
        MessageRole.THINKING,
        "Two faults: one of speed, one of encoding. Measure first, then read the code.",
    )
    yield recorder.say(
        MessageRole.PLAN,
        "- [x] Measure the page\n- [ ] Read the stations as UTF-8\n- [ ] Draw the chart once",
    )
    yield recorder.say(MessageRole.ASSISTANT, "I measure the page, then I look at how it is made.")


def _done(recorder: Recorder) -> Iterator[Entry]:
    log = output.text(recorder.rng, LARGE_OUTPUT_BYTES, output.log_line)
    yield recorder.call(
        "Bash",
        "Draw every page with the log at its finest",
        ToolKind.EXECUTE,
        [blocks.text(log)],
        raw_input={"command": "make pages LOG=trace"},
        raw_output={"exitCode": 0, "interrupted": False},
    )
    yield recorder.call(
        "Edit",
        "weather/page.py",
        ToolKind.EDIT,
        [blocks.text(f"The file {PAGE} has been updated."), blocks.diff(PAGE, OLD_PAGE, NEW_PAGE)],
        locations=(ToolLocation(PAGE, 1),),
        raw_input={"file_path": PAGE, "old_string": OLD_PAGE, "new_string": NEW_PAGE},
    )


def _failed_and_cut(recorder: Recorder) -> Iterator[Entry]:
    yield recorder.call(
        "Bash",
        "Run the tests",
        ToolKind.EXECUTE,
        [blocks.terminal("term_tests", "make test", _failed_tests(), 1)],
        status=ToolStatus.FAILED,
        raw_input={"command": "make test", "description": "Run the tests"},
        raw_output={"exitCode": 1, "stderr": "1 failed, 41 passed"},
    )
    yield recorder.call(
        "Bash",
        "List the archive",
        ToolKind.EXECUTE,
        [blocks.text("Output too large (1.2 MB). First lines:\n1901.csv\n1902.csv\n")],
        content_state=ContentState.CUT_BY_AGENT,
        raw_input={"command": "ls archive"},
    )


def _failed_tests() -> str:
    return (
        "\x1b[1mtests/test_page.py\x1b[0m \x1b[32m....\x1b[0m\x1b[31mF\x1b[0m\n"
        "\x1b[31mE   AssertionError: 'ZÃ¼rich' != 'Zürich'\x1b[0m\n"
        "\x1b[31m1 failed\x1b[0m, \x1b[32m41 passed\x1b[0m in 0.42s\n"
    )


def _blocks(recorder: Recorder) -> Iterator[Entry]:
    yield recorder.say(MessageRole.ASSISTANT, "One call that answers with every kind of block:")
    yield recorder.call(
        "mcp__weather__everything",
        "Everything that a tool can answer",
        ToolKind.OTHER,
        blocks.every_kind(),
        locations=(ToolLocation(README), ToolLocation(PAGE, 12)),
        raw_input={"station": "Tromsø", "parts": ["text", "picture", "sound"]},
    )
    yield recorder.say(
        MessageRole.ASSISTANT,
        "What I learned from it, at length:\n\n"
        + output.text(recorder.rng, 20_000, lambda rng, _: f"- {output.phrase(rng, 9)}"),
    )
    yield recorder.call("Glob", "**/*.tmp", ToolKind.SEARCH, [], raw_input={"pattern": "**/*.tmp"})


def _subagent(recorder: Recorder, seed: int) -> Iterator[Entry]:
    yield recorder.say(MessageRole.ASSISTANT, "A sub-agent looks through the archive meanwhile.")
    yield recorder.call(
        "Task",
        "Look through the archive",
        ToolKind.THINK,
        [blocks.text("The archive is complete from 1901 on; 1944 has a gap of 9 days.")],
        child_session=CHILD_SESSION,
        raw_input={"prompt": "Find gaps in the archive.", "subagent_type": "explorer"},
    )
    child = Recorder(CHILD_SESSION, seed=seed, start=recorder.now)
    yield child.opening(
        "Find gaps in the archive",
        parent=SESSION,
        parent_tool_call_id=recorder.last_call_id,
    )
    yield child.say(MessageRole.USER, "Find gaps in the archive.")
    yield from _ordinary_work(child, 12)


def _ordinary_work(recorder: Recorder, message_count: int) -> Iterator[Entry]:
    """Yield turns until the session has so many messages, half of them calls."""
    while recorder.message_count < message_count:
        if recorder.tool_call_count * 2 < recorder.message_count:
            yield _ordinary_call(recorder)
        else:
            yield _ordinary_text(recorder)


def _ordinary_call(recorder: Recorder) -> Entry:
    rng = recorder.rng
    size = output.result_size(rng)
    path = output.path(rng)
    match rng.choice(("Bash", "Read", "Read", "Grep")):
        case "Bash":
            command = f"weather {output.phrase(rng, 2)}"
            content = [blocks.text(output.text(rng, size, output.log_line))]
            return recorder.call(
                "Bash", command, ToolKind.EXECUTE, content, raw_input={"command": command}
            )
        case "Read":
            return recorder.call(
                "Read",
                path,
                ToolKind.READ,
                [blocks.text(output.text(rng, size, output.source_line))],
                locations=(ToolLocation(path, 1),),
                raw_input={"file_path": path},
            )
        case _:
            content = [blocks.text(output.text(rng, size, output.search_line))]
            pattern = output.phrase(rng, 1)
            return recorder.call(
                "Grep", pattern, ToolKind.SEARCH, content, raw_input={"pattern": pattern}
            )


def _ordinary_text(recorder: Recorder) -> Entry:
    rng = recorder.rng
    role = rng.choices(
        (MessageRole.USER, MessageRole.THINKING, MessageRole.ASSISTANT), weights=(1, 3, 6)
    )[0]
    return recorder.say(role, f"{output.phrase(rng, rng.randrange(3, 40)).capitalize()}.")
