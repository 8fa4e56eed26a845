"""One connection to the server, HTTP/1.1 (RFC 9112); h11 knows the messages.

A general client of HTTP does more than is needed here, and took most of the time that the proxy
added to an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import h11

from .pieces import UpstreamFault, garbage
from .stream import Stream

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
Content: TypeAlias = bytes | AsyncIterator[bytes] | None
_MAX_HEAD: Final = 100 * 1024
"""Bytes of the head of a response; more is none of a server that answers chats."""
_STATUSES: Final = range(200, 600)
_MOST_INTERIM: Final = 16
"""Answers with a status below 200 before the one that counts: a server that sends nothing else is
never silent, and would be waited for without end."""
_OTHER_ADDRESS: Final = 0.25
"""Seconds after which a name's next address is tried as well (RFC 8305)."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens; `tls` None: without encryption."""

    host: str
    port: int
    tls: ssl.SSLContext | None

    @property
    def is_number(self) -> bool:
        """Is it one address, and no name?"""
        return ":" in self.host or self.host.replace(".", "").isdigit()


class Stale(Exception):
    """A connection that was kept has been closed by the server: the request was not answered."""


class Connection:
    """A connection, for one request after another."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.CLIENT, _MAX_HEAD)
        self._used = False
        self._heard = False
        self._ended = False

    @classmethod
    async def open(cls, address: Address, connect: float, silence: float) -> Connection:
        """Connect.

        Args:
            connect: seconds that it may take.
            silence: seconds that the server may stay silent.

        Raises:
            UpstreamFault: it cannot be done (``down``, or ``slow`` if it takes too long).
        """
        more: dict[str, Any] = {}
        loop = asyncio.get_running_loop()
        if isinstance(loop, asyncio.BaseEventLoop) and not address.is_number:
            more["happy_eyeballs_delay"] = _OTHER_ADDRESS  # Loops of other makers know it not.
        message = "the server cannot be reached"
        try:
            async with asyncio.timeout(connect):
                _, stream = await loop.create_connection(
                    lambda: Stream(silence), address.host, address.port, ssl=address.tls, **more
                )
        except TimeoutError:
            raise UpstreamFault("slow", message, 504) from None
        except ssl.SSLCertVerificationError as error:
            why = f"the server's certificate is not accepted: {error.verify_message}"
            raise UpstreamFault("down", why, 502) from None
        except ssl.SSLError as error:
            why = f"{message} by TLS: {(error.reason or 'failed').replace('_', ' ').lower()}"
            raise UpstreamFault("down", why, 502) from None
        except (OSError, UnicodeError):
            raise UpstreamFault("down", message, 502) from None
        return cls(stream)

    async def ask(
        self,
        method: str,
        target: bytes,
        headers: Headers,
        content: Content,
        meanwhile: Callable[[], None] | None = None,
    ) -> Response:
        """The response, its body not read yet. Its connection is closed if this fails.

        Args:
            headers: with Host and what says how long `content` is.
            meanwhile: is called once the request is out, while the server works on it.

        Raises:
            UpstreamFault: any failure.
            Stale: on a connection that has answered before; nothing came of this request.
        """
        try:
            with self._faults():
                await self._say(method, target, headers, content)
                if meanwhile is not None:
                    # Not here: what was written goes out when the loop has its turn.
                    asyncio.get_running_loop().call_soon(meanwhile)
                return await self._answered()
        except BaseException as error:
            self.close()
            broke_off = isinstance(error, UpstreamFault) and error.kind == "broke-off"
            if broke_off and self._used and not self._heard:
                raise Stale from None
            raise

    async def _say(self, method: str, target: bytes, headers: Headers, content: Content) -> None:
        self._heard = self._ended = False
        head = self._http.send(h11.Request(method=method, target=target, headers=list(headers)))
        assert head is not None
        try:
            if isinstance(content, AsyncIterator):
                await self._write(head)
                async for part in content:
                    await self._write(self._http.send(h11.Data(data=part)) or b"")
                head = b""
            elif content:
                # In one piece, which one read of the server's may take.
                head += self._http.send(h11.Data(data=content)) or b""
            await self._write(head + (self._http.send(h11.EndOfMessage()) or b""))
        except ConnectionError:
            pass  # A server that has read enough may have answered all the same.

    async def _answered(self) -> Response:
        for _ in range(_MOST_INTERIM + 1):
            event = await self._next()
            if isinstance(event, h11.Response):
                if event.status_code not in _STATUSES:
                    # RFC 9110, section 15: not to be sent on, and none can be sent.
                    raise garbage(f"the status {event.status_code}, which HTTP has not")
                headers = list(event.headers.raw_items())
                return Response(event.status_code, headers, self.part, self.close)
            if not isinstance(event, h11.InformationalResponse) or event.status_code == 101:
                raise UpstreamFault("broke-off", "the server broke off its answer", 502)
        raise garbage(f"more than {_MOST_INTERIM} answers that are only interim")

    async def _write(self, data: bytes) -> None:
        if data:
            await self._stream.write(data)

    async def _next(self) -> Any:
        """The next event of the response."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = await self._stream.read()
            self._heard = self._heard or bool(data)
            self._http.receive_data(data)
        return event

    async def part(self) -> bytes:
        """More of the response's body, as much as has come; b"" at its end.

        Raises:
            UpstreamFault: it breaks off.
        """
        found: list[bytes] = []
        try:
            with self._faults():
                while not self._ended and not found:
                    self._take(await self._next(), found)
        except UpstreamFault:
            self.close()
            raise
        return b"".join(found)

    def _take(self, event: Any, found: list[bytes]) -> None:
        """The event's data, and what has come with it: what came at once goes on at once."""
        while isinstance(event, h11.Data):
            found.append(bytes(event.data))
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError:
                return  # Said again when more is asked for.
        self._ended = event is not h11.NEED_DATA

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise UpstreamFault("slow", "the server stays silent for too long", 504) from None
        except (OSError, h11.ProtocolError):
            raise UpstreamFault("broke-off", "the server broke off its answer", 502) from None

    def renewed(self) -> bool:
        """Ready for the next request? Not if the last one's answer has not been read to its end,
        or the server closes the connection behind it, or has sent more than that answer: it would
        be taken for the next one's."""
        more, _ = self._http.trailing_data
        if more or not self._stream.quiet:
            return False
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        self._used = True
        return True

    def close(self) -> None:
        """Close it at once, which stops the server's work if it is not done."""
        self._stream.close()


@dataclass(frozen=True, slots=True)
class Response:
    """The head of a response, and a way to its body.

    Attributes:
        headers: as the server wrote them.
        part: more of the body, as much as has come; b"" at its end. Raises UpstreamFault.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    part: Callable[[], Awaitable[bytes]]
    close: Callable[[], None]

    @property
    def media_type(self) -> str:
        """The header ``Content-Type``, in lower case; "" if there is none."""
        found = (v for k, v in self.headers if k.lower() == b"content-type")
        return next(found, b"").decode("latin-1").lower()
