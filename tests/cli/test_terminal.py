from toolfold.cli.terminal import count, one_line, size


def test_sizes_are_told_in_steps_of_1000() -> None:
    assert [size(1), size(999), size(41_300), size(5_758_742)] == [
        "1 byte",
        "999 bytes",
        "41.3 kB",
        "5.8 MB",
    ]


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
