"""An HTTP client that costs little beside a server: one connection, bodies as bytes."""

import http.client
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import orjson

JSON_HEADERS = {"content-type": "application/json", "accept": "application/graphql-response+json"}


class _Connection(http.client.HTTPConnection):
    """Sends a request in one piece, as browsers and curl do, and not its body by itself."""

    def endheaders(self, message_body: Any = None, *, encode_chunked: bool = False) -> None:
        """Send the head, and the body with it."""
        pieces: list[bytes] = []
        with mock.patch.object(self, "send", pieces.append):
            super().endheaders(message_body, encode_chunked=encode_chunked)
        self.send(b"".join(pieces))


class Client:
    """One connection that is kept; nothing is compressed unless that is asked for."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = _Connection(host, port, timeout=120)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def getting(self, path: str, *, coding: str = "identity") -> Callable[[], bytes]:
        """Return a call that gets a path and returns the answer's body as it was sent."""
        return lambda: self._body("GET", path, None, {"accept-encoding": coding})

    def running(
        self, document: str, coding: str = "identity", /, **variables: Any
    ) -> Callable[[], bytes]:
        """Return a call that runs a GraphQL document and returns the answer's body as sent."""
        body = graphql_body(document, **variables)
        headers = {**JSON_HEADERS, "accept-encoding": coding}
        return lambda: self._body("POST", "/graphql", body, headers)

    def posting(self, path: str, body: bytes) -> Callable[[], bytes]:
        """Return a call that posts a body to a path and returns the answer's body."""
        return lambda: self._body("POST", path, body, {})

    def open(self, path: str, headers: Mapping[str, str]) -> http.client.HTTPResponse:
        """Get a path and return the answer before its body is read.

        Raises:
            RuntimeError: for a status that is not of success.
        """
        return self._answer("GET", path, None, headers)

    def _body(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> bytes:
        return self._answer(method, path, body, headers).read()

    def _answer(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        sent = {"accept-encoding": "identity", **headers}
        try:
            self._connection.request(method, path, body, sent)
            response = self._connection.getresponse()
        except ConnectionError:
            # The server closes a connection that rests while something else is measured.
            self._connection.close()
            self._connection.request(method, path, body, sent)
            response = self._connection.getresponse()
        if response.status not in (200, 206):
            raise RuntimeError(f"{method} {path}: {response.status} {response.read()[:500]!r}")
        return response


def graphql_body(document: str, **variables: Any) -> bytes:
    """Return the body of a request that runs a document."""
    return orjson.dumps({"query": document, "variables": variables})


def data(body: bytes) -> Any:
    """Return the data of an answer.

    Raises:
        RuntimeError: if it has errors: there is nothing to measure then.
    """
    answer = orjson.loads(body)
    if "errors" in answer:
        raise RuntimeError(f"The answer has errors: {answer['errors']}")
    return answer["data"]
