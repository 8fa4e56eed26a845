"""A request sent on as it came, and its answer sent back as it comes: bytes, both ways."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from starlette.types import Receive, Scope

from ..compiler.origin import Problem
from .asgi import ClientGone, Reply, while_connected
from .connection import Content, Headers, Response
from .front import TARGET
from .pieces import UpstreamFault
from .reports import counted, error_body
from .sse import data_event
from .upstream import Upstream, end_to_end

MAX_TARGET: Final = 16_384
"""Bytes of path and query."""


class TargetError(Exception):
    """The target of a request cannot be sent on.

    Attributes:
        status: what to answer with; `code` and `message` too.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def raw_path(scope: Scope) -> bytes:
    """Path and query as the client wrote them."""
    written = scope.get("extensions", {}).get(TARGET)
    if isinstance(written, bytes):
        return written
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return path + b"?" + query if query else path


def check_target(scope: Scope) -> None:
    """Refuse what no client of a server asks for, and what two servers read differently.

    A path with dot segments, escaped or not, is another one to a server that normalises it: it
    would leave the prefix of the server's address, or reach a route past the constraints.

    Raises:
        TargetError: with the status to answer.
    """
    target = raw_path(scope)
    if len(target) > MAX_TARGET:
        message = f"the path and query are longer than {MAX_TARGET:,} bytes"
        raise TargetError(414, "proxy-target-too-long", message)
    if not target.startswith(b"/") or b"#" in target:
        message = "the target of a request is a path that begins with /, and has no fragment"
        raise TargetError(400, "proxy-target", message)
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", scope["path"])):
        message = "the path has a segment `.` or `..`"
        raise TargetError(400, "proxy-target", message)


async def pass_on(
    upstream: Upstream,
    scope: Scope,
    receive: Receive,
    reply: Reply,
    body: bytes | None = None,
    problems: Callable[[], Sequence[Problem]] = tuple,
    seen: Callable[[bytes], None] | None = None,
) -> None:
    """Answer with what the server answers.

    Args:
        body: the request's body, if it has been read.
        problems: what a header of the answer counts, asked for when it begins.
        seen: is told the request's body as it passes, if it has not been read.

    Raises:
        UpstreamFault: the server does not answer; nothing was sent.
        ClientGone: the client has left.
    """
    headers: Headers = scope["headers"]
    given = asyncio.Event()
    content: Content = body
    if body is None and has_body(headers):
        content = _body(receive, given, seen)
    else:
        given.set()
    ask = partial(upstream.send, scope["method"], raw_path(scope), headers, content)
    if body is not None:
        await _exchange(ask, reply, problems)  # Whoever read it watches the client.
        return

    async def receive_later() -> dict[str, object]:
        await given.wait()
        return dict(await receive())

    await while_connected(receive_later, _exchange(ask, reply, problems), reply)


def has_body(headers: Headers) -> bool:
    """Does a request with these headers have a body (RFC 9112, section 6.3)?"""
    names = {k.lower(): v for k, v in headers}
    return b"transfer-encoding" in names or names.get(b"content-length", b"0") != b"0"


async def _body(
    receive: Receive, given: asyncio.Event, seen: Callable[[bytes], None] | None
) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        if data := message.get("body"):
            if seen is not None:
                seen(data)
            yield data
        if not message.get("more_body"):
            given.set()
            return


async def _exchange(
    ask: Callable[[], Awaitable[Response]],
    reply: Reply,
    problems: Callable[[], Sequence[Problem]],
) -> None:
    response = await ask()
    try:
        headers = [*end_to_end(response.headers), *counted(problems())]
        await reply.start(response.status, headers)
        try:
            while data := await response.part():
                await reply.write(data)
        except UpstreamFault as fault:
            if response.media_type.startswith("text/event-stream"):
                code = f"upstream-{fault.kind}"
                await reply.end(b"\n\n" + data_event(error_body(fault.message, 502, code)))
                return
            # Left incomplete, as it came: the client's connection is closed.
            raise
        await reply.end()
    finally:
        response.close()
