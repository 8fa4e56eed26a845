"""Compiles grammars in processes of their own, each with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Final, Protocol

from ..compiler.errors import CalligramError, LimitExceeded
from .compile_worker import LENGTH, Reply
from .prepared import Order

START_SECONDS: Final = 60.0
"""The longest that a process may take to start; a busy machine takes long."""


class Compiler(Protocol):
    """Compiles orders."""

    async def start(self) -> None:
        """Begin."""
        ...

    async def compile(self, order: Order) -> bytes:
        """A packed grammar. Raises CalligramError."""
        ...

    async def close(self) -> None:
        """End."""
        ...


class CompileDied(CalligramError):
    """A process ended while it compiled: killed, or short of memory."""


class Busy(Exception):
    """All processes are at work for longer than anybody should wait."""


def patience(seconds: float) -> float:
    """How long to wait for others' compiles, which take `seconds` each at most."""
    return 2 * seconds + 1


class CompilePool:
    """A number of processes.

    Args:
        seconds: the longest that one compile may take.
    """

    def __init__(self, workers: int, seconds: float) -> None:
        self._count = workers
        self._seconds = seconds
        self._idle: asyncio.Queue[Process] = asyncio.Queue()
        self._all: set[Process] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    async def start(self) -> None:
        """Start the processes; they are ready one by one."""
        for _ in range(self._count):
            self._start_one()

    async def compile(self, order: Order) -> bytes:
        """A packed grammar.

        Raises:
            CalligramError: what is wrong with the order; code ``proxy-compile-time`` if it takes
                too long.
            CompileDied: the process ended (code ``proxy-compile-died``).
            Busy: no process was free for twice the time of one compile.
        """
        data = pickle.dumps(order)  # What fails here must not end a process.
        try:
            async with asyncio.timeout(patience(self._seconds)):
                process = await self._idle.get()
        except TimeoutError:
            raise Busy("too many grammars are being compiled") from None
        reply: Reply
        try:
            async with asyncio.timeout(self._seconds):
                reply = pickle.loads(await _ask(process, data))
        except TimeoutError:
            self._replace(process)
            message = f"the grammar takes more than {self._seconds:g} seconds to compile"
            raise LimitExceeded.at(
                "proxy-compile-time", message, hint="a simpler schema, or --compile-seconds"
            ) from None
        except (OSError, EOFError):
            self._replace(process)
            message = "the process that compiled the grammar ended before it was done"
            hint = "memory may have run out; the same request may be sent again in a minute"
            raise CompileDied.at("proxy-compile-died", message, hint=hint) from None
        except BaseException:  # Nobody waits any more, and the answer would be taken for another.
            self._replace(process)
            raise
        self._idle.put_nowait(process)
        if isinstance(reply, bytes):
            return reply
        raise CalligramError(reply)

    def _replace(self, process: Process) -> None:
        self._all.discard(process)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        task = asyncio.create_task(_reap(process))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        self._start_one()

    def _start_one(self) -> None:
        if self._closed:
            return
        task = asyncio.create_task(self._started())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _started(self) -> None:
        module = f"{__name__.rpartition('.')[0]}.compile_worker"
        # The same modules as here, wherever they were found.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
        while not self._closed:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, str(self._seconds),
                stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
            )  # fmt: skip
            self._all.add(process)
            try:
                async with asyncio.timeout(START_SECONDS):
                    await _answer(process)
            except (OSError, EOFError, TimeoutError):
                self._all.discard(process)
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await _reap(process)
                await asyncio.sleep(1)  # What cannot start now may later.
                continue
            self._idle.put_nowait(process)
            return

    async def close(self) -> None:
        """End all processes."""
        self._closed = True
        for task in list(self._starting):
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for process in list(self._all):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await _reap(process)
        self._all.clear()


async def _ask(process: Process, data: bytes) -> bytes:
    assert process.stdin is not None
    process.stdin.write(len(data).to_bytes(LENGTH, "big") + data)
    await process.stdin.drain()
    return await _answer(process)


async def _answer(process: Process) -> bytes:
    assert process.stdout is not None
    # IncompleteReadError is an EOFError.
    head = await process.stdout.readexactly(LENGTH)
    return await process.stdout.readexactly(int.from_bytes(head, "big"))


async def _reap(process: Process) -> None:
    """Wait for a process that was killed, and close its pipes."""
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()
    if process.stdout is not None:
        # Nothing else closes what is left of the pipe.
        with contextlib.suppress(OSError):
            await process.stdout.read()
