"""Bytes to and from a server, on one connection of asyncio's.

Unlike asyncio's own streams, what has come can be read although the connection was reset since: a
server that refuses a body without reading it does that.
"""

from __future__ import annotations

import asyncio
from typing import Final, cast

_MOST: Final = 2**17
"""Bytes that may wait to be read; then the server must wait."""


class Stream(asyncio.Protocol):
    """One connection, once it is made. One task reads and writes.

    Args:
        silence: seconds for which reading and writing wait.
    """

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._transport: asyncio.Transport | None = None
        self._come = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._paused = False
        self._waiting: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        # Those of other makers' loops are no asyncio.Transport, but do as one.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        self._come += data
        if len(self._come) > _MOST and self._transport is not None:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Called by the loop."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._ended, self._error, self._paused = True, exc, False
        self._wake()

    def pause_writing(self) -> None:
        """Called by the loop."""
        self._paused = True

    def resume_writing(self) -> None:
        """Called by the loop."""
        self._paused = False
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _wait(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._silence):
                await self._waiting
        finally:
            self._waiting = None

    @property
    def quiet(self) -> bool:
        """All that has come was read, and the server may send more."""
        return not self._come and not self._ended

    async def read(self) -> bytes:
        """What has come, as soon as there is something; b"" at the end.

        Raises:
            TimeoutError: nothing comes.
            OSError: the connection was lost, and all that came before has been read.
        """
        while not self._come and not self._ended:
            await self._wait()
        if not self._come and self._error is not None:
            raise ConnectionResetError from self._error
        data = bytes(self._come)
        if len(data) > _MOST and self._transport is not None and not self._ended:
            self._transport.resume_reading()
        self._come.clear()
        return data

    async def write(self, data: bytes) -> None:
        """Send, and wait until there is room for more.

        Raises:
            TimeoutError: the server takes nothing.
            OSError: the connection was lost.
        """
        assert self._transport is not None
        self._transport.write(data)
        while self._paused:
            await self._wait()
        if self._transport.is_closing():
            raise ConnectionResetError

    def close(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()
