"""Waiting for files to change, by looking at them from time to time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Final

INTERVAL: Final = 0.5
"""Seconds between two looks."""

Seen = dict[str, tuple[int, int] | None]


def look(files: Iterable[str]) -> Seen:
    """Time and size of each file; None for one that is not there."""
    return {file: _state(file) for file in files}


def wait(seen: Seen, interval: float = INTERVAL) -> None:
    """Return when one of the files is no longer as it was seen."""
    while look(seen) == seen:
        time.sleep(interval)


def _state(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size)
