"""Pages and assets: how long they are kept, in which coding they go out, and what is no asset."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.server.serving import codes, in_process
from toolfold.server import create_app
from toolfold.server.viewer import Pages
from toolfold.settings import Settings

SCRIPT = b"export const answer = 42\n" * 100
# No time in it: the processes of one run name their tests alike.
GZIPPED = gzip.compress(SCRIPT, mtime=0)
VIEWER_PAGE = b"<!doctype html><title>Toolfold</title>"
GRAPHIQL_PAGE = b"<!doctype html><title>GraphiQL</title>"
NAME = "index-Bx_9-a1.js"
IMMUTABLE = "public, max-age=31536000, immutable"
FROM_A_BROWSER = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build: two pages, a script in three codings, a picture in one, and what is not served."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    files = {
        "index.html": VIEWER_PAGE,
        "graphiql.html": GRAPHIQL_PAGE,
        "sources.sha256": b"0",
        ".vite/manifest.json": b"{}",
        f"assets/{NAME}": SCRIPT,
        f"assets/{NAME}.gz": GZIPPED,
        f"assets/{NAME}.br": b"brotli",
        "assets/icon-1.svg": b"<svg/>",
        "assets/.hidden.js": b"hidden",
        "assets/notes.txt": b"notes",
    }
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "secret.js").write_bytes(b"secret")
    return folder


@pytest.fixture
async def site(folder: Path, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server with that build."""
    app = create_app(Settings(data_dir=tmp_path), pages=Pages([tmp_path / "none", folder]))
    async with in_process(app) as client:
        # httpx accepts codings unless it is told otherwise.
        client.headers["accept-encoding"] = "identity"
        yield client


@pytest.mark.parametrize(
    ("path", "page"),
    [("/", VIEWER_PAGE), ("/sessions/U2Vzc2lvbg", VIEWER_PAGE), ("/graphiql", GRAPHIQL_PAGE)],
)
async def test_a_page_is_asked_for_each_time_and_sent_when_it_has_changed(
    site: httpx.AsyncClient, folder: Path, path: str, page: bytes
) -> None:
    first = await site.get(path)
    assert (first.status_code, first.content) == (200, page)
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["cache-control"] == "no-cache"
    known = {"if-none-match": first.headers["etag"]}
    again = await site.get(path, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == "no-cache"
    for name in ("index.html", "graphiql.html"):
        (folder / name).write_bytes(b"<!doctype html>new")
    new = await site.get(path, headers=known)
    assert (new.status_code, new.content) == (200, b"<!doctype html>new")


async def test_a_head_tells_what_a_get_would(site: httpx.AsyncClient) -> None:
    for path in ("/", "/graphiql", f"/assets/{NAME}"):
        get, head = await site.get(path), await site.head(path)
        assert head.content == b""
        dated = {"date"}
        assert dict(head.headers) | dict.fromkeys(dated) == dict(get.headers) | dict.fromkeys(dated)


async def test_the_viewer_may_use_nothing_but_its_own_server(site: httpx.AsyncClient) -> None:
    policy = directives((await site.get("/")).headers)
    assert policy.pop("default-src") == "'none'"
    assert {policy.pop(name) for name in ("base-uri", "form-action", "frame-ancestors")} == {
        "'none'"
    }
    assert set(policy.values()) == {"'self'"}


async def test_graphiql_may_do_little_more(site: httpx.AsyncClient) -> None:
    viewer = directives((await site.get("/")).headers)
    graphiql = directives((await site.get("/graphiql")).headers)
    more = {name: value for name, value in graphiql.items() if viewer.get(name) != value}
    assert viewer.keys() <= graphiql.keys()
    assert more == {
        "style-src": "'self' 'unsafe-inline'",
        "font-src": "'self' data:",
        "img-src": "'self' data:",
        "worker-src": "'self'",
    }


@pytest.mark.parametrize("path", ["/", "/graphiql", f"/assets/{NAME}"])
async def test_pages_and_assets_are_nobody_elses(site: httpx.AsyncClient, path: str) -> None:
    headers = (await site.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert codes(await site.get(path, headers={"host": "evil.example"})) == ["HOST_NOT_ALLOWED"]


@pytest.mark.parametrize(
    ("accepted", "coding", "body"),
    [
        ("br, gzip", "br", b"brotli"),
        ("gzip, deflate, br, zstd", "br", b"brotli"),
        ("gzip", "gzip", GZIPPED),
        ("br;q=0.5, gzip;q=0.9", "gzip", GZIPPED),
        ("br;q=0, gzip;q=0", None, SCRIPT),
        ("identity", None, SCRIPT),
    ],
)
async def test_an_asset_goes_out_in_the_coding_that_was_built(
    site: httpx.AsyncClient, accepted: str, coding: str | None, body: bytes
) -> None:
    async with site.stream("GET", f"/assets/{NAME}", headers={"accept-encoding": accepted}) as got:
        sent = b"".join([part async for part in got.aiter_raw()])
    assert got.headers.get("content-encoding") == coding
    assert sent == body
    assert got.headers["vary"] == "Accept-Encoding"
    assert got.headers["cache-control"] == IMMUTABLE
    assert got.headers["content-type"] == "text/javascript; charset=utf-8"
    assert got.headers["content-length"] == str(len(sent))


async def test_each_coding_of_an_asset_has_an_entity_tag_of_its_own(
    site: httpx.AsyncClient,
) -> None:
    tags = []
    for accepted in ("br", "gzip", "identity"):
        headers = {"accept-encoding": accepted}
        tag = (await site.head(f"/assets/{NAME}", headers=headers)).headers["etag"]
        known = await site.get(f"/assets/{NAME}", headers=headers | {"if-none-match": tag})
        assert known.status_code == 304
        tags.append(tag)
    assert len(set(tags)) == 3


async def test_an_asset_without_other_codings_goes_out_as_it_is(site: httpx.AsyncClient) -> None:
    answer = await site.get("/assets/icon-1.svg", headers={"accept-encoding": "br, gzip"})
    assert (answer.content, answer.headers["content-type"]) == (b"<svg/>", "image/svg+xml")
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/absent.js",
        "/assets/../index.html",
        "/assets/..%2findex.html",
        "/assets/..%2f..%2fsecret.js",
        "/assets/%2e%2e/%2e%2e/secret.js",
        "/assets/..%5c..%5csecret.js",
        "/assets/%2fetc%2fpasswd.js",
        "/assets/secret.js%00.js",
        "/assets/.hidden.js",
        "/assets/notes.txt",
        f"/assets/{NAME}.br",
        "/assets/",
        "/assets",
        "/index.html",
        "/sources.sha256",
        "/.vite/manifest.json",
        "/sessions/a/b",
    ],
)
async def test_what_is_no_page_and_no_asset_is_not_there(
    site: httpx.AsyncClient, path: str
) -> None:
    # As raw bytes: a client would resolve the dots itself.
    url = httpx.URL("http://127.0.0.1:7878").copy_with(raw_path=path.encode())
    answer = await site.send(site.build_request("GET", url))
    assert (answer.status_code, codes(answer)) == (404, ["NOT_FOUND"])


