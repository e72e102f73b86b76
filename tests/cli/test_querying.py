from pathlib import Path

import orjson
import pytest

from tests.builders import tool_message
from tests.cli.conftest import Run, Store
from toolfold.schema import build_schema

TITLES = "query ($n: Int) { sessions(first: $n) { nodes { title } } }"
ANSWER = {"data": {"sessions": {"nodes": [{"title": "This"}]}}}


@pytest.fixture(autouse=True)
def _session(store: Store) -> None:
    store([tool_message(["é", 10**30])], title="This")


def test_a_document_is_taken_from_the_command_line(run: Run) -> None:
    result = run("query", TITLES, "--variables", '{"n": 1}')
    assert (result.exit_code, orjson.loads(result.stdout)) == (0, ANSWER)


def test_a_document_is_taken_from_a_file_or_standard_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "titles.graphql"
    path.write_text(TITLES, encoding="utf-8")
    variables = tmp_path / "variables.json"
    variables.write_text("{}", encoding="utf-8")
    assert orjson.loads(run("query", f"@{path}").stdout) == ANSWER
    assert orjson.loads(run("query", "-", input=TITLES).stdout) == ANSWER
    assert orjson.loads(run("query", TITLES, "--variables", f"@{variables}").stdout) == ANSWER


def test_contents_are_printed_as_they_are_stored(run: Run) -> None:
    document = "{ sessions { nodes { messages { nodes { toolMetadata { content } } } } } }"
    assert '["é",1000000000000000000000000000000]' in run("query", document).stdout


def test_errors_without_data_are_printed_and_give_exit_code_1(run: Run) -> None:
    result = run("query", "{ nothing }")
    assert result.exit_code == 1
    assert result.stderr == ""
    response = orjson.loads(result.stdout)
    assert [error["extensions"]["code"] for error in response["errors"]] == [
        "GRAPHQL_VALIDATION_FAILED"
    ]
    assert "data" not in response


def test_errors_beside_data_give_exit_code_0(run: Run) -> None:
    document = '{ node(id: "x") { id } session(id: "x") { id } }'
    assert run("query", document).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "The document is empty."),
        ([" \n"], "The document is empty."),
        (["@/dev/null"], "The document is empty."),
        (["@"], "@ is followed by the name of a file."),
        (["{ limits { maxRows } }", "--variables", "@"], "@ is followed by the name of a file."),
        (["@absent.graphql"], "absent.graphql: No such file or directory."),
        (["{ limits { maxRows } }", "--variables", "{"], "--variables is not JSON:"),
        (["{ limits { maxRows } }", "--variables", "[]"], "--variables must be a JSON object."),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_1(
    run: Run, arguments: list[str], message: str
) -> None:
    result = run("query", *arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith(f"Error: {message}")


def test_a_file_that_is_not_text_is_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe")
    assert run("query", f"@{path}").stderr == f"Error: {path}: is not UTF-8 text.\n"
    from_input = run("query", "-", input=path.read_bytes())
    assert (from_input.exit_code, from_input.stderr) == (1, "Error: -: is not UTF-8 text.\n")


def test_the_schema_is_printed_with_a_line_break_at_its_end(run: Run) -> None:
    printed = run("schema").stdout
    assert printed == build_schema().as_str() + "\n"
    assert "type Query {" in printed
