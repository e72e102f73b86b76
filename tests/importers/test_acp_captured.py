"""Logs of real agents, cut down: Claude, Codex, Gemini CLI."""

from collections import Counter
from pathlib import Path

from tests.importers.acp_log import Store
from toolfold.transcript import (
    ContentState,
    MessageRole,
    Session,
    ToolKind,
    ToolLocation,
    ToolStatus,
    Usage,
)

DATA = Path(__file__).parent / "data"
CLAUDE, CODEX, GEMINI = (DATA / f"acp_{name}.ndjson" for name in ("claude", "codex", "gemini"))
CLAUDE_SESSION = "b6b54d13-5459-493d-8663-d2e70d52a1f1"
CODEX_SESSION = "01a22d6c-e608-77a2-86f5-b5f0b38eb7d3"
GEMINI_SESSION = "ba977285-f7bb-43a2-a450-bb68dec17c8c"

ASKED = ("user", "Please fix the adder and run the tests. Ünïcödé ✓")
FIXED_TEXT = (
    "Fixed. Both tests pass now:\n\n```\nPASS test_add\nPASS test_total\n```\n\n"
    "The bug was a minus sign — 修正済み ✅."
)
FIXED = ("assistant", FIXED_TEXT)
SUMMARY_TEXT = (
    "Summary: image viewed, log read (6000 lines), notes written, one command failed with exit"
    " code 3 as expected."
)
SUMMARY = ("assistant", SUMMARY_TEXT)
THOUGHT = (
    "The user wants the adder fixed. Let me read the source and the tests before I change anything."
)
WARNING_TEXT = (
    "Warning: Model metadata for `gpt-5-codex` not found. Defaulting to fallback metadata; this"
    " can degrade performance and cause issues.\n\n"
)
WARNING = ("assistant", WARNING_TEXT)
FAILING = 'echo oops >&2; printf "partial \\033[1;31mERR\\033[0m\\n"; exit 3'
LAST_COMMAND = (
    "python3 -c \"import sys; sys.path.insert(0,'src'); import table; print(len(dir(table)))\";"
    " git status --short"
)


def read(path: Path) -> Store:
    return Store().read_lines(path.read_bytes().splitlines(), path)


def asked_about(folder: str) -> list[tuple[str, str]]:
    """Return the second and the third prompt, with the files that came with them."""
    files = f"file:///home/dev/demo/{folder}"
    return [
        ("user", f"Look at this picture and the log.\n[adder.py]({files}/src/adder.py)"),
        ("user", f"Now do the long pass over the log.\n[build.log]({files}/build.log)"),
    ]


def test_claude() -> None:
    store = read(CLAUDE)
    look, pass_over = asked_about("wc")
    assert store.sessions[CLAUDE_SESSION] == Session(
        agent="@agentclientprotocol/claude-agent-acp", cwd="/home/dev/demo/wc"
    )
    assert store.texts(CLAUDE_SESSION) == [
        ASKED,
        ("thinking", THOUGHT),
        ("assistant", "I'll look at the adder and its tests first."),
        ("tool", "Read src/adder.py"),
        ("tool", "Read tests/test_adder.py"),
        ("thinking", "Check who else uses add()."),
        ("tool", "grep -rnE 'def |add\\(' src tests"),
        ("assistant", "Running the tests to see the failure."),
        ("tool", 'python3 tests/test_adder.py; echo "exit=$?"'),
        ("assistant", "The sign is wrong: `a - b` must be `a + b`."),
        ("tool", "Edit src/adder.py"),
        FIXED,
        look,
        ("thinking", "An image; view it."),
        ("assistant", "Opening the screenshot."),
        ("tool", "Read shot.png"),
        ("tool", "cat build.log"),
        ("tool", "Read no/such/file.txt"),
        ("tool", FAILING),
        ("assistant", "Writing the notes."),
        ("tool", "Write NOTES.md"),
        ("plan", "[pending] Fix adder\n[pending] Run tests"),
        ("assistant", "Delegating a survey to a sub-agent."),
        ("tool", "Survey repo"),
        SUMMARY,
        pass_over,
        ("assistant", "One very long line and many short ones."),
        ("tool", LAST_COMMAND),
        ("assistant", "Done with the long pass."),
    ]
    assert [one.usage for one in store.messages[CLAUDE_SESSION] if one.usage] == [
        Usage(13200, 1080, 30000, 1800),
        Usage(33600, 1260, 35000, 2100),
        Usage(92400, 1980, 55000, 3300),
    ]
    assert (store.records, store.repairs) == ([], [])


