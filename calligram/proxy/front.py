"""How clients' connections are read: strictly (h11), and with each request's target as written.

ASGI cuts a target at its `?`, so that an empty query is none. And what is written goes out at once:
asyncio leaves accepted sockets as they are, on which a piece of a stream waits until the client has
confirmed the one before, which clients put off for some forty milliseconds.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

TARGET: Final = "calligram.target"
"""The key of a scope's ``extensions`` that has the target: path and query, bytes."""


class FrontProtocol(H11Protocol):
    """One connection of a client."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # One request after another: the next is not read before this one's answer is out.
        target = b""
        next_event, app = self.conn.next_event, self.app

        def noted() -> Any:
            nonlocal target
            event = next_event()
            if isinstance(event, h11.Request):
                target = event.target
            return event

        async def told(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("extensions", {})[TARGET] = target
            await app(scope, receive, send)

        self.conn.next_event = noted  # type: ignore[method-assign]
        self.app = told

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop."""
        own = transport.get_extra_info("socket")
        if own is not None and own.family in (socket.AF_INET, socket.AF_INET6):
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
