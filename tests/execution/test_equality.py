"""Random documents over random values, completed by generated code and by graphql-core alike.

`make fuzz` runs more of them.
"""

from tests.execution.comparing import compare
from toolfold.execution.executor import CompilingExecutor

DOCUMENTS = 500


async def test_random_documents_are_answered_as_graphql_core_answers_them() -> None:
    found = await compare(CompilingExecutor, documents=DOCUMENTS)
    assert found.differences == []
    # What makes the comparison one: values that are irregular, and generated code at work.
    assert found.with_errors > DOCUMENTS / 4
    assert found.compiled_fields < found.standard_fields / 3
