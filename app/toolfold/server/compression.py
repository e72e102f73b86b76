"""Answers in the coding that the client accepts, large ones compressed off the event loop."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolfold.server.codings import ENCODERS, Encoder, chosen, encode_whole, is_compressible, weak

OFF_LOOP_BYTES = 64 * 1024
"""From here on a thread compresses: shorter bytes take less time than others notice."""

# Those that have no body, and the part of one: bytes of a range are counted uncoded.
_AS_THEY_ARE = frozenset({204, 205, 206, 304})

_ACCEPT_ENCODING = b"accept-encoding"

T = TypeVar("T")


class CompressionMiddleware:
    """Pure ASGI middleware over HTTP. Streams stay streams; what is coded already is left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its answer comes back through an `_Answer`."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        accept = b",".join(value for name, value in scope["headers"] if name == _ACCEPT_ENCODING)
        await self.app(
            scope,
            receive,
            _Answer(send, accept.decode("latin-1"), is_head=scope["method"] == "HEAD"),
        )


class _Answer:
    """The `send` of one answer.

    Its start is held back until the first bytes say whether more follow: a body that is whole has
    a length in its coding too.
    """

    def __init__(self, send: Send, accept_encoding: str, *, is_head: bool) -> None:
        self._send = send
        self._accept_encoding = accept_encoding
        self._is_head = is_head
        self._coding: str | None = None
        self._start: Message | None = None
        self._encoder: Encoder | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._coding is None:
            await self._send(message)
        elif self._start is not None and not message.get("more_body", False):
            await self._send_whole(self._coding, self._start, message)
        else:
            await self._send_piece(self._coding, message)

    async def _begin(self, start: Message) -> None:
        headers = MutableHeaders(scope=start)
        if may_be_coded(headers):
            if "accept-encoding" not in headers.get("vary", "").lower():
                headers.add_vary_header("Accept-Encoding")
            if start["status"] not in _AS_THEY_ARE:
                length = headers.get("content-length")
                size = None if length is None else int(length)
                self._coding = chosen(self._accept_encoding, headers["content-type"], size)
        if self._coding is None:
            await self._send(start)
            return
        headers["content-encoding"] = self._coding
        if "etag" in headers:
            headers["etag"] = weak(headers["etag"])
        # How long the coded body is, only its end can tell.
        del headers["content-length"]
        if self._is_head:
            self._coding = None
            await self._send(start)
        else:
            self._start = start

    async def _send_whole(self, coding: str, start: Message, message: Message) -> None:
        body = message.get("body", b"")
        coded = await _off_loop(len(body), lambda: encode_whole(coding, body))
        MutableHeaders(scope=start)["content-length"] = str(len(coded))
        await self._send(start)
        await self._send({**message, "body": coded})

    async def _send_piece(self, coding: str, message: Message) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            await self._send(start)
        encoder = self._encoder = self._encoder or ENCODERS[coding]()
        body, is_last = message.get("body", b""), not message.get("more_body", False)

        def encode() -> bytes:
            coded = encoder.encode(body)
            return coded + encoder.end() if is_last else coded

        coded = await _off_loop(len(body), encode)
        if coded or is_last:
            await self._send({**message, "body": coded})


def may_be_coded(headers: Headers) -> bool:
    """Say whether what an answer is of could go out in a coding, if the client accepted one."""
    return (
        "content-encoding" not in headers
        and "no-transform" not in headers.get("cache-control", "")
        and is_compressible(headers.get("content-type", ""))
    )


async def _off_loop(size: int, encode: Callable[[], T]) -> T:
    return encode() if size < OFF_LOOP_BYTES else await asyncio.to_thread(encode)
