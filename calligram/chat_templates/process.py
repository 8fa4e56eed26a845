"""Renders in a process of its own, with limits on time and size.

A jinja2 template can be made to run for ever or to fill the memory in many ways, inside single
operations of C too, and no count of instructions in this process would stop those. So templates
are rendered by :mod:`.worker`, one process for all, which is killed when time is up.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

SECONDS: Final = 5.0
"""The longest one render may take; real templates take milliseconds."""
CHARACTERS: Final = 4_000_000
"""The longest text one render may give."""
_START: Final = 30.0
"""Added to the first render's time: a busy machine may take long to start Python."""


class Worker:
    """The process, started when first asked, and again after it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._owner = 0

    def render(
        self, source: str, variables: Mapping[str, Any], seconds: float = SECONDS
    ) -> dict[str, Any]:
        """The answer of :func:`.worker._answer`; ``kind`` "limit" too when time is up.

        Raises:
            TypeError, ValueError, RecursionError: the variables are not JSON.
        """
        request = json.dumps(
            {
                "source": source,
                "variables": variables,
                "seconds": seconds,
                "characters": CHARACTERS,
            }
        )
        with self._lock:
            return self._ask(request.encode() + b"\n", seconds)

    def _ask(self, request: bytes, seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None or process.poll() is not None or self._owner != os.getpid():
            process = self._start()
            if not self._line(process, b'{"source": "", "variables": {}, "seconds": 9, '
                              b'"characters": 9}\n', _START):  # fmt: skip
                self._stop()
                return {"kind": "limit", "error": "the process that renders does not start"}
        line = self._line(process, request, seconds)
        if line is None:
            self._stop()
            return {"kind": "limit", "error": f"it takes more than {seconds:g} seconds"}
        if not line:
            self._stop()
            return {"kind": "limit", "error": "it needs too much memory, or broke the interpreter"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(
        self, process: subprocess.Popen[bytes], request: bytes, seconds: float
    ) -> bytes | None:
        """The process's answer; b"" if it died, None if time was up."""
        assert process.stdin is not None
        # A thread writes too: a process that does not read would hold the writer.
        threading.Thread(target=_write, args=(process, request), daemon=True).start()
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def _start(self) -> subprocess.Popen[bytes]:
        self._stop()
        module = f"{__name__.rpartition('.')[0]}.worker"
        # The same modules as here, wherever they were found.
        program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        self._process, self._lines, self._owner = process, lines, os.getpid()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # What was not yet written cannot be.
                    continue

    def close(self) -> None:
        """End the process; the next render starts another."""
        with self._lock:
            self._stop()


def _write(process: subprocess.Popen[bytes], request: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(request)
        process.stdin.flush()
    except (OSError, ValueError):  # It died or was stopped; the reader says so.
        return


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(b"")


WORKER: Final = Worker()
atexit.register(WORKER.close)
