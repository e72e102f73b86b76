"""The comparison is worth something: it finds every fault that is put into a copy on purpose."""

from pathlib import Path

import pytest

from tests.execution.comparing import compare
from tests.execution.mutants import MUTANTS, mutant

DOCUMENTS = 1_000


@pytest.mark.parametrize("fault", list(MUTANTS))
async def test_a_fault_is_found(fault: str, tmp_path: Path) -> None:
    executor = mutant(fault, tmp_path)
    found = await compare(executor, documents=DOCUMENTS, stop_at_difference=True)
    assert found.differences
