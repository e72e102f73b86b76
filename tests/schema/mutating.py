"""Mutations as a test asks for them, and what is left in the tables."""

from typing import Any

from tests.ingest.stored import findings, state
from tests.schema.conftest import Api

ERRORS = """
errors {
  __typename message path
  ... on NotFoundError { id }
  ... on ConflictError { currentSequence }
  ... on TooLargeError { size limit }
}
"""


async def mutate(api: Api, field: str, selection: str = "", **given: Any) -> dict[str, Any]:
    """Return the payload of one mutation, whose operation has no error."""
    type_name = f"{field[0].upper()}{field[1:]}Input"
    document = f"""
    mutation ($input: {type_name}!) {{
      {field}(input: $input) {{ {selection} {ERRORS} clientMutationId }}
    }}
    """
    data = await api.data(document, input=given)
    payload: dict[str, Any] = data[field]
    return payload


async def refusals(api: Api, field: str, **given: Any) -> list[tuple[str, str]]:
    """Return type and dotted path of each error of a mutation that changes nothing."""
    before = await state(api.database)
    payload = await mutate(api, field, **given)
    assert await state(api.database) == before
    return shown(payload)


def shown(payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Return type and dotted path of each of a payload's errors."""
    return [(error["__typename"], ".".join(error["path"])) for error in payload["errors"]]


async def assert_sound(api: Api, project_id: str = "default") -> None:
    """Assert that the doctor finds nothing."""
    assert await findings(api.database, project_id) == []
