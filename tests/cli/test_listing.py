import pytest

from tests.builders import text_message, tool_message
from tests.cli.conftest import Run, Store
from tests.cli.terminal import on_terminal, screen
from toolfold.settings import Settings


def test_sessions_are_lines_of_tab_separated_fields_the_latest_first(
    run: Run, store: Store
) -> None:
    store(session_id="old", title="Old", updated_at="2026-01-01T00:00:00.000Z")
    store(
        [text_message(), tool_message(["é"])],
        session_id="new",
        title="Ne\x1bw\tone\n",
        agent="claude-code",
        updated_at="2026-02-01T00:00:00.000Z",
    )
    assert run("list").stdout == (
        "new\tdefault\tclaude-code\t2026-02-01T00:00:00.000Z\t2\t1\t6\tNe w one\n"
        "old\tdefault\tclaude-code\t2026-01-01T00:00:00.000Z\t0\t0\t0\tOld\n"
    )


def test_sessions_of_subagents_are_listed_only_if_asked_for(run: Run, store: Store) -> None:
    store(session_id="parent", updated_at="2026-01-01T00:00:00.000Z")
    store(session_id="child", parent_id="parent", updated_at="2026-02-01T00:00:00.000Z")
    assert [line.split("\t")[0] for line in run("list").stdout.splitlines()] == ["parent"]
    listed = run("list", "--children").stdout.splitlines()
    assert [line.split("\t")[0] for line in listed] == ["child", "parent"]


def test_a_limit_larger_than_a_page_takes_several_pages(
    run: Run, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLFOLD_MAX_PAGE_SIZE", "2")
    for number in range(5):
        store(session_id=f"s{number}", updated_at=f"2026-01-0{number + 1}T00:00:00.000Z")
    listed = run("list", "--limit", 4).stdout.splitlines()
    assert [line.split("\t")[0] for line in listed] == ["s4", "s3", "s2", "s1"]


def test_only_a_project_is_listed_that_exists(run: Run, store: Store) -> None:
    store()
    assert len(run("list", "--project", "default").stdout.splitlines()) == 1
    result = run("list", "--project", "none")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: There is no project 'none'; `toolfold import --project` makes one.\n"
    )


def test_a_newcomer_is_told_how_to_get_sessions(run: Run) -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("No sessions are stored yet. To import some: toolfold import")


def test_on_a_terminal_sessions_are_a_table_with_ids_short_enough_to_type(
    settings: Settings, store: Store
) -> None:
    for number in range(3):
        store(
            [tool_message(["x" * 41_000])],
            session_id=f"{number}0000000-long-id",
            title="Fix \x1b[31mit",
            updated_at="2026-02-01T10:20:30.000Z",
        )
    lines = screen(on_terminal("list", "--limit", 2, "--data-dir", settings.data_dir)).splitlines()
    assert lines[0].split() == ["Session", "Updated", "Agent", "Messages", "Content", "Title"]
    words = ["20000000", "2026-02-01", "10:20", "claude-code", "1", "41.0", "kB", "Fix", "[31mit"]
    assert lines[1].split() == words
    assert lines[3] == "1 more session: --limit 3 lists all."
