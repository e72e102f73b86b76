"""The viewer and GraphiQL: pages and assets as the build of `app/viewer` left them.

Assets have their hash in their name, so that a browser keeps them for good, and are sent in the
coding that the build wrote beside them. Pages name the assets, and are asked for every time.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolfold.server.representation import Representation, answer
from toolfold.server.static_codings import Coding, best_coding

_PACKAGE = Path(__file__).parents[1]
BUILT = (_PACKAGE / "viewer", _PACKAGE.parent / "viewer" / "dist")
"""Where a build may be: in an installed package, else beside the sources."""

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "media-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_GRAPHIQL_POLICY = {
    **_POLICY,
    # Monaco writes its theme, and where it puts each line, into style elements of its own.
    "style-src": "'self' 'unsafe-inline'",
    # GraphiQL's fonts are in its style sheet; Monaco draws with images in its own.
    "font-src": "'self' data:",
    "img-src": "'self' data:",
    "worker-src": "'self'",
}
