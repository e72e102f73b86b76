"""The importers there are; the entry of a format here is all that makes it known."""

from toolfold.importers import acp, claude_code, toolfold_export
from toolfold.importers.importer import Importer

IMPORTERS: tuple[Importer, ...] = (
    Importer(acp.NAME, acp.accepts, acp.parse),
    Importer(
        claude_code.NAME,
        claude_code.accepts,
        claude_code.parse,
        claude_code.companions,
        claude_code.owns,
    ),
    Importer(toolfold_export.NAME, toolfold_export.accepts, toolfold_export.parse),
)
"""Every format that can be imported."""


def importer_of(name: str) -> Importer | None:
    """Return the importer of a format; None if there is none any more."""
    return next((importer for importer in IMPORTERS if importer.name == name), None)
