"""The errors that Toolfold raises on purpose.

    AppError                 a message fit for the client, and a stable `code`
    ├── SettingsError        SETTINGS: an environment variable or option has no usable value
    ├── DatabaseError        DATABASE: the database cannot be used as it is
    │   └── DiskFullError       DISK_FULL: there is no room for what was to be written
    ├── TranscriptError      TRANSCRIPT: a file is not what an importer was promised
    ├── BadLineError         BAD_LINE: a line that was sent is not what can be imported
    ├── InvalidJsonError     INVALID_JSON: a JSON value that cannot be stored as it is
    ├── ArchivedSessionError SESSION_ARCHIVED: an archived session refuses what is written to it
    ├── NotFoundError        NOT_FOUND: something named on the command line does not exist
    ├── CorruptContentError  CORRUPT_CONTENT: stored bytes no longer match their hash
    ├── BadUserInputError    BAD_USER_INPUT: an argument's value is refused
    ├── ContentBudgetError   CONTENT_BUDGET_EXCEEDED: a heavy field does not fit the operation
    ├── TooManyRowsError     TOO_MANY_ROWS: a page does not fit the operation's rows
    ├── DocumentLimitError   DOCUMENT_TOO_LARGE: a document is deeper or wider than is served
    ├── UntrustedDocumentError  DOCUMENT_NOT_TRUSTED: only trusted documents are executed here
    ├── DocumentHashError    BAD_DOCUMENT_HASH: a hash that stands for a document is of no use
    │   ├── UnknownDocumentError     PERSISTED_QUERY_NOT_FOUND: no trusted document has it
    │   └── NoTrustedDocumentsError  PERSISTED_QUERY_NOT_SUPPORTED: there is no such document
    ├── DeadlineError        DEADLINE_EXCEEDED: an operation took longer than is allowed
    └── RefusedError         REFUSED: a mutation's input is refused, and nothing was written
        ├── UnknownIdError      UNKNOWN_ID: nothing has the id that the input names
        ├── InvalidInputError   INVALID_INPUT: a value has no meaning, or cannot be stored
        ├── ConflictError       CONFLICT: the session is not where the input expects it
        └── TooLargeError       TOO_LARGE: a batch has more than is taken at once

The message of an AppError may be shown to whoever asked; anything else is masked there.
"""

from typing import Any, ClassVar


class AppError(Exception):
    """An expected failure, told in words that its reader can act on."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def extensions(self) -> dict[str, Any]:
        """What a GraphQL error's `extensions` carry: the code, and the error's data."""
        return {"code": self.code}


class SettingsError(AppError):
    """An environment variable or a command-line option has no usable value."""

    code = "SETTINGS"


class DatabaseError(AppError):
    """The database cannot be used as it is: too old, unreachable, an unsafe SQLite."""

    code = "DATABASE"


class DiskFullError(DatabaseError):
    """The database's disk is full: nothing of the transaction was written."""

    code = "DISK_FULL"


class TranscriptError(AppError):
    """A file cannot be read as the format that it was taken for."""

    code = "TRANSCRIPT"


class BadLineError(AppError):
    """A line that was sent to be imported cannot be; `line` is its 1-based number."""

    code = "BAD_LINE"

    def __init__(self, reason: str, *, line: int) -> None:
        super().__init__(f"Line {line}: {reason}")
        self.line = line

    @property
    def extensions(self) -> dict[str, Any]:
        """The code, and the line's number."""
        return {"code": self.code, "line": self.line}


class InvalidJsonError(AppError):
    """A value is nested too deep to be stored, or holds text that is not Unicode."""

    code = "INVALID_JSON"


class ArchivedSessionError(AppError):
    """A session is archived; until it is reopened, nothing can be written to it."""

    code = "SESSION_ARCHIVED"


class NotFoundError(AppError):
    """A session, project or file named by the user does not exist."""

    code = "NOT_FOUND"


class CorruptContentError(AppError):
    """Stored bytes do not match the hash under which they are stored."""

    code = "CORRUPT_CONTENT"


class BadUserInputError(AppError):
    """An argument has a value that the schema's types allow and its meaning does not."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, *, argument: str) -> None:
        super().__init__(message)
        self.argument = argument

    @property
    def extensions(self) -> dict[str, Any]:
        """The code, and the name of the argument."""
        return {"code": self.code, "argument": self.argument}


class ContentBudgetError(AppError):
    """A heavy field asked for with `compact: false`, or a slice, does not fit the budget."""

    code = "CONTENT_BUDGET_EXCEEDED"

    def __init__(self, message: str, *, size: int, budget_bytes: int, used_bytes: int) -> None:
        super().__init__(message)
        self.size = size
        self.budget_bytes = budget_bytes
        self.used_bytes = used_bytes

    @property
    def extensions(self) -> dict[str, Any]:
        """The code, and in bytes the field's size, the budget and what of it was used."""
        return {
            "code": self.code,
            "contentSize": self.size,
            "budgetBytes": self.budget_bytes,
            "usedBytes": self.used_bytes,
        }


class TooManyRowsError(AppError):
    """A page would take the operation over its budget of rows; it was not read."""

    code = "TOO_MANY_ROWS"

    def __init__(self, message: str, *, max_rows: int) -> None:
        super().__init__(message)
        self.max_rows = max_rows

    @property
    def extensions(self) -> dict[str, Any]:
        """The code, and how many rows an operation may have."""
        return {"code": self.code, "maxRows": self.max_rows}


class DocumentLimitError(AppError):
    """A document has more tokens, depth, aliases or selections than the server accepts."""

    code = "DOCUMENT_TOO_LARGE"


class UntrustedDocumentError(AppError):
    """A document is none of those that a server which executes no others has."""

    code = "DOCUMENT_NOT_TRUSTED"


class DocumentHashError(AppError):
    """A request names its document by what is no hash, or by two."""

    code = "BAD_DOCUMENT_HASH"


class UnknownDocumentError(DocumentHashError):
    """No trusted document has the hash; clients that know the text send that next."""

    code = "PERSISTED_QUERY_NOT_FOUND"


class NoTrustedDocumentsError(DocumentHashError):
    """This server has no trusted documents; clients that know the texts send those from now on."""

    code = "PERSISTED_QUERY_NOT_SUPPORTED"


class DeadlineError(AppError):
    """An operation was stopped because it took longer than the server allows."""

    code = "DEADLINE_EXCEEDED"


class RefusedError(AppError):
    """A mutation's input is refused; `path` leads to the part of it that is at fault."""

    code = "REFUSED"

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


class UnknownIdError(RefusedError):
    """Nothing that may be written has the id that `path` leads to."""

    code = "UNKNOWN_ID"


class InvalidInputError(RefusedError):
    """A value has no meaning here, or cannot be stored as it is."""

    code = "INVALID_INPUT"


class ConflictError(RefusedError):
    """A session is not where its writer expects it; `current` is where it is."""

    code = "CONFLICT"

    def __init__(self, message: str, *path: str | int, current: int) -> None:
        super().__init__(message, *path)
        self.current = current


class TooLargeError(RefusedError):
    """A batch has `size` messages or bytes, and `limit` are taken at once."""

    code = "TOO_LARGE"

    def __init__(self, message: str, *path: str | int, size: int, limit: int) -> None:
        super().__init__(message, *path)
        self.size = size
        self.limit = limit
