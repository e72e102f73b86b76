"""The viewer and GraphiQL: pages and assets as the build of `app/viewer` left them.

An asset has its hash in its name, so that a browser keeps it for good, and goes out in the coding
that the build wrote beside it. A page names its assets, and is asked for anew each time.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from toolfold.server.negotiation import coding_among, prefers_page
from toolfold.server.representation import Representation, answer

_PACKAGE = Path(__file__).parents[1]
FOLDERS = (_PACKAGE / "viewer", _PACKAGE.parent / "viewer" / "dist")
"""Where a build may be: in the installed package, else beside the sources."""

_CODINGS = {"br": ".br", "gzip": ".gz"}
_MEDIA_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".woff2": "font/woff2",
}
_ASSET_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable", "vary": "Accept-Encoding"}

_VIEWER_POLICY = {
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
    **_VIEWER_POLICY,
    # Monaco writes its colours, and where each line stands, into style elements of its own.
    "style-src": "'self' 'unsafe-inline'",
    # GraphiQL's style sheet holds its fonts, and Monaco's the pictures that it draws with.
    "font-src": "'self' data:",
    "img-src": "'self' data:",
    "worker-src": "'self'",
}

NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Toolfold: the viewer is not built</title>
<h1>The viewer is not built</h1>
<p>This Toolfold runs from its sources, and its pages have not been built from them yet.
GraphQL works all the same, at <code>/graphql</code>.</p>
<p>To build them, either</p>
<ul>
<li>install Node.js 20.19 or newer with npm, run <code>make viewer</code> in the repository, and
load this page again; or</li>
<li>install Toolfold with <code>pip install .</code> in the repository, which brings what it needs
from the Python registry; or</li>
<li>install a wheel of Toolfold, which holds the pages.</li>
</ul>
</html>
"""


class Pages:
    """The routes of the build that is in the first of `folders` that has one.

    It is looked for with each request: a build may come, or change, while the server runs.
    """

    def __init__(self, folders: Sequence[Path] = FOLDERS) -> None:
        self._folders = folders

    @property
    def are_built(self) -> bool:
        """Whether there is a build."""
        return self._folder() is not None

    def routes(self) -> list[Route]:
        """Return the routes of pages and assets; the viewer's own addresses are all one page."""
        viewer = partial(self._page, "index.html", _policy(_VIEWER_POLICY))
        graphiql = partial(self._page, "graphiql.html", _policy(_GRAPHIQL_POLICY))
        return [
            Route("/", viewer),
            Route("/sessions/{session}", viewer),
            Route("/graphiql", graphiql),
            Route("/assets/{name}", self._asset),
        ]

    def or_page(self, absent: ASGIApp) -> ASGIApp:
        """Return what answers at addresses that are no route's: `absent`, and browsers the viewer.

        Its page has status 404 then, and says what is not there. Without a build, `absent` does.
        """

        async def answer_absent(scope: Scope, receive: Receive, send: Send) -> None:
            page = await self._page_of_absent(Request(scope)) if scope["type"] == "http" else None
            await (page or absent)(scope, receive, send)

        return answer_absent

    async def _page_of_absent(self, request: Request) -> Response | None:
        accepted = ",".join(request.headers.getlist("accept"))
        if request.method not in ("GET", "HEAD") or not prefers_page(accepted):
            return None
        data = await anyio.to_thread.run_sync(self._read_page, "index.html")
        if data is None:
            return None
        policy = _policy(_VIEWER_POLICY)
        headers = {"cache-control": "no-store", "content-security-policy": policy}
        return HTMLResponse(data, 404, headers)

    async def _page(self, name: str, policy: str, request: Request) -> Response:
        data = await anyio.to_thread.run_sync(self._read_page, name)
        if data is None:
            return HTMLResponse(NOT_BUILT, 503, {"cache-control": "no-store"})
        headers = {"cache-control": "no-cache", "content-security-policy": policy}
        etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        page = Representation(len(data), etag, "text/html", headers, partial(_slice, data))
        return await answer(request, page)

    async def _asset(self, request: Request) -> Response:
        """Answer a file in `assets`; its name has its hash, so that it is its own entity tag."""
        name = request.path_params["name"]
        accepted = ",".join(request.headers.getlist("accept-encoding"))
        asset = await anyio.to_thread.run_sync(self._find_asset, name, accepted)
        if asset is None:
            raise HTTPException(404, "There is nothing here.")
        return await answer(request, asset)

    def _folder(self) -> Path | None:
        return next((one for one in self._folders if (one / "index.html").is_file()), None)

    def _read_page(self, name: str) -> bytes | None:
        folder = self._folder()
        return None if folder is None else (folder / name).read_bytes()

    def _find_asset(self, name: str, accepted: str) -> Representation | None:
        folder, media_type = self._folder(), _MEDIA_TYPES.get(Path(name).suffix)
        # A name without a separator: there is no way out of the folder.
        if folder is None or media_type is None or not _ASSET_NAME.fullmatch(name):
            return None
        plain = folder / "assets" / name
        if not plain.is_file():
            return None
        forms = {
            coding: form
            for coding, suffix in _CODINGS.items()
            if (form := plain.with_name(name + suffix)).is_file()
        }
        coding = coding_among(accepted, tuple(forms)) if forms else None
        if coding is None:
            return _file(plain, f'"{name}"', media_type, _IMMUTABLE)
        headers = {**_IMMUTABLE, "content-encoding": coding}
        return _file(forms[coding], f'"{name}{_CODINGS[coding]}"', media_type, headers)


def _policy(directives: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def _file(path: Path, etag: str, media_type: str, headers: Mapping[str, str]) -> Representation:
    return Representation(path.stat().st_size, etag, media_type, headers, partial(_read, path))


async def _read(path: Path, start: int, stop: int) -> AsyncIterator[bytes]:
    """Yield bytes [start, stop) of a file; no asset is too large to be held at once."""
    yield (await anyio.to_thread.run_sync(path.read_bytes))[start:stop]


async def _slice(data: bytes, start: int, stop: int) -> AsyncIterator[bytes]:
    yield data[start:stop]
