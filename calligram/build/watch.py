"""Waiting for files to change, by looking at them from time to time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Final

INTERVAL: Final = 0.5
"""Seconds between two looks."""
SETTLED: Final = 0.05
"""Seconds without a change after which files are taken as written."""

Seen = dict[str, tuple[int, int] | None]


def look(files: Iterable[str]) -> Seen:
    """Time and size of each file; None for one that is not there."""
    return {file: _state(file) for file in files}


def wait(seen: Seen, interval: float = INTERVAL) -> None:
    """Return when one of the files is no longer as it was seen, and none changes any more."""
    while (now := look(seen)) == seen:
        time.sleep(interval)
    while True:
        time.sleep(SETTLED)
        before, now = now, look(seen)
        if now == before:
            return


def _state(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size)
