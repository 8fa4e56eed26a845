"""One HTTP exchange with a client, below what starlette's requests and responses do: the client's
leaving is noticed at any time, and bytes pass as they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive, Scope, Send

from .connection import Headers
from .sse import json_bytes

T = TypeVar("T")


class ClientGone(Exception):
    """The client has left; there is nobody to answer."""


class BodyTooLarge(Exception):
    """The request's body is longer than the limit."""


class Reply:
    """The response to one request.

    Attributes:
        status: what was sent, 0 before.
        first: when its first byte was sent, by ``time.perf_counter``; 0 before.
        ended: it is complete.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.first = 0.0
        self.ended = False

    async def start(self, status: int, headers: Headers) -> None:
        """Send the head."""
        self.status = status
        await self._send(
            {"type": "http.response.start", "status": status, "headers": list(headers)}
        )

    async def write(self, data: bytes) -> None:
        """Send more of the body."""
        if not self.first:
            self.first = time.perf_counter()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        """Send the last of the body."""
        if not self.first:
            self.first = time.perf_counter()
        await self._send({"type": "http.response.body", "body": data, "more_body": False})
        self.ended = True

    async def json(self, status: int, value: Any, *more: tuple[bytes, bytes]) -> None:
        """Send a JSON document."""
        data = json_bytes(value)
        length = str(len(data)).encode()
        head = [(b"content-type", b"application/json; charset=utf-8"), (b"content-length", length)]
        await self.start(status, [*head, *more])
        await self.end(data)


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The whole body.

    Raises:
        BodyTooLarge: more than `most` bytes, said or sent.
        ClientGone: it was not sent in full.
    """
    length = dict(scope["headers"]).get(b"content-length", b"")
    if length.isdigit() and int(length) > most:
        raise BodyTooLarge
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise BodyTooLarge
        if not message.get("more_body"):
            return b"".join(parts)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T], reply: Reply) -> T:
    """What `work` gives; it is cancelled when the client leaves. The body must have been read.

    A client that has all of its answer may leave: the work is then nearly done, and ends by itself.

    Raises:
        ClientGone: the client has left before.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_leaves(receive))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and not reply.ended:
            raise ClientGone
        return await task
    finally:
        for one in (task, watch):
            one.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
