"""`/mcp`: sessions for other agents, over streamable HTTP.

The MCP SDK takes longer to load than all else: it is loaded when the first client comes, so that
a server of which nobody asks this starts without it.
"""

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from starlette.types import Receive, Scope, Send

from toolfold.documents import Documents
from toolfold.server import stopping

_MODULE = "toolfold.mcp_server.server"

MakeServer = Callable[[Documents], Any]
"""Returns the MCP server over these documents."""


class McpEndpoint:
    """The ASGI application at `/mcp`; it answers while `hosting` is under way."""

    def __init__(self, make_server: MakeServer | None = None) -> None:
        self._make_server = make_server
        self._is_wanted = asyncio.Event()
        self._manager: asyncio.Future[Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the first one waits until the SDK is loaded."""
        self._is_wanted.set()
        if self._manager is None:
            raise RuntimeError("The endpoint is not hosted.")
        manager = await asyncio.shield(self._manager)
        handling = manager.handle_request(scope, receive, send)
        if scope["method"] == "GET":
            # A stream that a client holds open for what the server may have to say.
            await _until(stopping.of(scope["app"]), handling)
        else:
            await handling

    @contextlib.asynccontextmanager
    async def hosting(self, documents: Documents) -> AsyncIterator[None]:
        """Serve these documents for as long as the block runs."""
        self._manager = asyncio.get_running_loop().create_future()
        is_over = asyncio.Event()
        task = asyncio.create_task(self._host(documents, is_over, self._manager))
        try:
            yield
        finally:
            is_over.set()
            self._is_wanted.set()
            await task
            self._manager = None
            self._is_wanted.clear()

    async def _host(
        self, documents: Documents, is_over: asyncio.Event, manager: "asyncio.Future[Any]"
    ) -> None:
        """Load and run the server once it is wanted, all in one task, as its task group needs."""
        await self._is_wanted.wait()
        if is_over.is_set():
            return
        try:
            server = await asyncio.to_thread(self._made, documents)
            async with server.session_manager.run():
                manager.set_result(server.session_manager)
                await is_over.wait()
        except Exception as error:
            if manager.done():
                raise
            manager.set_exception(error)
            manager.exception()

    def _made(self, documents: Documents) -> Any:
        make = self._make_server or importlib.import_module(_MODULE).build_server
        server = make(documents)
        # Host and Origin were checked by `toolfold.access`, for every route alike.
        security = importlib.import_module("mcp.server.transport_security")
        server.streamable_http_app(
            max_request_body_size=documents.settings.max_body_bytes,
            transport_security=security.TransportSecuritySettings(
                enable_dns_rebinding_protection=False
            ),
        )
        return server


async def _until(event: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do some work, and leave it where it is when the event is set."""
    working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
