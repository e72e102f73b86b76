import subprocess
import sys

import pytest

from toolfold.proxy import command_line
from toolfold.proxy.command_line import Invocation


def test_nothing_but_the_standard_library_is_loaded_before_the_agent_is_started() -> None:
    code = """
import sys
before = {*sys.modules}
import toolfold.cli, toolfold.proxy.command_line
loaded = {name.partition(".")[0] for name in {*sys.modules} - before}
print(*sorted(loaded - {"toolfold"} - sys.stdlib_module_names))
print(*{name.split(".")[1] for name in sys.modules if name.startswith("toolfold.")})
"""
    done = subprocess.run(  # noqa: S603 (our own)
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True
    )
    foreign, own = done.stdout.splitlines()
    assert (foreign, {*own.split()}) == ("", {"cli", "proxy"})


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--", "agent"], Invocation(("agent",))),
        (["--", "agent", "--project", "x", "--"], Invocation(("agent", "--project", "x", "--"))),
        (["--project", "a b", "--", "agent"], Invocation(("agent",), "a b")),
        (
            ["--data-dir=/x", "--database-url", "postgresql://h/d", "--", "a", ""],
            Invocation(("a", ""), "default", "/x", "postgresql://h/d"),
        ),
    ],
)
def test_a_plain_command_line_is_read_at_once(words: list[str], asked: Invocation) -> None:
    assert command_line.read(words) == asked


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--"],
        ["agent"],
        ["--help"],
        ["--record"],
        ["--project"],
        ["--project", "--"],
        ["--project", " ", "--", "agent"],
        ["--project", "\udcff", "--", "agent"],
        ["--other", "x", "--", "agent"],
    ],
)
def test_any_other_is_the_command_s(words: list[str]) -> None:
    assert command_line.read(words) is None
