"""Reading a manifest of trusted documents, as the tools of clients write it.

A plain JSON object of SHA-256 to document (Relay's `persisted_queries.json`, graphql-codegen's
`persisted-documents.json`, gql.tada, whose keys begin with `sha256:`), or Apollo's
`apollo-persisted-query-manifest`.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from toolfold.errors import SettingsError

APOLLO_FORMAT = "apollo-persisted-query-manifest"
HASH = re.compile(r"(?:sha256:)?([0-9a-f]{64})", re.IGNORECASE)
"""A document's hash as requests and manifests have it; its group is the hexadecimal digits."""


def read_manifest(path: Path) -> dict[str, str]:
    """Return the documents of a manifest by their SHA-256 in lower-case hexadecimal.

    Raises:
        SettingsError: naming the file, and the entry if one is at fault.
    """
    try:
        manifest = orjson.loads(path.read_bytes())
    except OSError as error:
        raise manifest_error(path, f"cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise manifest_error(path, f"is not valid JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise manifest_error(path, "is not a JSON object of hashes and documents")
    entries = _apollo_entries(path, manifest) if "format" in manifest else iter(manifest.items())
    return dict(_checked(path, name, document) for name, document in entries)


def digest_of(text: str) -> str:
    """Return a document's SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def manifest_error(path: Path, problem: str, entry: object = None) -> SettingsError:
    """Return the error that names the manifest, what is wrong with it, and where."""
    place = "" if entry is None else f", entry {entry!r}"
    return SettingsError(f"The manifest of trusted documents {path}{place}: {problem}.")


def _apollo_entries(path: Path, manifest: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    if (manifest["format"], manifest.get("version")) != (APOLLO_FORMAT, 1):
        raise manifest_error(path, f"is of another format than {APOLLO_FORMAT}, version 1")
    operations = manifest.get("operations")
    if not isinstance(operations, list):
        raise manifest_error(path, "has no list `operations`")
    for position, operation in enumerate(operations):
        if not isinstance(operation, dict) or "id" not in operation:
            raise manifest_error(path, "is not an object with an id", f"operations[{position}]")
        yield operation["id"], operation.get("body")


def _checked(path: Path, name: object, document: object) -> tuple[str, str]:
    match = HASH.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        problem = "is not named by a SHA-256 in hexadecimal, which the tool can be told to write"
        raise manifest_error(path, problem, name)
    if not isinstance(document, str):
        raise manifest_error(path, "its document is not text", name)
    digest = digest_of(document)
    if digest != match[1].lower():
        raise manifest_error(path, f"its document has another hash, {digest}", name)
    return digest, document
