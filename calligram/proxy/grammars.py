"""The grammars of requests: kept by content, compiled once however many ask, a bound on both."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from ..compiler.errors import CalligramError
from .compile_pool import Busy, Compiler
from .prepared import Order, Prepared, unpacked

_ERROR_BYTES: Final = 4096
"""What an error counts for."""
_PASSING: Final = ("proxy-compile-time", "proxy-compile-died")
_HOPELESS: Final = 60.0
"""Seconds for which a grammar that took too long, or with which its process ended, is not tried
again: it may have been the load."""


@dataclass(frozen=True, slots=True)
class Found:
    """A grammar, and what it took: 0 seconds if it was there."""

    prepared: Prepared
    seconds: float


@dataclass(frozen=True, slots=True)
class _Kept:
    found: Prepared | CalligramError
    size: int
    until: float


@dataclass
class _Client:
    """The compiles of one client: others must find a process free."""

    turns: asyncio.Semaphore
    users: int = 0


@dataclass
class Grammars:
    """All grammars of one proxy.

    Args:
        most: how many are kept, and `most_bytes` of them.
        a_client: how many one client may have compiled at once.
        patience: seconds that one may wait for a turn of his.
    """

    pool: Compiler
    most: int
    most_bytes: int
    a_client: int
    patience: float
    hits: int = 0
    misses: int = 0
    size: int = 0
    _kept: OrderedDict[bytes, _Kept] = field(default_factory=OrderedDict)
    _coming: dict[bytes, asyncio.Task[Prepared]] = field(default_factory=dict)
    _clients: dict[str, _Client] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._kept)

    def at_hand(self, order: Order) -> Found | None:
        """The grammar of an order, if it is there.

        Raises:
            CalligramError: what is known to be wrong with it.
        """
        kept = self._found(order)
        if kept is None:
            return None
        self.hits += 1
        if isinstance(kept, CalligramError):
            raise CalligramError(kept.problems)
        return Found(kept, 0.0)

    def ahead(self, order: Order) -> Prepared | None:
        """The grammar of an order that may come, if it is there; not counted."""
        kept = self._found(order)
        return kept if isinstance(kept, Prepared) else None

    def _found(self, order: Order) -> Prepared | CalligramError | None:
        digest = order.digest
        kept = self._kept.get(digest)
        if kept is None or kept.until <= time.monotonic():
            return None
        self._kept.move_to_end(digest)
        return kept.found

    async def get(self, order: Order, client: tuple[str, ...]) -> Found:
        """The grammar of an order.

        Args:
            client: whom it is for, by each name that he has; he has as many turns as the name with
                the fewest left.

        Raises:
            CalligramError: what is wrong with it; kept too, so that it costs once.
            Busy: he, or everybody, has too many being compiled.
        """
        if (found := self.at_hand(order)) is not None:
            return found
        digest = order.digest
        self.misses += 1
        start = time.perf_counter()
        task = self._coming.get(digest)
        if task is None:
            task = asyncio.create_task(self._compile(order, digest, client))
            self._coming[digest] = task
            task.add_done_callback(lambda done: self._came(digest, done))
        # Who goes away must not take it from the others that wait for it.
        return Found(await asyncio.shield(task), time.perf_counter() - start)

    def _came(self, digest: bytes, task: asyncio.Task[Prepared]) -> None:
        self._coming.pop(digest, None)
        if not task.cancelled():
            task.exception()  # Looked at, though all who waited may be gone.

    async def _compile(self, order: Order, digest: bytes, client: tuple[str, ...]) -> Prepared:
        try:
            async with contextlib.AsyncExitStack() as turns:
                await self._take_turns(turns, client)
                data = await self.pool.compile(order)
            made = await asyncio.to_thread(_made, data)
        except CalligramError as error:
            self._keep(digest, error, _ERROR_BYTES)
            raise
        self._keep(digest, made, made.size)
        return made

    async def _take_turns(self, turns: contextlib.AsyncExitStack, client: tuple[str, ...]) -> None:
        try:
            async with asyncio.timeout(self.patience):
                for name in client:
                    await turns.enter_async_context(self._turn(name))
        except TimeoutError:
            raise Busy("too many grammars of one client are being compiled") from None

    @contextlib.asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        own = self._clients.setdefault(name, _Client(asyncio.Semaphore(self.a_client)))
        own.users += 1
        try:
            async with own.turns:
                yield
        finally:
            own.users -= 1
            if not own.users:
                self._clients.pop(name, None)

    def _keep(self, digest: bytes, found: Prepared | CalligramError, size: int) -> None:
        until = float("inf")
        if isinstance(found, CalligramError) and found.problems[0].code in _PASSING:
            until = time.monotonic() + _HOPELESS
        old = self._kept.pop(digest, None)
        self.size += size - (0 if old is None else old.size)
        self._kept[digest] = _Kept(found, size, until)
        while len(self._kept) > self.most or (self.size > self.most_bytes and len(self._kept) > 1):
            self.size -= self._kept.popitem(last=False)[1].size

    async def close(self) -> None:
        """Stop what is being compiled."""
        for task in list(self._coming.values()):
            task.cancel()
        await asyncio.gather(*self._coming.values(), return_exceptions=True)
        await self.pool.close()


def _made(data: bytes) -> Prepared:
    made = unpacked(data)
    assert made.reader is not None  # Made here, not where answers wait for it.
    return made
