import orjson
import pytest

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store
from toolfold.transcript import ContentState, MessageRole, ToolStatus, Usage


def test_a_session_is_shown_in_outline(run: Run, store: Store) -> None:
    messages = [
        text_message("Fix the\nadder."),
        text_message("I look.", MessageRole.ASSISTANT, usage=Usage(1_234, 5, 6, 7)),
        tool_message(["x" * 2_000], name="Read", title="Read a.py"),
        tool_message(name="Bash", title="make", status=ToolStatus.PENDING),
        tool_message(["cut"], name="Bash", title="ls", content_state=ContentState.CUT_BY_AGENT),
    ]
    store(messages, title="The adder", cwd="/work", git_branch="main")
    lines = run("show", "session-1").stdout.splitlines()
    assert lines[0] == "The adder"
    assert "  session    session-1" in lines
    assert "  agent      claude-code, completed" in lines
    assert "  folder     /work on main" in lines
    assert "  tokens     1,234 in, 5 out, 6 from cache, 7 into cache" in lines
    assert "  holds      5 messages, 3 tool calls, 2.0 kB of tool content" in lines
    assert [line for line in lines if line[:6].strip().isdigit()] == [
        "     1  user       Fix the adder.",
        "     2  assistant  I look.",
        "     3  tool       Read a.py · completed, 2.0 kB",
        "     4  tool       Bash make · pending",
        "     5  tool       Bash ls · completed, 7 bytes, cut by the agent",
    ]


def test_a_call_that_started_a_subagent_names_its_session(run: Run, store: Store) -> None:
    store([tool_message(["done"], tool_call_id="call-1", name="Task")])
    store(session_id="child", title="Survey", parent_id="session-1", parent_tool_call_id="call-1")
    shown = run("show", "session-1").stdout
    assert "     1  tool       Task · completed, 8 bytes, a sub-agent: child\n" in shown
    assert "  parent     session-1 " in run("show", "child").stdout


def test_the_saving_is_that_of_the_two_responses(run: Run, store: Store) -> None:
    store([tool_message(["x" * 100_000]), tool_message(), tool_message(["é"])])
    line = next(line for line in run("show", "session-1").stdout.splitlines() if "saved" in line)
    document = (
        "{ sessions { nodes { messages(compact: false) { nodes { toolMetadata { content } } } } } }"
    )
    answered = orjson.loads(run("query", document).stdout)
    calls = answered["data"]["sessions"]["nodes"][0]["messages"]["nodes"]
    content = sum(
        len(orjson.dumps(call["toolMetadata"])) - len(b"{}") + len(b",") for call in calls
    )
    assert line.startswith("A page of 3 messages costs 2.")
    assert line.endswith(" % saved.")
    words = line.replace(":", "").split()
    light, heavy = float(words[6]) * 1_000, float(words[11]) * 1_000
    assert abs(heavy - light - content) < 200
    assert abs(float(words[13]) - 100 * content / (light + content)) < 0.2


def test_only_so_many_messages_are_outlined_as_asked_for(run: Run, store: Store) -> None:
    store([text_message(str(number)) for number in range(5)])
    shown = run("show", "session-1", "--limit", 2).stdout
    assert "3 more messages not shown." in shown
    assert len([line for line in shown.splitlines() if "  user  " in line]) == 2


@pytest.mark.parametrize(
    "name",
    [
        "0191-abc",
        "0191",
        "own-id",
        "own",
        "U2Vzc2lvbjpkZWZhdWx0LzAxOTEtYWJj",
    ],
)
def test_a_session_goes_by_its_id_the_agents_id_a_beginning_or_the_global_id(
    run: Run, store: Store, name: str
) -> None:
    store(session_id="0191-abc", source_session="own-id", title="This")
    store(session_id="other", source_session="else", title="Other")
    assert run("show", name).stdout.startswith("This\n")


def test_a_beginning_that_only_subagents_share_means_the_session_that_started_them(
    run: Run, store: Store
) -> None:
    store(session_id="1", source_session="abc-1", title="This")
    store(session_id="2", source_session="abc-1/agent", parent_id="1", title="Joined")
    store(session_id="3", source_session="abc-2", parent_source_session="x", title="Waits")
    assert run("show", "abc").stdout.startswith("This\n")


def test_a_beginning_that_is_a_whole_id_means_that_session(run: Run, store: Store) -> None:
    store(session_id="a", title="This")
    store(session_id="ab", title="Other")
    assert run("show", "a").stdout.startswith("This\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "There is no session 'none'."),
        ("a%", "There is no session 'a%'."),
        ("U2Vzc2lvbjpkZWZhdWx0L25vbmU", "There is no session"),
        ("ab", "'ab' may be any of 2 sessions: ab2 (Second), ab1 (First)"),
    ],
)
def test_a_session_that_is_not_clear_is_one_line_and_exit_code_1(
    run: Run, store: Store, name: str, message: str
) -> None:
    store(session_id="ab1", title="First", updated_at="2026-01-01T00:00:00.000Z")
    store(session_id="ab2", title="Second", updated_at="2026-01-02T00:00:00.000Z")
    result = run("show", name)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"Error: {message}")


@pytest.mark.parametrize("command", ["show", "export"])
@pytest.mark.parametrize("session", ["", " "])
def test_an_empty_session_is_refused(run: Run, store: Store, command: str, session: str) -> None:
    store()
    result = run(command, session)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: SESSION is empty: it names no session.\n"
