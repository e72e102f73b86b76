"""A server that is to stop: streams without an end of their own end where they are.

Their clients come back with the last cursor that they have, to the next server: for them it is as
if the connection had broken.
"""

import asyncio

from starlette.applications import Starlette
from starlette.types import Scope


def of(app: Starlette) -> asyncio.Event:
    """Return what is set once an application is to stop."""
    stopping: asyncio.Event = app.state.stopping
    return stopping


def has_begun(scope: Scope) -> bool:
    """Say whether the application that a request came to is to stop."""
    return of(scope["app"]).is_set()
