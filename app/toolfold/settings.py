"""What can be set from outside: one frozen value, read once from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from toolfold.errors import SettingsError

TRUE_WORDS = frozenset({"true", "1", "yes", "on"})
FALSE_WORDS = frozenset({"false", "0", "no", "off"})


MAX_INT = 2**31 - 1
"""The greatest integer that GraphQL's `Int` holds, in which limits are told to clients."""

MAX_BIG_INT = 2**53 - 1

MIN_MCP_ANSWER_BYTES = 8_000
MAX_MCP_ANSWER_BYTES = 1_000_000
"""Clients of the MCP SDK take no event over 1 MiB."""


def _variable(name: str, default: Any, minimum: int = 0, maximum: int = MAX_INT) -> Any:
    """Declare a setting: the variable that carries it, and the bounds of an integer."""
    metadata = {"variable": name, "minimum": minimum, "maximum": maximum}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default; sizes are bytes, times are seconds."""

    compact_mode_default: bool = _variable("CHAT_COMPACT_MODE_DEFAULT", True)
    data_dir: Path = field(
        default_factory=lambda: Path(platformdirs.user_data_dir("toolfold", appauthor=False)),
        metadata={"variable": "TOOLFOLD_DATA_DIR"},
    )
    database_url: str = _variable("TOOLFOLD_DATABASE_URL", "")
    port: int = _variable("TOOLFOLD_PORT", 7878, maximum=65_535)
    compact_budget_bytes: int = _variable(
        "TOOLFOLD_COMPACT_BUDGET_BYTES", 256 * 1024, maximum=MAX_BIG_INT
    )
    content_budget_bytes: int = _variable(
        "TOOLFOLD_CONTENT_BUDGET_BYTES", 8 * 1024 * 1024, maximum=MAX_BIG_INT
    )
    max_slice_bytes: int = _variable("TOOLFOLD_MAX_SLICE_BYTES", 1024 * 1024, minimum=4)
    max_rows: int = _variable("TOOLFOLD_MAX_ROWS", 20_000, minimum=1)
    max_page_size: int = _variable("TOOLFOLD_MAX_PAGE_SIZE", 1_000, minimum=1)
    query_seconds: int = _variable("TOOLFOLD_QUERY_SECONDS", 10, minimum=1)
    max_tokens: int = _variable("TOOLFOLD_MAX_TOKENS", 2_000, minimum=1)
    max_depth: int = _variable("TOOLFOLD_MAX_DEPTH", 15, minimum=1)
    max_aliases: int = _variable("TOOLFOLD_MAX_ALIASES", 30)
    max_selections: int = _variable("TOOLFOLD_MAX_SELECTIONS", 500, minimum=1)
    max_batch_messages: int = _variable("TOOLFOLD_MAX_BATCH_MESSAGES", 500, minimum=1)
    max_batch_bytes: int = _variable("TOOLFOLD_MAX_BATCH_BYTES", 8 * 1024 * 1024, minimum=1)
    trusted_documents: str = _variable("TOOLFOLD_TRUSTED_DOCUMENTS", "")
    trusted_documents_only: bool = _variable("TOOLFOLD_TRUSTED_DOCUMENTS_ONLY", False)
    mcp_answer_bytes: int = _variable(
        "TOOLFOLD_MCP_ANSWER_BYTES", 40_000, MIN_MCP_ANSWER_BYTES, MAX_MCP_ANSWER_BYTES
    )
    mcp_allow_writing: bool = _variable("TOOLFOLD_MCP_ALLOW_WRITING", False)
    max_body_bytes: int = _variable("TOOLFOLD_MAX_BODY_BYTES", 16 * 1024 * 1024, minimum=1)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read every setting that the environment names; the rest keep their defaults.

        Raises:
            SettingsError: naming the variable whose value cannot be used.
        """
        source = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for setting in fields(cls):
            variable = setting.metadata["variable"]
            text = source.get(variable, "").strip()
            if text:
                values[setting.name] = _parse(variable, text, setting)
        return cls(**values)

    def choosing(self, data_dir: str | None, database_url: str | None) -> "Settings":
        """Return these settings with a database that was chosen; a URL counts more than a folder.

        A folder means the database in it, whatever URL the environment has.
        """
        chosen = self
        if data_dir is not None:
            path = Path(data_dir).expanduser()
            chosen = replace(chosen, data_dir=path, database_url="")
        if database_url is not None:
            chosen = replace(chosen, database_url=database_url)
        return chosen


def _parse(variable: str, text: str, setting: Any) -> Any:
    if setting.type is Path:
        return Path(text).expanduser()
    if setting.type is bool:
        return _parse_bool(variable, text)
    if setting.type is int:
        return _parse_int(variable, text, setting.metadata)
    return text


def _parse_bool(variable: str, text: str) -> bool:
    word = text.lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise SettingsError(
        f"{variable} must be one of true, 1, yes, on, false, 0, no, off: got {text!r}."
    )


def _parse_int(variable: str, text: str, bounds: Mapping[str, int]) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise SettingsError(f"{variable} must be a whole number: got {text!r}.") from error
    if number < bounds["minimum"]:
        raise SettingsError(f"{variable} must be at least {bounds['minimum']}: got {number}.")
    if number > bounds["maximum"]:
        raise SettingsError(f"{variable} must be at most {bounds['maximum']}: got {number}.")
    return number
