"""The tree of expected errors: stable codes, and the data that a client gets with them."""

import inspect

import pytest

from toolfold import errors
from toolfold.errors import AppError

ERRORS = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, AppError) and value is not AppError
]


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [error.code for error in ERRORS]
    assert len(set(codes)) == len(codes)
    assert AppError.code not in codes


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_the_tree_in_the_modules_text_shows_every_error_with_its_code(
    error: type[AppError],
) -> None:
    tree = (errors.__doc__ or "").splitlines()
    assert [line for line in tree if f"── {error.__name__} " in line and f" {error.code}: " in line]


@pytest.mark.parametrize(
    ("error", "extensions"),
    [
        (errors.DatabaseError("Too old."), {"code": "DATABASE"}),
        (
            errors.BadUserInputError("Too many.", argument="first"),
            {"code": "BAD_USER_INPUT", "argument": "first"},
        ),
        (
            errors.ContentBudgetError("Too big.", size=9_030, budget_bytes=4_096, used_bytes=390),
            {
                "code": "CONTENT_BUDGET_EXCEEDED",
                "contentSize": 9_030,
                "budgetBytes": 4_096,
                "usedBytes": 390,
            },
        ),
        (
            errors.BadLineError("not JSON", line=12),
            {"code": "BAD_LINE", "line": 12},
        ),
        (
            errors.TooManyRowsError("Too many rows.", max_rows=20_000),
            {"code": "TOO_MANY_ROWS", "maxRows": 20_000},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_client_gets_the_code_and_the_data_of_an_error(
    error: AppError, extensions: dict[str, object]
) -> None:
    assert error.extensions == extensions


def test_the_message_is_what_a_reader_sees() -> None:
    error = errors.NotFoundError("There is no session 7.")
    assert error.message == "There is no session 7."
    assert str(error) == "There is no session 7."
