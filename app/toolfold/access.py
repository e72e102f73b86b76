"""Who may speak to this server: checked before anything else sees a request.

A server on a loopback address is reachable by every web page that its user opens. The Host is
checked because a page can point a name of its own at 127.0.0.1 (DNS rebinding) and would then
be of one origin with the server; Origin and Sec-Fetch-Site because a page can send requests,
and open WebSockets, across origins. Clients that are no browsers send neither of those two.
"""

import re
from collections.abc import Mapping, Sequence

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})

SECURITY_HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Of every answer, unless it brings a header of the same name: a page needs a policy of its own."""

_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


class AccessMiddleware:
    """Pure ASGI middleware over HTTP and WebSocket; a refusal over HTTP is one line of JSON.

    `hosts` are the names, in lower case, under which the server may be addressed, at any port.
    """

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] = LOOPBACK_HOSTS) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in, with the security headers on its answer; refuse the rest."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, _secured(send))
        elif scope["type"] == "http":
            await refusal(scope, receive, _secured(send))
        else:
            # Before it is accepted, which answers the handshake with 403. A page can't read why.
            await send({"type": "websocket.close", "code": 4403})

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            return _refuse(400, "HOST_NOT_ALLOWED", "A request must have exactly one Host header.")
        if not self._is_own(hosts[0]):
            named = ", ".join(sorted(self.hosts))
            message = f"This server answers to {named} only, not to the Host of this request."
            return _refuse(421, "HOST_NOT_ALLOWED", message)
        if not _is_same_origin(headers.getlist("origin"), hosts[0]):
            message = "A page of another origin may not use this server."
            return _refuse(403, "ORIGIN_NOT_ALLOWED", message)
        if _is_sent_across_sites(headers) and not _is_visit(scope, headers):
            message = "A page of another site may link to this server, but not use it."
            return _refuse(403, "ORIGIN_NOT_ALLOWED", message)
        return None

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        return match is not None and match["name"].lower() in self.hosts


def _is_same_origin(origins: Sequence[str], host: str) -> bool:
    """Say whether there is no Origin, or one that is this server's own; `null` never is."""
    own = (f"http://{host}".lower(), f"https://{host}".lower())
    return not origins or (len(origins) == 1 and origins[0].lower() in own)


def _is_sent_across_sites(headers: Headers) -> bool:
    # `same-site` is another port of this machine: a page of any other local server.
    return any(value in ("cross-site", "same-site") for value in headers.getlist("sec-fetch-site"))


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Say whether a person follows a link to here: a page of its own, that the other can't read."""
    return (
        scope["type"] == "http"
        and scope["method"] in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _refuse(status: int, code: str, message: str) -> JSONResponse:
    errors = [{"message": message, "extensions": {"code": code}}]
    return JSONResponse({"errors": errors}, status)


def _secured(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message["headers"])
            names = {name.lower() for name, _ in given}
            missing = [header for header in _RAW_HEADERS if header[0] not in names]
            message = {**message, "headers": given + missing}
        await send(message)

    return send_with_headers
