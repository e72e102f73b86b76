"""What the environment can say, and what it is told when it says something else."""

from dataclasses import fields
from pathlib import Path

import pytest

from toolfold.errors import SettingsError
from toolfold.settings import Settings

KIB = 1024
MIB = 1024 * 1024

DEFAULTS = {
    "CHAT_COMPACT_MODE_DEFAULT": True,
    "TOOLFOLD_DATABASE_URL": "",
    "TOOLFOLD_PORT": 7878,
    "TOOLFOLD_COMPACT_BUDGET_BYTES": 256 * KIB,
    "TOOLFOLD_CONTENT_BUDGET_BYTES": 8 * MIB,
    "TOOLFOLD_MAX_SLICE_BYTES": MIB,
    "TOOLFOLD_MAX_ROWS": 20_000,
    "TOOLFOLD_MAX_PAGE_SIZE": 1_000,
    "TOOLFOLD_QUERY_SECONDS": 10,
    "TOOLFOLD_MAX_TOKENS": 2_000,
    "TOOLFOLD_MAX_DEPTH": 15,
    "TOOLFOLD_MAX_ALIASES": 30,
    "TOOLFOLD_MAX_SELECTIONS": 500,
    "TOOLFOLD_MAX_BATCH_MESSAGES": 500,
    "TOOLFOLD_MAX_BATCH_BYTES": 8 * MIB,
    "TOOLFOLD_TRUSTED_DOCUMENTS": "",
    "TOOLFOLD_TRUSTED_DOCUMENTS_ONLY": False,
    "TOOLFOLD_MCP_ANSWER_BYTES": 40_000,
    "TOOLFOLD_MCP_ALLOW_WRITING": False,
    "TOOLFOLD_MAX_BODY_BYTES": 16 * MIB,
}
INTEGERS = [name for name, default in DEFAULTS.items() if type(default) is int]


def by_variable(settings: Settings) -> dict[str, object]:
    """Return every setting's value under the name of its variable."""
    return {
        setting.metadata["variable"]: getattr(settings, setting.name)
        for setting in fields(Settings)
    }


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    values = by_variable(Settings.from_environment({}))
    data_dir = values.pop("TOOLFOLD_DATA_DIR")
    assert values == DEFAULTS
    assert isinstance(data_dir, Path)
    assert data_dir.name == "toolfold"
    assert data_dir.is_absolute()


@pytest.mark.parametrize("variable", INTEGERS)
def test_each_whole_number_is_read_from_its_own_variable(variable: str) -> None:
    changed = by_variable(Settings.from_environment({variable: " 8765 "}))
    default = by_variable(Settings.from_environment({}))
    assert changed == default | {variable: 8765}


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "TRUE", " Yes ", "\tOn\n"])
def test_the_words_for_true_turn_compact_mode_on(word: str) -> None:
    settings = Settings.from_environment({"CHAT_COMPACT_MODE_DEFAULT": word})
    assert settings.compact_mode_default is True


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "FALSE", " No ", "\tOff\n"])
def test_the_words_for_false_turn_compact_mode_off(word: str) -> None:
    settings = Settings.from_environment({"CHAT_COMPACT_MODE_DEFAULT": word})
    assert settings.compact_mode_default is False


@pytest.mark.parametrize("word", ["2", "t", "enabled", "true false", "nein"])
def test_any_other_word_is_refused_by_the_variables_name(word: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({"CHAT_COMPACT_MODE_DEFAULT": word})
    assert "CHAT_COMPACT_MODE_DEFAULT" in caught.value.message
    assert repr(word) in caught.value.message


@pytest.mark.parametrize("text", ["eight", "1.5", "1e3", "0x10", "10 000"])
@pytest.mark.parametrize("variable", INTEGERS)
def test_what_is_no_whole_number_is_refused_by_the_variables_name(variable: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({variable: text})
    assert caught.value.message == f"{variable} must be a whole number: got {text!r}."


@pytest.mark.parametrize("variable", INTEGERS)
def test_a_negative_number_is_refused_by_the_variables_name(variable: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({variable: "-1"})
    assert caught.value.message.startswith(f"{variable} must be at least ")


@pytest.mark.parametrize(
    ("variable", "maximum"),
    [
        ("TOOLFOLD_PORT", 65_535),
        ("TOOLFOLD_MAX_SLICE_BYTES", 2**31 - 1),
        ("TOOLFOLD_CONTENT_BUDGET_BYTES", 2**53 - 1),
    ],
)
def test_a_number_over_what_its_use_can_hold_is_refused(variable: str, maximum: int) -> None:
    assert by_variable(Settings.from_environment({variable: str(maximum)}))[variable] == maximum
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({variable: str(maximum + 1)})
    assert caught.value.message == f"{variable} must be at most {maximum}: got {maximum + 1}."


@pytest.mark.parametrize("variable", sorted(DEFAULTS))
def test_a_variable_that_is_set_to_nothing_keeps_its_default(variable: str) -> None:
    settings = Settings.from_environment({variable: "  "})
    assert by_variable(settings)[variable] == DEFAULTS[variable]


def test_the_data_folder_may_be_given_from_home() -> None:
    settings = Settings.from_environment({"TOOLFOLD_DATA_DIR": "~/chats"})
    assert settings.data_dir == Path.home() / "chats"


def test_the_process_environment_is_read_when_no_other_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLFOLD_PORT", "7979")
    assert Settings.from_environment().port == 7979
