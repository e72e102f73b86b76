"""Where the spools are: beside the database, those of each database in a folder of their own."""

import hashlib
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from toolfold.settings import Settings

FOLDER = "acp-spool"
SUFFIX = ".acp"
LOG = "recorder.log"
"""Where in the folder the processes that record spools say what they cannot tell anyone."""

_SECRETS = frozenset({"password", "passfile", "sslpassword"})


def folder(settings: Settings) -> Path:
    """Return the folder of the spools for one database: that of the data folder, or a server's.

    The URL's password makes no difference.
    """
    spools = settings.data_dir / FOLDER
    if not settings.database_url:
        return spools
    url = urlsplit(settings.database_url)
    options = sorted(pair for pair in parse_qsl(url.query) if pair[0] not in _SECRETS)
    named = (url.username, url.netloc.rpartition("@")[2], url.path, options)
    return spools / hashlib.sha256(repr(named).encode()).hexdigest()[:16]


def waiting(settings: Settings) -> list[Path]:
    """Return the spools for the database of these settings, the oldest first.

    Raises:
        OSError: if the folder cannot be read.
    """
    try:
        return sorted(path for path in folder(settings).iterdir() if path.suffix == SUFFIX)
    except FileNotFoundError:
        return []
