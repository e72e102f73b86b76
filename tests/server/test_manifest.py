"""Manifests of trusted documents: what tools write is read, what is of no use is refused."""

import json
from pathlib import Path

import pytest

from tests.server.small_schema import SmallSchema
from tests.server.test_trusted_documents import (
    HELLO,
    MANIFESTS,
    OTHER,
    VARIABLES,
    in_process_over,
    settings_with,
    sha256,
)
from toolfold.errors import SettingsError
from toolfold.server import create_app
from toolfold.settings import Settings


@pytest.mark.parametrize("tool", ["apollo", "graphql_codegen", "gql_tada", "relay"])
async def test_manifests_are_read_as_tools_write_them(tmp_path: Path, tool: str) -> None:
    """What @apollo/generate-persisted-query-manifest 1.4, the client preset 6.2 of graphql-codegen,
    gql.tada 1.11 and relay-compiler 21 have made of the same documents, byte by byte."""
    manifest = json.loads((MANIFESTS / f"{tool}.json").read_text("utf-8"))
    ids = [item["id"] for item in manifest.get("operations", [])] or list(manifest)
    settings = settings_with(tmp_path, manifest, only=True)
    answers = []
    headers = {"accept": "text/event-stream"}
    async with in_process_over(settings) as client:
        for name in ids:
            for named in (
                {"documentId": name},
                {"doc_id": name},
                {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": name}}},
            ):
                body = {"variables": VARIABLES, **named}
                answer = await client.post("/graphql", json=body, headers=headers)
                answers.append(answer.text)
    for sign in ("hello é", '"change"', '"ticks"'):
        assert sum(sign in answer for answer in answers) == 3
    assert not any("errors" in answer for answer in answers)


INVALID = "{ nothing }"
BROKEN = "{"
DEEP = "{ " + "a { " * 20 + "b" + " }" * 20 + " }"


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{", r": is not valid JSON: "),
        ("[]", r": is not a JSON object of hashes and documents"),
        ({"format": "other", "version": 1}, r": is of another format than apollo-"),
        (
            {"format": "apollo-persisted-query-manifest", "version": 2, "operations": []},
            r": is of another format than apollo-persisted-query-manifest, version 1",
        ),
        (
            {"format": "apollo-persisted-query-manifest", "version": 1},
            r": has no list `operations`",
        ),
        (
            {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [5]},
            r", entry 'operations\[0\]': is not an object with an id",
        ),
        (
            {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{}]},
            r", entry 'operations\[0\]': is not an object with an id",
        ),
        ({"d41d8cd98f00b204e9800998ecf8427e": OTHER}, r", entry 'd41d8\w+': is not named by a SHA"),
        ({sha256(HELLO): None}, rf", entry '{sha256(HELLO)}': its document is not text"),
        (
            {sha256(HELLO): OTHER},
            rf", entry '{sha256(HELLO)}': its document has another hash, {sha256(OTHER)}",
        ),
        ({sha256(BROKEN): BROKEN}, rf", entry '{sha256(BROKEN)}': Syntax Error: "),
        ({sha256(INVALID): INVALID}, rf", entry '{sha256(INVALID)}': Cannot query field 'nothing'"),
        ({sha256(DEEP): DEEP}, rf", entry '{sha256(DEEP)}': The document's depth is 21, over"),
        (
            {sha256("#" * 70_000): "#" * 70_000},
            r", entry '\w+': The document has 70000 characters, over 64000",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_stops_the_start_and_names_the_entry(
    tmp_path: Path, manifest: object, problem: str
) -> None:
    settings = settings_with(tmp_path, manifest)
    path = str(tmp_path / "manifest.json")
    with pytest.raises(SettingsError, match=f"^The manifest of trusted documents {path}{problem}"):
        create_app(settings, schema=SmallSchema())


def test_a_manifest_must_be_there(tmp_path: Path) -> None:
    absent = Settings(data_dir=tmp_path, trusted_documents=str(tmp_path / "absent.json"))
    with pytest.raises(SettingsError, match=r"absent\.json: cannot be read: No such file"):
        create_app(absent, schema=SmallSchema())
    with pytest.raises(SettingsError, match="TOOLFOLD_TRUSTED_DOCUMENTS_ONLY needs a manifest"):
        create_app(Settings(data_dir=tmp_path, trusted_documents_only=True), schema=SmallSchema())
