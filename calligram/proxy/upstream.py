"""The server behind the proxy, asked over HTTP; every way in which that fails is an
`UpstreamFault`."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from .connection import Address, Connection, Content, Headers, Response, Stale
from .pieces import fault_of, garbage
from .sse import Event, EventReader, NoEvents, json_bytes
from .strict_json import read_value

HOP_BY_HOP: Final = frozenset((
    b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer",
    b"transfer-encoding", b"upgrade", b"proxy-connection",
))  # fmt: skip
"""Headers that are of one connection (RFC 9110, section 7.6.1)."""


def end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers that a proxy sends on: neither those of one connection, nor those that the
    header ``Connection`` names."""
    named = [v for k, v in headers if k.lower() == b"connection"]
    dropped = {one.strip().lower() for v in named for one in v.split(b",")} | HOP_BY_HOP
    return [(k, v) for k, v in headers if k.lower() not in dropped]


_OF_THE_BODY: Final = frozenset((
    b"content-length", b"content-type", b"content-encoding", b"accept-encoding", b"accept",
    b"expect",
))  # fmt: skip
_MAX_ANSWER: Final = 64 * 2**20


@dataclass
class Kept:
    """The connection on which one client's request says one thing after another.

    It is never kept for another request: an idle one takes one of llama-server's few threads, and
    behind a stream the server closes it without saying so.
    """

    connection: Connection | None = None

    def take(self) -> Connection | None:
        """The connection, if it is of use for one more request."""
        connection, self.connection = self.connection, None
        if connection is not None and not connection.renewed():
            connection.close()
            return None
        return connection

    def close(self) -> None:
        """Close it."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class Upstream:
    """The server.

    Args:
        connect, read: seconds to connect, and to stay silent.
    """

    def __init__(self, url: str, *, connect: float, read: float) -> None:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        assert parts.hostname is not None
        self._base = parts.path.rstrip("/").encode("ascii")
        self._authority = parts.netloc.encode("ascii")
        self._address = Address(
            parts.hostname,
            parts.port or (443 if secure else 80),
            ssl.create_default_context() if secure else None,
        )
        # RFC 9110, section 7.6.3. No two proxies have the same, so that a chain of them is no loop.
        self._via = b"1.1 calligram-" + secrets.token_hex(8).encode()
        self._connect = connect
        self._read = read

    def comes_back(self, headers: Headers) -> bool:
        """Has a request with these headers been sent by this proxy itself?"""
        found = (v for k, v in headers if k.lower() == b"via")
        return any(self._via == one.strip() for v in found for one in v.split(b","))

    async def send(
        self,
        method: str,
        target: bytes,
        headers: Headers,
        content: Content = None,
        *,
        seconds: float = 0,
        kept: Kept | None = None,
        last: bool = True,
        meanwhile: Callable[[], None] | None = None,
    ) -> Response:
        """The response, its body not read yet.

        Args:
            target: path and query as they are: they must not be normalised to those of another
                route.
            headers: of the client; what is of its connection with it is left out.
            seconds: less time than others have; 0: as much.
            kept: a connection to take if there is one, and to leave behind if not `last`; not for
                content that can be sent once only.
            meanwhile: is called once the request is out; twice if it had to be sent again.

        Raises:
            UpstreamFault: any failure.
        """
        sent = self._headers(headers, content, method, close=last)
        target = self._base + target
        if kept is not None and (connection := kept.take()) is not None:
            try:
                response = await connection.ask(method, target, sent, content, meanwhile)
                kept.connection = None if last else connection
                return response
            except Stale:
                pass  # It was closed before it heard of this: asked once more.
        less = (min(t, seconds) if seconds else t for t in (self._connect, self._read))
        connection = await Connection.open(self._address, *less)
        response = await connection.ask(method, target, sent, content, meanwhile)
        if kept is not None and not last:
            kept.connection = connection
        return response

    def _headers(
        self,
        headers: Headers,
        content: Content,
        method: str,
        close: bool,
    ) -> Headers:
        """The client's headers, and those that one of ours has."""
        kept = [(k, v) for k, v in end_to_end(headers) if k.lower() != b"host"]
        if any(k.lower() == b"transfer-encoding" for k, _ in headers):
            # RFC 9112, section 6.3: it wins over a length, which must not be sent on.
            kept = [(k, v) for k, v in kept if k.lower() != b"content-length"]
        own = [(b"Host", self._authority)]
        if not any(k.lower() == b"content-length" for k, _ in kept):
            if isinstance(content, AsyncIterator):
                own.append((b"Transfer-Encoding", b"chunked"))
            elif content or method in ("POST", "PUT", "PATCH"):
                own.append((b"Content-Length", str(len(content or b"")).encode()))
        own += kept
        own.append((b"via", self._via))
        if close:
            own.append((b"connection", b"close"))
        return own

    async def ask(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: Any = None,
        seconds: float = 0,
        kept: Kept | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Any:
        """The JSON that the server answers with.

        Args:
            seconds: less time than others have; 0: as much.
            kept: where the connection is left for what follows.
            meanwhile: as in :meth:`send`.

        Raises:
            UpstreamFault: any failure; an HTTP error has the server's own body.
        """
        response = await self._posted(
            method, path, headers, body, seconds, kept, kept is None, meanwhile
        )
        whole = False
        try:
            data = await read_whole(response)
            whole = True
        finally:
            if kept is None or not whole:
                response.close()
        value = _json(data)
        if response.status >= 400:
            raise fault_of(value, response.status, data)
        if value is None:
            raise garbage(f"no JSON in answer to {path}")
        return value

    async def _posted(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: Any,
        seconds: float = 0,
        kept: Kept | None = None,
        last: bool = True,
        meanwhile: Callable[[], None] | None = None,
    ) -> Response:
        sent = [(k, v) for k, v in headers if k.lower() not in _OF_THE_BODY]
        content = None
        if body is not None:
            content = body if isinstance(body, bytes) else json_bytes(body)
            sent.append((b"content-type", b"application/json"))
        target = path.encode("ascii")
        return await self.send(
            method, target, sent, content,
            seconds=seconds, kept=kept, last=last, meanwhile=meanwhile,
        )  # fmt: skip

    async def events(
        self, path: str, headers: Headers, body: Any, kept: Kept | None = None
    ) -> AsyncIterator[list[Event]]:
        """The events of a streamed answer, as many at a time as have come.

        Args:
            body: JSON, or its bytes.

        Raises:
            UpstreamFault: any failure, in the middle too.
        """
        response = await self._posted("POST", path, headers, body, kept=kept)
        try:
            if response.status >= 400:
                data = await read_whole(response)
                raise fault_of(_json(data), response.status, data)
            kind = response.media_type
            if not kind.startswith("text/event-stream"):
                raise garbage(f"no events in answer to {path}, but {kind[:40] or 'no type'!r}")
            reader = EventReader()
            while data := await response.part():
                found = reader.feed(data)
                if found:
                    yield found
        except NoEvents as error:
            if error.before:
                yield error.before
            raise garbage(str(error)) from None
        finally:
            response.close()


def _json(data: bytes) -> Any:
    """The value; None if it is no JSON."""
    try:
        return read_value(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


async def read_whole(response: Response) -> bytes:
    """The body of a response. Raises UpstreamFault."""
    parts, size = [], 0
    while data := await response.part():
        parts.append(data)
        size += len(data)
        if size > _MAX_ANSWER:
            raise garbage(f"an answer of more than {_MAX_ANSWER:,} bytes")
    return b"".join(parts)