def test_claude_s_tool_calls() -> None:
    calls = read(CLAUDE).calls(CLAUDE_SESSION)
    edit = calls["toolu_019e9afc670653497eac2fe0"]
    assert (edit.name, edit.kind, edit.status) == ("Edit", ToolKind.EDIT, ToolStatus.COMPLETED)
    assert edit.locations == (ToolLocation("/home/dev/demo/wc/src/adder.py", 2),)
    assert edit.content == [
        {
            "type": "diff",
            "path": "/home/dev/demo/wc/src/adder.py",
            "oldText": "\n\ndef add(a, b):\n    return a - b\n\n\ndef total(xs):",
            "newText": "\n\ndef add(a, b):\n    return a + b\n\n\ndef total(xs):",
        }
    ]
    assert edit.raw_output.startswith("The file /home/dev/demo/wc/src/adder.py has been updated")
    failed = calls["toolu_01b57bbebd9844439eb654a2"]
    assert failed.status is ToolStatus.FAILED
    assert failed.content[0]["content"]["text"].startswith("```\nExit code 3\noops")
    cut = calls["toolu_01a2b94b5f83a74737a4f7f6"]
    assert cut.content_state is ContentState.CUT_BY_AGENT
    assert cut.content[0]["content"]["text"].startswith("```console\n<persisted-output>\n")
    assert cut.raw_output["persistedOutputSize"] == 412233
    image = calls["toolu_01067dc7e120104233bb486d"]
    assert image.content[0]["content"]["mimeType"] == "image/png"


def test_claude_s_sub_agent() -> None:
    store = read(CLAUDE)
    starter = "toolu_01cb088f0b95154e208b18db"
    child = f"{CLAUDE_SESSION}/{starter}"
    assert store.sessions[child] == Session(
        agent="@agentclientprotocol/claude-agent-acp",
        title="Survey repo",
        cwd="/home/dev/demo/wc",
        parent=CLAUDE_SESSION,
        parent_tool_call_id=starter,
    )
    assert store.texts(child) == [
        ("tool", "ls -la"),
        ("tool", "wc -l src/*.py tests/*.py build.log"),
        ("tool", "Read src/adder.py"),
    ]
    assert {one.status for one in store.calls(child).values()} == {ToolStatus.COMPLETED}
    agent = store.calls(CLAUDE_SESSION)[starter]
    assert (agent.name, agent.kind, agent.child_session) == ("Agent", ToolKind.THINK, child)


def test_codex() -> None:
    store = read(CODEX)
    look, pass_over = asked_about("wx")
    assert store.sessions == {
        CODEX_SESSION: Session(
            agent="@agentclientprotocol/codex-acp", title=ASKED[1], cwd="/home/dev/demo/wx"
        )
    }
    assert store.texts(CODEX_SESSION) == [
        ASKED,
        WARNING,
        ("thinking", THOUGHT),
        ("assistant", "I'll look at the adder and its tests first."),
        ("tool", "Read file '/home/dev/demo/wx/src/adder.py'"),
        ("tool", "Read file '/home/dev/demo/wx/tests/test_adder.py'"),
        ("thinking", "Check who else uses add()."),
        ("tool", "Search for 'def |add\\(' in src"),
        ("assistant", "Running the tests to see the failure."),
        ("tool", 'python3 tests/test_adder.py; echo "exit=$?"'),
        ("assistant", "The sign is wrong: `a - b` must be `a + b`."),
        ("tool", "Editing files"),
        FIXED,
        look,
        WARNING,
        ("thinking", "An image; view it."),
        ("assistant", "Opening the screenshot."),
        ("tool", "View Image /home/dev/demo/wx/shot.png"),
        ("tool", "Read file '/home/dev/demo/wx/build.log'"),
        ("tool", "Read file '/home/dev/demo/wx/no/such/file.txt'"),
        ("tool", FAILING),
        ("tool", "Editing files"),
        SUMMARY,
        pass_over,
        WARNING,
        ("assistant", "One very long line and many short ones."),
        ("tool", "python3 -c \"print('x'*250000)\""),
        ("tool", "seq 1 30000"),
        ("tool", LAST_COMMAND),
        ("assistant", "Done with the long pass."),
    ]
    assert [one.usage for one in store.messages[CODEX_SESSION] if one.usage] == [
        Usage(13500, 900, 9000, 0),
        Usage(38700, 900, 9000, 0),
        Usage(136400, 1650, 16500, 0),
    ]
    assert (store.records, store.repairs) == ([], [])


