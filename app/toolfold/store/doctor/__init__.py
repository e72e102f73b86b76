"""Whether a database is whole: everything that it says twice is compared with itself.

Each check looks through one project and yields findings; their names are the documented ones.
It reads in one transaction, holds no more than one content at a time, and changes
nothing.
"""

from toolfold.store.doctor import contents, messages, sessions
from toolfold.store.doctor.finding import Check, Finding

CHECKS: dict[str, Check] = {
    "content-damaged": contents.damage,
    "content-unused": contents.unused,
    "content-image": contents.images,
    "content-reference": messages.references,
    "message-size": messages.sizes,
    "message-text": messages.texts,
    "message-attachments": messages.attachments,
    "tool-content-state": messages.states,
    "session-counts": sessions.counts,
    "session-sequence": sessions.sequences,
    "session-revision": sessions.revisions,
    "session-parent": sessions.parents,
}
"""Every check of a project by the name of what it finds; `database.damage` is of the whole."""

__all__ = ["CHECKS", "Check", "Finding"]
