import pytest

from toolfold.cli.terminal import count, one_line, size


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 KB"),
        (9_949, "9.9 KB"),
        (9_960, "10 KB"),
        (41_300, "41 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (1_900_000, "1.9 MB"),
        (5_758_742, "5.8 MB"),
        (10**15, "1,000 TB"),
    ],
)
def test_sizes_are_told_in_steps_of_1000(number: int, text: str) -> None:
    assert size(number) == text


def test_recorded_text_cannot_steer_the_terminal() -> None:
    assert one_line("\x1b]0;owned\x07 red\x1b[31m\r\n\u202egnp.exe") == "]0;owned  red [31m gnp.exe"


def test_recorded_text_is_cut_to_its_width() -> None:
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line(None) == ""


def test_counts_agree_with_their_noun() -> None:
    assert [count(1, "file"), count(0, "file"), count(1_204, "file")] == [
        "1 file",
        "0 files",
        "1,204 files",
    ]
    assert count(2, "is one", "are more") == "2 are more"