def test_codex_s_terminals() -> None:
    calls = read(CODEX).calls(CODEX_SESSION)
    test = calls["call_d0ac50dcbf6547de99ae0a1e"]
    assert (test.name, test.kind) == ("exec_command", ToolKind.EXECUTE)
    assert test.content == [
        {
            "type": "terminal",
            "terminalId": "call_d0ac50dcbf6547de99ae0a1e",
            "command": 'python3 tests/test_adder.py; echo "exit=$?"',
            "output": "\x1b[31mFAIL\x1b[0m test_add\n\x1b[31mFAIL\x1b[0m test_total\nexit=2\n",
            "exitCode": 0,
        }
    ]
    (failing,) = calls["call_c28cb870dc8f48a282f1f3a1"].content
    assert (failing["output"], failing["exitCode"]) == ("partial \x1b[1;31mERR\x1b[0m\noops\n", 3)
    (missing,) = calls["call_a305d4ada5ab442d9827e2e0"].content
    assert missing["output"].startswith("cat: /home/dev/demo/wx/no/such/file.txt: No such file")
    assert missing["exitCode"] == 1
    edit = calls["call_9296d344d5cb4386aa31cecc"]
    assert (edit.status, edit.content[0]["type"]) == (ToolStatus.COMPLETED, "diff")
    (first, second) = (
        calls[call_id].content[0]["output"]
        for call_id in ("call_7b3ce816e9d04881a67b7f3e", "call_2f80ff12f7284902ae6b94cd")
    )
    assert set(first) == {"x", "…", "\n"}
    assert second.startswith("26428\n26429\n")
    assert second.endswith("29999\n30000\n")


def test_gemini() -> None:
    store = read(GEMINI)
    assert store.sessions == {GEMINI_SESSION: Session(agent="gemini-cli", cwd="/home/dev/demo/wg3")}
    texts = store.texts(GEMINI_SESSION)
    assert texts[:9] == [
        ("assistant", "[MODE_UPDATE] yolo"),
        ASKED,
        ("thinking", f"****\n{THOUGHT}"),
        ("assistant", "I'll look at the adder and its tests first."),
        ("tool", "src/adder.py"),
        ("tool", "tests/test_adder.py"),
        ("thinking", "****\nCheck who else uses add()."),
        ("tool", "'def |add\\(' within ./"),
        ("assistant", "Running the tests to see the failure."),
    ]
    assert Counter(role for role, _ in texts) == {
        "user": 3,
        "assistant": 13,
        "thinking": 4,
        "tool": 20,
    }
    mode = store.messages[GEMINI_SESSION][0]
    assert (mode.role, mode.origin) == (MessageRole.ASSISTANT, "system")
    calls = store.calls(GEMINI_SESSION)
    assert calls["read_file__read_file_1796058629137_0"].content == []
    assert calls["read_file__read_file_1796058629137_0"].content_state is None
    assert calls["write_file__write_file_1796058716592_0"].status is ToolStatus.FAILED
    assert calls["replace__replace_1796058633130_0"].content[0]["type"] == "diff"
    assert [one.usage for one in store.messages[GEMINI_SESSION] if one.usage] == [
        Usage(9000, 480),
        Usage(10500, 560),
        Usage(16500, 880),
    ]
    assert (store.records, store.repairs) == ([], [])
