"""Units to several processes at once, and their outcomes as they come."""

from __future__ import annotations

import contextlib
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from typing import Final

from ..compiler.origin import Problem
from .outcome import Failed, Outcome
from .plan import Unit
from .targets import TARGETS

ALONE: Final = 8
"""Light units up to this many are compiled here: a process takes as long to start."""


Mine = Mapping[str, frozenset[str]]
"""The outputs that may be replaced, by the unit's name."""


def outcomes(
    units: Sequence[Unit], jobs: int, write: Mine | None, lock: int | None = None
) -> Generator[Outcome, None, None]:
    """What becomes of each unit, in no order.

    Args:
        jobs: the most processes.
        write: which outputs may be replaced; None: nothing is written.
        lock: a file descriptor that workers keep open.
    """
    heavy = any(TARGETS[t].vocabulary for unit in units for t, _ in unit.outputs)
    jobs = min(jobs, len(units))
    if jobs <= 1 or (not heavy and len(units) <= ALONE):
        from .work import work

        for unit in _ordered(units):
            yield work(unit, None if write is None else write[unit.name])
        return
    yield from _in_processes(_ordered(units), jobs, write, lock)


def _ordered(units: Sequence[Unit]) -> list[Unit]:
    """Those of one vocabulary together; what takes longest to begin with first."""

    def key(unit: Unit) -> tuple[bool, str]:
        wanting = any(TARGETS[t].vocabulary for t, _ in unit.outputs)
        return (not wanting, unit.settings.vocabulary or "")

    return sorted(units, key=key)


def _in_processes(
    units: list[Unit], jobs: int, write: Mine | None, lock: int | None
) -> Generator[Outcome, None, None]:
    waiting: queue.SimpleQueue[Unit] = queue.SimpleQueue()
    found: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
    for unit in units:
        waiting.put(unit)
    workers = [_Worker(lock) for _ in range(jobs)]
    threads = [
        threading.Thread(target=_serve, args=(worker, waiting, found, write), daemon=True)
        for worker in workers
    ]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            outcome = found.get()
            if outcome is None:
                running -= 1
            else:
                yield outcome
    finally:
        for worker in workers:
            worker.end()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        for worker in workers:
            worker.close()


def _serve(
    worker: _Worker,
    waiting: queue.SimpleQueue[Unit],
    found: queue.SimpleQueue[Outcome | None],
    write: Mine | None,
) -> None:
    """Give one worker unit after unit; None says that it is done."""
    try:
        while not worker.ended:
            with contextlib.suppress(queue.Empty):
                unit = waiting.get_nowait()
                found.put(worker.ask(unit, None if write is None else write[unit.name]))
                continue
            return
    finally:
        found.put(None)


class _Worker:
    """A process of :mod:`.work`; one that dies is replaced."""

    def __init__(self, lock: int | None) -> None:
        self._lock = lock
        self.ended = False
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        module = f"{__name__.rpartition('.')[0]}.work"
        # The same modules as here, wherever they were found.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=() if self._lock is None else (self._lock,),
        )

    def ask(self, unit: Unit, mine: frozenset[str] | None) -> Outcome:
        """What becomes of a unit."""
        pipes = self._process
        assert pipes.stdin is not None and pipes.stdout is not None
        try:
            pickle.dump((unit, mine), pipes.stdin)
            pipes.stdin.flush()
            outcome: Outcome = pickle.load(pipes.stdout)
            return outcome
        except Exception:  # Whatever a broken pipe gives to unpickle.
            pipes.terminate()
            code = pipes.wait()
            if not self.ended:
                self.close()
                self._process = self._started()
            message = f"the process that compiled '{unit.name}' ended with {code}"
            hint = "if it was out of memory, fewer `--jobs` may help"
            return Failed(unit.name, (Problem("build-worker", message, unit.place, hint),), False)

    def end(self) -> None:
        """End the process, in the middle of its work if somebody wants to stop."""
        self.ended = True
        self._process.terminate()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes to the process, which has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.wait()
