"""The README's queries give the answers that it shows, on the sample session."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from toolfold import sample
from toolfold.documents import Documents
from toolfold.ingest import record
from toolfold.schema.context import Resources
from toolfold.settings import Settings
from toolfold.store import project
from toolfold.store.engine import Database

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(
    r"^```graphql\n(.*?)^```.*?^```json\n(.*?)^```", README, re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_the_answers_in_the_readme_are_those_of_the_sample_session(
    database: Database, database_settings: Settings
) -> None:
    entries = list(sample.entries())
    now = datetime.now(UTC)
    await database.write(
        lambda connection: record(
            connection, project.DEFAULT_ID, entries, format=sample.FORMAT, now=now
        )
    )
    documents = Documents(Resources(database_settings, database))
    assert len(SHOWN) == 2
    for query, answer in SHOWN:
        response = await documents.response(query)
        assert json.loads(orjson.dumps(response)) == json.loads(answer)


def test_the_pictures_in_the_readme_are_there_and_small() -> None:
    pictures = set(re.findall(r'(?:src|srcset)="([^"]+)"', README))
    sizes = {name: (ROOT / name).stat().st_size for name in pictures}
    assert len(pictures) == 4
    assert max(sizes.values()) < 150_000
