"""The server behind the proxy, asked over HTTP; every way in which that fails is an
`UpstreamFault`."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

import httpx

from .pieces import UpstreamFault, fault_of, garbage
from .sse import Event, EventReader, NoEvents, json_bytes

Headers = Sequence[tuple[bytes, bytes]]
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


class Upstream:
    """The server.

    Args:
        connect, read: seconds to connect, and to stay silent.
        transport: in place of the network.
    """

    def __init__(
        self,
        url: str,
        *,
        connect: float,
        read: float,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        parsed = httpx.URL(url)
        self._base = parsed.raw_path.rstrip(b"/")
        self._root = parsed.copy_with(raw_path=b"/")
        # RFC 9110, section 7.6.3. No two proxies have the same, so that a chain of them is no loop.
        self._via = b"1.1 calligram-" + secrets.token_hex(8).encode()
        timeout = httpx.Timeout(read, connect=connect, pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(
            timeout=timeout, limits=limits, transport=transport, trust_env=False
        )
        self._timeout = timeout

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def request(
        self, method: str, raw_path: bytes, headers: Headers, content: Any = None
    ) -> httpx.Request:
        """A request with these headers and no others but Host.

        Its connection is not kept: an idle one takes one of llama-server's few threads, and behind
        a stream the server closes it without saying so, so that the next request would be lost.
        """
        kept = [(k, v) for k, v in end_to_end(headers) if k.lower() != b"host"]
        if any(k.lower() == b"transfer-encoding" for k, _ in headers):
            # RFC 9112, section 6.3: it wins over a length, which must not be sent on.
            kept = [(k, v) for k, v in kept if k.lower() != b"content-length"]
        kept += [(b"via", self._via), (b"connection", b"close")]
        # The target as it is: a URL's path would be normalised, and reach another route.
        target = self._base + raw_path
        extensions = {"timeout": self._timeout.as_dict(), "target": target}
        return httpx.Request(
            method, self._root, headers=kept, content=content, extensions=extensions
        )

    def comes_back(self, headers: Headers) -> bool:
        """Has a request with these headers been sent by this proxy itself?"""
        found = (v for k, v in headers if k.lower() == b"via")
        return any(self._via == one.strip() for v in found for one in v.split(b","))

    def limited(self, request: httpx.Request, seconds: float) -> httpx.Request:
        """The request with less time than others have."""
        usual = self._timeout.as_dict()
        less = {k: v if v is None else min(v, seconds) for k, v in usual.items()}
        request.extensions = {**request.extensions, "timeout": less}
        return request

    async def send(self, request: httpx.Request) -> httpx.Response:
        """The response, its body not read yet. Raises UpstreamFault."""
        with faults():
            return await self._client.send(request, stream=True)

    async def ask(
        self, method: str, path: str, headers: Headers, body: Any = None, seconds: float = 0
    ) -> Any:
        """The JSON that the server answers with.

        Args:
            seconds: less time than others have; 0: as much.

        Raises:
            UpstreamFault: any failure; an HTTP error has the server's own body.
        """
        response = await self._posted(method, path, headers, body, seconds)
        try:
            with faults():
                data = await _whole(response)
        finally:
            await response.aclose()
        value = _json(data)
        if response.status_code >= 400:
            raise fault_of(value, response.status_code, data)
        if value is None:
            raise garbage(f"no JSON in answer to {path}")
        return value

    async def _posted(
        self, method: str, path: str, headers: Headers, body: Any, seconds: float = 0
    ) -> httpx.Response:
        kept = [(k, v) for k, v in headers if k.lower() not in _OF_THE_BODY]
        content = None
        if body is not None:
            content = json_bytes(body)
            kept.append((b"content-type", b"application/json"))
        request = self.request(method, path.encode("ascii"), kept, content)
        if seconds:
            self.limited(request, seconds)
        return await self.send(request)

    async def events(self, path: str, headers: Headers, body: Any) -> AsyncIterator[list[Event]]:
        """The events of a streamed answer, as many at a time as have come.

        Raises:
            UpstreamFault: any failure, in the middle too.
        """
        response = await self._posted("POST", path, headers, body)
        try:
            with faults():
                if response.status_code >= 400:
                    data = await _whole(response)
                    raise fault_of(_json(data), response.status_code, data)
                kind = response.headers.get("content-type", "")
                if not kind.lower().startswith("text/event-stream"):
                    raise garbage(f"no events in answer to {path}, but {kind[:40] or 'no type'!r}")
                reader = EventReader()
                async for data in response.aiter_raw():
                    found = reader.feed(data)
                    if found:
                        yield found
        except NoEvents as error:
            raise garbage(str(error)) from None
        finally:
            await response.aclose()


def _json(data: bytes) -> Any:
    """The value; None if it is no JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


async def _whole(response: httpx.Response) -> bytes:
    parts, size = [], 0
    async for data in response.aiter_raw():
        parts.append(data)
        size += len(data)
        if size > _MAX_ANSWER:
            raise garbage(f"an answer of more than {_MAX_ANSWER:,} bytes")
    return b"".join(parts)


@contextlib.contextmanager
def faults() -> Iterator[None]:
    """What httpx raises, as faults."""
    try:
        yield
    except (httpx.ConnectTimeout, httpx.ConnectError) as error:
        slow = isinstance(error, httpx.ConnectTimeout)
        raise UpstreamFault(
            "slow" if slow else "down", "the server cannot be reached", 504 if slow else 502
        ) from None
    except httpx.TimeoutException:
        raise UpstreamFault("slow", "the server stays silent for too long", 504) from None
    except httpx.DecodingError:
        raise garbage("bytes that cannot be decoded") from None
    except httpx.HTTPError:
        raise UpstreamFault("broke-off", "the server broke off its answer", 502) from None