@pytest.mark.parametrize(
    "path", ["/nonsense", "/sessions/unknown/extra", "/sessions", "/api/nonsense", "/index.html"]
)
async def test_a_browser_is_shown_that_an_address_is_unknown(
    site: httpx.AsyncClient, path: str
) -> None:
    shown = await site.get(path, headers=FROM_A_BROWSER)
    assert (shown.status_code, shown.content) == (404, VIEWER_PAGE)
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    # A page may be there tomorrow.
    assert shown.headers["cache-control"] == "no-store"
    assert directives(shown.headers) == directives((await site.get("/")).headers)
    assert (await site.head(path, headers=FROM_A_BROWSER)).status_code == 404
    for method, headers in [
        ("GET", {}),
        ("GET", {"accept": "application/json"}),
        ("POST", FROM_A_BROWSER),
    ]:
        told = await site.request(method, path, headers=headers)
        assert (told.status_code, codes(told)) == (404, ["NOT_FOUND"])


async def test_what_a_route_answers_is_no_page_for_a_browser_either(
    site: httpx.AsyncClient,
) -> None:
    absent = await site.get("/api/projects/default/blobs/sha256:0", headers=FROM_A_BROWSER)
    assert (absent.status_code, codes(absent)) == (404, ["NOT_FOUND"])
    refused = await site.get("/api/projects/default/import", headers=FROM_A_BROWSER)
    assert (refused.status_code, codes(refused)) == (405, ["METHOD_NOT_ALLOWED"])
    assert (await site.get("/sessions/a/", headers=FROM_A_BROWSER)).status_code == 307


async def test_without_a_build_the_pages_say_how_to_make_one(tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    app = create_app(Settings(data_dir=tmp_path), pages=Pages([folder]))
    async with in_process(app) as client:
        for path in ("/", "/sessions/a", "/graphiql"):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["cache-control"]) == (503, "no-store")
            assert "make viewer" in answer.text
        assert (await client.get(f"/assets/{NAME}")).status_code == 404
        unknown = await client.get("/nonsense", headers=FROM_A_BROWSER)
        assert (unknown.status_code, codes(unknown)) == (404, ["NOT_FOUND"])
        query = {"query": "{ limits { maxRows } }"}
        assert (await client.post("/graphql", json=query)).status_code == 200
        folder.mkdir()
        for name in ("index.html", "graphiql.html"):
            (folder / name).write_bytes(VIEWER_PAGE)
        assert (await client.get("/")).content == VIEWER_PAGE


def directives(headers: httpx.Headers) -> dict[str, str]:
    """Return the sources of each directive of a content security policy."""
    parts = headers["content-security-policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)
