"""Host, Origin and Sec-Fetch-Site are checked on HTTP and WebSocket before anything else."""

import httpx
import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from toolfold.access import AccessMiddleware


async def anything(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer every request, and accept every WebSocket."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    headers = {"content-security-policy": "its own"} if scope["path"] == "/page" else {}
    await PlainTextResponse("inside", headers=headers)(scope, receive, send)


async def ask(
    headers: dict[str, str] | list[tuple[str, str]], method: str = "GET", path: str = "/"
) -> httpx.Response:
    transport = httpx.ASGITransport(AccessMiddleware(anything))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:7878") as client:
        return await client.request(method, path, headers=headers)


async def shake_hands(headers: dict[str, str]) -> list[Message]:
    """Return what is sent in answer to a WebSocket handshake."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "websocket", "path": "/", "headers": raw}
    await AccessMiddleware(anything)(scope, receive, send)
    return sent


def code(response: Response | httpx.Response) -> str:
    (error,) = response.json()["errors"]  # type: ignore[union-attr]  # of httpx only
    return str(error["extensions"]["code"])


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:7878", "LocalHost:1", "127.0.0.1", "127.0.0.1:7878", "[::1]:7878"],
)
async def test_loopback_names_are_served_at_any_port(host: str) -> None:
    response = await ask({"host": host})
    assert (response.status_code, response.text) == (200, "inside")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7878",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example@localhost",
        "localhost:7878@evil.example",
        "localhost:7878/",
        "localhost:",
        "localhost:port",
        "::1",
        "[::1",
        "0.0.0.0",  # noqa: S104 - Nothing is bound to it.
        "192.168.0.7",
        " localhost",
        "",
    ],
)
async def test_a_name_that_was_pointed_at_this_machine_is_refused_in_one_line(host: str) -> None:
    response = await ask({"host": host})
    assert (response.status_code, code(response)) == (421, "HOST_NOT_ALLOWED")
    assert response.text.count("\n") == 0
    assert "127.0.0.1, [::1], localhost" in response.text


async def test_a_request_with_two_hosts_or_none_is_refused() -> None:
    two = await ask([("host", "localhost"), ("host", "localhost")])
    assert (two.status_code, code(two)) == (400, "HOST_NOT_ALLOWED")
    assert await shake_hands({}) == [{"type": "websocket.close", "code": 4403}]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("origin", ["http://localhost:7878", "https://localhost:7878"])
async def test_the_servers_own_origin_is_served(origin: str, method: str) -> None:
    response = await ask({"host": "localhost:7878", "origin": origin}, method)
    assert response.status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://localhost",
        "http://localhost:5173",
        "http://127.0.0.1:7878",
        "http://localhost:78780",
        "http://localhost:7878.evil.example",
        "http://localhost:7878, http://localhost:7878",
        "file://",
    ],
)
async def test_a_page_of_another_origin_is_refused(origin: str, method: str) -> None:
    response = await ask({"host": "localhost:7878", "origin": origin}, method)
    assert (response.status_code, code(response)) == (403, "ORIGIN_NOT_ALLOWED")
    assert "access-control-allow-origin" not in response.headers


async def test_two_origins_are_refused() -> None:
    own = ("origin", "http://localhost:7878")
    response = await ask([("host", "localhost:7878"), own, own])
    assert response.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["no-cors", "cors", "navigate"])
async def test_another_sites_page_can_neither_post_nor_load_what_is_here(
    site: str, mode: str
) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": "iframe"}
    for method in ("GET", "POST", "DELETE"):
        response = await ask(headers, method)
        assert (response.status_code, code(response)) == (403, "ORIGIN_NOT_ALLOWED")


async def test_a_link_on_another_site_can_be_followed_but_not_posted_through() -> None:
    visit = {
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    }
    assert (await ask(visit)).status_code == 200
    assert (await ask(visit, "POST")).status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_the_servers_own_pages_and_the_address_bar_are_served(site: str) -> None:
    for method in ("GET", "POST"):
        headers = {"sec-fetch-site": site, "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
        assert (await ask(headers, method)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost:7878", "origin": "null"},
        {"host": "localhost:7878", "origin": "https://evil.example"},
        {"host": "localhost:7878", "sec-fetch-site": "cross-site"},
        {
            "host": "localhost:7878",
            "sec-fetch-site": "cross-site",
            "sec-fetch-mode": "navigate",
            "sec-fetch-dest": "document",
        },
    ],
)
async def test_a_websocket_is_refused_before_it_is_accepted(headers: dict[str, str]) -> None:
    assert await shake_hands(headers) == [{"type": "websocket.close", "code": 4403}]


async def test_a_websocket_of_the_own_origin_or_of_none_is_accepted() -> None:
    own: dict[str, str]
    for own in ({}, {"origin": "http://[::1]:7878", "sec-fetch-site": "same-origin"}):
        sent = await shake_hands({"host": "[::1]:7878", **own})
        assert sent == [{"type": "websocket.accept"}]


@pytest.mark.parametrize("host", ["localhost", "evil.example"])
async def test_every_answer_has_the_security_headers(host: str) -> None:
    headers = (await ask({"host": host})).headers
    assert {name: headers[name] for name in headers if not name.startswith("content-")} == {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def test_a_page_keeps_the_policy_that_it_brings() -> None:
    response = await ask({}, path="/page")
    assert response.headers.get_list("content-security-policy") == ["its own"]
